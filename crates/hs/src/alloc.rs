//! Memory from the caller's allocators. Hyperscan has four: for databases, scratches, streams, and
//! for what the caller frees, such as information strings and serialized databases.

use crate::abi::{AllocFn, BAD_ALLOC, FreeFn, NOMEM, SUCCESS, Status};
use std::ffi::c_void;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

unsafe extern "C" {
    fn malloc(bytes: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// The alignment that Hyperscan demands of allocators: that of `unsigned long long`.
const ALIGN: usize = 8;

/// One of the four allocators. Null stands for `malloc` and `free`.
pub(crate) struct Allocator {
    alloc: AtomicPtr<c_void>,
    free: AtomicPtr<c_void>,
}

pub(crate) static DATABASE: Allocator = Allocator::new();
pub(crate) static MISC: Allocator = Allocator::new();
pub(crate) static SCRATCH: Allocator = Allocator::new();
pub(crate) static STREAM: Allocator = Allocator::new();

impl Allocator {
    const fn new() -> Self {
        Self { alloc: AtomicPtr::new(ptr::null_mut()), free: AtomicPtr::new(ptr::null_mut()) }
    }

    fn set(&self, alloc: Option<AllocFn>, free: Option<FreeFn>) {
        let alloc = alloc.map_or(ptr::null_mut(), |f| f as *mut c_void);
        let free = free.map_or(ptr::null_mut(), |f| f as *mut c_void);
        self.alloc.store(alloc, Ordering::Release);
        self.free.store(free, Ordering::Release);
    }

    /// At least one byte of memory, aligned for any structure of this crate.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<NonNull<u8>, Status> {
        let function = self.alloc.load(Ordering::Acquire);
        let alloc = if function.is_null() {
            malloc as AllocFn
        } else {
            // SAFETY: only `set` stores here, and what is not null is an `AllocFn`.
            unsafe { std::mem::transmute::<*mut c_void, AllocFn>(function) }
        };
        // SAFETY: an allocation function takes any size. `malloc` is one, and the caller of
        // `hs_set_*_allocator` promises that what it sets is one.
        let memory = unsafe { alloc(bytes.max(1)) };
        let memory = NonNull::new(memory.cast::<u8>()).ok_or(NOMEM)?;
        if memory.as_ptr().addr().is_multiple_of(ALIGN) {
            return Ok(memory);
        }
        // SAFETY: the memory came from this allocator and nobody else knows it.
        unsafe { self.release(memory.as_ptr()) };
        Err(BAD_ALLOC)
    }

    /// Gives memory back.
    ///
    /// # Safety
    /// It came from the allocation function that pairs with the function that is set for freeing
    /// now, and is not used again.
    pub(crate) unsafe fn release(&self, memory: *mut u8) {
        let function = self.free.load(Ordering::Acquire);
        let free = if function.is_null() {
            free as FreeFn
        } else {
            // SAFETY: only `set` stores here, and what is not null is a `FreeFn`.
            unsafe { std::mem::transmute::<*mut c_void, FreeFn>(function) }
        };
        // SAFETY: the caller promises that the memory belongs to this function.
        unsafe { free(memory.cast()) };
    }

    /// Moves a value into memory of this allocator.
    pub(crate) fn place<T>(&self, value: T) -> Result<*mut T, Status> {
        const { assert!(align_of::<T>() <= ALIGN) };
        let memory = self.allocate(size_of::<T>())?.cast::<T>().as_ptr();
        // SAFETY: the memory has the size of `T`, it has its alignment as asserted, and no other
        // pointer leads to it.
        unsafe { memory.write(value) };
        Ok(memory)
    }

    /// Copies bytes into memory of this allocator.
    pub(crate) fn copy(&self, bytes: &[u8]) -> Result<NonNull<u8>, Status> {
        let memory = self.allocate(bytes.len())?;
        // SAFETY: the memory has as many bytes and is new, so it does not overlap them.
        unsafe { memory.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len()) };
        Ok(memory)
    }

    /// Copies a text as a C string. Zero bytes in it become spaces.
    pub(crate) fn copy_text(&self, text: &str) -> Result<NonNull<u8>, Status> {
        let mut bytes = Vec::with_capacity(text.len() + 1);
        bytes.extend(text.bytes().map(|b| if b == 0 { b' ' } else { b }));
        bytes.push(0);
        self.copy(&bytes)
    }
}

/// Sets the allocator of databases. Null stands for `malloc` or `free`.
///
/// # Safety
/// The functions allocate and free as `malloc` and `free` do, from any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_set_database_allocator(
    alloc: Option<AllocFn>,
    free: Option<FreeFn>,
) -> Status {
    DATABASE.set(alloc, free);
    SUCCESS
}

/// Sets the allocator of what the caller frees. Null stands for `malloc` or `free`.
///
/// # Safety
/// As [`hs_set_database_allocator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_set_misc_allocator(
    alloc: Option<AllocFn>,
    free: Option<FreeFn>,
) -> Status {
    MISC.set(alloc, free);
    SUCCESS
}

/// Sets the allocator of scratches. Null stands for `malloc` or `free`.
///
/// # Safety
/// As [`hs_set_database_allocator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_set_scratch_allocator(
    alloc: Option<AllocFn>,
    free: Option<FreeFn>,
) -> Status {
    SCRATCH.set(alloc, free);
    SUCCESS
}

/// Sets the allocator of streams. Null stands for `malloc` or `free`.
///
/// # Safety
/// As [`hs_set_database_allocator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_set_stream_allocator(
    alloc: Option<AllocFn>,
    free: Option<FreeFn>,
) -> Status {
    STREAM.set(alloc, free);
    SUCCESS
}

/// Sets all four allocators. Null stands for `malloc` or `free`.
///
/// # Safety
/// As [`hs_set_database_allocator`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_set_allocator(alloc: Option<AllocFn>, free: Option<FreeFn>) -> Status {
    for allocator in [&DATABASE, &MISC, &SCRATCH, &STREAM] {
        allocator.set(alloc, free);
    }
    SUCCESS
}
