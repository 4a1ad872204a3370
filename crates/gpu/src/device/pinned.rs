//! Pinned memory: host memory that a device copies at the full rate of the bus. With OpenCL, which
//! cannot pin memory on every driver, it is ordinary memory.

use super::{Buffer, Device, Fault};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The pinned memory of the process: address and bytes of each block.
static PINNED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

fn registered() -> MutexGuard<'static, BTreeMap<usize, usize>> {
    PINNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether bytes lie in the memory of a [`Pinned`], whichever device it belongs to: CUDA pins
/// memory for all of its devices.
pub fn is_pinned(bytes: &[u8]) -> bool {
    let (at, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
    registered().range(..=at).next_back().is_some_and(|(from, len)| end <= from + len)
}

/// Pinned memory. A scan recognizes by the address that a haystack lies in it.
pub struct Pinned {
    device: Device,
    at: *mut u8,
    bytes: usize,
}

// SAFETY: the pointer is the only one to its allocation, as in a `Box<[u8]>`; `release_host` may
// be called by any thread.
unsafe impl Send for Pinned {}
// SAFETY: through a shared reference the bytes can only be read.
unsafe impl Sync for Pinned {}

impl Pinned {
    pub(super) fn allocate(device: &Device, bytes: usize) -> Result<Pinned, Fault> {
        let bytes = bytes.max(1);
        // SAFETY: `allocate_host` requires at least one byte, which `max` ensures.
        let at = unsafe { device.api().allocate_host(bytes)? };
        debug_assert!(!at.is_null());
        registered().insert(at as usize, bytes);
        Ok(Pinned { device: device.clone(), at, bytes })
    }

    /// The same memory as kernels access it, without a copy.
    ///
    /// # Safety
    /// The pinned memory is dropped after the buffer and after all work that uses the buffer has
    /// been waited for. While work writes to the buffer nothing accesses the pinned memory, and
    /// while work reads it nothing writes.
    ///
    /// # Errors
    /// The device cannot map it.
    pub unsafe fn map(&self) -> Result<Buffer, Fault> {
        // SAFETY: `map` requires live memory of `allocate_host`, with its size; both are those of
        // `Pinned::allocate`, and the caller keeps the memory alive.
        let handle = unsafe { self.device.api().map(self.at, self.bytes)? };
        Ok(Buffer::of_mapping(&self.device, handle, self.bytes))
    }
}

impl std::ops::Deref for Pinned {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `allocate_host` returned that many zeroed bytes there, and `drop` alone releases
        // them. A copy that writes to them is `unsafe`: its caller holds no reference to them until
        // it is done.
        unsafe { std::slice::from_raw_parts(self.at, self.bytes) }
    }
}

impl std::ops::DerefMut for Pinned {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`, the bytes are live and initialized. `&mut self` is the only
        // reference, and the callers of `unsafe` copies access nothing until these are done.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Before the release: the address may belong to another block right after it.
        registered().remove(&(self.at as usize));
        // SAFETY: `allocate_host` returned this pointer for this size to `Pinned::allocate`; it is
        // released here only.
        unsafe { self.device.api().release_host(self.at, self.bytes) }
    }
}
