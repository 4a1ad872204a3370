//! Applies a calibration: each cost is multiplied by the ratio of its probe, which is the probe's
//! time on this machine over that on the reference machine.

use super::{Access, Costs, FilterCosts, PerIsa, SamplingCosts, TeddyCosts};
use crate::simd::Isa;

/// The ratio of a probe, by its name.
type Ratios<'a> = &'a dyn Fn(&str) -> Option<f32>;

/// The ratios for one instruction set.
struct Of<'a> {
    ratios: Ratios<'a>,
    isa: Isa,
}

impl Of<'_> {
    /// The ratio of a probe that every instruction set has; 1 if it was not measured.
    fn get(&self, probe: &str) -> f32 {
        (self.ratios)(&format!("{probe}.{}", self.isa.name())).unwrap_or(1.0)
    }
}

pub(super) fn calibrated(costs: &Costs, ratios: Ratios<'_>) -> Costs {
    let ratio = |probe: &str| ratios(probe).unwrap_or(1.0);
    let mut costs = Costs { is_calibrated: true, ..costs.clone() };
    let [small, medium, large] = ["table-small", "table-medium", "table-large"].map(ratio);
    let dfa = &mut costs.ac_dfa;
    for (size, by) in dfa.by_size.iter_mut().zip([small, small, medium, large, large]) {
        size.1 *= by;
    }
    scale([&mut dfa.alone], ratio("alone"));
    scale([&mut dfa.hit], ratio("table-matches"));
    scale([&mut dfa.call, &mut dfa.first_byte], ratio("table-call"));
    scale([&mut dfa.build], ratio("table-build"));
    scale([&mut costs.ac_nfa.byte, &mut costs.ac_nfa.doubling], ratio("links"));
    scale([&mut costs.ac_nfa.build], ratio("links-build"));
    let walk = &mut costs.ac_simd;
    scale([&mut walk.hit], ratio("walk-matches"));
    scale([&mut walk.call], ratio("walk-call"));
    scale([&mut walk.transition, &mut walk.state], ratio("walk-build"));
    scale([&mut walk.loads], ratio("walk-loads"));
    scale([&mut walk.gathers.avx512], ratio("walk.avx512"));
    scale([&mut walk.gathers.avx2], ratio("walk.avx2"));
    each(&mut costs.teddy, ratios, teddy);
    each(&mut costs.qgram_filter, ratios, filter);
    each(&mut costs.qgram_sampling, ratios, sampling);
    costs
}

fn teddy(costs: &mut TeddyCosts, of: &Of<'_>) {
    scale([&mut costs.byte, &mut costs.step, &mut costs.two_bytes], of.get("teddy"));
    // The scalar form has no pair tables.
    if of.isa != Isa::Scalar {
        scale(costs.paired.each_mut(), of.get("teddy-pairs"));
        scale(costs.paired_even.each_mut(), of.get("teddy-pairs"));
        // No probe times gathers of pairs: `filter-1` stands for them. The cost is relative to
        // scalar loads, which `teddy-pairs` has scaled.
        scale([&mut costs.paired_gathers], of.get("filter-1") / of.get("teddy-pairs"));
    }
    let short = &mut costs.short;
    let shorts = [&mut short.eight, &mut short.eight_and_byte];
    scale(shorts, of.get("teddy-short"));
    scale([&mut costs.candidate, &mut costs.short_hit], of.get("teddy-matches"));
    scale(costs.candidate_in_short_call.each_mut(), of.get("teddy-matches"));
    scale([&mut costs.empty_call, &mut costs.call_with_candidate], of.get("teddy-call"));
}

fn filter(costs: &mut FilterCosts, of: &Of<'_>) {
    let strides = [1, 2, 4].map(|stride| of.get(&format!("filter-{stride}")));
    let [one, two, _] = strides;
    costs.long.iter_mut().zip(strides).for_each(|(cost, by)| *cost *= by);
    costs.short.iter_mut().zip([one, two]).for_each(|(cost, by)| *cost *= by);
    scale([&mut costs.joined, &mut costs.three], two);
    scale([&mut costs.doubling], one);
    // `loads` is relative to gathers, which `one` has scaled already.
    scale([&mut costs.loads], of.get("filter-loads") / one);
    scale([&mut costs.candidate, &mut costs.record], of.get("filter-matches"));
    let calls = [
        &mut costs.empty_call,
        &mut costs.call_with_candidate,
        &mut costs.call_and_pattern,
        &mut costs.patterns_at_most,
    ];
    scale(calls, of.get("filter-call"));
    scale([&mut costs.build], of.get("filter-build"));
}

fn sampling(costs: &mut SamplingCosts, of: &Of<'_>) {
    let access = |access: &mut Access, by: f32| {
        access.step *= by;
        access.table.iter_mut().for_each(|ns| *ns *= by);
    };
    scale([&mut costs.byte], of.get("sampling"));
    access(&mut costs.sample, of.get("sampling"));
    access(&mut costs.candidate, of.get("sampling-matches"));
    access(&mut costs.hit, of.get("sampling-matches"));
    scale([&mut costs.call], of.get("sampling-call"));
    let [first, second] = &mut costs.build_gram;
    scale([&mut costs.build, first, second, &mut costs.build_byte], of.get("sampling-build"));
}

fn each<T>(costs: &mut PerIsa<T>, ratios: Ratios<'_>, mut scale: impl FnMut(&mut T, &Of<'_>)) {
    scale(&mut costs.avx512, &Of { ratios, isa: Isa::Avx512 });
    scale(&mut costs.avx2, &Of { ratios, isa: Isa::Avx2 });
    scale(&mut costs.neon, &Of { ratios, isa: Isa::Neon });
    scale(&mut costs.simd128, &Of { ratios, isa: Isa::Simd128 });
    scale(&mut costs.scalar, &Of { ratios, isa: Isa::Scalar });
}

fn scale<const N: usize>(costs: [&mut f32; N], by: f32) {
    costs.into_iter().for_each(|cost| *cost *= by);
}

#[cfg(test)]
mod tests {
    use super::super::{REFERENCE, probe};
    use super::*;
    use std::cell::RefCell;
    use std::collections::BTreeSet;

    #[test]
    fn a_machine_like_the_reference_keeps_its_costs() {
        let same = calibrated(&REFERENCE, &|_| Some(1.0));
        assert_eq!(same, Costs { is_calibrated: true, ..REFERENCE.clone() });
        assert_eq!(same, calibrated(&REFERENCE, &|_| None));
    }

    #[test]
    fn every_probe_scales_a_cost() {
        for probe in probe::all() {
            let slow =
                calibrated(&REFERENCE, &|name| Some(if name == probe.name { 2.0 } else { 1.0 }));
            assert_ne!(slow, calibrated(&REFERENCE, &|_| None), "{}", probe.name);
        }
    }

    #[test]
    fn every_ratio_has_a_probe() {
        let asked = RefCell::new(BTreeSet::new());
        calibrated(&REFERENCE, &|name| {
            asked.borrow_mut().insert(name.to_owned());
            None
        });
        let probes: BTreeSet<String> = probe::all().into_iter().map(|probe| probe.name).collect();
        assert_eq!(asked.into_inner(), probes);
    }

    #[test]
    fn loads_are_taken_where_their_probe_is_faster() {
        let loads = |by: f32| {
            let ratio = move |name: &str| Some(if name == "filter-1.avx2" { by } else { 1.0 });
            calibrated(&REFERENCE, &ratio).filter_look_ups(Isa::Avx2, None)
        };
        assert_eq!(loads(1.0).gathers, crate::simd::gather::Gathers::Vector);
        assert_eq!(loads(2.0).gathers, crate::simd::gather::Gathers::Scalar);
    }

    #[test]
    fn pairs_are_gathered_where_gathers_are_fast() {
        let pairs = |by: f32| {
            let ratio = move |name: &str| Some(if name == "filter-1.avx512" { by } else { 1.0 });
            calibrated(&REFERENCE, &ratio).pair_look_ups(Isa::Avx512, None)
        };
        assert_eq!(pairs(1.0).gathers, crate::simd::gather::Gathers::Vector);
        assert_eq!(pairs(2.0).gathers, crate::simd::gather::Gathers::Scalar);
        let neon = calibrated(&REFERENCE, &|_| Some(1.0)).pair_look_ups(Isa::Neon, None);
        assert_eq!(neon.gathers, crate::simd::gather::Gathers::Scalar);
    }
}
