//! Matches as text: `[path:][line:][offset:][label: ]context`, one per line.
//!
//! The form follows grep where grep has one. The context is the line around the match; bytes that
//! are not printable are escaped, and a long line is cut.

use super::context::Context;
use super::escape::push_escaped;
use super::lines::{HitLines, LineCounter};
use super::path::path_bytes;
use super::window::Window;
use crate::rules::Rules;
use fyke_core::{Batch, StreamMatch};
use std::io::{self, Write};
use std::path::Path;

/// Bytes around a match in which its line is searched first: most lines are shorter, and bytes
/// further away may have to be read from the file.
const NEAR: u64 = 512;

/// What to print of each match.
#[derive(Clone, Debug)]
pub struct TextOptions {
    /// The path of the file.
    pub path: bool,
    /// The number of the line, from 1.
    pub line: bool,
    /// The offset of the first byte of the match in its file, from 0.
    pub offset: bool,
    /// The pattern: `pattern 17`, or `sid 2012345 (web.rules:12)` if it comes from a rule.
    pub label: bool,
    /// The matched bytes without escapes, instead of the context.
    pub only_matching: bool,
    /// Each line with a match once, instead of each match. A match belongs to the line it ends on.
    pub whole_lines: bool,
    /// Width of the context in columns, at most [`MAX_COLUMNS`](super::MAX_COLUMNS).
    pub columns: usize,
    /// The colors.
    pub colors: Colors,
}

/// Escape sequences for the parts of a record; empty strings if there are no colors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Colors {
    path: &'static str,
    number: &'static str,
    hit: &'static str,
    reset: &'static str,
}

impl Colors {
    /// The colors of grep: path magenta, numbers green, match bold red.
    pub const ANSI: Colors =
        Colors { path: "\x1b[35m", number: "\x1b[32m", hit: "\x1b[1;31m", reset: "\x1b[0m" };

    /// No colors.
    pub const NONE: Colors = Colors { path: "", number: "", hit: "", reset: "" };

    /// Appends a path in its color.
    pub fn push_path(&self, out: &mut Vec<u8>, path: &[u8]) {
        out.extend_from_slice(self.path.as_bytes());
        out.extend_from_slice(path);
        out.extend_from_slice(self.reset.as_bytes());
    }
}

/// Prints the matches of one file after the other.
#[derive(Clone, Debug)]
pub struct TextPrinter<'r> {
    options: TextOptions,
    rules: &'r Rules,
    /// The path as each record starts with it, with color and colon.
    path: Vec<u8>,
    lines: LineCounter,
    hit_lines: HitLines,
    spare: Vec<u8>,
}

impl<'r> TextPrinter<'r> {
    /// A printer that takes labels from `rules`.
    pub fn new(options: TextOptions, rules: &'r Rules) -> Self {
        Self {
            options,
            rules,
            path: Vec::new(),
            lines: LineCounter::default(),
            hit_lines: HitLines::default(),
            spare: Vec::new(),
        }
    }

    /// Starts a file.
    pub fn begin(&mut self, path: &Path) {
        self.path.clear();
        if self.options.path {
            self.options.colors.push_path(&mut self.path, path_bytes(path));
            self.path.push(b':');
        }
        self.lines = LineCounter::default();
        self.hit_lines = HitLines::default();
    }

    /// Appends the record of a match. With `whole_lines`, returns false and appends nothing if the
    /// line was already printed.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn print(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
    ) -> io::Result<bool> {
        if self.options.whole_lines && !self.is_new_line(window, m)? {
            return Ok(false);
        }
        self.push_prefix(out, window, m)?;
        if self.options.only_matching {
            out.extend_from_slice(window.get(m.start..m.end, &mut self.spare)?.1);
        } else {
            self.push_context(out, window, m)?;
        }
        out.push(b'\n');
        Ok(true)
    }

    /// Appends the record of a count.
    pub fn print_count(&self, out: &mut Vec<u8>, count: u64) {
        out.extend_from_slice(&self.path);
        push_number(out, count);
        out.push(b'\n');
    }

    /// Counts the lines on which a match of the batch ends and no earlier match ended.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub fn new_lines(&mut self, window: &Window<'_>, batch: &Batch<'_>) -> io::Result<u64> {
        let mut new = 0;
        for &record in batch.records {
            let last = batch.end(record) - 1;
            new += u64::from(self.hit_lines.is_new(last, window, &mut self.spare)?);
        }
        Ok(new)
    }

    fn is_new_line(&mut self, window: &Window<'_>, m: StreamMatch) -> io::Result<bool> {
        self.hit_lines.is_new(m.end - 1, window, &mut self.spare)
    }

    /// Ends a block: counts its lines if they are printed.
    ///
    /// # Errors
    /// As [`print`](Self::print).
    pub fn end_of_block(&mut self, window: &Window<'_>, end: u64) -> io::Result<()> {
        if self.options.line {
            self.lines.advance(end, window, &mut self.spare)?;
        }
        self.hit_lines.advance(end, window, &mut self.spare)
    }

    fn push_prefix(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
    ) -> io::Result<()> {
        out.extend_from_slice(&self.path);
        if self.options.line {
            let at = if self.options.whole_lines { m.end - 1 } else { m.start };
            let line = self.lines.line_of(at, window, &mut self.spare)?;
            self.push_field(out, line);
        }
        if self.options.offset {
            self.push_field(out, m.start);
        }
        if self.options.label {
            push_label(out, self.rules, m);
        }
        Ok(())
    }

    fn push_field(&self, out: &mut Vec<u8>, number: u64) {
        let Colors { number: color, reset, .. } = self.options.colors;
        out.extend_from_slice(color.as_bytes());
        push_number(out, number);
        out.extend_from_slice(reset.as_bytes());
        out.push(b':');
    }

    fn push_context(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        m: StreamMatch,
    ) -> io::Result<()> {
        let most = self.options.columns as u64 + 1;
        let (from, bytes) = window.get(around(m, most.min(NEAR)), &mut self.spare)?;
        let near = most <= NEAR || holds_line(bytes, from, m);
        let (from, bytes) =
            if near { (from, bytes) } else { window.get(around(m, most), &mut self.spare)? };
        let at = |position: u64| (position.saturating_sub(from) as usize).min(bytes.len());
        let context = Context::of(bytes, at(m.start)..at(m.end), self.options.columns);
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

fn push_number(out: &mut Vec<u8>, number: u64) {
    let written = write!(out, "{number}");
    debug_assert!(written.is_ok(), "writing to a vector cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{self, Format};
    use fyke_core::PatternId;

    fn options() -> TextOptions {
        TextOptions {
            path: false,
            line: false,
            offset: false,
            label: false,
            only_matching: false,
            whole_lines: false,
            columns: 20,
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
    fn each_line_once() {
        let options = TextOptions { whole_lines: true, line: true, ..options() };
        let text = b"aa\nb\na";
        assert_eq!(
            print(options, text, &[(0, 1), (1, 2), (1, 4), (5, 6)]),
            "1:aa\n2:aa\\x0ab\n3:a\n"
        );
    }
}
