//! The double array: where the stored transitions of each state stand.

use super::edges::{Edge, Edges};
use crate::build::trie::ROOT;
use fyke_core::Refusal;

/// Slots of a block of the double array: labels are classes, which are below 256.
pub(super) const BLOCK: usize = 256;

/// Blocks that are tried for a state before a new one is opened: more fill the table better and take longer. It is not
/// swept yet.
pub(super) const OPEN_BLOCKS: usize = 24;

/// A set of the slots of a block.
#[derive(Clone, Copy)]
struct Slots([u64; 4]);

impl Slots {
    /// The slots `i` whose `i ^ class` is in this set.
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

#[derive(Clone)]
struct BlockOf {
    free: Slots,
    bases: Slots,
    left: usize,
}

/// Where the transitions of each state stand: at its base, combined with the class by exclusive or, so
/// that all of them are in one block. Bases are unique, so the class alone tells whose a slot is.
pub(super) struct Placement {
    pub(super) base: Vec<u32>,
    pub(super) labels: Vec<u8>,
}

impl Placement {
    /// Places all transitions in at most `most` slots.
    pub(super) fn new(edges: &Edges, states: usize, most: usize) -> Result<Placement, Refusal> {
        let mut placed = Placement { base: vec![0; states], labels: Vec::new() };
        // Base 0 is that of states that store nothing. No label of its block fits it.
        let mut blocks = vec![BlockOf { free: Slots([0; 4]), bases: Slots([1, 0, 0, 0]), left: 0 }];
        placed.labels.extend((0..BLOCK).map(|i| i as u8 ^ 1));
        let mut open: Vec<usize> = Vec::new();
        for s in 0..states as u32 {
            let owner = edges.owner[s as usize];
            if owner != s || s == ROOT {
                placed.base[s as usize] = placed.base[owner as usize];
                continue;
            }
            let stored = edges.of(s);
            let found = open.iter().enumerate().find_map(|(at, &block)| {
                base_in(&blocks[block], stored).map(|base| (at, block, base))
            });
            let (at, block, base) = found.unwrap_or_else(|| {
                if open.len() == OPEN_BLOCKS {
                    open.remove(0);
                }
                open.push(blocks.len());
                blocks.push(BlockOf { free: Slots([!0; 4]), bases: Slots([0; 4]), left: BLOCK });
                placed.labels.extend([0; BLOCK]);
                (open.len() - 1, blocks.len() - 1, 0)
            });
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
                open.remove(at);
            }
            placed.base[s as usize] = (block * BLOCK + base) as u32;
        }
        placed.label_free(&blocks);
        Ok(placed)
    }

    /// Gives free slots labels that fit no base. There is one: a block with a free slot has fewer than 256
    /// bases, as each of them takes a slot.
    fn label_free(&mut self, blocks: &[BlockOf]) {
        for (number, block) in blocks.iter().enumerate().filter(|(_, b)| b.left > 0) {
            let spare = block.bases.not().first().expect("fewer bases than slots");
            for slot in (0..BLOCK).filter(|&slot| block.free.has(slot)) {
                self.labels[number * BLOCK + slot] = (slot ^ spare) as u8;
            }
        }
    }
}

/// A base in this block at which all transitions find free slots.
fn base_in(block: &BlockOf, stored: &[Edge]) -> Option<usize> {
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
