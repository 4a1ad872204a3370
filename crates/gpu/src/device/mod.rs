//! One thin layer over the drivers: memory, queues and kernels of a device, the same for CUDA and
//! OpenCL.
//!
//! Both drivers are loaded when a program first asks for a device. Neither is needed to build fyke
//! or to run it on the CPU: without a device [`open`] refuses and says what is missing.
//!
//! # Invariants
//! * A handle belongs to one [`Device`], and every object keeps its device alive. A [`Queue`]
//!   refuses the buffers, kernels and events of other devices.
//! * Copies are checked against the sizes of their buffers before the driver sees them.
//! * What the compiler cannot check is `unsafe`: [`Queue::launch`], because a kernel may access any
//!   memory through its arguments; the copies that do not wait; and [`Pinned::map`].

mod api;
mod buffer;
mod cuda;
mod fault;
mod inventory;
mod kernel;
mod opencl;
mod pinned;
mod queue;

use crate::kernel::KernelSource;
use api::{Api, Handle};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use buffer::{Buffer, words};
pub use fault::{Fault, FaultKind};
pub use inventory::{Inventory, Missing, OPTIONS, first_devices, inventory, open, open_all};
pub use kernel::{Arg, Kernel, LaunchShape, Rows};
pub use pinned::{Pinned, is_pinned};
pub(crate) use pinned::{Place, place};
pub use queue::{Event, Queue};

/// The drivers that fyke can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Backend {
    /// NVIDIA's driver.
    Cuda,
    /// OpenCL: GPUs of other vendors, and the CPU by PoCL.
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

/// The properties of a device.
#[derive(Clone, Debug)]
pub struct Properties {
    /// The driver that offers it.
    pub backend: Backend,
    /// Its name, as the driver gives it.
    pub name: String,
    /// The driver's version.
    pub driver: String,
    /// Bytes of device memory.
    pub memory: u64,
    /// Most bytes of shared memory that a group can have.
    pub shared: u32,
    /// Compute units ("multiprocessors").
    pub units: u32,
    /// Lanes of a warp as the kernels see it: 32 with CUDA, 1 with OpenCL.
    pub lanes: u32,
    /// Most work items of a group.
    pub max_items: u32,
    /// Whether it is a CPU: OpenCL on the CPU (PoCL) is correct but slow.
    pub is_cpu: bool,
    /// Compute capability of a CUDA device, for example `(9, 0)`.
    pub capability: Option<(u32, u32)>,
}

impl Properties {
    /// Whether kernels can copy blocks of [`Rows`] to shared memory.
    pub fn copies_blocks(&self) -> bool {
        self.capability >= Some((9, 0))
    }
}

/// A device. Cheap to clone.
#[derive(Clone)]
pub struct Device(Arc<OpenDevice>);

struct OpenDevice {
    api: Box<dyn Api>,
    /// Kernels that were compiled in this process.
    kernels: Mutex<HashMap<KernelKey, Handle>>,
}

/// Identifies a kernel by the addresses of its source's texts and by its name.
///
/// The name of a source does not identify it: two sources may have one name and declare different
/// arguments. Then a safe function would launch the wrong kernel.
type KernelKey = (usize, usize, &'static str);

impl Device {
    fn new(api: Box<dyn Api>) -> Self {
        Self(Arc::new(OpenDevice { api, kernels: Mutex::default() }))
    }

    fn api(&self) -> &dyn Api {
        &*self.0.api
    }

    /// Its properties.
    pub fn properties(&self) -> &Properties {
        self.api().properties()
    }

    /// Bytes of device memory that are free now, if the driver says.
    pub fn free_memory(&self) -> Option<u64> {
        self.api().free_memory()
    }

    /// Whether both are the same device.
    pub fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Allocates device memory of at least one byte. Its content is undefined.
    ///
    /// # Errors
    /// There is not enough memory, or the device is lost.
    pub fn allocate(&self, bytes: usize) -> Result<Buffer, Fault> {
        Buffer::allocate(self, bytes)
    }

    /// Allocates device memory and copies these bytes to it.
    ///
    /// # Errors
    /// As [`allocate`](Self::allocate).
    pub fn upload(&self, queue: &Queue, bytes: &[u8]) -> Result<Buffer, Fault> {
        let buffer = self.allocate(bytes.len())?;
        queue.write(&buffer, 0, bytes)?;
        Ok(buffer)
    }

    /// Allocates pinned memory: host memory that the device copies at the full rate of the bus.
    /// With OpenCL it is ordinary memory. It is zeroed.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn pinned(&self, bytes: usize) -> Result<Pinned, Fault> {
        Pinned::allocate(self, bytes)
    }

    /// Pins these bytes where they lie while `scan` runs, so that every device copies them at the
    /// full rate of the bus. Scans recognize them by their address, like those of
    /// [`pinned`](Self::pinned).
    ///
    /// It takes longer than a single scan, so it pays for bytes that are scanned many times. `scan`
    /// runs without it if they are pinned already, and with OpenCL.
    ///
    /// It returns after each queue that copies from these bytes was finished or dropped. Finish a
    /// queue of your own in `scan`: a wait for an event is not enough. While `scan` runs, a
    /// [`Queue::write`] of bytes of which only a part is pinned fails.
    ///
    /// # Errors
    /// The driver does not pin them: some are pinned already, or their pages cannot stay in memory.
    pub fn with_registered<R>(&self, bytes: &[u8], scan: impl FnOnce() -> R) -> Result<R, Fault> {
        pinned::with_registered(self, bytes, scan)
    }

    /// Opens a queue.
    ///
    /// # Errors
    /// The device is lost.
    pub fn queue(&self) -> Result<Queue, Fault> {
        Queue::open(self)
    }

    /// The kernel of that name, compiled on first use.
    ///
    /// # Errors
    /// The driver rejects the kernel.
    ///
    /// # Panics
    /// The source does not list the kernel.
    pub fn kernel(&self, source: &KernelSource, name: &str) -> Result<Kernel, Fault> {
        let listed = source.kernels.iter().find(|k| **k == name);
        let name: &'static str =
            listed.unwrap_or_else(|| panic!("{} lists no kernel {name}", source.name));
        let key = |name| (source.text.as_ptr() as usize, source.ptx.as_ptr() as usize, name);
        let mut kernels = self.0.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        if !kernels.contains_key(&key(name)) {
            // SAFETY: `load` requires a name that the source lists, which was checked above.
            let loaded = unsafe { self.api().load(source, name)? };
            kernels.extend(loaded.into_iter().map(|(name, handle)| (key(name), handle)));
        }
        Ok(Kernel::new(self, kernels[&key(name)]))
    }
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.properties().name, self.properties().backend.name())
    }
}

#[cfg(test)]
mod tests;
