//! Stage 1: finds candidates and short patterns, by vectors or position by position.

use super::find_next::{FindNext, Tested};
use super::finder::with_finder;
use super::loops::{Filter, ListBits};
use super::scan::{AHEAD, Passed, PositionList, TILE};
use super::short_patterns::{Count, Mark, SeekShort};
use super::tables::{Nibbles, ShortGroup, ShuffleTables};
use crate::simd::vector::Vector as _;
use crate::simd::{Dispatch, Scalar, prefetch};
use std::ops::Range;

/// Bytes that a vector loop reads for 64 positions: these and as many after them as a window can
/// reach.
pub(super) const SPAN: usize = 64 + super::shape::TWO_BYTES_APART;

/// Prefetches the cache line half a page ahead, but none beyond the haystack: in a short call, such
/// lines would delay those that it needs.
#[inline(always)]
pub(super) fn fetch(rest: &[u8]) {
    if let Some(ahead) = rest.get(AHEAD..) {
        prefetch(ahead.as_ptr());
    }
}

/// A word with its `count` low bits set.
#[inline(always)]
pub(super) fn low_bits(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// Clears the bits beyond the last position.
#[inline(always)]
fn clear_beyond(words: &mut [u64], positions: usize) {
    if let Some(last) = words.last_mut() {
        *last &= low_bits(64 - positions.wrapping_neg() % 64);
    }
}

/// Finds the candidates of `tile`, 64 to a word. Bits beyond the tile are 0. False if there are no
/// candidates.
pub(super) fn filter(
    dispatch: Dispatch,
    tables: &ShuffleTables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) -> bool {
    debug_assert!(tile.end <= bytes.len() && passed.len() == tile.len().div_ceil(64));
    let positions = tile.len();
    let work = Filter { bytes, tile, passed: &mut *passed };
    let any = with_finder(dispatch, tables, work).unwrap_or_else(|work| {
        filter_plain(tables, bytes, work.tile, work.passed);
        true
    });
    clear_beyond(passed, positions);
    any
}

/// The same as [`FindNext`], or position by position without vectors.
pub(super) fn find_next(
    dispatch: Dispatch,
    tables: &ShuffleTables,
    bytes: &[u8],
    from: usize,
    tested: &mut Tested,
) -> (usize, u64) {
    let work = &mut FindNext { bytes, from, tested };
    with_finder(dispatch, tables, work).unwrap_or_else(|work| {
        for at in (from..bytes.len()).step_by(64) {
            let mut word = [0];
            filter_plain(tables, bytes, at..bytes.len().min(at + 64), &mut word);
            work.tested.next = at + 64;
            if word != [0] {
                return (at, word[0]);
            }
        }
        (bytes.len(), 0)
    })
}

/// The same as [`SeekShort`], or position by position without vectors.
pub(super) fn seek_short(
    dispatch: Dispatch,
    groups: &[ShortGroup],
    bytes: &[u8],
    see: &mut dyn FnMut(&ShortGroup, usize, u8),
) {
    let Err(SeekShort { see, .. }) = dispatch.run(SeekShort { groups, bytes, see }) else { return };
    for group in groups {
        for (at, window) in bytes.windows(group.len).enumerate() {
            let bits = group.plain_bits(window);
            if bits != 0 {
                see(group, at, bits);
            }
        }
    }
}

/// The scalar form.
fn filter_plain(tables: &ShuffleTables, bytes: &[u8], tile: Range<usize>, passed: &mut [u64]) {
    debug_assert!(tables.two_bytes.is_none(), "pairs are for vectors only");
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

/// The buckets that accept all bytes of a window, which may be cut off by the end of the haystack.
#[inline(always)]
fn buckets(tables: &[&[u32; 256]], window: &[u8]) -> u32 {
    tables.iter().zip(window).fold(u32::MAX, |all, (table, &b)| all & table[usize::from(b)])
}

/// Lists the positions of the set bits.
pub(super) fn list(dispatch: Dispatch, passed: &[u64], list: &mut PositionList) {
    list.len = 0;
    dispatch.run(ListBits { passed, list }).unwrap_or_else(|work| Scalar.run(work));
}

/// Which of up to 64 words are not 0.
#[inline(always)]
pub(super) fn nonzero(words: &[u64]) -> u64 {
    words.iter().enumerate().fold(0, |some, (i, &word)| some | u64::from(word != 0) << i)
}

/// Counts the short patterns that begin at `starts`, and removes the positions it has handled.
pub(super) fn count(
    dispatch: Dispatch,
    group: &ShortGroup,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    // Only full spans: the caller marks and counts the rest.
    let whole = starts.len().min((bytes.len() + 64 - starts.start).saturating_sub(SPAN)) / 64 * 64;
    let done = starts.start..starts.start + whole;
    let Ok(sum) = dispatch.run(Count { group, weights, bytes, starts: done.clone() }) else {
        return 0;
    };
    starts.start = done.end;
    sum
}

/// Finds at which of `starts` some short pattern of a group begins, and which ones, one bit each.
/// `found` is not valid if the group has one pattern.
pub(super) fn mark(
    dispatch: Dispatch,
    group: &ShortGroup,
    bytes: &[u8],
    starts: Range<usize>,
    found: &mut [u8; TILE],
    passed: &mut Passed,
) {
    let positions = starts.len();
    let work = Mark { group, bytes, starts, found, passed: &mut *passed };
    if let Err(Mark { starts, found, passed, .. }) = dispatch.run(work) {
        mark_plain(group, bytes, starts, found, passed);
    }
    clear_beyond(&mut passed[..positions.div_ceil(64)], positions);
}

fn mark_plain(
    group: &ShortGroup,
    bytes: &[u8],
    starts: Range<usize>,
    found: &mut [u8; TILE],
    passed: &mut Passed,
) {
    passed.fill(0);
    for (i, at) in starts.enumerate() {
        found[i] = group.plain_bits(&bytes[at..at + group.len]);
        passed[i / 64] |= u64::from(found[i] != 0) << (i % 64);
    }
}
