//! Every public call of a searcher, compared with the naive search.

#[path = "drip.rs"]
pub(crate) mod drip;

use drip::Drip;
use fyke::{
    Batch, BuildError, Collect, Count, Fingerprint, Input, Match, MatchKind, Searcher, Semantics,
    StreamMatch,
};
use fyke_testkit::Case;
use fyke_testkit::audit::same;
use fyke_testkit::naive::{self, Occurrence};
use fyke_testkit::random::SplitMix;
use std::io::Write as _;
use std::ops::{ControlFlow, Range};

/// Longer haystacks are fed in chunks of this many bytes or more, and scanned as files too.
const COARSE: usize = 100_000;

/// A semantics and a match kind for each searcher, so that every one of both is tested.
pub(crate) const CHOICES: [(Semantics, MatchKind); 5] = [
    (Semantics::All, MatchKind::Standard),
    (Semantics::Once, MatchKind::LeftmostFirst),
    (Semantics::Standard, MatchKind::LeftmostLongest),
    (Semantics::LeftmostFirst, MatchKind::Standard),
    (Semantics::LeftmostLongest, MatchKind::LeftmostFirst),
];

/// One searcher for each of [`CHOICES`]. Those of `auto` expect short haystacks, because the other
/// engines show what the calls do without a table.
///
/// # Errors
/// The engine refuses the set.
pub(crate) fn searchers(
    engine: &str,
    case: &Case,
    threads: usize,
) -> Result<Vec<Searcher>, BuildError> {
    let build = |&(semantics, kind)| {
        let builder = Searcher::builder().engine(engine).semantics(semantics).match_kind(kind);
        builder.threads(threads).short_haystacks(true).build(&case.set)
    };
    CHOICES.iter().map(build).collect()
}

/// Compares the calls of a searcher with the naive search in the haystack of a case.
pub(crate) struct Calls<'a> {
    pub(crate) searcher: &'a Searcher,
    pub(crate) case: &'a Case,
    pub(crate) numbers: SplitMix,
    /// Bytes of the smallest chunks. A filter walks the overlap again for each chunk, which takes
    /// long if patterns are long.
    pub(crate) least_chunk: usize,
    /// Results compared so far.
    pub(crate) checks: u64,
}

/// The stream form of a match in memory.
fn wide(m: Match) -> StreamMatch {
    StreamMatch { end: m.end as u64, start: m.start as u64, pattern: m.pattern }
}

impl<'a> Calls<'a> {
    pub(crate) fn new(searcher: &'a Searcher, case: &'a Case, seed: u64) -> Self {
        let least_chunk = if case.haystack.len() > COARSE { COARSE } else { 1 };
        Self { searcher, case, numbers: SplitMix::new(seed), least_chunk, checks: 0 }
    }

    /// Every call, with random spans, chunks and cuts.
    pub(crate) fn all(&mut self) -> Result<(), String> {
        self.find_family()?;
        self.scan_family()?;
        self.readers()?;
        if self.least_chunk > 1 {
            self.file()?;
        }
        self.streams()?;
        self.batches()?;
        self.replacements()
    }

    fn matches(
        &mut self,
        call: &str,
        got: Vec<StreamMatch>,
        expected: &[StreamMatch],
    ) -> Result<(), String> {
        self.checks += 1;
        same(expected, &got).map_err(|e| self.failure(call, &e))
    }

    fn equal<T: PartialEq + std::fmt::Debug>(
        &mut self,
        call: &str,
        got: T,
        expected: T,
    ) -> Result<(), String> {
        self.checks += 1;
        if got == expected {
            return Ok(());
        }
        Err(self.failure(call, &format!("expected {expected:?}, got {got:?}")))
    }

    /// The failure with the case, if the case is short enough to be read.
    fn failure(&self, call: &str, what: &str) -> String {
        let case = match self.case.haystack.len() {
            ..=10_000 => format!("{:?}", self.case),
            len => format!("a haystack of {len} bytes, {:?}", self.case.set),
        };
        format!("{call}: {what}\n{:?}\n{case}", self.searcher)
    }

    /// Sizes of chunks: small ones, and a random one.
    fn chunks(&mut self) -> [usize; 4] {
        let least = self.least_chunk;
        [least, 7 * least, 64 * least, least + self.below(5000)]
    }

    fn below(&mut self, n: usize) -> usize {
        self.numbers.below(n as u64) as usize
    }

    /// A random span of the haystack.
    fn span(&mut self) -> Range<usize> {
        let len = self.case.haystack.len();
        let (a, b) = (self.below(len + 1), self.below(len + 1));
        a.min(b)..a.max(b)
    }

    /// The matches that the searcher's kind selects in the whole haystack.
    fn of_kind(&self) -> Vec<StreamMatch> {
        self.case.under(self.searcher.match_kind().semantics())
    }

    /// The `find` calls in the whole haystack and in random spans, anchored and not.
    fn find_family(&mut self) -> Result<(), String> {
        let whole = 0..self.case.haystack.len();
        for span in [whole, self.span(), self.span()] {
            let wide = span.start as u64..span.end as u64;
            let inside = naive::within(&self.case.found, &wide);
            self.find_in(&span, false, |semantics| naive::under(&inside, semantics))?;
            let from = wide.start;
            self.find_in(&span, true, |semantics| naive::anchored(&inside, from, semantics))?;
            if let Some(first) = inside.first() {
                let from_match = first.at.start as usize..span.end;
                let inside = self.inside(&from_match);
                let expected = |semantics| naive::anchored(&inside, first.at.start, semantics);
                self.find_in(&from_match, true, expected)?;
            }
        }
        Ok(())
    }

    fn inside(&self, span: &Range<usize>) -> Vec<Occurrence> {
        naive::within(&self.case.found, &(span.start as u64..span.end as u64))
    }

    fn find_in(
        &mut self,
        span: &Range<usize>,
        anchored: bool,
        expected: impl Fn(Semantics) -> Vec<StreamMatch>,
    ) -> Result<(), String> {
        let (searcher, case) = (self.searcher, self.case);
        let input = || Input::new(&case.haystack).span(span.clone()).anchored(anchored);
        let call = |name: &str| format!("{name} in {span:?}, anchored: {anchored}");
        let of_kind = expected(searcher.match_kind().semantics());
        let all = expected(Semantics::All);
        let got = searcher.find_iter(input()).map(wide).collect();
        self.matches(&call("find_iter"), got, &of_kind)?;
        let got = searcher.find_overlapping_iter(input()).map(wide).collect();
        self.matches(&call("find_overlapping_iter"), got, &all)?;
        self.equal(&call("is_match"), searcher.is_match(input()), !all.is_empty())?;
        let first = of_kind.first().copied();
        self.equal(&call("find"), searcher.find(input()).map(wide), first)?;
        let earliest = expected(Semantics::Standard).first().copied();
        self.equal(&call("earliest"), searcher.earliest(input()).map(wide), earliest)?;
        self.two_iterators(&call("two iterators in turn"), input, &of_kind, &all)
    }

    /// Two iterators of one thread do not disturb each other, nor one that is dropped early.
    fn two_iterators<'h>(
        &mut self,
        call: &str,
        input: impl Fn() -> Input<'h>,
        of_kind: &[StreamMatch],
        all: &[StreamMatch],
    ) -> Result<(), String> {
        let dropped_after = self.below(3);
        let early = self.searcher.find_overlapping_iter(input()).take(dropped_after).count();
        let mut one = self.searcher.find_iter(input());
        let mut other = self.searcher.find_overlapping_iter(input());
        let (mut ones, mut others) = (Vec::new(), Vec::new());
        while ones.len() < of_kind.len() + 1 || others.len() < all.len() + 1 {
            let (a, b) = (one.next(), other.next());
            ones.extend(a.map(wide));
            others.extend(b.map(wide));
            if a.is_none() && b.is_none() {
                break;
            }
        }
        self.equal(call, early, dropped_after.min(all.len()))?;
        self.equal(call, (one.next(), other.next()), (None, None))?;
        self.matches(call, ones, of_kind)?;
        self.matches(call, others, all)
    }

    fn scan_family(&mut self) -> Result<(), String> {
        let (searcher, haystack) = (self.searcher, &self.case.haystack);
        let expected = self.case.under(searcher.semantics());
        self.equal("count", searcher.count(haystack), expected.len() as u64)?;
        let mut got = Vec::new();
        searcher.scan(haystack, |m| got.push(wide(m)));
        self.matches("scan", got, &expected)?;
        let mut got = Vec::new();
        searcher.once(haystack, |m| got.push(wide(m)));
        self.matches("once", got, &self.case.under(Semantics::Once))?;
        let mut got = Collect::default();
        let _ = searcher.scan_into(haystack, &mut got);
        self.matches("scan_into", got.matches, &expected)?;
        let (mut count, mut sum) = (Count::default(), Fingerprint::default());
        let _ = searcher.scan_into(haystack, &mut count);
        let _ = searcher.scan_into(haystack, &mut sum);
        let counts = (count.matches, sum.matches);
        self.equal("counting sinks", counts, (expected.len() as u64, expected.len() as u64))?;
        let stop = self.below(expected.len() + 1);
        let mut got = Vec::new();
        let flow = searcher.scan(haystack, |m| {
            got.push(wide(m));
            if got.len() > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.matches("scan, stopped", got, &expected[..expected.len().min(stop + 1)])?;
        if stop < expected.len() {
            self.equal("flow of scan", flow, ControlFlow::Break(()))?;
        }
        Ok(())
    }

    fn readers(&mut self) -> Result<(), String> {
        let (searcher, haystack) = (self.searcher, &self.case.haystack);
        let expected = self.case.under(searcher.semantics());
        let of_kind = self.of_kind();
        for drip in self.chunks() {
            let mut got = Collect::default();
            let read = searcher.scan_read(Drip::new(haystack, drip), &mut got);
            self.equal("result of scan_read", read.is_ok(), true)?;
            self.matches(&format!("scan_read by {drip}"), got.matches, &expected)?;
            let found: Result<Vec<_>, _> =
                searcher.stream_find_iter(Drip::new(haystack, drip)).collect();
            let found = found.map_err(|e| e.to_string())?;
            self.matches(&format!("stream_find_iter by {drip}"), found, &of_kind)?;
        }
        Ok(())
    }

    fn file(&mut self) -> Result<(), String> {
        let mut file = tempfile::NamedTempFile::new().map_err(|e| e.to_string())?;
        file.write_all(&self.case.haystack).map_err(|e| e.to_string())?;
        let mut got = Collect::default();
        let read = self.searcher.scan_file(file.path(), &mut got);
        self.equal("result of scan_file", read.is_ok(), true)?;
        self.matches("scan_file", got.matches, &self.case.under(self.searcher.semantics()))
    }

    /// Streams in chunks of one size and of random sizes, saved and restored in between.
    fn streams(&mut self) -> Result<(), String> {
        let expected = self.case.under(self.searcher.semantics());
        for (i, most) in self.chunks().into_iter().enumerate() {
            let (mut stream, mut got) = (self.searcher.stream(), Collect::default());
            let mut rest = &self.case.haystack[..];
            let mut flow = ControlFlow::Continue(());
            while !rest.is_empty() && flow.is_continue() {
                let size = if i == 3 { self.below(most + 1) } else { most };
                let (chunk, later) = rest.split_at(size.min(rest.len()));
                rest = later;
                flow = stream.feed(chunk, &mut got);
                if flow.is_continue() && self.below(8) == 0 {
                    let state = stream.save();
                    stream = self.searcher.restore(&state).map_err(|e| e.to_string())?;
                    self.equal("save after restore", stream.save(), state)?;
                }
            }
            if flow.is_continue() {
                self.equal("offset", stream.offset(), self.case.haystack.len() as u64)?;
                let _ = stream.finish(&mut got);
            }
            self.matches(&format!("stream in chunks of up to {most}"), got.matches, &expected)?;
        }
        Ok(())
    }

    /// The batch calls, with the haystack cut into haystacks at random places.
    fn batches(&mut self) -> Result<(), String> {
        let (searcher, haystack) = (self.searcher, &self.case.haystack[..]);
        let cuts = self.below(20);
        let mut ends: Vec<usize> = (0..cuts).map(|_| self.below(haystack.len() + 1)).collect();
        ends.push(haystack.len());
        ends.sort_unstable();
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let spans: Vec<_> = starts.zip(&ends).map(|(start, &end)| start..end).collect();
        let mut expected = Vec::new();
        let mut expected_counts = Vec::new();
        for span in &spans {
            let found = naive::under(&self.inside(span), searcher.semantics());
            expected_counts.push(found.len() as u64);
            expected.extend(found);
        }
        let pieces = || spans.iter().map(|span| &haystack[span.clone()]);
        let place = |got: &mut Vec<StreamMatch>, i: usize, batch: &Batch<'_>| {
            let start = spans[i].start as u64;
            let moved = |m: StreamMatch| Match { end: m.end + start, start: m.start + start, ..m };
            got.extend(batch.matches().map(moved));
            ControlFlow::Continue(())
        };
        let mut got = Vec::new();
        let _ = searcher.scan_batch(pieces(), |i, batch| place(&mut got, i, batch));
        self.matches("scan_batch", got, &expected)?;
        let mut got = Vec::new();
        let _ = searcher.scan_packed(haystack, &ends, |i, batch| place(&mut got, i, batch));
        self.matches("scan_packed", got, &expected)?;
        let mut counts = vec![1];
        searcher.count_batch(pieces(), &mut counts);
        self.equal("count_batch", counts.clone(), expected_counts.clone())?;
        searcher.count_packed(haystack, &ends, &mut counts);
        self.equal("count_packed", counts, expected_counts)
    }

    /// A replacement for every id, some of them empty.
    fn replacements_by_id(&self) -> Vec<String> {
        let ids = self.case.entries.iter().map(|e| e.id as usize + 1).max().unwrap_or(0);
        (0..ids).map(|id| format!("<{id}>").repeat(id % 3)).collect()
    }

    /// The haystack with the first `most` matches of the searcher's kind replaced, done naively.
    fn replaced(&self, by: &[String], most: usize) -> Vec<u8> {
        let (mut to, mut done) = (Vec::new(), 0);
        for m in self.of_kind().iter().take(most) {
            to.extend_from_slice(&self.case.haystack[done..m.start as usize]);
            to.extend_from_slice(by[m.pattern.0 as usize].as_bytes());
            done = m.end as usize;
        }
        to.extend_from_slice(&self.case.haystack[done..]);
        to
    }

    fn replacements(&mut self) -> Result<(), String> {
        let (searcher, haystack) = (self.searcher, &self.case.haystack[..]);
        let by = self.replacements_by_id();
        let expected = self.replaced(&by, usize::MAX);
        let got = searcher.replace_all_bytes(haystack, &by);
        self.equal("replace_all_bytes", &got, &expected)?;
        let most = 1 + self.below(4);
        let (mut got, mut calls) = (Vec::new(), 0);
        searcher.replace_all_with_bytes(haystack, &mut got, |m, text, to| {
            assert_eq!(text, &haystack[m.range()]);
            to.extend_from_slice(by[m.pattern.0 as usize].as_bytes());
            calls += 1;
            calls < most
        });
        self.equal("replace_all_with_bytes, stopped", got, self.replaced(&by, most))?;
        if let Ok(text) = std::str::from_utf8(haystack)
            && self.of_kind().iter().all(|m| text.get(m.start as usize..m.end as usize).is_some())
        {
            let got = searcher.replace_all(text, &by);
            self.equal("replace_all", got.as_bytes(), &expected[..])?;
        }
        for drip in self.chunks() {
            let mut got = Vec::new();
            let read = Drip::new(haystack, drip);
            let done = searcher.stream_replace_all(read, &mut got, &by);
            self.equal("result of stream_replace_all", done.is_ok(), true)?;
            self.equal(&format!("stream_replace_all by {drip}"), &got, &expected)?;
        }
        let mut got = Vec::new();
        let done = searcher.stream_replace_all_with(haystack, &mut got, |m, text, to| {
            assert_eq!(text, &haystack[m.start as usize..m.end as usize]);
            to.write_all(by[m.pattern.0 as usize].as_bytes())
        });
        self.equal("result of stream_replace_all_with", done.is_ok(), true)?;
        self.equal("stream_replace_all_with", got, expected)
    }
}
