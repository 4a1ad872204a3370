//! The fallback for tiles with too many candidates: the automaton of `gpu-dfa`, whose throughput
//! hardly depends on the text.
//!
//! The kernels count candidates and stop when there are too many. The tile's records are dropped,
//! and the automaton searches the tile, which is on the device already. The next tile is likely to
//! be given up, too, so the automaton takes the next ones at once: each time the filter fails
//! again, about twice as many.
//!
//! The automaton is compiled when a tile first needs it, because most sets never meet such a text.
//! The filter goes on without a limit if the automaton refuses the set, or if the host would have
//! to confirm its records because some patterns ignore case and others do not.

use super::NEVER;
use crate::device::Device;
use crate::engine::gpu_dfa;
use crate::matcher::{Search, Tile};
use fyke_automata::Trie;
use fyke_core::{Options, PatternSet};
use std::sync::OnceLock;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// A tile is given up if it has a candidate for fewer bytes than this. Not measured: computed from
/// the cost of a candidate (`COST_CANDIDATE`) and the throughput of `gpu-dfa` (`floor/...`).
const BYTES_PER_CANDIDATE: u32 = 8;

/// Fewer candidates than this are never too many: they cost microseconds, and compiling the
/// automaton may take seconds. Not measured: a guess.
const LEAST: u32 = 1 << 20;

/// The maximum number of tiles for which the filter is left out: then the attempts cost next to
/// nothing. Not measured: a guess.
const LEFT_OUT: u32 = 63;

/// The automaton of a set, compiled when it is first needed.
pub(super) struct AutomatonFallback {
    set: PatternSet,
    memory: Option<u64>,
    device: Device,
    search: OnceLock<Option<Box<dyn Search>>>,
    /// For how many tiles the filter is still left out, and for how many it was left out when it
    /// failed last. Threads may count wrong, which costs time only.
    left_out: AtomicU32,
    period: AtomicU32,
}

impl AutomatonFallback {
    pub(super) fn new(set: &PatternSet, opt: &Options, device: &Device) -> Self {
        let search = OnceLock::new();
        if Trie::must_confirm(set).contains(&true) {
            let _ = search.set(None);
        }
        Self {
            set: set.clone(),
            memory: opt.memory_limit,
            device: device.clone(),
            search,
            left_out: AtomicU32::new(0),
            period: AtomicU32::new(0),
        }
    }

    /// The automaton, if it takes the next tile at once.
    pub(super) fn instead(&self) -> Option<&dyn Search> {
        let left = self.left_out.load(Relaxed).checked_sub(1)?;
        self.left_out.store(left, Relaxed);
        self.compiled()
    }

    /// Notes that the filter searched a tile to its end.
    pub(super) fn filter_was_enough(&self) {
        self.period.store(0, Relaxed);
    }

    /// Notes that the filter gave a tile up; returns [`search`](Self::search).
    pub(super) fn take_over(&self) -> Option<&dyn Search> {
        let period = (2 * self.period.load(Relaxed) + 1).min(LEFT_OUT);
        self.period.store(period, Relaxed);
        self.left_out.store(period, Relaxed);
        self.search()
    }

    /// Most candidates of a tile before it is given up.
    pub(super) fn most(&self, tile: Tile<'_>) -> u32 {
        match self.search.get() {
            Some(None) => NEVER,
            _ => (tile.bytes() / BYTES_PER_CANDIDATE).max(LEAST),
        }
    }

    /// The automaton, compiled if it was not before. `None` if it cannot take the set; from then
    /// on [`most`](Self::most) sets no limit.
    fn search(&self) -> Option<&dyn Search> {
        let compile = || {
            let opt = Options::default();
            let opt = match self.memory {
                Some(bytes) => opt.limited_to(bytes),
                None => opt,
            };
            let search = (gpu_dfa::ENGINE.prepare)(&self.set, &opt, &self.device).ok()?;
            (!search.confirm().contains(&true)).then_some(search)
        };
        self.search.get_or_init(compile).as_deref()
    }

    /// The automaton, if it has been needed.
    pub(super) fn compiled(&self) -> Option<&dyn Search> {
        self.search.get()?.as_deref()
    }
}
