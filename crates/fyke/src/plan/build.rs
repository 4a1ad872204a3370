//! Compiles a plan: matchers, the fallbacks of filters, and tables for small blocks.

use super::costs::{FALLBACK_NS, TINY_SAVES_NS};
use super::fallback::Fallback;
use super::split::{SplitMatcher, SubsetMatcher};
use super::stored::SwitchPlan;
use super::switch::Switch;
use super::{Arrangement, Candidate, INFO, Pick, Plan, Priced};
use fyke_core::{Engine, Matcher, Options, PatternSet, Refusal};
use fyke_cpu::engine::ac_dfa::{self, AcDfa};
use std::sync::Arc;

/// The maximum number of bytes of the table that scans small blocks in place of a filter. A guess:
/// a table of 2,000 words is faster than the filter (`calls`), and larger ones were not measured.
const TINY_TABLE: u64 = 8 << 20;

/// A table is built only if the memory limit leaves this many times its bytes, so that a low limit
/// serves the filter first. Not measured: a guess.
const TINY_SHARE: u64 = 8;

impl Plan {
    /// Compiles the best arrangement whose engines do not refuse the set.
    ///
    /// # Errors
    /// Nothing fits the memory limit, or no engine takes the set. The refusal is that of the last
    /// arrangement that was tried.
    pub fn compile(&self) -> Result<Arc<dyn Matcher>, Refusal> {
        self.compile_within(self.opt.memory_limit)
    }

    pub(super) fn compile_within(&self, limit: Option<u64>) -> Result<Arc<dyn Matcher>, Refusal> {
        if let Some(matcher) = self.gpu.compile(&self.set, &self.opt) {
            return Ok(matcher);
        }
        let mut refusal = self.why_nothing_fits();
        for arrangement in &self.arrangements {
            match self.build(arrangement, limit) {
                Ok(matcher) => return Ok(matcher),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }

    fn build(
        &self,
        arrangement: &Arrangement,
        limit: Option<u64>,
    ) -> Result<Arc<dyn Matcher>, Refusal> {
        match &*arrangement.picks {
            [pick] => self.build_pick(pick, limit),
            _ => self.build_split(arrangement, limit),
        }
    }

    /// One engine for all its patterns, with a fallback if it is a filter.
    fn build_pick(&self, pick: &Pick, limit: Option<u64>) -> Result<Arc<dyn Matcher>, Refusal> {
        let matcher = pick.priced.draft.compile_within(limit)?;
        // The filter's own time does not lower the limit: an automaton is slower on a hostile
        // haystack than its forecast, and candidates are rejected fast there (`hostile`).
        let expected = Expected { candidates: pick.priced.cost.candidates, ns_without: 0.0 };
        Ok(self.with_fallback(matcher, pick, &expected, &pick.automata, limit))
    }

    /// Several engines. If the last one is a filter, its fallback takes all patterns. Where most
    /// positions are candidates, one automaton is faster than two engines
    /// (`mixed/et-min4-and-120-short-zeek`). Without memory for it, there is no fallback.
    fn build_split(
        &self,
        arrangement: &Arrangement,
        limit: Option<u64>,
    ) -> Result<Arc<dyn Matcher>, Refusal> {
        let (last, others) = arrangement.picks.split_last().expect("an arrangement has engines");
        let (mut parts, mut left) = (Vec::new(), limit);
        for pick in others {
            let matcher = self.build_pick(pick, left)?;
            left = minus(left, matcher.footprint().host);
            parts.push(pick.part(matcher));
        }
        parts.push(last.part(last.priced.draft.compile_within(left)?));
        let split = Arc::new(SplitMatcher::new(&INFO, self.set.clone(), parts));
        Ok(self.with_fallback(split, last, &arrangement.expected(), &self.automata, limit))
    }

    /// If the engine of `pick` is a filter, adds the fastest of `automata` as a fallback to the
    /// matcher, and a table for small blocks if it has all patterns of the plan.
    fn with_fallback(
        &self,
        matcher: Arc<dyn Matcher>,
        pick: &Pick,
        expected: &Expected,
        automata: &[Priced],
        limit: Option<u64>,
    ) -> Arc<dyn Matcher> {
        if !pick.candidate.is_filter() {
            return matcher;
        }
        let left = minus(limit, matcher.footprint().host);
        let is_whole = matcher.set().len() == self.set.len();
        let tiny = tiny_table(matcher.set(), pick.candidate, left).filter(|_| is_whole);
        let left = minus(left, tiny.as_ref().map_or(0, |_| AcDfa::memory_for(matcher.set())));
        let Some((fallback, fallback_ns, engine)) = fallback(automata, pick.candidate, left) else {
            return matcher;
        };
        // Expected candidates are not hostile, even if the options name a slow filter.
        let saved = fallback_ns - expected.ns_without;
        let candidates = (saved / pick.candidate.candidate_ns).max(expected.candidates);
        let plan = SwitchPlan {
            engine: engine.to_owned(),
            price: fallback.price(),
            candidate_limit: (1024.0 * candidates).max(1.0) as u64,
            tiny: tiny.as_ref().map(Fallback::price),
        };
        let switch = Switch::new(matcher, fallback, tiny, &plan);
        Arc::new(switch.in_pieces(self.auto.piece))
    }
}

/// What a haystack is expected to cost, per byte.
struct Expected {
    /// The candidates of all filters.
    candidates: f32,
    /// Nanoseconds without them.
    ns_without: f32,
}

impl Arrangement {
    /// What its engines forecast.
    fn expected(&self) -> Expected {
        let ns = |p: &Pick| p.priced.cost.candidates * p.candidate.candidate_ns;
        let of_candidates: f32 = self.picks.iter().map(ns).sum();
        Expected { candidates: self.candidates(), ns_without: (self.ns() - of_candidates).max(0.0) }
    }
}

impl Pick {
    /// The part of a split set that a matcher takes.
    fn part(&self, matcher: Arc<dyn Matcher>) -> SubsetMatcher {
        let indices = self.subset.indices.as_ref().expect("a part has some of the patterns");
        SubsetMatcher { matcher, indices: indices.to_vec() }
    }
}

/// What a memory limit leaves after `bytes` bytes.
pub(super) fn minus(limit: Option<u64>, bytes: u64) -> Option<u64> {
    limit.map(|limit| limit.saturating_sub(bytes))
}

/// Whether a memory limit leaves enough for a transition table for small blocks.
pub(super) fn has_room_for_table(set: &PatternSet, left: Option<u64>) -> bool {
    left.is_none_or(|left| left >= TINY_SHARE.saturating_mul(AcDfa::memory_for(set)))
}

/// A transition table for blocks that are too small for a filter, compiled once it pays. `None` if
/// it is large, memory is short, or the filter is fast on small blocks, too.
fn tiny_table(set: &PatternSet, filter: &Candidate, left: Option<u64>) -> Option<Fallback> {
    let is_small = AcDfa::memory_for(set) <= TINY_TABLE;
    if filter.starts_fast || !is_small || !has_room_for_table(set, left) {
        return None;
    }
    let draft = ac_dfa::ENGINE.draft(set, &Options::default()).ok()?;
    let price = 1e6 * draft.cost()?.build_ms / TINY_SAVES_NS;
    Some(Fallback::new(price as u64, move || draft.compile_within(left).ok()))
}

/// The fastest automaton that fits the limit, with its nanoseconds per byte and its name. It is
/// compiled when a filter first needs it.
fn fallback(
    automata: &[Priced],
    filter: &Candidate,
    limit: Option<u64>,
) -> Option<(Fallback, f32, &'static str)> {
    let fits = |p: &&Priced| p.cost.memory <= limit.unwrap_or(u64::MAX);
    let ns = |p: &Priced| p.ns;
    let fitting = automata.iter().filter(fits);
    let cheapest = fitting.min_by(|a, b| ns(a).total_cmp(&ns(b)))?;
    let price = 1e6 * cheapest.cost.build_ms / filter.candidate_ns;
    let draft = cheapest.draft.clone();
    let compile = move || draft.compile_within(limit).ok();
    let fallback = Fallback::new(price as u64, compile).in_background();
    Some((fallback, ns(cheapest).max(least_ns(cheapest.cost.memory)), cheapest.engine))
}

/// The least nanoseconds per byte that are assumed for a fallback with tables of this many bytes.
fn least_ns(memory: u64) -> f32 {
    let class = FALLBACK_NS.iter().find(|(most, _)| memory <= *most);
    class.map_or(0.0, |(_, ns)| *ns)
}
