//! OpenCL: other makers' graphics processors, NVIDIA's too, and processors by PoCL. The loader's library is opened
//! when it is there; kernels are compiled from their sources by the driver.

use super::api::{Api, Handle, Loaded, RawArg, Shape};
use super::fault::{Fault, FaultKind};
use super::{Backend, Properties};
use crate::kernel::{DIALECT, Source};
use cl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, error_text};
use cl3::types::{CL_NON_BLOCKING, cl_command_queue, cl_context, cl_device_id, cl_event, cl_int};
use cl3::{command_queue, context, device, event, kernel, memory, platform, program};
use std::ffi::{CStr, CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Mutex;

/// How to get it.
pub(super) const HINT: &str = "needs an OpenCL loader and driver: the maker's, or PoCL for the processor (Debian: pocl-opencl-icd)";

/// The devices there are.
pub(super) fn devices() -> Result<Vec<Box<dyn Api>>, String> {
    if !cl3::is_opencl_runtime_available() {
        return Err("the loader's library libOpenCL was not found".into());
    }
    let platforms = platform::get_platform_ids().map_err(|code| match code {
        CL_PLATFORM_NOT_FOUND_KHR => "the loader knows no driver".into(),
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
        (true, None) => Err("the loader knows no device".into()),
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

/// A kernel holds its arguments until it is launched: one thread at a time sets them and launches.
struct Kernel(Mutex<*mut c_void>);

// SAFETY: objects of OpenCL may be used by any thread.
unsafe impl Send for OpenCl {}
// SAFETY: its calls may be made by several threads at once, but for those that set a kernel's arguments.
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
            is_processor: kind & device::CL_DEVICE_TYPE_CPU != 0,
            capability: None,
        };
        let context = context::create_context(&[device], null(), None, null_mut())?;
        Ok(Self { device, context, properties })
    }

    /// What the compiler said.
    fn log(&self, program: *mut c_void) -> String {
        program::get_program_build_info(program, self.device, program::CL_PROGRAM_BUILD_LOG)
            .map(String::from)
            .unwrap_or_default()
    }
}

/// Drops an event that nobody waits for.
fn forget(event: cl_event) {
    // SAFETY: the event was just returned, with a count of one.
    let _ = unsafe { event::release_event(event) };
}

fn kernel_of(handle: Handle) -> &'static Kernel {
    // SAFETY: handles of kernels are leaked boxes, see `load`.
    unsafe { &*(handle as *const Kernel) }
}

// SAFETY: see the trait; handles are used as what they were made as.
unsafe impl Api for OpenCl {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_memory(&self) -> Option<u64> {
        None
    }

    unsafe fn allocate(&self, bytes: usize) -> Result<Handle, Fault> {
        // SAFETY: the context is live, and no host pointer is given.
        unsafe { memory::create_buffer(self.context, memory::CL_MEM_READ_WRITE, bytes, null_mut()) }
            .map(|m| m as Handle)
            .map_err(fault("allocating device memory"))
    }

    unsafe fn release(&self, memory: Handle) {
        // SAFETY: by the trait's contract.
        let _ = unsafe { memory::release_mem_object(memory as *mut c_void) };
    }

    /// Plain memory: the standard has no call that pins memory on every driver.
    unsafe fn allocate_host(&self, bytes: usize) -> Result<*mut u8, Fault> {
        let memory: Box<[u8]> = vec![0; bytes].into_boxed_slice();
        Ok(Box::into_raw(memory).cast())
    }

    unsafe fn release_host(&self, at: *mut u8, bytes: usize) {
        // SAFETY: it was made from a box of this size.
        drop(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(at, bytes)) });
    }

    unsafe fn map(&self, at: *mut u8, bytes: usize) -> Result<Handle, Fault> {
        let flags = memory::CL_MEM_READ_ONLY | memory::CL_MEM_USE_HOST_PTR;
        // SAFETY: the memory is live by the trait's contract.
        unsafe { memory::create_buffer(self.context, flags, bytes, at.cast()) }
            .map(|m| m as Handle)
            .map_err(fault("mapping host memory"))
    }

    unsafe fn unmap(&self, memory: Handle) {
        // SAFETY: by the trait's contract.
        unsafe { self.release(memory) }
    }

    /// A buffer as it is: the dialect reads textures as buffers here.
    unsafe fn bind_texture(&self, memory: Handle, _bytes: usize) -> Result<Handle, Fault> {
        Ok(memory)
    }

    unsafe fn release_texture(&self, _texture: Handle) {}

    unsafe fn open_queue(&self) -> Result<Handle, Fault> {
        // SAFETY: context and device are live.
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
        // SAFETY: by the trait's contract.
        let _ = unsafe { command_queue::release_command_queue(queue as cl_command_queue) };
    }

    unsafe fn write(&self, queue: Handle, to: Handle, at: usize, from: &[u8]) -> Result<(), Fault> {
        // SAFETY: by the trait's contract.
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
        // SAFETY: by the trait's contract.
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
        // SAFETY: by the trait's contract.
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
        if bytes == 0 {
            return Ok(());
        }
        let zero = 0u8;
        // SAFETY: the pattern is copied by the call; the rest by the trait's contract.
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
        shape: Shape,
        args: &[RawArg],
    ) -> Result<(), Fault> {
        let wrong = fault("launching a kernel");
        let kernel = kernel_of(kernel).0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let set = |place: usize, size: usize, value: *const c_void| {
            // SAFETY: the kernel is live, and the value is copied by the call.
            unsafe { kernel::set_kernel_arg(*kernel, place as u32, size, value) }.map_err(&wrong)
        };
        for (place, arg) in args.iter().enumerate() {
            match arg {
                RawArg::Memory(m) => set(place, size_of::<Handle>(), std::ptr::from_ref(m).cast())?,
                RawArg::U32(n) => set(place, 4, std::ptr::from_ref(n).cast())?,
                RawArg::U64(n) => set(place, 8, std::ptr::from_ref(n).cast())?,
            }
        }
        if shape.shared > 0 {
            set(args.len(), shape.shared as usize, null())?;
        }
        let items = shape.items as usize;
        let all = items * shape.groups as usize;
        // SAFETY: the arguments are set, and the caller vouches for them.
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

    unsafe fn mark(&self, queue: Handle) -> Result<Handle, Fault> {
        let wrong = fault("recording an event");
        // SAFETY: the queue is live by the trait's contract.
        let mark = unsafe {
            command_queue::enqueue_marker_with_wait_list(queue as cl_command_queue, 0, null())
        }
        .map_err(&wrong)?;
        // Another queue may come to wait for the mark, and this one may not have been submitted by then.
        command_queue::flush(queue as cl_command_queue).map_err(&wrong)?;
        Ok(mark as Handle)
    }

    unsafe fn follow(&self, queue: Handle, mark: Handle) -> Result<(), Fault> {
        let event = mark as cl_event;
        // SAFETY: both are live by the trait's contract, and the list is copied by the call.
        unsafe {
            command_queue::enqueue_barrier_with_wait_list(queue as cl_command_queue, 1, &event)
        }
        .map(forget)
        .map_err(fault("waiting for another queue"))
    }

    unsafe fn wait(&self, mark: Handle) -> Result<(), Fault> {
        event::wait_for_events(&[mark as cl_event]).map_err(fault("waiting for the device"))
    }

    unsafe fn seconds_between(&self, first: Handle, second: Handle) -> Result<f64, Fault> {
        let end = |mark: Handle| {
            event::get_event_profiling_info(mark as cl_event, event::CL_PROFILING_COMMAND_END)
                .map(u64::from)
                .map_err(fault("reading the device's clock"))
        };
        Ok(end(second)?.saturating_sub(end(first)?) as f64 / 1e9)
    }

    unsafe fn release_mark(&self, mark: Handle) {
        forget(mark as cl_event);
    }

    /// All of the source: it is one text for the compiler.
    unsafe fn load(&self, source: &Source, _kernel: &'static str) -> Result<Vec<Loaded>, Fault> {
        let doing = "compiling a kernel";
        // One text: of several, the binding passes on the first address only.
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
            let leaked: &'static Kernel = Box::leak(Box::new(Kernel(Mutex::new(kernel))));
            Ok((*name, std::ptr::from_ref(leaked) as Handle))
        };
        source.kernels.iter().map(handle).collect()
    }

    /// The standard has no call for it; a few groups for each unit keep any device busy.
    unsafe fn resident_groups(&self, _kernel: Handle, _shape: Shape) -> u32 {
        if self.properties.is_processor { 1 } else { 4 }
    }
}
