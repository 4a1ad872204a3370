//! The double array: places the stored transitions of each state in one table.

use super::edges::{Edge, Edges};
use crate::trie::ROOT;
use fyke_core::Refusal;

/// Slots of a block of the double array. Labels are classes, which are below 256.
pub const BLOCK: usize = 256;

/// A block is closed once this many states of the same size did not fit. Swept on word lists from 3
/// to 8: a larger value fills the table slightly better, and builds more slowly.
const PATIENCE: u32 = 3;

/// States of at most this many transitions may go into closed blocks that have space for them.
/// Swept on word lists: a smaller value leaves more of the table empty.
const REOPEN_FROM: usize = 32;

/// A set of slots of a block.
#[derive(Clone, Copy)]
struct Slots([u64; 4]);

impl Slots {
    /// The slots `i` for which `i ^ class` is in this set.
    fn turned(self, class: u8) -> Slots {
        const EVEN: [u64; 6] = [
            0x5555_5555_5555_5555,
            0x3333_3333_3333_3333,
            0x0f0f_0f0f_0f0f_0f0f,
            0x00ff_00ff_00ff_00ff,
            0x0000_ffff_0000_ffff,
            0x0000_0000_ffff_ffff,
        ];
        let mut words: [u64; 4] = std::array::from_fn(|i| self.0[i ^ usize::from(class >> 6)]);
        for (bit, even) in EVEN.iter().enumerate().filter(|(bit, _)| class >> bit & 1 == 1) {
            words = words.map(|w| (w >> (1 << bit)) & even | (w & even) << (1 << bit));
        }
        Slots(words)
    }

    fn and(self, other: Slots) -> Slots {
        Slots(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    fn not(self) -> Slots {
        Slots(self.0.map(|w| !w))
    }

    fn first(self) -> Option<usize> {
        let word = self.0.iter().position(|w| *w != 0)?;
        Some(64 * word + self.0[word].trailing_zeros() as usize)
    }

    fn has(self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    fn remove(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }
}

/// A block while transitions are placed.
#[derive(Clone)]
struct OpenBlock {
    free: Slots,
    /// The bases that are taken by states.
    bases: Slots,
    /// Number of free slots.
    left: usize,
    /// States of the current size that did not fit.
    failed: u32,
}

impl OpenBlock {
    fn empty() -> OpenBlock {
        OpenBlock { free: Slots([!0; 4]), bases: Slots([0; 4]), left: BLOCK, failed: 0 }
    }
}

/// Where the transitions of each state are: at `base ^ class`, so that all of them are in one
/// block. Bases are unique, so the class in a slot tells which state the slot belongs to.
pub struct Placement {
    /// The base of each state; 0 if it stores nothing.
    pub base: Vec<u32>,
    /// The class in each slot. A free slot has one that fits no base.
    pub labels: Vec<u8>,
}

impl Placement {
    /// Places all transitions in at most `most` slots.
    ///
    /// # Errors
    /// They need more slots.
    pub fn new(edges: &Edges, states: usize, most: usize) -> Result<Placement, Refusal> {
        Self::in_rounds(edges, states, most, 1, |_| 0)
    }

    /// The same in several rounds. States of the first round get the lowest slots; those of later
    /// rounds fill the gaps.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn in_rounds(
        edges: &Edges,
        states: usize,
        most: usize,
        rounds: u32,
        round: impl Fn(u32) -> u32,
    ) -> Result<Placement, Refusal> {
        let mut placed = Placement { base: vec![0; states], labels: Vec::new() };
        // Base 0 belongs to the states that store nothing. No label of its block fits it.
        let mut blocks =
            vec![OpenBlock { free: Slots([0; 4]), bases: Slots([1, 0, 0, 0]), left: 0, failed: 0 }];
        placed.labels.extend((0..BLOCK).map(|i| i as u8 ^ 1));
        let (mut open, mut size): (Vec<usize>, usize) = (Vec::new(), usize::MAX);
        for s in (0..rounds).flat_map(|r| by_size(edges, states, |s| round(s) == r)) {
            let stored = edges.of(s);
            if stored.len() != size {
                size = stored.len();
                blocks.iter_mut().for_each(|b| b.failed = 0);
                if size <= REOPEN_FROM {
                    open = (0..blocks.len()).filter(|&b| blocks[b].left >= size).collect();
                }
            }
            let (at, block, base) = match find(&mut blocks, &mut open, stored) {
                Some(found) => found,
                None => {
                    open.push(blocks.len());
                    blocks.push(OpenBlock::empty());
                    placed.labels.extend([0; BLOCK]);
                    (open.len() - 1, blocks.len() - 1, 0)
                }
            };
            if placed.labels.len() > most {
                let (need, have) = (placed.labels.len() as u64, most as u64);
                return Err(Refusal::TooBig { what: "entries of a sparse table", need, have });
            }
            let home = &mut blocks[block];
            home.bases.insert(base);
            home.left -= stored.len();
            for edge in stored {
                let slot = base ^ usize::from(edge.class);
                home.free.remove(slot);
                placed.labels[block * BLOCK + slot] = edge.class;
            }
            if home.left == 0 {
                open.swap_remove(at);
            }
            placed.base[s as usize] = (block * BLOCK + base) as u32;
        }
        placed.label_free(&blocks);
        for (s, &owner) in edges.owner.iter().enumerate() {
            placed.base[s] = placed.base[owner as usize];
        }
        Ok(placed)
    }

    /// Gives free slots labels that fit no base. Such a label exists: each base takes a slot, so a
    /// block with a free slot has fewer than 256 bases.
    fn label_free(&mut self, blocks: &[OpenBlock]) {
        for (number, block) in blocks.iter().enumerate().filter(|(_, b)| b.left > 0) {
            let spare = block.bases.not().first().expect("fewer bases than slots");
            for slot in (0..BLOCK).filter(|&slot| block.free.has(slot)) {
                self.labels[number * BLOCK + slot] = (slot ^ spare) as u8;
            }
        }
    }
}

/// The states that store transitions, those with the most first, so that small states fill the
/// gaps that large ones leave. States of one size come breadth first, because shallow states are
/// visited most.
fn by_size(edges: &Edges, states: usize, is_wanted: impl Fn(u32) -> bool) -> Vec<u32> {
    let is_storing = |&s: &u32| edges.owner[s as usize] == s && is_wanted(s);
    let storing = || (1..states as u32).filter(is_storing);
    let mut next = [0usize; BLOCK + 1];
    storing().for_each(|s| next[edges.of(s).len()] += 1);
    let mut start = 0;
    for n in next.iter_mut().rev() {
        start += std::mem::replace(n, start);
    }
    let mut sorted = vec![ROOT; start];
    for s in storing() {
        let to = &mut next[edges.of(s).len()];
        sorted[*to] = s;
        *to += 1;
    }
    sorted
}

/// Finds an open block with space for these transitions. Returns its index in `open`, its number,
/// and the base. Closes blocks that have failed too often.
fn find(
    blocks: &mut [OpenBlock],
    open: &mut Vec<usize>,
    stored: &[Edge],
) -> Option<(usize, usize, usize)> {
    let mut at = 0;
    while let Some(&block) = open.get(at) {
        if let Some(base) = base_in(&blocks[block], stored) {
            return Some((at, block, base));
        }
        blocks[block].failed += 1;
        if blocks[block].failed >= PATIENCE {
            open.swap_remove(at);
        } else {
            at += 1;
        }
    }
    None
}

/// A base of this block at which all transitions land on free slots.
fn base_in(block: &OpenBlock, stored: &[Edge]) -> Option<usize> {
    if block.left < stored.len() {
        return None;
    }
    let mut bases = block.bases.not();
    for edge in stored {
        bases = bases.and(block.free.turned(edge.class));
        bases.first()?;
    }
    bases.first()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_turn_by_any_class() {
        let set = Slots([0x0123_4567_89ab_cdef, 7, 1 << 63, 0xf0f0]);
        for class in 0..=255u8 {
            let turned = set.turned(class);
            assert!((0..BLOCK).all(|i| turned.has(i) == set.has(i ^ usize::from(class))));
        }
    }
}
