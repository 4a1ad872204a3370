//! The automata for short haystacks and dense matches: when they are compiled, and when they are
//! the faster way.
//!
//! An automaton starts at once, but takes longer per byte than a filter. So it wins where few bytes
//! lie between two matches, or before the first match or the end. It is compiled once the time that
//! it would have saved equals the time to compile it. Each thread estimates the distance between
//! matches from its last calls.
//!
//! A set has a transition table, a trie, or both. A large table is slow: its rows are not in the
//! cache. So with a large set, the trie finds the first match, and all matches of the shortest
//! haystacks. The table finds all matches of the others, because its walks wait for several rows at
//! once. If the table would be too large, the trie finds these too. A set of [`MANY`] patterns of
//! six bytes and more has a trie only.
//!
//! Where matches are rare, the matcher may test a short haystack for candidates before a walk.

use super::bulk::{LEAST_BULK, LEAST_BULK_OF_TRIE};
use super::lazy::Lazy;
use crate::MatchKind;
use fyke_automata::find_table::WHOLE_LEN;
use fyke_automata::find_trie::TrieWalk;
use fyke_automata::{FindTable, FindTrie};
use fyke_core::{Match, PatternSet};
use std::cell::Cell;

/// The maximum number of bytes of a table. Measured with words of the King James Bible on a
/// Sapphire Rapids: near this size, the table wins over the trie with matches some 5 bytes apart,
/// and loses with matches some 30 bytes apart. No benchmark shows it.
const MOST_MEMORY: u64 = 12 << 20;

/// Where the table has more bytes than this, the trie is mostly faster in the shortest haystacks.
/// Measured with 500 to 5,000 words of the King James Bible, on a Sapphire Rapids; no benchmark
/// shows it. Not measured for the first match: a guess.
const LARGE_TABLE: u64 = 4 << 20;

/// The maximum number of bytes of a trie. Not measured: a guess.
const MOST_TRIE_MEMORY: u64 = 64 << 20;

/// The automata take at most this part of what the memory limit leaves, so that a low limit serves
/// the matcher first. Not measured: a guess.
const SHARE: u64 = 8;

/// Nanoseconds to compile a thousand bytes of the table. Measured on a Zen 5 with 20 to 6,000 words
/// of the King James Bible; no benchmark shows it.
const BUILD_NS: u64 = 700;

/// The same for the trie, by its estimated bytes. Measured on a Zen 3 with 500 to 12,000 words of 4
/// and of 8 letters and more of the King James Bible; no benchmark shows it.
const BUILD_TRIE_NS: u64 = 8_000;

/// Nanoseconds that the table saves per call and per match, with 2,000 patterns (`calls`).
const SAVES_NS: u64 = 100;

/// The same for the trie. A guess between what it saves per call and per match with 12,000 words of
/// the King James Bible.
const TRIE_SAVES_NS: u64 = 300;

/// For up to this many patterns, the automaton is faster only in haystacks that are always walked
/// (`calls`).
const FEW: usize = 8;

/// A set of at least this many patterns needs a scan that takes hundreds of nanoseconds to start,
/// unless the matcher finds a match directly. A guess: 500 were measured.
const MANY: usize = 256;

/// The maximum number of bytes that a search for the first match walks before it goes to the
/// matcher's other searches. Not measured: a guess above [`GAP_OF_FIRST`].
pub(super) const MOST_TO_FIRST: usize = 1 << 10;

/// Below this average distance between matches, an automaton finds all matches (`calls`).
const GAP: u16 = 49;

/// The same for the first match of [`MANY`] patterns: a scan reads more than is needed, and takes
/// long to start. Measured with 500 to 6,000 words of the King James Bible; `calls` has long words.
const GAP_OF_FIRST: u16 = 200;

/// The least value of both limits, for a matcher that finds a match directly, without a scan
/// (`calls`).
const GAP_OF_DIRECT: u16 = 20;

/// The same for more than [`FEW_OF_DIRECT`] patterns, which have more candidates before the first
/// match (`calls`, with 100 and 200 words).
const GAP_OF_MANY: u16 = 32;

/// Up to this many patterns are few for such a matcher. A guess: 50 and 100 were measured.
const FEW_OF_DIRECT: usize = 64;

/// A haystack of more bytes is walked to all matches only if the thread has noted a distance
/// between matches. Not measured: a guess.
const SMALL: usize = 2048;

/// A haystack of up to this many bytes is always walked if it has candidates (`calls`). If the
/// matcher finds a match directly, its `find_first_min_len` sets the limit instead.
const ALWAYS: usize = 32;

/// The same for [`MANY`] patterns. Measured with 500 to 6,000 words of the King James Bible in 128
/// and 256 bytes; `calls` has long words in 128.
const ALWAYS_FOR_MANY: usize = 256;

/// The same for the trie of [`MANY`] patterns of six bytes and more, beside a matcher that finds a
/// match directly. Measured with 500 and 2,000 words of 7 to 12 letters and more of the King James
/// Bible, on a Zen 3 and on a Sapphire Rapids with AVX-512 and with AVX2; `calls` has 2,000 words
/// of 8 letters and more.
const ALWAYS_OF_LONG: usize = 64;

/// For these sets, the trie finds the first match below this average distance between matches, and
/// all matches of up to [`ALWAYS_FOR_MANY`] bytes. Measured as [`ALWAYS_OF_LONG`].
const GAP_OF_LONG_FIRST: u16 = 120;

/// The same for all matches of longer haystacks.
const GAP_OF_LONG: u16 = 60;

/// Where matches are nearer, 64 bytes may have more than the 16 reports that a
/// [`WholeWalk`](fyke_automata::find_table::WholeWalk) keeps.
const LEAST_GAP_OF_WHOLE: usize = 4;

/// From this many bytes on, a whole walk wins with any set. In a shorter haystack, it loses to one
/// walk where matches are rare, and with fewer than [`MANY`] patterns. Measured with 100 to 5,000
/// words of the King James Bible, in 32 to 63 bytes, on a Sapphire Rapids.
const SURE_WHOLE: usize = 48;

/// For that choice, matches are rare if the noted distance is at least this many eighths of the
/// haystack. A haystack without a match notes its length, and one with a match half of it. So at
/// least half of the haystacks have no match. Measured as [`SURE_WHOLE`].
const RARE_FOR_WALKS: usize = 6;

/// The same for a test for candidates before a walk: at least three quarters have no match.
/// Measured with 2 to 100 words of the King James Bible, in 8 to 32 bytes, on a Sapphire Rapids
/// with AVX-512 and with AVX2.
const RARE_FOR_TEST: usize = 7;

/// In a haystack of up to this many bytes, `find_next` is called for each match, unless an
/// automaton is faster. In a longer one, the matcher may find several matches in one call. A guess:
/// 53 bytes were measured (`calls`).
pub(super) const MOST_DIRECT: usize = 64;
// `Matcher::candidates_in_short` takes no more.
const _: () = assert!(MOST_DIRECT <= 64);

/// The average is exponential: a new distance has a weight of 1 / [`WEIGHT`], and counts as at most
/// [`MOST_GAP`]. Not measured: guesses.
const MOST_GAP: usize = 1 << 10;
const WEIGHT: u16 = 8;

/// Number of averages that a thread keeps. Not measured: a guess.
const SLOTS: usize = 64;

/// The address of a [`ShortAutomata`], divided by this, selects its slot. It is at most the size of
/// one, so that neighbors get different slots. It is a power of two, so that the division is a
/// shift.
const SLOT_BYTES: usize = 256;
const _: () = assert!(SLOT_BYTES <= size_of::<ShortAutomata>() && SLOT_BYTES.is_power_of_two());

thread_local! {
    /// [`WEIGHT`] times the average distance between matches, by searcher. Searchers may share a
    /// slot: that costs speed only.
    static GAPS: [Cell<u16>; SLOTS] = const { [const { Cell::new(0) }; SLOTS] };
}

/// Where an automaton is the faster way.
#[derive(Clone, Copy)]
struct Limits {
    /// A haystack up to this many bytes is always walked.
    always: usize,
    /// A longer haystack of up to this many bytes is never walked: `find_next` is faster there.
    never: usize,
    /// The average distance between matches below which longer ones are walked to all matches; 0
    /// for never.
    gap: u16,
    /// The same for up to [`ALWAYS_FOR_MANY`] bytes.
    gap_in_short: u16,
    /// The same for the first match.
    gap_of_first: u16,
}

impl Limits {
    /// `direct_from`: see [`ShortAutomata::new`].
    fn new(set: &PatternSet, direct_from: Option<usize>) -> Limits {
        let patterns = set.len();
        let gaps = |gap, gap_of_first| Limits {
            always: ALWAYS,
            never: 0,
            gap,
            gap_in_short: gap,
            gap_of_first,
        };
        match direct_from {
            Some(_) if has_fast_trie(set) => Limits {
                always: ALWAYS_OF_LONG,
                gap_in_short: GAP_OF_LONG_FIRST,
                ..gaps(GAP_OF_LONG, GAP_OF_LONG_FIRST)
            },
            Some(from) => {
                let least = if patterns <= FEW_OF_DIRECT { GAP_OF_DIRECT } else { GAP_OF_MANY };
                // A walk to a match takes as long as one over a haystack that ends there.
                let gap = if patterns <= FEW { 0 } else { least.max(from.min(MOST_GAP) as u16) };
                // A matcher that is slower than an automaton on `ALWAYS` bytes leaves dense matches
                // to it.
                let never = from < ALWAYS && patterns <= FEW_OF_DIRECT;
                Limits {
                    always: from.saturating_sub(1),
                    never: if never { MOST_DIRECT } else { 0 },
                    ..gaps(gap, gap)
                }
            }
            None if patterns <= FEW => gaps(0, 0),
            None if patterns >= MANY => {
                Limits { always: ALWAYS_FOR_MANY, ..gaps(GAP, GAP_OF_FIRST) }
            }
            None => gaps(GAP, GAP),
        }
    }
}

/// Whether the trie looks up every second position only, and so is the faster automaton.
fn has_fast_trie(set: &PatternSet) -> bool {
    FindTrie::skips(set) && set.len() >= MANY
}

/// An automaton that finds matches that do not overlap.
#[derive(Clone, Copy)]
pub(super) enum Automaton<'a> {
    Table(&'a FindTable),
    Trie(&'a FindTrie),
}

impl Automaton<'_> {
    /// The first match; `None` if there is none in the first bytes, and the haystack has more.
    #[inline]
    fn find(self, haystack: &[u8]) -> Option<Option<Match>> {
        match self {
            Automaton::Table(table) => table.find(haystack, 0, MOST_TO_FIRST).ok(),
            Automaton::Trie(trie) => {
                trie.next_match(haystack, &mut TrieWalk::default(), MOST_TO_FIRST).ok()
            }
        }
    }

    /// The end of a match, if there is one; `None` as for [`find`](Self::find).
    #[inline]
    fn any_end(self, haystack: &[u8]) -> Option<Option<usize>> {
        match self {
            Automaton::Table(table) => table.first_end(haystack, MOST_TO_FIRST).ok(),
            Automaton::Trie(trie) => trie.any_end(haystack, MOST_TO_FIRST).ok(),
        }
    }
}

/// The automata of a searcher, and when to compile them.
pub(in crate::searcher) struct ShortAutomata {
    set: PatternSet,
    kind: MatchKind,
    /// The maximum number of bytes of each automaton.
    table_limit: u64,
    trie_limit: u64,
    limits: Limits,
    /// At least one of them.
    table: Option<Lazy<FindTable>>,
    trie: Option<Box<Lazy<FindTrie>>>,
}

impl ShortAutomata {
    /// The automata of a set, to be compiled when they pay. `None` if they would be large, or if
    /// memory is short. `direct_from`: the number of bytes from which on the matcher's `find_first`
    /// is faster than an automaton.
    pub(super) fn new(
        set: &PatternSet,
        kind: MatchKind,
        memory_limit: Option<u64>,
        direct_from: Option<usize>,
    ) -> Option<ShortAutomata> {
        let share = memory_limit.map_or(u64::MAX, |limit| limit / SHARE);
        let most = MOST_MEMORY.min(share);
        // A table has 16 bits for the number of a report.
        let table_bytes = Some(FindTable::memory_at_least(set))
            .filter(|&bytes| bytes <= most && set.len() < usize::from(u16::MAX))
            .filter(|_| !has_fast_trie(set))
            .map(|_| FindTable::memory_for(set))
            .filter(|&bytes| bytes <= most);
        // The table may be larger than its estimate, up to its limit.
        let trie_limit = MOST_TRIE_MEMORY.min(share - table_bytes.map_or(0, |_| most));
        let trie_bytes = Some(FindTrie::memory_for(set))
            .filter(|&bytes| bytes <= trie_limit)
            .filter(|_| table_bytes.is_none_or(|bytes| bytes > LARGE_TABLE));
        (table_bytes.is_some() || trie_bytes.is_some()).then(|| ShortAutomata {
            table_limit: most,
            trie_limit,
            set: set.clone(),
            kind,
            limits: Limits::new(set, direct_from),
            table: table_bytes.map(|bytes| Lazy::new(bytes * BUILD_NS / 1000)),
            trie: trie_bytes.map(|bytes| Box::new(Lazy::new(bytes * BUILD_TRIE_NS / 1000))),
        })
    }

    /// Compiles the automata now.
    pub(super) fn compile(&self) {
        if let Some(table) = &self.table {
            table.compile(|| self.new_table());
        }
        if let Some(trie) = &self.trie {
            trie.compile(|| self.new_trie());
        }
    }

    fn new_table(&self) -> Option<FindTable> {
        FindTable::new(&self.set, self.kind.semantics(), self.table_limit)
    }

    fn new_trie(&self) -> Option<FindTrie> {
        FindTrie::new(&self.set, self.kind.semantics(), self.trie_limit)
    }

    /// The table or the trie, if it is compiled or now pays. Else the other one, if it is compiled.
    /// `by_table` selects the table if the set has both. `matches` estimates the number of matches.
    #[inline]
    fn get(&self, by_table: bool, matches: impl Fn() -> u64) -> Option<Automaton<'_>> {
        match (&self.table, &self.trie) {
            (Some(table), None) => self.table_of(table, matches),
            (Some(table), Some(trie)) if by_table && !table.is_refused() => {
                let made = || trie.made().map(Automaton::Trie);
                self.table_of(table, matches).or_else(made)
            }
            (table, Some(trie)) => {
                let saves = || TRIE_SAVES_NS * (1 + matches());
                let made = || table.as_ref()?.made().map(Automaton::Table);
                trie.get(saves, || self.new_trie()).map(Automaton::Trie).or_else(made)
            }
            (None, None) => None,
        }
    }

    #[inline]
    fn table_of<'a>(
        &'a self,
        table: &'a Lazy<FindTable>,
        matches: impl Fn() -> u64,
    ) -> Option<Automaton<'a>> {
        let saves = || SAVES_NS * (1 + matches());
        table.get(saves, || self.new_table()).map(Automaton::Table)
    }

    /// Whether there is a match; `None` if the matcher should look.
    #[inline]
    pub(super) fn is_match(&self, haystack: &[u8]) -> Option<bool> {
        let end = self.to_first(haystack.len())?.any_end(haystack)?;
        self.note(end.unwrap_or(haystack.len()));
        Some(end.is_some())
    }

    /// The first match; `None` if the matcher should look.
    #[inline]
    pub(super) fn find(&self, haystack: &[u8]) -> Option<Option<Match>> {
        let found = self.to_first(haystack.len())?.find(haystack)?;
        self.note(found.map_or(haystack.len(), |m| m.end));
        Some(found)
    }

    /// The automaton, if it is the faster way to the first match.
    #[inline]
    fn to_first(&self, len: usize) -> Option<Automaton<'_>> {
        if self.wins(len, self.limits.gap_of_first) { self.get(false, || 0) } else { None }
    }

    /// The automaton, if it is the faster way to all matches of a haystack.
    #[inline]
    pub(super) fn to_all(&self, len: usize) -> Option<Automaton<'_>> {
        let gap = self.gap();
        if !self.is_faster(len) || (len > SMALL && gap == 0) {
            return None;
        }
        // Without a noted distance, only the call is known to save time.
        let matches = || len.checked_div(usize::from(gap)).unwrap_or(0) as u64;
        self.get(self.suits_several_walks(len), matches)
    }

    /// Whether interleaved walks are faster than one.
    #[inline]
    fn suits_several_walks(&self, len: usize) -> bool {
        let wins_in_short =
            || self.set.len() >= MANY && !self.has_rare_matches(len, RARE_FOR_WALKS);
        len >= SURE_WHOLE || (len >= *WHOLE_LEN.start() && wins_in_short())
    }

    /// Whether a whole walk is the fastest one and can keep its reports, by the noted distance.
    #[inline]
    pub(super) fn suits_whole_walk(&self, len: usize) -> bool {
        let is_dense = |gap| gap > 0 && gap < LEAST_GAP_OF_WHOLE;
        WHOLE_LEN.contains(&len)
            && self.suits_several_walks(len)
            && !self.noted_gap().is_some_and(is_dense)
    }

    /// Whether a haystack of `len` bytes is best tested for candidates before a walk.
    #[inline]
    pub(super) fn suits_test(&self, len: usize) -> bool {
        len <= MOST_DIRECT && self.has_rare_matches(len, RARE_FOR_TEST)
    }

    /// Whether the noted distance is at least `eighths` eighths of `len`, or none is noted.
    #[inline]
    fn has_rare_matches(&self, len: usize, eighths: usize) -> bool {
        self.noted_gap().is_none_or(|gap| 8 * gap >= eighths * len)
    }

    /// In a haystack of at least this many bytes, all matches of a piece are found at once.
    #[inline]
    pub(super) fn least_bulk(&self) -> usize {
        if self.table.is_some() { LEAST_BULK } else { LEAST_BULK_OF_TRIE }
    }

    /// The average distance between matches from which on the matcher is faster in a haystack:
    /// `usize::MAX` if the haystack is always walked.
    pub(super) fn gap_limit(&self, len: usize) -> usize {
        if len <= self.limits.always { usize::MAX } else { usize::from(self.gap_to_all(len)) }
    }

    /// Whether an automaton is the faster way to all matches of a haystack, if it has candidates.
    #[inline]
    pub(super) fn is_faster(&self, len: usize) -> bool {
        self.wins(len, self.gap_to_all(len))
    }

    /// The average distance between matches below which an automaton is the faster way to all.
    #[inline]
    fn gap_to_all(&self, len: usize) -> u16 {
        let Limits { gap, gap_in_short, .. } = self.limits;
        if len <= ALWAYS_FOR_MANY { gap_in_short } else { gap }
    }

    /// Whether an automaton is the faster way if matches are less than `gap_limit` bytes apart.
    #[inline]
    fn wins(&self, len: usize, gap_limit: u16) -> bool {
        let Limits { always, never, .. } = self.limits;
        len <= always || (len > never && self.gap() < gap_limit)
    }

    /// Notes the distance to a match, or to the end of a haystack.
    #[inline]
    pub(super) fn note(&self, bytes: usize) {
        if self.limits.gap == 0 {
            return;
        }
        // The sum is at most `WEIGHT` times the greatest distance, and one distance is added.
        const { assert!(MOST_GAP * (WEIGHT as usize + 1) <= u16::MAX as usize) };
        let _ = GAPS.try_with(|gaps| {
            let sum = &gaps[self.slot()];
            sum.set(sum.get() - sum.get() / WEIGHT + bytes.min(MOST_GAP) as u16);
        });
    }

    /// The average distance between matches, if it is noted.
    #[inline]
    pub(super) fn noted_gap(&self) -> Option<usize> {
        (self.limits.gap > 0).then(|| usize::from(self.gap()))
    }

    #[inline]
    fn gap(&self) -> u16 {
        GAPS.try_with(|gaps| gaps[self.slot()].get() / WEIGHT).unwrap_or(0)
    }

    fn slot(&self) -> usize {
        (std::ptr::from_ref(self) as usize / SLOT_BYTES) % SLOTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(len: usize, words: usize) -> PatternSet {
        let digit = |n: usize, i: usize| b"0123456789abcdef"[n >> (4 * (i % 5)) & 15];
        let word = |n: usize| (0..len).map(|i| digit(n, i)).collect::<Vec<_>>();
        PatternSet::new((0..words).map(word)).unwrap()
    }

    fn automata(len: usize, words: usize, memory_limit: Option<u64>) -> Option<ShortAutomata> {
        ShortAutomata::new(&set(len, words), MatchKind::LeftmostFirst, memory_limit, None)
    }

    /// Which automata a set may have: a table, a trie.
    fn kinds(len: usize, words: usize, memory_limit: Option<u64>) -> Option<(bool, bool)> {
        automata(len, words, memory_limit).map(|it| (it.table.is_some(), it.trie.is_some()))
    }

    #[test]
    fn large_sets_have_a_trie() {
        assert_eq!(kinds(5, 100, None), Some((true, false)));
        assert_eq!(kinds(5, 40_000, None), Some((true, true)));
        assert_eq!(kinds(5, 400_000, None), Some((false, true)));
    }

    #[test]
    fn a_trie_that_skips_positions_replaces_the_table() {
        assert_eq!(kinds(6, MANY - 1, None), Some((true, false)));
        assert_eq!(kinds(6, MANY, None), Some((false, true)));
    }

    #[test]
    fn a_low_memory_limit_leaves_the_smaller_one_or_none() {
        assert_eq!(kinds(5, 40_000, Some(SHARE * (4 << 20))), Some((false, true)));
        assert_eq!(kinds(5, 40_000, Some(SHARE << 10)), None);
        assert_eq!(kinds(5, 100, Some(SHARE << 10)), None);
    }

    #[test]
    fn a_large_set_has_both_and_a_larger_one_the_trie() {
        let both = automata(5, 40_000, None).unwrap();
        assert!(both.get(false, || 0).is_none() && both.get(true, || 0).is_none());
        both.compile();
        assert!(matches!(both.get(false, || 0), Some(Automaton::Trie(_))));
        assert!(matches!(both.get(true, || 0), Some(Automaton::Table(_))));
        let trie = automata(5, 400_000, None).unwrap();
        trie.compile();
        assert!(matches!(trie.get(true, || 0), Some(Automaton::Trie(_))));
    }

    #[test]
    fn a_whole_walk_of_few_bytes_needs_many_patterns_and_matches() {
        let (many, few) = (automata(5, MANY, None).unwrap(), automata(5, 100, None).unwrap());
        let suits = |automata: &ShortAutomata, gap| {
            (0..100).for_each(|_| automata.note(gap));
            [31, 32, 40, 48, 64, 65].map(|len| automata.suits_whole_walk(len))
        };
        assert_eq!(suits(&many, 20), [false, true, true, true, true, false]);
        assert_eq!(suits(&many, 40), [false, false, false, true, true, false]);
        assert_eq!(suits(&many, 2), [false; 6]);
        assert_eq!(suits(&few, 20), [false, false, false, true, true, false]);
    }

    #[test]
    fn the_call_that_pays_compiles() {
        let lazy = Lazy::new(250);
        let made: Vec<_> = (0..5).map(|_| lazy.get(|| 100, || Some(7)).copied()).collect();
        assert_eq!(made, [None, None, Some(7), Some(7), Some(7)]);
        let refused = Lazy::<u8>::new(0);
        assert!(
            refused.get(|| 100, || None).is_none() && refused.get(|| 100, || Some(1)).is_none()
        );
    }
}
