//! Once: selects the first occurrence of each pattern.

use super::Reader;
use crate::error::{StateError, StateErrorKind};
use crate::matches::Record;
use crate::pattern::PatternSet;

/// Which patterns were seen: one bit each.
///
/// Restarting clears only the words that a scan set, because a set may have millions of patterns
/// and a haystack few matches.
#[derive(Clone, Debug, Default)]
pub(super) struct Once {
    pub(super) seen: Vec<u64>,
    /// The words of `seen` that are not 0.
    pub(super) touched: Vec<u32>,
    pub(super) unseen: u64,
}

impl Once {
    /// Forgets what was seen.
    pub(super) fn clear(&mut self) {
        self.touched.drain(..).for_each(|word| self.seen[word as usize] = 0);
    }

    /// Makes room for a set of which nothing was seen.
    pub(super) fn fit(&mut self, set: &PatternSet) {
        let words = set.len().div_ceil(64);
        self.seen.resize(words.max(self.seen.len()), 0);
        self.unseen = set.len() as u64;
    }

    /// Appends to `first`, which is empty, the records whose pattern was not seen before.
    pub(super) fn keep_first(&mut self, records: &[Record], first: &mut Vec<Record>) {
        for &record in records {
            let (index, bit) = (record.pattern / 64, 1 << (record.pattern % 64));
            let word = &mut self.seen[index as usize];
            if *word & bit == 0 {
                if *word == 0 {
                    self.touched.push(index);
                }
                *word |= bit;
                first.push(record);
            }
        }
        self.unseen -= first.len() as u64;
    }

    /// Reads the words of a saved state. A bit without a pattern means that the state is damaged.
    pub(super) fn load(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        for (index, word) in (0..).zip(&mut self.seen) {
            *word = from.u64()?;
            if *word != 0 {
                self.touched.push(index);
            }
        }
        let in_last_word = self.unseen % 64;
        let stray = self.seen.last().is_some_and(|&w| in_last_word != 0 && w >> in_last_word != 0);
        if stray {
            return Err(StateError(StateErrorKind::Damaged));
        }
        self.unseen -= self.seen.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
        Ok(())
    }
}
