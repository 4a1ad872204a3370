//! Lanes: adjacent segments of a window, walked at once.
//!
//! Lane 0 starts in the true state. The others start at the root some bytes before their segment.
//! They nearly always reach the true state by its start, since most states are no deeper than the
//! number of these bytes. After the walk, the end state of each lane is compared with the start
//! state of the next, to find the lanes that did not.

use super::output::{Hits, MatchOutput};
use super::scalar;
use super::scan::{LaneLayout, Lanes};
use super::table::AcSimdTable;
use super::trail::Trail;
use crate::simd::Dispatch;
use std::ops::ControlFlow;

/// The maximum number of lanes of any form.
pub(super) const MOST: usize = 64;

/// Bytes of a lane in a long haystack: `LARGE` if matches are counted or if few lanes walk, else
/// `MEDIUM`, so that the trail stays in the L2 cache. Each is an odd multiple of 64: multiples of
/// 4096 would put all lanes in the same sets of the L1 cache. For many lanes, about half and about
/// twice `MEDIUM` are slower (`golden/dict1000-kjv`, `golden/snort-2.2.0-2004.all-zeek`). For
/// scalar walks, `MEDIUM` is no faster (`golden`).
pub(super) const LARGE: usize = 16 * 128 + 64;
pub(super) const MEDIUM: usize = 8 * 128 + 64;

/// The minimum number of bytes of a window for 64, 32 and 16 lanes, for the 32 of AVX2, and for the
/// scalar form. A guess: `size` shows them. 32 lanes of fewer bytes are slower than 16, because
/// each is warmed up (rules of `emerging-malware.rules` in calls of 1,200 to 2,000 bytes).
pub(super) const WIDE_FROM: usize = 64 * 64;
pub(super) const HALF_FROM: usize = 32 * 64;
pub(super) const NARROW_FROM: usize = 16 * 16;
pub(super) const AVX2_FROM: usize = 32 * 64;
pub(super) const SCALAR_FROM: usize = scalar::LANES * 32;

/// What a walk writes. `NOTHING`; `COUNTS`: the number of reports of each lane; `OPEN_COUNTS`: that
/// number, and the trail of the entries whose count does not fit in its field; `HITS`: the trail of
/// all reports.
pub(super) const NOTHING: u8 = 0;
pub(super) const COUNTS: u8 = 1;
pub(super) const OPEN_COUNTS: u8 = 2;
pub(super) const HITS: u8 = 3;

/// Walks all lanes. They write their trail. If `counting`, they write counts instead, and the trail
/// only where an entry's count does not fit in its field.
pub(super) fn walk(
    dispatch: Dispatch,
    lanes: &mut Lanes,
    table: &AcSimdTable,
    window: &[u8],
    cut: LaneLayout,
    counting: bool,
) {
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => {
            super::avx512::walk(token, lanes, table, window, cut, counting);
        }
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) if cut.lanes == super::avx2::LANES => {
            super::avx2::walk(token, lanes, table, window, cut, counting);
        }
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => {
            let window = scalar::Window { table, bytes: window, cut };
            super::avx2::walk_without_gathers(token, lanes, window, counting);
        }
        #[cfg(target_arch = "aarch64")]
        Dispatch::Neon(token) => {
            super::neon::walk(token, lanes, scalar::Window { table, bytes: window, cut }, counting);
        }
        // simd128 has no gathers, and its masks are no faster than those of the scalar walks.
        #[cfg(target_feature = "simd128")]
        Dispatch::Simd128(_) => scalar::walk(lanes, table, window, cut, counting),
        Dispatch::Scalar => scalar::walk(lanes, table, window, cut, counting),
    }
}

/// Reports the lanes' matches in order. The first byte of the window ends at `first`.
pub(super) fn write(
    dispatch: Dispatch,
    out: &mut MatchOutput<'_>,
    trail: &Trail,
    hits: &mut Hits,
    first: u32,
) -> ControlFlow<()> {
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => super::avx512::write(token, out, trail, hits, first),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => super::avx2::write(token, out, trail, hits, first),
        #[cfg(target_arch = "aarch64")]
        Dispatch::Neon(token) => super::neon::write(token, out, trail, hits, first),
        #[cfg(target_feature = "simd128")]
        Dispatch::Simd128(_) => out.write_all::<{ scalar::LANES }>(trail, hits, first, Hits::pick),
        Dispatch::Scalar => out.write_all::<{ scalar::LANES }>(trail, hits, first, Hits::pick),
    }
}
