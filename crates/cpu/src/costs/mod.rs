//! What the steps of each engine cost: every speed constant of the CPU engines' forecasts.
//!
//! All costs are nanoseconds on one core of the *reference machine*, an Intel Sapphire Rapids with
//! AVX-512 VBMI and fast gathers. Each constant is fitted to the benchmark that its comment names.
//! A forecast only ranks engines, so a machine that is slower by the same factor in everything
//! needs no other costs.
//!
//! A machine belongs to one of these classes:
//!
//! | class | costs |
//! |---|---|
//! | AVX-512 VBMI or AVX2, with fast gathers | those of the reference machine |
//! | the same, with slow gathers | gathers times [`gather::slowness`], or scalar loads |
//! | simd128 | about twice those of the reference machine with AVX2 |
//! | NEON | those of the reference machine with AVX2, scaled by instructions per byte |
//! | no vector instructions that engines use | those of the scalar forms |
//! | calibrated | the reference machine's, scaled by [`probes`](probe) |
//!
//! [`install`] sets a calibration. Without one, the class follows from the instruction sets of the
//! CPU and the measurement of gathers.

pub mod probe;
mod scale;

use crate::simd::Isa;
use crate::simd::gather::{self, Gathers};
use std::sync::OnceLock;

/// What every engine costs on a machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Costs {
    pub(crate) ac_dfa: DfaCosts,
    pub(crate) ac_nfa: NfaCosts,
    pub(crate) ac_simd: WalkCosts,
    pub(crate) teddy: PerIsa<TeddyCosts>,
    pub(crate) qgram_filter: PerIsa<FilterCosts>,
    pub(crate) qgram_sampling: PerIsa<SamplingCosts>,
    /// Whether a calibration has scaled the costs of gathers. If not, [`gather::slowness`] applies.
    is_calibrated: bool,
}

/// A cost for each instruction set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PerIsa<T> {
    avx512: T,
    avx2: T,
    neon: T,
    simd128: T,
    scalar: T,
}

impl<T> PerIsa<T> {
    pub(crate) fn of(&self, isa: Isa) -> &T {
        match isa {
            Isa::Avx512 => &self.avx512,
            Isa::Avx2 => &self.avx2,
            Isa::Neon => &self.neon,
            Isa::Simd128 => &self.simd128,
            Isa::Scalar => &self.scalar,
        }
    }
}

/// Costs of `ac-dfa`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DfaCosts {
    /// A byte with few matches, for five sizes of the table in bytes (`words`, `count`, `dna`).
    /// Between two sizes, it is interpolated by the logarithm of the size.
    pub(crate) by_size: [(f32, f32); 5],
    /// A byte for a single pattern, which is found by its rarest byte (`count/1`).
    pub(crate) alone: f32,
    /// A match (`golden`).
    pub(crate) hit: f32,
    /// A call (`replay`), and what each of its first `FIRST_BYTES` bytes adds (`size`).
    pub(crate) call: f32,
    pub(crate) first_byte: f32,
    /// To build a byte of the table (`words/99175`).
    pub(crate) build: f32,
}

/// Costs of `ac-nfa`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NfaCosts {
    /// A byte with an automaton of 2 MB, and the increase per doubling beyond (`count/10000`,
    /// `count/100000`).
    pub(crate) byte: f32,
    pub(crate) doubling: f32,
    /// To build a state (`count/100000`).
    pub(crate) build: f32,
}

/// Costs of `ac-simd`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WalkCosts {
    /// A byte in each form with AVX-512 and fast gathers, by the size of the table (`dna`, `words`,
    /// `rules`, `golden`).
    pub(crate) dense: f32,
    pub(crate) compact1: f32,
    pub(crate) compact2: [f32; 2],
    pub(crate) compact3: [f32; 2],
    /// The time with the gathers of each instruction set, relative to AVX-512: for 1,000 words in
    /// the Bible (`forms`). Infinite for an instruction set without gathers.
    gathers: PerIsa<f32>,
    /// The share of this time that grows with the time of a gather. With AVX2, where gathers take
    /// twice as long, the lanes take 1.1 to 1.25 times as long as the scalar walks
    /// (`golden/*-zeek`).
    gather_share: PerIsa<f32>,
    /// The time with scalar loads, relative to AVX-512. It is less for `golden/*-zeek`, but with
    /// 2.6, filters give up too early on hostile haystacks (`hostile/et-min4-full`).
    loads: f32,
    /// A written match (`golden`).
    pub(crate) hit: f32,
    /// A call, with the setup of the lanes (`replay`).
    pub(crate) call: f32,
    /// To build a stored transition, and a state (`words/99175`).
    pub(crate) transition: f32,
    pub(crate) state: f32,
}

/// Costs of `teddy` with one instruction set.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TeddyCosts {
    /// A byte of any filter without candidates, and what each step of its shape adds: lines fitted
    /// to all shapes over 64 KiB in a cache. With a haystack in memory, all filters wait equally
    /// long for it.
    pub(crate) byte: f32,
    pub(crate) step: f32,
    /// A byte of the filter for a single pattern, which compares two bytes.
    pub(crate) two_bytes: f32,
    /// A byte of the filter with the small and with the large pair table (`replay`, and the probe
    /// `teddy-pairs`).
    pub(crate) paired: [f32; 2],
    /// The same, at even positions only.
    pub(crate) paired_even: [f32; 2],
    /// The time of both with fast gathers over that with scalar loads (`alphabet/256`, `replay`).
    /// Infinite for an instruction set without gathers.
    pub(crate) paired_gathers: f32,
    /// A candidate: 3 to 4 for 100 and 300 words in documents (`words`).
    pub(crate) candidate: f32,
    /// The same in a call of at most one tile, where more branches are mispredicted: of shuffles
    /// (`replay`), and of pair tables, whose candidates the model overestimates (`packets/1000`).
    pub(crate) candidate_in_short_call: [f32; 2],
    /// The exact search for short patterns.
    pub(crate) short: ShortCosts,
    /// A written match of a short pattern, roughly (`rules`).
    pub(crate) short_hit: f32,
    /// A call without a candidate (`words/20` in pieces of 16 bytes), and what a candidate adds to
    /// a call (`size`).
    pub(crate) empty_call: f32,
    pub(crate) call_with_candidate: f32,
}

/// Costs of short patterns in `teddy`, per byte of the haystack: for each group of up to eight
/// patterns of one length, and for each byte of their length in each group. Fitted to three to 24
/// patterns of one to three bytes that do not occur; no benchmark has such sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ShortCosts {
    pub(crate) eight: f32,
    pub(crate) eight_and_byte: f32,
}

/// Costs of `qgram-filter` with one instruction set. Stage 1 is fitted to 1,000 patterns of
/// `alphabet/256`, `words` and `rules` in random bytes, the rest to the cells of `words`, `elf` and
/// `rules`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilterCosts {
    /// Stage 1 per byte without short windows, for the strides 1, 2 and 4.
    pub(crate) long: [f32; 3],
    /// Stage 1 per byte with joined long windows; with short windows, for the strides 1 and 2; and
    /// with short windows of three bytes.
    pub(crate) joined: f32,
    pub(crate) short: [f32; 2],
    pub(crate) three: f32,
    /// What each doubling of the filter beyond 32 KiB adds to stage 1 per byte, at a stride of 1.
    pub(crate) doubling: f32,
    /// A candidate that is looked up, and a record that is compared.
    pub(crate) candidate: f32,
    pub(crate) record: f32,
    /// A short call without a candidate, and what a candidate adds to a call (`size`).
    pub(crate) empty_call: f32,
    pub(crate) call_with_candidate: f32,
    /// What each pattern adds to a call of a kilobyte, because packets of traffic have more
    /// candidates than the model expects, and the most that all patterns add (`replay`).
    pub(crate) call_and_pattern: f32,
    pub(crate) patterns_at_most: f32,
    /// To build a window and its anchor (`words/99175`).
    pub(crate) build: f32,
    /// The time with scalar loads relative to fast gathers, for 1,000 words (`forms`).
    loads: f32,
}

/// Costs of `qgram-sampling` with one instruction set, fitted roughly to cells of `dna`, `words`
/// and `elf` with 10 to 100,000 patterns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SamplingCosts {
    /// To read a byte: the time of `dna/10` and `dna/1000` less the other costs. With 0.04, the
    /// planner would choose the slower `qgram-filter` for `dna/10`.
    pub(crate) byte: f32,
    /// A sample, a candidate, and a hit: a sample that is a gram of the set.
    pub(crate) sample: Access,
    pub(crate) candidate: Access,
    pub(crate) hit: Access,
    /// A call (`replay`).
    pub(crate) call: f32,
    /// To compile: the statistics of any set; each gram with tables in and beyond the caches; each
    /// pattern byte. Fitted to 20-mers (`dna`).
    pub(crate) build: f32,
    pub(crate) build_gram: [f32; 2],
    pub(crate) build_byte: f32,
}

/// A step that reads a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Access {
    /// The step without the table.
    pub(crate) step: f32,
    /// What a table adds that fits in the L1, L2 or L3 cache, or in memory only.
    pub(crate) table: [f32; 4],
}

impl Access {
    /// The step with a table of this size.
    pub(crate) fn of(&self, bytes: u64) -> f32 {
        let [l1, l2, l3, memory] = self.table;
        let table = match bytes {
            0..=0xc000 => l1,
            0xc001..=0x8_0000 => l2,
            0x8_0001..=0x100_0000 => l3,
            _ => memory,
        };
        self.step + table
    }
}

/// The costs of the reference machine.
const REFERENCE: Costs = Costs {
    ac_dfa: DfaCosts {
        by_size: [(1e5, 0.55), (1.5e6, 0.69), (1.2e7, 1.4), (1e8, 4.2), (3e8, 6.0)],
        alone: 0.06,
        hit: 2.5,
        call: 40.0,
        first_byte: 0.6,
        build: 0.84,
    },
    ac_nfa: NfaCosts { byte: 20.0, doubling: 4.0, build: 100.0 },
    ac_simd: WalkCosts {
        dense: 0.33,
        compact1: 0.44,
        compact2: [0.50, 0.95],
        compact3: [0.90, 1.40],
        gathers: PerIsa {
            avx512: 1.0,
            avx2: 2.1,
            neon: f32::INFINITY,
            simd128: f32::INFINITY,
            scalar: f32::INFINITY,
        },
        gather_share: PerIsa { avx512: 1.0, avx2: 0.6, neon: 1.0, simd128: 1.0, scalar: 1.0 },
        loads: 2.9,
        hit: 1.4,
        call: 1250.0,
        transition: 100.0,
        state: 120.0,
    },
    teddy: PerIsa {
        avx512: TeddyCosts {
            byte: 0.0185,
            step: 0.0053,
            two_bytes: 0.029,
            paired: [0.38, 0.43],
            paired_even: [0.21, 0.25],
            paired_gathers: 0.75,
            candidate: 3.5,
            candidate_in_short_call: [10.0, 5.0],
            short: ShortCosts { eight: 0.013, eight_and_byte: 0.01 },
            short_hit: 2.0,
            empty_call: 15.0,
            call_with_candidate: 60.0,
        },
        avx2: TeddyCosts {
            byte: 0.0216,
            step: 0.0036,
            two_bytes: 0.041,
            paired: [0.38, 0.43],
            paired_even: [0.21, 0.25],
            paired_gathers: 0.8,
            candidate: 3.5,
            candidate_in_short_call: [10.0, 5.0],
            short: ShortCosts { eight: 0.014, eight_and_byte: 0.02 },
            short_hit: 2.0,
            empty_call: 15.0,
            call_with_candidate: 60.0,
        },
        // Not measured: the times of AVX2 by the quotient of instructions per byte.
        neon: TeddyCosts {
            byte: 0.025,
            step: 0.015,
            two_bytes: 0.06,
            paired: [0.38, 0.43],
            paired_even: [0.21, 0.25],
            paired_gathers: f32::INFINITY,
            candidate: 3.5,
            candidate_in_short_call: [10.0, 5.0],
            short: ShortCosts { eight: 0.03, eight_and_byte: 0.03 },
            short_hit: 2.0,
            empty_call: 15.0,
            call_with_candidate: 60.0,
        },
        // Not measured: twice the times of AVX2.
        simd128: TeddyCosts {
            byte: 0.045,
            step: 0.0075,
            two_bytes: 0.08,
            paired: [0.76, 0.86],
            paired_even: [0.42, 0.5],
            paired_gathers: f32::INFINITY,
            candidate: 5.0,
            candidate_in_short_call: [15.0, 7.5],
            short: ShortCosts { eight: 0.045, eight_and_byte: 0.04 },
            short_hit: 4.0,
            empty_call: 30.0,
            call_with_candidate: 120.0,
        },
        scalar: TeddyCosts {
            byte: 0.0,
            step: 0.35,
            two_bytes: 0.35,
            paired: [0.38, 0.43],
            paired_even: [0.21, 0.25],
            paired_gathers: f32::INFINITY,
            candidate: 3.5,
            candidate_in_short_call: [10.0, 5.0],
            short: ShortCosts { eight: 1.0, eight_and_byte: 0.5 },
            short_hit: 2.0,
            empty_call: 15.0,
            call_with_candidate: 60.0,
        },
    },
    qgram_filter: PerIsa {
        avx512: FilterCosts {
            long: [0.22, 0.115, 0.065],
            joined: 0.145,
            short: [0.25, 0.15],
            three: 0.16,
            doubling: 0.045,
            candidate: 5.0,
            record: 3.5,
            loads: 1.7,
            ..FILTER
        },
        avx2: FilterCosts {
            long: [0.275, 0.15, 0.085],
            joined: 0.195,
            short: [0.36, 0.22],
            three: 0.24,
            doubling: 0.05,
            candidate: 6.0,
            record: 4.5,
            loads: 1.4,
            ..FILTER
        },
        // Not measured: the times of AVX2 by the quotient of instructions per byte.
        neon: FilterCosts {
            long: [0.6, 0.32, 0.18],
            joined: 0.42,
            short: [0.75, 0.46],
            three: 0.5,
            doubling: 0.05,
            candidate: 8.0,
            record: 5.5,
            loads: 1.0,
            ..FILTER
        },
        // Not measured: twice the times of AVX2, with scalar loads.
        simd128: FilterCosts {
            long: [0.8, 0.42, 0.24],
            joined: 0.55,
            short: [1.0, 0.6],
            three: 0.65,
            doubling: 0.1,
            candidate: 12.0,
            record: 9.0,
            loads: 1.0,
            ..FILTER
        },
        scalar: FILTER,
    },
    qgram_sampling: PerIsa {
        avx512: SAMPLING,
        avx2: SamplingCosts { sample: Access { step: 1.3, ..SAMPLING.sample }, ..SAMPLING },
        neon: SamplingCosts { sample: Access { step: 1.3, ..SAMPLING.sample }, ..SAMPLING },
        simd128: SamplingCosts { sample: Access { step: 1.3, ..SAMPLING.sample }, ..SAMPLING },
        scalar: SamplingCosts { sample: Access { step: 1.3, ..SAMPLING.sample }, ..SAMPLING },
    },
    is_calibrated: false,
};

/// The scalar form of `qgram-filter`.
const FILTER: FilterCosts = FilterCosts {
    long: [4.0, 2.5, 1.7],
    joined: 3.5,
    short: [5.5, 4.0],
    three: 4.0,
    doubling: 1.0,
    candidate: 20.0,
    record: 9.0,
    empty_call: 35.0,
    call_with_candidate: 130.0,
    call_and_pattern: 0.35,
    patterns_at_most: 420.0,
    build: 200.0,
    loads: 1.0,
};

const SAMPLING: SamplingCosts = SamplingCosts {
    byte: 0.013,
    sample: Access { step: 0.4, table: [0.0, 0.2, 0.6, 4.0] },
    candidate: Access { step: 8.0, table: [0.0, 2.0, 6.0, 15.0] },
    hit: Access { step: 20.0, table: [0.0, 10.0, 30.0, 60.0] },
    call: 90.0,
    build: 1.5e6,
    build_gram: [35.0, 120.0],
    build_byte: 2.0,
};

/// The expected share of calls with a candidate, if `rate` of all positions are candidates. 1 if
/// the size of a call is not known.
pub(crate) fn with_candidate(rate: f32, bytes: Option<u64>) -> f32 {
    bytes.map_or(1.0, |bytes| 1.0 - (-rate * bytes as f32).exp())
}

static MACHINE: OnceLock<Costs> = OnceLock::new();

/// The costs of this machine.
pub(crate) fn costs() -> &'static Costs {
    MACHINE.get_or_init(|| REFERENCE)
}

/// The error of [`install`] after a set was planned: the costs used for it stay in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLate;

impl std::fmt::Display for TooLate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a pattern set was planned before the calibration was installed")
    }
}

impl std::error::Error for TooLate {}

/// Sets the costs of this process by a calibration. Call it before the first set is compiled.
///
/// `ratio` gives the time of a [`probe`] relative to the reference machine, by the probe's name.
/// `None` keeps the costs that depend on this probe.
///
/// # Errors
/// Costs were used before.
pub fn install(ratio: impl Fn(&str) -> Option<f32>) -> Result<(), TooLate> {
    MACHINE.set(scale::calibrated(&REFERENCE, &ratio)).map_err(|_| TooLate)
}

/// How a form looks up its table, and its time over the one that its costs are for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LookUps {
    pub(crate) gathers: Gathers,
    pub(crate) times: f32,
}

impl Costs {
    /// The look-ups of `ac-simd`: those asked for, or the fastest. NEON, simd128 and the scalar
    /// form have no gathers and ignore the option.
    pub(crate) fn walk_look_ups(&self, isa: Isa, asked: Option<Gathers>) -> LookUps {
        let asked = asked.filter(|_| isa.gathers());
        let walk = &self.ac_simd;
        let vector = walk.gathers.of(isa) * self.gather_times(isa, *walk.gather_share.of(isa));
        look_ups(asked, vector, walk.loads)
    }

    /// The look-ups of `qgram-filter`: those asked for, or the fastest. NEON and simd128 have no
    /// gathers and ignore the option.
    pub(crate) fn filter_look_ups(&self, isa: Isa, asked: Option<Gathers>) -> LookUps {
        let loads = matches!(isa, Isa::Neon | Isa::Simd128);
        let asked = if loads { Some(Gathers::Scalar) } else { asked };
        look_ups(asked, self.gather_times(isa, 1.0), self.qgram_filter.of(isa).loads)
    }

    /// The look-ups of pairs in `teddy`: those asked for, or the fastest. Times are relative to
    /// scalar loads. NEON, simd128 and the scalar form have no gathers and ignore the option.
    pub(crate) fn pair_look_ups(&self, isa: Isa, asked: Option<Gathers>) -> LookUps {
        let asked = asked.filter(|_| isa.gathers());
        let vector = self.teddy.of(isa).paired_gathers * self.gather_times(isa, 1.0);
        look_ups(asked, vector, 1.0)
    }

    /// The time of a form on this CPU relative to fast gathers, if `share` of it grows with the
    /// time of a gather.
    pub(crate) fn gather_times(&self, isa: Isa, share: f32) -> f32 {
        let slowness = if self.is_calibrated { 1.0 } else { gather::slowness(isa) };
        1.0 + share * (slowness - 1.0)
    }
}

/// The look-ups asked for, or the faster ones, by the times of both.
fn look_ups(asked: Option<Gathers>, vector: f32, scalar: f32) -> LookUps {
    let vector = LookUps { gathers: Gathers::Vector, times: vector };
    let scalar = LookUps { gathers: Gathers::Scalar, times: scalar };
    match asked {
        Some(Gathers::Vector) => vector,
        Some(Gathers::Scalar) => scalar,
        None if scalar.times < vector.times => scalar,
        None => vector,
    }
}
