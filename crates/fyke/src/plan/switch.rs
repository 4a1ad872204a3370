//! A filter with an automaton behind it, for haystacks that are made to deceive the filter.
//!
//! A filter is fast because few places look like a match. Whoever knows the patterns can write a haystack
//! where every place does. So a haystack is scanned in pieces, and after each piece that had too many
//! candidates the automaton, which takes one step a byte whatever comes, takes over for some pieces. Then
//! the filter is tried again, on a small piece; if that is too expensive too, the automaton has the next pieces twice
//! as long. So a hostile haystack costs little more than the automaton needs, and a haystack with a hostile
//! stretch in it costs little more than the filter needs.

use fyke_core::{Batch, Block, Footprint, Info, Matcher, MatcherId, PatternSet, Scratch, Sink};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Bytes of a piece while all is well: it fits a second-level cache beside the tables. Not swept.
const PIECE: usize = 64 << 10;

/// Bytes of a piece that the filter is tried on after it was too expensive. Not swept.
const PROBE: usize = 4 << 10;

/// Pieces that the automaton has after the filter was too expensive: at first, and at most. Not swept.
const PAUSE: std::ops::RangeInclusive<u32> = 1..=64;

/// Blocks of up to so many bytes are not worth a filter's preparations: 16 bytes take a table's walk a quarter of the
/// time that they take `qgram-filter`, 53 bytes three quarters, 256 bytes twice (the `size` cells of
/// the matrix record of 2026-11-21).
const TINY: usize = 64;

/// The automaton: there from the start, or compiled when it is first needed.
pub(super) enum Fallback {
    /// Compiled with the set.
    Ready(Arc<dyn Matcher>),
    /// Compiled when too expensive pieces have cost as much as that will.
    Late(Late),
}

/// An automaton that may never be needed. To wait until what was lost without it is what it costs loses no more than
/// twice what the best foresight would.
pub(super) struct Late {
    /// Without it, if that fails, the filter goes on alone.
    compile: Box<dyn Fn() -> Option<Arc<dyn Matcher>> + Send + Sync>,
    cell: OnceLock<Option<Arc<dyn Matcher>>>,
    /// What compiling costs, in candidates.
    price: u64,
    /// Candidates that were looked at beyond what makes a piece too expensive.
    lost: AtomicU64,
}

impl Late {
    fn is_worth_it(&self, candidates: u64) -> bool {
        let before = self.lost.fetch_add(candidates, Ordering::Relaxed);
        self.cell.get().is_some() || before.saturating_add(candidates) >= self.price
    }
}

impl Fallback {
    /// One that is compiled when as many candidates were looked at in vain as compiling costs.
    pub(super) fn late(
        price: u64,
        compile: impl Fn() -> Option<Arc<dyn Matcher>> + Send + Sync + 'static,
    ) -> Fallback {
        let (compile, cell) = (Box::new(compile), OnceLock::new());
        Fallback::Late(Late { compile, cell, price, lost: AtomicU64::new(0) })
    }

    /// Whether it is there, or is to be, after a piece had so many candidates too many.
    fn is_worth_it(&self, candidates: u64) -> bool {
        match self {
            Fallback::Ready(_) => true,
            Fallback::Late(late) => late.is_worth_it(candidates),
        }
    }

    /// The same at no price.
    fn at_once(mut self) -> Fallback {
        if let Fallback::Late(late) = &mut self {
            late.price = 0;
        }
        self
    }

    /// What there is already.
    fn ready(&self) -> Option<&Arc<dyn Matcher>> {
        match self {
            Fallback::Ready(matcher) => Some(matcher),
            Fallback::Late(late) => late.cell.get()?.as_ref(),
        }
    }

    fn get(&self) -> Option<&Arc<dyn Matcher>> {
        match self {
            Fallback::Ready(matcher) => Some(matcher),
            Fallback::Late(late) => late.cell.get_or_init(&late.compile).as_ref(),
        }
    }
}

/// A filter and its floor.
pub(super) struct Switch {
    owner: MatcherId,
    filter: Arc<dyn Matcher>,
    floor: Fallback,
    /// A table for blocks that are too small for the filter.
    tiny: Option<Arc<dyn Matcher>>,
    /// Candidates in 1,024 bytes from which on a piece is too expensive.
    candidate_limit: u64,
    /// Bytes of a piece, and of one that the filter is tried on.
    piece: usize,
    probe: usize,
}

/// How a scan has gone so far.
#[derive(Default)]
struct State {
    owner: Option<MatcherId>,
    filter: Scratch,
    floor: Scratch,
    tiny: Scratch,
    /// Pieces that the automaton still has, and how many it gets next time.
    pause: u32,
    next: u32,
    /// Bytes of the filter's next piece.
    piece: usize,
    /// Whether there was a batch that was not in order.
    mixed: bool,
}

impl Switch {
    pub(super) fn new(filter: Arc<dyn Matcher>, floor: Fallback, candidate_limit: u64) -> Switch {
        let overlap = filter.set().overlap();
        let (piece, probe) = (PIECE.max(16 * overlap), PROBE.max(overlap));
        Switch { owner: MatcherId::new(), filter, floor, tiny: None, candidate_limit, piece, probe }
    }

    /// The same with a table for blocks that are too small for the filter.
    pub(super) fn with_tiny(mut self, table: Option<Arc<dyn Matcher>>) -> Switch {
        self.tiny = table;
        self
    }

    /// The same in pieces so small that tests get to see it switch.
    pub(super) fn in_pieces(mut self, bytes: usize) -> Switch {
        (self.piece, self.probe, self.tiny) = (bytes, bytes, None);
        self.floor = self.floor.at_once();
        self
    }

    fn scan_pieces(
        &self,
        block: Block<'_>,
        state: &mut State,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let (mut from, end) = (block.overlap, block.bytes.len());
        while from < end {
            let waits = state.pause > 0;
            let to = end.min(from + if waits { self.piece } else { state.piece });
            let piece = block.part(from, to, self.set().overlap());
            match self.floor.get_if(waits) {
                Some(floor) => {
                    state.pause -= 1;
                    floor.scan(piece, &mut state.floor, sink)?;
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
        state: &mut State,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let before = state.filter.spent();
        self.filter.scan(piece, &mut state.filter, sink)?;
        let candidates = state.filter.spent() - before;
        let bearable = self.candidate_limit * piece.owned().len() as u64 / 1024;
        if candidates > bearable && self.floor.is_worth_it(candidates - bearable) {
            // Now, and not when the next piece has come: whoever times or watches a scan knows what took so long.
            self.floor.get();
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

/// Batches of a filter and of an automaton, piece by piece. They are in order as long as those were that came before.
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
}

impl Fallback {
    fn get_if(&self, wanted: bool) -> Option<&Arc<dyn Matcher>> {
        if wanted { self.get() } else { None }
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
        let (_, state) = scratch.parts::<State>();
        if state.owner != Some(self.owner) {
            let (next, piece) = (*PAUSE.start(), self.piece);
            *state = State { owner: Some(self.owner), next, piece, ..State::default() };
        }
        let mut to = Mixed { sink, ordered: !state.mixed };
        let before = state.filter.spent();
        let flow = match &self.tiny {
            Some(tiny) if block.bytes.len() <= TINY => tiny.scan(block, &mut state.tiny, &mut to),
            _ => self.scan_pieces(block, state, &mut to),
        };
        state.mixed = !to.ordered;
        let candidates = state.filter.spent() - before;
        scratch.spend(candidates);
        flow
    }

    fn footprint(&self) -> Footprint {
        let all = [Some(&self.filter), self.floor.ready(), self.tiny.as_ref()];
        all.into_iter().flatten().fold(Footprint::default(), |sum, matcher| {
            let own = matcher.footprint();
            Footprint { host: sum.host + own.host, device: sum.device + own.device }
        })
    }

    fn stats(&self) -> Vec<(String, u64)> {
        self.filter.stats()
    }

    fn describe(&self) -> String {
        let floor = match self.floor.ready() {
            Some(floor) => format!("{} ({})", floor.info().name, floor.describe()),
            None => "an automaton, to be compiled if it is needed".to_owned(),
        };
        format!(
            "{}; where more than {} of 1,024 positions are candidates: {floor}",
            self.filter.describe(),
            self.candidate_limit
        )
    }
}
