//! Memory accesses as Zha (2010), section 2.4.3, counts them: memory is read in blocks of W bits,
//! a node begins with a block, and a visit to a node reads each block once.
//!
//! The counts follow from the places of the fields, so they are those of the layouts that the
//! engines have. The paper assigns fields to blocks anew for each W and leaves bits unused. Its
//! nodes have no spare bytes for that, so some counts differ by one.

use crate::cost::{ACCESS_WIDTHS, Accesses};
use std::ops::Range;

/// The number of blocks of `width` bits that some fields of a node lie in. The fields are ranges
/// of bytes, in order of their places.
pub fn blocks(fields: impl IntoIterator<Item = Range<usize>>, width: u32) -> u64 {
    let width = width as usize / 8;
    let (mut count, mut next) = (0, 0);
    for field in fields {
        let end = field.end.div_ceil(width);
        let first = next.max(field.start / width);
        count += end.saturating_sub(first);
        next = next.max(end);
    }
    count as u64
}

/// The smallest and the largest number of accesses, for each width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MinMax {
    /// The smallest.
    pub min: Accesses,
    /// The largest.
    pub max: Accesses,
}

impl MinMax {
    /// The minimum and maximum over some cases.
    pub fn over(cases: impl IntoIterator<Item = Accesses>) -> MinMax {
        let mut cases = cases.into_iter();
        let first = cases.next().unwrap_or_default();
        cases.fold(MinMax { min: first, max: first }, |span, case| MinMax {
            min: std::array::from_fn(|w| span.min[w].min(case[w])),
            max: std::array::from_fn(|w| span.max[w].max(case[w])),
        })
    }
}

/// The rows of tables 2-3 and 2-4 for a kind of node, under their names in
/// [`stats`](fyke_core::Matcher::stats).
pub fn rows(node: &str, match_: MinMax, mismatch: MinMax) -> Vec<(String, u64)> {
    let mut rows = Vec::new();
    for (w, width) in ACCESS_WIDTHS.iter().enumerate() {
        for (outcome, span) in [("match", match_), ("mismatch", mismatch)] {
            for (bound, accesses) in [("min", span.min), ("max", span.max)] {
                let name = format!("accesses W={width} {node} {outcome} {bound}");
                rows.push((name, accesses[w]));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_read_once() {
        let fields = || [0..1, 2..4, 6..9, 30..34];
        assert_eq!(ACCESS_WIDTHS.map(|w| blocks(fields(), w)), [5, 4, 3, 1]);
        assert_eq!(blocks([], 32), 0);
    }
}
