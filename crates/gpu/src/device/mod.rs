//! One small layer over the drivers: memory, queues and kernels of a device, the same for CUDA and OpenCL.
//!
//! Both drivers are opened when a program first asks for a device. Where there is none, [`open`] refuses and says
//! what is missing: nothing here is needed to build or to run the rest.
//!
//! A [`Queue`] works off what it is given in order. [`Queue::write`] and [`Queue::read`] wait for the copy;
//! those that copy from and to [`Pinned`] memory do not, and it takes two queues to copy and compute at once.

mod api;
mod cuda;
mod fault;
mod opencl;

use crate::kernel::Source;
use api::{Api, Handle, RawArg};
use fyke_core::{Options, Refusal};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub use api::Shape;
pub use fault::{Fault, FaultKind};

/// The drivers that fyke knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// NVIDIA's own.
    Cuda,
    /// The open standard: other makers' graphics processors, and processors through PoCL.
    OpenCl,
}

impl Backend {
    /// `"cuda"` or `"opencl"`.
    pub fn name(self) -> &'static str {
        match self {
            Backend::Cuda => "cuda",
            Backend::OpenCl => "opencl",
        }
    }
}

/// What there is to say about a device.
#[derive(Clone, Debug)]
pub struct Properties {
    /// The driver that it was found by.
    pub backend: Backend,
    /// Its name, as the driver gives it.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// Bytes of memory.
    pub memory: u64,
    /// Most bytes of shared memory that a group can have.
    pub shared: u32,
    /// Compute units ("multiprocessors").
    pub units: u32,
    /// Work items that run in step and can exchange values: 32 where kernels know of warps, else 1.
    pub lanes: u32,
    /// Most work items of a group.
    pub max_items: u32,
    /// Whether it is a processor that plays the device, as PoCL's.
    pub is_processor: bool,
    /// Compute capability, `(9, 0)`, of a CUDA device.
    pub capability: Option<(u32, u32)>,
}

/// A backend that is not there, and why.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The backend.
    pub backend: Backend,
    /// What the driver or its absence said.
    pub why: String,
    /// What to do to get it.
    pub hint: &'static str,
}

/// What this machine has.
pub struct Inventory {
    /// Devices: those of CUDA, then graphics processors of OpenCL, then processors. `device=N` counts these.
    pub devices: Vec<Device>,
    /// Backends without a device.
    pub missing: Vec<Missing>,
}

/// What this machine has; looked for once.
pub fn inventory() -> &'static Inventory {
    static INVENTORY: OnceLock<Inventory> = OnceLock::new();
    INVENTORY.get_or_init(|| {
        let mut inventory = Inventory { devices: Vec::new(), missing: Vec::new() };
        for (backend, hint) in [(Backend::Cuda, cuda::HINT), (Backend::OpenCl, opencl::HINT)] {
            match found(backend) {
                Ok(devices) => inventory.devices.extend_from_slice(devices),
                Err(why) => {
                    inventory.missing.push(Missing { backend, why: why.clone(), hint });
                }
            }
        }
        inventory.devices.sort_by_key(|d| {
            (d.properties().backend != Backend::Cuda, d.properties().is_processor)
        });
        inventory
    })
}

/// The devices of a driver; looked for once.
fn found(backend: Backend) -> &'static Result<Vec<Device>, String> {
    type Found = OnceLock<Result<Vec<Device>, String>>;
    static CUDA: Found = OnceLock::new();
    static OPENCL: Found = OnceLock::new();
    let devices = |apis: Vec<Box<dyn Api>>| apis.into_iter().map(Device::new).collect();
    match backend {
        Backend::Cuda => CUDA.get_or_init(|| cuda::devices().map(devices)),
        Backend::OpenCl => OPENCL.get_or_init(|| opencl::devices().map(devices)),
    }
}

/// The devices that come first in the [`inventory`]: those of CUDA if there are any, else all. To look for those of OpenCL
/// opens another driver: 0.15 s on the machine of an H200, where CUDA takes 0.1 s and a context as much.
pub fn first_devices() -> &'static [Device] {
    match found(Backend::Cuda) {
        Ok(devices) if !devices.is_empty() => devices,
        _ => &inventory().devices,
    }
}

/// The options that [`open`] reads.
pub const OPTIONS: [&str; 3] = ["backend", "device", "devices"];

/// The device that options ask for: `backend=cuda|opencl`, `device=N` as [`inventory`] counts; else the first. Of several
/// the first.
///
/// # Errors
/// There is none, with what is missing and how to get it; or an option is not understood.
pub fn open(opt: &Options) -> Result<Device, Refusal> {
    open_all(opt).map(|mut devices| devices.swap_remove(0))
}

/// The devices that options ask for: `devices=0+1` as [`inventory`] counts, or `devices=all`, which are those with the
/// backend and of the kind of the first one; else the one that [`open`] gives. At least one.
///
/// # Errors
/// As [`open`].
pub fn open_all(opt: &Options) -> Result<Vec<Device>, Refusal> {
    // What is found among the first ones would be found among all: they come first there, in the same order.
    choose(first_devices(), opt).or_else(|_| choose(&inventory().devices, opt))
}

/// The devices of a list that options ask for.
fn choose(all: &[Device], opt: &Options) -> Result<Vec<Device>, Refusal> {
    let wanted = match opt.choice("backend", &["auto", "cuda", "opencl"])? {
        "cuda" => Some(Backend::Cuda),
        "opencl" => Some(Backend::OpenCl),
        _ => None,
    };
    let fits = |d: &&Device| wanted.is_none_or(|b| d.properties().backend == b);
    let kind = |d: &Device| (d.properties().backend, d.properties().is_processor);
    let first = all.iter().find(fits);
    let found: Option<Vec<&Device>> = match (opt.param("device"), opt.param("devices")) {
        (None, None) => first.map(|d| vec![d]),
        (None, Some("all")) => {
            first.map(|first| all.iter().filter(|d| kind(d) == kind(first)).collect())
        }
        (None, Some(list)) => numbers("devices", list, all)?,
        (Some(number), None) if !number.contains('+') => numbers("device", number, all)?,
        (Some(number), _) => {
            return Err(Refusal::BadOption(format!(
                "device={number}: that is one device; name several, and nothing else, with devices=0+1"
            )));
        }
    };
    let found = found.filter(|devices| devices.iter().all(fits));
    found.map(|devices| devices.into_iter().cloned().collect()).ok_or_else(|| {
        Refusal::NoDevice(if all.iter().any(|d| fits(&d)) {
            format!(
                "none of this machine's {} is the one asked for; `fyke devices` lists them",
                all.len()
            )
        } else {
            absence(wanted)
        })
    })
}

/// The devices of some numbers with `+` between them, each named once; nothing if one of them is not there.
fn numbers<'a>(
    option: &str,
    list: &str,
    all: &'a [Device],
) -> Result<Option<Vec<&'a Device>>, Refusal> {
    let number = |part: &str| {
        part.parse().map_err(|_| {
            Refusal::BadOption(format!(
                "{option}={list}: take a number from 0, as `fyke devices` lists them"
            ))
        })
    };
    let mut numbers = list.split('+').map(number).collect::<Result<Vec<usize>, _>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers.into_iter().map(|n| all.get(n)).collect())
}

/// Why there is no device of a backend, or of any.
fn absence(wanted: Option<Backend>) -> String {
    let missing = inventory().missing.iter().filter(|m| wanted.is_none_or(|b| m.backend == b));
    let reasons: Vec<String> =
        missing.map(|m| format!("{}: {} ({})", m.backend.name(), m.why, m.hint)).collect();
    reasons.join("; ")
}

/// A device. Cheap to clone.
#[derive(Clone)]
pub struct Device(Arc<Opened>);

struct Opened {
    api: Box<dyn Api>,
    /// Kernels by their sources' names and their own: compiled once a process.
    kernels: Mutex<HashMap<(&'static str, &'static str), Handle>>,
}

impl Device {
    fn new(api: Box<dyn Api>) -> Self {
        Self(Arc::new(Opened { api, kernels: Mutex::default() }))
    }

    fn api(&self) -> &dyn Api {
        &*self.0.api
    }

    /// What there is to say about it.
    pub fn properties(&self) -> &Properties {
        self.api().properties()
    }

    /// Bytes of device memory that are free now, if the driver says.
    pub fn free_memory(&self) -> Option<u64> {
        self.api().free_memory()
    }

    /// Whether two are the same device.
    pub fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Device memory, of any content. At least one byte is taken.
    ///
    /// # Errors
    /// There is not enough, or the device is lost.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Fault> {
        // SAFETY: any size may be asked for.
        let handle = unsafe { self.api().allocate(bytes.max(1))? };
        Ok(Buffer { device: self.clone(), handle, bytes, owned: Owned::Memory })
    }

    /// Device memory with these bytes in it.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn upload(&self, queue: &Queue, bytes: &[u8]) -> Result<Buffer, Fault> {
        let buffer = self.allocate(bytes.len())?;
        queue.write(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// Host memory that the device copies from and to at its full rate. Zeroed.
    ///
    /// # Errors
    /// There is not enough.
    pub fn pinned(&self, bytes: usize) -> Result<Pinned, Fault> {
        let bytes = bytes.max(1);
        // SAFETY: any size may be asked for.
        let at = unsafe { self.api().allocate_host(bytes)? };
        pinned().insert(at as usize, bytes);
        Ok(Pinned { device: self.clone(), at, bytes })
    }

    /// A queue of work.
    ///
    /// # Errors
    /// The device is lost.
    pub fn queue(&self) -> Result<Queue, Fault> {
        // SAFETY: nothing has to hold.
        let handle = unsafe { self.api().open_queue()? };
        Ok(Queue { device: self.clone(), handle })
    }

    /// The kernel of that name, compiled on first use.
    ///
    /// # Errors
    /// The driver does not take it.
    ///
    /// # Panics
    /// The source does not list it.
    pub fn kernel(&self, source: &Source, name: &str) -> Result<Kernel, Fault> {
        let listed = source.kernels.iter().find(|k| **k == name);
        let name: &'static str =
            listed.unwrap_or_else(|| panic!("{} lists no kernel {name}", source.name));
        let mut kernels = self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if !kernels.contains_key(&(source.name, name)) {
            // SAFETY: a source is text of this crate.
            let loaded = unsafe { self.api().load(source, name)? };
            kernels.extend(loaded.into_iter().map(|(name, handle)| ((source.name, name), handle)));
        }
        Ok(Kernel { device: self.clone(), handle: kernels[&(source.name, name)] })
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.properties().name, self.properties().backend.name())
    }
}

enum Owned {
    Memory,
    Mapped,
    Texture,
}

/// Memory that kernels see: on the device, or mapped from the host, or read through a texture.
pub struct Buffer {
    device: Device,
    handle: Handle,
    bytes: usize,
    owned: Owned,
}

impl Buffer {
    /// Its size.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it has no byte.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The same memory as kernels read it through a texture, as 32-bit words. It has to outlive that.
    ///
    /// # Errors
    /// It is larger than textures of this device can be.
    pub fn texture(&self) -> Result<Buffer, Fault> {
        // SAFETY: the handle is that of a live buffer of so many bytes.
        let handle = unsafe { self.device.api().bind_texture(self.handle, self.bytes)? };
        Ok(Buffer { device: self.device.clone(), handle, bytes: self.bytes, owned: Owned::Texture })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let api = self.device.api();
        match self.owned {
            // SAFETY: the handle was made by this call's counterpart and is released once.
            Owned::Memory => unsafe { api.release(self.handle) },
            // SAFETY: as above.
            Owned::Mapped => unsafe { api.unmap(self.handle) },
            // SAFETY: as above.
            Owned::Texture => unsafe { api.release_texture(self.handle) },
        }
    }
}

/// Pinned memory of the process: addresses, and the bytes from there on.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn pinned() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    PINNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether bytes lie in pinned memory, so that devices copy them at their full rate. Memory that is pinned for one
/// device is for all.
pub fn is_pinned(bytes: &[u8]) -> bool {
    let (at, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
    pinned().range(..=at).next_back().is_some_and(|(from, len)| end <= from + len)
}

/// Host memory that a device copies from and to at its full rate. A scan knows by the address that a haystack lies in
/// it.
pub struct Pinned {
    device: Device,
    at: *mut u8,
    bytes: usize,
}

// SAFETY: it owns its memory, as a vector does.
unsafe impl Send for Pinned {}
// SAFETY: shared references only read.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// The same memory as kernels see it, without a copy. It has to outlive that.
    ///
    /// # Errors
    /// The device cannot.
    pub fn map(&self) -> Result<Buffer, Fault> {
        // SAFETY: the pointer and the size are those of this allocation.
        let handle = unsafe { self.device.api().map(self.at, self.bytes)? };
        Ok(Buffer { device: self.device.clone(), handle, bytes: self.bytes, owned: Owned::Mapped })
    }
}

impl std::ops::Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: so many bytes were allocated there, zeroed, and are released on drop only.
        unsafe { std::slice::from_raw_parts(self.at, self.bytes) }
    }
}

impl std::ops::DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and this is the only reference.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Before it is released: the address may be another's right after.
        pinned().remove(&(self.at as usize));
        // SAFETY: it was allocated by the counterpart, with this size.
        unsafe { self.device.api().release_host(self.at, self.bytes) }
    }
}

/// A kernel.
#[derive(Clone)]
pub struct Kernel {
    device: Device,
    handle: Handle,
}

impl Kernel {
    /// How many groups of that shape run on the whole device at a time.
    pub fn resident_groups(&self, shape: Shape) -> u32 {
        // SAFETY: the handle is a kernel of this device.
        let each = unsafe { self.device.api().resident_groups(self.handle, shape) };
        each.max(1) * self.device.properties().units
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// Memory, or a texture.
    Buffer(&'a Buffer),
    /// A number.
    U32(u32),
    /// A number.
    U64(u64),
}

impl<'a> From<&'a Buffer> for Arg<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Arg::Buffer(buffer)
    }
}

impl From<u32> for Arg<'_> {
    fn from(number: u32) -> Self {
        Arg::U32(number)
    }
}

impl From<u64> for Arg<'_> {
    fn from(number: u64) -> Self {
        Arg::U64(number)
    }
}

/// Work for a device, done in order.
pub struct Queue {
    device: Device,
    handle: Handle,
}

/// A point in a queue's work.
pub struct Mark {
    device: Device,
    handle: Handle,
}

impl Mark {
    /// Waits until the work before it is done.
    ///
    /// # Errors
    /// Some of that work failed.
    pub fn wait(&self) -> Result<(), Fault> {
        // SAFETY: the handle is a mark of this device.
        unsafe { self.device.api().wait(self.handle) }
    }

    /// Seconds on the device's clock from an earlier mark to this one. Waits for both.
    ///
    /// # Errors
    /// Some of the work before them failed.
    pub fn seconds_since(&self, earlier: &Mark) -> Result<f64, Fault> {
        earlier.wait()?;
        self.wait()?;
        // SAFETY: both are marks of this device, and were waited for.
        unsafe { self.device.api().seconds_between(earlier.handle, self.handle) }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: the handle is released once.
        unsafe { self.device.api().release_mark(self.handle) }
    }
}

impl Queue {
    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies to the device, and waits until the bytes may be changed again.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The bytes do not fit the buffer.
    pub fn write(&self, to: &Buffer, at: usize, from: &[u8]) -> Result<(), Fault> {
        check(to, at, from.len());
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: the range is within the buffer, and `finish` waits for the copy.
        unsafe { self.device.api().write(self.handle, to.handle, at, from)? };
        self.finish()
    }

    /// Puts a copy to the device on the queue; it may or may not wait for it.
    ///
    /// # Safety
    /// The bytes are neither changed nor dropped until the queue has come so far.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The bytes do not fit the buffer.
    pub unsafe fn write_unwaited(&self, to: &Buffer, at: usize, from: &[u8]) -> Result<(), Fault> {
        check(to, at, from.len());
        if from.is_empty() {
            return Ok(());
        }
        // SAFETY: the range is within the buffer, and the caller keeps the bytes as they are.
        unsafe { self.device.api().write(self.handle, to.handle, at, from) }
    }

    /// Copies from the device, and waits for it and all work before it.
    ///
    /// # Errors
    /// The device is lost, or work before it failed.
    ///
    /// # Panics
    /// The bytes are not all in the buffer.
    pub fn read(&self, from: &Buffer, at: usize, to: &mut [u8]) -> Result<(), Fault> {
        check(from, at, to.len());
        if to.is_empty() {
            return self.finish();
        }
        // SAFETY: the range is within the buffer, and `finish` waits for the copy.
        unsafe { self.device.api().read(self.handle, from.handle, at, to)? };
        self.finish()
    }

    /// Puts a copy to the device on the queue, and does not wait for it.
    ///
    /// # Safety
    /// The pinned memory is neither changed nor dropped until the queue has come so far.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// A range is outside of its memory.
    pub unsafe fn write_later(
        &self,
        to: &Buffer,
        at: usize,
        from: &Pinned,
        range: Range<usize>,
    ) -> Result<(), Fault> {
        check(to, at, range.len());
        // SAFETY: the ranges are within both, and the caller keeps the memory as it is.
        unsafe { self.device.api().write(self.handle, to.handle, at, &from[range]) }
    }

    /// Puts a copy from the device on the queue, and does not wait for it.
    ///
    /// # Safety
    /// The pinned memory is neither used nor dropped until the queue has come so far.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// A range is outside of its memory.
    pub unsafe fn read_later(
        &self,
        from: &Buffer,
        at: usize,
        to: &mut Pinned,
        range: Range<usize>,
    ) -> Result<(), Fault> {
        check(from, at, range.len());
        // SAFETY: the ranges are within both, and the caller leaves the memory alone.
        unsafe { self.device.api().read(self.handle, from.handle, at, &mut to[range]) }
    }

    /// Puts a copy within the device on the queue.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// A range is outside of its buffer.
    pub fn copy(
        &self,
        from: &Buffer,
        from_at: usize,
        to: &Buffer,
        at: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        check(from, from_at, bytes);
        check(to, at, bytes);
        // SAFETY: the ranges are within both.
        unsafe {
            self.device.api().copy(self.handle, (from.handle, from_at), (to.handle, at), bytes)
        }
    }

    /// Puts on the queue that bytes become 0.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The range is outside of the buffer.
    pub fn zero(&self, memory: &Buffer, range: Range<usize>) -> Result<(), Fault> {
        check(memory, range.start, range.len());
        // SAFETY: the range is within the buffer.
        unsafe { self.device.api().zero(self.handle, memory.handle, range.start, range.len()) }
    }

    /// Puts a kernel on the queue.
    ///
    /// # Safety
    /// The arguments are those that the kernel declares, and all that it does with the memory stays within it.
    ///
    /// # Errors
    /// The device does not take the shape, or is lost.
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        shape: Shape,
        args: &[Arg<'_>],
    ) -> Result<(), Fault> {
        let raw: Vec<RawArg> = args
            .iter()
            .map(|a| match a {
                Arg::Buffer(b) => RawArg::Memory(b.handle),
                Arg::U32(n) => RawArg::U32(*n),
                Arg::U64(n) => RawArg::U64(*n),
            })
            .collect();
        // SAFETY: the handles are live, and the caller vouches for what the kernel does.
        unsafe { self.device.api().launch(self.handle, kernel.handle, shape, &raw) }
    }

    /// Waits until all is done.
    ///
    /// # Errors
    /// Some of it failed.
    pub fn finish(&self) -> Result<(), Fault> {
        // SAFETY: the handle is a queue of this device.
        unsafe { self.device.api().finish(self.handle) }
    }

    /// Seconds on the device's clock of work that is put on this queue. Waits for it.
    ///
    /// # Errors
    /// Some of it failed, or cannot be put there.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Fault>) -> Result<f64, Fault> {
        let first = self.mark()?;
        work()?;
        self.mark()?.seconds_since(&first)
    }

    /// Lets work that comes after begin only when another queue of the device has come to a mark.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The mark is of another device.
    pub fn follow(&self, mark: &Mark) -> Result<(), Fault> {
        assert!(self.device.is(&mark.device), "a mark of another device");
        // SAFETY: both handles are of this device.
        unsafe { self.device.api().follow(self.handle, mark.handle) }
    }

    /// Marks the point that the work has come to when all before is done.
    ///
    /// # Errors
    /// The device is lost.
    pub fn mark(&self) -> Result<Mark, Fault> {
        // SAFETY: the handle is a queue of this device.
        let handle = unsafe { self.device.api().mark(self.handle)? };
        Ok(Mark { device: self.device.clone(), handle })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: the handle is released once.
        unsafe { self.device.api().close_queue(self.handle) }
    }
}

/// Numbers as a device reads them.
pub fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

fn check(buffer: &Buffer, at: usize, bytes: usize) {
    assert!(
        at.checked_add(bytes).is_some_and(|end| end <= buffer.bytes),
        "{bytes} bytes at {at} of a buffer of {}",
        buffer.bytes
    );
}

#[cfg(test)]
mod tests;
