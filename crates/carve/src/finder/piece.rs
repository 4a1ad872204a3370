//! Pieces of an image, and the hits of one piece.

use crate::hit::{Hits, Lengths};
use crate::needle::NeedleId;

/// Some bytes of an image.
#[derive(Clone, Copy, Debug)]
pub struct Piece<'a> {
    /// The owned bytes and, after them, the look-ahead.
    pub bytes: &'a [u8],
    /// How many bytes are owned: hits that start in them are reported.
    pub owned: usize,
    /// Where `bytes` begin in the image.
    pub offset: u64,
}

/// The hits of one or several pieces of an image, by needle.
#[derive(Clone, Debug, Default)]
pub struct PieceHits {
    /// Where starts count from.
    pub base: u64,
    /// Indexed by needle.
    pub needles: Vec<PieceNeedle>,
}

/// The hits of one needle.
#[derive(Clone, Debug, Default)]
pub struct PieceNeedle {
    /// Ascending, relative to [`PieceHits::base`].
    pub starts: Vec<u32>,
    /// The length of each hit, if the needle is a regular expression.
    pub lengths: Vec<u32>,
    /// How many hits are known to be in order.
    sorted: usize,
}

impl PieceHits {
    /// Removes all hits, and counts from another base.
    pub fn restart(&mut self, base: u64) {
        self.base = base;
        for needle in &mut self.needles {
            needle.starts.clear();
            needle.lengths.clear();
            needle.sorted = 0;
        }
    }

    /// The number of hits.
    #[must_use]
    pub fn count(&self) -> usize {
        self.needles.iter().map(|needle| needle.starts.len()).sum()
    }

    /// Appends these hits to those of the image. They start after all hits that it has.
    pub fn append_to(&self, hits: &mut Hits) {
        for (piece, all) in self.needles.iter().zip(&mut hits.needles) {
            if piece.starts.is_empty() {
                continue;
            }
            all.starts.extend(piece.starts.iter().map(|&start| self.base + u64::from(start)));
            if let Lengths::Each(lengths) = &mut all.lengths {
                lengths.extend_from_slice(&piece.lengths);
            }
        }
    }

    /// Makes room for a rule set.
    pub(crate) fn reset_for(&mut self, needles: usize) {
        self.needles.resize_with(needles, PieceNeedle::default);
    }

    /// The hits of a needle, to add to.
    #[inline]
    pub(super) fn needle(&mut self, needle: NeedleId) -> &mut PieceNeedle {
        &mut self.needles[needle.0 as usize]
    }

    /// Sorts what was added since the last call: matchers may report out of order. Hits of regular
    /// expressions were added in order.
    pub(super) fn sort(&mut self) {
        for needle in &mut self.needles {
            let new = &mut needle.starts[needle.sorted..];
            if !new.is_sorted() {
                new.sort_unstable();
            }
            needle.sorted = needle.starts.len();
        }
    }
}
