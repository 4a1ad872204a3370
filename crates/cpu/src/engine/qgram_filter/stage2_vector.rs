//! The vector loops of stage 2. They yield the same as the scalar form.

use super::super::buckets::{
    FINGERPRINT, HEADER, Header, INLINE, PLACE, PLACE_SHIFT, RecordUnit, SLOTS, header,
};
use super::super::hash::{FINGERPRINT_HIGH, FINGERPRINT_LOW};
use super::super::scan::{HITS, Hits, MatchOutput, TileView};
use super::super::shape::BEFORE;
use super::super::stage1::ChunkHits;
use super::super::stage1::chunks::BY_ITSELF;
use super::{Place, buckets_of, is_match, is_rest_match, word};
use crate::simd::vector::{Vector, Work};
use crate::simd::{Dispatch, prefetch};

/// A mask of the entries among the sixteen numbers of a bucket. The last number is the base.
const ENTRIES: u16 = (1 << SLOTS) - 1;

/// Appends the places of all entries that match candidates to `hits`.
pub(super) struct LookUp<'a> {
    pub(super) tile: TileView<'a>,
    pub(super) is_short: bool,
    pub(super) positions: &'a [u16],
    pub(super) hashes: &'a [u64],
    pub(super) hits: &'a mut Hits,
}

impl<'a> LookUp<'a> {
    /// Returns the work if the instruction set has no vectors.
    pub(super) fn run(self, dispatch: Dispatch) -> Result<(), Self> {
        match (self.is_short, self.tile.is_edge()) {
            (false, false) => dispatch.run(Entries::<false, false>(self)).map_err(|it| it.0),
            (false, true) => dispatch.run(Entries::<false, true>(self)).map_err(|it| it.0),
            (true, false) => dispatch.run(Entries::<true, false>(self)).map_err(|it| it.0),
            (true, true) => dispatch.run(Entries::<true, true>(self)).map_err(|it| it.0),
        }
    }
}

struct Entries<'a, const SHORT: bool, const EDGE: bool>(LookUp<'a>);

impl<const SHORT: bool, const EDGE: bool> Work for Entries<'_, SHORT, EDGE> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let LookUp { tile, positions, hashes, hits, .. } = self.0;
        let tables = tile.tables;
        let buckets = buckets_of(tables, SHORT);
        let units = tables.records.units().as_ptr();
        let (shape, masks) = (tables.shape, v.load64(&tables.masks));
        // Raw pointers stay in registers. Through `hits`, they are reloaded after each store.
        let (unit_list, at_list) = (hits.unit.as_mut_ptr(), hits.at.as_mut_ptr());
        let mut len = hits.len;
        for (&at, &hash) in positions.iter().zip(hashes) {
            let bucket = buckets.bucket(hash);
            let entries = v.load32(&bucket.0);
            let text = if SHORT { shape.folded(word::<EDGE>(tile, at)) } else { 0 };
            let equal = equal_entries::<V, SHORT>(v, entries, hash, text, masks);
            debug_assert!(len <= HITS);
            let to = unit_list.wrapping_add(len);
            // SAFETY: `look_up` asserts room for SLOTS hits of each of CHUNK candidates, and a
            // bucket has SLOTS entries. So `len` is at most HITS, and the list has HITS + 16
            // elements.
            let count = unsafe { v.append_fields::<PLACE_SHIFT, PLACE>(entries, equal, to) };
            let to = at_list.wrapping_add(len);
            // SAFETY: `at` has as many elements as `unit`, and `len` is at most HITS, as above.
            unsafe { v.fill32(u32::from(at), count, to) };
            len += count;
        }
        // After the loop, over the hits only: most candidates have no record to prefetch.
        for &unit in &hits.unit[hits.len..len] {
            prefetch(units.wrapping_add(unit as usize));
        }
        hits.len = len;
    }
}

/// A mask of the entries that may lead to a match around a window. `text`: the eight bytes from a
/// short window's start on, folded.
#[inline(always)]
fn equal_entries<V: Vector, const SHORT: bool>(
    v: V,
    entries: V::Bytes,
    hash: u64,
    text: u64,
    masks: V::Bytes,
) -> u16 {
    let expected = if SHORT {
        v.lower_halves(fingerprints(v, v.and(v.splat64(text), masks)))
    } else {
        v.seven_copies(hash as u32)
    };
    let differ = v.xor(entries, v.choose(expected, entries));
    v.clear_mask32::<ENTRIES>(differ, v.splat32(FINGERPRINT))
}

/// The fingerprints of eight texts, in the lower halves.
#[inline(always)]
fn fingerprints<V: Vector>(v: V, texts: V::Bytes) -> V::Bytes {
    let low = v.multiply_low(texts, v.splat64(u64::from(FINGERPRINT_LOW)));
    let high = v.multiply_low(v.upper_halves(texts), v.splat64(u64::from(FINGERPRINT_HIGH)));
    v.add64(low, high)
}

/// Compares records with the haystack.
pub(super) struct Compare<'a, 'o, 's> {
    pub(super) tile: TileView<'a>,
    pub(super) units: &'a [u32],
    pub(super) at: &'a [u32],
    pub(super) out: &'o mut MatchOutput<'s>,
}

impl<'a, 'o, 's> Compare<'a, 'o, 's> {
    /// Returns the work if the instruction set has no vectors.
    pub(super) fn run(self, dispatch: Dispatch) -> Result<(), Self> {
        match self.out.only_count {
            true => self.run_shape::<true>(dispatch),
            false => self.run_shape::<false>(dispatch),
        }
    }

    fn run_shape<const COUNT: bool>(self, dispatch: Dispatch) -> Result<(), Self> {
        match (self.tile.tables.shape.fold != 0, self.tile.is_edge()) {
            (false, false) => dispatch.run(Listed::<COUNT, false, false>(self)).map_err(|it| it.0),
            (false, true) => dispatch.run(Listed::<COUNT, false, true>(self)).map_err(|it| it.0),
            (true, false) => dispatch.run(Listed::<COUNT, true, false>(self)).map_err(|it| it.0),
            (true, true) => dispatch.run(Listed::<COUNT, true, true>(self)).map_err(|it| it.0),
        }
    }
}

struct Listed<'a, 'o, 's, const COUNT: bool, const FOLD: bool, const EDGE: bool>(
    Compare<'a, 'o, 's>,
);

impl<const COUNT: bool, const FOLD: bool, const EDGE: bool> Work
    for Listed<'_, '_, '_, COUNT, FOLD, EDGE>
{
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let Compare { tile, units, at, out } = self.0;
        let around = RecordContext::new(&tile);
        debug_assert!(out.room() >= units.len());
        let mut cursor = out.cursor();
        for (&unit, &at) in units.iter().zip(at) {
            let header = around.header(unit);
            if header.is_run() {
                out.advance(&cursor);
                v.run(Run::<FOLD, EDGE> { around, header, at, out: &mut *out });
                out.make_room(units.len());
                debug_assert!(out.room() >= units.len());
                cursor = out.cursor();
                continue;
            }
            let (end, ok) = around.compare::<V, FOLD, EDGE>(v, unit, header, at);
            // SAFETY: `stage2::compare` makes room for one match per unit, and the branch above
            // does so again after a run; both are asserted. Each unit adds at most one match, and
            // `out` is not used while the cursor is.
            unsafe { cursor.push_if::<COUNT>(end, header.pattern(), ok) };
        }
        out.advance(&cursor);
    }
}

/// Compares all records of a run.
struct Run<'a, 'o, 's, const FOLD: bool, const EDGE: bool> {
    around: RecordContext<'a>,
    header: Header,
    at: u32,
    out: &'o mut MatchOutput<'s>,
}

impl<const FOLD: bool, const EDGE: bool> Work for Run<'_, '_, '_, FOLD, EDGE> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector>(self, v: V) {
        let Run { around, header, at, out } = self;
        let mut unit = header.pattern();
        loop {
            let header = around.header(unit);
            let (end, ok) = around.compare::<V, FOLD, EDGE>(v, unit, header, at);
            out.in_runs += 1;
            if ok {
                out.make_room(1);
                out.push(end, header.pattern());
            }
            if header.is_last() {
                return;
            }
            unit += header.units();
        }
    }
}

/// The addresses and constants of a record comparison.
#[derive(Clone, Copy)]
struct RecordContext<'a> {
    tile: &'a TileView<'a>,
    units: *const RecordUnit,
    /// The address of the tile's first byte.
    text: *const u8,
    in_page: u32,
}

impl<'a> RecordContext<'a> {
    #[inline(always)]
    fn new(tile: &'a TileView<'a>) -> Self {
        let units = tile.tables.records.units().as_ptr();
        let text = tile.block.bytes.as_ptr().wrapping_add(tile.at);
        RecordContext { tile, units, text, in_page: tile.in_page() }
    }

    #[inline(always)]
    fn header(self, unit: u32) -> Header {
        debug_assert!((unit as usize) < self.tile.tables.records.units().len());
        let at = self.units.wrapping_add(unit as usize);
        // SAFETY: `unit` is the place of an entry, or follows a record that is not the last of
        // its run. `CacheLineBuckets::new` and `RecordList::push_run` make both from records that
        // they push; `sections::check` checks both in tables that were loaded.
        header(unsafe { at.read() })
    }

    /// Where a match ends, from the start of the page, and whether it is one.
    #[inline(always)]
    fn compare<V: Vector, const FOLD: bool, const EDGE: bool>(
        self,
        v: V,
        unit: u32,
        header: Header,
        at: u32,
    ) -> (u32, bool) {
        let tile = self.tile;
        let start = (tile.at + at as usize).wrapping_sub(header.offset());
        let end = (self.in_page + at).wrapping_add(header.len() as u32);
        let end = end.wrapping_sub(header.offset() as u32);
        if EDGE {
            let inside = Place::new(tile, header, at).inside;
            let whole = start.checked_add(INLINE).is_some_and(|end| end <= tile.block.bytes.len());
            if !(inside & whole) {
                return (end, inside && is_match(tile, header, start));
            }
        }
        let text = self.text.wrapping_add(at as usize).wrapping_sub(header.offset());
        debug_assert!(EDGE || start + INLINE <= tile.block.bytes.len());
        let wanted = self.units.wrapping_add(unit as usize).wrapping_byte_add(HEADER).cast();
        let case = if header.is_nocase() { 0x20 } else { 0 };
        // SAFETY: INLINE bytes from `start` on are in the block: checked above for an edge, and
        // implied by `TileView::is_edge` for any other tile. `unit` is the place of a record (see
        // `header`), and BEYOND units follow the last (`RecordList::finish`, `sections::load`),
        // which are more than HEADER + INLINE bytes.
        let differ = unsafe { v.differ::<FOLD>(text, wanted, case) };
        // The bytes of the record: up to 32.
        let count = u64::from(header.count());
        let mut ok = u64::from(differ) & ((1 << count) - 1) == 0;
        if ok & (header.len() > INLINE) {
            ok = is_rest_match(tile, header, start);
        }
        (end, ok)
    }
}

/// Confirms the candidates of a chunk, without the lists of a tile. Calls `found` with the end of
/// each match in the block and with its pattern.
pub(in super::super) struct ConfirmChunk<'a, F> {
    /// It begins where the chunk does.
    pub(in super::super) tile: TileView<'a>,
    pub(in super::super) hits: &'a ChunkHits,
    /// It stops once lookups and comparisons exceed this.
    pub(in super::super) most: usize,
    pub(in super::super) found: F,
}

impl<F: FnMut(usize, u32)> ConfirmChunk<'_, F> {
    /// Returns the number of buckets looked up and of records compared: 0 if the instruction set
    /// has no vectors.
    #[inline(always)]
    pub(in super::super) fn run(self, dispatch: Dispatch) -> usize {
        let work = match self.tile.tables.shape.fold != 0 {
            true => dispatch.run(ConfirmEach::<true, F>(self)).ok(),
            false => dispatch.run(ConfirmEach::<false, F>(self)).ok(),
        };
        work.unwrap_or(0)
    }
}

struct ConfirmEach<'a, const FOLD: bool, F>(ConfirmChunk<'a, F>);

impl<const FOLD: bool, F: FnMut(usize, u32)> Work for ConfirmEach<'_, FOLD, F> {
    type Output = usize;

    #[inline(always)]
    fn run<V: Vector>(self, v: V) -> usize {
        let ConfirmChunk { tile, hits: &ChunkHits { passed, places, .. }, most, mut found } =
            self.0;
        let around = RecordContext::new(&tile);
        let (mut hits, mut work) = (FewHits::default(), 0);
        for (way, passed) in passed.into_iter().enumerate() {
            let is_short = tile.tables.shape.short > 0 && way != BY_ITSELF;
            let step = way % BY_ITSELF;
            let mut passed = passed;
            while passed != 0 && work <= most {
                let place = usize::from(places[passed.trailing_zeros() as usize]);
                let at = (place + BEFORE - step) as u16;
                match is_short {
                    true => hits.look_up::<V, true>(v, tile, at),
                    false => hits.look_up::<V, false>(v, tile, at),
                }
                work += 1;
                if hits.len >= FEW {
                    work = hits.compare::<V, FOLD>(v, around, (work, most), &mut found);
                }
                passed &= passed - 1;
            }
        }
        hits.compare::<V, FOLD>(v, around, (work, most), &mut found)
    }
}

/// Hits of a few candidates: as [`Hits`], but in arrays on the stack.
#[derive(Default)]
struct FewHits {
    unit: [u32; FEW + 16],
    at: [u32; FEW + 16],
    len: usize,
}

/// Hits are compared once there are this many. A guess: `calls` would show it.
const FEW: usize = 8;

impl FewHits {
    /// Appends the entries that match a candidate. No branch depends on whether there are any, so
    /// the cache misses of several buckets overlap.
    #[inline(always)]
    fn look_up<V: Vector, const SHORT: bool>(&mut self, v: V, tile: TileView<'_>, at: u16) {
        let (shape, masks) = (tile.tables.shape, v.load64(&tile.tables.masks));
        let word = word::<true>(tile, at);
        let hash = shape.hash(word, !SHORT);
        let entries = v.load32(&buckets_of(tile.tables, SHORT).bucket(hash).0);
        let text = if SHORT { shape.folded(word) } else { 0 };
        let equal = equal_entries::<V, SHORT>(v, entries, hash, text, masks);
        let (units, places) = (&mut self.unit[self.len..], &mut self.at[self.len..]);
        assert!(units.len() >= 16 && places.len() >= 16);
        // SAFETY: 16 elements from `units` on can be written, as asserted.
        let count =
            unsafe { v.append_fields::<PLACE_SHIFT, PLACE>(entries, equal, units.as_mut_ptr()) };
        // SAFETY: 16 elements from `places` on can be written, as asserted; `count` is the number
        // of bits in a mask of 16.
        unsafe { v.fill32(u32::from(at), count, places.as_mut_ptr()) };
        self.len += count;
    }

    /// Calls `found` for each hit whose pattern matches, and empties the list. Adds the number of
    /// records compared to `work`. Once that is more than `most`, it compares only the first record
    /// of each run.
    #[inline(always)]
    fn compare<V: Vector, const FOLD: bool>(
        &mut self,
        v: V,
        around: RecordContext<'_>,
        (mut work, most): (usize, usize),
        found: &mut impl FnMut(usize, u32),
    ) -> usize {
        let (len, page) = (std::mem::take(&mut self.len), around.tile.page());
        for (&unit, &at) in self.unit[..len].iter().zip(&self.at) {
            let (mut unit, mut header) = (unit, around.header(unit));
            let in_run = header.is_run();
            if in_run {
                unit = header.pattern();
                header = around.header(unit);
            }
            loop {
                let (end, ok) = around.compare::<V, FOLD, true>(v, unit, header, at);
                work += 1;
                if ok {
                    found(page + end as usize, header.pattern());
                }
                if !in_run || header.is_last() || work > most {
                    break;
                }
                unit += header.units();
                header = around.header(unit);
            }
        }
        work
    }
}
