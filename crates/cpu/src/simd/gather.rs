//! How slow gathers are on this machine, measured once.
//!
//! Processors that are alike in everything else differ by a factor of ten here: since 2023 microcode that closes
//! a leak ("Gather Data Sampling", CVE-2022-40982) makes gathers of many Intel processors wait for each other, and
//! those of early Zen were slow from the start. Nothing but a clock tells.

use super::Isa;
use std::sync::OnceLock;

/// What a machine's gathers take, over what they take where forecasts were measured: 1, or more if they are clearly slower.
/// 1 where there are none.
///
/// Takes some 30 microseconds when it is first asked.
pub fn slowness(isa: Isa) -> f32 {
    static AVX2: OnceLock<f32> = OnceLock::new();
    static AVX512: OnceLock<f32> = OnceLock::new();
    match isa {
        Isa::Scalar => 1.0,
        _ if !isa.available() => 1.0,
        Isa::Avx2 => *AVX2.get_or_init(|| judge(measure::of(isa), USUAL_AVX2)),
        Isa::Avx512 => *AVX512.get_or_init(|| judge(measure::of(isa), USUAL_AVX512)),
    }
}

/// What a gather takes where forecasts were measured, in steps of a walk from address to address in the first-level cache:
/// of 16 numbers, and of 8. Medians of six runs of the test below; they lay between 1.12 and 1.84, and between 0.84 and 1.04.
const USUAL_AVX512: f32 = 1.8;
const USUAL_AVX2: f32 = 1.03;

/// Up to so many times that is taken for noise.
const NOISE: f32 = 2.0;

fn judge(steps: f32, usual: f32) -> f32 {
    let slower = steps / usual;
    if slower > NOISE { slower } else { 1.0 }
}

#[cfg(not(target_arch = "x86_64"))]
mod measure {
    pub(super) fn of(_: super::Isa) -> f32 {
        0.0
    }
}

#[cfg(target_arch = "x86_64")]
mod measure {
    use super::Isa;
    use std::arch::x86_64::*;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    /// Numbers of the table that is read: it fits every first-level cache.
    const TABLE: usize = 1 << 10;

    /// Gathers, or steps, that are timed at once.
    const STEPS: u32 = 512;

    /// How often: the fastest counts, which nothing came between.
    const TIMES: usize = 8;

    /// What a gather takes, in steps of a walk from address to address.
    pub(super) fn of(isa: Isa) -> f32 {
        // Each number is the place of the next, 257 further on.
        let table: Vec<i32> = (0..TABLE).map(|i| ((i + 257) % TABLE) as i32).collect();
        let gather = || match isa {
            // SAFETY: `slowness` asks for forms only that this machine has.
            Isa::Avx512 => unsafe { gather_avx512(&table) },
            // SAFETY: as above.
            _ => unsafe { gather_avx2(&table) },
        };
        let step = fastest(|| walk(&table));
        fastest(gather).as_secs_f32() / step.as_secs_f32().max(f32::MIN_POSITIVE)
    }

    fn fastest(mut work: impl FnMut() -> i32) -> Duration {
        let mut time = || {
            let start = Instant::now();
            black_box(work());
            start.elapsed()
        };
        (0..TIMES).map(|_| time()).min().unwrap_or_default()
    }

    fn walk(table: &[i32]) -> i32 {
        (0..STEPS).fold(0, |at, _| table[at as usize % TABLE])
    }

    #[target_feature(enable = "avx512f")]
    fn gather_avx512(table: &[i32]) -> i32 {
        assert!(table.len() >= TABLE);
        let places = _mm512_mullo_epi32(
            _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
            _mm512_set1_epi32(61),
        );
        let mut sum = _mm512_setzero_si512();
        for i in 0..STEPS as i32 {
            let at = _mm512_and_si512(
                _mm512_add_epi32(places, _mm512_set1_epi32(i)),
                _mm512_set1_epi32(TABLE as i32 - 1),
            );
            // SAFETY: the places are below TABLE, and the table has as many numbers.
            let got = unsafe { _mm512_i32gather_epi32::<4>(at, table.as_ptr()) };
            sum = _mm512_add_epi32(sum, got);
        }
        _mm512_reduce_add_epi32(sum)
    }

    #[target_feature(enable = "avx2")]
    fn gather_avx2(table: &[i32]) -> i32 {
        assert!(table.len() >= TABLE);
        let places =
            _mm256_mullo_epi32(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), _mm256_set1_epi32(61));
        let mut sum = _mm256_setzero_si256();
        for i in 0..STEPS as i32 {
            let at = _mm256_and_si256(
                _mm256_add_epi32(places, _mm256_set1_epi32(i)),
                _mm256_set1_epi32(TABLE as i32 - 1),
            );
            // SAFETY: the places are below TABLE, and the table has as many numbers.
            let got = unsafe { _mm256_i32gather_epi32::<4>(table.as_ptr(), at) };
            sum = _mm256_add_epi32(sum, got);
        }
        let sum = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        _mm_cvtsi128_si32(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearly_slower_gathers_count_and_others_do_not() {
        assert_eq!([judge(1.0, 2.0), judge(2.0, 2.0), judge(3.0, 2.0)], [1.0; 3]);
        assert_eq!(judge(20.0, 2.0), 10.0);
    }

    #[test]
    fn every_form_is_measured_once() {
        for isa in Isa::ALL {
            assert!(slowness(isa) >= 1.0);
            assert_eq!(slowness(isa), slowness(isa));
        }
        eprintln!("gathers in steps: {:?}", Isa::ALL.map(measure::of));
    }
}
