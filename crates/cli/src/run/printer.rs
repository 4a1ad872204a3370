//! Turns the matches of an input into records, lines, or a number.

use super::failure::Failure;
use super::job::{Job, Mode};
use super::output::Output;
use super::records::Records;
use fyke::{Batch, Semantics};
use fyke_io::sink::json::JsonPrinter;
use fyke_io::sink::{
    Boundaries, HitLineCounter, LineOptions, LineReport, ReplacePrinter, Replacements, Step,
    TextPrinter, Window, has_pattern_over_lines,
};
use std::io;
use std::path::Path;

/// Prints or counts the matches of one input after the other.
pub(super) enum Printer<'r> {
    /// A record for each match.
    Records(Records<'r>),
    /// The haystack, with its matches replaced.
    Replace(ReplacePrinter),
    /// Lines, printed or counted.
    Lines(Box<LineReport>),
    /// Counts lines with a match, if no match spans lines: faster than `Lines`.
    HitLines(HitLineCounter),
    /// Counts matches.
    Count,
}

impl<'r> Printer<'r> {
    pub(super) fn new(job: &Job<'r>) -> Self {
        match (job.mode, job.lines) {
            (Mode::Json, _) => {
                Printer::Records(Records::Json(JsonPrinter::new(job.rules, job.text.line)))
            }
            (Mode::Replace, _) => {
                let texts = job.replacements.clone().unwrap_or_else(|| Replacements::all(""));
                Printer::Replace(ReplacePrinter::new(texts, job.matcher.set()))
            }
            (Mode::Text, None) => {
                let text = TextPrinter::new(job.text.clone(), job.rules);
                Printer::Records(Records::Text(Box::new(text)))
            }
            (Mode::Text, Some(lines)) => {
                let set = job.matcher.set();
                let report = LineReport::printing(lines, &job.text, set, late(job));
                Printer::Lines(Box::new(report))
            }
            (_, Some(lines)) if counts_lines(job, lines) => Self::counting(job, lines),
            _ => Printer::Count,
        }
    }

    fn counting(job: &Job<'_>, lines: LineOptions) -> Self {
        let set = job.matcher.set();
        let simple = !lines.invert && lines.limit.is_none() && !has_pattern_over_lines(set);
        match simple {
            true => Printer::HitLines(HitLineCounter::default()),
            false => Printer::Lines(Box::new(LineReport::counting(lines, set, late(job)))),
        }
    }

    pub(super) fn begin(&mut self, path: &Path) {
        match self {
            Printer::Records(p) => p.begin(path),
            Printer::Replace(p) => p.begin(),
            Printer::Lines(p) => p.begin(path),
            Printer::HitLines(p) => *p = HitLineCounter::default(),
            Printer::Count => {}
        }
    }

    /// As [`TextPrinter::restart_output`].
    pub(super) fn restart_output(&mut self) {
        match self {
            Printer::Records(p) => p.restart_output(),
            Printer::Lines(p) => p.restart_output(),
            Printer::Replace(_) | Printer::HitLines(_) | Printer::Count => {}
        }
    }

    /// Takes matches, and adds what they count to `matches`.
    pub(super) fn print(
        &mut self,
        window: &Window<'_>,
        batch: &Batch<'_>,
        output: &Output,
        matches: &mut u64,
    ) -> Result<(), Failure> {
        match self {
            Printer::Count => *matches += batch.count(),
            Printer::HitLines(p) => *matches += p.count(window, batch).map_err(Failure::reading)?,
            Printer::Replace(p) => {
                p.add(batch);
                *matches += batch.count();
            }
            Printer::Lines(p) => {
                p.add(batch);
                report(p, window, output, matches)?;
            }
            Printer::Records(p) => p.print(window, batch, output, matches)?,
        }
        Ok(())
    }

    /// Ends a block: the printer has every match that ends at or before `end`.
    pub(super) fn end_of_block(
        &mut self,
        window: &Window<'_>,
        end: u64,
        output: &Output,
        matches: &mut u64,
    ) -> Result<(), Failure> {
        let counted = match self {
            Printer::Records(p) => p.end_of_block(window, end),
            Printer::HitLines(p) => p.advance(window, end),
            Printer::Replace(p) => {
                let copied = output.lock().try_record(|to| p.advance(to, window, end));
                copied.map_err(Failure::Output)?
            }
            Printer::Lines(p) => {
                p.advance(end);
                report(p, window, output, matches)?;
                p.count_lines(window)
            }
            Printer::Count => Ok(()),
        };
        counted.map_err(Failure::reading)
    }

    /// Ends an input after `end` bytes: prints what waited for its end.
    pub(super) fn end(
        &mut self,
        window: &Window<'_>,
        end: u64,
        output: &Output,
        matches: &mut u64,
    ) -> Result<(), Failure> {
        match self {
            Printer::Lines(p) => {
                p.finish(end);
                report(p, window, output, matches)
            }
            Printer::Replace(p) => {
                let copied = output.lock().try_record(|to| p.finish(to, window, end));
                copied.map_err(Failure::Output)?.map_err(Failure::reading)
            }
            _ => Ok(()),
        }
    }

    /// Prints the record that ends an input, if there is one.
    pub(super) fn end_record(
        &self,
        bytes: u64,
        matches: u64,
        output: &Output,
    ) -> Result<(), Failure> {
        match self {
            Printer::Records(p) => p.end(bytes, matches, output),
            _ => Ok(()),
        }
    }

    /// Whether the rest of the input is wanted although no further match is.
    pub(super) fn wants_rest(&self) -> bool {
        match self {
            Printer::Lines(p) => p.wants_rest(),
            Printer::Replace(_) => true,
            _ => false,
        }
    }

    /// Whether nothing further of the input is wanted.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Printer::Lines(p) if p.is_stopped())
    }

    /// Start of the bytes that are needed to report what comes after `end`; `None` if those of
    /// the block are enough.
    pub(super) fn needed_from(&mut self, window: &Window<'_>, end: u64) -> io::Result<Option<u64>> {
        match self {
            Printer::Records(p) => p.needed_from(window, end),
            Printer::Lines(p) => p.needed_from(window),
            Printer::Replace(p) => Ok(Some(p.needed_from())),
            Printer::HitLines(_) | Printer::Count => Ok(None),
        }
    }
}

/// Whether the number of lines matters, and not only whether there is a match.
fn counts_lines(job: &Job<'_>, lines: LineOptions) -> bool {
    job.mode == Mode::Count || lines.invert || lines.limit.is_some()
}

/// Reports the lines that are decided.
fn report(
    lines: &mut LineReport,
    window: &Window<'_>,
    output: &Output,
    matches: &mut u64,
) -> Result<(), Failure> {
    let mut writer = output.lock();
    let mut step = Step::Again;
    while step == Step::Again {
        let reported = writer.try_record(|to| lines.step(to, window));
        step = reported.map_err(Failure::Output)?.map_err(Failure::reading)?;
        *matches = lines.selected();
    }
    Ok(())
}

/// How many bytes after its end a match may be reported.
fn late(job: &Job<'_>) -> u64 {
    let set = job.matcher.set();
    let held = match job.semantics {
        Semantics::All | Semantics::Once => 0,
        _ => set.max_len() as u64,
    };
    held + job.boundaries.as_ref().map_or(0, Boundaries::look_ahead)
}
