//! Stage 2: the entries of what passed, and the records that they overlap to.
//!
//! Three passes over a list, so that cache misses overlap: hash and prefetch the lines; compare all entries of
//! each line at once, and gather the places of those that are equal; compare the records. Whether a candidate is
//! one is nowhere a branch: what is not simply does not advance the end of the next list.

use super::build::Tables;
use super::hash;
use super::lines::{self, FINGERPRINT, Header, INLINE, Line, PLACE, PLACE_SHIFT, SLOTS, View};
use super::scan::{HITS, Hashes, Hits, List, Lists, Out, Tile};
use super::shape::BEFORE;
use crate::simd::Dispatch;

#[cfg(target_arch = "x86_64")]
#[path = "stage2_x86.rs"]
mod x86;

/// Candidates whose entries are sure to fit.
const CHUNK: usize = 256;

/// Compares the candidates of a tile, and says how many records that took.
pub(super) fn confirm(
    dispatch: Dispatch,
    tile: Tile<'_>,
    lists: &mut Lists,
    out: &mut Out<'_>,
) -> usize {
    let Lists { short, long, hashes, hits, .. } = lists;
    let mut compared = 0;
    for (list, is_short) in [(&*long, false), (&*short, true)] {
        prepare(tile, is_short, list, hashes);
        for (positions, hashes) in list.positions().chunks(CHUNK).zip(hashes.0.chunks(CHUNK)) {
            look_up(dispatch, tile, is_short, positions, hashes, hits);
            if hits.len > HITS - CHUNK * SLOTS {
                compared += compare(dispatch, tile, hits, out);
            }
        }
    }
    compared + compare(dispatch, tile, hits, out)
}

fn lines_of(tables: &Tables, is_short: bool) -> View<'_> {
    if is_short { tables.short.view() } else { tables.long.view() }
}

/// Hashes the windows of a list, and asks for their lines.
fn prepare(tile: Tile<'_>, is_short: bool, list: &List, hashes: &mut Hashes) {
    match (is_short, tile.is_edge()) {
        (false, false) => prepare_some::<false, false>(tile, list, hashes),
        (false, true) => prepare_some::<false, true>(tile, list, hashes),
        (true, false) => prepare_some::<true, false>(tile, list, hashes),
        (true, true) => prepare_some::<true, true>(tile, list, hashes),
    }
}

fn prepare_some<const SHORT: bool, const EDGE: bool>(
    tile: Tile<'_>,
    list: &List,
    hashes: &mut Hashes,
) {
    let shape = tile.tables.shape;
    let lines = lines_of(tile.tables, SHORT);
    for (&at, hash) in list.positions().iter().zip(hashes.0.iter_mut()) {
        *hash = shape.hash(word::<EDGE>(tile, at), !SHORT);
        prefetch(lines.line(*hash));
    }
}

/// Eight bytes from a position of the tile on, which are in the block unless it is an `EDGE`.
#[inline(always)]
fn word<const EDGE: bool>(tile: Tile<'_>, at: u16) -> u64 {
    let (bytes, at) = (tile.block.bytes, tile.at + usize::from(at));
    if EDGE {
        return hash::word(bytes, at, BEFORE);
    }
    debug_assert!(at >= BEFORE && at - BEFORE + 8 <= bytes.len());
    let from = bytes.as_ptr().wrapping_add(at - BEFORE);
    // SAFETY: a position of a tile that is no edge has eight bytes behind it, and some before it.
    u64::from_le_bytes(unsafe { from.cast::<[u8; 8]>().read() })
}

#[inline(always)]
fn prefetch<T>(what: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch does nothing but take time, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(what.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = what;
}

/// Adds the places of all entries that candidates may be to `hits`, where there is room for them.
fn look_up(
    dispatch: Dispatch,
    tile: Tile<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    assert!(positions.len() <= CHUNK && hits.len <= HITS - CHUNK * SLOTS);
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => {
            x86::look_up_avx512(token, tile, is_short, positions, hashes, hits);
        }
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => {
            x86::look_up_avx2(token, tile, is_short, positions, hashes, hits);
        }
        Dispatch::Scalar => look_up_plain(tile, is_short, positions, hashes, hits),
    }
}

fn look_up_plain(
    tile: Tile<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    let tables = tile.tables;
    let lines = lines_of(tables, is_short);
    for (&at, &hash) in positions.iter().zip(hashes) {
        let line = lines.line(hash);
        let expected = if is_short {
            let text = word::<true>(tile, at) | tables.shape.fold;
            lines::expected_short(text, &tables.masks)
        } else {
            lines::expected_long(hash as u32)
        };
        let equal = |entry: u32| (entry ^ expected[(entry & 15) as usize]) & FINGERPRINT == 0;
        let mask = line.entries.iter().rev().fold(0, |mask, &e| mask << 1 | u32::from(equal(e)));
        push_all(line, mask, at, hits);
    }
}

/// Adds the places of a line's entries whose bits are set.
#[inline(always)]
fn push_all(line: &Line, mut mask: u32, at: u16, hits: &mut Hits) {
    while mask != 0 {
        let entry = line.entries[mask.trailing_zeros() as usize];
        hits.unit[hits.len] = line.base + (entry >> PLACE_SHIFT & PLACE);
        hits.at[hits.len] = u32::from(at);
        hits.len += 1;
        mask &= mask - 1;
    }
}

/// Compares the records of all hits with the haystack and empties the list.
fn compare(dispatch: Dispatch, tile: Tile<'_>, hits: &mut Hits, out: &mut Out<'_>) -> usize {
    let len = std::mem::take(&mut hits.len);
    out.make_room(len);
    let (units, at) = (&hits.unit[..len], &hits.at[..len]);
    match dispatch {
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx512(token) => x86::compare(token.avx2(), tile, units, at, out),
        #[cfg(target_arch = "x86_64")]
        Dispatch::Avx2(token) => x86::compare(token, tile, units, at, out),
        Dispatch::Scalar => {
            units.iter().zip(at).for_each(|(&unit, &at)| plain(tile, unit, at, out))
        }
    }
    len
}

/// What a record says of where its pattern would be.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    /// From the page's start.
    end: u32,
    /// Whether it is in the block, and the block owns it.
    inside: bool,
}

impl Place {
    #[inline(always)]
    fn new(tile: &Tile<'_>, header: Header, at: u32) -> Self {
        let window = tile.at + at as usize;
        let start = window.wrapping_sub(header.offset());
        let end = start.wrapping_add(header.len());
        let inside = (window >= header.offset())
            & (end <= tile.block.bytes.len())
            & (end > tile.block.overlap);
        Place { start, end: end.wrapping_sub(tile.page()) as u32, inside }
    }
}

/// One record or run, in the plain form.
fn plain(tile: Tile<'_>, unit: u32, at: u32, out: &mut Out<'_>) {
    let header = tile.tables.records.header(unit);
    if header.is_run() {
        run(tile, header, at, out);
    } else {
        plain_record(&tile, header, at, out);
    }
}

fn plain_record(tile: &Tile<'_>, header: Header, at: u32, out: &mut Out<'_>) {
    let place = Place::new(tile, header, at);
    if place.inside && is_match(tile, header, place.start) {
        out.push(place.end, header.pattern());
    }
}

/// All records of a run, in the plain form.
fn run(tile: Tile<'_>, header: Header, at: u32, out: &mut Out<'_>) {
    let mut unit = header.pattern();
    loop {
        let header = tile.tables.records.header(unit);
        out.make_room(HITS);
        plain_record(&tile, header, at, out);
        out.in_runs += 1;
        if header.is_last() {
            return;
        }
        unit += header.units();
    }
}

/// Whether the pattern is where its record says. It has to be inside.
fn is_match(tile: &Tile<'_>, header: Header, start: usize) -> bool {
    let window = &tile.block.bytes[start..][..header.len()];
    tile.set.get(header.pattern()).is_match(window)
}

/// Whether the rest of a pattern is there whose first bytes are.
#[cold]
fn is_rest_match(tile: &Tile<'_>, header: Header, start: usize) -> bool {
    debug_assert!(header.len() > INLINE);
    is_match(tile, header, start)
}
