//! A way out of tiles that are all candidates: the automaton of gpu-dfa, whose rate hardly depends on the text.
//!
//! The kernels count candidates as they go and stop once there are too many. What was found is dropped, and the automaton
//! searches the tile, which is on the device already. It is compiled when a first tile gives up, since most sets never meet
//! such a text. If it refuses the set, or its records would have to be compared with the text because patterns ignore case
//! beside others that do not, the filter goes on without a limit.
//!
//! Predicted, not measured: text that is all candidates costs 0.31 ps a byte and 21 ps for each candidate, some 0.1 TB/s at
//! one candidate for two bytes; with the limit a tile costs at most 2.9 ps a byte before it is given up, and then what the automaton takes.

use super::NEVER;
use crate::device::Device;
use crate::engine::gpu_dfa;
use crate::matcher::{Search, Tile};
use fyke_automata::Trie;
use fyke_core::{Options, PatternSet};
use std::sync::OnceLock;

/// Bytes for each candidate from which on a tile is given up. By arithmetic, not swept: a candidate costs some 14 ps on an
/// H200 (rules over traffic), so one in eight bytes leaves the filter 0.5 TB/s. The automaton has 0.4 to 0.7 on traffic, 0.26 to
/// 0.4 on hostile text.
const BYTES_PER_CANDIDATE: u32 = 8;

/// Fewer candidates than this are never too many: they cost some 20 microseconds, and the automaton may take seconds to be
/// compiled. Not swept.
const LEAST: u32 = 1 << 20;

/// The other search of a set.
pub(super) struct Fallback {
    set: PatternSet,
    memory: Option<u64>,
    device: Device,
    search: OnceLock<Option<Box<dyn Search>>>,
}

impl Fallback {
    pub(super) fn new(set: &PatternSet, opt: &Options, device: &Device) -> Self {
        let search = OnceLock::new();
        if Trie::must_confirm(set).contains(&true) {
            let _ = search.set(None);
        }
        Self { set: set.clone(), memory: opt.memory_limit, device: device.clone(), search }
    }

    /// Candidates after which a tile is given up.
    pub(super) fn most(&self, tile: Tile<'_>) -> u32 {
        match self.search.get() {
            Some(None) => NEVER,
            _ => (tile.bytes / BYTES_PER_CANDIDATE).max(LEAST),
        }
    }

    /// The search, compiled now if it was not before; nothing if it does not take the set, and then there is no limit from
    /// now on.
    pub(super) fn search(&self) -> Option<&dyn Search> {
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

    /// The search, if it was needed before.
    pub(super) fn compiled(&self) -> Option<&dyn Search> {
        self.search.get()?.as_deref()
    }
}
