//! Stage 1: finds the positions of a tile where a window of the set may begin.
//!
//! The vector forms handle whole chunks of a tile. The scalar form handles the remaining positions,
//! and all positions on a CPU without vector instructions. All forms pass the same positions,
//! except near the end of a block, where the vector forms may pass some at which nothing can match.

use super::build::{Around, FilterTables};
use super::hash;
use super::scan::TileBuffers;
use super::shape::BEFORE;
use crate::simd::Dispatch;
use crate::simd::gather::Gathers;
use std::ops::Range;

pub(super) mod chunks;
mod find_chunk;
mod vector;

pub(super) use find_chunk::{ChunkHits, find_chunk};

/// Appends every `stride`-th position of `tile` where a window may begin to the lists.
pub(super) fn fill(
    dispatch: Dispatch,
    gathers: Gathers,
    tables: &FilterTables,
    bytes: &[u8],
    tile: Range<usize>,
    lists: &mut TileBuffers,
) {
    let done = if dispatch == Dispatch::Scalar {
        tile.start
    } else {
        vector::fill(dispatch, gathers, tables, bytes, tile.clone(), lists)
    };
    scalar(tables, bytes, tile.start, done..tile.end, lists);
    if tile.end == bytes.len() {
        // The last chunk is padded with zeros. If a pattern has zeros, these positions may pass.
        let end = (tile.len() + BEFORE) as u16;
        lists.short.keep_below(end);
        lists.long.keep_below(end);
    }
}

/// The scalar form, for any positions.
fn scalar(
    tables: &FilterTables,
    bytes: &[u8],
    base: usize,
    part: Range<usize>,
    lists: &mut TileBuffers,
) {
    let shape = &tables.shape;
    match (shape.short > 0, shape.joined, shape.stride) {
        (true, _, 1) => scalar_some::<1, true>(tables, bytes, base, part, lists),
        (true, _, _) => scalar_some::<2, true>(tables, bytes, base, part, lists),
        (_, true, _) => scalar_some::<2, false>(tables, bytes, base, part, lists),
        _ => scalar_some::<0, false>(tables, bytes, base, part, lists),
    }
}

/// `STEPS`: the number of windows joined to a gram. `SHORT`: whether there are short patterns,
/// whose windows are always joined.
fn scalar_some<const STEPS: usize, const SHORT: bool>(
    tables: &FilterTables,
    bytes: &[u8],
    base: usize,
    part: Range<usize>,
    lists: &mut TileBuffers,
) {
    let shape = tables.shape;
    let wrap = tables.filter.len() - 1;
    for at in part.step_by(shape.stride) {
        let around = Around::new(&shape, bytes, at);
        let word = tables.filter[shape.index(around) & wrap];
        // Most filter words are empty.
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
