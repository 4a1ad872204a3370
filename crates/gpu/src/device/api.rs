//! What a backend has to offer: some twenty calls on plain handles, which the types of the module above own.

use super::Properties;
use super::fault::Fault;
use crate::kernel::Source;

/// A driver's name for an object: a pointer or a number.
pub(super) type Handle = usize;

/// A kernel's name and its handle.
pub(super) type Loaded = (&'static str, Handle);

/// An argument of a kernel, as a backend gets it.
#[derive(Clone, Copy, Debug)]
pub(super) enum RawArg {
    Memory(Handle),
    U32(u32),
    U64(u64),
}

/// How a kernel is launched: groups, work items in each, and bytes of shared memory that the host sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups ("blocks").
    pub groups: u32,
    /// Work items ("threads") of each group.
    pub items: u32,
    /// Bytes of shared memory of each group, beside what the kernel declares; 0 if it takes none.
    pub shared: u32,
}

/// One device of one backend.
///
/// # Safety
/// Handles that are given in were returned by the same object and not released; pointers are valid for the
/// bytes named, until [`finish`](Self::finish) of the queue if the call does not wait. Implementations may be
/// called by several threads at once.
pub(super) unsafe trait Api: Send + Sync {
    fn properties(&self) -> &Properties;
    /// Bytes of device memory that are free now, if the driver says.
    fn free_memory(&self) -> Option<u64>;

    unsafe fn allocate(&self, bytes: usize) -> Result<Handle, Fault>;
    unsafe fn release(&self, memory: Handle);
    /// Host memory that the device can copy from and to without staging. Zeroed.
    unsafe fn allocate_host(&self, bytes: usize) -> Result<*mut u8, Fault>;
    unsafe fn release_host(&self, at: *mut u8, bytes: usize);
    /// Host memory of [`allocate_host`](Self::allocate_host) as the kernels see it. Release it with
    /// [`unmap`](Self::unmap).
    unsafe fn map(&self, at: *mut u8, bytes: usize) -> Result<Handle, Fault>;
    unsafe fn unmap(&self, memory: Handle);
    /// Device memory as kernels read it through a texture, as 32-bit words.
    unsafe fn bind_texture(&self, memory: Handle, bytes: usize) -> Result<Handle, Fault>;
    unsafe fn release_texture(&self, texture: Handle);

    unsafe fn open_queue(&self) -> Result<Handle, Fault>;
    unsafe fn close_queue(&self, queue: Handle);
    unsafe fn write(&self, queue: Handle, to: Handle, at: usize, from: &[u8]) -> Result<(), Fault>;
    unsafe fn read(
        &self,
        queue: Handle,
        from: Handle,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), Fault>;
    unsafe fn copy(
        &self,
        queue: Handle,
        from: (Handle, usize),
        to: (Handle, usize),
        bytes: usize,
    ) -> Result<(), Fault>;
    unsafe fn zero(
        &self,
        queue: Handle,
        memory: Handle,
        at: usize,
        bytes: usize,
    ) -> Result<(), Fault>;
    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        shape: Shape,
        args: &[RawArg],
    ) -> Result<(), Fault>;
    unsafe fn finish(&self, queue: Handle) -> Result<(), Fault>;
    /// A point in the queue's work.
    unsafe fn mark(&self, queue: Handle) -> Result<Handle, Fault>;
    /// Work that is put on the queue after this begins when another queue has come to the mark.
    unsafe fn follow(&self, queue: Handle, mark: Handle) -> Result<(), Fault>;
    /// Waits until the queue's work has come to the mark.
    unsafe fn wait(&self, mark: Handle) -> Result<(), Fault>;
    /// Seconds on the device's clock between two marks that were waited for.
    unsafe fn seconds_between(&self, first: Handle, second: Handle) -> Result<f64, Fault>;
    unsafe fn release_mark(&self, mark: Handle);

    /// Compiles a kernel of a source, and whatever others of it come with that; gives them with their names. They are never
    /// released.
    unsafe fn load(&self, source: &Source, kernel: &'static str) -> Result<Vec<Loaded>, Fault>;
    /// How many groups of that shape one compute unit holds at a time, at least 1.
    unsafe fn resident_groups(&self, kernel: Handle, shape: Shape) -> u32;
}
