//! Counts what a scan does: steps and memory accesses instead of seconds.
//!
//! A hot loop is generic over a [`Counter`]. With [`Uncounted`] every call is empty and compiles away,
//! so the loop that is counted is the loop that scans.

/// Widths of memory, in bits, that accesses are counted for: Zha 2010, tables 2-3 and 2-4.
pub const ACCESS_WIDTHS: [u32; 4] = [32, 64, 128, 1024];

/// Receives what a scan does.
pub trait Counter {
    /// An automaton moved `count` times from a state to a state.
    #[inline(always)]
    fn transitions(&mut self, _count: u64) {}

    /// `count` bytes of the haystack, or blocks of them, were compared with bytes of a pattern.
    #[inline(always)]
    fn comparisons(&mut self, _count: u64) {}

    /// `count` additions were made to find the rank of a bit in a bitmap.
    #[inline(always)]
    fn popcount_additions(&mut self, _count: u64) {}

    /// Memory was accessed: how often, for each of [`ACCESS_WIDTHS`]. `count` is called only by
    /// counters that want it.
    #[inline(always)]
    fn accesses(&mut self, _count: impl FnOnce() -> [u64; ACCESS_WIDTHS.len()]) {}
}

/// Counts nothing and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncounted;

impl Counter for Uncounted {}
