//! What lies ahead of a state: how far it is to the next pattern, and whether the way there is bare.
//!
//! A long pattern is a long chain of states with one child each. From every position of a text that repeats
//! itself a walk may go down most of it. The states of the chain say no more than the bytes of the pattern do, so
//! these are compared as a string: the same steps, without a look-up for each.

use crate::cost::CostCounter;
use fyke_automata::{CaseFold, Trie};
use fyke_core::PatternSet;

/// For a state below which no pattern ends: more than what may be left after the first byte of a walk.
pub(super) const NO_REST: u16 = u16::MAX;

/// States that a chain has at least; a shorter one is walked. Two vectors of bytes on common machines: below
/// that, looking up the chain costs what comparing saves. It is not measured, and matters for long patterns only.
const LONG: u16 = 32;

/// Bytes of a chain.
const CHAIN_BYTES: u64 = 12;

/// For each state, how many bytes more the shortest pattern takes that ends below it, or [`NO_REST`].
pub(super) fn rests(trie: &Trie) -> Vec<u16> {
    let mut rests = vec![NO_REST; trie.len()];
    for state in (0..trie.len() as u32).rev() {
        let through =
            |child| 1 + if trie.own(child).is_empty() { rests[child as usize] } else { 0 };
        rests[state as usize] = trie.children(state).map(through).min().unwrap_or(NO_REST);
    }
    rests
}

/// A way from a state down to the last state before a pattern ends, without a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chain {
    from: u32,
    to: u32,
    /// A pattern that goes that way.
    pattern: u32,
}

/// The long chains of a trie, by the state they begin in.
pub(super) struct Chains {
    fold: CaseFold,
    chains: Vec<Chain>,
}

impl Chains {
    /// Bytes of memory that the chains of so many states take, at most: no state is in two of them.
    pub(super) fn memory_for(states: u64) -> u64 {
        CHAIN_BYTES * (states / u64::from(LONG))
    }

    /// The chains that begin where a walk looks ahead. A state is known by its number times `scale`.
    pub(super) fn new(trie: &Trie, scale: u32) -> Chains {
        let rests = rests(trie);
        let first = trie.children(0);
        let looks_ahead = |s: &u32| first.contains(s) || !trie.own(*s).is_empty();
        let is_long = |s: &u32| (LONG + 1..NO_REST).contains(&rests[*s as usize]);
        let chain = |from: u32| {
            let (to, pattern) = follow(trie, from)?;
            Some(Chain { from: from * scale, to: to * scale, pattern })
        };
        let from = (1..trie.len() as u32).filter(looks_ahead).filter(is_long);
        let mut chains: Vec<Chain> = from.filter_map(chain).collect();
        chains.shrink_to_fit();
        Chains { fold: trie.fold(), chains }
    }

    pub(super) fn memory(&self) -> u64 {
        CHAIN_BYTES * self.chains.len() as u64
    }

    /// Goes on from a state that `read` of the bytes overlap to, `rest` bytes before the next pattern ends: to the
    /// end of the chain that begins there, if there is one. `None` if no pattern can be found any more.
    #[inline(always)]
    pub(super) fn look_ahead<C: CostCounter>(
        &self,
        set: &PatternSet,
        (state, read): (u32, usize),
        rest: u16,
        bytes: &[u8],
        counter: &mut C,
    ) -> Option<(u32, usize)> {
        if usize::from(rest) > bytes.len() - read {
            return None;
        }
        if rest <= LONG {
            return Some((state, read));
        }
        self.run_down(set, (state, read), rest, bytes, counter)
    }

    fn run_down<C: CostCounter>(
        &self,
        set: &PatternSet,
        (state, read): (u32, usize),
        rest: u16,
        bytes: &[u8],
        counter: &mut C,
    ) -> Option<(u32, usize)> {
        let Ok(at) = self.chains.binary_search_by_key(&state, |chain| chain.from) else {
            return Some((state, read));
        };
        let Chain { to, pattern, .. } = self.chains[at];
        let end = read + usize::from(rest) - 1;
        let (is, should) = (&bytes[read..end], &set.bytes(pattern)[read..end]);
        if self.equal(is, should) {
            counter.transitions(is.len() as u64);
            return Some((to, end));
        }
        let agree = |(a, b): &(&u8, &u8)| self.fold.byte(**a) == self.fold.byte(**b);
        // Dead code where nobody counts.
        counter.transitions(1 + is.iter().zip(should).take_while(agree).count() as u64);
        None
    }

    fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        if self.fold == CaseFold::Exact { a == b } else { a.eq_ignore_ascii_case(b) }
    }
}

/// The last state before a pattern ends, and the pattern, if there is no branch before it.
fn follow(trie: &Trie, mut state: u32) -> Option<(u32, u32)> {
    loop {
        let children = trie.children(state);
        if children.len() != 1 {
            return None;
        }
        if let Some(&pattern) = trie.own(children.start).first() {
            return Some((state, pattern));
        }
        state = children.start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trie(patterns: &[&str]) -> Trie {
        Trie::new(&PatternSet::new(patterns).unwrap()).unwrap()
    }

    #[test]
    fn a_state_knows_how_far_the_next_pattern_is() {
        // The root, a, ab, ax, abc, axy, abcd, axyz.
        let rests = rests(&trie(&["ab", "abcd", "axyz"]));
        assert_eq!(rests, [2, 1, 2, 2, 1, 1, NO_REST, NO_REST]);
    }

    #[test]
    fn chains_begin_where_walks_look_ahead_and_have_no_branch() {
        let long = "b".repeat(usize::from(LONG) + 1);
        let chains = |patterns: &[&str]| Chains::new(&trie(patterns), 1).chains;
        let whole = format!("a{long}");
        assert_eq!(chains(&[&whole]), [Chain { from: 1, to: u32::from(LONG) + 1, pattern: 0 }]);
        assert_eq!(chains(&[&whole[1..]]), []); // a state too short
        assert_eq!(chains(&[&whole, "abc"]), []); // a branch
        let below = format!("xya{long}");
        assert_eq!(chains(&[&below, "xya"])[0].from, 3); // below a pattern
        let trie = trie(&[&whole, &below, "xya"]);
        let chains = Chains::new(&trie, 1);
        assert_eq!(chains.chains.len(), 2);
        assert!(chains.memory() <= Chains::memory_for(trie.len() as u64));
    }
}
