//! Pinned memory: host memory that a device copies at the full rate of the bus. With OpenCL, which
//! cannot pin memory on every driver, it is ordinary memory.
//!
//! [`Pinned`] is allocated as such. [`Registered`] is memory of the program that is pinned for a
//! while where it lies. The program may release it right after, so its end waits for all copies
//! from it: each queue holds an [`InUse`] for a copy that it has not waited for.

use super::{Buffer, Device, Fault};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread;
use std::time::Duration;

/// The pinned memory of the process, by address. A copy reads it from before its uses are counted
/// until it is on the queue, so no memory is registered or unregistered in between.
static PINNED: RwLock<Ranges> = RwLock::new(Ranges(BTreeMap::new()));

/// How long the end of a [`Registered`] sleeps between checks for copies. Not measured: a guess.
const PAUSE: Duration = Duration::from_micros(50);

/// Ranges of pinned memory that do not overlap.
pub(super) struct Ranges(BTreeMap<usize, PinnedRange>);

struct PinnedRange {
    bytes: usize,
    /// For [`Registered`]: one reference is here, and one with each queue that copies from it.
    uses: Option<InUse>,
    /// Whether it waits for the last copies. New scans then take it for ordinary memory.
    ends: bool,
}

/// What a queue holds while it may be copying from a [`Registered`].
pub(super) type InUse = Arc<()>;

/// How much of some bytes lies in pinned memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// All of them.
    Pinned,
    /// Some. The driver refuses to copy them in one go.
    Split,
    /// None.
    Ordinary,
}

pub(super) fn pinned_ranges() -> RwLockReadGuard<'static, Ranges> {
    PINNED.read().unwrap_or_else(PoisonError::into_inner)
}

fn pinned_ranges_mut() -> RwLockWriteGuard<'static, Ranges> {
    PINNED.write().unwrap_or_else(PoisonError::into_inner)
}

/// Whether bytes lie in pinned memory, whichever device it belongs to: CUDA pins memory for all of
/// its devices.
pub fn is_pinned(bytes: &[u8]) -> bool {
    place(bytes) == Place::Pinned
}

pub(crate) fn place(bytes: &[u8]) -> Place {
    pinned_ranges().place(bytes)
}

impl Ranges {
    /// The ranges that some of these bytes lie in, the last one first.
    fn overlapping(&self, bytes: &[u8]) -> impl Iterator<Item = (usize, &PinnedRange)> {
        let (at, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
        let before = self.0.range(..end).rev().map(|(from, range)| (*from, range));
        before.take_while(move |(from, range)| from + range.bytes > at)
    }

    fn place(&self, bytes: &[u8]) -> Place {
        let (at, end) = (bytes.as_ptr() as usize, bytes.as_ptr() as usize + bytes.len());
        match self.overlapping(bytes).next() {
            None => Place::Ordinary,
            Some((from, range)) if from <= at && end <= from + range.bytes && !range.ends => {
                Place::Pinned
            }
            Some(_) => Place::Split,
        }
    }

    /// Adds a use of each [`Registered`] that some of these bytes lie in. The caller borrows the
    /// bytes until their copy is done, and keeps `self` until the copy is on a queue.
    pub(super) fn add_uses(&self, bytes: &[u8], uses: &mut Vec<InUse>) {
        uses.extend(self.overlapping(bytes).filter_map(|(_, range)| range.uses.clone()));
    }

    fn insert(&mut self, at: usize, bytes: usize, uses: Option<InUse>) {
        self.0.insert(at, PinnedRange { bytes, uses, ends: false });
    }
}

/// See [`Device::with_registered`].
pub(super) fn with_registered<R>(
    device: &Device,
    bytes: &[u8],
    scan: impl FnOnce() -> R,
) -> Result<R, Fault> {
    let _registered = if bytes.is_empty() { None } else { Registered::new(device, bytes)? };
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
    /// `None` if the bytes are pinned already, or the device copies no faster from pinned memory.
    /// There is at least one byte.
    fn new(device: &'a Device, bytes: &'a [u8]) -> Result<Option<Self>, Fault> {
        let mut ranges = pinned_ranges_mut();
        if ranges.place(bytes) == Place::Pinned {
            return Ok(None);
        }
        // SAFETY: the caller passes at least one byte. The bytes are borrowed until `drop`
        // unregisters them. The driver refuses bytes that it has.
        let is_pinned = unsafe { device.api().register_host(bytes)? };
        if !is_pinned {
            return Ok(None);
        }
        ranges.insert(bytes.as_ptr() as usize, bytes.len(), Some(InUse::default()));
        Ok(Some(Registered { device, bytes }))
    }
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let at = self.bytes.as_ptr() as usize;
        loop {
            let mut ranges = pinned_ranges_mut();
            let range = ranges.0.get_mut(&at).expect("`new` inserted it");
            range.ends = true;
            if range.uses.as_ref().is_none_or(|uses| Arc::strong_count(uses) == 1) {
                // SAFETY: `new` registered these bytes, which are still borrowed; they are
                // unregistered here only. Each copy that was put on a queue has a use, and none is
                // left. The lock keeps new copies out.
                unsafe { self.device.api().unregister_host(self.bytes) };
                ranges.0.remove(&at);
                return;
            }
            drop(ranges);
            thread::sleep(PAUSE);
        }
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
        pinned_ranges_mut().insert(at as usize, bytes, None);
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
        pinned_ranges_mut().0.remove(&(self.at as usize));
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
        let (first, second) = (InUse::default(), InUse::default());
        let mut ranges = Ranges(BTreeMap::new());
        ranges.insert(at + 10, 20, Some(first.clone()));
        ranges.insert(at + 30, 10, None);
        ranges.insert(at + 40, 10, Some(second.clone()));
        for (from, to, uses, place) in [
            (0, 10, [0, 0], Place::Ordinary),
            (0, 11, [1, 0], Place::Split),
            (10, 30, [1, 0], Place::Pinned),
            (29, 30, [1, 0], Place::Pinned),
            (30, 40, [0, 0], Place::Pinned),
            (29, 41, [1, 1], Place::Split),
            (0, 100, [1, 1], Place::Split),
            (49, 60, [0, 1], Place::Split),
            (50, 100, [0, 0], Place::Ordinary),
        ] {
            let (bytes, mut held) = (&text[from..to], Vec::new());
            ranges.add_uses(bytes, &mut held);
            let count = |uses: &InUse| Arc::strong_count(uses) - 2;
            assert_eq!([count(&first), count(&second)], uses, "{from}..{to}");
            assert_eq!(ranges.place(bytes), place, "{from}..{to}");
        }
        ranges.0.get_mut(&(at + 10)).unwrap().ends = true;
        assert_eq!(ranges.place(&text[10..30]), Place::Split, "it ends");
    }
}
