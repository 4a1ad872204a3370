//! CUDA, by NVIDIA's driver. The library is opened when it is there; kernels are the PTX that comes with the sources.

use super::api::{Api, Handle, Loaded, RawArg, Shape};
use super::fault::{Fault, FaultKind};
use super::{Backend, Properties};
use crate::kernel::Source;
use cudarc::driver::result::{self, DriverError, ctx, event, function, module, occupancy, stream};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::panic::catch_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};

/// How to get it.
pub(super) const HINT: &str = "needs an NVIDIA graphics processor and its driver, 525 or newer";

/// Shared memory that a kernel gets without asking, on every device.
const PLAIN_SHARED: u32 = 48 << 10;

/// The devices there are.
pub(super) fn devices() -> Result<Vec<Box<dyn Api>>, String> {
    // SAFETY: looks for the library and opens it.
    if !unsafe { sys::is_culib_present() } {
        return Err("the driver's library libcuda was not found".into());
    }
    // A driver that lacks a symbol makes the bindings panic.
    catch_unwind(found).unwrap_or_else(|_| Err("the driver is too old: it lacks a call".into()))
}

fn found() -> Result<Vec<Box<dyn Api>>, String> {
    let say = |e: DriverError| describe(e);
    result::init().map_err(say)?;
    let count = result::device::get_count().map_err(say)?;
    if count == 0 {
        return Err("the driver knows no device".into());
    }
    (0..count).map(|i| Ok(Box::new(Cuda::new(i).map_err(say)?) as Box<dyn Api>)).collect()
}

fn describe(e: DriverError) -> String {
    let name = e.error_name().map(|s| s.to_string_lossy().into_owned());
    let text = e.error_string().map(|s| s.to_string_lossy().into_owned());
    match (name, text) {
        (Ok(name), Ok(text)) => format!("{name}, {text}"),
        _ => format!("CUDA error {}", e.0 as u32),
    }
}

fn fault(doing: &'static str) -> impl Fn(DriverError) -> Fault {
    move |e| {
        let kind = match e.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => FaultKind::OutOfMemory,
            CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
            | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU => FaultKind::OldDriver,
            _ => FaultKind::Other,
        };
        Fault::new(doing, kind, describe(e))
    }
}

struct Cuda {
    device: sys::CUdevice,
    /// Made when it is first asked for: that takes tenths of a second, and most programs use one device of several.
    context: OnceLock<Result<Context, DriverError>>,
    /// Bytes of shared memory that each kernel may have.
    granted: Mutex<HashMap<Handle, u32>>,
    properties: Properties,
}

struct Context(sys::CUcontext);

// SAFETY: a context may be made current on any thread, and each call does that first.
unsafe impl Send for Context {}
// SAFETY: the driver's calls may be made by several threads at once.
unsafe impl Sync for Context {}

impl Cuda {
    fn new(number: i32) -> Result<Self, DriverError> {
        let device = result::device::get(number)?;
        // SAFETY: the device was just gotten.
        let get =
            |a: Attribute| unsafe { result::device::get_attribute(device, a) }.map(|v| v as u32);
        let mut driver = 0;
        // SAFETY: writes the number.
        unsafe { sys::cuDriverGetVersion(&mut driver) }.result()?;
        let properties = Properties {
            backend: Backend::Cuda,
            name: result::device::get_name(device)?,
            driver: format!("CUDA {}.{}", driver / 1000, driver % 1000 / 10),
            // SAFETY: the device was just gotten.
            memory: unsafe { result::device::total_mem(device)? } as u64,
            shared: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            units: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            lanes: 32,
            max_items: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            is_processor: false,
            capability: Some((
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            )),
        };
        Ok(Self { device, context: OnceLock::new(), granted: Mutex::default(), properties })
    }

    /// Makes the device the one that this thread's calls are for.
    fn enter(&self, doing: &'static str) -> Result<(), Fault> {
        // SAFETY: the device is one of the driver's. The context is kept as long as the process lives.
        let retain = || unsafe { result::primary_ctx::retain(self.device) }.map(Context);
        let context = self.context.get_or_init(retain).as_ref().map_err(|e| fault(doing)(*e))?;
        // SAFETY: the context lives as long as the process.
        unsafe { ctx::set_current(context.0) }.map_err(fault(doing))
    }

    /// Lets a kernel have so much shared memory. What it has is never taken back: another thread may be about to launch it
    /// with more.
    fn opt_in_shared(&self, kernel: Handle, shared: u32) -> Result<(), DriverError> {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        let has = granted.entry(kernel).or_insert(PLAIN_SHARED);
        if shared <= *has {
            return Ok(());
        }
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let kernel = kernel as sys::CUfunction;
        // SAFETY: the handle is a function of a module that is never unloaded.
        unsafe { function::set_function_attribute(kernel, attribute, shared as i32)? };
        *has = shared;
        Ok(())
    }

    /// For releasing: errors of a lost device have been reported by the call that met them first.
    fn quietly(&self, release: impl FnOnce() -> Result<(), DriverError>) {
        if self.enter("releasing").is_ok() {
            let _ = release();
        }
    }
}

// SAFETY: see the trait; each call enters the context, and handles are used as what they were made as.
unsafe impl Api for Cuda {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Option<u64> {
        self.enter("asking for free memory").ok()?;
        result::mem_get_info().ok().map(|(free, _)| free as u64)
    }

    unsafe fn allocate(&self, bytes: usize) -> Result<Handle, Fault> {
        let doing = "allocating device memory";
        self.enter(doing)?;
        // SAFETY: the content is said to be any.
        unsafe { result::malloc_sync(bytes) }.map(|p| p as Handle).map_err(fault(doing))
    }

    unsafe fn release(&self, memory: Handle) {
        // SAFETY: by the trait's contract.
        self.quietly(|| unsafe { result::free_sync(memory as sys::CUdeviceptr) });
    }

    unsafe fn allocate_host(&self, bytes: usize) -> Result<*mut u8, Fault> {
        let doing = "allocating pinned memory";
        self.enter(doing)?;
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: it is filled below before anyone sees it.
        let at = unsafe { result::malloc_host(bytes, flags) }.map_err(fault(doing))?.cast::<u8>();
        // SAFETY: so many bytes were allocated.
        unsafe { at.write_bytes(0, bytes) };
        Ok(at)
    }

    unsafe fn release_host(&self, at: *mut u8, _bytes: usize) {
        // SAFETY: by the trait's contract.
        self.quietly(|| unsafe { result::free_host(at.cast()) });
    }

    unsafe fn map(&self, at: *mut u8, _bytes: usize) -> Result<Handle, Fault> {
        let doing = "mapping pinned memory";
        self.enter(doing)?;
        let mut mapped = 0;
        // SAFETY: the memory was allocated by `allocate_host`, as memory that can be mapped.
        unsafe { sys::cuMemHostGetDevicePointer_v2(&mut mapped, at.cast(), 0) }
            .result()
            .map_err(fault(doing))?;
        Ok(mapped as Handle)
    }

    unsafe fn unmap(&self, _memory: Handle) {}

    unsafe fn bind_texture(&self, memory: Handle, bytes: usize) -> Result<Handle, Fault> {
        let doing = "binding a texture";
        self.enter(doing)?;
        let linear = sys::CUDA_RESOURCE_DESC_st__bindgen_ty_1__bindgen_ty_3 {
            devPtr: memory as sys::CUdeviceptr,
            format: sys::CUarray_format::CU_AD_FORMAT_UNSIGNED_INT32,
            numChannels: 1,
            sizeInBytes: bytes,
        };
        // SAFETY: the descriptors are plain numbers, and zero is a value of each of their fields.
        let (mut resource, mut how): (sys::CUDA_RESOURCE_DESC, sys::CUDA_TEXTURE_DESC) =
            unsafe { std::mem::zeroed() };
        resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear = linear;
        how.flags = sys::CU_TRSF_READ_AS_INTEGER;
        let mut texture = 0;
        // SAFETY: the descriptors are filled in, and the memory is live by the trait's contract.
        unsafe { sys::cuTexObjectCreate(&mut texture, &resource, &how, std::ptr::null()) }
            .result()
            .map_err(fault(doing))?;
        Ok(texture as Handle)
    }

    unsafe fn release_texture(&self, texture: Handle) {
        // SAFETY: by the trait's contract.
        self.quietly(|| unsafe { sys::cuTexObjectDestroy(texture as sys::CUtexObject) }.result());
    }

    unsafe fn open_queue(&self) -> Result<Handle, Fault> {
        let doing = "opening a stream";
        self.enter(doing)?;
        stream::create(stream::StreamKind::NonBlocking).map(|s| s as Handle).map_err(fault(doing))
    }

    unsafe fn close_queue(&self, queue: Handle) {
        // SAFETY: by the trait's contract.
        self.quietly(|| unsafe { stream::destroy(queue as sys::CUstream) });
    }

    unsafe fn write(&self, queue: Handle, to: Handle, at: usize, from: &[u8]) -> Result<(), Fault> {
        let doing = "copying to the device";
        self.enter(doing)?;
        // SAFETY: by the trait's contract.
        unsafe {
            result::memcpy_htod_async((to + at) as sys::CUdeviceptr, from, queue as sys::CUstream)
        }
        .map_err(fault(doing))
    }

    unsafe fn read(
        &self,
        queue: Handle,
        from: Handle,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), Fault> {
        let doing = "copying from the device";
        self.enter(doing)?;
        // SAFETY: by the trait's contract.
        unsafe {
            result::memcpy_dtoh_async(to, (from + at) as sys::CUdeviceptr, queue as sys::CUstream)
        }
        .map_err(fault(doing))
    }

    unsafe fn copy(
        &self,
        queue: Handle,
        from: (Handle, usize),
        to: (Handle, usize),
        bytes: usize,
    ) -> Result<(), Fault> {
        let doing = "copying within the device";
        self.enter(doing)?;
        let (from, to) = ((from.0 + from.1) as sys::CUdeviceptr, (to.0 + to.1) as sys::CUdeviceptr);
        // SAFETY: by the trait's contract.
        unsafe { result::memcpy_dtod_async(to, from, bytes, queue as sys::CUstream) }
            .map_err(fault(doing))
    }

    unsafe fn zero(
        &self,
        queue: Handle,
        memory: Handle,
        at: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        let doing = "clearing device memory";
        self.enter(doing)?;
        // SAFETY: by the trait's contract.
        unsafe {
            result::memset_d8_async(
                (memory + at) as sys::CUdeviceptr,
                0,
                bytes,
                queue as sys::CUstream,
            )
        }
        .map_err(fault(doing))
    }

    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        shape: Shape,
        args: &[RawArg],
    ) -> Result<(), Fault> {
        let doing = "launching a kernel";
        self.enter(doing)?;
        self.opt_in_shared(kernel, shape.shared).map_err(fault(doing))?;
        // Numbers of 32 bits are read from the low half.
        let mut values: Vec<u64> = args
            .iter()
            .map(|a| match *a {
                RawArg::Memory(m) => m as u64,
                RawArg::U32(n) => u64::from(n),
                RawArg::U64(n) => n,
            })
            .collect();
        let mut places: Vec<*mut c_void> =
            values.iter_mut().map(|v| std::ptr::from_mut(v).cast()).collect();
        // SAFETY: the kernel's module is never unloaded, and the caller vouches for the arguments.
        unsafe {
            result::launch_kernel(
                kernel as sys::CUfunction,
                (shape.groups, 1, 1),
                (shape.items, 1, 1),
                shape.shared,
                queue as sys::CUstream,
                &mut places,
            )
        }
        .map_err(fault(doing))
    }

    unsafe fn finish(&self, queue: Handle) -> Result<(), Fault> {
        let doing = "waiting for the device";
        self.enter(doing)?;
        // SAFETY: by the trait's contract.
        unsafe { stream::synchronize(queue as sys::CUstream) }.map_err(fault(doing))
    }

    unsafe fn mark(&self, queue: Handle) -> Result<Handle, Fault> {
        let doing = "recording an event";
        self.enter(doing)?;
        let mark = event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(fault(doing))?;
        // SAFETY: the event was just made, the queue is live.
        unsafe { event::record(mark, queue as sys::CUstream) }.map_err(fault(doing))?;
        Ok(mark as Handle)
    }

    unsafe fn follow(&self, queue: Handle, mark: Handle) -> Result<(), Fault> {
        let doing = "waiting for another stream";
        self.enter(doing)?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: by the trait's contract.
        unsafe { stream::wait_event(queue as sys::CUstream, mark as sys::CUevent, flags) }
            .map_err(fault(doing))
    }

    unsafe fn wait(&self, mark: Handle) -> Result<(), Fault> {
        let doing = "waiting for the device";
        self.enter(doing)?;
        // SAFETY: by the trait's contract.
        unsafe { event::synchronize(mark as sys::CUevent) }.map_err(fault(doing))
    }

    unsafe fn seconds_between(&self, first: Handle, second: Handle) -> Result<f64, Fault> {
        let doing = "reading the device's clock";
        self.enter(doing)?;
        // SAFETY: by the trait's contract.
        let ms = unsafe { event::elapsed(first as sys::CUevent, second as sys::CUevent) };
        ms.map(|ms| f64::from(ms) / 1e3).map_err(fault(doing))
    }

    unsafe fn release_mark(&self, mark: Handle) {
        // SAFETY: by the trait's contract.
        self.quietly(|| unsafe { event::destroy(mark as sys::CUevent) });
    }

    /// That kernel alone: the driver takes tenths of a second for each.
    unsafe fn load(&self, source: &Source, kernel: &'static str) -> Result<Vec<Loaded>, Fault> {
        let doing = "loading a kernel";
        self.enter(doing)?;
        let text = CString::new(source.ptx_of(kernel)).expect("PTX has no zero byte");
        // SAFETY: it is text that ends with a zero byte.
        let module = unsafe { module::load_data(text.as_ptr().cast()) }.map_err(fault(doing))?;
        let name = CString::new(kernel).expect("names have no zero byte");
        // SAFETY: the module was just loaded and is never unloaded.
        let function = unsafe { module::get_function(module, name) }.map_err(fault(doing))?;
        Ok(vec![(kernel, function as Handle)])
    }

    unsafe fn resident_groups(&self, kernel: Handle, shape: Shape) -> u32 {
        let ask = || {
            self.enter("asking for occupancy").ok()?;
            self.opt_in_shared(kernel, shape.shared).ok()?;
            // SAFETY: the handle is a function of a module that is never unloaded.
            unsafe {
                occupancy::max_active_block_per_multiprocessor(
                    kernel as sys::CUfunction,
                    shape.items as i32,
                    shape.shared as usize,
                )
            }
            .ok()
        };
        ask().unwrap_or(1).max(1) as u32
    }
}
