//! Matches as text: `[path:][line:][column:][offset:][label: ]context`, one per line.
//!
//! The form follows grep where grep has one. The context is the line around the match; bytes that
//! are not printable are escaped, and a long line is cut.

use super::context::Context;
use super::escape::push_escaped;
use super::prefix::{Prefix, SELECTED};
use super::window::Window;
use crate::rules::Rules;
use fyke_core::StreamMatch;
use std::io::{self, Write};
use std::path::Path;

/// Bytes around a match in which its line is searched first: most lines are shorter, and bytes
/// further away may have to be read from the file.
const NEAR: u64 = 512;

/// What to print of each match or line.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The path of the file.
    pub path: bool,
    /// The path on a line of its own before the first record of a file, not in each record.
    pub heading: bool,
    /// A zero byte after the path instead of a colon or line feed.
    pub null: bool,
    /// The number of the line, from 1.
    pub line: bool,
    /// The column of the first byte of the match in its line, in bytes from 1.
    pub column: bool,
    /// The offset in its file, from 0, of the first byte of the match, or of the line.
    pub offset: bool,
    /// The pattern: `pattern 17`, or `sid 2012345 (web.rules:12)` if it comes from a rule.
    pub label: bool,
    /// The matched bytes without escapes, instead of the context.
    pub only_matching: bool,
    /// Width of the context or line in columns, at most [`MAX_COLUMNS`](super::MAX_COLUMNS);
    /// `None` for whole lines.
    pub columns: Option<usize>,
    /// Escape what would control a terminal in paths and lines. Contexts are always escaped.
    pub escape: bool,
    /// The colors.
    pub colors: Colors,
}

/// Escape sequences for the parts of a record; empty strings if there are no colors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Colors {
    pub(super) path: &'static str,
    pub(super) number: &'static str,
    pub(super) hit: &'static str,
    pub(super) reset: &'static str,
}

impl Colors {
    /// The colors of grep: path magenta, numbers green, match bold red.
    pub const ANSI: Colors =
        Colors { path: "\x1b[35m", number: "\x1b[32m", hit: "\x1b[1;31m", reset: "\x1b[0m" };

    /// No colors.
    pub const NONE: Colors = Colors { path: "", number: "", hit: "", reset: "" };
}

/// Prints the matches of one file after the other.
#[derive(Clone, Debug)]
pub struct TextPrinter<'r> {
    options: TextOptions,
    rules: &'r Rules,
    prefix: Prefix,
    spare: Vec<u8>,
}

impl<'r> TextPrinter<'r> {
    /// A printer that takes labels from `rules`.
    pub fn new(options: TextOptions, rules: &'r Rules) -> Self {
        let prefix = Prefix::new(options.clone());
        Self { options, rules, prefix, spare: Vec::new() }
    }

    /// Starts a file.
    pub fn begin(&mut self, path: &Path) {
        self.prefix.begin(path);
    }

    /// Starts an output that the caller puts after that of another printer, with
    /// [`TextOptions::file_separator`] between them.
    pub fn restart_output(&mut self) {
        self.prefix.restart();
    }

    /// Appends the record of a match.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn print(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
    ) -> io::Result<()> {
        self.prefix.begin_record(out, b"");
        self.prefix.push(out, window, m.start, SELECTED)?;
        self.prefix.push_offset(out, m.start, SELECTED);
        if self.options.label {
            push_label(out, self.rules, m);
        }
        if self.options.only_matching {
            out.extend_from_slice(window.get(m.start..m.end, &mut self.spare)?.1);
        } else if let Some(columns) = self.options.columns {
            self.push_context(out, window, m, columns)?;
        } else {
            self.push_line(out, window, m)?;
        }
        out.push(b'\n');
        Ok(())
    }

    /// Appends the record of a count.
    pub fn print_count(&self, out: &mut Vec<u8>, count: u64) {
        self.prefix.push_count(out, count);
    }

    /// Ends a block: counts its lines if they are printed.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> io::Result<()> {
        self.prefix.count_lines(window, end)
    }

    /// Start of the bytes that matches after `position` need; `None` if those of the block are
    /// enough.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub fn needed_from(&mut self, window: &Window<'_>, position: u64) -> io::Result<Option<u64>> {
        let whole = self.options.columns.is_none() && !self.options.only_matching;
        if !whole && !self.options.column {
            return Ok(None);
        }
        Ok(Some(window.line_start(position, 0, &mut self.spare)?.unwrap_or(0)))
    }

    /// Appends the whole lines around a match.
    fn push_line(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
    ) -> io::Result<()> {
        let start = window.line_start(m.start, 0, &mut self.spare)?.unwrap_or(0);
        let end = window.line_end(m.end - 1, window.end(), &mut self.spare)?;
        let end = end.unwrap_or(window.end());
        let (from, bytes) = window.get(start..end, &mut self.spare)?;
        let (before, rest) = bytes.split_at(((m.start - from) as usize).min(bytes.len()));
        let (hit, after) = rest.split_at((m.len() as usize).min(rest.len()));
        let after = after.strip_suffix(b"\n").map_or(after, |a| a.strip_suffix(b"\r").unwrap_or(a));
        let Colors { hit: color, reset, .. } = self.options.colors;
        push_escaped(out, before);
        out.extend_from_slice(color.as_bytes());
        push_escaped(out, hit);
        out.extend_from_slice(reset.as_bytes());
        push_escaped(out, after);
        Ok(())
    }

    fn push_context(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
        columns: usize,
    ) -> io::Result<()> {
        let most = columns as u64 + 1;
        let (from, bytes) = window.get(around(m, most.min(NEAR)), &mut self.spare)?;
        let near = most <= NEAR || holds_line(bytes, from, m);
        let (from, bytes) =
            if near { (from, bytes) } else { window.get(around(m, most), &mut self.spare)? };
        let at = |position: u64| (position.saturating_sub(from) as usize).min(bytes.len());
        let context = Context::of(bytes, at(m.start)..at(m.end), columns);
        let Colors { hit, reset, .. } = self.options.colors;
        out.extend_from_slice(if context.cut_before { b"..." } else { b"" });
        push_escaped(out, context.before);
        out.extend_from_slice(hit.as_bytes());
        push_escaped(out, context.hit);
        out.extend_from_slice(reset.as_bytes());
        push_escaped(out, context.after);
        out.extend_from_slice(if context.cut_after { b"..." } else { b"" });
        Ok(())
    }
}

/// The positions up to `reach` bytes around a match.
fn around(m: StreamMatch, reach: u64) -> std::ops::Range<u64> {
    m.start.saturating_sub(reach)..m.end.saturating_add(reach)
}

/// Whether `bytes` contain the whole line of a match.
fn holds_line(bytes: &[u8], from: u64, m: StreamMatch) -> bool {
    let (before, rest) = bytes.split_at(((m.start - from) as usize).min(bytes.len()));
    let after = rest.get((m.end - m.start) as usize..).unwrap_or_default();
    (from == 0 || before.contains(&b'\n')) && after.contains(&b'\n')
}

/// Appends `pattern 17: `, with the numbers of equal patterns, or the origin of the rule.
fn push_label(out: &mut Vec<u8>, rules: &Rules, m: StreamMatch) {
    let origin = rules.get(m.pattern).map(|p| p.origin);
    let written = match origin.filter(|o| o.rule.is_some()) {
        Some(origin) => write!(out, "{origin}"),
        None => {
            let mut repeats = rules.repeats(m.pattern).iter();
            write!(out, "pattern {}", m.pattern)
                .and_then(|()| repeats.try_for_each(|id| write!(out, ", {id}")))
        }
    };
    debug_assert!(written.is_ok(), "writing to a vector cannot fail");
    out.extend_from_slice(b": ");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{self, Format};
    use fyke_core::PatternId;

    fn options() -> TextOptions {
        TextOptions {
            path: false,
            heading: false,
            null: false,
            line: false,
            column: false,
            offset: false,
            label: false,
            only_matching: false,
            columns: Some(20),
            escape: false,
            colors: Colors::NONE,
        }
    }

    fn print(options: TextOptions, text: &[u8], spans: &[(u64, u64)]) -> String {
        let mut rules = Rules::new();
        rules.extend(rules::parse(Format::Lines, "w", b"a\nb", &Default::default()).patterns);
        let mut printer = TextPrinter::new(options, &rules);
        printer.begin(Path::new("dir/f"));
        let mut out = Vec::new();
        for &(start, end) in spans {
            let m = StreamMatch { start, end, pattern: PatternId(2) };
            printer.print(&mut out, &Window::new(text, 0), m).unwrap();
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn every_prefix_in_its_place() {
        let all = TextOptions { path: true, line: true, offset: true, label: true, ..options() };
        assert_eq!(print(all, b"x\nab\0", &[(3, 4)]), "dir/f:2:3:pattern 2: ab\\x00\n");
        assert_eq!(print(options(), b"x\nab", &[(3, 4)]), "ab\n");
    }

    #[test]
    fn colors_surround_the_match() {
        let options = TextOptions { colors: Colors::ANSI, line: true, ..options() };
        let expected = "\x1b[32m1\x1b[0m:a\x1b[1;31mb\x1b[0mc\n";
        assert_eq!(print(options, b"abc", &[(1, 2)]), expected);
    }

    #[test]
    fn matched_bytes_alone_are_raw() {
        let options = TextOptions { only_matching: true, offset: true, ..options() };
        assert_eq!(print(options, b"a\0\tb", &[(0, 4)]), "0:a\0\tb\n");
    }

    #[test]
    fn whole_lines_columns_headings_and_zero_bytes() {
        let text = [b"x".repeat(999), b"\0ab\r\nb".to_vec()].concat();
        let line = "x".repeat(999) + "\\x00ab\n";
        let whole = TextOptions { columns: None, column: true, ..options() };
        assert_eq!(
            print(whole.clone(), &text, &[(1001, 1002), (1004, 1005)]),
            format!("1002:{line}1:b\n")
        );
        let heading = TextOptions { heading: true, path: true, ..whole };
        assert_eq!(print(heading, &text, &[(1000, 1002)]), format!("dir/f\n1001:{line}"));
        let null = TextOptions { null: true, path: true, ..options() };
        assert_eq!(print(null, b"ab", &[(0, 1)]), "dir/f\0ab\n");
    }
}
