//! A filter with an automaton as its fallback, for hostile haystacks.
//!
//! A filter is fast because few positions are candidates. An attacker who knows the patterns can
//! write a haystack where every position is one. So the haystack is scanned in pieces. After a
//! piece with too many candidates the automaton takes some pieces; its speed does not depend on
//! the haystack. Then the filter is tried on a small piece. If that has too many candidates again,
//! the automaton takes twice as many pieces. So a hostile haystack takes little longer than with
//! the automaton alone, and a haystack with one hostile section little longer than with the filter
//! alone.

use fyke_core::{
    Batch, Block, First, Footprint, Info, Match, Matcher, MatcherId, Part, PatternSet, Role,
    Scratch, Sink,
};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a piece while candidates are few: with the tables it fits a second-level cache
/// (`hostile`).
const PIECE: usize = 64 << 10;

/// Bytes of the piece that the filter is tried on after the automaton (`hostile`).
const PROBE: usize = 4 << 10;

/// Pieces that the automaton takes before the filter is tried again: at first, and at most
/// (`hostile`).
const PAUSE: std::ops::RangeInclusive<u32> = 1..=64;

/// Blocks of up to this many bytes go to a transition table, because a filter starts slower
/// (`calls`).
const TINY: usize = 256;

/// The automaton of a filter, compiled when it is first needed.
///
/// Ski rental: it is built once the time wasted on candidates equals its build time, which costs
/// at most twice the optimum.
pub(super) struct Fallback {
    /// `None` if compiling fails: the filter then goes on alone.
    compile: Box<dyn Fn() -> Option<Arc<dyn Matcher>> + Send + Sync>,
    cell: OnceLock<Option<Arc<dyn Matcher>>>,
    /// What compiling costs, in candidates or small blocks.
    price: u64,
    /// Candidates beyond the limits of their pieces so far, or small blocks.
    wasted: AtomicU64,
}

impl Fallback {
    /// An automaton that is compiled once `price` candidates above the limit were rejected.
    pub(super) fn new(
        price: u64,
        compile: impl Fn() -> Option<Arc<dyn Matcher>> + Send + Sync + 'static,
    ) -> Fallback {
        let (compile, cell) = (Box::new(compile), OnceLock::new());
        Fallback { compile, cell, price, wasted: AtomicU64::new(0) }
    }

    /// Whether to use the automaton, after a piece with this many candidates above its limit.
    fn is_worth_it(&self, candidates: u64) -> bool {
        if self.cell.get().is_some() {
            return true;
        }
        let before = self.wasted.fetch_add(candidates, Ordering::Relaxed);
        before.saturating_add(candidates) >= self.price
    }

    /// The automaton, if it was compiled.
    fn ready(&self) -> Option<&Arc<dyn Matcher>> {
        self.cell.get()?.as_ref()
    }

    /// The automaton; compiles it the first time.
    fn get(&self) -> Option<&Arc<dyn Matcher>> {
        self.cell.get_or_init(&self.compile).as_ref()
    }
}

/// A filter with its fallback.
pub(super) struct Switch {
    owner: MatcherId,
    filter: Arc<dyn Matcher>,
    fallback: Fallback,
    /// A table for blocks that are too small for the filter.
    tiny: Option<Fallback>,
    /// Candidates per 1,024 bytes above which the fallback takes over.
    candidate_limit: u64,
    /// Bytes of a piece, and of one that the filter is tried on.
    piece: usize,
    probe: usize,
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
    /// Whether a batch was out of order.
    mixed: bool,
}

impl Switch {
    pub(super) fn new(
        filter: Arc<dyn Matcher>,
        fallback: Fallback,
        candidate_limit: u64,
    ) -> Switch {
        let overlap = filter.set().overlap();
        let (piece, probe) = (PIECE.max(16 * overlap), PROBE.max(overlap));
        Switch {
            owner: MatcherId::new(),
            filter,
            fallback,
            tiny: None,
            candidate_limit,
            piece,
            probe,
        }
    }

    /// The same, with a table for blocks that are too small for the filter.
    pub(super) fn with_tiny(mut self, table: Option<Fallback>) -> Switch {
        self.tiny = table;
        self
    }

    /// The same in pieces of `bytes` bytes, with a fallback that is compiled at once. Tests use it
    /// to see the switch.
    pub(super) fn in_pieces(mut self, bytes: usize) -> Switch {
        (self.piece, self.probe, self.tiny) = (bytes, bytes, None);
        self.fallback.price = 0;
        self
    }

    /// The table, if a block is small enough for it and it pays.
    fn tiny_for(&self, block: &Block<'_>) -> Option<&Arc<dyn Matcher>> {
        let tiny = self.tiny.as_ref().filter(|_| block.bytes.len() <= TINY)?;
        if tiny.is_worth_it(1) { tiny.get() } else { None }
    }

    fn scan_pieces(
        &self,
        block: Block<'_>,
        state: &mut SwitchState,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let (mut from, end) = (block.overlap, block.bytes.len());
        while from < end {
            let pauses = state.pause > 0;
            let to = end.min(from + if pauses { self.piece } else { state.piece });
            let piece = block.part(from, to, self.set().overlap());
            match if pauses { self.fallback.get() } else { None } {
                Some(automaton) => {
                    state.pause -= 1;
                    automaton.scan(piece, &mut state.fallback, sink)?;
                }
                None => self.try_filter(piece, state, sink)?,
            }
            from = to;
        }
        ControlFlow::Continue(())
    }

    fn try_filter(
        &self,
        piece: Block<'_>,
        state: &mut SwitchState,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let before = state.filter.spent();
        self.filter.scan(piece, &mut state.filter, sink)?;
        let candidates = state.filter.spent() - before;
        let limit = self.candidate_limit * piece.owned().len() as u64 / 1024;
        if candidates > limit && self.fallback.is_worth_it(candidates - limit) {
            // Compiled now, not with the next piece, so that the time counts for this piece.
            self.fallback.get();
            state.pause = state.next;
            state.next = (2 * state.next).min(*PAUSE.end());
            state.piece = self.probe;
        } else {
            state.next = *PAUSE.start();
            state.piece = (2 * state.piece).min(self.piece);
        }
        ControlFlow::Continue(())
    }
}

/// Passes on the batches of both engines. From the first unordered batch on, all are unordered.
struct Mixed<'a> {
    sink: &'a mut dyn Sink,
    ordered: bool,
}

impl Sink for Mixed<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.ordered &= batch.ordered;
        self.sink.on_batch(&Batch { ordered: self.ordered, ..*batch })
    }

    fn counter(&mut self) -> Option<&mut u64> {
        self.sink.counter()
    }

    fn wants_first(&self) -> bool {
        self.sink.wants_first()
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
        let (_, state) = scratch.parts::<SwitchState>();
        if state.owner != Some(self.owner) {
            // The scratches serve any matcher.
            (state.owner, state.mixed) = (Some(self.owner), false);
            (state.pause, state.next, state.piece) = (0, *PAUSE.start(), self.piece);
        }
        let mut to = Mixed { sink, ordered: !state.mixed };
        let before = state.filter.spent();
        let flow = match self.tiny_for(&block) {
            Some(tiny) => tiny.scan(block, &mut state.tiny, &mut to),
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

    fn find_first(&self, haystack: &[u8], first: First) -> Option<Option<Match>> {
        self.filter.find_first(haystack, first)
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

    fn parts(&self) -> Vec<Part> {
        let tiny = self.tiny.as_ref().and_then(Fallback::ready);
        let others = [(self.fallback.ready(), Role::Fallback), (tiny, Role::SmallBlocks)];
        let other = |(matcher, role): (Option<&Arc<dyn Matcher>>, Role)| {
            matcher.map(|m| Part::of(&**m).with_role(role))
        };
        std::iter::once(Part::of(&*self.filter))
            .chain(others.into_iter().filter_map(other))
            .collect()
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
