//! Lines of entries, and the records of patterns that they overlap to.
//!
//! A window that passed the filter hashes to a line of 64 bytes: fifteen entries, and where the line's records
//! begin. An entry is
//!
//! ```text
//! bits 31..12  fingerprint of the window, or of the short pattern around it
//! bits 11..4   where its record is, in units from the line's first
//! bits 3..0    which of sixteen expected fingerprints to compare with: twice the class
//! ```
//!
//! so all of a line is compared at once, whatever the lengths of its patterns. Number 14 of what is expected is
//! always 0: an entry of that class and fingerprint 0 matches everything. It stands for what did not fit. Number
//! 15 is 0 as well, and entries that are not used have that class and another fingerprint.
//!
//! Records are in units of 16 bytes, those of a line one after the other: eight bytes of header, then the
//! pattern's first bytes. More patterns with the same window than a line should hold are a run of records behind
//! one.

use super::hash;
use super::shape::BEFORE;
use fyke_core::PatternSet;

/// Entries of a line.
pub(super) const SLOTS: usize = 15;

/// The fingerprint of an entry.
pub(super) const FINGERPRINT: u32 = 0xffff_f000;
/// Where an entry has the place of its record, and how many bits of it there are.
pub(super) const PLACE_SHIFT: u32 = 4;
pub(super) const PLACE: u32 = 0xff;

/// The expected fingerprint that is always 0.
const EVERY: u32 = 14;
/// An entry that nothing matches: the last expected fingerprint is 0 as well.
const UNUSED: u32 = 15 | 1 << 31;

/// Bytes of a unit of records.
pub(super) const UNIT: usize = size_of::<Unit>();
/// Bytes of a record before the pattern's.
pub(super) const HEADER: usize = 8;
/// Bytes of a pattern that its record holds: what one comparison takes.
pub(super) const INLINE: usize = 32;
/// Units behind the last record, so that a whole comparison can be loaded from any of them.
const BEYOND: usize = 4;

/// Patterns with the same window that have entries of their own. More are a run. In a prototype 8 were 2 % faster than
/// 4 for 99,000 words and equal for rule strings; not swept here.
const SAME: usize = 8;

/// Most keys for each line, on average: more make full lines, fewer take memory. Not swept.
const KEYS_PER_LINE: usize = 6;

/// Fifteen entries and the first unit of the line's records.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(super) struct Line {
    pub(super) entries: [u32; SLOTS],
    pub(super) base: u32,
}

impl Line {
    /// The line as two halves of eight numbers.
    #[inline(always)]
    pub(super) fn halves(&self) -> &[[u32; 8]; 2] {
        // SAFETY: fifteen numbers and one, without a gap, are sixteen.
        unsafe { &*(&raw const *self).cast() }
    }
}

const EMPTY: Line = Line { entries: [UNUSED; SLOTS], base: 0 };

/// A piece of a record.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
pub(super) struct Unit([u8; 16]);

/// What a record begins with: the pattern in 32 bits, its length in 16, in 8 the offset of the window in it, in 6
/// how many of its bytes the record holds, and two flags.
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

    /// In place of a record: where a run of them begins. It holds no bytes.
    fn run(first: u32) -> Self {
        Header(u64::from(first))
    }

    /// The pattern, or the first unit of a run.
    #[inline(always)]
    pub(super) fn pattern(self) -> u32 {
        self.0 as u32
    }

    /// Bytes of the pattern.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        (self.0 >> 32) as usize & 0xffff
    }

    /// From the pattern's start to its window, and [`BEFORE`] more.
    #[inline(always)]
    pub(super) fn offset(self) -> usize {
        (self.0 >> 48) as usize & 0xff
    }

    /// Bytes of the pattern that are in the record.
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

    /// Whether it ends a run.
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

/// The records of all lines.
#[derive(Debug, Default)]
pub(super) struct Records {
    units: Vec<Unit>,
    /// Records that are in runs.
    pub(super) in_runs: usize,
}

impl Records {
    /// Where the records are, in units. A whole comparison can be loaded from each.
    #[inline(always)]
    pub(super) fn units(&self) -> &[Unit] {
        &self.units[..self.units.len() - BEYOND]
    }

    #[inline(always)]
    pub(super) fn header(&self, unit: u32) -> Header {
        self.units[unit as usize].header()
    }

    /// To be called when all records are there.
    pub(super) fn finish(&mut self) {
        self.units.extend([Unit::default(); BEYOND]);
        self.units.shrink_to_fit();
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
            self.units.push(Unit(whole));
        }
    }

    fn push_key(&mut self, key: &Key, set: &PatternSet, flags: u64) {
        let pattern = set.get(key.pattern);
        let header = Header::new(key.pattern, pattern.bytes.len(), key.offset, pattern.nocase);
        self.push(Header(header.0 | flags), pattern.bytes);
    }

    /// Puts a run at the end, and where it begins in a record that was left for that.
    fn push_run(&mut self, place: u32, keys: &[Key], set: &PatternSet) {
        let header = Header::run(self.units.len() as u32).0.to_le_bytes();
        self.units[place as usize].0[..HEADER].copy_from_slice(&header);
        self.in_runs += keys.len();
        let (last, others) = keys.split_last().expect("a run is not empty");
        others.iter().for_each(|key| self.push_key(key, set, 0));
        self.push_key(last, set, Header::LAST);
    }

    pub(super) fn memory(&self) -> u64 {
        size_of_val(&*self.units) as u64
    }
}

impl Unit {
    /// The header of the record that begins here.
    #[inline(always)]
    pub(super) fn header(self) -> Header {
        Header(u64::from_le_bytes(self.0[..HEADER].try_into().expect("eight bytes")))
    }
}

/// Units of a record of a pattern of so many bytes.
pub(super) fn units(len: usize) -> usize {
    (HEADER + len.min(INLINE)).div_ceil(UNIT)
}

/// A pattern under one of its windows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Key {
    /// An entry without a place.
    tag: u32,
    pattern: u32,
    offset: u8,
}

impl Key {
    /// Positions of a tile are counted from [`BEFORE`] it, and so are offsets.
    pub(super) fn new(fingerprint: u32, class: usize, pattern: u32, offset: usize) -> Self {
        let tag = fingerprint & FINGERPRINT | (2 * class as u32);
        Key { tag, pattern, offset: (offset + BEFORE) as u8 }
    }
}

/// The entries of all windows of one length.
#[derive(Debug)]
pub(super) struct Lines {
    bits: u32,
    lines: Vec<Line>,
}

impl Lines {
    /// Makes lines of keys. `each` calls its argument with every key and the hash of its window, and does so
    /// twice, the same way.
    pub(super) fn new(
        keys: usize,
        each: impl Fn(&mut dyn FnMut(u64, Key)),
        set: &PatternSet,
        records: &mut Records,
    ) -> Self {
        let bits = line_bits(keys);
        let mut ends = vec![0_u32; 1 << bits];
        each(&mut |hash, _| ends[place(hash, bits)] += 1);
        let mut sum = 0;
        for end in &mut ends {
            // Where the line's keys begin; it moves to where they end while they are put in.
            sum += std::mem::replace(end, sum);
        }
        let mut sorted = vec![Key::default(); keys];
        each(&mut |hash, key| {
            let end = &mut ends[place(hash, bits)];
            sorted[*end as usize] = key;
            *end += 1;
        });
        let mut lines = vec![EMPTY; 1 << bits];
        let (mut from, mut filler) = (0, Filler::default());
        for (line, &to) in lines.iter_mut().zip(&ends) {
            filler.fill(line, &mut sorted[from..to as usize], set, records);
            from = to as usize;
        }
        Lines { bits, lines }
    }

    #[inline(always)]
    pub(super) fn view(&self) -> View<'_> {
        View { lines: &self.lines, bits: self.bits }
    }

    pub(super) fn memory(&self) -> u64 {
        size_of_val(&*self.lines) as u64
    }
}

/// Lines as a loop has them at hand.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    lines: &'a [Line],
    bits: u32,
}

impl<'a> View<'a> {
    /// The line that a hash leads to.
    #[inline(always)]
    pub(super) fn line(self, hash: u64) -> &'a Line {
        let at = place(hash, self.bits);
        debug_assert!(at < self.lines.len());
        // SAFETY: there are 2^bits lines, and `place` leaves so many bits.
        unsafe { self.lines.get_unchecked(at) }
    }
}

/// The line of a hash.
#[inline(always)]
pub(super) fn place(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

/// There are 2^this lines for so many keys.
pub(super) fn line_bits(keys: usize) -> u32 {
    keys.div_ceil(KEYS_PER_LINE).max(8).next_power_of_two().ilog2()
}

/// Bytes of memory that the lines for so many keys take.
pub(super) fn memory(keys: usize) -> u64 {
    (size_of::<Line>() as u64) << line_bits(keys)
}

/// Bytes of memory beside them while they are made.
pub(super) fn scratch(keys: usize) -> u64 {
    (4 << line_bits(keys)) + (keys * size_of::<Key>()) as u64
}

/// Puts keys into lines; what it needs besides is kept from line to line.
#[derive(Default)]
struct Filler {
    /// Keys of a line that have no room in it.
    surplus: Vec<Key>,
    /// Keys of its runs.
    runs: Vec<Key>,
    /// For each run, where its place is left, and how many of the keys it has.
    places: Vec<(u32, usize)>,
}

impl Filler {
    fn fill(&mut self, line: &mut Line, keys: &mut [Key], set: &PatternSet, records: &mut Records) {
        line.base = records.units.len() as u32;
        keys.sort_unstable_by_key(|key| (key.tag, key.pattern, key.offset));
        let slots = |same: &[Key]| if same.len() > SAME { 1 } else { same.len() };
        let groups = || keys.chunk_by(|a, b| a.tag == b.tag);
        let full = groups().map(slots).sum::<usize>() > SLOTS;
        let room = if full { SLOTS - 1 } else { SLOTS };
        let mut used = 0;
        let mut enter = |tag: u32, records: &Records| {
            let place = records.units.len() as u32 - line.base;
            debug_assert!(place <= PLACE);
            line.entries[used] = tag | place << PLACE_SHIFT;
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

    /// Runs come after all other records of a line, so that these are near its first.
    fn leave_place(&mut self, keys: &[Key], records: &mut Records) {
        self.places.push((records.units.len() as u32, keys.len()));
        self.runs.extend_from_slice(keys);
        records.push(Header::run(0), &[]);
    }
}

/// What is expected of each class of short patterns around a window, by number.
pub(super) fn expected_short(text: u64, masks: &[u64; 8]) -> [u32; 16] {
    std::array::from_fn(|i| if i % 2 == 0 { hash::fingerprint(text & masks[i / 2]) } else { 0 })
}

/// What is expected of long windows, by number.
pub(super) fn expected_long(fingerprint: u32) -> [u32; 16] {
    std::array::from_fn(|i| if i < EVERY as usize { fingerprint } else { 0 })
}
