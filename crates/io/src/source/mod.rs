//! Where bytes come from: files, streams, folders.
//!
//! * [`open`] opens a path and says what it is: a [`DataFile`] that several threads can read, or a stream.
//! * [`ReadSource`] gives blocks from anything that can be read, in bounded memory.
//! * `walk` lists the files of folders (feature `walk`).
//!
//! Nothing here maps memory: a mapped file that shrinks kills the process, a file that is read gives an error.

mod file;
mod read;
#[cfg(feature = "walk")]
pub mod walk;

pub use file::{DataFile, FileReader, Opened, open};
pub use read::{ReadSource, View};
