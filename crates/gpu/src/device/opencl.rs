//! OpenCL: GPUs of any vendor, and the CPU by PoCL. The loader's library is loaded if it is
//! installed; the driver compiles kernels from their sources.

use super::api::{Api, EncodedRows, Handle, LoadedKernel, RawArg};
use super::fault::{Fault, FaultKind};
use super::{Backend, LaunchShape, Properties};
use crate::kernel::{DIALECT, KernelSource};
use cl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, error_text};
use cl3::types::{CL_NON_BLOCKING, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int};
use cl3::{command_queue, context, device, event, kernel, memory, platform, program};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

/// What it needs.
pub(super) const HINT: &str = "needs an OpenCL loader and driver: the GPU vendor's, or PoCL for the CPU (Debian: pocl-opencl-icd)";

/// Alignment of host memory: a page, which is more than kernels and drivers ask of mapped memory.
const HOST_ALIGNMENT: usize = 4096;

/// All OpenCL devices.
pub(super) fn devices() -> Result<Vec<Box<dyn Api>>, String> {
    if !cl3::is_opencl_runtime_available() {
        return Err("the loader's library libOpenCL was not found".into());
    }
    let platforms = platform::get_platform_ids().map_err(|code| match code {
        CL_PLATFORM_NOT_FOUND_KHR => "the loader finds no driver".into(),
        _ => describe(code),
    })?;
    let mut found: Vec<Box<dyn Api>> = Vec::new();
    let mut refused = Vec::new();
    for platform in platforms {
        for id in device::get_device_ids(platform, device::CL_DEVICE_TYPE_ALL).unwrap_or_default() {
            match OpenCl::new(id) {
                Ok(api) => found.push(Box::new(api)),
                Err(why) => refused.push(describe(why)),
            }
        }
    }
    match (found.is_empty(), refused.first()) {
        (true, Some(why)) => Err(format!("no device could be opened: {why}")),
        (true, None) => Err("the drivers list no device".into()),
        _ => Ok(found),
    }
}

fn describe(code: cl_int) -> String {
    format!("{} ({code})", error_text(code))
}

fn fault(doing: &'static str) -> impl Fn(cl_int) -> Fault {
    move |code| {
        let memory = [
            cl3::error_codes::CL_MEM_OBJECT_ALLOCATION_FAILURE,
            cl3::error_codes::CL_OUT_OF_RESOURCES,
            cl3::error_codes::CL_OUT_OF_HOST_MEMORY,
            cl3::error_codes::CL_INVALID_BUFFER_SIZE,
        ];
        let kind = if memory.contains(&code) { FaultKind::OutOfMemory } else { FaultKind::Other };
        Fault::new(doing, kind, describe(code))
    }
}

struct OpenCl {
    device: cl_device_id,
    context: cl_context,
    properties: Properties,
}

/// A kernel object stores its arguments until it is launched, so one thread at a time sets them
/// and launches.
struct LockedKernel(Mutex<*mut c_void>);

// SAFETY: OpenCL lets any thread use its objects; the pointers are not read here.
unsafe impl Send for OpenCl {}
// SAFETY: all functions of OpenCL 1.1 and later are thread-safe but for clSetKernelArg, which is
// called under the lock of `LockedKernel`.
unsafe impl Sync for OpenCl {}

impl OpenCl {
    fn new(device: cl_device_id) -> Result<Self, cl_int> {
        let number = |what| device::get_device_info(device, what).map(u64::from);
        let small = |what| device::get_device_info(device, what).map(|v| u64::from(u32::from(v)));
        let text = |what| device::get_device_info(device, what).map(String::from);
        let kind = number(device::CL_DEVICE_TYPE)?;
        let sizes: Vec<usize> =
            device::get_device_info(device, device::CL_DEVICE_MAX_WORK_ITEM_SIZES)?.into();
        let properties = Properties {
            backend: Backend::OpenCl,
            name: text(device::CL_DEVICE_NAME)?.trim().to_owned(),
            driver: text(device::CL_DEVICE_VERSION)?.trim().to_owned(),
            memory: number(device::CL_DEVICE_GLOBAL_MEM_SIZE)?,
            shared: number(device::CL_DEVICE_LOCAL_MEM_SIZE)?.min(u64::from(u32::MAX)) as u32,
            units: small(device::CL_DEVICE_MAX_COMPUTE_UNITS)?.max(1) as u32,
            lanes: 1,
            max_items: sizes.first().copied().unwrap_or(1).min(usize::from(
                device::get_device_info(device, device::CL_DEVICE_MAX_WORK_GROUP_SIZE)?,
            )) as u32,
            is_cpu: kind & device::CL_DEVICE_TYPE_CPU != 0,
            capability: None,
        };
        let context = context::create_context(&[device], null(), None, null_mut())?;
        Ok(Self { device, context, properties })
    }

    /// What the driver's compiler printed.
    fn log(&self, program: *mut c_void) -> String {
        program::get_program_build_info(program, self.device, program::CL_PROGRAM_BUILD_LOG)
            .map(String::from)
            .unwrap_or_default()
    }
}

/// Releases the event of a command that nothing waits for.
fn forget(event: cl_event) {
    // SAFETY: an enqueue function returned the event with a reference count of one, and this is
    // the only copy of it.
    let _ = unsafe { event::release_event(event) };
}

/// The layout of host memory of that size.
fn host_layout(bytes: usize) -> Result<Layout, Fault> {
    Layout::from_size_align(bytes, HOST_ALIGNMENT)
        .map_err(|e| Fault::too_large("allocating host memory", e.to_string()))
}

// SAFETY: handles are what the driver returned, or a leaked box for kernels, and each is used as
// the type that it was returned as. Buffers have the size that the driver was asked for. OpenCL
// objects are reference-counted: commands that use one keep it alive. After an error of clFinish
// the queue is invalid, or the host has no resources left to run it. All functions are thread-safe
// but for clSetKernelArg, which is called under a lock.
unsafe impl Api for OpenCl {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Option<u64> {
        None
    }

    unsafe fn allocate(&self, bytes: usize) -> Result<Handle, Fault> {
        // SAFETY: the context is live as long as `self`, and no host pointer is passed.
        unsafe { memory::create_buffer(self.context, memory::CL_MEM_READ_WRITE, bytes, null_mut()) }
            .map(|m| m as Handle)
            .map_err(fault("allocating device memory"))
    }

    unsafe fn release(&self, memory: Handle) {
        // SAFETY: the caller passes a buffer of `create_buffer`, once.
        let _ = unsafe { memory::release_mem_object(memory as *mut c_void) };
    }

    /// Pageable memory: OpenCL has no function that pins memory on every driver.
    unsafe fn allocate_host(&self, bytes: usize) -> Result<*mut u8, Fault> {
        debug_assert!(bytes > 0);
        // SAFETY: the layout has a size above 0: the caller passes at least one byte.
        let at = unsafe { alloc_zeroed(host_layout(bytes)?) };
        if at.is_null() {
            return Err(Fault::too_large("allocating host memory", format!("{bytes} bytes")));
        }
        Ok(at)
    }

    unsafe fn release_host(&self, at: *mut u8, bytes: usize) {
        let layout = host_layout(bytes).expect("it was allocated with this layout");
        // SAFETY: the caller passes memory of `allocate_host` with its size, once; that allocated
        // it with the same layout.
        unsafe { dealloc(at, layout) };
    }

    unsafe fn register_host(&self, _bytes: &[u8]) -> Result<bool, Fault> {
        Ok(false)
    }

    unsafe fn unregister_host(&self, _bytes: &[u8]) {}

    unsafe fn map(&self, at: *mut u8, bytes: usize) -> Result<Handle, Fault> {
        let flags = memory::CL_MEM_READ_ONLY | memory::CL_MEM_USE_HOST_PTR;
        // SAFETY: the context is live as long as `self`; the host memory has `bytes` bytes and
        // outlives the buffer, as the caller promises.
        unsafe { memory::create_buffer(self.context, flags, bytes, at.cast()) }
            .map(|m| m as Handle)
            .map_err(fault("mapping host memory"))
    }

    unsafe fn unmap(&self, memory: Handle) {
        // SAFETY: the caller passes a buffer of `map`, once, and `map` creates it as `allocate`
        // does.
        unsafe { self.release(memory) }
    }

    /// The buffer itself: with OpenCL the kernels' dialect reads textures as buffers.
    unsafe fn bind_texture(&self, memory: Handle, _bytes: usize) -> Result<Handle, Fault> {
        Ok(memory)
    }

    unsafe fn release_texture(&self, _texture: Handle) {}

    fn encode_rows(&self, _: Handle, _: u64, _: u32, _: u32) -> Result<EncodedRows, Fault> {
        let doing = "encoding rows";
        Err(Fault::new(doing, FaultKind::Other, "OpenCL copies no blocks"))
    }

    unsafe fn open_queue(&self) -> Result<Handle, Fault> {
        // SAFETY: the context is live as long as `self`, and devices are never released.
        unsafe {
            command_queue::create_command_queue(
                self.context,
                self.device,
                command_queue::CL_QUEUE_PROFILING_ENABLE,
            )
        }
        .map(|q| q as Handle)
        .map_err(fault("opening a queue"))
    }

    unsafe fn close_queue(&self, queue: Handle) {
        // SAFETY: the caller passes a queue of `open_queue`, once.
        let _ = unsafe { command_queue::release_command_queue(queue as cl_command_queue) };
    }

    unsafe fn write(&self, queue: Handle, to: Handle, at: usize, from: &[u8]) -> Result<(), Fault> {
        // SAFETY: the queue and the buffer are live, the range lies within the buffer, and the
        // bytes stay until the queue is finished, as the caller promises.
        unsafe {
            command_queue::enqueue_write_buffer(
                queue as cl_command_queue,
                to as *mut c_void,
                CL_NON_BLOCKING,
                at,
                from.len(),
                from.as_ptr().cast(),
                0,
                null(),
            )
        }
        .map(forget)
        .map_err(fault("copying to the device"))
    }

    unsafe fn read(
        &self,
        queue: Handle,
        from: Handle,
        at: usize,
        to: &mut [u8],
    ) -> Result<(), Fault> {
        // SAFETY: the queue and the buffer are live, the range lies within the buffer, and nothing
        // accesses the bytes until the queue is finished, as the caller promises.
        unsafe {
            command_queue::enqueue_read_buffer(
                queue as cl_command_queue,
                from as *mut c_void,
                CL_NON_BLOCKING,
                at,
                to.len(),
                to.as_mut_ptr().cast(),
                0,
                null(),
            )
        }
        .map(forget)
        .map_err(fault("copying from the device"))
    }

    unsafe fn copy(
        &self,
        queue: Handle,
        from: (Handle, usize),
        to: (Handle, usize),
        bytes: usize,
    ) -> Result<(), Fault> {
        // SAFETY: the queue and both buffers are live and the ranges lie within them, as the
        // caller promises.
        unsafe {
            command_queue::enqueue_copy_buffer(
                queue as cl_command_queue,
                from.0 as *mut c_void,
                to.0 as *mut c_void,
                from.1,
                to.1,
                bytes,
                0,
                null(),
            )
        }
        .map(forget)
        .map_err(fault("copying within the device"))
    }

    unsafe fn zero(
        &self,
        queue: Handle,
        memory: Handle,
        at: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        let zero = 0u8;
        // SAFETY: the queue and the buffer are live and the range lies within it, as the caller
        // promises. The driver copies the pattern, one byte, before it returns.
        unsafe {
            command_queue::enqueue_fill_buffer(
                queue as cl_command_queue,
                memory as *mut c_void,
                std::ptr::from_ref(&zero).cast(),
                1,
                at,
                bytes,
                0,
                null(),
            )
        }
        .map(forget)
        .map_err(fault("clearing device memory"))
    }

    unsafe fn launch(
        &self,
        queue: Handle,
        kernel: Handle,
        shape: LaunchShape,
        args: &[RawArg],
    ) -> Result<(), Fault> {
        let wrong = fault("launching a kernel");
        // SAFETY: the caller passes a handle of `load`, which leaks the boxes that its handles
        // point to.
        let kernel = unsafe { &*(kernel as *const LockedKernel) };
        let kernel = kernel.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let set = |place: usize, size: usize, value: *const c_void| {
            // SAFETY: kernels are never released. `value` points to `size` live bytes, or is null
            // for shared memory, and the driver copies them before it returns.
            unsafe { kernel::set_kernel_arg(*kernel, place as u32, size, value) }.map_err(&wrong)
        };
        for (place, arg) in args.iter().enumerate() {
            match arg {
                RawArg::Memory(m) => set(place, size_of::<Handle>(), std::ptr::from_ref(m).cast())?,
                RawArg::U32(n) => set(place, 4, std::ptr::from_ref(n).cast())?,
                RawArg::U64(n) => set(place, 8, std::ptr::from_ref(n).cast())?,
                RawArg::Rows(_) => unreachable!("`encode_rows` makes none"),
            }
        }
        if shape.shared > 0 {
            set(args.len(), shape.shared as usize, null())?;
        }
        let items = shape.items as usize;
        let all = items * shape.groups as usize;
        // SAFETY: queue and kernel are live and no other thread sets arguments: the lock is held.
        // The caller promises that the arguments are those that the kernel declares and that it
        // stays within its memories. The sizes are one number each, for one dimension.
        unsafe {
            command_queue::enqueue_nd_range_kernel(
                queue as cl_command_queue,
                *kernel,
                1,
                null(),
                &all,
                &items,
                0,
                null(),
            )
        }
        .map(forget)
        .map_err(&wrong)
    }

    unsafe fn finish(&self, queue: Handle) -> Result<(), Fault> {
        command_queue::finish(queue as cl_command_queue).map_err(fault("waiting for the device"))
    }

    unsafe fn record(&self, queue: Handle) -> Result<Handle, Fault> {
        let wrong = fault("recording an event");
        // SAFETY: the queue is live, as the caller promises, and the list of events is empty.
        let event = unsafe {
            command_queue::enqueue_marker_with_wait_list(queue as cl_command_queue, 0, null())
        }
        .map_err(&wrong)?;
        // Another queue may wait for the event, which may not have been submitted by then.
        command_queue::flush(queue as cl_command_queue).map_err(&wrong)?;
        Ok(event as Handle)
    }

    unsafe fn follow(&self, queue: Handle, event: Handle) -> Result<(), Fault> {
        let event = event as cl_event;
        // SAFETY: the queue and the event are live, as the caller promises. The driver copies the
        // list, of one event, before it returns.
        unsafe {
            command_queue::enqueue_barrier_with_wait_list(queue as cl_command_queue, 1, &event)
        }
        .map(forget)
        .map_err(fault("waiting for another queue"))
    }

    unsafe fn wait(&self, event: Handle) -> Result<(), Fault> {
        event::wait_for_events(&[event as cl_event]).map_err(fault("waiting for the device"))
    }

    unsafe fn seconds_between(&self, first: Handle, second: Handle) -> Result<f64, Fault> {
        let end = |event: Handle| {
            event::get_event_profiling_info(event as cl_event, event::CL_PROFILING_COMMAND_END)
                .map(u64::from)
                .map_err(fault("reading the device's clock"))
        };
        Ok(end(second)?.saturating_sub(end(first)?) as f64 / 1e9)
    }

    unsafe fn release_event(&self, event: Handle) {
        forget(event as cl_event);
    }

    /// All kernels of the source: the driver compiles one text.
    unsafe fn load(
        &self,
        source: &KernelSource,
        _kernel: &'static str,
    ) -> Result<Vec<LoadedKernel>, Fault> {
        let doing = "compiling a kernel";
        // One text: the binding passes on the address of the first only.
        let text = format!("{DIALECT}\n#line 1\n{}", source.text);
        let made =
            program::create_program_with_source(self.context, &[&text]).map_err(fault(doing))?;
        let options: &CStr = c"-cl-std=CL1.2";
        if let Err(code) = program::build_program(made, &[self.device], options, None, null_mut()) {
            let said = format!("{}, {}: {}", source.name, describe(code), self.log(made));
            return Err(Fault::new(doing, FaultKind::Other, said));
        }
        let handle = |name: &&'static str| {
            let c_name = CString::new(*name).expect("names have no zero byte");
            let kernel = kernel::create_kernel(made, &c_name).map_err(fault(doing))?;
            let leaked: &'static LockedKernel =
                Box::leak(Box::new(LockedKernel(Mutex::new(kernel))));
            Ok((*name, std::ptr::from_ref(leaked) as Handle))
        };
        source.kernels.iter().map(handle).collect()
    }

    /// OpenCL has no function for it. A few groups per unit keep any device busy.
    unsafe fn resident_groups(&self, _kernel: Handle, _shape: LaunchShape) -> u32 {
        if self.properties.is_cpu { 1 } else { 4 }
    }
}
