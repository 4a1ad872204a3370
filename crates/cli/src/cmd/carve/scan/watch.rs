//! Watches a scan: progress, bad sectors, interrupts.

use crate::run::interrupt;
use crate::run::progress::Progress;
use fyke_carve::pipeline::Observer;
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
        self.progress.warn(format_args!(
            "{}: {bytes} bytes at offset {start} cannot be read: skipped",
            self.name
        ));
    }

    fn interrupted(&self) -> bool {
        interrupt::requested()
    }
}
