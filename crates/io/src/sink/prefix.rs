//! What stands before the text of a record: `[PATH:][LINE:][COLUMN:][OFFSET:]`.

use super::escape::push_escaped;
use super::lines::{LineCounter, LineStart};
use super::path::path_bytes;
use super::text::{Colors, TextOptions};
use super::window::Window;
use std::io::{self, Write};
use std::path::Path;

/// What separates the fields of a selected line, and of a line around it.
pub(super) const SELECTED: u8 = b':';
pub(super) const CONTEXT: u8 = b'-';

/// What stands before the heading of a file that is not the first.
pub(super) const HEADING_SEPARATOR: &[u8] = b"\n";

/// Prints the fields of the records of one file after the other.
#[derive(Clone, Debug)]
pub(super) struct Prefix {
    options: TextOptions,
    /// The path in its color.
    path: Vec<u8>,
    lines: LineCounter,
    line_start: LineStart,
    /// Whether records have a path, line or column.
    has_fields: bool,
    /// Whether this file, and any file of the output, has a record.
    begun: bool,
    any: bool,
    spare: Vec<u8>,
}

impl Prefix {
    pub(super) fn new(options: TextOptions) -> Self {
        let has_fields = options.path || options.line || options.column;
        Self {
            options,
            has_fields,
            path: Vec::new(),
            lines: LineCounter::default(),
            line_start: LineStart::default(),
            begun: false,
            any: false,
            spare: Vec::new(),
        }
    }

    /// Starts a file.
    pub(super) fn begin(&mut self, path: &Path) {
        self.path.clear();
        self.options.push_path(&mut self.path, path);
        self.lines = LineCounter::default();
        self.line_start = LineStart::default();
        self.begun = false;
    }

    /// Starts an output that the caller puts after the records of earlier files, with the separator
    /// of files between them.
    pub(super) fn restart(&mut self) {
        self.any = false;
    }

    /// Appends what stands before the first record of a file: with `heading` its path, and
    /// `separator` if there are records of an earlier file.
    #[inline]
    pub(super) fn begin_record(&mut self, out: &mut Vec<u8>, separator: &[u8]) {
        if !self.begun {
            self.begin_first(out, separator);
        }
    }

    #[cold]
    fn begin_first(&mut self, out: &mut Vec<u8>, separator: &[u8]) {
        self.begun = true;
        let heading = self.options.has_heading();
        if std::mem::replace(&mut self.any, true) {
            out.extend_from_slice(if heading { HEADING_SEPARATOR } else { separator });
        }
        if heading {
            out.extend_from_slice(&self.path);
            out.push(if self.options.null { 0 } else { b'\n' });
        }
    }

    /// Appends the path of a record, unless it has a heading.
    pub(super) fn push_path(&self, out: &mut Vec<u8>, separator: u8) {
        if self.options.path && !self.options.heading {
            self.push_path_always(out, separator);
        }
    }

    /// Appends the fields of a record that begins at `offset` on the line that contains it.
    #[inline]
    pub(super) fn push(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        offset: u64,
        separator: u8,
    ) -> io::Result<()> {
        if !self.has_fields {
            return Ok(());
        }
        self.push_fields(out, window, offset, separator)
    }

    fn push_fields(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        offset: u64,
        separator: u8,
    ) -> io::Result<()> {
        self.push_path(out, separator);
        if self.options.line {
            let line = self.lines.line_of(offset, window, &mut self.spare)?;
            self.push_field(out, line, separator);
        }
        if self.options.column && separator == SELECTED {
            let start = self.line_start.of(offset, window, &mut self.spare)?;
            self.push_field(out, offset - start + 1, separator);
        }
        Ok(())
    }

    /// Appends the offset of a record.
    #[inline]
    pub(super) fn push_offset(&self, out: &mut Vec<u8>, offset: u64, separator: u8) {
        if self.options.offset {
            self.push_field(out, offset, separator);
        }
    }

    /// Appends the record of a count.
    pub(super) fn push_count(&self, out: &mut Vec<u8>, count: u64) {
        if self.options.path {
            self.push_path_always(out, SELECTED);
        }
        push_number(out, count);
        out.push(b'\n');
    }

    /// Counts line ends up to a position if lines are numbered.
    pub(super) fn count_lines(&mut self, window: &Window<'_>, to: u64) -> io::Result<()> {
        match self.options.line {
            true => self.lines.advance(to, window, &mut self.spare),
            false => Ok(()),
        }
    }

    fn push_path_always(&self, out: &mut Vec<u8>, separator: u8) {
        out.extend_from_slice(&self.path);
        out.push(if self.options.null { 0 } else { separator });
    }

    #[inline]
    fn push_field(&self, out: &mut Vec<u8>, number: u64, separator: u8) {
        let Colors { number: color, reset, .. } = self.options.colors;
        out.extend_from_slice(color.as_bytes());
        push_number(out, number);
        out.extend_from_slice(reset.as_bytes());
        out.push(separator);
    }
}

impl TextOptions {
    /// Whether the path stands on a line of its own before the records of its file.
    pub(super) fn has_heading(&self) -> bool {
        self.heading && self.path
    }

    /// Appends a path in its color. For a terminal, control characters are escaped.
    pub fn push_path(&self, out: &mut Vec<u8>, path: &Path) {
        let Colors { path: color, reset, .. } = self.colors;
        out.extend_from_slice(color.as_bytes());
        match self.escape {
            true => push_escaped(out, path_bytes(path)),
            false => out.extend_from_slice(path_bytes(path)),
        }
        out.extend_from_slice(reset.as_bytes());
    }

    /// Appends a path as a record of its own.
    pub fn push_path_record(&self, out: &mut Vec<u8>, path: &Path) {
        self.push_path(out, path);
        out.push(if self.null { 0 } else { b'\n' });
    }
}

pub(super) fn push_number(out: &mut Vec<u8>, number: u64) {
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok(), "writing to a vector cannot fail");
}
