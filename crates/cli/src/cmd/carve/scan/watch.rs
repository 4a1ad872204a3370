//! Watches scans and extractions: progress, bad sectors, interrupts.

use crate::number;
use crate::run::interrupt;
use crate::run::progress::Progress;
use fyke_carve::pipeline::Observer;
use fyke_carve::{CarvedFile, Image, Validity, extract, validate};
use std::ops::Range;

/// Watches the scan of one image.
pub(in crate::cmd::carve) struct Watch<'a> {
    pub(in crate::cmd::carve) progress: &'a Progress,
    /// The image's name.
    pub(in crate::cmd::carve) name: &'a str,
}

impl Observer for Watch<'_> {
    fn resumed(&self, range: &Range<u64>) {
        self.progress.advance_by(range.end - range.start);
    }

    fn advanced(&self, bytes: u64) {
        self.progress.advance_by(bytes);
    }

    fn bad(&self, range: &Range<u64>) {
        let (start, bytes) = (range.start, range.end - range.start);
        self.progress.say(format_args!(
            "{}: {bytes} bytes at offset {start} cannot be read: skipped",
            self.name
        ));
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}

/// Watches an extraction.
#[derive(Default)]
pub(in crate::cmd::carve) struct ExtractWatch {
    /// Once the number of bytes is known.
    progress: Option<Progress>,
}

impl ExtractWatch {
    /// Removes the progress bar.
    pub(in crate::cmd::carve) fn finish(&self) {
        self.progress.as_ref().inspect(|progress| progress.finish());
    }
}

impl extract::Watch for ExtractWatch {
    fn begins(&mut self, bytes: u64) {
        self.progress = Some(Progress::of_bytes(Some(bytes)));
    }

    fn advanced(&mut self, bytes: u64) {
        self.progress.as_ref().inspect(|progress| progress.advance_by(bytes));
    }

    fn stops(&mut self) -> bool {
        interrupt::requested()
    }
}

/// Validates files on all cores. Returns whether no interrupt stopped it.
pub(in crate::cmd::carve) fn validate_files(image: &dyn Image, files: &mut [CarvedFile]) -> bool {
    let threads = number::threads("0").unwrap_or(1);
    validate::validate_until(image, files, threads, &interrupt::requested)
}

/// What the validators say of these files, for people.
pub(in crate::cmd::carve) fn verdicts(files: &[CarvedFile]) -> String {
    let count = |valid| files.iter().filter(|file| file.valid == valid).count();
    let [yes, no, unknown] = [Validity::Yes, Validity::No, Validity::Unknown].map(count);
    format!("{yes} valid, {no} not valid, {unknown} unknown")
}
