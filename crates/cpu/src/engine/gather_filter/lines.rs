//! Lines of entries, and the records of patterns that they lead to.
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
//! pattern's first bytes. More patterns with the same window than a line should hold are a list of links
//! behind one record.

use super::hash;
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

/// Patterns with the same window that have entries of their own. More are links. In a prototype 8 were 2 % faster than
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

/// What a record begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header(pub(super) u64);

impl Header {
    const NOCASE: u64 = 1 << 56;
    const LINKS: u64 = 1 << 57;

    fn new(pattern: u32, len: usize, offset: u8, nocase: bool) -> Self {
        let flags = if nocase { Self::NOCASE } else { 0 };
        Header(u64::from(pattern) | (len as u64) << 32 | u64::from(offset) << 48 | flags)
    }

    fn links(first: usize) -> Self {
        Header(first as u64 | Self::LINKS)
    }

    /// The pattern, or the first of the links.
    #[inline(always)]
    pub(super) fn pattern(self) -> u32 {
        self.0 as u32
    }

    /// Bytes of the pattern.
    #[inline(always)]
    pub(super) fn len(self) -> usize {
        (self.0 >> 32) as usize & 0xffff
    }

    /// From the pattern's start to its window.
    #[inline(always)]
    pub(super) fn offset(self) -> usize {
        (self.0 >> 48) as usize & 0xff
    }

    #[inline(always)]
    pub(super) fn is_nocase(self) -> bool {
        self.0 & Self::NOCASE != 0
    }

    #[inline(always)]
    pub(super) fn is_links(self) -> bool {
        self.0 & Self::LINKS != 0
    }
}

/// One of several patterns behind a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) pattern: u32,
    pub(super) offset: u8,
    pub(super) last: bool,
}

/// The records of all lines.
#[derive(Debug, Default)]
pub(super) struct Records {
    units: Vec<Unit>,
    pub(super) links: Vec<Link>,
}

impl Records {
    /// Where the records are, in units. A whole comparison can be loaded from each.
    #[inline(always)]
    pub(super) fn units(&self) -> &[Unit] {
        &self.units[..self.units.len() - BEYOND]
    }

    #[inline(always)]
    pub(super) fn header(&self, unit: u32) -> Header {
        let Unit(bytes) = self.units[unit as usize];
        Header(u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")))
    }

    /// The same for a unit that an entry led to, which is one of a record.
    #[inline(always)]
    pub(super) fn header_of_hit(&self, unit: u32) -> Header {
        debug_assert!((unit as usize) < self.units().len());
        // SAFETY: entries that can be equal to something expected have the place of a record.
        let Unit(bytes) = unsafe { self.units.get_unchecked(unit as usize) };
        Header(u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")))
    }

    /// To be called when all records are there.
    pub(super) fn finish(&mut self) {
        self.units.extend([Unit::default(); BEYOND]);
        self.units.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    pub(super) fn reserve(&mut self, units: usize) {
        self.units.reserve_exact(units + BEYOND);
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

    fn push_links(&mut self, keys: &[Key]) {
        self.push(Header::links(self.links.len()), &[]);
        let link = |key: &Key| Link { pattern: key.pattern, offset: key.offset, last: false };
        self.links.extend(keys.iter().map(link));
        self.links.last_mut().expect("a list of links is not empty").last = true;
    }

    pub(super) fn memory(&self) -> u64 {
        (size_of_val(&*self.units) + size_of_val(&*self.links)) as u64
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
    pub(super) fn new(fingerprint: u32, class: usize, pattern: u32, offset: usize) -> Self {
        Key { tag: fingerprint & FINGERPRINT | (2 * class as u32), pattern, offset: offset as u8 }
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
        let (mut from, mut surplus) = (0, Vec::new());
        for (line, &to) in lines.iter_mut().zip(&ends) {
            fill(line, &mut sorted[from..to as usize], set, records, &mut surplus);
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

/// Puts a line's keys into it.
fn fill(
    line: &mut Line,
    keys: &mut [Key],
    set: &PatternSet,
    records: &mut Records,
    surplus: &mut Vec<Key>,
) {
    line.base = records.units.len() as u32;
    keys.sort_unstable_by_key(|key| (key.tag, key.pattern, key.offset));
    let slots = |same: &[Key]| if same.len() > SAME { 1 } else { same.len() };
    let groups = || keys.chunk_by(|a, b| a.tag == b.tag);
    let room = if groups().map(slots).sum::<usize>() > SLOTS { SLOTS - 1 } else { SLOTS };
    let mut used = 0;
    let mut enter = |tag: u32, records: &Records| {
        let place = records.units.len() as u32 - line.base;
        debug_assert!(place <= PLACE);
        line.entries[used] = tag | place << PLACE_SHIFT;
        used += 1;
        used
    };
    surplus.clear();
    let mut taken = 0;
    for same in groups() {
        if taken + slots(same) > room {
            surplus.extend_from_slice(same);
            continue;
        }
        if same.len() > SAME {
            taken = enter(same[0].tag, records);
            records.push_links(same);
            continue;
        }
        for key in same {
            taken = enter(key.tag, records);
            let pattern = set.get(key.pattern);
            let len = pattern.bytes.len();
            let header = Header::new(key.pattern, len, key.offset, pattern.nocase);
            records.push(header, pattern.bytes);
        }
    }
    if !surplus.is_empty() {
        enter(EVERY, records);
        records.push_links(surplus);
    }
}

/// What is expected of each class of short patterns around a window, by number.
pub(super) fn expected_short(text: u64, masks: &[u64; 8]) -> [u32; 16] {
    std::array::from_fn(|i| if i % 2 == 0 { hash::fingerprint(text & masks[i / 2]) } else { 0 })
}

/// What is expected of long windows, by number.
pub(super) fn expected_long(hash: u64) -> [u32; 16] {
    std::array::from_fn(|i| if i < EVERY as usize { hash as u32 } else { 0 })
}
