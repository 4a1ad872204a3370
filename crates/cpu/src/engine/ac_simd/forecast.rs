//! The expected cost of a set, from its number of states at each depth.

use super::build::MAX_ENTRIES;
use super::build::{COMPACT2_UP_TO, DENSE_UP_TO, ONE_BYTE_FROM, ONE_BYTE_UP_TO, dense_up_to};
use crate::costs::{LookUps, costs};
use crate::simd::Isa;
use crate::simd::gather::Gathers;
use fyke_automata::compact::used_bytes;
use fyke_automata::model::PairModel;
use fyke_core::Forecast;
use fyke_core::{Options, PatternSet, Refusal};

/// The maximum number of patterns that are compared with their predecessors. Of a larger set, they
/// are an even selection.
const ASKED: usize = 100_000;

/// Depths at which states are counted separately: they decide how much a context resolves.
const DEPTHS: usize = 5;

/// The lanes that walk.
pub(super) struct Chosen {
    pub(super) isa: Isa,
    pub(super) gathers: Gathers,
    /// Their time relative to AVX-512 with fast gathers.
    times: f32,
}

/// The lanes that the options ask for, by default the fastest ones on this CPU.
///
/// # Errors
/// This CPU has no such lanes.
pub(super) fn choose(opt: &Options) -> Result<Chosen, Refusal> {
    let isa = Isa::choose(opt, &Isa::ALL)?;
    let LookUps { gathers, times } = costs().walk_look_ups(isa, Gathers::asked(opt)?);
    // The scalar walks have no AVX-512 form: they use AVX2 for all but their look-ups.
    let isa = if gathers == Gathers::Scalar { isa.min(Isa::Avx2) } else { isa };
    Ok(Chosen { isa, gathers, times })
}

/// The number of states of a set, and at each of the first depths.
struct StateCounts {
    all: f32,
    at: [f32; DEPTHS],
}

impl StateCounts {
    /// Compares each pattern of the sorted set with its predecessor: it adds the states that they
    /// do not share.
    fn of(set: &PatternSet) -> StateCounts {
        let every = set.len().div_ceil(ASKED).max(1);
        let mut states = StateCounts { all: 1.0, at: [0.0; DEPTHS] };
        for i in (0..set.len()).step_by(every) {
            let bytes = set.bytes(i as u32);
            let before = i.checked_sub(1).map_or(&[][..], |i| set.bytes(i as u32));
            let same = bytes.iter().zip(before).take_while(|(a, b)| a.eq_ignore_ascii_case(b));
            let shared = same.count();
            states.all += ((bytes.len() - shared) * every) as f32;
            for depth in shared + 1..=bytes.len().min(DEPTHS - 1) {
                states.at[depth] += every as f32;
            }
        }
        states
    }

    /// Stored transitions if contexts resolve states of depth `told`: a state inherits about as
    /// many as a state of that depth has children.
    fn stored(&self, told: usize) -> f32 {
        let children = self.at[told + 1] / self.at[told].max(1.0);
        self.all * (0.5 + children)
    }
}

/// The expected cost of a set.
///
/// # Errors
/// There are more states than entries can address, or the tables exceed the memory limit.
pub(super) fn forecast(set: &PatternSet, opt: &Options) -> Result<Forecast, Refusal> {
    let Chosen { isa, gathers, times } = choose(opt)?;
    let states = StateCounts::of(set);
    let (need, have) = (states.all as u64, MAX_ENTRIES as u64 / 2);
    if need > have {
        return Err(Refusal::TooBig { what: "states", need, have });
    }
    let classes = used_bytes(set) + 1;
    let matches = PairModel::for_set(set, opt).matches(set);
    let dense = 4.0 * states.all * (classes + 1) as f32;
    let (one, two, three) = (states.stored(1), states.stored(2), states.stored(3));
    let bits = classes.next_power_of_two().trailing_zeros();
    let by_one = bits >= ONE_BYTE_FROM && one <= ONE_BYTE_UP_TO * (1 << (2 * bits)) as f32;
    let costs = &costs().ac_simd;
    let (form, table, stored, ns) = if dense <= DENSE_UP_TO as f32 {
        ("dense", dense, states.all, costs.dense)
    } else if by_one {
        ("compact1", 4.0 * one, one, costs.compact1)
    } else if dense <= dense_up_to(isa) as f32 {
        ("dense", dense, states.all, costs.dense)
    } else if 4.0 * two <= COMPACT2_UP_TO as f32 {
        ("compact2", 4.0 * two, two, between(4.0 * two, 2e5, 4e6, costs.compact2))
    } else {
        ("compact3", 4.0 * three, three, between(4.0 * three, 1e6, 1e7, costs.compact3))
    };
    // Each entry has the word of its list. The records of all lists take eight bytes per pattern.
    let memory = (2.0 * table) as u64 + 8 * set.len() as u64 + (1 << 19);
    opt.check_memory(memory)?;
    let percent = 100.0 * matches;
    let lanes = if gathers == Gathers::Vector { "lanes" } else { "scalar walks" };
    Ok(Forecast {
        ns_per_byte: times * ns + costs.hit * matches,
        ns_per_call: costs.call,
        candidates: 0.0,
        memory,
        build_ms: 1e-6 * (costs.transition * stored + costs.state * states.all),
        why: format!(
            "{form} {lanes}, about {:.0} states, {percent:.2} % of bytes end a match",
            states.all
        ),
    })
}

/// Interpolates between two times by the logarithm of a table's size.
fn between(bytes: f32, small: f32, large: f32, ns: [f32; 2]) -> f32 {
    let part = (bytes.clamp(small, large) / small).ln() / (large / small).ln();
    ns[0] + part * (ns[1] - ns[0])
}
