//! Rebuilds the matcher of a plan from what a database stores of it (module `stored`), without
//! planning.

use super::INFO;
use super::build::{has_room_for_table, minus};
use super::candidates::CANDIDATES;
use super::fallback::Fallback;
use super::options::AutoOptions;
use super::split::{SplitMatcher, SubsetMatcher};
use super::stored::SwitchPlan;
use super::switch::Switch;
use fyke_core::stored::{LoadedPart, UnsoundTables};
use fyke_core::{Engine, Matcher, Options, PatternSet};
use fyke_cpu::engine::ac_dfa::{self, AcDfa};
use std::sync::Arc;

/// The matcher that `auto` built, from what a database stores of it. `None` if the set must be
/// planned and compiled again.
///
/// # Errors
/// A part is not sound: which rule it breaks.
pub(crate) fn load(
    set: &PatternSet,
    opt: &Options,
    parts: &[LoadedPart],
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    let Ok(auto) = AutoOptions::new(opt) else { return Ok(None) };
    match parts {
        [] => Ok(None),
        [part] if part.indices.is_empty() => load_part(set, part, &auto, opt),
        parts => load_split(set, parts, &auto, opt),
    }
}

/// A set that several engines share. The plan of the last part is that of the whole.
fn load_split(
    set: &PatternSet,
    parts: &[LoadedPart],
    auto: &AutoOptions,
    opt: &Options,
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    let patterns: usize = parts.iter().map(|part| part.indices.len()).sum();
    let is_whole = parts.len() > 1 && patterns == set.len();
    let Some((last, others)) = parts.split_last().filter(|_| is_whole) else {
        return Err("the parts are not all of the set");
    };
    let (mut subsets, mut left) = (Vec::new(), opt.clone());
    for part in others {
        check_indices(set, part)?;
        let Some(matcher) = load_part(&part.set, part, auto, &left)? else { return Ok(None) };
        left.memory_limit = minus(left.memory_limit, matcher.footprint().host);
        subsets.push(SubsetMatcher { matcher, indices: part.indices.to_vec() });
    }
    check_indices(set, last)?;
    let Some(matcher) = load_tables(&last.set, last, auto, &left)? else { return Ok(None) };
    subsets.push(SubsetMatcher { matcher, indices: last.indices.to_vec() });
    let split = Arc::new(SplitMatcher::new(&INFO, set.clone(), subsets));
    with_plan(split, &last.plan, auto, opt)
}

/// Checks what matches rely on: the indices of a part ascend, lie in the set, and belong to
/// patterns of the same lengths.
fn check_indices(set: &PatternSet, part: &LoadedPart) -> Result<(), UnsoundTables> {
    let (indices, of) = (&part.indices, &part.set);
    let in_set = indices.last().is_none_or(|last| (*last as usize) < set.len());
    let sound = indices.len() == of.len()
        && indices.is_sorted_by(|a, b| a < b)
        && in_set
        && (0..of.len() as u32)
            .zip(&indices[..])
            .all(|(i, &whole)| of.pattern_len(i) == set.pattern_len(whole));
    sound.then_some(()).ok_or("the patterns of a part are not those of the set")
}

/// A matcher with its fallback, if it is a filter.
fn load_part(
    set: &PatternSet,
    part: &LoadedPart,
    auto: &AutoOptions,
    opt: &Options,
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    let Some(matcher) = load_tables(set, part, auto, opt)? else { return Ok(None) };
    with_plan(matcher, &part.plan, auto, opt)
}

/// A matcher without its fallback. `None` if it must be planned again: this build does not know the
/// engine or its options, or a filter has no plan.
fn load_tables(
    set: &PatternSet,
    part: &LoadedPart,
    auto: &AutoOptions,
    opt: &Options,
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    let known = CANDIDATES.iter().find(|c| c.name() == part.engine);
    let Some(candidate) = known.filter(|c| !c.is_filter() || !part.plan.is_empty()) else {
        return Ok(None);
    };
    let Ok(own) = auto.for_candidate(candidate, opt) else { return Ok(None) };
    match part.layout {
        0 => Ok(candidate.engine.compile(set, &own).ok()),
        _ => candidate.engine.load(set, &own, part),
    }
}

/// A matcher with the fallback of its plan, if it has a plan. `None` if this build does not know
/// the automaton or its options.
fn with_plan(
    matcher: Arc<dyn Matcher>,
    plan: &[u8],
    auto: &AutoOptions,
    opt: &Options,
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    if plan.is_empty() {
        return Ok(Some(matcher));
    }
    let plan = SwitchPlan::decode(plan).ok_or("the plan cannot be read")?;
    Ok(switch(matcher, plan, auto, opt))
}

/// A filter with its fallback. `None` if this build does not know the automaton or its options.
fn switch(
    filter: Arc<dyn Matcher>,
    plan: SwitchPlan,
    auto: &AutoOptions,
    opt: &Options,
) -> Option<Arc<dyn Matcher>> {
    let automaton = CANDIDATES.iter().find(|c| c.name() == plan.engine && !c.is_filter())?;
    let left = minus(opt.memory_limit, filter.footprint().host);
    let tiny = plan.tiny.filter(|_| has_room_for_table(filter.set(), left));
    let small = Options::default().within(left);
    let tiny = tiny.map(|price| later(price, filter.set(), &ac_dfa::ENGINE, small));
    let left = minus(left, tiny.as_ref().map_or(0, |_| AcDfa::memory_for(filter.set())));
    let own = auto.for_candidate(automaton, opt).ok()?.within(left);
    let fallback = later(plan.price, filter.set(), automaton.engine, own).in_background();
    let switch = Switch::new(filter, fallback, tiny, &plan);
    Some(Arc::new(switch.in_pieces(auto.piece)))
}

/// An automaton that is compiled when it pays.
fn later(price: u64, set: &PatternSet, engine: &'static dyn Engine, opt: Options) -> Fallback {
    let set = set.clone();
    Fallback::new(price, move || engine.compile(&set, &opt).ok())
}
