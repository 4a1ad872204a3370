//! The compact automaton at run time, and a single walk over it.

/// Bytes of a context, at least.
pub(super) const ORDER_LEAST: u32 = 2;

/// An entry is the base of its state above this, a bit whether the state reports, and an 8-bit label.
pub(super) const STATE_SHIFT: u32 = 9;

/// The bit of an entry that says whether its state reports.
pub(super) const REPORTS: u32 = 1 << 8;

/// The tables. Built only by `build::compile`, which upholds what the gathers rely on.
///
/// **Invariant**: every base is a slot of `entries`, whose length is a multiple of 256; every class is below
/// 256, so `base ^ class` is in the block of the base. Every value of a context, the classes of `order` bytes
/// of `bits` bits each, the first of which may be `none`, is below the length of `defaults`.
pub(super) struct Table {
    pub(super) entries: Vec<u32>,
    pub(super) defaults: Vec<u32>,
    /// The list that each entry reports, those of `defaults` after those of `entries`.
    pub(super) heads: Vec<u32>,
    /// The depth of the state of each entry, in the same order.
    pub(super) depths: Vec<u16>,
    pub(super) lists: Vec<u8>,
    pub(super) class: [u8; 256],
    pub(super) bits: u32,
    pub(super) order: u32,
    pub(super) none: u32,
    /// The bits of a context that are of bytes before the next one.
    pub(super) mask: u32,
    pub(super) states: usize,
    pub(super) stored: usize,
}

/// Where a walk is: the entry of its state, and the classes of the bytes before the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    pub(super) entry: u32,
    pub(super) past: u32,
}

impl Walk {
    pub(super) fn reports(self) -> bool {
        self.entry & REPORTS != 0
    }
}

impl From<u64> for Walk {
    fn from(w: u64) -> Walk {
        Walk { entry: w as u32, past: (w >> 32) as u32 }
    }
}

impl From<Walk> for u64 {
    fn from(w: Walk) -> u64 {
        u64::from(w.past) << 32 | u64::from(w.entry)
    }
}

impl Table {
    /// A walk at the root, with nothing before it.
    pub(super) fn start(&self) -> Walk {
        let past = (1..self.order).fold(0, |past, _| (past | self.none) << self.bits);
        Walk { entry: 0, past }
    }

    /// A walk at the root behind these bytes.
    pub(super) fn start_after(&self, bytes: &[u8]) -> Walk {
        let last = &bytes[bytes.len().saturating_sub(self.order as usize - 1)..];
        let push = |past, &b: &u8| {
            ((past | u32::from(self.class[usize::from(b)])) << self.bits) & self.mask
        };
        Walk { entry: 0, past: last.iter().fold(self.start().past, push) }
    }

    /// Takes a byte. Returns the place of the new entry in `heads` and `depths`.
    #[inline(always)]
    pub(super) fn step(&self, walk: &mut Walk, byte: u8) -> u32 {
        let class = u32::from(self.class[usize::from(byte)]);
        let (slot, context) = ((walk.entry >> STATE_SHIFT) ^ class, walk.past | class);
        let (stored, default) = (self.entries[slot as usize], self.defaults[context as usize]);
        let is_stored = stored & 0xff == class;
        walk.past = (context << self.bits) & self.mask;
        walk.entry = if is_stored { stored } else { default };
        if is_stored { slot } else { self.entries.len() as u32 + context }
    }

    /// Whether a walk in the state of this entry is where one is that began at the root `read` bytes ago.
    pub(super) fn is_settled(&self, at: u32, read: usize) -> bool {
        let depth = usize::from(self.depths[at as usize]);
        depth < self.order as usize || depth <= read
    }

    pub(super) fn memory(&self) -> u64 {
        let words = self.entries.len() + self.defaults.len() + self.heads.len();
        (4 * words + 2 * self.depths.len() + self.lists.len()) as u64
    }
}
