//! CUDA, by NVIDIA's driver, which is loaded if it is installed. Kernels are the PTX that the
//! repository contains.

use super::api::{Api, EncodedRows, Handle, LoadedKernel, RawArg};
use super::fault::{Fault, FaultKind};
use super::{Backend, LaunchShape, Properties};
use crate::kernel::KernelSource;
use cudarc::driver::result::{self, DriverError, ctx, event, function, module, occupancy, stream};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};
use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::panic::catch_unwind;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What it needs.
pub(super) const HINT: &str = "needs an NVIDIA GPU and its driver, version 525 or newer";

/// Bytes of shared memory that a kernel gets on every device without opting in to more.
const DEFAULT_SHARED: u32 = 48 << 10;

/// Bytes of each row in a block that kernels copy, as in the dialect.
const BLOCK_WIDTH: u32 = 32;

/// All CUDA devices.
pub(super) fn devices() -> Result<Vec<Box<dyn Api>>, String> {
    // SAFETY: loading the driver's library runs its initializers, which any CUDA program relies
    // on.
    if !unsafe { sys::is_culib_present() } {
        return Err("the driver's library libcuda was not found".into());
    }
    // The bindings panic if the driver lacks a symbol.
    catch_unwind(found).unwrap_or_else(|_| Err("the driver is too old: it lacks a function".into()))
}

fn found() -> Result<Vec<Box<dyn Api>>, String> {
    let say = |e: DriverError| describe(e);
    result::init().map_err(say)?;
    let count = result::device::get_count().map_err(say)?;
    if count == 0 {
        return Err("the driver lists no device".into());
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
    /// Created on first use: that takes tenths of a second, and most programs use one device.
    context: OnceLock<Result<Context, DriverError>>,
    /// Bytes of shared memory that each kernel has opted in to.
    granted: Mutex<HashMap<Handle, u32>>,
    properties: Properties,
}

struct Context(sys::CUcontext);

// SAFETY: the driver lets any thread make a context current, and `Cuda::enter` does so before each
// call; the pointer is not read here.
unsafe impl Send for Context {}
// SAFETY: the driver's functions are thread-safe, and only they use the pointer.
unsafe impl Sync for Context {}

impl Cuda {
    fn new(number: i32) -> Result<Self, DriverError> {
        let device = result::device::get(number)?;
        // SAFETY: `get_attribute` requires a device of the driver; `device::get` returned it
        // above.
        let get =
            |a: Attribute| unsafe { result::device::get_attribute(device, a) }.map(|v| v as u32);
        let mut driver = 0;
        // SAFETY: the pointer is to a live `i32`, which the call writes.
        unsafe { sys::cuDriverGetVersion(&mut driver) }.result()?;
        let properties = Properties {
            backend: Backend::Cuda,
            name: result::device::get_name(device)?,
            driver: format!("CUDA {}.{}", driver / 1000, driver % 1000 / 10),
            // SAFETY: `total_mem` requires a device of the driver; `device::get` returned it
            // above.
            memory: unsafe { result::device::total_mem(device)? } as u64,
            shared: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            units: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            lanes: 32,
            max_items: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            is_cpu: false,
            capability: Some((
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            )),
        };
        Ok(Self { device, context: OnceLock::new(), granted: Mutex::default(), properties })
    }

    /// Makes the device's context the current one of this thread.
    fn enter(&self, doing: &'static str) -> Result<(), Fault> {
        // SAFETY: `retain` requires a device of the driver, which `new` got from it. It is never
        // released, so the context lives as long as the process.
        let retain = || unsafe { result::primary_ctx::retain(self.device) }.map(Context);
        let context = self.context.get_or_init(retain).as_ref().map_err(|e| fault(doing)(*e))?;
        // SAFETY: the context is live: `retain` above returned it, and nothing releases it.
        unsafe { ctx::set_current(context.0) }.map_err(fault(doing))
    }

    /// Lets a kernel have that much shared memory. The limit only grows: another thread may be
    /// about to launch the kernel with more.
    fn opt_in_shared(&self, kernel: Handle, shared: u32) -> Result<(), DriverError> {
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        let has = granted.entry(kernel).or_insert(DEFAULT_SHARED);
        if shared <= *has {
            return Ok(());
        }
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let kernel = kernel as sys::CUfunction;
        // SAFETY: the function is live: callers pass a handle of `load`, whose modules are never
        // unloaded.
        unsafe { function::set_function_attribute(kernel, attribute, shared as i32)? };
        *has = shared;
        Ok(())
    }

    /// Releases something. Errors are ignored: a lost device was reported by the call that noticed
    /// it.
    fn release_quietly(&self, release: impl FnOnce() -> Result<(), DriverError>) {
        if self.enter("releasing").is_ok() {
            let _ = release();
        }
    }

    /// As `release_quietly`, after all work of the device: it may use what is released.
    fn release_when_idle(&self, release: impl FnOnce() -> Result<(), DriverError>) {
        self.release_quietly(|| {
            let _ = ctx::synchronize();
            release()
        });
    }
}

// SAFETY: handles are what the driver returned, and each is used as the type that it was returned
// as. Memory has the size that the driver was asked for. What work may still use is released after
// `cuCtxSynchronize`; streams and events are released by the driver when their work is done. An
// error of `cuStreamSynchronize` is sticky: the context is lost and its work abandoned. The driver
// is thread-safe, and each call enters the context first.
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
        // SAFETY: the memory is uninitialized, and only the device accesses it.
        unsafe { result::malloc_sync(bytes) }.map(|p| p as Handle).map_err(fault(doing))
    }

    unsafe fn release(&self, memory: Handle) {
        // SAFETY: the caller passes memory of `malloc_sync`, once; no work uses it any more.
        self.release_when_idle(|| unsafe { result::free_sync(memory as sys::CUdeviceptr) });
    }

    unsafe fn allocate_host(&self, bytes: usize) -> Result<*mut u8, Fault> {
        let doing = "allocating pinned memory";
        self.enter(doing)?;
        let flags = sys::CU_MEMHOSTALLOC_PORTABLE | sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the memory is uninitialized, and is filled below before anything reads it.
        let at = unsafe { result::malloc_host(bytes, flags) }.map_err(fault(doing))?.cast::<u8>();
        // SAFETY: the call above allocated that many bytes at this address.
        unsafe { at.write_bytes(0, bytes) };
        Ok(at)
    }

    unsafe fn release_host(&self, at: *mut u8, _bytes: usize) {
        // SAFETY: the caller passes memory of `malloc_host`, once; no work uses it any more.
        self.release_when_idle(|| unsafe { result::free_host(at.cast()) });
    }

    unsafe fn register_host(&self, bytes: &[u8]) -> Result<bool, Fault> {
        let doing = "pinning memory of the program";
        self.enter(doing)?;
        let register = |flags| {
            let at = bytes.as_ptr().cast_mut().cast();
            // SAFETY: the bytes are live until `unregister_host`, as the caller promises. The
            // device does not write to them: only copies to the device take them. For the driver,
            // other bytes on their first and last page are not registered.
            unsafe { sys::cuMemHostRegister_v2(at, bytes.len(), flags) }.result()
        };
        // Memory that the process may only read needs the flag, which not every device takes.
        let read_only = sys::CU_MEMHOSTREGISTER_PORTABLE | sys::CU_MEMHOSTREGISTER_READ_ONLY;
        register(read_only)
            .or_else(|_| register(sys::CU_MEMHOSTREGISTER_PORTABLE))
            .map_err(fault(doing))?;
        Ok(true)
    }

    unsafe fn unregister_host(&self, bytes: &[u8]) {
        let at = bytes.as_ptr().cast_mut().cast();
        // SAFETY: the caller passes bytes of `register_host`, once; no copy uses them any more.
        self.release_when_idle(|| unsafe { sys::cuMemHostUnregister(at) }.result());
    }

    unsafe fn map(&self, at: *mut u8, _bytes: usize) -> Result<Handle, Fault> {
        let doing = "mapping pinned memory";
        self.enter(doing)?;
        let mut mapped = 0;
        // SAFETY: the caller passes live memory of `allocate_host`, which allocates it with
        // CU_MEMHOSTALLOC_DEVICEMAP; the first pointer is to a live number, which the call writes.
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
        // SAFETY: both descriptors are C structures of numbers, pointers and enumerations that
        // have a variant 0, so all zero bytes are a valid value.
        let (mut resource, mut how): (sys::CUDA_RESOURCE_DESC, sys::CUDA_TEXTURE_DESC) =
            unsafe { std::mem::zeroed() };
        resource.resType = sys::CUresourcetype::CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear = linear;
        how.flags = sys::CU_TRSF_READ_AS_INTEGER;
        let mut texture = 0;
        // SAFETY: the pointers are to live values; the descriptor names live device memory of
        // `bytes` bytes, as the caller promises, and the last argument, a view, may be null.
        unsafe { sys::cuTexObjectCreate(&mut texture, &resource, &how, std::ptr::null()) }
            .result()
            .map_err(fault(doing))?;
        Ok(texture as Handle)
    }

    unsafe fn release_texture(&self, texture: Handle) {
        // SAFETY: the caller passes a texture of `cuTexObjectCreate`, once; no work uses it any
        // more.
        let destroy = || unsafe { sys::cuTexObjectDestroy(texture as sys::CUtexObject) }.result();
        self.release_when_idle(destroy);
    }

    fn encode_rows(
        &self,
        memory: Handle,
        at: u64,
        bytes: u32,
        rows: u32,
    ) -> Result<EncodedRows, Fault> {
        let doing = "encoding rows";
        self.enter(doing)?;
        /// The driver requires the alignment.
        #[repr(align(64))]
        struct Aligned(sys::CUtensorMap);
        let mut map = Aligned(sys::CUtensorMap { opaque: [0; 16] });
        let (sizes, stride) = ([u64::from(bytes), u64::from(rows)], [u64::from(bytes)]);
        let (block, steps) = ([BLOCK_WIDTH, self.properties.lanes], [1, 1]);
        // SAFETY: the map is aligned and valid for writing. Each array has a number for each of two
        // dimensions, or for all but the first. The driver copies them, and does not access the
        // memory.
        let code = unsafe {
            sys::cuTensorMapEncodeTiled(
                &mut map.0,
                sys::CUtensorMapDataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
                2,
                (memory as u64 + at) as *mut c_void,
                sizes.as_ptr(),
                stride.as_ptr(),
                block.as_ptr(),
                steps.as_ptr(),
                sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
                // As `place_in_block` of the kernels.
                sys::CUtensorMapSwizzle::CU_TENSOR_MAP_SWIZZLE_32B,
                sys::CUtensorMapL2promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
            )
        };
        code.result().map_err(fault(doing))?;
        Ok(map.0.opaque)
    }

    unsafe fn open_queue(&self) -> Result<Handle, Fault> {
        let doing = "opening a stream";
        self.enter(doing)?;
        stream::create(stream::StreamKind::NonBlocking).map(|s| s as Handle).map_err(fault(doing))
    }

    unsafe fn close_queue(&self, queue: Handle) {
        // SAFETY: the caller passes a stream of `open_queue`, once. The driver keeps what its work
        // needs until that is done.
        self.release_quietly(|| unsafe { stream::destroy(queue as sys::CUstream) });
    }

    unsafe fn write(&self, queue: Handle, to: Handle, at: usize, from: &[u8]) -> Result<(), Fault> {
        let doing = "copying to the device";
        self.enter(doing)?;
        // SAFETY: the stream and the memory are live, the range lies within the memory, and the
        // bytes stay until the stream is synchronized, as the caller promises.
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
        // SAFETY: the stream and the memory are live, the range lies within the memory, and
        // nothing accesses the bytes until the stream is synchronized, as the caller promises.
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
        // SAFETY: the stream and both memories are live and the ranges lie within them, as the
        // caller promises.
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
        // SAFETY: the stream and the memory are live and the range lies within it, as the caller
        // promises.
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
        shape: LaunchShape,
        args: &[RawArg],
    ) -> Result<(), Fault> {
        let doing = "launching a kernel";
        self.enter(doing)?;
        self.opt_in_shared(kernel, shape.shared).map_err(fault(doing))?;
        // The driver reads numbers of 32 bits from the low half: CUDA hosts are little-endian.
        let (mut values, mut starts) = (Vec::new(), Vec::new());
        for arg in args {
            starts.push(values.len());
            match arg {
                RawArg::Memory(m) => values.push(*m as u64),
                RawArg::U32(n) => values.push(u64::from(*n)),
                RawArg::U64(n) => values.push(*n),
                RawArg::Rows(rows) => values.extend(rows),
            }
        }
        let first = values.as_mut_ptr();
        let mut places: Vec<*mut c_void> =
            starts.iter().map(|start| first.wrapping_add(*start).cast()).collect();
        // SAFETY: stream and function are live, the latter because modules are never unloaded.
        // `places` point to `values`, which the driver copies before it returns, and the caller
        // promises that the values are the arguments that the kernel declares and that it stays
        // within its memories.
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
        // SAFETY: the stream is live, as the caller promises.
        unsafe { stream::synchronize(queue as sys::CUstream) }.map_err(fault(doing))
    }

    unsafe fn record(&self, queue: Handle) -> Result<Handle, Fault> {
        let doing = "recording an event";
        self.enter(doing)?;
        let created = event::create(sys::CUevent_flags::CU_EVENT_DEFAULT).map_err(fault(doing))?;
        // SAFETY: `create` returned the event above, and the stream is live, as the caller
        // promises.
        unsafe { event::record(created, queue as sys::CUstream) }.map_err(fault(doing))?;
        Ok(created as Handle)
    }

    unsafe fn follow(&self, queue: Handle, event: Handle) -> Result<(), Fault> {
        let doing = "waiting for another stream";
        self.enter(doing)?;
        let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: the stream and the event are live, as the caller promises.
        unsafe { stream::wait_event(queue as sys::CUstream, event as sys::CUevent, flags) }
            .map_err(fault(doing))
    }

    unsafe fn wait(&self, event: Handle) -> Result<(), Fault> {
        let doing = "waiting for the device";
        self.enter(doing)?;
        // SAFETY: the event is live, as the caller promises.
        unsafe { event::synchronize(event as sys::CUevent) }.map_err(fault(doing))
    }

    unsafe fn seconds_between(&self, first: Handle, second: Handle) -> Result<f64, Fault> {
        let doing = "reading the device's clock";
        self.enter(doing)?;
        // SAFETY: both events are live and were waited for, as the caller promises.
        let ms = unsafe { event::elapsed(first as sys::CUevent, second as sys::CUevent) };
        ms.map(|ms| f64::from(ms) / 1e3).map_err(fault(doing))
    }

    unsafe fn release_event(&self, event: Handle) {
        // SAFETY: the caller passes an event of `record`, once. The driver keeps it until work
        // that waits for it is done.
        self.release_quietly(|| unsafe { event::destroy(event as sys::CUevent) });
    }

    /// That kernel alone: the driver takes tenths of a second to compile one.
    unsafe fn load(
        &self,
        source: &KernelSource,
        kernel: &'static str,
    ) -> Result<Vec<LoadedKernel>, Fault> {
        let doing = "loading a kernel";
        self.enter(doing)?;
        let text = CString::new(source.ptx_of(kernel)).expect("PTX has no zero byte");
        // SAFETY: the pointer is to a live `CString`, so the text ends with a zero byte.
        let module = unsafe { module::load_data(text.as_ptr().cast()) }.map_err(fault(doing))?;
        let name = CString::new(kernel).expect("names have no zero byte");
        // SAFETY: `load_data` returned the module above, and nothing unloads it.
        let function = unsafe { module::get_function(module, name) }.map_err(fault(doing))?;
        Ok(vec![(kernel, function as Handle)])
    }

    unsafe fn resident_groups(&self, kernel: Handle, shape: LaunchShape) -> u32 {
        let ask = || {
            self.enter("asking for occupancy").ok()?;
            self.opt_in_shared(kernel, shape.shared).ok()?;
            // SAFETY: the caller passes a handle of `load`, whose modules are never unloaded.
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
