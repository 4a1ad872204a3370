//! Images: what is carved.

mod bad;
#[cfg(feature = "e01")]
mod ewf;
#[doc(hidden)]
pub mod fake;
mod format;
mod open;
mod raw;
mod split;

pub(crate) use format::{MAGIC, must_be_raw};

pub(crate) use bad::read_available;
pub use bad::{SECTOR, read_readable};
pub use open::{ImageError, open};

use std::io;

/// A disk image, or several files that are one.
pub trait Image: Send + Sync {
    /// What to call it in messages and rows: usually its path.
    fn name(&self) -> &str;

    /// The number of bytes.
    fn len(&self) -> u64;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reads up to `buf.len()` bytes from `offset` on, and returns how many. 0 means the end.
    ///
    /// # Errors
    ///
    /// If a range cannot be read, such as a bad sector. Callers may go on after it.
    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize>;

    /// Asks for bytes that will be read soon, and returns at once. It may do nothing.
    fn prefetch(&self, _offset: u64, _len: usize) {}
}
