//! The sets and the calls of a replay.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Result, ensure};
use fyke_core::PatternSet;
use fyke_rivals::SetCall;

use super::generate::{self, Random};
use super::patterns::{self, Flagged};
use super::sources::Sources;
use crate::definition::{Cell, Replay};

/// A replay that is ready to be made.
pub struct PreparedReplay {
    /// The sets.
    pub sets: Vec<PatternSet>,
    /// The corpus that calls scan pieces of.
    pub haystack: Arc<Vec<u8>>,
    calls: Vec<Piece>,
}

/// A piece of the haystack, and the set it is scanned with.
struct Piece {
    set: usize,
    at: usize,
    len: usize,
}

impl PreparedReplay {
    /// Makes the sets and the calls of a cell.
    ///
    /// # Errors
    /// A [`Refusal`](fyke_rivals::Refusal) if data is absent; another error if it is not well
    /// formed.
    pub(super) fn make(cell: &Cell, replay: &Replay, sources: &mut Sources) -> Result<Self> {
        let pool = distinct(patterns::list(&cell.patterns, sources)?);
        let seed = cell.patterns.seed;
        let set = |&count: &usize| set(&pool, count, seed);
        let sets = replay.sets.iter().map(set).collect::<Result<_>>()?;
        let haystack = sources.front(cell.haystack.corpus.as_deref().unwrap_or_default(), None)?;
        ensure!(haystack.len() > replay.max.0, "the corpus is shorter than the longest call");
        let calls = pieces(replay, haystack.len(), seed);
        Ok(Self { sets, haystack, calls })
    }

    /// The mean size of a call, in bytes.
    pub fn mean_call(&self) -> u64 {
        let bytes: usize = self.calls.iter().map(|p| p.len).sum();
        (bytes / self.calls.len().max(1)) as u64
    }

    /// The calls, in order.
    pub fn calls(&self) -> Vec<SetCall<'_>> {
        let call = |p: &Piece| SetCall { set: p.set, haystack: &self.haystack[p.at..][..p.len] };
        self.calls.iter().map(call).collect()
    }
}

/// The distinct strings, without the flags of their rules.
fn distinct(patterns: Vec<Flagged>) -> Vec<Vec<u8>> {
    let strings: BTreeSet<Vec<u8>> = patterns.into_iter().map(|(bytes, _)| bytes).collect();
    strings.into_iter().collect()
}

/// Some strings of the pool, of which every second one ignores case.
fn set(pool: &[Vec<u8>], count: usize, seed: u64) -> Result<PatternSet> {
    let chosen = generate::choose((0..pool.len()).collect(), count, seed + count as u64);
    let flagged = |(i, &at): (usize, &usize)| (pool[at].clone(), i % 2 == 0);
    let flagged: Vec<Flagged> = chosen.iter().enumerate().map(flagged).collect();
    patterns::build(&flagged, false)
}

fn pieces(replay: &Replay, bytes: usize, seed: u64) -> Vec<Piece> {
    let mut random = Random::new(seed);
    let one = |_| {
        let len = replay.min.0 + random.below(replay.max.0 - replay.min.0 + 1);
        Piece { set: random.below(replay.sets.len()), at: random.below(bytes - len + 1), len }
    };
    (0..replay.calls).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::size::Size;

    #[test]
    fn half_of_a_set_ignores_case() {
        let pool: Vec<Vec<u8>> = (0..100).map(|i| format!("word{i}").into_bytes()).collect();
        let made = set(&pool, 30, 1).unwrap();
        assert_eq!((made.len(), made.nocase_count()), (30, 15));
        assert_eq!(set(&pool, 2, 1).unwrap().nocase_count(), 1);
        assert_eq!(set(&pool, 200, 1).unwrap().len(), 100, "no more than there are");
        let strings = distinct(vec![(b"a".to_vec(), true), (b"a".to_vec(), false)]);
        assert_eq!(strings, [b"a"]);
    }

    #[test]
    fn calls_are_pieces_of_the_haystack() {
        let (min, max) = (Size(3), Size(9));
        let replay = Replay { sets: vec![1, 2, 3], calls: 500, min, max };
        let made = pieces(&replay, 10, 7);
        assert!(made.iter().all(|p| p.at + p.len <= 10 && (3..=9).contains(&p.len)));
        for set in 0..3 {
            assert!(made.iter().any(|p| p.set == set));
        }
        assert!(made.iter().any(|p| p.len == 3) && made.iter().any(|p| p.len == 9));
        assert!(made.iter().any(|p| p.at + p.len == 10), "the last byte is scanned too");
    }
}
