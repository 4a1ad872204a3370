//! Stage 1: which positions of a tile may begin a window.

use super::build::{Probe, Tables};
use super::hash::{self, NEIGHBOUR_BYTES, SHORT_BYTES};
use super::scan::Lists;
use crate::simd::Isa;
use std::ops::Range;

#[cfg(target_arch = "x86_64")]
#[path = "stage1_x86.rs"]
pub(super) mod x86;

/// Puts every `stride`-th position of `tile` that may begin a window on the lists, in order.
pub(super) fn fill(isa: Isa, tables: &Tables, bytes: &[u8], tile: Range<usize>, lists: &mut Lists) {
    let done = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => x86::fill_avx2(tables, bytes, tile.clone(), lists),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => x86::fill_avx512(tables, bytes, tile.clone(), lists),
        _ => tile.start,
    };
    plain(tables, bytes, tile.start, done..tile.end, lists);
}

/// The plain form, for any positions: near the end of a block it is the only one.
fn plain(tables: &Tables, bytes: &[u8], base: usize, part: Range<usize>, lists: &mut Lists) {
    match tables.shape.short_bytes() {
        0 => plain_some::<0, { u32::MAX }>(tables, bytes, base, part, lists),
        SHORT_BYTES => {
            plain_some::<SHORT_BYTES, { !SHORT_BYTES }>(tables, bytes, base, part, lists);
        }
        _ => {
            plain_some::<NEIGHBOUR_BYTES, { !NEIGHBOUR_BYTES }>(tables, bytes, base, part, lists);
        }
    }
}

fn plain_some<const SHORT: u32, const LONG: u32>(
    tables: &Tables,
    bytes: &[u8],
    base: usize,
    part: Range<usize>,
    lists: &mut Lists,
) {
    let shape = tables.shape;
    let wrap = tables.filter.len() - 1;
    for at in part.step_by(shape.stride) {
        let probe = Probe::new(&shape, bytes, at);
        let word = tables.filter[probe.index as usize & wrap];
        if SHORT != 0 {
            let [one, other] = probe.short.map(|hash| hash::are_clear::<SHORT>(word, hash));
            lists.short.push_if(at - base, one | other);
        }
        let [one, other] = probe.long.map(|hash| hash::are_clear::<LONG>(word, hash));
        lists.long.push_if(at - base, one | other);
    }
}
