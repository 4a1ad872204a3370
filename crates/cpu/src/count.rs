//! Counting what a scan does, by the code that does it.
//!
//! A hot loop is generic over a [`Counter`]. With [`Uncounted`] every call is empty and compiles away; with
//! a [`Cost`] the same loop counts.

use fyke_core::Cost;
use fyke_core::cost::ACCESS_WIDTHS;

/// Takes note of what a scan does.
pub trait Counter {
    /// An automaton made so many moves.
    #[inline(always)]
    fn transitions(&mut self, _count: u64) {}

    /// So many bytes, or blocks of bytes, were compared.
    #[inline(always)]
    fn comparisons(&mut self, _count: u64) {}

    /// So many additions were made to find the rank of a bit.
    #[inline(always)]
    fn popcount_additions(&mut self, _count: u64) {}

    /// So many memory accesses were made, for each of [`ACCESS_WIDTHS`]. The function is called only if
    /// somebody counts.
    #[inline(always)]
    fn accesses(&mut self, _count: impl FnOnce() -> [u64; ACCESS_WIDTHS.len()]) {}
}

/// Counts nothing and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncounted;

impl Counter for Uncounted {}

impl Counter for Cost {
    fn transitions(&mut self, count: u64) {
        self.transitions += count;
    }

    fn comparisons(&mut self, count: u64) {
        self.comparisons += count;
    }

    fn popcount_additions(&mut self, count: u64) {
        self.popcount_additions += count;
    }

    fn accesses(&mut self, count: impl FnOnce() -> [u64; ACCESS_WIDTHS.len()]) {
        for (sum, more) in self.accesses.iter_mut().zip(count()) {
            *sum += more;
        }
    }
}
