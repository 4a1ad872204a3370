//! The object-oriented NFA: Aho-Corasick without failure links, whose states copy the transitions
//! of their suffixes.
//!
//! A state has 256 next pointers, which may be null. Besides the edges of the trie it has those of
//! all its suffixes of at least one byte, the longest suffix first; its own edges are never
//! replaced. All of them lead to states of depth two or more. Those of depth one are in the row of
//! the root, so where a pointer is null the byte is looked up there. A byte takes at most two
//! transitions, and unlike those along failure links they do not depend on each other.
//!
//! # Errors in the paper
//! Algorithms 1 to 3 give the right automaton only with these corrections:
//!
//! * Algorithm 2 must keep a pointer that exists. The text says so, but the algorithm overwrites
//!   it: with `abc` and `bc`, the state `ab` would lose its own `c`.
//! * The inner loop of algorithm 1 must visit each card once per byte. As printed it takes a card
//!   again that it has just put back.
//! * Algorithm 3 must also report after it went back to the root, or it misses patterns of one
//!   byte. Rule lists must include those of the suffixes.
//!
//! The corrected construction takes time quadratic in the length of a pattern. This engine fills
//! the rows in breadth-first order instead: the row of the failure state with the state's own
//! edges over it. That is the same automaton (a unit test builds both) in one pass. It equals the
//! table of `ac-dfa` without the transitions to states of depth one, except in the row of the
//! root.
//!
//! Wins time against `ac-array`, which has the same arrays: both look-ups of a byte are made at
//! once, and no branch depends on the text. Loses memory, with 1,024 bytes per state; and `ac-dfa`
//! needs one look-up in as much memory.
//!
//! Source: X. Zha, *Multi-pattern string matching algorithms*, dissertation, 2010, section 3.1.

use crate::build::RowOrder;
use crate::build::lists::{self, RuleLists};
use crate::cost::{CostCounter, Downcast, downcast};
use fyke_automata::Trie;
use fyke_automata::trie::ROOT;
use fyke_automata::walk::{Automaton, Step, Walker};
use fyke_core::{
    Device, Engine, Family, Footprint, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use std::hint::select_unpredictable;
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcOo = AcOo;

static INFO: Info = Info {
    name: "ac-oo",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "object-oriented NFA: transitions of suffixes are copied, at most two look-ups per byte",
    source: "Zha 2010, 3.1",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = downcast::<Walker<Graph>>;

/// The engine.
#[derive(Debug)]
pub struct AcOo;

/// Next pointers of a state.
const COLUMNS: usize = 256;

/// Bytes of a state: 256 pointers of four bytes.
pub const STATE_BYTES: u64 = 4 * COLUMNS as u64;

/// A state is the index of its row's first pointer, in 32 bits.
const MOST_STATES: u64 = 1 << 24;

/// The null pointer. No transition leads to the root's row, which is 0.
const NULL: u32 = 0;

impl AcOo {
    /// Bytes of memory it takes to build the automaton of a set, computed without building it.
    pub fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        let list_heads = 2 * 4;
        states * (STATE_BYTES + RowOrder::BYTES_PER_STATE + list_heads)
            + Trie::memory_for(states, set)
            + RuleLists::memory_for(set.len())
    }
}

impl Engine for AcOo {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        opt.check_memory(Self::memory_for(set))?;
        let (need, have) = (Trie::count_states(set), MOST_STATES);
        if need > have {
            return Err(Refusal::TooBig { what: "states", need, have });
        }
        Ok(Walker::matcher(set, Graph::new(&Trie::new(set)?)?))
    }
}

/// The automaton. A state is the index of its first next pointer.
struct Graph {
    next: Vec<u32>,
    /// States from here on report.
    first_reporting: u32,
    /// The rule list of each reporting state.
    heads: Vec<u32>,
    lists: Vec<u8>,
    /// Number of next pointers that are edges of the trie.
    own: u64,
}

impl Graph {
    fn new(trie: &Trie) -> Result<Graph, Refusal> {
        let lists = RuleLists::new(trie)?;
        let order = RowOrder::new(trie);
        let mut graph = Graph {
            next: vec![NULL; COLUMNS * trie.len()],
            first_reporting: order.first_reporting * COLUMNS as u32,
            heads: order.of_reporting(&lists.heads),
            lists: lists.bytes,
            own: 0,
        };
        (0..trie.len() as u32).for_each(|state| graph.fill(trie, &order, state));
        Ok(graph)
    }

    /// Copies the row of the longest suffix, which is complete because its number is smaller, and
    /// writes the edges of the state over it.
    fn fill(&mut self, trie: &Trie, order: &RowOrder, state: u32) {
        let row = |state: u32| COLUMNS * order.row[state as usize] as usize;
        let suffix = trie.fail(state);
        if suffix != ROOT {
            self.next.copy_within(row(suffix)..row(suffix) + COLUMNS, row(state));
        }
        for child in trie.children(state) {
            for byte in trie.fold().spellings(trie.label(child)) {
                self.next[row(state) + usize::from(byte)] = row(child) as u32;
                self.own += 1;
            }
        }
    }

    fn transitions(&self) -> u64 {
        self.next.iter().filter(|&&next| next != NULL).count() as u64
    }
}

impl Automaton for Graph {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn root(&self) -> u64 {
        0
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        state >= u64::from(self.first_reporting)
    }

    fn outputs(&self, state: u64, each: impl FnMut(u32)) {
        let row = (state - u64::from(self.first_reporting)) as usize / COLUMNS;
        lists::each_of(&self.lists, self.heads[row], each);
    }

    fn footprint(&self) -> Footprint {
        let words = self.next.len() + self.heads.len();
        Footprint { host: (4 * words + self.lists.len()) as u64, device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let transitions = self.transitions();
        [
            ("states", (self.next.len() / COLUMNS) as u64),
            ("transitions", transitions),
            ("copied transitions", transitions - self.own),
            ("node bytes", 4 * self.next.len() as u64),
            ("rule list bytes", self.lists.len() as u64),
        ]
        .map(|(name, count)| (name.to_owned(), count))
        .into()
    }

    fn describe(&self) -> String {
        let (states, copied) = (self.next.len() / COLUMNS, self.transitions() - self.own);
        format!("{states} states, {copied} copied transitions, {} bytes", self.footprint().host)
    }
}

impl<C: CostCounter> Step<C> for Graph {
    /// Algorithm 3 of the source without its branch. The pointer of the root is always loaded,
    /// which is free because the walk waits for the pointer of the state.
    #[inline(always)]
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let column = usize::from(byte);
        let (next, from_root) = (self.next[state as usize + column], self.next[column]);
        counter.transitions(1 + u64::from(next == NULL && state != 0));
        u64::from(select_unpredictable(next == NULL, from_root, next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::CostOf;
    use fyke_core::{Block, Collect, Scratch, oracle};

    /// The set of the source's figures, in its order: states 0 to 9 are the root, h, he, her,
    /// hers, hi, his, s, sh and she.
    const FIGURES: [&str; 3] = ["hers", "his", "she"];

    /// The pointer to no state.
    const NO: usize = 0;

    /// Algorithm 1 of the source, corrected as the module says. It numbers states pattern by
    /// pattern.
    struct Cards {
        next: Vec<[usize; COLUMNS]>,
    }

    impl Cards {
        fn trie(patterns: &[impl AsRef<[u8]>]) -> Cards {
            let mut cards = Cards { next: vec![[NO; COLUMNS]] };
            for pattern in patterns {
                pattern.as_ref().iter().fold(0, |state, &byte| cards.child(state, byte));
            }
            cards
        }

        fn child(&mut self, state: usize, byte: u8) -> usize {
            if self.next[state][usize::from(byte)] == NO {
                self.next[state][usize::from(byte)] = self.next.len();
                self.next.push([NO; COLUMNS]);
            }
            self.next[state][usize::from(byte)]
        }

        fn walk(&self, word: &str) -> usize {
            word.bytes().fold(0, |state, byte| self.next[state][usize::from(byte)])
        }

        fn complete(mut self, patterns: &[impl AsRef<[u8]>]) -> Cards {
            for pattern in patterns.iter().map(AsRef::as_ref) {
                let mut state = self.next[0][usize::from(pattern[0])];
                let mut cards = Vec::new();
                for &byte in &pattern[1..] {
                    let column = usize::from(byte);
                    state = self.next[state][column];
                    cards.push(0);
                    cards.iter_mut().for_each(|card| *card = self.next[*card][column]);
                    cards.retain(|&card| card != NO);
                    cards.iter().for_each(|&card| self.add_edges(state, card));
                }
            }
            self
        }

        fn add_edges(&mut self, state: usize, card: usize) {
            let from = self.next[card];
            for (to, from) in self.next[state].iter_mut().zip(from).filter(|(to, _)| **to == NO) {
                *to = from;
            }
        }

        fn edges(&self) -> Vec<(usize, u8, usize)> {
            let of = |(state, row): (usize, &[usize; COLUMNS])| {
                let some = row.iter().enumerate().filter(|(_, to)| **to != NO);
                some.map(|(byte, &to)| (state, byte as u8, to)).collect::<Vec<_>>()
            };
            self.next.iter().enumerate().flat_map(of).collect()
        }
    }

    fn graph(patterns: &[impl AsRef<[u8]>]) -> Graph {
        Graph::new(&Trie::new(&PatternSet::new(patterns).unwrap()).unwrap()).unwrap()
    }

    /// Walks both automata along the edges of the trie and compares their pointers.
    fn same(graph: &Graph, state: u32, trie: &Cards, cards: &Cards, card: usize) -> bool {
        let next = |byte: u8| graph.next[state as usize + usize::from(byte)];
        (0..=255).all(|byte| {
            let (to, of_trie) =
                (cards.next[card][usize::from(byte)], trie.next[card][usize::from(byte)]);
            (to == NO) == (next(byte) == NULL)
                && (of_trie == NO || same(graph, next(byte), trie, cards, of_trie))
        })
    }

    fn stats(patterns: &[&str]) -> Vec<u64> {
        let set = PatternSet::new(patterns).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        m.stats().into_iter().map(|(_, count)| count).collect()
    }

    /// Zha 2010, fig. 3-5: the four transitions that state cards add.
    #[test]
    fn four_transitions_are_copied_into_the_figures() {
        let before = Cards::trie(&FIGURES).edges();
        let after = Cards::trie(&FIGURES).complete(&FIGURES).edges();
        let copied: Vec<_> = after.into_iter().filter(|edge| !before.contains(edge)).collect();
        assert_eq!(copied, [(4, b'h', 8), (6, b'h', 8), (8, b'i', 5), (9, b'r', 3)]);
        assert_eq!(stats(&FIGURES)[..4], [10, 13, 4, 10 * 1024]);
    }

    /// Zha 2010, fig. 3-7: the graph, completed by the row of the root, is the DFA.
    #[test]
    fn steps_are_those_of_the_dfa() {
        let set = PatternSet::new(FIGURES).unwrap();
        let trie = Trie::new(&set).unwrap();
        let graph = Graph::new(&trie).unwrap();
        let order = RowOrder::new(&trie);
        let row = |state: u32| u64::from(order.row[state as usize]) * COLUMNS as u64;
        for state in 0..trie.len() as u32 {
            for byte in 0..=255 {
                let mut cost = crate::cost::Cost::default();
                let to = graph.step(row(state), byte, &mut cost);
                assert_eq!(to, row(trie.next(state, byte)), "{state} {byte}");
                assert!(cost.transitions <= 2 && (state != ROOT || cost.transitions == 1));
            }
        }
    }

    /// Algorithm 2 of the source as printed overwrites a pointer that exists.
    #[test]
    fn the_construction_as_printed_loses_a_pattern() {
        let patterns = ["abc", "bc"];
        let mut printed = Cards::trie(&patterns);
        let [ab, b] = ["ab", "b"].map(|word| printed.walk(word));
        let (abc, bc) = (printed.walk("abc"), printed.walk("bc"));
        let from = printed.next[b];
        for (to, from) in printed.next[ab].iter_mut().zip(from).filter(|(_, from)| *from != NO) {
            *to = from;
        }
        assert_eq!(printed.walk("abc"), bc);
        let corrected = Cards::trie(&patterns).complete(&patterns);
        assert_eq!(corrected.walk("abc"), abc);
    }

    /// Both constructions, over all ordered choices of three of these words.
    #[test]
    fn the_corrected_construction_of_the_source_gives_the_same_graph() {
        let words = ["a", "ab", "aab", "bab", "abab", "bbaa", "aaaa", "babba"];
        for n in 0..words.len().pow(3) {
            let some = [n % 8, n / 8 % 8, n / 64].map(|i| words[i]);
            let (trie, cards) = (Cards::trie(&some), Cards::trie(&some).complete(&some));
            assert!(same(&graph(&some), 0, &trie, &cards, 0), "{some:?}");
            assert_eq!(graph(&some).transitions(), cards.edges().len() as u64, "{some:?}");
        }
    }

    /// Tran et al. 2012, fig. 1, and a pattern of one byte, which algorithm 3 as printed misses.
    #[test]
    fn ushers() {
        let set = PatternSet::new(["he", "she", "his", "hers", "u"]).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        let mut got = Collect::default();
        assert!(m.scan(Block::whole(b"ushers"), &mut Scratch::new(), &mut got).is_continue());
        assert_eq!(got.matches, oracle::find_all(&set, b"ushers"));
    }

    #[test]
    fn at_most_two_transitions_a_byte() {
        let set = PatternSet::new(["aaaab", "ab", "ca"]).unwrap();
        let m = ENGINE.compile(&set, &Options::default()).unwrap();
        let transitions = |haystack: &[u8]| m.cost(Block::whole(haystack)).unwrap().transitions;
        assert_eq!((transitions(b"xxxx"), transitions(b"caab")), (4, 4));
        assert_eq!(transitions(&b"caxabx".repeat(10)), 80);
    }

    #[test]
    fn the_memory_limit_is_checked_before_building() {
        let set = PatternSet::new(["abcdefgh"]).unwrap();
        let need = AcOo::memory_for(&set);
        let compile = |limit| ENGINE.compile(&set, &Options::default().limited_to(limit));
        assert!(matches!(compile(need - 1), Err(Refusal::TooBig { need: n, .. }) if n == need));
        assert!(compile(need).unwrap().footprint().host <= need);
    }
}
