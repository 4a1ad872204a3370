//! Counts what a scan does: steps and memory accesses instead of seconds.
//!
//! The papers compare engines by transitions, additions and memory accesses. The engines here
//! count them with the loops that scan: a loop is generic over a [`CostCounter`], and the one that
//! counts nothing compiles away. Counts are the same on every machine, times are not.
//!
//! [`CostOf`] adds [`cost`](CostOf::cost) to every matcher.

use crate::cpu;
use fyke_automata::count::{Counter, Uncounted};
use fyke_automata::nfa::Nfa;
use fyke_automata::walk::{Step, Walker};
use fyke_core::{Block, Count, Matcher, Scratch, Sink};
use fyke_cpu::engine::ac_dfa::Dfa;
use std::any::Any;
use std::ops::ControlFlow;

/// Widths of memory, in bits, that accesses are counted for: Zha 2010, tables 2-3 and 2-4.
pub const ACCESS_WIDTHS: [u32; 4] = [32, 64, 128, 1024];

/// Memory accesses for each of [`ACCESS_WIDTHS`].
pub type Accesses = [u64; ACCESS_WIDTHS.len()];

/// Receives the steps of a scan that the papers count.
pub trait CostCounter: Counter {
    /// The scan compared `count` bytes of the haystack, or blocks of them, with bytes of a
    /// pattern.
    #[inline(always)]
    fn comparisons(&mut self, _count: u64) {}

    /// The scan made `count` additions to find the rank of a bit in a bitmap.
    #[inline(always)]
    fn popcount_additions(&mut self, _count: u64) {}

    /// The scan accessed memory. `count` computes how often; only counters that use it call it.
    #[inline(always)]
    fn accesses(&mut self, _count: impl FnOnce() -> Accesses) {}
}

impl CostCounter for Uncounted {}

/// The steps of one scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Moves of an automaton from a state to a state, failure transitions included.
    pub transitions: u64,
    /// Bytes of the haystack, or blocks of them, that were compared with bytes of a pattern.
    pub comparisons: u64,
    /// Additions to find the rank of a bit in a bitmap.
    pub popcount_additions: u64,
    /// Memory accesses, in a model where each access loads one block of [`ACCESS_WIDTHS`] bits.
    pub accesses: Accesses,
}

impl Counter for Cost {
    fn transitions(&mut self, count: u64) {
        self.transitions += count;
    }
}

impl CostCounter for Cost {
    fn comparisons(&mut self, count: u64) {
        self.comparisons += count;
    }

    fn popcount_additions(&mut self, count: u64) {
        self.popcount_additions += count;
    }

    fn accesses(&mut self, count: impl FnOnce() -> Accesses) {
        for (sum, more) in self.accesses.iter_mut().zip(count()) {
            *sum += more;
        }
    }
}

impl Cost {
    /// The cost of a scan. The scan gets a sink that never stops it.
    pub(crate) fn of_scan(
        scan: impl FnOnce(&mut Scratch, &mut dyn Sink, &mut Cost) -> ControlFlow<()>,
    ) -> Cost {
        let mut cost = Cost::default();
        let flow = scan(&mut Scratch::new(), &mut Count::default(), &mut cost);
        debug_assert!(flow.is_continue(), "a count never stops");
        cost
    }
}

/// A matcher whose loops count.
pub trait Counted {
    /// What scanning a block costs.
    fn count(&self, block: Block<'_>) -> Cost;
}

impl<A: Step<Cost> + Step<Uncounted>> Counted for Walker<A> {
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
    /// What scanning a block costs in steps, counted by the code of [`Matcher::scan`]. `None` if
    /// the engine does not count.
    fn cost(&self, block: Block<'_>) -> Option<Cost>;
}

impl CostOf for dyn Matcher {
    fn cost(&self, block: Block<'_>) -> Option<Cost> {
        let counted = COUNTED.iter().find_map(|downcast| downcast(self))?;
        Some(counted.count(block))
    }
}

/// Casts a matcher to a type that counts, if it is of that type.
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
