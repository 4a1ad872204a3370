//! Which positions may begin a window, and where short patterns are: by vectors, or a position at a time.

use super::scan::{List, Marks};
use super::tables::{Group, Nibbles, Tables};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::simd::Isa;
use std::ops::Range;

/// Puts every position of `tile` that may begin a window on the list, in order. Positions beyond the block may be on
/// it as well.
pub(super) fn filter(isa: Isa, tables: &Tables, bytes: &[u8], tile: Range<usize>, list: &mut List) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::filter(tables, bytes, tile, list),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::filter(tables, bytes, tile, list),
        _ => filter_plain(tables, bytes, tile, list),
    }
}

/// The plain form, for any positions.
fn filter_plain(tables: &Tables, bytes: &[u8], tile: Range<usize>, list: &mut List) {
    let base = tile.start;
    let (first, rest) = tables.plain.split_first().expect("a filter has three offsets and more");
    for at in tile {
        let of = |table: &[u32; 256], byte: Option<&u8>| {
            byte.map_or(u32::MAX, |&b| table[usize::from(b)])
        };
        let start = of(first, bytes.get(at));
        let all =
            rest.iter().zip(1..).fold(start, |all, (table, j)| all & of(table, bytes.get(at + j)));
        list.push_if(at - base, all != 0);
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

/// Marks where the short patterns of a group begin, of `starts`.
pub(super) fn mark(isa: Isa, group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut Marks) {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::mark(group, bytes, starts, marks),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::mark(group, bytes, starts, marks),
        _ => mark_plain(group, bytes, starts, marks),
    }
}

fn mark_plain(group: &Group, bytes: &[u8], starts: Range<usize>, marks: &mut Marks) {
    for from in starts.clone().step_by(64) {
        let mut bits = [0; 8];
        for at in from..starts.end.min(from + 64) {
            let window = bytes[at..at + group.len].iter().zip(&group.plain);
            let all = window.fold(u8::MAX, |all, (&byte, table)| all & table[usize::from(byte)]);
            bits.iter_mut()
                .enumerate()
                .for_each(|(i, bits)| *bits |= u64::from(all >> i & 1) << (at - from));
        }
        if bits != [0; 8] {
            marks.bits.push(((from - starts.start) as u16, bits));
        }
    }
}
