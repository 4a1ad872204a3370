//! Printers: matches as text for people, or as NDJSON for programs.
//!
//! A printer appends whole records to a buffer, and a [`RecordWriter`] writes them to a file or
//! pipe. The printer sees the haystack around a match through a [`Window`]. Nothing is allocated
//! per match.

mod context;
mod escape;
mod lines;
mod path;
mod records;
mod text;
mod window;

#[cfg(feature = "json")]
pub mod json;

pub use context::{Context, MAX_COLUMNS};
pub use escape::push_escaped;
pub use lines::{HitLines, LineCounter};
pub use path::path_bytes;
pub use records::RecordWriter;
pub use text::{Colors, TextOptions, TextPrinter};
pub use window::Window;
