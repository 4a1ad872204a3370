//! Reports lines instead of matches: selects them, counts them, and prints them with the lines
//! around them, as grep does.

use super::line_printer::LinePrinter;
use super::line_splitter::{LineSplitter, Lines};
use super::text::TextOptions;
use super::window::Window;
use fyke_core::{Batch, PatternSet};
use memchr::memchr_iter;
use std::io;
use std::ops::Range;
use std::path::Path;

/// Which lines to select, and how many lines around them to print.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineOptions {
    /// Select the lines without a match.
    pub invert: bool,
    /// Number of lines to print before each selected line.
    pub before: u64,
    /// Number of lines to print after each selected line.
    pub after: u64,
    /// Stop after this many selected lines of a haystack.
    pub limit: Option<u64>,
}

/// What [`LineReport::step`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It reported lines; call it again.
    Again,
    /// It can report no line until more matches are known.
    Wait,
    /// Nothing further of this haystack is reported.
    Stop,
}

/// Reports the lines of one haystack after the other.
#[derive(Clone, Debug)]
pub struct LineReport {
    options: LineOptions,
    splitter: LineSplitter,
    /// None if lines are only counted.
    printer: Option<LinePrinter>,
    selected: u64,
    /// Lines that are still printed after the last selected one.
    after: u64,
    /// End of the last printed line.
    printed: Option<u64>,
    stopped: bool,
    /// A line starts here, and bytes before it may be gone.
    needed: u64,
    /// Starts of the lines before a selected one, the last first.
    before: Vec<u64>,
    spare: Vec<u8>,
}

impl LineReport {
    /// Prints the selected lines. For `late` see [`LineSplitter::new`].
    pub fn printing(options: LineOptions, text: &TextOptions, set: &PatternSet, late: u64) -> Self {
        let spans = LinePrinter::has_colors(text) || text.columns.is_some() || text.column;
        let has_context = options.before + options.after > 0;
        let printer = LinePrinter::new(text.clone(), has_context);
        Self::new(options, LineSplitter::new(set, late, spans), Some(printer))
    }

    /// Counts the selected lines. For `late` see [`LineSplitter::new`].
    pub fn counting(options: LineOptions, set: &PatternSet, late: u64) -> Self {
        let options = LineOptions { before: 0, after: 0, ..options };
        Self::new(options, LineSplitter::new(set, late, false), None)
    }

    fn new(options: LineOptions, splitter: LineSplitter, printer: Option<LinePrinter>) -> Self {
        let (before, spare) = (Vec::new(), Vec::new());
        Self {
            options,
            splitter,
            printer,
            selected: 0,
            after: 0,
            printed: None,
            stopped: false,
            needed: 0,
            before,
            spare,
        }
    }

    /// Starts a haystack.
    pub fn begin(&mut self, path: &Path) {
        self.splitter.restart();
        if let Some(printer) = &mut self.printer {
            printer.begin(path);
        }
        (self.selected, self.after, self.printed, self.needed) = (0, 0, None, 0);
        self.stopped = self.options.limit == Some(0);
    }

    /// Starts an output that the caller puts after that of another printer, with
    /// [`TextOptions::file_separator`] between them.
    pub fn restart_output(&mut self) {
        if let Some(printer) = &mut self.printer {
            printer.restart();
        }
    }

    /// Adds matches, which are in order. Then call [`step`](Self::step) until it waits.
    pub fn add(&mut self, batch: &Batch<'_>) {
        if !self.stopped {
            self.splitter.add(batch);
        }
    }

    /// Every match that ends at or before `known` was added.
    pub fn advance(&mut self, known: u64) {
        self.splitter.advance(known);
    }

    /// The haystack ends at `end`.
    pub fn finish(&mut self, end: u64) {
        self.splitter.finish(end);
    }

    /// Number of lines selected in this haystack.
    pub fn selected(&self) -> u64 {
        self.selected
    }

    /// Whether nothing further of this haystack is reported.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether bytes without a match may still be reported.
    pub fn wants_rest(&self) -> bool {
        !self.stopped && (self.options.invert || self.after > 0 || self.splitter.has_hits())
    }

    /// Start of the bytes that are still needed; `None` if there are none.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn needed_from(&mut self, window: &Window<'_>) -> io::Result<Option<u64>> {
        if self.printer.is_none() || self.stopped {
            return Ok(None);
        }
        self.find_before(self.splitter.position(), window)?;
        self.needed = self.before.last().copied().unwrap_or(self.splitter.position());
        Ok(Some(self.needed))
    }

    /// Counts line ends of lines that were passed, if lines are numbered.
    ///
    /// # Errors
    /// As [`needed_from`](Self::needed_from).
    pub fn count_lines(&mut self, window: &Window<'_>) -> io::Result<()> {
        let position = self.splitter.position();
        self.printer.as_mut().map_or(Ok(()), |printer| printer.count_lines(window, position))
    }

    /// Reports the next lines.
    ///
    /// # Errors
    /// As [`needed_from`](Self::needed_from).
    pub fn step(&mut self, out: &mut Vec<u8>, window: &Window<'_>) -> io::Result<Step> {
        if self.stopped {
            return Ok(Step::Stop);
        }
        match self.splitter.next(window)? {
            None => return Ok(Step::Wait),
            Some(Lines::Hit(line)) if !self.options.invert => self.select(out, window, line)?,
            Some(Lines::Quiet(lines)) if self.options.invert => {
                self.select_all(out, window, lines)?
            }
            Some(Lines::Hit(lines) | Lines::Quiet(lines)) => self.pass(out, window, lines)?,
        }
        self.stopped = self.options.limit.is_some_and(|n| self.selected >= n) && self.after == 0;
        Ok(if self.stopped { Step::Stop } else { Step::Again })
    }

    fn select_all(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        mut lines: Range<u64>,
    ) -> io::Result<()> {
        if self.printer.is_none() {
            let (_, bytes) = window.get(lines, &mut self.spare)?;
            let partial = u64::from(!bytes.ends_with(b"\n"));
            self.selected += memchr_iter(b'\n', bytes).count() as u64 + partial;
            self.selected = self.selected.min(self.options.limit.unwrap_or(u64::MAX));
            return Ok(());
        }
        while lines.start < lines.end {
            let line = self.cut_line(&mut lines, window)?;
            self.select(out, window, line)?;
        }
        Ok(())
    }

    fn select(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        line: Range<u64>,
    ) -> io::Result<()> {
        if self.options.limit.is_some_and(|n| self.selected >= n) {
            return self.pass(out, window, line);
        }
        self.selected += 1;
        self.find_before(line.start, window)?;
        let Some(printer) = &mut self.printer else { return Ok(()) };
        let first = self.before.last().copied().unwrap_or(line.start);
        if self.printed != Some(first) {
            printer.begin_group(out, self.printed.is_none());
        }
        for (i, &start) in self.before.iter().enumerate().rev() {
            let end = if i == 0 { line.start } else { self.before[i - 1] };
            printer.context(out, window, &(start..end))?;
        }
        match self.options.invert {
            true => printer.selected(out, window, &line, std::iter::empty())?,
            false => printer.selected(out, window, &line, self.splitter.hits_of(&line))?,
        }
        (self.printed, self.after) = (Some(line.end), self.options.after);
        Ok(())
    }

    /// Passes over lines that are not selected, and prints those that follow a selected one.
    fn pass(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        mut lines: Range<u64>,
    ) -> io::Result<()> {
        while self.after > 0 && lines.start < lines.end {
            let line = self.cut_line(&mut lines, window)?;
            let Some(printer) = &mut self.printer else { return Ok(()) };
            printer.context(out, window, &line)?;
            self.printed = Some(line.end);
            self.after -= 1;
        }
        Ok(())
    }

    /// Takes the first line off some whole lines.
    fn cut_line(&mut self, lines: &mut Range<u64>, window: &Window<'_>) -> io::Result<Range<u64>> {
        let end = window.line_end(lines.start, lines.end, &mut self.spare)?.unwrap_or(lines.end);
        let line = lines.start..end;
        lines.start = end;
        Ok(line)
    }

    /// Finds the lines to print before a line that starts at `position`.
    fn find_before(&mut self, position: u64, window: &Window<'_>) -> io::Result<()> {
        self.before.clear();
        let (least, mut at) = (self.needed.max(self.printed.unwrap_or(0)), position);
        for _ in 0..self.options.before {
            if at <= least {
                break;
            }
            at = window.line_start(at - 1, least, &mut self.spare)?.unwrap_or(least);
            self.before.push(at);
        }
        Ok(())
    }
}
