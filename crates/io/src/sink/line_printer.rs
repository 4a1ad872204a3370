//! Prints lines: those that are selected, and those around them.

use super::context::Context;
use super::escape::push_escaped;
use super::prefix::{CONTEXT, HEADING_SEPARATOR, Prefix, SELECTED};
use super::text::TextOptions;
use super::window::Window;
use std::io;
use std::ops::Range;
use std::path::Path;

/// What stands between lines that are not adjacent, if lines around matches are printed.
const GROUP_SEPARATOR: &[u8] = b"--\n";

/// Prints the lines of one file after the other.
#[derive(Clone, Debug)]
pub(super) struct LinePrinter {
    options: TextOptions,
    prefix: Prefix,
    /// Whether lines around matches are printed.
    has_context: bool,
    spare: Vec<u8>,
}

impl LinePrinter {
    pub(super) fn new(options: TextOptions, has_context: bool) -> Self {
        let prefix = Prefix::new(options.clone());
        Self { options, prefix, has_context, spare: Vec::new() }
    }

    /// Starts a file.
    pub(super) fn begin(&mut self, path: &Path) {
        self.prefix.begin(path);
    }

    /// As [`Prefix::restart`].
    pub(super) fn restart(&mut self) {
        self.prefix.restart();
    }

    /// Begins a group of adjacent lines.
    pub(super) fn begin_group(&mut self, out: &mut Vec<u8>, first_of_file: bool) {
        let separator = if self.has_context { GROUP_SEPARATOR } else { b"" };
        match first_of_file {
            true => self.prefix.begin_record(out, separator),
            false => out.extend_from_slice(separator),
        }
    }

    /// Prints a selected line with the matches that touch it.
    pub(super) fn selected(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        line: &Range<u64>,
        mut hits: impl Iterator<Item = Range<u64>>,
    ) -> io::Result<()> {
        let first = hits.next();
        let from = first.as_ref().map_or(line.start, |hit| hit.start);
        self.prefix.push(out, window, from, SELECTED)?;
        self.prefix.push_offset(out, line.start, SELECTED);
        self.push_text(out, window, line, first.into_iter().chain(hits))
    }

    /// Prints a line around selected ones.
    pub(super) fn context(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        line: &Range<u64>,
    ) -> io::Result<()> {
        self.prefix.push(out, window, line.start, CONTEXT)?;
        self.prefix.push_offset(out, line.start, CONTEXT);
        self.push_text(out, window, line, std::iter::empty())
    }

    /// Counts line ends up to a position if lines are numbered.
    pub(super) fn count_lines(&mut self, window: &Window<'_>, to: u64) -> io::Result<()> {
        self.prefix.count_lines(window, to)
    }

    /// Whether matches are colored.
    pub(super) fn has_colors(options: &TextOptions) -> bool {
        !options.colors.hit.is_empty()
    }

    fn push_text(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        line: &Range<u64>,
        hits: impl Iterator<Item = Range<u64>>,
    ) -> io::Result<()> {
        let mut hits = hits.peekable();
        let first = hits.peek().cloned().unwrap_or(line.start..line.start);
        let reach = self.options.columns.map_or(u64::MAX, |n| n as u64 + 1);
        let near = line.start.max(first.start.saturating_sub(reach))
            ..line.end.min(first.end.saturating_add(reach));
        let (from, bytes) = window.get(near, &mut self.spare)?;
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let visible = match self.options.columns {
            None => 0..bytes.len() - usize::from(self.options.escape && bytes.ends_with(b"\r")),
            Some(columns) => {
                let at = |position: u64| ((position - from) as usize).min(bytes.len());
                let context = Context::of(bytes, at(first.start)..at(first.end), columns);
                out.extend_from_slice(if context.cut_before { b"..." } else { b"" });
                let start = at(first.start) - context.before.len();
                start..at(first.start) + context.hit.len() + context.after.len()
            }
        };
        let (end, all) = (visible.end, bytes.len());
        self.options.paint(out, &bytes[visible.clone()], from + visible.start as u64, hits);
        let cut = end < all && !(end + 1 == all && bytes[end] == b'\r');
        let cut = self.options.columns.is_some() && (cut || from + all as u64 + 1 < line.end);
        out.extend_from_slice(if cut { b"...\n" } else { b"\n" });
        Ok(())
    }
}

impl TextOptions {
    /// What a printer puts between the records of two files. `has_context` is whether it prints
    /// lines around matches. A caller that joins the outputs of several printers puts it between
    /// them.
    pub fn file_separator(&self, has_context: bool) -> &'static [u8] {
        match () {
            () if self.has_heading() => HEADING_SEPARATOR,
            () if has_context => GROUP_SEPARATOR,
            () => b"",
        }
    }

    /// Appends bytes, the first of which is at `position`, with the matches in color.
    fn paint(
        &self,
        out: &mut Vec<u8>,
        bytes: &[u8],
        position: u64,
        hits: impl Iterator<Item = Range<u64>>,
    ) {
        let push = |out: &mut Vec<u8>, bytes: &[u8]| match self.escape {
            true => push_escaped(out, bytes),
            false => out.extend_from_slice(bytes),
        };
        let mut done = 0;
        let hits = hits.take_while(|_| LinePrinter::has_colors(self));
        for hit in hits {
            let at = |p: u64| (p.saturating_sub(position) as usize).clamp(done, bytes.len());
            let (start, end) = (at(hit.start), at(hit.end));
            if start < end {
                push(out, &bytes[done..start]);
                out.extend_from_slice(self.colors.hit.as_bytes());
                push(out, &bytes[start..end]);
                out.extend_from_slice(self.colors.reset.as_bytes());
                done = end;
            }
        }
        push(out, &bytes[done..]);
    }
}
