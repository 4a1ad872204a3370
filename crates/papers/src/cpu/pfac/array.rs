//! The trie as an array: a row for each state with an entry for each byte class.

use super::TrieLayout;
use super::ahead::{Chains, rests};
use fyke_automata::{ByteClasses, CaseFold, Trie, trie};
use fyke_core::{PatternSet, Refusal};

/// The entry for no child. No entry leads to the row of the root, which is the first.
const NONE: u32 = 0;

/// Rows of children. A state is the index of its row's first entry. The last column holds the
/// number of a list of patterns, or 0 for none; the column before it holds the rest of the state.
pub(super) struct ArrayLayout {
    rows: Vec<u32>,
    columns: usize,
    classes: ByteClasses,
    /// List i holds `patterns[starts[i - 1]..starts[i]]`.
    starts: Vec<u32>,
    patterns: Vec<u32>,
    stats: Vec<(String, u64)>,
}

/// Bytes of the map of byte classes.
const BYTE_CLASS_BYTES: u64 = 256;

impl ArrayLayout {
    /// Bytes of memory it takes to compile a set, including the trie, which is dropped at the end.
    pub(super) fn memory_for(set: &PatternSet) -> u64 {
        let states = Trie::count_states(set);
        let lists = 4 * (2 * set.len() as u64 + 1);
        let rows = 4 * states * columns(&used_classes(set)) as u64;
        Trie::memory_for(states, set)
            + 2 * states
            + Chains::memory_for(states)
            + rows
            + lists
            + BYTE_CLASS_BYTES
    }

    pub(super) fn new(trie: &Trie) -> Result<ArrayLayout, Refusal> {
        let classes = classes_of(&trie.used_bytes(), trie.fold());
        let columns = columns(&classes);
        let (need, have) = (trie.len() as u64 * columns as u64, u64::from(u32::MAX));
        if need > have {
            return Err(Refusal::TooBig { what: "entries of the array", need, have });
        }
        let mut array = ArrayLayout {
            rows: vec![NONE; need as usize],
            columns,
            classes,
            starts: vec![0],
            patterns: Vec::with_capacity(trie.pattern_count()),
            stats: trie.stats(),
        };
        for (state, rest) in (0..).zip(rests(trie)) {
            array.fill(trie, state, rest);
        }
        array.stats.push(("node bytes".to_owned(), 4 * need));
        Ok(array)
    }

    /// Fills in the row of a state.
    fn fill(&mut self, trie: &Trie, state: u32, rest: u16) {
        let row = state as usize * self.columns;
        for child in trie.children(state) {
            let class = self.classes.get(trie.label(child));
            self.rows[row + usize::from(class)] = child * self.columns as u32;
        }
        self.rows[row + self.columns - 2] = u32::from(rest);
        let own = trie.own(state);
        if !own.is_empty() {
            self.rows[row + self.columns - 1] = self.starts.len() as u32;
            self.patterns.extend_from_slice(own);
            self.starts.push(self.patterns.len() as u32);
        }
    }
}

fn classes_of(used: &[bool; 256], fold: CaseFold) -> ByteClasses {
    let classes = ByteClasses::new(used);
    if fold == CaseFold::Lower { classes.fold_case() } else { classes }
}

fn used_classes(set: &PatternSet) -> ByteClasses {
    let fold = CaseFold::of(set);
    let mut used = [false; 256];
    set.iter().flat_map(|p| p.bytes).for_each(|&b| used[usize::from(fold.byte(b))] = true);
    classes_of(&used, fold)
}

/// The number of columns: one per class, and two more.
fn columns(classes: &ByteClasses) -> usize {
    classes.len() + 2
}

impl TrieLayout for ArrayLayout {
    fn scale(&self) -> u32 {
        self.columns as u32
    }

    fn root(&self) -> u32 {
        trie::ROOT
    }

    #[inline(always)]
    fn child(&self, state: u32, byte: u8) -> Option<u32> {
        let child = self.rows[state as usize + usize::from(self.classes.get(byte))];
        (child != NONE).then_some(child)
    }

    #[inline(always)]
    fn own(&self, state: u32) -> &[u32] {
        match self.rows[state as usize + self.columns - 1] as usize {
            0 => &[],
            list => &self.patterns[self.starts[list - 1] as usize..self.starts[list] as usize],
        }
    }

    #[inline(always)]
    fn rest(&self, state: u32) -> u16 {
        self.rows[state as usize + self.columns - 2] as u16
    }

    fn memory(&self) -> u64 {
        let words = self.rows.len() + self.starts.len() + self.patterns.len();
        4 * words as u64 + BYTE_CLASS_BYTES
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.stats.clone()
    }
}
