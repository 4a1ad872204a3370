//! Cache-line buckets of entries, and the records of patterns that the entries lead to.
//!
//! A window that passed the filter hashes to a bucket of 64 bytes: fifteen entries, and the number
//! of the unit where the bucket's records begin. An entry is
//!
//! ```text
//! bits 31..12  fingerprint of the window, or of the short pattern around it
//! bits 11..4   its record, in units from the bucket's first
//! bits 3..0    index of the expected fingerprint to compare with: twice the class
//! ```
//!
//! so one comparison tests the whole bucket, whatever the lengths of its patterns. Expected
//! fingerprints 14 and 15 are always 0. An entry with index 14 and fingerprint 0 matches
//! everything: it leads to the keys that did not fit. An unused entry has index 15 and another
//! fingerprint, so it matches nothing.
//!
//! Records are made of units of 16 bytes, and those of a bucket are consecutive: a header of eight
//! bytes, then the pattern's first bytes. If more patterns share a window than a bucket should
//! hold, one entry leads to a run of records.

use super::hash;
use super::shape::BEFORE;
use fyke_core::PatternSet;
use fyke_core::table::{CacheLine, Table, Unit16};

/// Entries of a bucket.
pub(super) const SLOTS: usize = 15;

/// The fingerprint bits of an entry.
pub(super) const FINGERPRINT: u32 = 0xffff_f000;
/// The first bit of the record's place in an entry, and the mask of its bits.
pub(super) const PLACE_SHIFT: u32 = 4;
pub(super) const PLACE: u32 = 0xff;

/// The index of the expected fingerprint that is always 0.
const EVERY: u32 = 14;
/// An entry that nothing matches: expected fingerprint 15 is 0.
pub(super) const UNUSED: u32 = 15 | 1 << 31;

/// Bytes of a unit of records.
pub(super) const UNIT: usize = size_of::<RecordUnit>();
/// Bytes of a record's header.
pub(super) const HEADER: usize = 8;
/// Pattern bytes in a record: one vector comparison.
pub(super) const INLINE: usize = 32;
/// Units after the last record, so that a full vector can be loaded from any record.
pub(super) const BEYOND: usize = 4;

/// The maximum number of patterns with the same window that have entries of their own; more become
/// a run. 8 is slightly faster than 4 for `words/99175`, and equal for `rules`.
const SAME: usize = 8;

/// The maximum number of keys per bucket, on average. With more, keys do not fit; with fewer, the
/// buckets take more memory. A guess: `words/99175` would show it.
const KEYS_PER_BUCKET: usize = 6;

/// A bucket of one cache line: fifteen entries and the first unit of their records.
pub(super) type CacheLineBucket = CacheLine;

/// The index, after the entries, of the word that holds the bucket's first unit.
const BASE: usize = SLOTS;

/// The entries of a bucket.
#[inline(always)]
pub(super) fn entries(bucket: &CacheLineBucket) -> &[u32] {
    &bucket.0[..SLOTS]
}

/// The first unit of the records of a bucket.
#[inline(always)]
pub(super) fn base(bucket: &CacheLineBucket) -> u32 {
    bucket.0[BASE]
}

const EMPTY: CacheLineBucket = {
    let mut words = [UNUSED; SLOTS + 1];
    words[BASE] = 0;
    CacheLine(words)
};

/// 16 bytes of a record.
pub(super) type RecordUnit = Unit16;

/// The header of a record. Pattern: 32 bits; its length: 16; the offset of its window: 8; the
/// number of its bytes in the record: 6; and two flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header(pub(super) u64);

impl Header {
    const LAST: u64 = 1 << 62;
    const NOCASE: u64 = 1 << 63;

    fn new(pattern: u32, len: usize, offset: u8, nocase: bool) -> Self {
        let flags = if nocase { Self::NOCASE } else { 0 };
        let (len, count) = ((len as u64) << 32, (len.min(INLINE) as u64) << 56);
        Header(u64::from(pattern) | len | u64::from(offset) << 48 | count | flags)
    }

    /// In place of a record: the first unit of a run. It holds no bytes.
    fn run(first: u32) -> Self {
        Header(u64::from(first))
    }

    /// The pattern, or the first unit of a run.
    #[inline(always)]
    pub(super) fn pattern(self) -> u32 {
        self.0 as u32
    }

    /// The length of the pattern.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        (self.0 >> 32) as usize & 0xffff
    }

    /// From the pattern's start to its window, plus [`BEFORE`].
    #[inline(always)]
    pub(super) fn offset(self) -> usize {
        (self.0 >> 48) as usize & 0xff
    }

    /// Bytes of the pattern in the record.
    #[inline(always)]
    pub(super) fn count(self) -> u32 {
        (self.0 >> 56) as u32 & 0x3f
    }

    #[inline(always)]
    pub(super) fn is_nocase(self) -> bool {
        self.0 & Self::NOCASE != 0
    }

    #[inline(always)]
    pub(super) fn is_run(self) -> bool {
        self.0 >> 56 == 0
    }

    /// Whether this record ends a run.
    #[inline(always)]
    pub(super) fn is_last(self) -> bool {
        self.0 & Self::LAST != 0
    }

    /// Units of the record.
    #[inline(always)]
    pub(super) fn units(self) -> u32 {
        (HEADER as u32 + self.count()).div_ceil(UNIT as u32)
    }
}

/// The records of all buckets.
#[derive(Debug)]
pub(super) struct Records {
    /// [`BEYOND`] of them follow those with records.
    pub(super) units: Table<RecordUnit>,
    /// Records in runs.
    pub(super) in_runs: usize,
}

impl Records {
    /// The units with records. A full vector can be loaded from each.
    #[inline(always)]
    pub(super) fn units(&self) -> &[RecordUnit] {
        &self.units[..self.units.len() - BEYOND]
    }

    #[inline(always)]
    pub(super) fn header(&self, unit: u32) -> Header {
        header(self.units[unit as usize])
    }

    pub(super) fn memory(&self) -> u64 {
        size_of_val(&*self.units) as u64
    }
}

/// The header of the record that begins in a unit.
#[inline(always)]
pub(super) fn header(unit: RecordUnit) -> Header {
    Header(u64::from_le_bytes(unit.0[..HEADER].try_into().expect("HEADER is 8")))
}

/// Records while they are written.
#[derive(Debug, Default)]
pub(super) struct RecordList {
    units: Vec<RecordUnit>,
    in_runs: usize,
}

impl RecordList {
    /// The records, once all are pushed.
    pub(super) fn finish(mut self) -> Records {
        self.units.extend([RecordUnit::default(); BEYOND]);
        self.units.shrink_to_fit();
        Records { units: self.units.into(), in_runs: self.in_runs }
    }

    pub(super) fn reserve(&mut self, units: usize) {
        self.units.reserve_exact(units + units / 32 + BEYOND);
    }

    fn push(&mut self, header: Header, bytes: &[u8]) {
        let bytes = &bytes[..bytes.len().min(INLINE)];
        let mut record = [0; HEADER + INLINE];
        record[..HEADER].copy_from_slice(&header.0.to_le_bytes());
        record[HEADER..][..bytes.len()].copy_from_slice(bytes);
        for unit in record[..HEADER + bytes.len()].chunks(UNIT) {
            let mut whole = [0; UNIT];
            whole[..unit.len()].copy_from_slice(unit);
            self.units.push(Unit16(whole));
        }
    }

    fn push_key(&mut self, key: &Key, set: &PatternSet, flags: u64) {
        let pattern = set.get(key.pattern);
        let header = Header::new(key.pattern, pattern.bytes.len(), key.offset, pattern.nocase);
        self.push(Header(header.0 | flags), pattern.bytes);
    }

    /// Appends a run, and writes its first unit to the record reserved at `place`.
    fn push_run(&mut self, place: u32, keys: &[Key], set: &PatternSet) {
        let header = Header::run(self.units.len() as u32).0.to_le_bytes();
        self.units[place as usize].0[..HEADER].copy_from_slice(&header);
        self.in_runs += keys.len();
        let (last, others) = keys.split_last().expect("a run is not empty");
        others.iter().for_each(|key| self.push_key(key, set, 0));
        self.push_key(last, set, Header::LAST);
    }
}

/// Units of the record of a pattern of `len` bytes.
pub(super) fn units(len: usize) -> usize {
    (HEADER + len.min(INLINE)).div_ceil(UNIT)
}

/// A pattern with one of its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    /// An entry without a place.
    tag: u32,
    pattern: u32,
    offset: u8,
}

impl Key {
    /// Tile positions are counted from [`BEFORE`] bytes before the tile, and so are offsets.
    pub(super) fn new(fingerprint: u32, class: usize, pattern: u32, offset: usize) -> Self {
        let tag = fingerprint & FINGERPRINT | (2 * class as u32);
        Key { tag, pattern, offset: (offset + BEFORE) as u8 }
    }
}

/// The buckets of all windows of one kind.
#[derive(Debug)]
pub(super) struct CacheLineBuckets {
    bits: u32,
    buckets: Table<CacheLineBucket>,
}

impl CacheLineBuckets {
    /// Builds buckets from keys. `each` calls its argument with every key and the hash of its
    /// window. It is called twice and must repeat the same sequence.
    pub(super) fn new(
        keys: usize,
        each: impl Fn(&mut dyn FnMut(u64, Key)),
        set: &PatternSet,
        records: &mut RecordList,
    ) -> Self {
        let bits = bucket_bits(keys);
        let mut ends = vec![0_u32; 1 << bits];
        each(&mut |hash, _| ends[place(hash, bits)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // Where the bucket's keys begin. The loop below advances it to their end.
            sum += std::mem::replace(end, sum);
        }
        let mut sorted = vec![Key::default(); keys];
        each(&mut |hash, key| {
            let end = &mut ends[place(hash, bits)];
            sorted[*end as usize] = key;
            *end += 1;
        });
        let mut buckets = vec![EMPTY; 1 << bits];
        let (mut from, mut filler) = (0, Filler::default());
        for (bucket, &to) in buckets.iter_mut().zip(&ends) {
            filler.fill(bucket, &mut sorted[from..to as usize], set, records);
            from = to as usize;
        }
        CacheLineBuckets { bits, buckets: buckets.into() }
    }

    /// The buckets of a table that was saved. `None` if their number is not a power of two.
    pub(super) fn of(buckets: Table<CacheLineBucket>) -> Option<Self> {
        let bits = buckets.len().checked_ilog2().filter(|bits| (1..=32).contains(bits))?;
        buckets.len().is_power_of_two().then_some(CacheLineBuckets { bits, buckets })
    }

    pub(super) fn table(&self) -> &Table<CacheLineBucket> {
        &self.buckets
    }

    #[inline(always)]
    pub(super) fn view(&self) -> BucketsView<'_> {
        BucketsView { buckets: &self.buckets, bits: self.bits }
    }

    pub(super) fn memory(&self) -> u64 {
        size_of_val(&*self.buckets) as u64
    }
}

/// Borrowed buckets, for loops.
#[derive(Clone, Copy)]
pub(super) struct BucketsView<'a> {
    buckets: &'a [CacheLineBucket],
    bits: u32,
}

impl<'a> BucketsView<'a> {
    /// The bucket of a hash.
    #[inline(always)]
    pub(super) fn bucket(self, hash: u64) -> &'a CacheLineBucket {
        let at = place(hash, self.bits);
        debug_assert!(at < self.buckets.len());
        // SAFETY: there are 2^bits buckets: `CacheLineBuckets::new` makes them, and `of` checks it.
        // `place` keeps the top `bits` bits of the hash, so `at` is below that.
        unsafe { self.buckets.get_unchecked(at) }
    }
}

/// The index of the bucket of a hash.
#[inline(always)]
pub(super) fn place(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

/// The number of buckets for `keys` keys, as a power of two.
pub(super) fn bucket_bits(keys: usize) -> u32 {
    keys.div_ceil(KEYS_PER_BUCKET).max(8).next_power_of_two().ilog2()
}

/// Bytes of memory for the buckets of `keys` keys.
pub(super) fn memory(keys: usize) -> u64 {
    (size_of::<CacheLineBucket>() as u64) << bucket_bits(keys)
}

/// Bytes of temporary memory to build them.
pub(super) fn scratch(keys: usize) -> u64 {
    (4 << bucket_bits(keys)) + (keys * size_of::<Key>()) as u64
}

/// Fills buckets with keys. Reuses its buffers from bucket to bucket.
#[derive(Default)]
struct Filler {
    /// Keys that do not fit in the bucket.
    surplus: Vec<Key>,
    /// Keys in runs of the bucket.
    runs: Vec<Key>,
    /// For each run, its reserved place and the number of its keys.
    places: Vec<(u32, usize)>,
}

impl Filler {
    fn fill(
        &mut self,
        bucket: &mut CacheLineBucket,
        keys: &mut [Key],
        set: &PatternSet,
        records: &mut RecordList,
    ) {
        let base = records.units.len() as u32;
        bucket.0[BASE] = base;
        keys.sort_unstable_by_key(|key| (key.tag, key.pattern, key.offset));
        let slots = |same: &[Key]| if same.len() > SAME { 1 } else { same.len() };
        let groups = || keys.chunk_by(|a, b| a.tag == b.tag);
        let full = groups().map(slots).sum::<usize>() > SLOTS;
        let room = if full { SLOTS - 1 } else { SLOTS };
        let mut used = 0;
        let mut enter = |tag: u32, records: &RecordList| {
            let place = records.units.len() as u32 - base;
            debug_assert!(place <= PLACE);
            bucket.0[used] = tag | place << PLACE_SHIFT;
            used += 1;
        };
        let mut left = room;
        self.surplus.clear();
        self.runs.clear();
        self.places.clear();
        for same in groups() {
            let Some(rest) = left.checked_sub(slots(same)) else {
                self.surplus.extend_from_slice(same);
                continue;
            };
            left = rest;
            if same.len() > SAME {
                enter(same[0].tag, records);
                self.leave_place(same, records);
                continue;
            }
            for key in same {
                enter(key.tag, records);
                records.push_key(key, set, 0);
            }
        }
        if !self.surplus.is_empty() {
            enter(EVERY, records);
            let surplus = std::mem::take(&mut self.surplus);
            self.leave_place(&surplus, records);
            self.surplus = surplus;
        }
        let mut runs = &self.runs[..];
        for &(place, count) in &self.places {
            let (run, rest) = runs.split_at(count);
            records.push_run(place, run, set);
            runs = rest;
        }
    }

    /// Reserves the place of a run. Runs come after all other records of a bucket, so that the
    /// places of the others fit in an entry.
    fn leave_place(&mut self, keys: &[Key], records: &mut RecordList) {
        self.places.push((records.units.len() as u32, keys.len()));
        self.runs.extend_from_slice(keys);
        records.push(Header::run(0), &[]);
    }
}

/// The expected fingerprint of each class of short patterns around a window.
pub(super) fn expected_short(text: u64, masks: &[u64; 8]) -> [u32; 16] {
    std::array::from_fn(|i| if i % 2 == 0 { hash::fingerprint(text & masks[i / 2]) } else { 0 })
}

/// The expected fingerprint of each class for a long window.
pub(super) fn expected_long(fingerprint: u32) -> [u32; 16] {
    std::array::from_fn(|i| if i < EVERY as usize { fingerprint } else { 0 })
}
