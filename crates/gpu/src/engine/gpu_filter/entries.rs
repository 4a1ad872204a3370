//! The entries that candidates are compared with, and the slots that lead to them.

use super::anchor::{CHECKED, Stride, spellings};
use super::marks::{SPREAD, SPREAD_3, first_hash};
use super::tables::{PARTS, SLOT_WORDS, WORTH_SPLITTING};
use fyke_core::Pattern;

/// Multipliers of the second hash; as in the kernel.
const MIX_NIBBLES: u32 = 0x85EB_CA6B;
const MIX: u32 = 0x2C1B_3C6D;

/// Bytes of an entry's text before its window, and in all; as in the kernel.
const BEFORE: usize = 6;
const TEXT: usize = 16;

/// Bits for the checked length of a pattern, below the number of its ids; as in the kernel.
pub(super) const CHECKED_BITS: u32 = 13;
const _: () = assert!(CHECKED < 1 << CHECKED_BITS);

/// Words of an entry: bytes, mask, and the pattern.
pub(super) const ENTRY_WORDS: usize = 12;

/// Bytes of an entry that its slot repeats if all entries agree: those before the window and
/// after its first three bytes.
const BESIDE: [usize; 4] = [BEFORE - 2, BEFORE - 1, BEFORE + 3, BEFORE + 4];
const FURTHER: [usize; 2] = [BEFORE - 3, BEFORE + 5];

#[derive(Default)]
pub(super) struct EntryBuilder {
    /// A hash and its entry for each spelling and each pair of nibbles.
    pub(super) items: Vec<(u32, u32)>,
    pub(super) hashes: Vec<u32>,
    entries: Vec<u32>,
    pub(super) rest: Vec<u32>,
}

/// The hash of the second lookup of a candidate.
fn second_hash(window: u64, nibbles: u32, stride: Stride) -> u32 {
    let hash = match stride {
        Stride::Two => {
            (window as u32).wrapping_mul(SPREAD_3).wrapping_add(nibbles.wrapping_mul(MIX_NIBBLES))
        }
        Stride::Four | Stride::FourWide => first_hash(window),
    };
    (hash ^ hash >> 15).wrapping_mul(MIX)
}

/// The bits of a byte that have to be equal.
fn mask_of(byte: u8, nocase: bool) -> u8 {
    if nocase && byte.is_ascii_alphabetic() { !0x20 } else { !0 }
}

/// A slot: where its entries are, and the bytes beside the window that all of them share.
pub(super) fn slot_words(what: u32, entries: &[&[u32]]) -> [u32; SLOT_WORDS] {
    let [beside, mask] = shared_bytes(entries.iter().copied(), &BESIDE);
    let [further, further_mask] = shared_bytes(entries.iter().copied(), &FURTHER);
    [what, beside, mask, further | further_mask << 16]
}

/// A byte of an entry's text and its mask.
fn byte_of(entry: &[u32], at: usize) -> (u8, u8) {
    let of = |words: &[u32]| (words[at / 4] >> (8 * (at % 4))) as u8;
    (of(entry), of(&entry[TEXT / 4..]))
}

/// The part of a split slot that a byte of the text selects.
fn part(byte: u8) -> u32 {
    u32::from(byte).wrapping_mul(SPREAD) >> (32 - PARTS.ilog2())
}

/// The parts that contain an entry, a bit each: all that its byte may select.
pub(super) fn parts(entry: &[u32], at: usize) -> u8 {
    let (byte, mask) = byte_of(entry, at);
    let (mut all, mut free) = (0, 0u8);
    // Every combination of the bits that may differ.
    loop {
        all |= 1 << part(byte & mask | free);
        free = free.wrapping_sub(!mask) & !mask;
        if free == 0 || all == u8::MAX {
            return all;
        }
    }
}

/// The byte that splits entries best, if its parts leave at most [`WORTH_SPLITTING`] of them to
/// compare.
pub(super) fn best_split(entries: &[&[u32]]) -> Option<usize> {
    if entries.len() < 2 {
        return None;
    }
    // A part with n entries compares all n, and is selected about n times as often.
    let cost = |at: usize| -> usize {
        let mut sizes = [0usize; PARTS];
        for entry in entries {
            let parts = parts(entry, at);
            (0..PARTS).for_each(|p| sizes[p] += usize::from(parts >> p & 1));
        }
        sizes.iter().map(|n| n * n).sum()
    };
    let best = (0..TEXT).map(|at| (cost(at), at)).min()?;
    let (share, of) = WORTH_SPLITTING;
    (of * best.0 <= share * entries.len() * entries.len()).then_some(best.1)
}

/// The bytes at some places that all entries of a slot share, and their mask.
fn shared_bytes<'a>(mut entries: impl Iterator<Item = &'a [u32]>, places: &[usize]) -> [u32; 2] {
    let of = |entry: &[u32], words: usize| {
        let byte = |n: u32, j: &usize| n << 8 | entry[words + j / 4] >> (8 * (j % 4)) & 255;
        places.iter().rev().fold(0, byte)
    };
    let Some(first) = entries.next() else { return [0, 0] };
    let (value, mask) = (of(first, 0), of(first, TEXT / 4));
    let mask =
        entries.fold(mask, |mask, entry| mask & of(entry, TEXT / 4) & !(of(entry, 0) ^ value));
    [value & mask, mask]
}

impl EntryBuilder {
    pub(super) fn entry(&self, entry: u32) -> &[u32] {
        let first = entry as usize * ENTRY_WORDS;
        &self.entries[first..first + ENTRY_WORDS]
    }

    /// Adds a pattern with its window at `k`.
    pub(super) fn add(&mut self, pattern: &Pattern<'_>, k: usize, stride: Stride) {
        let bytes = pattern.bytes;
        let entry = (self.entries.len() / ENTRY_WORDS) as u32;
        self.add_entry(pattern, k);
        for window in spellings(&bytes[k..k + stride.window()], pattern.nocase) {
            let before = k.checked_sub(1).map(|b| bytes[b]);
            let after = bytes.get(k + 3).copied();
            let every = |known: Option<u8>| match known.map(|byte| u32::from(byte & 15)) {
                Some(n) => n..n + 1,
                None => 0..16,
            };
            let (first, second) = match stride {
                Stride::Two => (every(before), every(after)),
                Stride::Four | Stride::FourWide => (0..1, 0..1),
            };
            for b in first {
                for a in second.clone() {
                    let hash = second_hash(window, b << 4 | a, stride);
                    self.items.push((hash, entry));
                    self.hashes.push(hash);
                }
            }
        }
    }

    fn add_entry(&mut self, pattern: &Pattern<'_>, k: usize) {
        let (bytes, checked) = (pattern.bytes, pattern.bytes.len().min(CHECKED));
        let (mut window, mut mask) = ([0u8; TEXT], [0u8; TEXT]);
        for j in 0..TEXT {
            let Some(at) = (k + j).checked_sub(BEFORE).filter(|&at| at < checked) else { continue };
            window[j] = bytes[at];
            mask[j] = mask_of(bytes[at], pattern.nocase);
        }
        let is_covered = k <= BEFORE && checked + BEFORE <= k + TEXT;
        let rest = if is_covered { u32::MAX } else { self.rest.len() as u32 / 2 };
        if !is_covered {
            self.rest.extend(bytes[..checked].chunks(4).flat_map(|four| {
                let word = |of: fn(u8, bool) -> u8| {
                    four.iter().rev().fold(0, |n, b| n << 8 | u32::from(of(*b, pattern.nocase)))
                };
                [word(|byte, _| byte), word(mask_of)]
            }));
        }
        let words = |b: &[u8; TEXT]| -> Vec<u32> {
            b.chunks_exact(4)
                .map(|w| u32::from_le_bytes(w.try_into().expect("four bytes")))
                .collect()
        };
        self.entries.extend(words(&window));
        self.entries.extend(words(&mask));
        let about = [
            pattern.index,
            (bytes.len() as u32) << 16 | k as u32,
            rest,
            // Sets with more ids than fit are not counted (`count`).
            (pattern.ids.len() as u32) << CHECKED_BITS | checked as u32,
        ];
        self.entries.extend(about);
    }
}
