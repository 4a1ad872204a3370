//! What a scan does, counted: steps and memory accesses instead of seconds.
//!
//! The papers count transitions, additions and memory accesses. So do their engines here, by the loops
//! that scan: see [`Counter`]. [`CostOf`] adds [`cost`](CostOf::cost) to every matcher.

use crate::cpu;
use fyke_automata::count::{ACCESS_WIDTHS, Counter};
use fyke_automata::nfa::Nfa;
use fyke_automata::walk::{Automaton, Walker};
use fyke_core::{Block, Matcher};
use fyke_cpu::engine::ac_dfa::Dfa;
use std::any::Any;

/// What one scan did. Counts of different matchers compare on any machine, times do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Moves of an automaton from a state to a state, failure transitions included.
    pub transitions: u64,
    /// Bytes of the haystack, or blocks of them, that were compared with bytes of a pattern.
    pub comparisons: u64,
    /// Additions to find the rank of a bit in a bitmap.
    pub popcount_additions: u64,
    /// Memory accesses of a model in which every access brings one of [`ACCESS_WIDTHS`] bits.
    pub accesses: [u64; ACCESS_WIDTHS.len()],
}

impl Counter for Cost {
    fn transitions(&mut self, count: u64) {
        self.transitions += count;
    }

    fn comparisons(&mut self, count: u64) {
        self.comparisons += count;
    }

    fn popcount_additions(&mut self, count: u64) {
        self.popcount_additions += count;
    }

    fn accesses(&mut self, count: impl FnOnce() -> [u64; ACCESS_WIDTHS.len()]) {
        for (sum, more) in self.accesses.iter_mut().zip(count()) {
            *sum += more;
        }
    }
}

/// A matcher whose loops count.
pub trait Counted {
    /// What scanning a block costs.
    fn count(&self, block: Block<'_>) -> Cost;
}

impl<A: Automaton> Counted for Walker<A> {
    fn count(&self, block: Block<'_>) -> Cost {
        let mut cost = Cost::default();
        self.count_into(block, &mut cost);
        cost
    }
}

impl Counted for Dfa {
    fn count(&self, block: Block<'_>) -> Cost {
        let mut cost = Cost::default();
        self.count_into(block, &mut cost);
        cost
    }
}

/// Adds [`cost`](Self::cost) to every matcher.
pub trait CostOf {
    /// What scanning a block costs in steps, by the code of [`Matcher::scan`]. `None` if the engine
    /// does not count.
    fn cost(&self, block: Block<'_>) -> Option<Cost>;
}

impl CostOf for dyn Matcher {
    fn cost(&self, block: Block<'_>) -> Option<Cost> {
        let counted = COUNTED.iter().find_map(|downcast| downcast(self))?;
        Some(counted.count(block))
    }
}

/// Finds out whether a matcher is of one of an engine's types.
pub(crate) type Downcast = fn(&dyn Any) -> Option<&dyn Counted>;

/// The [`Downcast`] to `M`.
pub(crate) fn downcast<M: Counted + 'static>(matcher: &dyn Any) -> Option<&dyn Counted> {
    matcher.downcast_ref::<M>().map(|m| m as &dyn Counted)
}

/// The types of all matchers that count.
static COUNTED: &[Downcast] = &[
    downcast::<Dfa>,
    downcast::<Walker<Nfa>>,
    cpu::ac_array::COUNTED,
    cpu::ac_bitmap1::COUNTED,
    cpu::ac_bitmap2::COUNTED,
    cpu::ac_bitmap3::COUNTED,
    cpu::ac_oo::COUNTED,
    cpu::ac_oo_compressed::COUNTED,
    cpu::ac_packed::COUNTED,
    cpu::ac_tuck::COUNTED,
    cpu::bm::COUNTED,
    cpu::bm_multi::COUNTED,
    cpu::bm_set::COUNTED,
    cpu::ebm::COUNTED,
    cpu::kmp::COUNTED,
    cpu::pfac::COUNTED,
    cpu::wu_manber::COUNTED,
];
