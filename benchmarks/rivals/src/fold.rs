//! What is done with each match while a rival is timed.
//!
//! Each kind of [`Work`] is a small type, and each rival's loop is compiled once per type: no rival
//! pays for a virtual call per match that its own users would not pay.

use fyke_core::Block;

use crate::Refusal;

/// What to do with each match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Count it.
    Count,
    /// Read its end and its pattern, as a user does who wants to know where and what.
    Touch,
    /// Hash it for comparison with other matchers. Not for timing.
    Fingerprint,
}

/// The result of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Matches.
    pub count: u64,
    /// [`Work::Fingerprint`]: the sum over all matches, modulo 2^64, of FNV-1a of the end (8 bytes,
    /// little-endian) and the pattern's dense index (the same). It does not depend on the order.
    /// [`Work::Touch`]: a sum of ends and indices.
    pub sum: u64,
}

impl Tally {
    /// The tally of two disjoint pieces together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self { count: self.count + other.count, sum: self.sum.wrapping_add(other.sum) }
    }
}

/// A way to take matches one by one.
pub trait Fold: Default {
    /// Takes the match of pattern `index` that ends before byte `end`.
    fn on(&mut self, end: u64, index: u32);

    /// What was taken.
    fn tally(&self) -> Tally;
}

/// A loop over all matches of a haystack: what a rival implements.
pub trait Walk {
    /// Gives every match to `fold`.
    ///
    /// # Errors
    /// The rival gave up on this haystack.
    fn walk<F: Fold>(&mut self, haystack: &[u8], fold: &mut F) -> Result<(), Refusal>;
}

/// Runs a walk with the fold that `work` names.
pub(crate) fn run<W: Walk>(walk: &mut W, block: Block<'_>, work: Work) -> Result<Tally, Refusal> {
    match work {
        Work::Count => start::<W, Count>(walk, block),
        Work::Touch => start::<W, Touch>(walk, block),
        Work::Fingerprint => start::<W, Fingerprint>(walk, block),
    }
}

fn start<W: Walk, F: Fold>(walk: &mut W, block: Block<'_>) -> Result<Tally, Refusal> {
    if block.overlap == 0 && block.offset == 0 {
        let mut fold = F::default();
        walk.walk(block.bytes, &mut fold)?;
        return Ok(fold.tally());
    }
    let overlap = block.overlap as u64;
    let mut fold = Owned::<F> { overlap, offset: block.offset, inner: F::default() };
    walk.walk(block.bytes, &mut fold)?;
    Ok(fold.tally())
}

#[derive(Default)]
struct Count(u64);

impl Fold for Count {
    #[inline(always)]
    fn on(&mut self, _end: u64, _index: u32) {
        self.0 += 1;
    }

    fn tally(&self) -> Tally {
        Tally { count: self.0, sum: 0 }
    }
}

#[derive(Default)]
struct Touch(Tally);

impl Fold for Touch {
    #[inline(always)]
    fn on(&mut self, end: u64, index: u32) {
        self.0.count += 1;
        self.0.sum = self.0.sum.wrapping_add(end ^ u64::from(index) << 32);
    }

    fn tally(&self) -> Tally {
        self.0
    }
}

#[derive(Default)]
struct Fingerprint(Tally);

impl Fold for Fingerprint {
    #[inline(always)]
    fn on(&mut self, end: u64, index: u32) {
        self.0.count += 1;
        let hash = fnv1a(fnv1a(FNV_BASIS, end), u64::from(index));
        self.0.sum = self.0.sum.wrapping_add(hash);
    }

    fn tally(&self) -> Tally {
        self.0
    }
}

/// Leaves out the matches that an earlier piece owns, and counts ends from the haystack's start.
#[derive(Default)]
struct Owned<F> {
    overlap: u64,
    offset: u64,
    inner: F,
}

impl<F: Fold> Fold for Owned<F> {
    #[inline(always)]
    fn on(&mut self, end: u64, index: u32) {
        if end > self.overlap {
            self.inner.on(self.offset + end, index);
        }
    }

    fn tally(&self) -> Tally {
        self.inner.tally()
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn fnv1a(hash: u64, word: u64) -> u64 {
    word.to_le_bytes().iter().fold(hash, |h, &b| (h ^ u64::from(b)).wrapping_mul(FNV_PRIME))
}
