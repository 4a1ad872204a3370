//! Stage 2: tests the entries of each candidate's bucket, and compares the records that they lead
//! to.
//!
//! Three passes over a list overlap the cache misses:
//! 1. Hash the windows and prefetch their buckets.
//! 2. Test all entries of each bucket at once, and list the places of those that match.
//! 3. Compare the records at these places.
//!
//! No pass branches on whether a candidate matches: the end of the next list advances by 0.

use super::buckets::{
    self, BucketsView, CacheLineBucket, FINGERPRINT, Header, INLINE, PLACE, PLACE_SHIFT, SLOTS,
};
use super::build::FilterTables;
use super::hash;
use super::scan::{HITS, Hashes, Hits, MatchOutput, PositionList, TileBuffers, TileView};
use super::shape::BEFORE;
use crate::simd::{Dispatch, prefetch};

#[path = "stage2_vector.rs"]
mod vector;

pub(super) use vector::ConfirmChunk;
use vector::{Compare, LookUp};

/// Candidates that are looked up together. The list of hits always has room for all their entries.
const CHUNK: usize = 256;

/// Verifies the candidates of a tile. Returns how many records it compared.
pub(super) fn confirm(
    dispatch: Dispatch,
    tile: TileView<'_>,
    lists: &mut TileBuffers,
    out: &mut MatchOutput<'_>,
) -> usize {
    let TileBuffers { short, long, hashes, hits, .. } = lists;
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

fn buckets_of(tables: &FilterTables, is_short: bool) -> BucketsView<'_> {
    if is_short { tables.short.view() } else { tables.long.view() }
}

/// Hashes the windows of a list and prefetches their buckets.
fn prepare(tile: TileView<'_>, is_short: bool, list: &PositionList, hashes: &mut Hashes) {
    match (is_short, tile.is_edge()) {
        (false, false) => prepare_some::<false, false>(tile, list, hashes),
        (false, true) => prepare_some::<false, true>(tile, list, hashes),
        (true, false) => prepare_some::<true, false>(tile, list, hashes),
        (true, true) => prepare_some::<true, true>(tile, list, hashes),
    }
}

fn prepare_some<const SHORT: bool, const EDGE: bool>(
    tile: TileView<'_>,
    list: &PositionList,
    hashes: &mut Hashes,
) {
    let shape = tile.tables.shape;
    let buckets = buckets_of(tile.tables, SHORT);
    for (&at, hash) in list.positions().iter().zip(hashes.0.iter_mut()) {
        *hash = shape.hash(word::<EDGE>(tile, at), !SHORT);
        prefetch(buckets.bucket(*hash));
    }
}

/// Eight bytes at a position of the tile. They are inside the block unless the tile is an `EDGE`.
#[inline(always)]
fn word<const EDGE: bool>(tile: TileView<'_>, at: u16) -> u64 {
    let (bytes, at) = (tile.block.bytes, tile.at + usize::from(at));
    if EDGE {
        return hash::word(bytes, at, BEFORE);
    }
    debug_assert!(at >= BEFORE && at - BEFORE + 8 <= bytes.len());
    let from = bytes.as_ptr().wrapping_add(at - BEFORE);
    // SAFETY: `is_edge` is false, so the tile begins at least 256 bytes into the block and ends
    // at least 32 bytes before its end: the BEFORE bytes before a position and the eight from
    // there on are inside, as asserted above.
    u64::from_le_bytes(unsafe { from.cast::<[u8; 8]>().read() })
}

/// Appends the places of all entries that match candidates to `hits`.
fn look_up(
    dispatch: Dispatch,
    tile: TileView<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    assert!(positions.len() <= CHUNK && hits.len <= HITS - CHUNK * SLOTS);
    if let Err(work) = (LookUp { tile, is_short, positions, hashes, hits }).run(dispatch) {
        look_up_plain(tile, is_short, positions, hashes, work.hits);
    }
}

fn look_up_plain(
    tile: TileView<'_>,
    is_short: bool,
    positions: &[u16],
    hashes: &[u64],
    hits: &mut Hits,
) {
    let tables = tile.tables;
    let buckets = buckets_of(tables, is_short);
    for (&at, &hash) in positions.iter().zip(hashes) {
        let bucket = buckets.bucket(hash);
        let expected = if is_short {
            let text = tables.shape.folded(word::<true>(tile, at));
            buckets::expected_short(text, &tables.masks)
        } else {
            buckets::expected_long(hash as u32)
        };
        let equal = |entry: u32| (entry ^ expected[(entry & 15) as usize]) & FINGERPRINT == 0;
        let entries = buckets::entries(bucket);
        let mask = entries.iter().rev().fold(0, |mask, &e| mask << 1 | u32::from(equal(e)));
        push_all(bucket, mask, at, hits);
    }
}

/// Appends the places of the bucket's entries whose bits are set.
#[inline(always)]
fn push_all(bucket: &CacheLineBucket, mut mask: u32, at: u16, hits: &mut Hits) {
    while mask != 0 {
        let entry = buckets::entries(bucket)[mask.trailing_zeros() as usize];
        hits.unit[hits.len] = buckets::base(bucket) + (entry >> PLACE_SHIFT & PLACE);
        hits.at[hits.len] = u32::from(at);
        hits.len += 1;
        mask &= mask - 1;
    }
}

/// Compares the records of all hits with the haystack and empties the list.
fn compare(
    dispatch: Dispatch,
    tile: TileView<'_>,
    hits: &mut Hits,
    out: &mut MatchOutput<'_>,
) -> usize {
    let len = std::mem::take(&mut hits.len);
    if len == 0 {
        return 0;
    }
    out.make_room(len);
    let (units, at) = (&hits.unit[..len], &hits.at[..len]);
    if let Err(Compare { out, .. }) = (Compare { tile, units, at, out }).run(dispatch) {
        units.iter().zip(at).for_each(|(&unit, &at)| plain(tile, unit, at, out));
    }
    len
}

/// Where a record's pattern would be.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    /// From the start of the page.
    end: u32,
    /// Whether the pattern would lie in the block, and the block would own the match.
    inside: bool,
}

impl Place {
    #[inline(always)]
    fn new(tile: &TileView<'_>, header: Header, at: u32) -> Self {
        let window = tile.at + at as usize;
        let start = window.wrapping_sub(header.offset());
        let end = start.wrapping_add(header.len());
        let inside = (window >= header.offset())
            & (end <= tile.block.bytes.len())
            & (end > tile.block.overlap);
        Place { start, end: end.wrapping_sub(tile.page()) as u32, inside }
    }
}

/// Compares one record or run, in the scalar form.
fn plain(tile: TileView<'_>, unit: u32, at: u32, out: &mut MatchOutput<'_>) {
    let header = tile.tables.records.header(unit);
    if header.is_run() {
        run(tile, header, at, out);
    } else {
        plain_record(&tile, header, at, out);
    }
}

fn plain_record(tile: &TileView<'_>, header: Header, at: u32, out: &mut MatchOutput<'_>) {
    let place = Place::new(tile, header, at);
    if place.inside && is_match(tile, header, place.start) {
        out.push(place.end, header.pattern());
    }
}

/// Compares all records of a run, in the scalar form.
fn run(tile: TileView<'_>, header: Header, at: u32, out: &mut MatchOutput<'_>) {
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

/// Whether a record's pattern is in the haystack at `start`. It must lie in the block.
fn is_match(tile: &TileView<'_>, header: Header, start: usize) -> bool {
    let window = &tile.block.bytes[start..][..header.len()];
    tile.set.get(header.pattern()).is_match(window)
}

/// Whether a pattern matches that is longer than its record, once its first bytes match.
#[cold]
fn is_rest_match(tile: &TileView<'_>, header: Header, start: usize) -> bool {
    debug_assert!(header.len() > INLINE);
    is_match(tile, header, start)
}
