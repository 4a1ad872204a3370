//! [`Semantics`]: which matches of the canonical result a caller wants.
//!
//! Engines always find *all* occurrences. A [`SemanticsFilter`] between engine and sink passes on
//! those that the semantics select. Its state is saved and restored with a stream.

mod leftmost;
mod once;
mod standard;

use crate::error::{StateError, StateErrorKind};
use crate::matches::{Batch, Record};
use crate::pattern::PatternSet;
use crate::sink::Sink;
use leftmost::Leftmost;
use once::Once;
use standard::Standard;
use std::fmt;
use std::ops::ControlFlow;
use std::str::FromStr;

/// Which matches are reported.
///
/// | haystack `abcab`, patterns `ab`, `abc` | reported |
/// |---|---|
/// | `All` | `ab`, `abc`, `ab` |
/// | `Once` | `ab`, `abc` |
/// | `Standard` | `ab`, `ab` |
/// | `LeftmostFirst` | `ab`, `ab` |
/// | `LeftmostLongest` | `abc`, `ab` |
///
/// ```
/// use fyke_core::Semantics;
/// assert_eq!("leftmost-longest".parse(), Ok(Semantics::LeftmostLongest));
/// assert_eq!(Semantics::default(), Semantics::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Semantics {
    /// Every occurrence of every pattern, overlapping ones too.
    #[default]
    All,
    /// The first occurrence of each pattern: the one that ends first.
    Once,
    /// Non-overlapping matches, each the first to end after the one before; among those with the
    /// same end, the longest, then the lowest id.
    Standard,
    /// Non-overlapping matches, each the first to start after the one before; among those with the
    /// same start, the lowest id.
    LeftmostFirst,
    /// Non-overlapping matches, each the first to start after the one before; among those with the
    /// same start, the longest, then the lowest id.
    LeftmostLongest,
}

impl Semantics {
    /// Every variant. The saved state of a stream has its position here, so a new one goes to the
    /// end.
    pub const ALL: [Semantics; 5] = [
        Semantics::All,
        Semantics::Once,
        Semantics::LeftmostFirst,
        Semantics::LeftmostLongest,
        Semantics::Standard,
    ];

    /// The name on the command line and in test vectors: `"leftmost-first"`.
    pub fn name(self) -> &'static str {
        match self {
            Semantics::All => "all",
            Semantics::Once => "once",
            Semantics::LeftmostFirst => "leftmost-first",
            Semantics::LeftmostLongest => "leftmost-longest",
            Semantics::Standard => "standard",
        }
    }

    /// Whether a [`SemanticsFilter`] needs the matches in canonical order.
    pub fn needs_order(self) -> bool {
        self != Semantics::All
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
///
/// It keeps its memory when it restarts for another haystack, set or semantics.
#[derive(Debug)]
pub struct SemanticsFilter {
    semantics: Semantics,
    passed: u64,
    once: Once,
    standard: Standard,
    leftmost: Leftmost,
    /// Buffers for selected matches: as end and dense index, and as records.
    settled: Vec<(u64, u32)>,
    records: Vec<Record>,
}

impl SemanticsFilter {
    /// A filter at the start of a haystack.
    pub fn new(semantics: Semantics, set: &PatternSet) -> Self {
        let mut filter = SemanticsFilter::default();
        filter.restart(semantics, set);
        filter
    }

    /// Returns to the start of a haystack. It takes time proportional to the number of matches
    /// since the last start, and allocates only for a larger set.
    pub fn restart(&mut self, semantics: Semantics, set: &PatternSet) {
        match self.semantics {
            Semantics::All => {}
            Semantics::Once => self.once.clear(),
            Semantics::Standard => self.standard.bound = 0,
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => self.leftmost.clear(),
        }
        self.semantics = semantics;
        self.passed = 0;
        match semantics {
            Semantics::All | Semantics::Standard => {}
            Semantics::Once => self.once.fit(set),
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => self.leftmost.fit(set),
        }
    }

    /// The semantics it applies.
    pub fn semantics(&self) -> Semantics {
        self.semantics
    }

    /// Matches passed on so far.
    pub fn matches(&self) -> u64 {
        self.passed
    }

    /// Bytes that it holds.
    pub fn memory(&self) -> usize {
        let once = size_of_val(&*self.once.seen) + 4 * self.once.touched.capacity();
        let settled = 16 * self.settled.capacity() + 8 * self.records.capacity();
        once + self.leftmost.memory() + settled
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
            Semantics::Once => self.apply_once(batch, out),
            Semantics::Standard => self.apply_standard(batch, out),
            Semantics::LeftmostFirst => self.apply_leftmost(batch, false, out),
            Semantics::LeftmostLongest => self.apply_leftmost(batch, true, out),
        }
    }

    /// Passes on the matches that are decided once every match that ends at or before `known` was
    /// applied. Call it at the end of a block; otherwise leftmost semantics hold a match back
    /// until the next one comes.
    pub fn advance(&mut self, known: u64, set: &PatternSet, out: &mut dyn Sink) -> ControlFlow<()> {
        self.settle(known.saturating_add(1), set, out)
    }

    /// Ends the haystack: passes on the matches that were held back.
    pub fn finish(&mut self, set: &PatternSet, out: &mut dyn Sink) -> ControlFlow<()> {
        self.settle(u64::MAX, set, out)
    }

    fn apply_once(&mut self, batch: &Batch<'_>, out: &mut dyn Sink) -> ControlFlow<()> {
        self.records.clear();
        self.once.keep_first(batch.records, &mut self.records);
        self.pass(batch, false, out)?;
        // A scan by several threads also passes empty batches, and an empty set has nothing unseen.
        let is_done = self.once.unseen == 0 && !batch.records.is_empty();
        if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn apply_standard(&mut self, batch: &Batch<'_>, out: &mut dyn Sink) -> ControlFlow<()> {
        self.records.clear();
        self.standard.keep(batch, &mut self.records);
        self.pass(batch, true, out)
    }

    /// Passes on the selected records of a batch.
    fn pass(&mut self, of: &Batch<'_>, single: bool, out: &mut dyn Sink) -> ControlFlow<()> {
        if self.records.is_empty() {
            return ControlFlow::Continue(());
        }
        let batch = Batch { records: &self.records, single: single || of.single, ..*of };
        self.passed += batch.count();
        out.on_batch(&batch)
    }

    fn apply_leftmost(
        &mut self,
        batch: &Batch<'_>,
        longest: bool,
        out: &mut dyn Sink,
    ) -> ControlFlow<()> {
        for &r in batch.records {
            let end = batch.end(r);
            self.leftmost.settle(end, &mut self.settled);
            self.leftmost.offer(batch.set, end, r.pattern, longest);
        }
        self.pass_settled(batch.set, out)
    }

    /// Passes on the matches that leftmost semantics select, given that all matches that end before
    /// `now` are known.
    fn settle(&mut self, now: u64, set: &PatternSet, out: &mut dyn Sink) -> ControlFlow<()> {
        if !matches!(self.semantics, Semantics::LeftmostFirst | Semantics::LeftmostLongest) {
            return ControlFlow::Continue(());
        }
        self.leftmost.settle(now, &mut self.settled);
        self.pass_settled(set, out)
    }

    /// Passes on the settled matches, in batches whose ends fit in 32 bits.
    fn pass_settled(&mut self, set: &PatternSet, out: &mut dyn Sink) -> ControlFlow<()> {
        let mut rest = &self.settled[..];
        let mut flow = ControlFlow::Continue(());
        while let (Some(&(base, _)), ControlFlow::Continue(())) = (rest.first(), flow) {
            let count = rest.partition_point(|m| m.0 - base <= u64::from(u32::MAX));
            let (now, later) = rest.split_at(count);
            self.records.clear();
            let record = |m: &(u64, u32)| Record { end: (m.0 - base) as u32, pattern: m.1 };
            self.records.extend(now.iter().map(record));
            self.passed += now.len() as u64;
            let records = &self.records;
            flow = out.on_batch(&Batch { base, records, ordered: true, single: true, set });
            rest = later;
        }
        self.settled.clear();
        flow
    }
}

impl Default for SemanticsFilter {
    /// A filter that passes on everything.
    fn default() -> Self {
        Self {
            semantics: Semantics::All,
            passed: 0,
            once: Once::default(),
            standard: Standard::default(),
            leftmost: Leftmost::default(),
            settled: Vec::new(),
            records: Vec::new(),
        }
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

    fn wants_first(&self) -> bool {
        self.out.wants_first()
    }
}

/// Saving and restoring, as part of a stream's state. All numbers are little-endian.
impl SemanticsFilter {
    pub(crate) fn encode(&self, set: &PatternSet, to: &mut Vec<u8>) {
        let tag = Semantics::ALL.iter().position(|s| *s == self.semantics);
        let tag = tag.expect("ALL has every variant");
        to.push(tag as u8);
        to.extend(self.passed.to_le_bytes());
        match self.semantics {
            Semantics::All => {}
            Semantics::Once => {
                let words = &self.once.seen[..set.len().div_ceil(64)];
                words.iter().for_each(|w| to.extend(w.to_le_bytes()));
            }
            Semantics::Standard => to.extend(self.standard.bound.to_le_bytes()),
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => self.leftmost.encode(to),
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
        match semantics {
            Semantics::All => {}
            Semantics::Once => filter.once.load(from)?,
            Semantics::Standard => filter.standard.bound = from.u64()?,
            Semantics::LeftmostFirst | Semantics::LeftmostLongest => {
                filter.leftmost.load(set, offset, from)?;
            }
        }
        if filter.standard.bound > offset {
            return Err(StateError(StateErrorKind::Damaged));
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
        assert!(filter.finish(&set, &mut got).is_continue());
        assert_eq!(filter.matches(), got.matches.len() as u64);
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
        assert!(filter.advance(4, &set, &mut got).is_continue() && got.matches.is_empty());
        assert!(filter.advance(5, &set, &mut got).is_continue());
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
    fn standard_takes_what_ends_first() {
        let run = |patterns: &[&str], haystack| run(Semantics::Standard, patterns, haystack);
        assert_eq!(run(&["abc", "b", "cd"], "abcd"), [(1, 1, 2), (2, 2, 4)]);
        assert_eq!(run(&["b", "ab", "ab"], "abab"), [(1, 0, 2), (1, 2, 4)]);
    }

    #[test]
    fn a_filter_that_starts_again_has_forgotten_everything() {
        let set = PatternSet::new(["a", "b"]).unwrap();
        let other = PatternSet::new((0..200).map(|i| format!("{i:0>99}"))).unwrap();
        let mut filter = SemanticsFilter::default();
        for semantics in Semantics::ALL {
            let mut runs = Vec::new();
            for _ in 0..2 {
                filter.restart(semantics, &set);
                let mut got = Collect::default();
                let records = [(5, 0), (6, 0), (7, 1)];
                let records = records.map(|(end, pattern)| Record { end, pattern });
                let batch =
                    Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
                let flow = filter.apply(&batch, &mut got);
                let _ = filter.finish(&set, &mut got);
                runs.push((flow, filter.matches(), got));
                filter.restart(semantics, &other);
                let records = [Record { end: 700, pattern: 130 }];
                let batch = Batch { records: &records, set: &other, ..batch };
                let _ = filter.apply(&batch, &mut Collect::default());
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
