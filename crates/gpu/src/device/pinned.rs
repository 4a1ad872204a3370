//! Pinned memory: host memory that a device copies at the full rate of the bus. With OpenCL, which
//! cannot pin memory on every driver, it is ordinary memory.
//!
//! [`Pinned`] is allocated as such. [`Registered`] is memory of the program that is pinned for a while
//! where it lies. The program may release it right after, so its end waits for all copies from it:
//! each queue holds an [`InUse`] for a copy that it has not waited for.

use super::{Buffer, Device, Fault};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// The pinned memory of the process, by address.
static PINNED: Mutex<BTreeMap<usize, PinnedRange>> = Mutex::new(BTreeMap::new());

/// How often the end of a [`Registered`] looks whether the copies are done. Not measured: a guess.
const PAUSE: Duration = Duration::from_micros(50);

struct PinnedRange {
    bytes: usize,
    /// For [`Registered`]: one reference is here, and one with each queue that copies from it.
    uses: Option<InUse>,
}

/// What a queue holds while it may be copying from a [`Registered`].
pub(super) type InUse = Arc<()>;

fn pinned_ranges() -> MutexGuard<'static, BTreeMap<usize, PinnedRange>> {
    PINNED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether bytes lie in pinned memory, whichever device it belongs to: CUDA pins memory for all of
/// its devices.
pub fn is_pinned(bytes: &[u8]) -> bool {
    let (at, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
    pinned_ranges().range(..=at).next_back().is_some_and(|(from, range)| end <= from + range.bytes)
}

/// Adds a use of each [`Registered`] that some of these bytes lie in. To be called before they are
/// copied, by a caller that borrows them until the copy is done.
pub(super) fn add_uses(bytes: &[u8], uses: &mut Vec<InUse>) {
    let (at, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
    let ranges = pinned_ranges();
    let overlapping = ranges.range(..end).rev().take_while(|(from, r)| *from + r.bytes > at);
    uses.extend(overlapping.filter_map(|(_, range)| range.uses.clone()));
}

/// See [`Device::with_registered`].
pub(super) fn with_registered<R>(
    device: &Device,
    bytes: &[u8],
    scan: impl FnOnce() -> R,
) -> Result<R, Fault> {
    let is_ready = bytes.is_empty() || is_pinned(bytes);
    let _registered = if is_ready { None } else { Registered::new(device, bytes)? };
    Ok(scan())
}

/// Memory of the program, pinned until this is dropped.
///
/// It is not public: nothing unpins the memory of a value that is forgotten.
struct Registered<'a> {
    device: &'a Device,
    bytes: &'a [u8],
}

impl<'a> Registered<'a> {
    /// `None` if the device copies no faster from pinned memory.
    fn new(device: &'a Device, bytes: &'a [u8]) -> Result<Option<Self>, Fault> {
        // SAFETY: there is at least one byte, because `with_registered` passes no empty slice. The
        // bytes are borrowed until `drop` unregisters them. The driver refuses bytes that it has.
        let is_pinned = unsafe { device.api().register_host(bytes)? };
        if !is_pinned {
            return Ok(None);
        }
        let range = PinnedRange { bytes: bytes.len(), uses: Some(InUse::default()) };
        pinned_ranges().insert(bytes.as_ptr() as usize, range);
        Ok(Some(Registered { device, bytes }))
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let range = pinned_ranges().remove(&(self.bytes.as_ptr() as usize));
        let uses = range.and_then(|range| range.uses);
        // Another thread may scan the same bytes. From here on it finds no pinned memory.
        while uses.as_ref().is_some_and(|uses| Arc::strong_count(uses) > 1) {
            thread::sleep(PAUSE);
        }
        // SAFETY: `new` registered these bytes, which are still borrowed; they are unregistered here
        // only. No copy uses them: queues have given back each use, after waiting for the copy.
        unsafe { self.device.api().unregister_host(self.bytes) }
    }
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
        pinned_ranges().insert(at as usize, PinnedRange { bytes, uses: None });
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
        pinned_ranges().remove(&(self.at as usize));
        // SAFETY: `allocate_host` returned this pointer for this size to `Pinned::allocate`; it is
        // released here only.
        unsafe { self.device.api().release_host(self.at, self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_uses_each_registered_range_that_it_overlaps() {
        let text = [0; 100];
        let at = text.as_ptr() as usize;
        let range = |bytes, uses| PinnedRange { bytes, uses };
        let (first, second) = (InUse::default(), InUse::default());
        pinned_ranges().insert(at + 10, range(20, Some(first.clone())));
        pinned_ranges().insert(at + 30, range(10, None));
        pinned_ranges().insert(at + 40, range(10, Some(second.clone())));
        for (from, to, uses) in [
            (0, 10, [0, 0]),
            (0, 11, [1, 0]),
            (29, 30, [1, 0]),
            (30, 40, [0, 0]),
            (29, 41, [1, 1]),
            (0, 100, [1, 1]),
            (49, 60, [0, 1]),
            (50, 100, [0, 0]),
        ] {
            let mut held = Vec::new();
            add_uses(&text[from..to], &mut held);
            let count = |uses: &InUse| Arc::strong_count(uses) - 2;
            assert_eq!([count(&first), count(&second)], uses, "{from}..{to}");
        }
        for offset in [10, 30, 40] {
            pinned_ranges().remove(&(at + offset));
        }
    }
}
