//! Sinks for the matches of a rival.
//!
//! Each kind of [`Work`] is a type, and each rival's loop is compiled once per type. No rival pays
//! a virtual call per match that its own users would not pay.

use fyke_core::Block;

use crate::rival::{Refusal, Scanner, Tally, Work};

/// Takes matches one by one.
pub trait MatchSink: Default {
    /// Takes the match of pattern `index` that ends before byte `end`.
    fn on(&mut self, end: u64, index: u32);

    /// The result.
    fn tally(&self) -> Tally;
}

/// A loop over all matches of a haystack: what a rival implements.
pub trait FindAll {
    /// Gives every match to `sink`.
    ///
    /// # Errors
    /// The scan failed.
    fn find_all<S: MatchSink>(&mut self, haystack: &[u8], sink: &mut S) -> Result<(), Refusal>;
}

impl<F: FindAll> Scanner for F {
    fn scan(&mut self, block: Block<'_>, work: Work) -> Result<Tally, Refusal> {
        match work {
            Work::Count => run::<F, Count>(self, block),
            Work::Touch => run::<F, Touch>(self, block),
            Work::Fingerprint => run::<F, Fingerprint>(self, block),
        }
    }
}

fn run<F: FindAll, S: MatchSink>(rival: &mut F, block: Block<'_>) -> Result<Tally, Refusal> {
    if block.overlap == 0 && block.offset == 0 {
        let mut sink = S::default();
        rival.find_all(block.bytes, &mut sink)?;
        return Ok(sink.tally());
    }
    let overlap = block.overlap as u64;
    let mut sink = Owned::<S> { overlap, offset: block.offset, inner: S::default() };
    rival.find_all(block.bytes, &mut sink)?;
    Ok(sink.tally())
}

#[derive(Default)]
struct Count(u64);

impl MatchSink for Count {
    #[inline(always)]
    fn on(&mut self, _end: u64, _index: u32) {
        self.0 += 1;
    }

    fn tally(&self) -> Tally {
        Tally { count: self.0, ..Tally::default() }
    }
}

#[derive(Default)]
struct Touch(Tally);

impl MatchSink for Touch {
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

impl MatchSink for Fingerprint {
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

/// Drops the matches that an earlier block owns, and counts ends from the start of the haystack.
#[derive(Default)]
struct Owned<S> {
    overlap: u64,
    offset: u64,
    inner: S,
}

impl<S: MatchSink> MatchSink for Owned<S> {
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
