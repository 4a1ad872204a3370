//! Stage 1: which positions of a tile may begin a window.

use super::build::{Around, Tables};
use super::hash;
use super::scan::Lists;
use super::shape::BEFORE;
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
    let shape = &tables.shape;
    match (shape.short > 0, shape.joined, shape.stride) {
        (true, _, 1) => plain_some::<1, true>(tables, bytes, base, part, lists),
        (true, _, _) => plain_some::<2, true>(tables, bytes, base, part, lists),
        (_, true, _) => plain_some::<2, false>(tables, bytes, base, part, lists),
        _ => plain_some::<0, false>(tables, bytes, base, part, lists),
    }
}

/// With windows joined to grams at so many steps from their anchors, which are of short patterns or long ones.
fn plain_some<const STEPS: usize, const SHORT: bool>(
    tables: &Tables,
    bytes: &[u8],
    base: usize,
    part: Range<usize>,
    lists: &mut Lists,
) {
    let shape = tables.shape;
    let wrap = tables.filter.len() - 1;
    for at in part.step_by(shape.stride) {
        let around = Around::new(&shape, bytes, at);
        let word = tables.filter[shape.index(around) & wrap];
        // Most words no window was entered in.
        if word == u32::MAX {
            continue;
        }
        let passes = |long, step| hash::are_clear(word, shape.choice(long, around, step));
        let place = at + BEFORE - base;
        let joined = if SHORT { &mut lists.short } else { &mut lists.long };
        for step in 0..STEPS {
            joined.push_if(place - step, passes(!SHORT, step));
        }
        if SHORT || STEPS == 0 {
            lists.long.push_if(place, passes(true, 0));
        }
    }
}
