//! Byte classes and contexts. A context is the classes of the last few bytes; it gives most
//! transitions.

use crate::trie::ROOT;
use crate::{ByteClasses, CaseFold, Trie};
use fyke_core::PatternSet;

/// The maximum number of bytes of the table of defaults by context: a part of the L2 cache. For a
/// small alphabet, contexts are longer than two bytes, as long as the table keeps to this limit. On
/// DNA, the speed is the same for contexts of 4 to 6 bytes.
const CONTEXT_BYTES: usize = 256 << 10;

/// Fewest bytes of a context, unless the caller asks for fewer.
const MIN_ORDER: u32 = 2;

/// The maximum number of bytes of a context: no more than the shortest warm-up of an interleaved
/// walk.
const MAX_ORDER: u32 = 16;

/// The number of distinct bytes in the patterns of a set, after case folding.
pub fn used_bytes(set: &PatternSet) -> usize {
    let fold = CaseFold::of(set);
    let mut used = [false; 256];
    set.iter().flat_map(|p| p.bytes).for_each(|&byte| used[usize::from(fold.byte(byte))] = true);
    used.iter().filter(|used| **used).count()
}

/// How bytes are grouped into classes, and how many classes make a context.
#[derive(Clone, Debug)]
pub struct Contexts {
    /// The class of each byte of a haystack.
    pub classes: ByteClasses,
    /// The label of each class in the trie; `None` for the class of unused bytes.
    bytes: Vec<Option<u8>>,
    /// Bits of each class in a context.
    pub bits: u32,
    /// Bytes of a context.
    pub order: u32,
    /// The class of the bytes in no pattern, or a class of no byte if the patterns use all bytes.
    pub none: u32,
    /// Number of values of the first class of a context.
    width: usize,
}

impl Contexts {
    /// A class for each byte in the patterns, and contexts as long as the limit on their table
    /// allows.
    pub fn new(set: &PatternSet, trie: &Trie) -> Contexts {
        Self::of_used(set, trie.used_bytes())
    }

    /// Every byte is its own class.
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
        let mut order = MIN_ORDER;
        let fits = |order: u32| order <= MAX_ORDER && 4usize << (bits * order) <= CONTEXT_BYTES;
        while width == 1 << bits && (order as usize) < set.max_len() && fits(order + 1) {
            order += 1;
        }
        Contexts { classes, bytes, bits, order, none, width }
    }

    /// The same classes with contexts of one byte.
    pub fn of_one_byte(&self) -> Contexts {
        self.of_order(1)
    }

    /// The same classes with contexts of `order` bytes, at most as many as before.
    pub fn of_order(&self, order: u32) -> Contexts {
        debug_assert!((1..=self.order).contains(&order));
        Contexts { order, ..self.clone() }
    }

    /// The class of a label of the trie.
    pub fn class(&self, label: u8) -> u8 {
        self.classes.get(label)
    }

    /// The bits of a shifted context that stay when the class of the next byte is put in.
    pub fn mask(&self) -> u32 {
        (((1u64 << (self.bits * self.order)) - 1) & !((1 << self.bits) - 1)) as u32
    }

    /// The number of contexts.
    pub fn count(&self) -> usize {
        self.width << (self.bits * (self.order - 1))
    }

    fn child(&self, trie: &Trie, state: u32, class: usize) -> Option<u32> {
        trie.child(state, (*self.bytes.get(class)?)?)
    }

    /// For each context, the deepest state of at most `order` bytes that is a suffix of the
    /// context.
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
