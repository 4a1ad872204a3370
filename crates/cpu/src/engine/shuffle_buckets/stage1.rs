//! Which positions may begin a window, and where short patterns are: by vectors, or a position at a time.

use super::scan::{List, Passed, TILE};
use super::tables::{Group, Nibbles, Tables};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::simd::Isa;
use std::ops::Range;

/// Finds the positions of `tile` that may begin a window: 64 a word. What is beyond the tile is 0.
pub(super) fn filter(
    isa: Isa,
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::filter(tables, bytes, tile, passed),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::filter(tables, bytes, tile, passed),
        _ => filter_plain(tables, bytes, tile, passed),
    }
}

/// The plain form.
fn filter_plain(tables: &Tables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    debug_assert!(tables.pair.is_none(), "the plan has pairs for vectors only");
    match *tables.plain.as_slice() {
        [ref a, ref b, ref c] => filter_sized([a, b, c], bytes, tile, passed),
        [ref a, ref b, ref c, ref d] => filter_sized([a, b, c, d], bytes, tile, passed),
        [ref a, ref b, ref c, ref d, ref e] => filter_sized([a, b, c, d, e], bytes, tile, passed),
        [ref a, ref b, ref c, ref d, ref e, ref f] => {
            filter_sized([a, b, c, d, e, f], bytes, tile, passed);
        }
        _ => unreachable!("no plan has {} offsets", tables.plain.len()),
    }
}

fn filter_sized<const K: usize>(
    tables: [&[u32; 256]; K],
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    for (word, from) in passed.iter_mut().zip(tile.clone().step_by(64)) {
        *word = 0;
        for at in from..tile.end.min(from + 64) {
            let all = match bytes[at..].first_chunk::<K>() {
                Some(window) => buckets(&tables, window),
                None => buckets(&tables, &bytes[at..]),
            };
            *word |= u64::from(all != 0) << (at - from);
        }
    }
}

/// The buckets that have all bytes of a window, which may end with the haystack.
#[inline(always)]
fn buckets(tables: &[&[u32; 256]], window: &[u8]) -> u32 {
    tables.iter().zip(window).fold(u32::MAX, |all, (table, &b)| all & table[usize::from(b)])
}

/// Lists the positions whose bits are set.
pub(super) fn list(isa: Isa, passed: &[u64], list: &mut List) {
    list.len = 0;
    let mut some: [u8; TILE / 64] = [0; TILE / 64];
    let mut count = 0;
    for (i, &bits) in passed.iter().enumerate() {
        some[count] = i as u8;
        count += usize::from(bits != 0);
    }
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::list(passed, &some[..count], list),
        _ => some[..count]
            .iter()
            .for_each(|&i| list.add_bits(passed[usize::from(i)], 64 * usize::from(i))),
    }
}

/// Counts the short patterns that begin at `starts`, and takes the positions that it did away from these.
pub(super) fn count(
    isa: Isa,
    group: &Group,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::count(group, weights, bytes, starts),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::count(group, weights, bytes, starts),
        _ => 0,
    }
}

/// Marks where the short patterns of a group begin, of `starts`: for each pattern a bit a position.
pub(super) fn mark(
    isa: Isa,
    group: &Group,
    bytes: &[u8],
    starts: Range<usize>,
    marks: &mut [Passed; 8],
) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::mark(group, bytes, starts, marks),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::mark(group, bytes, starts, marks),
        _ => mark_plain(group, bytes, starts, marks),
    }
}

fn mark_plain(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut [Passed; 8]) {
    for (word, from) in starts.clone().step_by(64).enumerate() {
        let mut bits = [0; 8];
        for at in from..starts.end.min(from + 64) {
            let window = bytes[at..at + group.len].iter().zip(&group.plain);
            let all = window.fold(u8::MAX, |all, (&byte, table)| all & table[usize::from(byte)]);
            let spread = |i: usize| u64::from(all >> i & 1) << (at - from);
            bits.iter_mut().enumerate().for_each(|(i, bits)| *bits |= spread(i));
        }
        marks.iter_mut().zip(bits).for_each(|(marks, bits)| marks[word] = bits);
    }
}
