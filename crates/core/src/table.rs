//! [`Table`]: a constant slice of numbers, in memory of its own or in shared memory, such as a
//! mapped database file.
//!
//! Compiled sets read their numbers from tables. A table is a pointer and a length, so it is read
//! as fast as a slice. No other module of the crate has unsafe code.
#![allow(unsafe_code)]

use std::fmt;
use std::io::{self, Read};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::Arc;

/// Memory that tables borrow from: a mapped file, a buffer.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Types for which any bytes are a value, without padding and pointers. Sealed.
pub trait Plain: sealed::Plain + Copy + Send + Sync + fmt::Debug + 'static {}

mod sealed {
    /// # Safety
    /// Every combination of bits is a value of the type, no byte of it is padding, and it holds no
    /// pointer and no cell.
    pub unsafe trait Plain {}
}

macro_rules! plain {
    ($($type:ty),*) => {$(
        // SAFETY: a number, or a `repr(transparent)` or `repr(C)` struct of one number or array.
        // Any bits are a number, and there is no padding: the assertion below shows that each
        // `repr(C)` struct is as large as its array.
        unsafe impl sealed::Plain for $type {}
        impl Plain for $type {}
    )*};
}

plain!(u8, u16, u32, u64, crate::PatternId, Unit16, CacheLine);

const _: () = assert!(size_of::<Unit16>() == 16 && size_of::<CacheLine>() == CACHE_LINE);

/// Bytes of a cache line. Tables in a file begin at multiples of it.
pub const CACHE_LINE: usize = 64;

/// Sixteen bytes, aligned to sixteen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(16))]
pub struct Unit16(pub [u8; 16]);

/// Sixteen numbers that fill one cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct CacheLine(pub [u32; 16]);

/// A constant slice: a `Vec` of its own, or a part of [`SharedBytes`].
///
/// ```
/// use fyke_core::table::{SharedBytes, Table};
/// use std::sync::Arc;
///
/// let own = Table::from(vec![1_u32, 2, 3]);
/// let file: SharedBytes = Arc::new(vec![7_u8, 8, 9]);
/// let borrowed = Table::<u8>::shared(&file, 1..3).unwrap();
/// assert_eq!((&own[..], &borrowed[..]), (&[1, 2, 3][..], &[8, 9][..]));
/// ```
pub struct Table<T: Plain> {
    at: NonNull<T>,
    len: usize,
    owner: Owner,
    holds: PhantomData<T>,
}

/// Who frees the memory.
enum Owner {
    /// A `Vec` of this capacity was taken apart.
    Vec {
        capacity: usize,
    },
    Shared(SharedBytes),
}

// SAFETY: a table owns a `Vec<T>` or shares a `SharedBytes`, and lends shared references only. `T`
// is `Send` and `Sync`, and so is `SharedBytes`, so both may be read and dropped by any thread.
unsafe impl<T: Plain> Send for Table<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Plain> Sync for Table<T> {}

impl<T: Plain> Table<T> {
    /// The bytes of shared memory in a range, as values, without a copy. `None` if the range is
    /// outside of the memory, or does not consist of whole, aligned values.
    pub fn shared(memory: &SharedBytes, range: Range<usize>) -> Option<Table<T>> {
        let owner = Arc::clone(memory);
        let bytes = (*owner).as_ref().get(range)?;
        let values: &[T] = cast(bytes)?;
        let (at, len) = (NonNull::from(values).cast(), values.len());
        Some(Table { at, len, owner: Owner::Shared(owner), holds: PhantomData })
    }

    /// The values of this table in a range. `None` if the range is outside. The part shares the
    /// memory if this table does, and is a copy if not.
    pub fn part(&self, range: Range<usize>) -> Option<Table<T>> {
        let values = self.get(range)?;
        let Owner::Shared(owner) = &self.owner else { return Some(values.to_vec().into()) };
        let (at, len) = (NonNull::from(values).cast(), values.len());
        // The values are part of `owner`, which the new table keeps alive as well.
        Some(Table { at, len, owner: Owner::Shared(Arc::clone(owner)), holds: PhantomData })
    }

    /// The same memory as values of another type. `None` if they would not be whole or not aligned.
    pub fn cast<U: Plain>(&self) -> Option<Table<U>> {
        let values: &[U] = cast(self.bytes())?;
        let Owner::Shared(owner) = &self.owner else { return Some(values.to_vec().into()) };
        let (at, len) = (NonNull::from(values).cast(), values.len());
        Some(Table { at, len, owner: Owner::Shared(Arc::clone(owner)), holds: PhantomData })
    }

    /// Whether the memory is shared: part of a mapped file or a buffer.
    pub fn is_shared(&self) -> bool {
        matches!(self.owner, Owner::Shared(_))
    }

    /// The values as bytes, in the byte order of this machine.
    pub fn bytes(&self) -> &[u8] {
        bytes_of(self)
    }
}

impl<T: Plain> From<Vec<T>> for Table<T> {
    fn from(values: Vec<T>) -> Table<T> {
        let mut values = ManuallyDrop::new(values);
        let (len, capacity) = (values.len(), values.capacity());
        let at = NonNull::new(values.as_mut_ptr()).unwrap_or(NonNull::dangling());
        Table { at, len, owner: Owner::Vec { capacity }, holds: PhantomData }
    }
}

impl<T: Plain> Deref for Table<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: `at` and `len` are those of a `Vec` that only `drop` frees, or of an aligned
        // slice that `as_ref` lent from the value in the `Arc`. That slice stays valid while the
        // value is neither moved, dropped nor borrowed mutably. This table holds a reference count
        // of the `Arc`, so none of these can happen. The values are `Plain`, and nothing writes to
        // them.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T: Plain> Drop for Table<T> {
    fn drop(&mut self) {
        if let Owner::Vec { capacity } = self.owner {
            // SAFETY: pointer, length and capacity are those of the `Vec` that `from` took apart
            // and did not drop. A table is dropped once, and every slice of it borrows from it.
            drop(unsafe { Vec::from_raw_parts(self.at.as_ptr(), self.len, capacity) });
        }
    }
}

impl<T: Plain> Default for Table<T> {
    fn default() -> Table<T> {
        Vec::new().into()
    }
}

impl<T: Plain> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Values as bytes, in the byte order of this machine.
pub fn bytes_of<T: Plain>(values: &[T]) -> &[u8] {
    // SAFETY: the type is `Plain`, so it has no padding and all its bytes are initialized. The
    // length is that of the slice in bytes, a byte has no alignment, and the result borrows from
    // `values`.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// Bytes as values, in the byte order of this machine. `None` if they are not whole or not aligned.
pub fn cast<T: Plain>(bytes: &[u8]) -> Option<&[T]> {
    let whole = bytes.len().is_multiple_of(size_of::<T>());
    let aligned = bytes.as_ptr().cast::<T>().is_aligned();
    // SAFETY: this runs only if the pointer is aligned and the bytes are a number of whole values.
    // The type is `Plain`, so any bytes are values. The result borrows from `bytes`.
    let values = || unsafe {
        std::slice::from_raw_parts(bytes.as_ptr().cast(), bytes.len() / size_of::<T>())
    };
    (whole && aligned).then(values)
}

/// A buffer of bytes that begins at a multiple of [`CACHE_LINE`].
#[derive(Debug, Default)]
pub struct AlignedBytes {
    lines: Vec<CacheLine>,
    len: usize,
}

impl AlignedBytes {
    /// A copy of some bytes.
    pub fn copy(bytes: &[u8]) -> AlignedBytes {
        let mut copy = AlignedBytes::default();
        copy.grow(bytes.len());
        copy.bytes_mut()[..bytes.len()].copy_from_slice(bytes);
        copy.len = bytes.len();
        copy
    }

    /// Appends what a reader yields, up to `most` bytes, and returns how many came. The buffer
    /// grows with what came, not with what was announced.
    ///
    /// # Errors
    /// Reading failed.
    pub fn append(&mut self, from: &mut impl Read, most: u64) -> io::Result<u64> {
        let before = self.len;
        let most = usize::try_from(most).unwrap_or(usize::MAX).saturating_add(before);
        while self.len < most {
            if self.len == self.lines.len() * CACHE_LINE {
                self.grow((2 * self.len).clamp(1 << 16, most.max(1 << 16)));
            }
            let (from_byte, to) = (self.len, most.min(self.lines.len() * CACHE_LINE));
            match from.read(&mut self.bytes_mut()[from_byte..to]) {
                Ok(0) => break,
                Ok(n) => self.len += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok((self.len - before) as u64)
    }

    /// Makes room for `bytes` bytes.
    fn grow(&mut self, bytes: usize) {
        self.lines.resize(bytes.div_ceil(CACHE_LINE).max(self.lines.len()), CacheLine::default());
    }

    /// All bytes of the buffer, including those after its end.
    fn bytes_mut(&mut self) -> &mut [u8] {
        let len = self.lines.len() * CACHE_LINE;
        // SAFETY: these are all bytes of the lines, which have no padding, so they are initialized.
        // Any bytes are lines, so writing is sound. `&mut self` excludes other references.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), len) }
    }
}

impl AsRef<[u8]> for AlignedBytes {
    fn as_ref(&self) -> &[u8] {
        &bytes_of(&self.lines)[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_and_shared_tables_hold_the_same() {
        let values: Vec<u32> = (0..100).collect();
        let own = Table::from(values.clone());
        let memory: SharedBytes = Arc::new(AlignedBytes::copy(own.bytes()));
        let shared = Table::<u32>::shared(&memory, 0..400).unwrap();
        drop(memory);
        assert_eq!((&own[..], &shared[..]), (&values[..], &values[..]));
        assert_eq!((own.is_shared(), shared.is_shared()), (false, true));
        let part = shared.part(3..5).unwrap();
        drop(shared);
        assert_eq!(&part[..], &[3, 4]);
        assert_eq!(&own.part(3..5).unwrap()[..], &[3, 4]);
        assert!(own.part(99..101).is_none());
    }

    #[test]
    fn empty_tables_are_empty() {
        assert!(Table::<CacheLine>::default().is_empty());
        let memory: SharedBytes = Arc::new(AlignedBytes::default());
        assert!(Table::<u64>::shared(&memory, 0..0).unwrap().is_empty());
    }

    #[test]
    fn parts_that_are_not_whole_aligned_or_inside_are_refused() {
        let memory: SharedBytes = Arc::new(AlignedBytes::copy(&[7; 130]));
        let line = |range| Table::<CacheLine>::shared(&memory, range).map(|t| t.len());
        assert_eq!(line(0..128), Some(2));
        assert_eq!(line(64..128), Some(1));
        assert_eq!(line(2..66), None);
        assert_eq!(line(0..127), None);
        assert_eq!(line(128..192), None);
        assert_eq!(line(usize::MAX - 63..usize::MAX), None);
        assert!(Table::<u16>::shared(&memory, 1..3).is_none());
        assert!(Table::<u8>::shared(&memory, 1..3).is_some());
    }

    #[test]
    fn a_buffer_grows_with_what_comes() {
        let bytes: Vec<u8> = (0..200_000_u32).map(|i| i as u8).collect();
        let mut buffer = AlignedBytes::default();
        assert_eq!(buffer.append(&mut &bytes[..], u64::MAX).unwrap(), 200_000);
        assert_eq!(buffer.as_ref(), &bytes[..]);
        let mut buffer = AlignedBytes::default();
        assert_eq!(buffer.append(&mut &bytes[..], 10).unwrap(), 10);
        assert_eq!(buffer.append(&mut &bytes[10..], 3).unwrap(), 3);
        assert_eq!(buffer.as_ref(), &bytes[..13]);
        assert!(buffer.lines.len() <= 1 << 10);
    }
}
