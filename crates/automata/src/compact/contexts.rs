//! How bytes are told apart, and how many of them make a context.

use crate::trie::ROOT;
use crate::{ByteClasses, CaseFold, Trie};
use fyke_core::PatternSet;

/// Bytes of the defaults by context, at most: a part of the second-level cache. Where the alphabet is small,
/// contexts grow longer than two bytes up to here. From 4 to 6 bytes of DNA there was no difference.
const CONTEXT_BYTES: usize = 256 << 10;

/// Bytes of a context, at least, where they are not chosen to be one.
const ORDER_LEAST: u32 = 2;

/// Bytes of a context, at most: no more than the shortest warm-up of a lane.
const ORDER_MOST: u32 = 16;

/// How many different bytes the patterns of a set have, as they are read.
pub fn used_bytes(set: &PatternSet) -> usize {
    let fold = CaseFold::of(set);
    let mut used = [false; 256];
    set.iter().flat_map(|p| p.bytes).for_each(|&byte| used[usize::from(fold.byte(byte))] = true);
    used.iter().filter(|used| **used).count()
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Contexts {
    /// The class of each byte of a haystack.
    pub classes: ByteClasses,
    /// The byte that stands for a class on the edges of the trie; none for that of unused bytes.
    bytes: Vec<Option<u8>>,
    /// Bits of a class in a context.
    pub bits: u32,
    /// Bytes of a context.
    pub order: u32,
    /// The class that no pattern has.
    pub none: u32,
    /// Values of the first class of a context.
    width: usize,
}

impl Contexts {
    /// A class for each byte that the patterns have, and contexts of as many bytes as their table may have.
    pub fn new(set: &PatternSet, trie: &Trie) -> Contexts {
        Self::of_used(set, trie.used_bytes())
    }

    /// Every byte is a class of its own, which is the byte itself.
    pub fn of_bytes(set: &PatternSet) -> Contexts {
        Self::of_used(set, [true; 256])
    }

    fn of_used(set: &PatternSet, used: [bool; 256]) -> Contexts {
        let classes = ByteClasses::new(&used);
        let mut bytes = vec![None; classes.len()];
        for byte in (0..=255u8).filter(|&b| used[usize::from(b)]) {
            bytes[usize::from(classes.get(byte))] = Some(byte);
        }
        let none = if bytes[0].is_none() { 0 } else { classes.len() as u32 };
        let bits = classes.len().next_power_of_two().trailing_zeros().max(1);
        let width = (none as usize + 1).max(1 << bits);
        let classes =
            if CaseFold::of(set) == CaseFold::Lower { classes.fold_case() } else { classes };
        let mut order = ORDER_LEAST;
        let fits = |order: u32| order <= ORDER_MOST && 4usize << (bits * order) <= CONTEXT_BYTES;
        while width == 1 << bits && (order as usize) < set.max_len() && fits(order + 1) {
            order += 1;
        }
        Contexts { classes, bytes, bits, order, none, width }
    }

    /// The same with contexts of a single byte.
    pub fn of_one_byte(&self) -> Contexts {
        self.of_order(1)
    }

    /// The same with contexts of so many bytes, which are no more than they were.
    pub fn of_order(&self, order: u32) -> Contexts {
        debug_assert!((1..=self.order).contains(&order));
        Contexts { order, ..self.clone() }
    }

    /// The class of a label of the trie.
    pub fn class(&self, label: u8) -> u8 {
        self.classes.get(label)
    }

    /// The bits of a context that are of bytes before the next one.
    pub fn mask(&self) -> u32 {
        (((1u64 << (self.bits * self.order)) - 1) & !((1 << self.bits) - 1)) as u32
    }

    /// How many contexts there are.
    pub fn count(&self) -> usize {
        self.width << (self.bits * (self.order - 1))
    }

    fn child(&self, trie: &Trie, state: u32, class: usize) -> Option<u32> {
        trie.child(state, (*self.bytes.get(class)?)?)
    }

    /// The deepest state of at most `order` bytes that the classes of a context end with, by context.
    pub fn defaults(&self, trie: &Trie, depths: &[u16]) -> Vec<u32> {
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
