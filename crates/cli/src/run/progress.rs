//! The progress bar: bytes, rate and time left. It appears on a terminal, during long scans.

use super::failure::Failure;
use super::inputs;
use super::interrupt;
use super::job::{Job, Mode};
use crate::warning;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A shorter scan shows no bar.
const SHOW_AFTER: Duration = Duration::from_secs(1);

const WITH_TOTAL: &str = "{wide_bar} {bytes}/{total_bytes} {bytes_per_sec} ETA {eta}";
const WITHOUT_TOTAL: &str = "{spinner} {bytes} {bytes_per_sec} {elapsed}";

/// A bar; none if standard error is no terminal or matches are printed to the same terminal.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    shown: AtomicBool,
    since: Instant,
    /// Whether failures are printed.
    messages: bool,
}

impl Progress {
    pub(crate) fn new(job: &Job<'_>, paths: &[PathBuf]) -> Self {
        let prints = !matches!(job.mode, Mode::Count | Mode::Quiet);
        let would_mix = prints && io::stdout().is_terminal();
        let total = || inputs::total(paths, job.decompress).filter(|_| !job.tail);
        Self::with_bar(io::stderr().is_terminal() && !would_mix, total, job.messages)
    }

    /// A bar for a number of bytes, if it is known; none if standard error is no terminal.
    pub(crate) fn of_bytes(total: Option<u64>) -> Self {
        Self::with_bar(io::stderr().is_terminal(), || total, true)
    }

    fn with_bar(bar: bool, total: impl FnOnce() -> Option<u64>, messages: bool) -> Self {
        let bar = bar.then(|| hidden_bar(total()));
        bar.as_ref().inspect(|bar| interrupt::clears(bar));
        Self { bar, shown: AtomicBool::new(false), since: Instant::now(), messages }
    }

    /// No bar.
    #[cfg(test)]
    pub(super) fn silent() -> Self {
        Self { bar: None, shown: AtomicBool::new(false), since: Instant::now(), messages: true }
    }

    /// Adds bytes that were read.
    pub(crate) fn advance(&self, bytes: usize) {
        self.advance_by(bytes as u64);
    }

    /// Adds bytes that were read, or need not be.
    pub(crate) fn advance_by(&self, bytes: u64) {
        let Some(bar) = &self.bar else { return };
        bar.inc(bytes);
        let late = !self.shown.load(Ordering::Relaxed) && self.since.elapsed() > SHOW_AFTER;
        if late && !self.shown.swap(true, Ordering::Relaxed) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Prints a failure, unless messages are not wanted.
    pub(crate) fn report(&self, failure: &Failure) {
        self.say(format_args!("{failure}"));
    }

    /// Prints a message, unless messages are not wanted.
    pub(crate) fn say(&self, message: fmt::Arguments<'_>) {
        if self.messages {
            self.hidden_during(|| warning::print(message));
        }
    }

    /// Prints something. The bar, which may be on the same terminal, is hidden meanwhile.
    pub(crate) fn hidden_during<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn hidden_bar(total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
    let template = if total.is_some() { WITH_TOTAL } else { WITHOUT_TOTAL };
    bar.set_style(
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    bar
}
