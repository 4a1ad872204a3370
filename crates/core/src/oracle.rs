//! The oracle: compares every pattern at every position. Every engine must give the same result.
//!
//! It is so short that a reader can check it. Its time is proportional to patterns times bytes.

use crate::block::Block;
use crate::matches::StreamMatch;
use crate::pattern::PatternSet;

/// All occurrences of all patterns, in canonical order.
///
/// ```
/// use fyke_core::{PatternSet, oracle};
/// let set = PatternSet::new(["he", "she", "his", "hers"])?;
/// let found = oracle::find_all(&set, b"ushers");
/// let found: Vec<_> = found.iter().map(|m| (m.start, m.end)).collect();
/// assert_eq!(found, [(1, 4), (2, 4), (2, 6)]);
/// # Ok::<(), fyke_core::PatternError>(())
/// ```
pub fn find_all(set: &PatternSet, haystack: &[u8]) -> Vec<StreamMatch> {
    find_owned(set, Block::whole(haystack))
}

/// All matches that a block owns, in canonical order.
pub fn find_owned(set: &PatternSet, block: Block<'_>) -> Vec<StreamMatch> {
    let mut found = Vec::new();
    for end in block.overlap + 1..=block.bytes.len() {
        let first = found.len();
        for p in set.iter().filter(|p| p.bytes.len() <= end) {
            let start = end - p.bytes.len();
            if p.is_match(&block.bytes[start..end]) {
                let (start, end) = (block.offset + start as u64, block.offset + end as u64);
                found.extend(p.ids.iter().map(|&pattern| StreamMatch { end, start, pattern }));
            }
        }
        found[first..].sort_unstable();
    }
    found
}
