//! The calls that a backend implements. They take plain handles, which the types of [`super`] own.

use super::fault::Fault;
use super::{LaunchShape, Properties};
use crate::kernel::KernelSource;

/// A driver's name for an object: a pointer or a number.
pub(super) type Handle = usize;

/// A kernel's name and its handle.
pub(super) type LoadedKernel = (&'static str, Handle);

/// An argument of a kernel, as a backend gets it.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawArg {
    Memory(Handle),
    U32(u32),
    U64(u64),
    Rows(EncodedRows),
}

/// Rows of a buffer, as the driver encodes them.
pub(super) type EncodedRows = [u64; 16];

/// One device of one backend.
///
/// # Safety
/// The types of [`super`] build safe functions on these calls, so an implementation guarantees:
/// * A handle stays valid until it is released: memory has as many bytes as were asked for, host
///   memory is readable, writable, zeroed and aligned for any kernel.
/// * A released object that work on a queue still uses lives until that work is done.
/// * When [`finish`](Self::finish) returns, nothing on the queue is running: all work is done, or
///   after an error has been abandoned.
/// * Every call may be made by several threads at once.
///
/// # What callers guarantee
/// "Live" means: returned by the same object, used as what it was returned as, and not released.
/// Each call states what it needs beyond live handles.
pub(super) unsafe trait Api: Send + Sync {
    fn properties(&self) -> &Properties;
    /// Bytes of device memory that are free now, if the driver says.
    fn free_memory(&self) -> Option<u64>;

    /// Device memory. At least one byte.
    unsafe fn allocate(&self, bytes: usize) -> Result<Handle, Fault>;
    /// Releases memory of [`allocate`](Self::allocate).
    unsafe fn release(&self, memory: Handle);
    /// Pinned memory, zeroed. At least one byte.
    unsafe fn allocate_host(&self, bytes: usize) -> Result<*mut u8, Fault>;
    /// Releases memory of [`allocate_host`](Self::allocate_host), given its size.
    unsafe fn release_host(&self, at: *mut u8, bytes: usize);
    /// Pins memory of the program, at least one byte, where it lies. False if that makes no copy
    /// faster; nothing is pinned then.
    unsafe fn register_host(&self, bytes: &[u8]) -> Result<bool, Fault>;
    /// Ends [`register_host`](Self::register_host), before the memory is released. No copy uses it
    /// any more.
    unsafe fn unregister_host(&self, bytes: &[u8]);
    /// Maps host memory of [`allocate_host`](Self::allocate_host), of this size, for kernels. The
    /// host memory outlives the mapping and the work that uses it.
    unsafe fn map(&self, at: *mut u8, bytes: usize) -> Result<Handle, Fault>;
    /// Releases a mapping of [`map`](Self::map).
    unsafe fn unmap(&self, memory: Handle);
    /// Binds device memory of this size to a texture of 32-bit words. The memory outlives the
    /// texture.
    unsafe fn bind_texture(&self, memory: Handle, bytes: usize) -> Result<Handle, Fault>;
    /// Releases a texture of [`bind_texture`](Self::bind_texture).
    unsafe fn release_texture(&self, texture: Handle);

    /// Encodes rows of memory, `bytes` each, from byte `at` on, for copies in blocks of 32 bytes of
    /// each of 32 rows. Only for a device for which [`Properties::copies_blocks`] holds.
    fn encode_rows(
        &self,
        memory: Handle,
        at: u64,
        bytes: u32,
        rows: u32,
    ) -> Result<EncodedRows, Fault>;

    unsafe fn open_queue(&self) -> Result<Handle, Fault>;
    /// Releases a queue of [`open_queue`](Self::open_queue).
    unsafe fn close_queue(&self, queue: Handle);
    /// Puts a copy to the device on the queue. The range lies within the memory, and the bytes
    /// stay as they are until the queue is finished.
    unsafe fn write(&self, queue: Handle, to: Handle, at: usize, from: &[u8]) -> Result<(), Fault>;
    /// Puts a copy from the device on the queue. The range lies within the memory, and nothing
    /// accesses the bytes until the queue is finished.
    unsafe fn read(
        &self,
        queue: Handle,
        from: Handle,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), Fault>;
    /// Puts a copy between two memories on the queue, each with its offset. Both ranges lie
    /// within.
    unsafe fn copy(
        &self,
        queue: Handle,
        from: (Handle, usize),
        to: (Handle, usize),
        bytes: usize,
    ) -> Result<(), Fault>;
    /// Puts the zeroing of a range on the queue. The range has at least one byte and lies within
    /// the memory.
    unsafe fn zero(
        &self,
        queue: Handle,
        memory: Handle,
        at: usize,
        bytes: usize,
    ) -> Result<(), Fault>;
    /// Puts a kernel on the queue. The arguments are those that it declares, and with them it
    /// stays within its memories.
    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        shape: LaunchShape,
        args: &[RawArg],
    ) -> Result<(), Fault>;
    /// Waits until all work on the queue is done.
    unsafe fn finish(&self, queue: Handle) -> Result<(), Fault>;
    /// An event that is reached when the queue's work so far is done.
    unsafe fn record(&self, queue: Handle) -> Result<Handle, Fault>;
    /// Lets later work on the queue wait for an event of any queue of the device.
    unsafe fn follow(&self, queue: Handle, event: Handle) -> Result<(), Fault>;
    /// Waits for an event.
    unsafe fn wait(&self, event: Handle) -> Result<(), Fault>;
    /// Seconds on the device's clock between two events. Both were waited for.
    unsafe fn seconds_between(&self, first: Handle, second: Handle) -> Result<f64, Fault>;
    /// Releases an event of [`record`](Self::record).
    unsafe fn release_event(&self, event: Handle);

    /// Compiles a kernel that the source lists, and whatever the driver compiles with it. Kernels
    /// are never released.
    unsafe fn load(
        &self,
        source: &KernelSource,
        kernel: &'static str,
    ) -> Result<Vec<LoadedKernel>, Fault>;
    /// How many groups of that shape one compute unit runs at a time, at least 1.
    unsafe fn resident_groups(&self, kernel: Handle, shape: LaunchShape) -> u32;
}
