//! Hits: where the needles of a rule set lie in an image.

use crate::needle::NeedleId;

/// All hits of one image, by needle. Overlapping hits are all there, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The bytes of the image that were searched, counted from offset 0 of the image.
    pub image_len: u64,
    /// The hits of each needle, indexed by [`NeedleId`].
    pub needles: Vec<NeedleHits>,
}

/// The hits of one needle, in ascending order of their starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeedleHits {
    /// Offsets in the image.
    pub starts: Vec<u64>,
    /// How long each hit is.
    pub lengths: Lengths,
}

/// The lengths of the hits of a needle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// All hits have this length: the needle is a string.
    Fixed(u32),
    /// One length per hit: the needle is a regular expression.
    Each(Vec<u32>),
}

impl NeedleHits {
    /// The length of hit `index`.
    ///
    /// # Panics
    ///
    /// If there is no such hit.
    #[must_use]
    pub fn len_of(&self, index: usize) -> u64 {
        match &self.lengths {
            Lengths::Fixed(len) => u64::from(*len),
            Lengths::Each(lengths) => u64::from(lengths[index]),
        }
    }
}

impl Hits {
    /// The hits of `needle`.
    ///
    /// # Panics
    ///
    /// If the needle is of another rule set.
    #[must_use]
    pub fn of(&self, needle: NeedleId) -> &NeedleHits {
        &self.needles[needle.0 as usize]
    }
}
