//! Looks ahead from a state: how far the next pattern is, and whether the way to it has branches.
//!
//! A long pattern is a long chain of states with one child each. In a repetitive text the walk
//! from every position may go down most of the chain. The states of the chain hold the same
//! information as the bytes of the pattern, so the bytes are compared as a string instead: the
//! same steps without a look-up for each.

use crate::cost::CostCounter;
use fyke_automata::{CaseFold, Trie};
use fyke_core::PatternSet;

/// The rest of a state below which no pattern ends: more than any pattern has after its first
/// byte.
pub(super) const NO_REST: u16 = u16::MAX;

/// Fewest states of a chain; shorter ones are walked. Two vectors of 16 bytes. 16 and 64 are as
/// fast with patterns of up to some 200 bytes (`rules/et-min4`, `hostile/et-min4`).
const LONG: u16 = 32;

/// Bytes of a chain.
const CHAIN_BYTES: u64 = 12;

/// For each state, the number of bytes to the nearest pattern that ends below it, or [`NO_REST`].
pub(super) fn rests(trie: &Trie) -> Vec<u16> {
    let mut rests = vec![NO_REST; trie.len()];
    for state in (0..trie.len() as u32).rev() {
        let through =
            |child| 1 + if trie.own(child).is_empty() { rests[child as usize] } else { 0 };
        rests[state as usize] = trie.children(state).map(through).min().unwrap_or(NO_REST);
    }
    rests
}

/// A path without branches, from a state to the last state before a pattern ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Chain {
    from: u32,
    to: u32,
    /// A pattern that contains the path.
    pattern: u32,
}

/// The long chains of a trie, by the state they begin in.
pub(super) struct Chains {
    fold: CaseFold,
    chains: Vec<Chain>,
}

impl Chains {
    /// Upper bound of the bytes that the chains of a trie take: no state is in two chains.
    pub(super) fn memory_for(states: u64) -> u64 {
        CHAIN_BYTES * (states / u64::from(LONG))
    }

    /// The chains that begin where a walk looks ahead. States are numbered as in the trie, times
    /// `scale`.
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

    /// Continues from a state that the first `read` bytes lead to, `rest` bytes before the next
    /// pattern ends. Jumps to the end of a chain if one begins there. `None` if no pattern can
    /// match any more.
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
        self.pass_chain(set, (state, read), rest, bytes, counter)
    }

    fn pass_chain<C: CostCounter>(
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
        // Dead code without a counter.
        counter.transitions(1 + is.iter().zip(should).take_while(agree).count() as u64);
        None
    }

    fn equal(&self, a: &[u8], b: &[u8]) -> bool {
        if self.fold == CaseFold::Exact { a == b } else { a.eq_ignore_ascii_case(b) }
    }
}

/// The last state before a pattern ends, and the pattern, if no branch comes before it.
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
    fn rests_are_distances_to_the_next_pattern() {
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
        assert_eq!(chains(&[&whole[1..]]), []); // one state too few
        assert_eq!(chains(&[&whole, "abc"]), []); // a branch
        let below = format!("xya{long}");
        assert_eq!(chains(&[&below, "xya"])[0].from, 3); // below a pattern
        let trie = trie(&[&whole, &below, "xya"]);
        let chains = Chains::new(&trie, 1);
        assert_eq!(chains.chains.len(), 2);
        assert!(chains.memory() <= Chains::memory_for(trie.len() as u64));
    }
}
