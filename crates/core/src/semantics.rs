//! [`Semantics`]: which matches of the canonical result a caller wants.
//!
//! Engines always find *all* occurrences. A [`SemanticsFilter`] between engine and sink passes on
//! those that the semantics select. Its state is saved and restored with a stream.

mod leftmost;

use crate::error::{StateError, StateErrorKind};
use crate::matches::{Batch, Record};
use crate::pattern::PatternSet;
use crate::sink::{Sink, emit_sorted};
use leftmost::Leftmost;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

/// Which matches are reported.
///
/// | haystack `abcab`, patterns `ab`, `abc` | reported |
/// |---|---|
/// | `All` | `ab`, `abc`, `ab` |
/// | `Once` | `ab`, `abc` |
/// | `LeftmostFirst` | `ab`, `ab` |
/// | `LeftmostLongest` | `abc`, `ab` |
///
/// ```
/// use fyke_core::Semantics;
/// assert_eq!("leftmost-longest".parse(), Ok(Semantics::LeftmostLongest));
/// assert_eq!(Semantics::default(), Semantics::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Semantics {
    /// Every occurrence of every pattern, overlapping ones too.
    #[default]
    All,
    /// The first occurrence of each pattern: the one that ends first.
    Once,
    /// Non-overlapping matches from the left; among those with the same start, the lowest id.
    LeftmostFirst,
    /// Non-overlapping matches from the left; among those with the same start, the longest, then
    /// the lowest id.
    LeftmostLongest,
    /// Any one match; then the scan stops.
    Exists,
    /// No match is reported; all are counted.
    Count,
}

impl Semantics {
    /// Every variant.
    pub const ALL: [Semantics; 6] = [
        Semantics::All,
        Semantics::Once,
        Semantics::LeftmostFirst,
        Semantics::LeftmostLongest,
        Semantics::Exists,
        Semantics::Count,
    ];

    /// The name on the command line and in test vectors: `"leftmost-first"`.
    pub fn name(self) -> &'static str {
        match self {
            Semantics::All => "all",
            Semantics::Once => "once",
            Semantics::LeftmostFirst => "leftmost-first",
            Semantics::LeftmostLongest => "leftmost-longest",
            Semantics::Exists => "exists",
            Semantics::Count => "count",
        }
    }

    /// Whether a [`SemanticsFilter`] needs the matches in canonical order.
    pub fn needs_order(self) -> bool {
        matches!(self, Semantics::Once | Semantics::LeftmostFirst | Semantics::LeftmostLongest)
    }
}

impl fmt::Display for Semantics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Semantics {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|x| x.name() == s).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|x| x.name()).collect();
            format!("no match semantics {s:?}: give one of {}", names.join(", "))
        })
    }
}

/// Passes on the matches of one haystack that some [`Semantics`] select.
#[derive(Clone, Debug)]
pub struct SemanticsFilter {
    semantics: Semantics,
    set: PatternSet,
    passed: u64,
    state: State,
    /// Buffer of matches that leftmost semantics selected: end and dense index.
    settled: Vec<(u64, u32)>,
}

#[derive(Clone, Debug)]
enum State {
    /// All, Exists, Count.
    Plain,
    Once(Once),
    Leftmost(Leftmost),
}

/// Which patterns were seen: one bit each.
///
/// Restarting clears only the words that a scan set, because a set may have millions of patterns
/// and a haystack few matches.
#[derive(Clone, Debug, Default)]
struct Once {
    seen: Vec<u64>,
    /// The words of `seen` that are not 0.
    touched: Vec<u32>,
    unseen: u64,
    /// Buffer of the records of a batch that are the first of their pattern.
    first: Vec<Record>,
}

impl SemanticsFilter {
    /// A filter at the start of a haystack.
    pub fn new(semantics: Semantics, set: &PatternSet) -> Self {
        let state = match semantics {
            Semantics::All | Semantics::Exists | Semantics::Count => State::Plain,
            Semantics::Once => State::Once(Once::new(set)),
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => {
                State::Leftmost(Leftmost::new(set))
            }
        };
        Self { semantics, set: set.clone(), passed: 0, state, settled: Vec::new() }
    }

    /// Returns to the start of a haystack. It takes time proportional to the matches since the
    /// last start, and allocates nothing.
    pub fn restart(&mut self) {
        self.passed = 0;
        match &mut self.state {
            State::Plain => {}
            State::Once(once) => once.clear(self.set.len()),
            State::Leftmost(leftmost) => leftmost.clear(),
        }
    }

    /// The semantics it applies.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Matches passed on or counted so far.
    pub fn matches(&self) -> u64 {
        self.passed
    }

    /// A sink that passes on to `out` what the semantics select.
    pub fn sink<'a>(&'a mut self, out: &'a mut dyn Sink) -> impl Sink + 'a {
        Through { filter: self, out }
    }

    /// Passes on to `out` the matches of a batch that the semantics select. Returns `Break` once
    /// no further match can be selected, or if `out` did.
    pub fn apply(&mut self, batch: &Batch<'_>, out: &mut dyn Sink) -> ControlFlow<()> {
        match self.semantics {
            Semantics::All => {
                self.passed += batch.count();
                out.on_batch(batch)
            }
            Semantics::Count => {
                self.passed += batch.count();
                ControlFlow::Continue(())
            }
            Semantics::Exists => self.apply_exists(batch, out),
            Semantics::Once => self.apply_once(batch, out),
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => {
                self.apply_leftmost(batch, out)
            }
        }
    }

    /// Passes on the matches that are decided once every match that ends at or before `known` was
    /// applied. Call it at the end of a block; otherwise leftmost semantics hold a match back
    /// until the next one comes.
    pub fn advance(&mut self, known: u64, out: &mut dyn Sink) -> ControlFlow<()> {
        self.settle(known.saturating_add(1), out)
    }

    /// Ends the haystack: passes on the matches that were held back.
    pub fn finish(&mut self, out: &mut dyn Sink) -> ControlFlow<()> {
        self.settle(u64::MAX, out)
    }

    fn apply_exists(&mut self, batch: &Batch<'_>, out: &mut dyn Sink) -> ControlFlow<()> {
        if self.passed == 0 && !batch.records.is_empty() {
            self.passed = 1;
            let _ = out.on_batch(&Batch { records: &batch.records[..1], single: true, ..*batch });
        }
        if self.passed > 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn apply_once(&mut self, batch: &Batch<'_>, out: &mut dyn Sink) -> ControlFlow<()> {
        let State::Once(once) = &mut self.state else { unreachable!("state of Once") };
        once.keep_first(batch.records);
        if !once.first.is_empty() {
            let batch = Batch { records: &once.first, ..*batch };
            self.passed += batch.count();
            out.on_batch(&batch)?;
        }
        if once.unseen == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn apply_leftmost(&mut self, batch: &Batch<'_>, out: &mut dyn Sink) -> ControlFlow<()> {
        let longest = self.semantics == Semantics::LeftmostLongest;
        let State::Leftmost(leftmost) = &mut self.state else { unreachable!("state of leftmost") };
        for &r in batch.records {
            let end = batch.end(r);
            leftmost.settle(end, &mut self.settled);
            leftmost.offer(batch.set, end, r.pattern, longest);
        }
        self.pass_settled(out)
    }

    /// Passes on what leftmost semantics decide if all matches that end before `now` are known.
    fn settle(&mut self, now: u64, out: &mut dyn Sink) -> ControlFlow<()> {
        let State::Leftmost(leftmost) = &mut self.state else {
            return ControlFlow::Continue(());
        };
        leftmost.settle(now, &mut self.settled);
        self.pass_settled(out)
    }

    fn pass_settled(&mut self, out: &mut dyn Sink) -> ControlFlow<()> {
        self.passed += self.settled.len() as u64;
        let flow = emit_sorted(&self.settled, &self.set, out, true);
        self.settled.clear();
        flow
    }
}

impl Once {
    fn new(set: &PatternSet) -> Self {
        let seen = vec![0; set.len().div_ceil(64)];
        Self { seen, unseen: set.len() as u64, ..Self::default() }
    }

    fn clear(&mut self, patterns: usize) {
        self.touched.drain(..).for_each(|word| self.seen[word as usize] = 0);
        self.unseen = patterns as u64;
    }

    /// Copies to `first` the records whose pattern was not seen before.
    fn keep_first(&mut self, records: &[Record]) {
        self.first.clear();
        for &record in records {
            let (index, bit) = (record.pattern / 64, 1 << (record.pattern % 64));
            let word = &mut self.seen[index as usize];
            if *word & bit == 0 {
                if *word == 0 {
                    self.touched.push(index);
                }
                *word |= bit;
                self.first.push(record);
            }
        }
        self.unseen -= self.first.len() as u64;
    }

    /// Reads the words of a saved state. A bit without a pattern means that the state is damaged.
    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        for (index, word) in (0..).zip(&mut self.seen) {
            *word = from.u64()?;
            if *word != 0 {
                self.touched.push(index);
            }
        }
        let in_last_word = self.unseen % 64;
        let stray = self.seen.last().is_some_and(|&w| in_last_word != 0 && w >> in_last_word != 0);
        if stray {
            return Err(StateError(StateErrorKind::Damaged));
        }
        self.unseen -= self.seen.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
        Ok(())
    }
}

struct Through<'a> {
    filter: &'a mut SemanticsFilter,
    out: &'a mut dyn Sink,
}

impl Sink for Through<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.filter.apply(batch, self.out)
    }

    fn counter(&mut self) -> Option<&mut u64> {
        (self.filter.semantics == Semantics::Count).then_some(&mut self.filter.passed)
    }
}

/// Saving and restoring, as part of a stream's state. All numbers are little-endian.
impl SemanticsFilter {
    pub(crate) fn encode(&self, to: &mut Vec<u8>) {
        let tag = Semantics::ALL.iter().position(|s| *s == self.semantics).unwrap_or(0);
        to.push(tag as u8);
        to.extend(self.passed.to_le_bytes());
        match &self.state {
            State::Plain => {}
            State::Once(once) => once.seen.iter().for_each(|w| to.extend(w.to_le_bytes())),
            State::Leftmost(l) => l.encode(to),
        }
    }

    /// Reads what [`encode`](Self::encode) wrote, for a stream that was fed `offset` bytes.
    pub(crate) fn decode(
        set: &PatternSet,
        offset: u64,
        from: &mut Reader<'_>,
    ) -> Result<SemanticsFilter, StateError> {
        let tag = usize::from(from.u8()?);
        let semantics = *Semantics::ALL.get(tag).ok_or(StateError(StateErrorKind::Damaged))?;
        let mut filter = SemanticsFilter::new(semantics, set);
        filter.passed = from.count()?;
        match &mut filter.state {
            State::Plain => {}
            State::Once(once) => once.load(from)?,
            State::Leftmost(l) => *l = Leftmost::decode(set, offset, from)?,
        }
        Ok(filter)
    }
}

/// The largest count in a saved state: no stream gets this far, and adding to it cannot overflow.
const MAX_COUNT: u64 = 1 << 62;

/// Reads numbers off a saved state.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], StateError> {
        let (head, rest) = self.0.split_at_checked(n).ok_or(StateError(StateErrorKind::Damaged))?;
        self.0 = rest;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| StateError(StateErrorKind::Damaged))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, StateError> {
        self.array::<1>().map(|b| b[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, StateError> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, StateError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A number of bytes or matches, at most [`MAX_COUNT`].
    pub(crate) fn count(&mut self) -> Result<u64, StateError> {
        match self.u64()? {
            count if count <= MAX_COUNT => Ok(count),
            _ => Err(StateError(StateErrorKind::Damaged)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle;
    use crate::sink::Collect;

    fn run(semantics: Semantics, patterns: &[&str], haystack: &str) -> Vec<(u32, u64, u64)> {
        let set = PatternSet::new(patterns).unwrap();
        let mut filter = SemanticsFilter::new(semantics, &set);
        let mut got = Collect::default();
        for m in oracle::find_all(&set, haystack.as_bytes()) {
            let index = set.iter().find(|p| p.ids.contains(&m.pattern)).unwrap().index;
            let records = [Record { end: m.end as u32, pattern: index }];
            let batch =
                Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
            if filter.apply(&batch, &mut got).is_break() {
                break;
            }
        }
        assert!(filter.finish(&mut got).is_continue());
        assert_eq!(
            filter.matches(),
            got.matches.len() as u64 + u64::from(semantics == Semantics::Count) * filter.matches()
        );
        got.matches.iter().map(|m| (m.pattern.0, m.start, m.end)).collect()
    }

    #[test]
    fn once_reports_the_first_of_each() {
        assert_eq!(run(Semantics::Once, &["a", "ab"], "aabab"), [(0, 0, 1), (1, 1, 3)]);
    }

    #[test]
    fn leftmost_first_prefers_the_lowest_id() {
        let patterns = ["Sam", "Samwise"];
        assert_eq!(run(Semantics::LeftmostFirst, &patterns, "Samwise"), [(0, 0, 3)]);
        assert_eq!(
            run(Semantics::LeftmostFirst, &["Samwise", "Sam"], "Samwise Sam"),
            [(0, 0, 7), (1, 8, 11)]
        );
    }

    #[test]
    fn leftmost_longest_prefers_the_longest() {
        assert_eq!(run(Semantics::LeftmostLongest, &["Sam", "Samwise"], "Samwise"), [(1, 0, 7)]);
        assert_eq!(
            run(Semantics::LeftmostLongest, &["abcd", "bc", "d"], "abcabcd"),
            [(1, 1, 3), (0, 3, 7)]
        );
    }

    #[test]
    fn what_is_decided_need_not_wait_for_the_next_match() {
        let set = PatternSet::new(["abcd", "b"]).unwrap();
        let mut filter = SemanticsFilter::new(Semantics::LeftmostLongest, &set);
        let mut got = Collect::default();
        let records = [Record { end: 2, pattern: 1 }];
        let batch = Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
        assert!(filter.apply(&batch, &mut got).is_continue());
        assert!(filter.advance(4, &mut got).is_continue() && got.matches.is_empty());
        assert!(filter.advance(5, &mut got).is_continue());
        assert_eq!(got.matches.len(), 1);
    }

    #[test]
    fn a_ring_of_starts_goes_round() {
        // Starts that lie far apart, and some that share a place of the ring.
        let long = "x".repeat(64) + "y";
        let haystack = format!("ab{}y{}ab{long}bab", "-".repeat(1000), "x".repeat(200));
        let patterns = ["ab", "b", &long, "xy", "y-", "a"];
        for semantics in [Semantics::LeftmostFirst, Semantics::LeftmostLongest] {
            let spans: Vec<_> = run(semantics, &patterns, &haystack);
            let text = haystack.as_bytes();
            let starts: Vec<u64> = spans.iter().map(|m| m.1).collect();
            let of = |needle: &[u8]| text.windows(needle.len()).position(|w| w == needle);
            assert!(starts.is_sorted() && spans.windows(2).all(|w| w[0].2 <= w[1].1), "{spans:?}");
            assert!(spans.iter().any(|m| m.0 == 2 && Some(m.1 as usize) == of(long.as_bytes())));
            assert_eq!(spans.len(), 5, "{spans:?}");
        }
    }

    #[test]
    fn exists_stops_and_count_counts() {
        assert_eq!(run(Semantics::Exists, &["a"], "aaa").len(), 1);
        assert_eq!(run(Semantics::Count, &["a"], "aaa"), []);
    }

    #[test]
    fn a_filter_that_starts_again_has_forgotten_everything() {
        let set = PatternSet::new(["a", "b"]).unwrap();
        for semantics in Semantics::ALL {
            let mut filter = SemanticsFilter::new(semantics, &set);
            let mut runs = Vec::new();
            for _ in 0..2 {
                let mut got = Collect::default();
                let records = [(5, 0), (6, 0), (7, 1)];
                let records = records.map(|(end, pattern)| Record { end, pattern });
                let batch =
                    Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
                let flow = filter.apply(&batch, &mut got);
                let _ = filter.finish(&mut got);
                runs.push((flow, filter.matches(), got));
                filter.restart();
            }
            assert_eq!(runs[0], runs[1], "{semantics}");
            assert!(runs[0].1 > 0);
        }
    }

    #[test]
    fn names_read_back() {
        for s in Semantics::ALL {
            assert_eq!(s.name().parse(), Ok(s));
        }
        assert!("most".parse::<Semantics>().unwrap_err().contains("leftmost-first"));
    }
}
