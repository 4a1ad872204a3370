//! The trie of a pattern set with failure and output links, from which every Aho-Corasick form is
//! built.
//!
//! States are numbered breadth first, and the children of a state in order of their labels. So the
//! children of a state have consecutive numbers, and a failure link always points to a smaller
//! number. One pass over the states in order computes all failure links.
//!
//! The trie is built from the sorted patterns: a state is the range of patterns that share its
//! prefix.
//!
//! A set with a pattern that ignores case is folded as a whole ([`CaseFold::Lower`]). The automaton
//! reads the haystack in lower case. Matches of case-sensitive patterns are then confirmed
//! ([`Trie::must_confirm`]).
//!
//! Source: Aho and Corasick, *Efficient string matching*, CACM 18(6), 1975.

use fyke_core::{PatternSet, Refusal};
use std::ops::Range;

/// The state before any byte was read.
pub const ROOT: u32 = 0;

/// The maximum number of labels that are compared at once, as the bytes of a word.
const AT_ONCE: usize = 8;

/// How the bytes of patterns and haystack are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseFold {
    /// Unchanged.
    Exact,
    /// In ASCII lower case.
    Lower,
}

impl CaseFold {
    /// The folding that a set needs.
    pub fn of(set: &PatternSet) -> CaseFold {
        if set.nocase_count() > 0 { CaseFold::Lower } else { CaseFold::Exact }
    }

    /// A byte as it must be read.
    #[inline(always)]
    pub fn byte(self, byte: u8) -> u8 {
        if self == CaseFold::Lower { byte.to_ascii_lowercase() } else { byte }
    }

    /// The bytes that fold to a byte: itself and, for a letter of a folded set, its upper-case
    /// form.
    pub fn spellings(self, byte: u8) -> impl Iterator<Item = u8> {
        let upper = (self == CaseFold::Lower).then(|| byte.to_ascii_uppercase());
        std::iter::once(byte).chain(upper.filter(|&u| u != byte))
    }
}

/// The end that patterns are read from when they enter a trie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the first byte: the trie of Aho and Corasick.
    Forward,
    /// From the last byte: the reversed trie of Commentz-Walter.
    Backward,
}

/// The place of the first label that equals a byte; `AT_ONCE` if there is none.
#[inline]
fn first_equal(labels: &[u8; AT_ONCE], byte: u8) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let differences = u64::from_le_bytes(*labels) ^ (ONES * u64::from(byte));
    // The lowest high bit that is set belongs to the lowest byte that is 0.
    let zeros = differences.wrapping_sub(ONES) & !differences & (ONES << 7);
    zeros.trailing_zeros() as usize / 8
}

impl Direction {
    /// The byte of a pattern that is read after `depth` others.
    #[inline(always)]
    fn byte(self, pattern: &[u8], depth: usize) -> u8 {
        match self {
            Direction::Forward => pattern[depth],
            Direction::Backward => pattern[pattern.len() - 1 - depth],
        }
    }
}

/// A trie with failure and output links.
#[derive(Debug)]
pub struct Trie {
    fold: CaseFold,
    /// The label of the edge into each state. The root has none, and its entry is not used.
    label: Vec<u8>,
    /// Children of state s: states `first_child[s]..first_child[s + 1]`.
    first_child: Vec<u32>,
    fail: Vec<u32>,
    /// The nearest proper suffix state with patterns of its own, or the root.
    output_link: Vec<u32>,
    /// Patterns that end in state s: `own[first_own[s]..first_own[s + 1]]`, as dense indices.
    first_own: Vec<u32>,
    own: Vec<u32>,
    /// The first state of each depth, and one past the last.
    levels: Vec<u32>,
}

/// Bytes per state of a finished trie: 17 in the lists with an entry for each state, and 8 for
/// `levels` and the last entries of the lists. What is freed after building is not counted.
const BYTES_PER_STATE: u64 = 1 + 4 + 4 + 4 + 4 + 8;

impl Trie {
    /// The number of states of the trie of a set, computed without building it.
    pub fn count_states(set: &PatternSet) -> u64 {
        Self::count_states_of(set, Direction::Forward)
    }

    /// The number of states of the trie of a set read in a direction, computed without building
    /// it.
    pub fn count_states_of(set: &PatternSet, direction: Direction) -> u64 {
        let fold = CaseFold::of(set);
        let mut states = 1;
        let mut previous: &[u8] = &[];
        for &index in &folded_order(set, direction) {
            let bytes = set.bytes(index);
            let byte = |pattern, depth| fold.byte(direction.byte(pattern, depth));
            let same = (0..previous.len().min(bytes.len()))
                .take_while(|&depth| byte(previous, depth) == byte(bytes, depth));
            states += (bytes.len() - same.count()) as u64;
            previous = bytes;
        }
        states
    }

    /// Upper bound of the bytes that a trie of this many states takes, from three states on.
    pub fn memory_for(states: u64, set: &PatternSet) -> u64 {
        states * BYTES_PER_STATE + 4 * set.len() as u64
    }

    /// Builds the trie of a set.
    ///
    /// # Errors
    /// It would have more than 2^32 - 2 states.
    pub fn new(set: &PatternSet) -> Result<Trie, Refusal> {
        Self::read(set, Direction::Forward)
    }

    /// Builds the trie of a set read in a direction.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn read(set: &PatternSet, direction: Direction) -> Result<Trie, Refusal> {
        let (need, have) = (Self::count_states_of(set, direction), u64::from(u32::MAX - 1));
        if need > have {
            return Err(Refusal::TooBig { what: "states", need, have });
        }
        let mut trie = Trie::grow(set, direction, need as usize);
        trie.link_failures();
        trie.link_outputs();
        Ok(trie)
    }

    /// Makes the states from the sorted patterns, level by level.
    fn grow(set: &PatternSet, direction: Direction, states: usize) -> Trie {
        let order = folded_order(set, direction);
        let mut trie = Trie {
            fold: CaseFold::of(set),
            label: Vec::with_capacity(states),
            first_child: Vec::with_capacity(states + 1),
            fail: vec![ROOT; states],
            output_link: vec![ROOT; states],
            first_own: Vec::with_capacity(states + 1),
            own: Vec::with_capacity(set.len()),
            levels: vec![0],
        };
        trie.label.push(0);
        let all_patterns = 0..order.len();
        let mut level: Vec<Range<usize>> = std::iter::once(all_patterns).collect();
        let mut depth = 0;
        while !level.is_empty() {
            let mut next = Vec::new();
            trie.levels.push(trie.label.len() as u32);
            for range in level {
                let range = trie.take_own(set, &order, range, depth);
                let fold = trie.fold;
                let byte = |i: &u32| fold.byte(direction.byte(set.bytes(*i), depth));
                trie.split(&order[range.clone()], range.start, byte, &mut next);
            }
            level = next;
            depth += 1;
        }
        trie.first_child.push(trie.label.len() as u32);
        trie.first_own.push(trie.own.len() as u32);
        trie
    }

    /// Takes the patterns that end in the state, which come first in its range. Returns the rest.
    fn take_own(
        &mut self,
        set: &PatternSet,
        order: &[u32],
        range: Range<usize>,
        depth: usize,
    ) -> Range<usize> {
        self.first_own.push(self.own.len() as u32);
        let ends_here = |i: &u32| set.pattern_len(*i) == depth;
        let ended = order[range.clone()].iter().take_while(|i| ends_here(i)).count();
        let first = self.own.len();
        self.own.extend_from_slice(&order[range.start..range.start + ended]);
        self.own[first..].sort_unstable();
        range.start + ended..range.end
    }

    /// Makes the children of a state. Each is a run of patterns with the same next byte.
    fn split(
        &mut self,
        patterns: &[u32],
        offset: usize,
        byte: impl Fn(&u32) -> u8,
        next: &mut Vec<Range<usize>>,
    ) {
        self.first_child.push(self.label.len() as u32);
        let mut start = offset;
        for run in patterns.chunk_by(|a, b| byte(a) == byte(b)) {
            self.label.push(byte(&run[0]));
            next.push(start..start + run.len());
            start += run.len();
        }
    }

    /// A child's failure link is what its parent's failure state goes to with the same label.
    fn link_failures(&mut self) {
        for parent in 1..self.len() as u32 {
            for child in self.children(parent) {
                let from = self.fail[parent as usize];
                self.fail[child as usize] = self.next(from, self.label[child as usize]);
            }
        }
    }

    fn link_outputs(&mut self) {
        for s in 1..self.len() {
            let fail = self.fail[s];
            let has_own = !self.own(fail).is_empty();
            self.output_link[s] = if has_own { fail } else { self.output_link[fail as usize] };
        }
    }

    /// The number of states, including the root.
    pub fn len(&self) -> usize {
        self.label.len()
    }

    /// The number of distinct patterns.
    pub fn pattern_count(&self) -> usize {
        self.own.len()
    }

    /// Whether there is no pattern.
    pub fn is_empty(&self) -> bool {
        self.len() == 1
    }

    /// How the trie reads bytes.
    pub fn fold(&self) -> CaseFold {
        self.fold
    }

    /// The children of a state, in order of their labels.
    #[inline]
    pub fn children(&self, state: u32) -> Range<u32> {
        self.first_child[state as usize]..self.first_child[state as usize + 1]
    }

    /// The labels of the children of a state, ascending.
    #[inline]
    pub fn child_labels(&self, state: u32) -> &[u8] {
        let range = self.children(state);
        &self.label[range.start as usize..range.end as usize]
    }

    /// The label of the edge into a state.
    #[inline]
    pub fn label(&self, state: u32) -> u8 {
        self.label[state as usize]
    }

    /// The goto function: the child of a state under a (folded) byte.
    #[inline]
    pub fn child(&self, state: u32, byte: u8) -> Option<u32> {
        let first = self.first_child[state as usize];
        let place = match self.child_labels(state) {
            [] => return None,
            [only] => return (*only == byte).then_some(first),
            few if few.len() <= AT_ONCE => self.place_of(first, few.len(), byte)?,
            many => many.binary_search(&byte).ok()?,
        };
        Some(first + place as u32)
    }

    /// The place of a byte among up to [`AT_ONCE`] labels.
    #[inline]
    fn place_of(&self, first: u32, count: usize, byte: u8) -> Option<usize> {
        let labels = &self.label[first as usize..];
        let place = match labels.first_chunk() {
            Some(labels) => first_equal(labels, byte),
            None => labels[..count].iter().position(|label| *label == byte)?,
        };
        (place < count).then_some(place)
    }

    /// The state after a (folded) byte: follows failure links until a state has a child for it.
    #[inline]
    pub fn next(&self, mut state: u32, byte: u8) -> u32 {
        loop {
            match self.child(state, byte) {
                Some(child) => return child,
                None if state == ROOT => return ROOT,
                None => state = self.fail[state as usize],
            }
        }
    }

    /// The failure link of a state: its longest proper suffix that is a state.
    #[inline]
    pub fn fail(&self, state: u32) -> u32 {
        self.fail[state as usize]
    }

    /// The nearest proper suffix of a state with patterns of its own, or the root.
    #[inline]
    pub fn output_link(&self, state: u32) -> u32 {
        self.output_link[state as usize]
    }

    /// The dense indices of the patterns that end in a state, without those of its suffixes.
    #[inline]
    pub fn own(&self, state: u32) -> &[u32] {
        let s = state as usize;
        &self.own[self.first_own[s] as usize..self.first_own[s + 1] as usize]
    }

    /// Whether some pattern ends in a state or a suffix of it.
    #[inline]
    pub fn is_output(&self, state: u32) -> bool {
        !self.own(state).is_empty() || self.output_link(state) != ROOT
    }

    /// The parent of each state, in order of the states. The root is its own parent.
    pub fn parents(&self) -> Vec<u32> {
        let mut parents = vec![ROOT; self.len()];
        for state in 0..self.len() as u32 {
            self.children(state).for_each(|child| parents[child as usize] = state);
        }
        parents
    }

    /// The depth of each state, in order of the states.
    pub fn depths(&self) -> impl Iterator<Item = u32> + '_ {
        self.levels.windows(2).enumerate().flat_map(|(d, w)| (w[0]..w[1]).map(move |_| d as u32))
    }

    /// The number of states, and the number of states with each number of children, under the
    /// names `states`, `degree 0`, `degree 1` and so on (Zha 2010, table 2-2).
    pub fn stats(&self) -> Vec<(String, u64)> {
        let mut degrees = [0; 257];
        for state in 0..self.len() as u32 {
            degrees[self.children(state).len()] += 1;
        }
        let mut stats = vec![("states".to_owned(), self.len() as u64)];
        let some = degrees.iter().enumerate().filter(|(_, count)| **count > 0);
        stats.extend(some.map(|(degree, count)| (format!("degree {degree}"), *count)));
        stats
    }

    /// The bytes that label an edge.
    pub fn used_bytes(&self) -> [bool; 256] {
        let mut used = [false; 256];
        self.label[1..].iter().for_each(|&b| used[usize::from(b)] = true);
        used
    }

    /// Bytes of memory that the trie takes.
    pub fn memory(&self) -> u64 {
        let words = self.first_child.len() + self.fail.len() + self.output_link.len();
        (self.label.len() + 4 * (words + self.first_own.len() + self.own.len() + self.levels.len()))
            as u64
    }

    /// For each pattern, whether a match of a folded automaton must be confirmed: the pattern is
    /// case-sensitive and has letters. Empty if no pattern needs it.
    pub fn must_confirm(set: &PatternSet) -> Vec<bool> {
        if set.nocase_count() == 0 || set.nocase_count() == set.len() {
            return Vec::new();
        }
        set.iter().map(|p| !p.nocase && p.bytes.iter().any(u8::is_ascii_alphabetic)).collect()
    }
}

/// The dense indices, sorted by the folded patterns.
fn folded_order(set: &PatternSet, direction: Direction) -> Vec<u32> {
    let mut order: Vec<u32> = (0..set.len() as u32).collect();
    let fold = CaseFold::of(set);
    let backward = |i: u32| set.bytes(i).iter().rev().map(move |b| fold.byte(*b));
    match direction {
        Direction::Backward => order.sort_unstable_by(|&a, &b| backward(a).cmp(backward(b))),
        Direction::Forward if set.nocase_count() > 0 && set.nocase_count() < set.len() => {
            let folded = |i: u32| set.bytes(i).iter().map(move |b| fold.byte(*b));
            // Most patterns differ in their first bytes, which one comparison covers.
            let first = |i: u32| {
                let mut first = [0; 8];
                first.iter_mut().zip(folded(i)).for_each(|(to, byte)| *to = byte);
                u64::from_be_bytes(first)
            };
            let mut keyed: Vec<(u64, u32)> = order.iter().map(|&i| (first(i), i)).collect();
            // Stable: patterns that differ in case only stay in index order.
            keyed.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| folded(a.1).cmp(folded(b.1))));
            order = keyed.into_iter().map(|(_, i)| i).collect();
        }
        Direction::Forward => {}
    }
    order
}

#[cfg(test)]
mod tests;
