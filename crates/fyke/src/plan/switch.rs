//! A filter with an automaton as its fallback, for hostile haystacks.
//!
//! A filter is fast because few positions are candidates. An attacker who knows the patterns can
//! write a haystack where every position is one. So the haystack is scanned in pieces. After a
//! piece with too many candidates, the automaton takes some pieces; its speed hardly depends on the
//! haystack. Then the filter is tried on a small piece. If that has too many candidates again, the
//! automaton takes twice as many pieces. So a hostile haystack takes little longer than with the
//! automaton alone, and a haystack with one hostile section little longer than with the filter
//! alone.
//!
//! An automaton finds its matches in order, but the matches of a filter have to be sorted. So if
//! order is wanted, the time to sort counts, too.
//!
//! The filter may be a split set whose last engine is a filter. Then the automaton takes all
//! patterns of the set.
//!
//! The filter goes on until the automaton is compiled. After a piece with too many candidates, long
//! runs of one byte are cut out of the pieces that follow, and no engine sees them.

use super::candidates::CANDIDATES;
use super::costs::SORTED_MATCH;
use super::fallback::Fallback;
use super::runs::{RunRecords, Runs};
use super::stored::{SwitchPlan, without_tables};
use fyke_core::stored::StoredPart;
use fyke_core::{
    Batch, Block, First, FirstMatch, Footprint, Info, Match, Matcher, MatcherId, NextFirst,
    NextLimits, Part, PatternSet, Role, Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

/// The maximum number of bytes of a piece. Engines are slower where a piece begins and ends: with
/// 64 KiB by a tenth (`hostile`).
const PIECE: usize = 256 << 10;

/// Bytes of the piece that the filter is tried on at first, and after the automaton (`hostile`).
/// Each further piece is twice as long while candidates are few.
const PROBE: usize = 4 << 10;

/// After this many pieces without a long run, runs are no longer looked for. A guess.
const WATCH: u32 = 16;

/// Pieces that the automaton takes before the filter is tried again: at first, and at most
/// (`hostile`).
const PAUSE: std::ops::RangeInclusive<u32> = 1..=64;

/// A transition table scans blocks of up to this many bytes, from their first candidate on: a
/// filter takes longer to start (`size`).
const TINY: usize = 128;

/// The maximum number of bytes of a haystack whose first candidate is looked for before the scan
/// (`replay`). A set of few patterns has no match in most short haystacks, so they need no state.
pub(super) const SHORT: usize = 2 << 10;

/// In larger sets, the first candidate of a short haystack is not looked for (`replay`).
const FEW_PATTERNS: usize = 256;

/// A filter with its fallback.
pub(super) struct Switch {
    owner: MatcherId,
    filter: Arc<dyn Matcher>,
    fallback: Fallback,
    /// A table for blocks that are too small for the filter.
    tiny: Option<Fallback>,
    /// Whether the first candidate of a short haystack is looked for before the scan.
    skips_short: bool,
    /// The matches of the set in runs, computed on first use.
    runs: OnceLock<Runs>,
    /// Candidates of all filters per 1,024 bytes above which the fallback takes over.
    candidate_limit: u64,
    /// The cost to sort a match, in sixteenths of the cost of a candidate.
    sorted_match: u64,
    /// Bytes of a piece, and of one that the filter is tried on.
    piece: usize,
    probe: usize,
    /// What a database keeps of the plan: see the module `stored`.
    plan: Vec<u8>,
}

/// What a scan remembers from piece to piece.
#[derive(Default)]
struct SwitchState {
    owner: Option<MatcherId>,
    filter: Scratch,
    fallback: Scratch,
    tiny: Scratch,
    /// Pieces left for the automaton, and how many it gets next time.
    pause: u32,
    next: u32,
    /// Bytes of the filter's next piece.
    piece: usize,
    /// Pieces in which runs are still looked for.
    watch: u32,
    run_records: RunRecords,
    /// Whether a batch of the haystack was unordered, so that all later ones are, unless the sink
    /// sorts them.
    mixed: bool,
}

impl SwitchState {
    /// Forgets what another matcher left. The scratches stay: they serve any matcher.
    fn reset_for(&mut self, owner: &Switch) {
        (self.owner, self.mixed) = (Some(owner.owner), false);
        (self.pause, self.next, self.piece) = (0, *PAUSE.start(), owner.probe);
        self.watch = 0;
        self.run_records.forget();
    }
}

impl Switch {
    /// A filter with its fallback, a table for blocks that are too small for the filter, and what a
    /// database stores of them.
    pub(super) fn new(
        filter: Arc<dyn Matcher>,
        fallback: Fallback,
        tiny: Option<Fallback>,
        plan: &SwitchPlan,
    ) -> Switch {
        let overlap = filter.set().overlap();
        let (piece, probe) = (PIECE.max(16 * overlap), PROBE.max(overlap));
        let sorted_match = sorted_match(&*filter);
        Switch {
            owner: MatcherId::new(),
            skips_short: filter.set().len() <= FEW_PATTERNS,
            filter,
            fallback,
            tiny,
            runs: OnceLock::new(),
            candidate_limit: plan.candidate_limit,
            sorted_match,
            piece,
            probe,
            plan: plan.encode(),
        }
    }

    /// Sets the bytes of a piece, if given, and compiles the fallback at once. Tests use it to
    /// provoke switches.
    pub(super) fn in_pieces(mut self, bytes: Option<usize>) -> Switch {
        let Some(bytes) = bytes else { return self };
        (self.piece, self.probe) = (bytes, bytes);
        (self.tiny, self.skips_short) = (None, false);
        self.fallback = self.fallback.at_once();
        self
    }

    /// Where the first candidate of a short haystack is: at its end if there is none. It is 0 for a
    /// block with an offset, because [`Searcher`](crate::Searcher) looks for the candidate itself.
    #[inline]
    pub(super) fn first_in_short(&self, block: &Block<'_>) -> usize {
        let is_short = self.skips_short && block.bytes.len() <= SHORT || self.is_tiny(block);
        if !is_short || block.overlap > 0 || block.offset > 0 {
            return 0;
        }
        self.filter.first_candidate(block.bytes)
    }

    /// Whether a block is small enough for the transition table.
    fn is_tiny(&self, block: &Block<'_>) -> bool {
        self.tiny.is_some() && block.bytes.len() <= TINY
    }

    fn scan_pieces(
        &self,
        block: &Block<'_>,
        state: &mut SwitchState,
        to: &mut Mixed<'_>,
    ) -> ControlFlow<()> {
        let (mut from, end) = (block.overlap, block.bytes.len());
        if from == 0 && (1..=state.piece).contains(&end) && state.pause == 0 && state.watch == 0 {
            // Most short blocks are one piece for the filter. They take fewer instructions without
            // the loop (`replay`).
            let before = self.cost(state, to);
            self.filter.scan(*block, &mut state.filter, to)?;
            self.judge(self.cost(state, to) - before, end, state);
            return ControlFlow::Continue(());
        }
        while from < end {
            let automaton = if state.pause > 0 { self.fallback.ready() } else { None };
            let size = if automaton.is_some() { self.piece } else { state.piece };
            let piece_end = end.min(from + size);
            let piece = block.part(from, piece_end, self.set().overlap());
            let before = self.cost(state, to);
            if state.watch > 0 {
                self.scan_around_runs(piece, automaton, state, to)?;
            } else {
                scan_with(automaton, &self.filter, piece, state, to)?;
            }
            match automaton {
                Some(_) => state.pause -= 1,
                None => {
                    self.judge(self.cost(state, to) - before, piece_end - from, state);
                    to.settle()?;
                }
            }
            from = piece_end;
        }
        ControlFlow::Continue(())
    }

    /// Scans a piece without its long runs, whose matches are known.
    fn scan_around_runs(
        &self,
        piece: Block<'_>,
        automaton: Option<&Arc<dyn Matcher>>,
        state: &mut SwitchState,
        to: &mut Mixed<'_>,
    ) -> ControlFlow<()> {
        let runs = self.runs.get_or_init(|| Runs::new(self.set()));
        let (mut from, mut history) = (piece.overlap, piece.overlap);
        state.watch -= 1;
        while let Some(run) = runs.next(piece.bytes, from) {
            if from < run.settled {
                let rest = piece.part(from, run.settled, history);
                scan_with(automaton, &self.filter, rest, state, to)?;
            }
            to.settle()?;
            let to_sort = to.to_sort;
            runs.emit(run, &piece, self.set(), &mut state.run_records, to)?;
            // The filter did not find these.
            to.to_sort = to_sort;
            (from, history, state.watch) = (run.end, run.history, WATCH);
        }
        if from < piece.bytes.len() {
            let rest = piece.part(from, piece.bytes.len(), history);
            scan_with(automaton, &self.filter, rest, state, to)?;
        }
        ControlFlow::Continue(())
    }

    /// What the filter has cost so far, in candidates, with sorting its matches.
    fn cost(&self, state: &SwitchState, to: &Mixed<'_>) -> u64 {
        state.filter.spent() + to.to_sort * self.sorted_match / 16
    }

    /// Decides which engine takes the pieces after one that the filter scanned. `candidates`: see
    /// [`cost`](Self::cost).
    fn judge(&self, candidates: u64, bytes: usize, state: &mut SwitchState) {
        let limit = self.candidate_limit * bytes as u64 / 1024;
        if candidates <= limit {
            self.fallback.pay_back(limit - candidates);
            state.next = *PAUSE.start();
            state.piece = (2 * state.piece).min(self.piece);
            return;
        }
        state.watch = WATCH;
        if self.fallback.get(candidates - limit).is_some() {
            state.pause = state.next;
            state.next = (2 * state.next).min(*PAUSE.end());
            state.piece = self.probe;
        } else {
            state.piece = (2 * state.piece).min(self.piece);
        }
    }
}

/// The cost to sort a match of a filter, in sixteenths of the cost of one of its candidates.
fn sorted_match(filter: &dyn Matcher) -> u64 {
    let parts = filter.parts();
    let candidates = CANDIDATES.iter().filter(|c| parts.iter().any(|part| part.engine == c.name()));
    let candidate_ns = candidates.map(|c| c.candidate_ns).fold(1.0, f32::max);
    (16.0 * SORTED_MATCH / candidate_ns) as u64
}

/// Scans with the automaton if there is one, else with the filter.
fn scan_with(
    automaton: Option<&Arc<dyn Matcher>>,
    filter: &Arc<dyn Matcher>,
    block: Block<'_>,
    state: &mut SwitchState,
    sink: &mut dyn Sink,
) -> ControlFlow<()> {
    match automaton {
        Some(automaton) => automaton.scan(block, &mut state.fallback, sink),
        None => filter.scan(block, &mut state.filter, sink),
    }
}

/// Passes on the batches of both engines. From the first unordered batch on, all are unordered,
/// unless the sink sorts them.
struct Mixed<'a> {
    sink: &'a mut dyn Sink,
    ordered: bool,
    /// Matches passed on, if the sink wants them in order. Those of the filter are charged to it.
    to_sort: u64,
}

impl<'a> Mixed<'a> {
    fn new(sink: &'a mut dyn Sink, ordered: bool) -> Mixed<'a> {
        Mixed { sink, ordered, to_sort: 0 }
    }
}

impl Sink for Mixed<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.ordered &= batch.ordered;
        if self.sink.wants_order() {
            self.to_sort += batch.records.len() as u64;
            return self.sink.on_batch(batch);
        }
        self.sink.on_batch(&Batch { ordered: self.ordered, ..*batch })
    }

    fn counter(&mut self) -> Option<&mut u64> {
        self.sink.counter()
    }

    fn wants_first(&self) -> bool {
        self.sink.wants_first()
    }

    fn wants_order(&self) -> bool {
        self.sink.wants_order()
    }

    fn settle(&mut self) -> ControlFlow<()> {
        self.sink.settle()
    }
}

impl Matcher for Switch {
    fn info(&self) -> &'static Info {
        self.filter.info()
    }

    fn set(&self) -> &PatternSet {
        self.filter.set()
    }

    fn scan(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let is_tiny = self.is_tiny(&block);
        let skipped = self.first_in_short(&block);
        if skipped == block.bytes.len() {
            return ControlFlow::Continue(());
        }
        // A copy of the block is slow right after its fields were written (`fyke bench hs --call`).
        let rest;
        let block = if skipped == 0 {
            &block
        } else {
            rest = Block { bytes: &block.bytes[skipped..], offset: skipped as u64, ..block };
            &rest
        };
        let (_, state) = scratch.parts::<SwitchState>();
        if state.owner != Some(self.owner) {
            state.reset_for(self);
        }
        if block.offset == 0 && block.overlap == 0 {
            state.mixed = false;
        }
        let mut to = Mixed::new(sink, !state.mixed);
        let before = state.filter.spent();
        let tiny = self.tiny.as_ref().filter(|_| is_tiny).and_then(|tiny| tiny.get(1));
        let flow = match tiny {
            Some(tiny) => tiny.scan(*block, &mut state.tiny, &mut to),
            None => self.scan_pieces(block, state, &mut to),
        };
        state.mixed = !to.ordered;
        let candidates = state.filter.spent() - before;
        scratch.spend(candidates);
        flow
    }

    fn first_candidate(&self, haystack: &[u8]) -> usize {
        self.filter.first_candidate(haystack)
    }

    fn find_first(&self, haystack: &[u8], first: First) -> FirstMatch {
        self.filter.find_first(haystack, first)
    }

    fn find_next(&self, haystack: &[u8], first: First, next: &mut NextFirst) -> FirstMatch {
        self.filter.find_next(haystack, first, next)
    }

    fn candidates_in_short(&self, haystack: &[u8]) -> Option<u64> {
        self.filter.candidates_in_short(haystack)
    }

    fn find_next_limits(&self) -> Option<NextLimits> {
        self.filter.find_next_limits()
    }

    fn find_first_part(&self) -> Option<&Arc<dyn Matcher>> {
        self.filter.find_first_part().or(Some(&self.filter))
    }

    fn find_first_min_len(&self) -> Option<usize> {
        self.filter.find_first_min_len()
    }

    fn find_first_max_len(&self) -> usize {
        self.filter.find_first_max_len()
    }

    fn find_several(&self, haystack: &[u8], first: First, found: &mut Vec<Match>) -> Option<bool> {
        self.filter.find_several(haystack, first, found)
    }

    fn footprint(&self) -> Footprint {
        let tiny = self.tiny.as_ref().and_then(Fallback::ready);
        let all = [Some(&self.filter), self.fallback.ready(), tiny];
        all.into_iter().flatten().fold(Footprint::default(), |sum, matcher| {
            let own = matcher.footprint();
            Footprint { host: sum.host + own.host, device: sum.device + own.device }
        })
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.filter.stats()
    }

    fn stored(&self) -> Vec<StoredPart<'_>> {
        let mut parts = self.filter.stored();
        if parts.is_empty() {
            parts.push(without_tables(&*self.filter));
        }
        // The last part of a split set has the plan of the whole set (module `build`).
        if let Some(last) = parts.last_mut() {
            last.plan = self.plan.clone();
        }
        parts
    }

    fn parts(&self) -> Vec<Part> {
        let tiny = self.tiny.as_ref().and_then(Fallback::ready);
        let others = [(self.fallback.ready(), Role::Fallback), (tiny, Role::SmallBlocks)];
        let other = |(matcher, role): (Option<&Arc<dyn Matcher>>, Role)| {
            matcher.map(|m| Part::of(&**m).with_role(role))
        };
        let mut parts = self.filter.parts();
        parts.extend(others.into_iter().filter_map(other));
        parts
    }

    fn describe(&self) -> String {
        let fallback = match self.fallback.ready() {
            Some(automaton) => format!("{} ({})", automaton.info().name, automaton.describe()),
            None => "an automaton, compiled when it is needed".to_owned(),
        };
        format!(
            "{}; where more than {} of 1,024 positions are candidates: {fallback}",
            self.filter.describe(),
            self.candidate_limit
        )
    }
}
