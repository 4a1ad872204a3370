//! Memory accesses as Zha (2010), section 2.4.3, counts them: memory is read in blocks of W bits, a node
//! begins with a block, and a block is read once for each visit to the node.
//!
//! The counts follow from the places of the fields, so they are those of the layouts that the engines
//! have. The paper deals fields out to blocks anew for each W and leaves bits unused; its nodes, which
//! have no bytes to spare, cannot be laid out like that, so some counts differ by one.

use crate::cost::{ACCESS_WIDTHS, Accesses};
use std::ops::Range;

/// How many blocks of `width` bits some fields of a node lie in. The fields are bytes of the node, in
/// order of their places.
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

/// The least and the greatest of what an outcome takes, for each width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The least.
    pub min: Accesses,
    /// The greatest.
    pub max: Accesses,
}

impl Span {
    /// Over all cases of an outcome.
    pub fn over(cases: impl IntoIterator<Item = Accesses>) -> Span {
        let mut cases = cases.into_iter();
        let first = cases.next().unwrap_or_default();
        cases.fold(Span { min: first, max: first }, |span, case| Span {
            min: std::array::from_fn(|w| span.min[w].min(case[w])),
            max: std::array::from_fn(|w| span.max[w].max(case[w])),
        })
    }
}

/// The rows of tables 2-3 and 2-4 for a kind of node, under the names that a stats gives them.
pub fn rows(node: &str, match_: Span, mismatch: Span) -> Vec<(String, u64)> {
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
