//! Compile time: defaults by context, exceptions, and the double array.

use super::{ORDER_LEAST, REPORTS, STATE_SHIFT, Table};
use crate::build::lists::Lists;
use crate::build::trie::ROOT;
use crate::build::{ByteClasses, Fold, Trie};
use fyke_core::{Options, PatternSet, Refusal};

/// Bytes of the defaults by context, at most: a part of the second-level cache. Where the alphabet is small,
/// contexts grow longer than two bytes up to here. It is not swept yet.
const CONTEXT_BYTES: usize = 256 << 10;

/// Exceptions for each state that a set may have. Hostile sets have exceptions in the square of their size; no golden
/// list is refused with this bound. It is not swept yet.
const EXCEPTIONS_PER_STATE: usize = 16;

/// Exceptions that any set may have.
const EXCEPTIONS_FREE: usize = 4096;

/// Entries that bases can name.
const MAX_ENTRIES: usize = 1 << (32 - STATE_SHIFT);

/// Slots of a block of the double array: labels are classes, which are below 256.
const BLOCK: usize = 256;

/// Blocks that are tried for a state before a new one is opened: more fill the table better and take longer. It is not
/// swept yet.
const OPEN_BLOCKS: usize = 24;

/// Bytes of an entry: itself, its list and its depth.
const ENTRY_BYTES: u64 = 4 + 4 + 2;

/// A stored transition.
#[derive(Clone, Copy)]
struct Edge {
    class: u8,
    target: u32,
}

/// The stored transitions of all states: those of state `s` are `edges[first[s]..first[s + 1]]`.
struct Edges {
    first: Vec<u32>,
    edges: Vec<Edge>,
}

impl Edges {
    fn of(&self, state: u32) -> &[Edge] {
        let s = state as usize;
        &self.edges[self.first[s] as usize..self.first[s + 1] as usize]
    }
}

/// How bytes are told apart, and how many of them make a context.
struct Shape {
    classes: ByteClasses,
    /// The byte that stands for a class on the edges of the trie; none for that of unused bytes.
    bytes: Vec<Option<u8>>,
    bits: u32,
    order: u32,
    /// The class that no pattern has.
    none: u32,
    /// Values of the first class of a context.
    width: usize,
}

impl Shape {
    fn new(set: &PatternSet, trie: &Trie) -> Shape {
        let used = trie.used_bytes();
        let classes = ByteClasses::new(&used);
        let mut bytes = vec![None; classes.len()];
        for byte in (0..=255u8).filter(|&b| used[usize::from(b)]) {
            bytes[usize::from(classes.get(byte))] = Some(byte);
        }
        let none = if bytes[0].is_none() { 0 } else { classes.len() as u32 };
        let bits = classes.len().next_power_of_two().trailing_zeros().max(1);
        let width = (none as usize + 1).max(1 << bits);
        let classes = if Fold::of(set) == Fold::Lower { classes.fold_case() } else { classes };
        let mut order = ORDER_LEAST;
        let fits = |order: u32| 4usize << (bits * order) <= CONTEXT_BYTES;
        while width == 1 << bits && (order as usize) < set.max_len() && fits(order + 1) {
            order += 1;
        }
        Shape { classes, bytes, bits, order, none, width }
    }

    fn class(&self, label: u8) -> u8 {
        self.classes.get(label)
    }

    fn child(&self, trie: &Trie, state: u32, class: usize) -> Option<u32> {
        trie.child(state, (*self.bytes.get(class)?)?)
    }

    /// The deepest state of at most `order` bytes that the classes of a context end with, by context.
    fn defaults(&self, trie: &Trie, depths: &[u16]) -> Vec<u32> {
        let mut of_shorter = vec![ROOT];
        for len in 1..=self.order {
            let size = self.width << (self.bits * (len - 1));
            let classes = if len == 1 { self.width } else { 1 << self.bits };
            let next = |context: usize| {
                let class = context % classes;
                let parent = of_shorter[if len == 1 { 0 } else { context >> self.bits }];
                let whole = u32::from(depths[parent as usize]) == len - 1;
                let child = if whole { self.child(trie, parent, class) } else { None };
                let shorter = context & ((1 << (self.bits * (len - 1))) - 1);
                child.unwrap_or_else(|| if len == 1 { ROOT } else { of_shorter[shorter] })
            };
            of_shorter = (0..size).map(next).collect();
        }
        of_shorter
    }
}

/// Bytes that compiling a set takes before its exceptions are known.
pub(super) fn memory(states: u64, set: &PatternSet) -> u64 {
    let edge = size_of::<Edge>() as u64;
    let edges = states * (1 + EXCEPTIONS_PER_STATE as u64) + EXCEPTIONS_FREE as u64;
    Trie::memory_for(states, set)
        .saturating_add(states * 18)
        .saturating_add(edges.min(3 * MAX_ENTRIES as u64) * edge)
}

pub(super) fn compile(set: &PatternSet, opt: &Options) -> Result<Table, Refusal> {
    let states = Trie::count_states(set);
    if states > MAX_ENTRIES as u64 {
        return Err(Refusal::TooBig { what: "states", need: states, have: MAX_ENTRIES as u64 });
    }
    opt.check_memory(memory(states, set))?;
    let trie = Trie::new(set)?;
    let depths: Vec<u16> = trie.depths().map(|d| d as u16).collect();
    let shape = Shape::new(set, &trie);
    let edges = store(&trie, &shape, &depths)?;
    let context = shape.width << (shape.bits * (shape.order - 1));
    let most = (3 * edges.edges.len() + (OPEN_BLOCKS + 2) * BLOCK).min(MAX_ENTRIES);
    let need = ENTRY_BYTES * (most + context) as u64 + Lists::memory_for(set.len());
    opt.check_memory(need.saturating_add(memory(states, set)))?;
    let placed = Placement::new(&edges, trie.len(), most)?;
    let lists = Lists::new(&trie)?;
    Ok(write(&shape, &trie, &depths, &edges, &placed, lists))
}

/// The children of each state that is as deep as a context or deeper, and where its failure state goes
/// deeper than a context can tell.
fn store(trie: &Trie, shape: &Shape, depths: &[u16]) -> Result<Edges, Refusal> {
    let have = EXCEPTIONS_PER_STATE * trie.len() + EXCEPTIONS_FREE;
    let mut all = Edges { first: Vec::with_capacity(trie.len() + 1), edges: Vec::new() };
    let mut exceptions = 0;
    for s in 0..trie.len() as u32 {
        let start = all.edges.len();
        all.first.push(start as u32);
        if u32::from(depths[s as usize]) < shape.order {
            continue;
        }
        let child = |target| Edge { class: shape.class(trie.label(target)), target };
        all.edges.extend(trie.children(s).map(child));
        let own = all.edges.len();
        let fail = trie.fail(s) as usize;
        for i in all.first[fail] as usize..all.first[fail + 1] as usize {
            let edge = all.edges[i];
            if all.edges[start..own].iter().all(|e| e.class != edge.class) {
                all.edges.push(edge);
            }
        }
        exceptions += all.edges.len() - own;
        if exceptions > have {
            let (need, have) = (exceptions as u64, have as u64);
            return Err(Refusal::TooBig { what: "exceptions from the default", need, have });
        }
    }
    all.first.push(all.edges.len() as u32);
    Ok(all)
}

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
struct Placement {
    base: Vec<u32>,
    labels: Vec<u8>,
}

impl Placement {
    fn new(edges: &Edges, states: usize, most: usize) -> Result<Placement, Refusal> {
        let mut placed = Placement { base: vec![0; states], labels: Vec::new() };
        // Base 0 is that of states that store nothing. No label of its block fits it.
        let mut blocks = vec![BlockOf { free: Slots([0; 4]), bases: Slots([1, 0, 0, 0]), left: 0 }];
        placed.labels.extend((0..BLOCK).map(|i| i as u8 ^ 1));
        let mut open: Vec<usize> = Vec::new();
        for s in 0..states as u32 {
            let stored = edges.of(s);
            if stored.is_empty() {
                continue;
            }
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

fn write(
    shape: &Shape,
    trie: &Trie,
    depths: &[u16],
    edges: &Edges,
    placed: &Placement,
    lists: Lists,
) -> Table {
    let entry = |state: u32, label: u8| {
        let reports = if trie.is_output(state) { REPORTS } else { 0 };
        placed.base[state as usize] << STATE_SHIFT | reports | u32::from(label)
    };
    let defaults = shape.defaults(trie, depths);
    let size = placed.labels.len();
    let mut states = vec![ROOT; size];
    let mut entries: Vec<u32> = placed.labels.iter().map(|&l| u32::from(l)).collect();
    for s in 0..trie.len() as u32 {
        for edge in edges.of(s) {
            let slot = placed.base[s as usize] as usize ^ usize::from(edge.class);
            entries[slot] = entry(edge.target, edge.class);
            states[slot] = edge.target;
        }
    }
    states.extend_from_slice(&defaults);
    Table {
        entries,
        defaults: defaults.iter().map(|&s| entry(s, 0)).collect(),
        heads: states.iter().map(|&s| lists.heads[s as usize]).collect(),
        depths: states.iter().map(|&s| depths[s as usize]).collect(),
        lists: lists.bytes,
        class: *shape.classes.map(),
        bits: shape.bits,
        order: shape.order,
        none: shape.none,
        mask: (((1u64 << (shape.bits * shape.order)) - 1) & !((1 << shape.bits) - 1)) as u32,
        states: trie.len(),
        stored: edges.edges.len(),
    }
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

    /// After any text the table is in the state of the automaton: same depth, same reports.
    #[test]
    fn one_step_a_byte_follows_the_automaton() {
        let patterns = ["he", "she", "his", "hers", "ushers", "shersh", "ersher", "aaaa", "aab"];
        let set = PatternSet::new(patterns).unwrap();
        let trie = Trie::new(&set).unwrap();
        let depths: Vec<u32> = trie.depths().collect();
        let table = compile(&set, &Options::default()).unwrap();
        let mut random = 1u32;
        let (mut state, mut walk) = (ROOT, table.start());
        for _ in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let byte = b"hershiua"[(random >> 29) as usize];
            state = trie.next(state, byte);
            let at = table.step(&mut walk, byte);
            assert_eq!(u32::from(table.depths[at as usize]), depths[state as usize]);
            assert_eq!(walk.reports(), trie.is_output(state));
        }
    }

    /// 256 heads before one tail of many branches: exceptions in the square of the set.
    #[test]
    fn exceptions_are_capped() {
        let tails = (0..256u32).map(|c| [b"aaaaa".as_slice(), &[c as u8], b"zz"].concat());
        let runs = (0..1000u32).map(|i| [&i.to_le_bytes()[..], &[b'a'; 100]].concat());
        let set = PatternSet::new(tails.chain(runs)).unwrap();
        let refused = compile(&set, &Options::default()).err();
        assert!(matches!(refused, Some(Refusal::TooBig { .. })), "{refused:?}");
    }
}
