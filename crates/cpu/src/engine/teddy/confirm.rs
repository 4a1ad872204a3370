//! Verifies candidates: a hash of the window leads to the patterns to compare.

use super::filter_plan::{FilterPlan, Window};
use super::plan::limit;
use super::scan::TILE;
use crate::simd::vector::{Vector, Work};
use crate::simd::{Dispatch, Scalar};
use fyke_core::{Match, Pattern, PatternId, PatternSet, Refusal};

/// The maximum number of windows and of pattern bytes under one hash. With one hash for each class,
/// this bounds the work at one position of a hostile haystack. Larger limits would accept more sets
/// and bound the work less. A guess: `hostile` would show it.
const CHAIN_ENTRIES: usize = 128;
const CHAIN_BYTES: usize = 16 << 10;

/// Slots per pattern, so that most false positives meet an empty slot. A guess: `words/100` would
/// show it.
const SLOTS: usize = 8;

/// The maximum number of bytes of memory per window: its slots are rounded up to a power of two.
pub(super) const BYTES_PER_WINDOW: usize = 2 * SLOTS * size_of::<Slot>() + size_of::<Entry>();

/// Windows with fewer bytes up to their pattern's end are hashed separately, by fewer bytes. A
/// guess: `headers/min2` would show it.
const FEW: usize = 4;

/// 2^64 divided by the golden ratio. Any odd number that mixes well would do.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// A pattern and its window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Up to eight bytes of the pattern, a mask of the bytes that are compared, and 0x20 in each
    /// byte that is a letter that ignores case.
    value: u64,
    mask: u64,
    fold: u64,
    pub(super) pattern: u32,
    /// The first id of the pattern, and the number of its ids.
    id: PatternId,
    pub(super) ids: u32,
    len: u16,
    /// From the pattern's start to its window.
    offset: i16,
    /// From the bytes of `value` to the window: -1 if the window begins before the pattern.
    back: i16,
    /// Whether `value` is the whole pattern.
    whole: bool,
}

impl Entry {
    fn new(pattern: &Pattern<'_>, offset: i16) -> Entry {
        let len = pattern.bytes.len();
        let at = (offset.max(0) as usize).min(len.saturating_sub(8));
        let count = len.min(8);
        let letters = |b: u8| if pattern.nocase && b.is_ascii_alphabetic() { 0x20 } else { 0 };
        let mut fold = [0; 8];
        fold.iter_mut().zip(&pattern.bytes[at..]).for_each(|(fold, &b)| *fold = letters(b));
        Entry {
            value: word(pattern.bytes, at) & low_bytes(count),
            mask: low_bytes(count),
            fold: u64::from_le_bytes(fold),
            pattern: pattern.index,
            id: pattern.ids[0],
            ids: pattern.ids.len() as u32,
            len: len as u16,
            offset,
            back: offset - at as i16,
            whole: len <= 8,
        }
    }
}

/// The entries of one hash.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// Its first entry; the entries end where those of the next slot begin.
    first: u16,
    /// One bit per entry, chosen by other bits of the hash. It rejects most false positives.
    marks: u16,
}

impl Slot {
    /// Whether some entry has a mark.
    #[inline(always)]
    fn has(self, mark: u32) -> bool {
        self.marks >> mark & 1 != 0
    }
}

/// A candidate and its slot.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SlotHit {
    /// From the start of the tile.
    pub(super) at: u16,
    pub(super) slot: u16,
}

/// How to hash the windows of one class.
#[derive(Clone, Copy, Debug)]
struct Class {
    /// Bits to skip: those of a byte before the pattern.
    skip: u32,
    /// The bytes from there on that are hashed.
    mask: u64,
    shift: u32,
    /// The first of its slots. There is one slot more than hashes, which ends the last one's
    /// entries.
    first: usize,
}

impl Class {
    /// The slot of a window, and the number of its mark. The word must be folded.
    #[inline(always)]
    fn slot(&self, word: u64) -> (usize, u32) {
        let hash = (word >> self.skip & self.mask).wrapping_mul(FACTOR);
        (self.first + (hash >> self.shift) as usize, (hash >> (self.shift - 4)) as u32 & 15)
    }
}

/// The verification tables.
pub(super) struct Confirm {
    /// One to four classes. Windows that begin before their pattern are apart from the others. Of
    /// each, those with fewer than `FEW` pattern bytes are apart, because they are hashed by fewer.
    classes: Vec<Class>,
    /// 0x20 in each byte if some pattern ignores case, else 0. The hash folds more than ASCII
    /// letters by it; the comparison of entries is exact.
    fold: u64,
    slots: Vec<Slot>,
    entries: Vec<Entry>,
    /// How many bytes before the owned bytes the window of an owned match may begin.
    pub(super) reach: usize,
}

/// What was compared at a position.
pub(super) struct Compared {
    pub(super) patterns: usize,
    /// At most this many bytes of them.
    pub(super) bytes: usize,
}

impl Confirm {
    pub(super) fn new(set: &PatternSet, filter: &FilterPlan) -> Result<Confirm, Refusal> {
        let rest =
            |w: &Window| set.pattern_len(w.pattern).wrapping_add_signed(-isize::from(w.offset));
        let mut confirm = Confirm {
            classes: Vec::new(),
            fold: if set.nocase_count() > 0 { 0x2020_2020_2020_2020 } else { 0 },
            slots: Vec::new(),
            entries: Vec::with_capacity(filter.windows.len()),
            reach: filter.windows.iter().map(rest).max().unwrap_or(1) - 1,
        };
        let (before, inside): (Vec<Window>, Vec<Window>) =
            filter.windows.iter().partition(|w| w.offset < 0);
        // The rest of a window that begins before its pattern has a byte more than the pattern.
        let (before_few, before_many): (Vec<Window>, Vec<Window>) =
            before.into_iter().partition(|w| rest(w) <= FEW);
        let (few, many) = inside.into_iter().partition(|w| rest(w) < FEW);
        for windows in [before_few, before_many, few, many] {
            if let Some(least) = windows.iter().map(rest).min() {
                confirm.add(set, &windows, least)?;
            }
        }
        Ok(confirm)
    }

    /// Adds windows that each have at least `least` bytes up to their pattern's end.
    fn add(&mut self, set: &PatternSet, windows: &[Window], least: usize) -> Result<(), Refusal> {
        let bits = (SLOTS * windows.len()).next_power_of_two().ilog2();
        let before = windows.iter().any(|w| w.offset < 0);
        let (skip, mask) = if before { (8, least - 1) } else { (0, least) };
        let mask = low_bytes(mask.min(8));
        let class = Class { skip, mask, shift: 64 - bits, first: self.slots.len() };
        self.slots.resize(class.first + (1 << bits) + 1, Slot::default());
        let mut keyed = Vec::with_capacity(windows.len());
        for w in windows {
            let pattern = set.get(w.pattern);
            let bytes = word(pattern.bytes, w.offset.max(0) as usize);
            let (slot, mark) = class.slot((bytes | self.fold) << skip);
            self.slots[slot].marks |= 1 << mark;
            keyed.push((slot, Entry::new(&pattern, w.offset)));
        }
        keyed.sort_by_key(|k| k.0);
        for chain in keyed.chunk_by(|a, b| a.0 == b.0) {
            let bytes: usize = chain.iter().map(|(_, e)| usize::from(e.len)).sum();
            limit("patterns with the same window", chain.len(), CHAIN_ENTRIES)?;
            limit("bytes of patterns with the same window", bytes, CHAIN_BYTES)?;
            // The number of entries, until the sum below.
            self.slots[chain[0].0 + 1].first = chain.len() as u16;
        }
        let mut end = self.entries.len() as u16;
        for slot in &mut self.slots[class.first..] {
            end += slot.first;
            slot.first = end;
        }
        self.entries.extend(keyed.iter().map(|k| k.1));
        self.classes.push(class);
        Ok(())
    }

    /// The candidates whose hash some window has, each with its slot.
    pub(super) fn look_up<'a>(
        &self,
        dispatch: Dispatch,
        bytes: &[u8],
        tile: usize,
        candidates: &[u16],
        known: &'a mut [SlotHit; 2 * TILE],
    ) -> &'a [SlotHit] {
        let work = LookUp { confirm: self, bytes, tile, candidates, known: &mut *known };
        let count = dispatch.run(work).unwrap_or_else(|work| Scalar.run(work));
        &known[..count]
    }

    /// Calls `found` with the end and the pattern of each match whose window is at `at`. Returns
    /// the number of patterns compared.
    #[inline(always)]
    pub(super) fn matches_at(
        &self,
        set: &PatternSet,
        bytes: &[u8],
        at: usize,
        mut found: impl FnMut(usize, u32),
    ) -> usize {
        self.each_at(set, bytes, at, |entry, end| found(end, entry.pattern)).patterns
    }

    /// Calls `found` with the entry and the end of each match whose window is at `at`.
    #[inline(always)]
    pub(super) fn each_at(
        &self,
        set: &PatternSet,
        bytes: &[u8],
        at: usize,
        mut found: impl FnMut(&Entry, usize),
    ) -> Compared {
        let mut compared = Compared { patterns: 0, bytes: 0 };
        let word = word(bytes, at) | self.fold;
        for class in &self.classes {
            let (slot, mark) = class.slot(word);
            if !self.slots[slot].has(mark) {
                continue;
            }
            for entry in self.entries(slot as u16) {
                compared.patterns += 1;
                compared.bytes += usize::from(entry.len);
                if let Some(end) = entry.end_at(set, bytes, at) {
                    found(entry, end);
                }
            }
        }
        compared
    }

    /// The entries of a slot.
    #[inline(always)]
    pub(super) fn entries(&self, slot: u16) -> &[Entry] {
        let slot = usize::from(slot);
        &self.entries[usize::from(self.slots[slot].first)..usize::from(self.slots[slot + 1].first)]
    }

    pub(super) fn memory(&self) -> u64 {
        (size_of_val(&*self.slots) + size_of_val(&*self.entries)) as u64
    }
}

/// The loop of [`Confirm::look_up`]. It has no vector operations. It is a [`Work`] because BMI2,
/// which comes with AVX2, shifts by a variable number of bits in one instruction.
struct LookUp<'a> {
    confirm: &'a Confirm,
    bytes: &'a [u8],
    tile: usize,
    candidates: &'a [u16],
    known: &'a mut [SlotHit; 2 * TILE],
}

impl Work for LookUp<'_> {
    /// The number of hits written to `known`.
    type Output = usize;

    #[inline(always)]
    fn run<V: Vector>(self, _v: V) -> usize {
        match *self.confirm.classes.as_slice() {
            [one] => self.in_classes([one]),
            [a, b] => self.in_classes([a, b]),
            [a, b, c] => self.in_classes([a, b, c]),
            [a, b, c, d] => self.in_classes([a, b, c, d]),
            _ => 0,
        }
    }
}

impl LookUp<'_> {
    #[inline(always)]
    fn in_classes<const N: usize>(self, classes: [Class; N]) -> usize {
        let Confirm { slots, fold, .. } = self.confirm;
        let mut count = 0;
        for &at in self.candidates {
            let word = word(self.bytes, self.tile + usize::from(at)) | fold;
            for class in &classes {
                let (slot, mark) = class.slot(word);
                self.known[count] = SlotHit { at, slot: slot as u16 };
                count += usize::from(slots[slot].has(mark));
            }
        }
        count
    }
}

impl Entry {
    /// The match that ends at a position.
    #[inline(always)]
    pub(super) fn match_to(&self, end: usize) -> Match {
        Match { pattern: self.id, start: end - usize::from(self.len), end }
    }

    /// The end of the pattern if it matches with its window at `at`.
    #[inline(always)]
    pub(super) fn end_at(&self, set: &PatternSet, bytes: &[u8], at: usize) -> Option<usize> {
        let found = word(bytes, at.wrapping_add_signed(-isize::from(self.back)));
        if ((found | self.fold) ^ self.value) & self.mask != 0 {
            return None;
        }
        let start = at.checked_add_signed(-isize::from(self.offset))?;
        let end = start + usize::from(self.len);
        let window = bytes.get(start..end)?;
        (self.whole || set.get(self.pattern).is_match(window)).then_some(end)
    }
}

fn low_bytes(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (64 - 8 * count) }
}

/// Eight bytes at `at`, with zeros beyond the end.
#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u64 {
    if let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        return u64::from_le_bytes(*eight);
    }
    match bytes.last_chunk() {
        Some(eight) => {
            let beyond = at.saturating_sub(bytes.len() - 8).min(8) as u32;
            u64::from_le_bytes(*eight).checked_shr(8 * beyond).unwrap_or(0)
        }
        None => word_of_few(bytes, at),
    }
}

/// The same for a haystack of fewer than eight bytes.
#[cold]
fn word_of_few(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or(&[]);
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_exact() {
        let mut b = PatternSet::builder();
        b.nocase(true).push("a@b").unwrap().push("longer Than eight").unwrap();
        b.nocase(false).push("Case").unwrap();
        let set = b.build();
        let end = |text: &[u8], index: u32, offset: i16| {
            let entry = Entry::new(&set.get(index), offset);
            entry.end_at(&set, text, (offset + 1) as usize)
        };
        assert_eq!(set.get(0).bytes, b"Case");
        assert_eq!((end(b"xCase", 0, 2), end(b"xcase", 0, 2)), (Some(5), None));
        assert_eq!((end(b"xA@B", 1, 0), end(b"xA`B", 1, 0)), (Some(4), None));
        assert_eq!(end(b" LONGER thaN eighT.", 2, 12), Some(18));
        assert_eq!(end(b" LONGER thaN eigh", 2, 12), None);
    }
}
