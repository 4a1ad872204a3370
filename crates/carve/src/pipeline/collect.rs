//! Collects what was found in chunks, in the order of the image.

use super::chunk::Found;
use super::journal::Journal;
use super::{Observer, ScanError, Scanned};
use crate::finder::Finder;
use crate::hit::Hits;
use std::collections::BTreeMap;
use std::ops::Range;

/// Takes chunks in any order.
pub(super) struct Collector<'a> {
    observer: &'a dyn Observer,
    scanned: Scanned,
    journal: Option<Journal>,
    /// The number of the next chunk in order.
    next: u64,
    /// Chunks that came before their turn.
    waiting: BTreeMap<u64, Found>,
    /// Chunks that were taken, to be used again.
    spare: Vec<Found>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(finder: &Finder, image_len: u64, observer: &'a dyn Observer) -> Self {
        let scanned = Scanned { hits: finder.no_hits(image_len), bad: Vec::new() };
        let (waiting, spare) = (BTreeMap::new(), Vec::new());
        Self { observer, scanned, journal: None, next: 0, waiting, spare }
    }

    /// Writes all further chunks to a journal.
    pub(super) fn keep(&mut self, journal: Journal) {
        self.journal = Some(journal);
    }

    /// The hits so far.
    pub(super) fn hits(&self) -> &Hits {
        &self.scanned.hits
    }

    /// Memory for what will be found in a chunk.
    pub(super) fn spare(&mut self) -> Found {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes chunk `index`, and those that waited for it. Returns memory for another chunk.
    pub(super) fn take(&mut self, index: u64, found: Found) -> Result<Found, ScanError> {
        self.waiting.insert(index, found);
        while let Some(found) = self.waiting.remove(&self.next) {
            self.next += 1;
            if let Some(journal) = &mut self.journal {
                journal.append(&found)?;
            }
            self.add(&found);
            self.observer.advanced(found.owned.end - found.owned.start);
            self.spare.push(found);
        }
        Ok(self.spare())
    }

    /// Adds what is known of the next bytes.
    pub(super) fn add(&mut self, found: &Found) {
        found.hits.append_to(&mut self.scanned.hits);
        for bad in &found.bad {
            self.observer.bad(bad);
            add_range(&mut self.scanned.bad, bad);
        }
    }

    /// Corrects the length of the image, which a stream tells at its end.
    pub(super) fn ends_at(&mut self, len: u64) {
        self.scanned.hits.image_len = len;
    }

    /// The result, once the journal is on the disk.
    pub(super) fn finish(self) -> Result<Scanned, ScanError> {
        debug_assert!(self.waiting.is_empty(), "every chunk had its turn");
        if let Some(journal) = &self.journal {
            journal.sync()?;
        }
        Ok(self.scanned)
    }
}

fn add_range(ranges: &mut Vec<Range<u64>>, range: &Range<u64>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range.clone()),
    }
}
