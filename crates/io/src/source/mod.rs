//! Haystacks: files, streams and folders.
//!
//! * [`open`] opens a path: as a [`DataFile`] that several threads can read, or as a stream.
//! * [`ReadSource`] gives the blocks of any reader, in bounded memory.
//! * [`GrowingFile`] reads a file that others append to.
//! * `walk` lists the files of folders (feature `walk`).
//!
//! Files are read and not mapped into memory: if a mapped file shrinks, the process is killed; if
//! a file that is read shrinks, that is an error.

mod file;
mod file_id;
mod growing;
mod read;
#[cfg(feature = "walk")]
mod selection;
#[cfg(feature = "walk")]
pub mod walk;

pub use file::{DataFile, FileReader, Opened, open, open_checked};
pub use file_id::FileId;
pub use growing::{Change, GrowingFile};
pub use read::{ReadSource, View};
