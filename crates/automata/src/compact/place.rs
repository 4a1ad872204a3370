//! The double array: where the stored transitions of each state stand.

use super::edges::{Edge, Edges};
use crate::trie::ROOT;
use fyke_core::Refusal;

/// Slots of a block of the double array: labels are classes, which are below 256.
pub const BLOCK: usize = 256;

/// How many states of one size have to fail to fit a block before it is closed: more fill the table better and take
/// longer. With 8 in place of 3 it takes a quarter longer and fills 4 % more.
const PATIENCE: u32 = 3;

/// From states of this size on all blocks with room for them are open again: 99,175 words fill 87 % of the table with 16,
/// 70 % with 4.
const REOPEN_FROM: usize = 32;

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
    failed: u32,
}

impl BlockOf {
    fn empty() -> BlockOf {
        BlockOf { free: Slots([!0; 4]), bases: Slots([0; 4]), left: BLOCK, failed: 0 }
    }
}

/// Where the transitions of each state stand: at its base, combined with the class by exclusive or, so
/// that all of them are in one block. Bases are unique, so the class alone tells whose a slot is.
pub struct Placement {
    /// The base of each state; 0 for those that store nothing.
    pub base: Vec<u32>,
    /// The label of each slot. Free ones have a label that fits no base.
    pub labels: Vec<u8>,
}

impl Placement {
    /// Places all transitions in at most `most` slots.
    ///
    /// # Errors
    /// They take more.
    pub fn new(edges: &Edges, states: usize, most: usize) -> Result<Placement, Refusal> {
        Self::in_rounds(edges, states, most, 1, |_| 0)
    }

    /// The same with the states of one round after those of the other: the first ones get the lowest slots, the others
    /// fill the gaps too.
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
        // Base 0 is that of states that store nothing. No label of its block fits it.
        let mut blocks =
            vec![BlockOf { free: Slots([0; 4]), bases: Slots([1, 0, 0, 0]), left: 0, failed: 0 }];
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
                    blocks.push(BlockOf::empty());
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

/// The states that store transitions, those with most first: small ones fill the gaps that large ones leave. Those
/// with as many come breadth first, as shallow states are met most.
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

/// An open block that has room for these transitions: its place in `open`, its number, and the base. Blocks that have
/// failed too often are closed.
fn find(
    blocks: &mut [BlockOf],
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
