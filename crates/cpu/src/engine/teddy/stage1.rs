//! Which positions may begin a window, and where short patterns are: by vectors, or a position at a time.

use super::scan::{AHEAD, List, Passed};
use super::tables::{Group, Nibbles, Tables};
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::simd::Dispatch;
use std::ops::Range;

/// What vector loops look at for 64 positions: these bytes, and what windows that begin in them reach.
pub(super) const SPAN: usize = 64 + super::plan::PAIR_APART;

/// Has 64 positions after 64 of a range looked at. Zeros stand for what is beyond the end, and positions beyond the range
/// are looked at with the last ones.
#[inline(always)]
pub(super) fn sweep(
    bytes: &[u8],
    positions: Range<usize>,
    mut look: impl FnMut(usize, &[u8; SPAN]),
) {
    let mut end = [0; SPAN];
    for (word, at) in positions.step_by(64).enumerate() {
        let rest = &bytes[at..];
        fetch(rest);
        // One call for whole spans and for the end, so that the compiler puts it in here.
        let span = match rest.first_chunk() {
            Some(span) => span,
            None => {
                end[..rest.len()].copy_from_slice(rest);
                end[rest.len()..].fill(0);
                &end
            }
        };
        look(word, span);
    }
}

/// Has the cache line brought that is looked at a page later.
#[inline(always)]
fn fetch(rest: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing, whatever the address is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(rest.as_ptr().wrapping_add(AHEAD).cast()) };
    }
}

/// The first `count` of 64 bits.
#[inline(always)]
pub(super) fn low_bits(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

/// Clears the bits of positions that a range of so many does not have.
#[inline(always)]
fn clear_beyond(words: &mut [u64], positions: usize) {
    if let Some(last) = words.last_mut() {
        *last &= low_bits(64 - positions.wrapping_neg() % 64);
    }
}

/// Finds the positions of `tile` that may begin a window: 64 a word. What is beyond the tile is 0.
pub(super) fn filter(
    dispatch: Dispatch,
    tables: &Tables,
    bytes: &[u8],
    tile: Range<usize>,
    passed: &mut [u64],
) {
    debug_assert!(tile.end <= bytes.len() && passed.len() == tile.len().div_ceil(64));
    let positions = tile.len();
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => avx512::filter(token, tables, bytes, tile, passed),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => avx2::filter(token, tables, bytes, tile, passed),
        Dispatch::Scalar => filter_plain(tables, bytes, tile, passed),
    }
    clear_beyond(passed, positions);
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
pub(super) fn list(dispatch: Dispatch, passed: &[u64], list: &mut List) {
    list.len = 0;
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => avx512::list(token, passed, list),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => avx2::list(token, passed, list),
        Dispatch::Scalar => list_with(passed, list, nonzero, List::add_bits),
    }
}

/// The same, with a function that says which of 64 words have bits, and one that adds these.
#[inline(always)]
pub(super) fn list_with(
    passed: &[u64],
    list: &mut List,
    nonzero: impl Fn(&[u64]) -> u64,
    add: impl Fn(&mut List, u64, usize),
) {
    for (words, first) in passed.chunks(64).zip((0..).step_by(64 * 64)) {
        let mut some = nonzero(words);
        while some != 0 {
            let i = some.trailing_zeros() as usize;
            some &= some - 1;
            add(list, words[i], first + 64 * i);
        }
    }
}

/// Which of up to 64 words are not 0.
#[inline(always)]
pub(super) fn nonzero(words: &[u64]) -> u64 {
    words.iter().enumerate().fold(0, |some, (i, &word)| some | u64::from(word != 0) << i)
}

/// Counts the short patterns that begin at `starts`, and takes the positions that it did away from these.
pub(super) fn count(
    dispatch: Dispatch,
    group: &Group,
    weights: &Nibbles,
    bytes: &[u8],
    starts: &mut Range<usize>,
) -> u64 {
    // Whole spans only: the rest is marked and counted then.
    let whole = starts.len().min((bytes.len() + 64 - starts.start).saturating_sub(SPAN)) / 64 * 64;
    let done = starts.start..starts.start + whole;
    let sum = match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => avx512::count(token, group, weights, bytes, done.clone()),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => avx2::count(token, group, weights, bytes, done.clone()),
        Dispatch::Scalar => return 0,
    };
    starts.start = done.end;
    sum
}

/// Marks where the short patterns of a group begin, of `starts`: for each pattern a bit a position.
pub(super) fn mark(
    dispatch: Dispatch,
    group: &Group,
    bytes: &[u8],
    starts: Range<usize>,
    marks: &mut [Passed; 8],
) {
    let (words, positions) = (starts.len().div_ceil(64), starts.len());
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => avx512::mark(token, group, bytes, starts, marks),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => avx2::mark(token, group, bytes, starts, marks),
        Dispatch::Scalar => mark_plain(group, bytes, starts, marks),
    }
    let marks = marks.iter_mut().take(group.patterns.len());
    marks.for_each(|marks| clear_beyond(&mut marks[..words], positions));
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
