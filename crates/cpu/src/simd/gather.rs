//! How slow gathers are on this CPU, measured once per process.
//!
//! CPUs that are otherwise alike differ by a factor of ten in their gathers. Microcode against
//! Gather Data Sampling (CVE-2022-40982) serializes the gathers of many Intel CPUs, and those of
//! AMD's Zen are slower than Intel's. No feature flag tells, so this module measures.
//!
//! The planner depends on the answer, so a machine must give the same answer on every run, busy
//! or idle:
//! * A gather is compared with scalar loads of the same elements. A busy sibling thread slows both
//!   down.
//! * Both are timed in turns until neither improves, and the fastest time of each counts.
//! * The quotient is rounded to a power of two, with boundaries between those of known CPUs.

#[cfg(target_arch = "x86_64")]
use super::Dispatch;
use super::Isa;
use fyke_core::{Options, Refusal};

/// How a vector loop looks up a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gathers {
    /// By the gathers of the instruction set.
    Vector,
    /// By a scalar load for each element: for CPUs with slow gathers and those without.
    Scalar,
}

impl Gathers {
    /// What the option `gathers=auto|vector|scalar` asks for; `None` is `auto`.
    ///
    /// # Errors
    /// Another value.
    pub fn asked(opt: &Options) -> Result<Option<Gathers>, Refusal> {
        let named = opt.choice("gathers", &["auto", "vector", "scalar"])?;
        Ok([Gathers::Vector, Gathers::Scalar].into_iter().find(|gathers| gathers.name() == named))
    }

    /// The name in options.
    pub fn name(self) -> &'static str {
        match self {
            Gathers::Vector => "vector",
            Gathers::Scalar => "scalar",
        }
    }
}

/// The time of a gather relative to the machine on which the engines' costs were measured: 1, 2, 4,
/// 8 or 16. It is 1 for instruction sets without gathers and for those that this CPU lacks.
///
/// The first call takes tens of microseconds, and never more than about 2 ms of CPU time.
pub fn slowness(isa: Isa) -> f32 {
    match isa.dispatch() {
        #[cfg(target_arch = "x86_64")]
        Ok(Dispatch::Avx2(token)) => x86::slowness_avx2(token),
        #[cfg(target_arch = "x86_64")]
        Ok(Dispatch::Avx512(token)) => x86::slowness_avx512(token),
        // The instruction set has no gathers, or this CPU lacks it.
        _ => 1.0,
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::simd::{Avx2, Avx512};
    use std::arch::x86_64::*;
    use std::hint::black_box;
    use std::sync::OnceLock;
    use std::time::{Duration, Instant};

    /// A gather is fast if its time is at most this multiple of that of as many scalar loads. The
    /// limit lies between Sapphire Rapids (0.5 to 0.8), where the engines' costs were measured, and
    /// Zen 4 (1.0 to 1.4), where `qgram-filter` and `ac-simd` take twice as long for `words/1000`
    /// but `ac-dfa` does not.
    const FAST_UP_TO: f32 = 0.92;

    /// Classes of slow gathers: 2, 4, 8 and 16 times as slow as a fast one.
    const CLASSES: i32 = 4;

    /// The greatest quotient of a class of slow gathers is its slowness times this. Not measured: a
    /// guess.
    const CLASS: f32 = 1.05;

    /// Elements of the table that is read. They fit in any L1 cache.
    const TABLE: usize = 1 << 10;

    /// The distance between the elements of one gather: each is in another cache line.
    const APART: usize = 61;

    /// Gathers that are timed at once: long enough for a clock that ticks every 10 ns.
    const STEPS: usize = 512;

    /// The measurement ends after this many rounds without a faster time, or this many in all.
    const QUIET: u32 = 16;
    const ROUNDS: u32 = 128;

    pub(super) fn slowness_avx2(token: Avx2) -> f32 {
        static SLOWNESS: OnceLock<f32> = OnceLock::new();
        *SLOWNESS.get_or_init(|| class(avx2(token)))
    }

    pub(super) fn slowness_avx512(token: Avx512) -> f32 {
        static SLOWNESS: OnceLock<f32> = OnceLock::new();
        *SLOWNESS.get_or_init(|| class(avx512(token)))
    }

    /// The slowness for a quotient: a power of two.
    fn class(quotient: f32) -> f32 {
        if quotient <= FAST_UP_TO {
            return 1.0;
        }
        let class = (quotient / CLASS).log2().ceil() as i32;
        2_f32.powi(class.clamp(1, CLASSES))
    }

    /// The time of a gather of 8 elements, over that of 8 loads.
    fn avx2(token: Avx2) -> f32 {
        let table = table();
        quotient(|| gather_avx2(token, &table), || loads(&table))
    }

    /// The time of a gather of 16 elements, over that of 16 loads.
    fn avx512(token: Avx512) -> f32 {
        let table = table();
        quotient(|| gather_avx512(token, &table), || loads(&table)) / 2.0
    }

    fn table() -> [i32; TABLE] {
        std::array::from_fn(|i| i as i32)
    }

    /// The fastest time of `gather` over the fastest time of `loads`.
    fn quotient(gather: impl Fn() -> i32, loads: impl Fn() -> i32) -> f32 {
        let mut best = [Duration::MAX; 2];
        let mut quiet = 0;
        for _ in 0..ROUNDS {
            quiet += 1;
            for (best, time) in best.iter_mut().zip([time(&gather), time(&loads)]) {
                if time < *best - *best / 32 {
                    quiet = 0;
                }
                *best = time.min(*best);
            }
            if quiet == QUIET {
                break;
            }
        }
        best[0].as_secs_f32() / best[1].as_secs_f32().max(f32::MIN_POSITIVE)
    }

    fn time(work: impl Fn() -> i32) -> Duration {
        let start = Instant::now();
        black_box(work());
        start.elapsed()
    }

    /// What gathers of 8 elements do, with scalar instructions. The loads are written out, so
    /// that what is measured depends less on the compiler.
    fn loads(table: &[i32; TABLE]) -> i32 {
        // The compiler must not know the indices, or it drops the instructions that compute them.
        let mut first = black_box(0_usize);
        let mut sums = [0_i32; 4];
        for _ in 0..STEPS {
            let load = |lane: usize| {
                let element = &raw const table[first.wrapping_add(lane * APART) % TABLE];
                // SAFETY: `element` was made of a reference to an element of `table`. The read is
                // volatile so that loads are neither merged nor vectorized.
                unsafe { element.read_volatile() }
            };
            sums[0] = sums[0].wrapping_add(load(0)).wrapping_add(load(4));
            sums[1] = sums[1].wrapping_add(load(1)).wrapping_add(load(5));
            sums[2] = sums[2].wrapping_add(load(2)).wrapping_add(load(6));
            sums[3] = sums[3].wrapping_add(load(3)).wrapping_add(load(7));
            first = first.wrapping_add(1);
        }
        sums.into_iter().fold(0, i32::wrapping_add)
    }

    fn gather_avx512(_: Avx512, table: &[i32; TABLE]) -> i32 {
        // SAFETY: the token proves that detection found AVX-512 F, see `simd::isa`.
        unsafe { gathers_avx512(table) }
    }

    #[target_feature(enable = "avx512f")]
    fn gathers_avx512(table: &[i32; TABLE]) -> i32 {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let lanes = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(APART as i32));
        let mut sum = _mm512_setzero_si512();
        for i in 0..STEPS as i32 {
            let at = _mm512_add_epi32(lanes, _mm512_set1_epi32(i));
            let at = _mm512_and_si512(at, _mm512_set1_epi32(TABLE as i32 - 1));
            // SAFETY: the mask keeps every index below TABLE, the number of elements of `table`.
            let got = unsafe { _mm512_i32gather_epi32::<4>(at, table.as_ptr()) };
            sum = _mm512_add_epi32(sum, got);
        }
        _mm512_reduce_add_epi32(sum)
    }

    fn gather_avx2(_: Avx2, table: &[i32; TABLE]) -> i32 {
        // SAFETY: the token proves that detection found AVX2, see `simd::isa`.
        unsafe { gathers_avx2(table) }
    }

    #[target_feature(enable = "avx2")]
    fn gathers_avx2(table: &[i32; TABLE]) -> i32 {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let lanes = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(APART as i32));
        let mut sum = _mm256_setzero_si256();
        for i in 0..STEPS as i32 {
            let at = _mm256_add_epi32(lanes, _mm256_set1_epi32(i));
            let at = _mm256_and_si256(at, _mm256_set1_epi32(TABLE as i32 - 1));
            // SAFETY: the mask keeps every index below TABLE, the number of elements of `table`.
            let got = unsafe { _mm256_i32gather_epi32::<4>(table.as_ptr(), at) };
            sum = _mm256_add_epi32(sum, got);
        }
        let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b00_00_11_10>(sum));
        let sum = _mm_add_epi32(sum, _mm_shuffle_epi32::<0b00_00_00_01>(sum));
        _mm_cvtsi128_si32(sum)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn quotients_are_rounded_to_powers_of_two() {
            let classes = [0.0, 0.8, 0.91, 1.03, 1.32, 2.09, 2.11, 7.0, 16.0, 99.0].map(class);
            assert_eq!(classes, [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 4.0, 8.0, 16.0, 16.0]);
        }

        /// Both sides of the quotient read the same elements, so that it compares like with like.
        #[test]
        fn gathers_and_loads_read_the_same_elements() {
            let table = table();
            let sum = |lanes: usize| {
                let steps = |lane| (0..STEPS).map(move |i| ((i + lane * APART) % TABLE) as i32);
                (0..lanes).flat_map(steps).sum::<i32>()
            };
            assert_eq!(loads(&table), sum(8));
            let (avx2, avx512) = (Avx2::detect(), Avx512::detect());
            assert_eq!(avx2.map(|token| gather_avx2(token, &table)), avx2.map(|_| sum(8)));
            assert_eq!(avx512.map(|token| gather_avx512(token, &table)), avx512.map(|_| sum(16)));
            let quotients = (avx2.map(super::avx2), avx512.map(super::avx512));
            eprintln!("a gather's time over that of loads, with AVX2 and AVX-512: {quotients:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathers_are_those_asked_for_or_the_faster_ones() {
        let asked = |params: &str| Gathers::asked(&Options::with_params(params).unwrap());
        assert_eq!(asked(""), Ok(None));
        assert_eq!(asked("gathers=auto"), Ok(None));
        assert_eq!(asked("gathers=vector"), Ok(Some(Gathers::Vector)));
        assert_eq!(asked("gathers=scalar"), Ok(Some(Gathers::Scalar)));
        assert!(asked("gathers=fast").is_err());
    }

    #[test]
    fn every_form_is_measured_once() {
        for isa in Isa::ALL {
            assert!([1.0, 2.0, 4.0, 8.0, 16.0].contains(&slowness(isa)), "{isa:?}");
            assert_eq!(slowness(isa), slowness(isa));
            assert!(isa.available() || slowness(isa) == 1.0, "{isa:?}");
        }
    }
}
