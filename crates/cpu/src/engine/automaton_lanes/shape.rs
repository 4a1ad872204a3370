//! How bytes are told apart, and how many of them make a context.

use super::table::{ORDER_LEAST, ORDER_MOST};
use crate::build::trie::ROOT;
use crate::build::{ByteClasses, Fold, Trie};
use fyke_core::PatternSet;

/// Bytes of the defaults by context, at most: a part of the second-level cache. Where the alphabet is small,
/// contexts grow longer than two bytes up to here. From 4 to 6 bytes of DNA there was no difference.
const CONTEXT_BYTES: usize = 256 << 10;

/// How many different bytes the patterns of a set have, as they are read.
pub(super) fn used_bytes(set: &PatternSet) -> usize {
    let fold = Fold::of(set);
    let mut used = [false; 256];
    set.iter().flat_map(|p| p.bytes).for_each(|&byte| used[usize::from(fold.byte(byte))] = true);
    used.iter().filter(|used| **used).count()
}

/// See the module.
pub(super) struct Shape {
    pub(super) classes: ByteClasses,
    /// The byte that stands for a class on the edges of the trie; none for that of unused bytes.
    bytes: Vec<Option<u8>>,
    pub(super) bits: u32,
    pub(super) order: u32,
    /// The class that no pattern has.
    pub(super) none: u32,
    /// Values of the first class of a context.
    width: usize,
}

impl Shape {
    pub(super) fn new(set: &PatternSet, trie: &Trie) -> Shape {
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
        let fits = |order: u32| order <= ORDER_MOST && 4usize << (bits * order) <= CONTEXT_BYTES;
        while width == 1 << bits && (order as usize) < set.max_len() && fits(order + 1) {
            order += 1;
        }
        Shape { classes, bytes, bits, order, none, width }
    }

    /// The same with contexts of a single byte.
    pub(super) fn of_one_byte(&self) -> Shape {
        Shape { classes: self.classes.clone(), bytes: self.bytes.clone(), order: 1, ..*self }
    }

    pub(super) fn class(&self, label: u8) -> u8 {
        self.classes.get(label)
    }

    /// The bits of a context that are of bytes before the next one.
    pub(super) fn mask(&self) -> u32 {
        (((1u64 << (self.bits * self.order)) - 1) & !((1 << self.bits) - 1)) as u32
    }

    /// How many contexts there are.
    pub(super) fn contexts(&self) -> usize {
        self.width << (self.bits * (self.order - 1))
    }

    fn child(&self, trie: &Trie, state: u32, class: usize) -> Option<u32> {
        trie.child(state, (*self.bytes.get(class)?)?)
    }

    /// The deepest state of at most `order` bytes that the classes of a context end with, by context.
    pub(super) fn defaults(&self, trie: &Trie, depths: &[u16]) -> Vec<u32> {
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
