//! An allocator that counts what each thread allocates, for the test programs that install it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// Passes on to the system's allocator.
pub(crate) struct CountingAllocator;

/// The number of allocations of this thread, those that grow or shrink a block included.
pub(crate) fn allocations() -> u64 {
    ALLOCATIONS.get()
}

/// Bytes that this thread allocated and that were not freed by it.
pub(crate) fn held() -> isize {
    HELD.get()
}

/// Counts an allocation by which a thread holds more or fewer bytes.
fn count(allocations: u64, bytes: isize) {
    // While a thread ends, its counters may be gone already.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + allocations));
    let _ = HELD.try_with(|n| n.set(n.get() + bytes));
}

// SAFETY: every call goes to the system's allocator with the arguments that came, so its promises
// hold. The counters are thread-local cells without destructors, which do not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, size as isize - layout.size() as isize);
        // SAFETY: the caller keeps the contract of `GlobalAlloc::realloc`, and the block came from
        // the system's allocator.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        count(0, -(layout.size() as isize));
        // SAFETY: the caller keeps the contract of `GlobalAlloc::dealloc`, and the block came from
        // the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}
