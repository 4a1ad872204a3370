//! Printers: matches as text for people, as NDJSON for programs.
//!
//! A printer appends a whole record to a buffer and knows nothing of files and pipes; a
//! [`RecordWriter`] writes whole records out. What a printer has to see of the haystack it gets as a
//! [`Window`]. Nothing is allocated per match.

mod context;
mod escape;
mod lines;
mod records;
mod text;
mod window;

#[cfg(feature = "json")]
pub mod json;

pub use context::{Context, MOST_COLUMNS};
pub use escape::push_escaped;
pub use lines::{HitLines, LineCounter};
pub use records::RecordWriter;
pub use text::{Colors, TextOptions, TextPrinter};
pub use window::Window;

use std::borrow::Cow;
use std::path::Path;

/// The bytes of a path, as they are on Unix.
pub fn path_bytes(path: &Path) -> Cow<'_, [u8]> {
    Cow::Borrowed(path.as_os_str().as_encoded_bytes())
}
