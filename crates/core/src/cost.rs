//! What a scan does, counted: steps and memory accesses instead of seconds.

/// Widths of memory, in bits, that accesses are counted for: Zha 2010, tables 2-3 and 2-4.
pub const ACCESS_WIDTHS: [u32; 4] = [32, 64, 128, 1024];

/// What one scan did. Counts of different matchers compare on any machine, times do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Moves of an automaton from a state to a state, failure transitions included.
    pub transitions: u64,
    /// Bytes of the haystack, or blocks of them, that were compared with bytes of a pattern.
    pub comparisons: u64,
    /// Additions to find the rank of a bit in a bitmap.
    pub popcount_additions: u64,
    /// Memory accesses of a model in which every access brings so many bits, by [`ACCESS_WIDTHS`].
    pub accesses: [u64; ACCESS_WIDTHS.len()],
}
