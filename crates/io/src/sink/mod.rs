//! Printers: matches as text for people, or as NDJSON for programs.
//!
//! A printer appends whole records to a buffer, and a [`RecordWriter`] writes them to a file or
//! pipe. The printer sees the haystack around a match through a [`Window`]. Nothing is allocated
//! per match.

mod boundary;
mod context;
mod escape;
mod line_printer;
mod line_report;
mod line_splitter;
mod lines;
mod path;
mod prefix;
mod records;
mod replace;
mod report;
mod report_page;
mod text;
mod window;

#[cfg(feature = "json")]
pub mod json;

pub use boundary::{Boundaries, Boundary, BoundaryFilter};
pub use context::{Context, MAX_COLUMNS};
pub use escape::push_escaped;
pub use line_report::{LineOptions, LineReport, Step};
pub use line_splitter::{LineSplitter, Lines, has_pattern_over_lines};
pub use lines::{HitLineCounter, HitLines, LineCounter, LineLimit};
pub use path::path_bytes;
pub use records::RecordWriter;
pub use replace::{ReplacePrinter, Replacements};
pub use report::{FileHits, ScanReport};
pub use text::{Colors, TextOptions, TextPrinter};
pub use window::Window;
