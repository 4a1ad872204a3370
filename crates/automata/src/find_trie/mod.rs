//! A trie for short haystacks and large sets: it finds matches that do not overlap.
//!
//! A hash of the next bytes tells at which positions a pattern may begin (module `prefixes`). Where
//! one may, a walk over the trie from there finds the match that the semantics report. Then the
//! search goes on after the match, or else at the next position. So it has no failure links, takes
//! 8 bytes per state, and reads bytes that begin no pattern without waiting for a state. If all
//! patterns have at least six bytes, it looks up every second position only, and a hash table leads
//! to the state after the first six to eight.
//!
//! It answers as a [`FindTable`](crate::FindTable) does. It wins where the table would be large, or
//! where matches are some tens of bytes apart. It gives up where walks read bytes again and again,
//! so the time is proportional to the haystack.
//!
//! With [`Semantics::Standard`], walks from later positions look for a match that ends sooner.
//!
//! Source: Aoe 1989, "An efficient digital search algorithm by using a double-array structure".

mod bitmap;
mod compile;
mod gram_pairs;
mod groups;
mod prefixes;
mod starts;
#[cfg(test)]
mod tests;

use crate::find_table::{Undecided, last_position};
use crate::trie::Trie;
use fyke_core::{Match, PatternId, PatternSet, Semantics};
use prefixes::{MOST_LEN, Prefixes, StartPositions, WithPositions};

/// The number of matches after which [`FindTrie::next_matches`] returns. Not measured: a guess.
const PIECE: usize = 32;

/// A search gives up once its walks have read this many bytes for each byte of the haystack, and
/// [`SLACK`] more. Not measured: guesses.
const MOST_READS: usize = 8;
const SLACK: usize = 1 << 10;

/// How many bytes walks may read up to a position.
#[inline(always)]
fn most_reads(at: usize) -> usize {
    at.saturating_mul(MOST_READS).saturating_add(SLACK)
}

/// An automaton for one of the semantics of non-overlapping matches.
///
/// ```
/// use fyke_automata::find_trie::{FindTrie, TrieWalk};
/// use fyke_core::{PatternSet, Semantics};
///
/// let set = PatternSet::new(["Samwise", "Sam"])?;
/// let trie = FindTrie::new(&set, Semantics::LeftmostFirst, 1 << 20).unwrap();
/// let mut walk = TrieWalk::default();
/// let found = trie.next_match(b"I am Sam, Samwise", &mut walk, usize::MAX);
/// assert_eq!(found.unwrap().map(|m| m.range()), Some(5..8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FindTrie {
    prefixes: Prefixes,
    /// A double array: the child of a state for a class is at `base ^ class`, if the label there is
    /// the class.
    nodes: Vec<Node>,
    class: [u8; 256],
    root: Node,
    /// Whether the match that ends first is reported, whatever its start.
    earliest: bool,
    /// The length of the shortest pattern.
    min_len: usize,
}

/// A state.
#[derive(Clone, Copy, Debug)]
struct Node {
    /// The base in the upper 23 bits, whether a match ends at the state, and the label of the
    /// transition to the state.
    packed: u32,
    id: PatternId,
}

/// The bits after which the base of a state begins.
const BASE_SHIFT: u32 = 9;

/// The maximum number of slots: a base has 23 bits.
const MOST_SLOTS: usize = 1 << 23;

impl Node {
    const MATCH: u32 = 1 << 8;

    /// 0 if the state has no children.
    #[inline(always)]
    fn base(self) -> u32 {
        self.packed >> BASE_SHIFT
    }

    /// The child for a class.
    #[inline(always)]
    fn child(self, nodes: &[Node], class: u8) -> Option<Node> {
        let child = nodes[(self.base() ^ u32::from(class)) as usize];
        (self.base() != 0 && child.packed as u8 == class).then_some(child)
    }

    #[inline(always)]
    fn is_match(self) -> bool {
        self.packed & Self::MATCH != 0
    }
}

/// How far a walk over the matches of a haystack is. Each call for a haystack gets the same one.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrieWalk {
    /// All later matches begin at this position or after it.
    at: usize,
    /// How many bytes were read by walks over the trie.
    read: usize,
    /// How many matches were found.
    found: usize,
    /// The end of the last match.
    last: usize,
    /// Whether there are no more matches.
    ended: bool,
}

impl TrieWalk {
    /// Whether the end of the haystack was reached.
    pub fn is_at_end(&self) -> bool {
        self.ended
    }

    /// The end of the last match.
    pub fn last(&self) -> usize {
        self.last
    }

    /// How many matches were found.
    pub fn found(&self) -> usize {
        self.found
    }
}

impl FindTrie {
    /// Estimates the bytes of the trie of a set without reading a pattern. Free slots are not
    /// counted.
    pub fn memory_for(set: &PatternSet) -> u64 {
        size_of::<Node>() as u64 * (set.total_bytes() as u64 + 1) + Prefixes::memory_for(set)
    }

    /// Whether all patterns are long enough for a search that looks up every second position only.
    /// If their first bytes were made to have few hashes, it looks up every position.
    pub fn skips(set: &PatternSet) -> bool {
        set.min_len() >= gram_pairs::LEAST
    }

    /// Compiles a set. `None` if the trie exceeds `limit` bytes, if only some of the patterns
    /// ignore case, or if the semantics report matches that overlap.
    pub fn new(set: &PatternSet, semantics: Semantics, limit: u64) -> Option<FindTrie> {
        let single = matches!(
            semantics,
            Semantics::Standard | Semantics::LeftmostFirst | Semantics::LeftmostLongest
        );
        if !single || !Trie::must_confirm(set).is_empty() {
            return None;
        }
        compile::compile(set, &Trie::new(set).ok()?, semantics, limit)
    }

    /// The end of a match, not always that of the first one.
    ///
    /// # Errors
    /// [`Undecided`] if no match begins in the first `most` bytes, and the haystack has more, or if
    /// walks read too much.
    #[inline]
    pub fn any_end(&self, haystack: &[u8], most: usize) -> Result<Option<usize>, Undecided> {
        self.prefixes.search(AnyEnd { trie: self, haystack, most })
    }

    /// The next match of a haystack.
    ///
    /// # Errors
    /// [`Undecided`] if no match begins in the next `most` bytes, and the haystack has more, or if
    /// walks read too much.
    #[inline]
    pub fn next_match(
        &self,
        haystack: &[u8],
        walk: &mut TrieWalk,
        most: usize,
    ) -> Result<Option<Match>, Undecided> {
        let until = walk.at.saturating_add(most);
        self.prefixes.search(NextMatch { trie: self, haystack, walk, until })
    }

    /// Appends the next matches. It appends nothing only at the end of the haystack.
    ///
    /// # Errors
    /// [`Undecided`] if the matches so far lie more than `gap` bytes apart, on average, if the last
    /// one is much farther away, or if walks read too much.
    pub fn next_matches(
        &self,
        haystack: &[u8],
        walk: &mut TrieWalk,
        gap: usize,
        found: &mut Vec<Match>,
    ) -> Result<(), Undecided> {
        let until = last_position(gap, walk.found, walk.last);
        self.prefixes.search(NextMatches { trie: self, haystack, walk, until, found })
    }

    /// Walks on to the next match, which may begin up to `until`.
    #[inline(always)]
    fn walk_to_match(
        &self,
        haystack: &[u8],
        positions: &mut impl StartPositions,
        walk: &mut TrieWalk,
        until: usize,
    ) -> Result<Option<Match>, Undecided> {
        let head = &haystack[..haystack.len().min(until.saturating_add(MOST_LEN))];
        while walk.read <= most_reads(walk.at) {
            let next = positions.next(head, walk.at);
            if next >= head.len() {
                walk.ended = head.len() == haystack.len();
                if walk.ended {
                    return Ok(None);
                }
                // The last positions of the head were not looked up with all bytes.
                walk.at = walk.at.max(until + 1);
                return Err(Undecided);
            }
            walk.at = next;
            let start = positions.start(self.root, haystack, walk.at);
            let (found, end) = match self.earliest {
                true => self.shortest(haystack, walk.at, start),
                false => self.deepest(haystack, walk.at, start),
            };
            walk.read += end - walk.at;
            if let Some(found) = found {
                let found = if self.earliest { self.sooner(haystack, found, walk)? } else { found };
                (walk.at, walk.last) = (found.end, found.end);
                walk.found += 1;
                return Ok(Some(found));
            }
            walk.at += 1;
        }
        Err(Undecided)
    }

    /// The match that begins at `start` and lies deepest in the trie, and where the walk ended.
    /// Patterns that the semantics never report are not in the trie. The state `node` is that after
    /// the first `read` bytes.
    #[inline(always)]
    fn deepest(
        &self,
        haystack: &[u8],
        start: usize,
        (node, read): (Node, usize),
    ) -> (Option<Match>, usize) {
        let (mut base, mut at) = (node.base(), start + read);
        let mut end = if node.is_match() { at } else { start };
        let mut pattern = node.id;
        while base != 0
            && let Some(child) = self.child(haystack, at, base)
        {
            at += 1;
            // Selections and not branches: which states have a match is hard to predict.
            end = if child.is_match() { at } else { end };
            pattern = if child.is_match() { child.id } else { pattern };
            base = child.base();
        }
        ((end > start).then_some(Match { start, end, pattern }), at)
    }

    /// The shortest match that begins at `start`, and where the walk ended. `node` and `read` are
    /// as in [`deepest`](Self::deepest).
    #[inline(always)]
    fn shortest(
        &self,
        haystack: &[u8],
        start: usize,
        (node, read): (Node, usize),
    ) -> (Option<Match>, usize) {
        let (mut base, mut at) = (node.base(), start + read);
        if node.is_match() {
            return (Some(Match { start, end: at, pattern: node.id }), at);
        }
        // A state without a match has children, except that of bytes which begin no pattern.
        while base != 0
            && let Some(child) = self.child(haystack, at, base)
        {
            at += 1;
            base = child.base();
            if child.is_match() {
                return (Some(Match { start, end: at, pattern: child.id }), at);
            }
        }
        (None, at)
    }

    /// Among the matches that begin after `best` and end before it, the one that ends first.
    ///
    /// # Errors
    /// [`Undecided`] if walks read too much.
    #[inline(always)]
    fn sooner(
        &self,
        haystack: &[u8],
        mut best: Match,
        walk: &mut TrieWalk,
    ) -> Result<Match, Undecided> {
        let mut start = best.start + 1;
        while start + self.min_len < best.end {
            let root = (self.root, 0);
            let (found, end) = self.shortest(&haystack[..best.end - 1], start, root);
            walk.read += end - start;
            best = found.unwrap_or(best);
            start += 1;
            if walk.read > most_reads(start) {
                return Err(Undecided);
            }
        }
        Ok(best)
    }

    /// The child for the byte at `at`.
    #[inline(always)]
    fn child(&self, haystack: &[u8], at: usize, base: u32) -> Option<Node> {
        let class = self.class[usize::from(*haystack.get(at)?)];
        let child = self.nodes[(base ^ u32::from(class)) as usize];
        (child.packed as u8 == class).then_some(child)
    }

    /// Bytes of memory.
    pub fn memory(&self) -> u64 {
        size_of_val(&*self.nodes) as u64 + self.prefixes.memory()
    }
}

/// See [`FindTrie::any_end`].
struct AnyEnd<'a> {
    trie: &'a FindTrie,
    haystack: &'a [u8],
    most: usize,
}

impl WithPositions for AnyEnd<'_> {
    type Output = Result<Option<usize>, Undecided>;

    #[inline(always)]
    fn run(self, mut positions: impl StartPositions) -> Self::Output {
        let AnyEnd { trie, haystack, most } = self;
        let head = &haystack[..haystack.len().min(most.saturating_add(MOST_LEN))];
        let (mut at, mut read) = (0, 0);
        loop {
            at = positions.next(head, at);
            if at >= head.len() {
                return if head.len() == haystack.len() { Ok(None) } else { Err(Undecided) };
            }
            let start = positions.start(trie.root, haystack, at);
            let (found, end) = trie.shortest(haystack, at, start);
            if found.is_some() {
                return Ok(Some(end));
            }
            read += end - at;
            at += 1;
            if read > most_reads(at) {
                return Err(Undecided);
            }
        }
    }
}

/// See [`FindTrie::next_match`].
struct NextMatch<'a> {
    trie: &'a FindTrie,
    haystack: &'a [u8],
    walk: &'a mut TrieWalk,
    until: usize,
}

impl WithPositions for NextMatch<'_> {
    type Output = Result<Option<Match>, Undecided>;

    #[inline(always)]
    fn run(self, mut positions: impl StartPositions) -> Self::Output {
        // A copy, which stays in registers.
        let mut now = *self.walk;
        let found = self.trie.walk_to_match(self.haystack, &mut positions, &mut now, self.until);
        *self.walk = now;
        found
    }
}

/// See [`FindTrie::next_matches`].
struct NextMatches<'a> {
    trie: &'a FindTrie,
    haystack: &'a [u8],
    walk: &'a mut TrieWalk,
    until: usize,
    found: &'a mut Vec<Match>,
}

impl WithPositions for NextMatches<'_> {
    type Output = Result<(), Undecided>;

    #[inline(always)]
    fn run(self, mut positions: impl StartPositions) -> Self::Output {
        let NextMatches { trie, haystack, walk, until, found } = self;
        let before = found.len();
        // A copy, which stays in registers.
        let mut now = *walk;
        let mut flow = Ok(());
        while found.len() < before + PIECE && !now.ended {
            match trie.walk_to_match(haystack, &mut positions, &mut now, until) {
                Ok(next) => found.extend(next),
                Err(undecided) => {
                    flow = Err(undecided);
                    break;
                }
            }
        }
        *walk = now;
        // If matches were found, the next call decides again.
        if found.len() > before { Ok(()) } else { flow }
    }
}
