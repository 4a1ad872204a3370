//! Several compiled sets, one of which each call scans with: what intrusion detection does.

use fyke_core::Block;

use crate::rival::{Built, Job, Memory, Refusal, Rival, Scanner, Tally, Work};

/// A haystack, and the set that it is scanned with.
#[derive(Clone, Copy, Debug)]
pub struct SetCall<'a> {
    /// The position of the set among those that were compiled.
    pub set: usize,
    /// The haystack.
    pub haystack: &'a [u8],
}

/// Compiled sets.
pub trait BuiltSets {
    /// Makes a scanner for one thread, with one scratch for all sets if the library lets them share.
    ///
    /// # Errors
    /// The rival cannot allocate it.
    fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal>;

    /// Memory of all sets, and of one scratch if the library reports that.
    fn memory(&self) -> Option<Memory>;

    /// The engines that a planner chose, over all sets.
    fn taken(&self) -> Option<String> {
        None
    }
}

/// Scans with several sets on one thread.
pub trait SetsScanner {
    /// Finds every match of each call, and does `work` with it.
    ///
    /// # Errors
    /// A scan failed.
    fn scan_calls(&mut self, calls: &[SetCall<'_>], work: Work) -> Result<Tally, Refusal>;
}

/// Sets that were compiled one by one and share nothing.
pub(crate) struct SeparateSets(Vec<Box<dyn Built>>);

impl SeparateSets {
    pub(crate) fn build<R: Rival + ?Sized>(rival: &R, jobs: &[Job<'_>]) -> Result<Self, Refusal> {
        jobs.iter().map(|job| rival.build(job)).collect::<Result<_, _>>().map(Self)
    }
}

impl BuiltSets for SeparateSets {
    fn scanner(&self) -> Result<Box<dyn SetsScanner + '_>, Refusal> {
        let scanners = self.0.iter().map(|b| b.scanner()).collect::<Result<_, _>>()?;
        Ok(Box::new(Scanners(scanners)))
    }

    fn memory(&self) -> Option<Memory> {
        let each = self.0.iter().map(|b| b.memory()).collect::<Option<Vec<_>>>()?;
        Some(Memory { bytes: each.iter().map(|m| m.bytes).sum(), from: each.first()?.from })
    }
}

struct Scanners<'a>(Vec<Box<dyn Scanner + 'a>>);

impl SetsScanner for Scanners<'_> {
    fn scan_calls(&mut self, calls: &[SetCall<'_>], work: Work) -> Result<Tally, Refusal> {
        let one = |tally: Tally, call: &SetCall<'_>| {
            Ok(tally.plus(self.0[call.set].scan(Block::whole(call.haystack), work)?))
        };
        calls.iter().try_fold(Tally::default(), one)
    }
}
