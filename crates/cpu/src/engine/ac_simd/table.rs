//! The automaton at run time, and a single walk over it.

use fyke_automata::compact::{ReportList, Reports};
use std::hint::select_unpredictable;

/// The bits of a compact entry that hold the label.
pub(super) const LABEL: u32 = 0xff;

/// The first bit of the count in a compact entry.
pub(super) const COUNT_SHIFT: u32 = 8;

/// The forms of the automaton; see the parent module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Form {
    Dense,
    Compact2,
    Compact3,
    Linked,
}

pub(super) const DENSE: u8 = Form::Dense as u8;
pub(super) const COMPACT2: u8 = Form::Compact2 as u8;
pub(super) const COMPACT3: u8 = Form::Compact3 as u8;
pub(super) const LINKED: u8 = Form::Linked as u8;

/// The tables of an automaton, consecutive in `words`. Only `build` makes them, and it upholds the
/// invariants that the gathers rely on.
///
/// A *place* names an entry: the index of a compact entry in `words`, or the offset of a dense
/// row.
///
/// **Invariant** of the dense form: every entry without its count is the offset of a row of
/// `words`, and every class is a column.
///
/// **Invariant** of the other forms: every base is below `defaults`, a multiple of 256, and every
/// class is below 256, so that `base ^ class` is in the block of the base. Every context (the
/// classes of `order` bytes of `bits` bits each, the first of which may be `none`) is below
/// `lists - defaults`.
///
/// **Invariant** of all forms: the list of place `p` is `words[lists + p]`, and the failure place
/// of a partial state, `words[fails + p]`, is a place.
pub(super) struct AcSimdTable {
    pub(super) form: Form,
    pub(super) words: Vec<u32>,
    /// Where the defaults by context begin in `words`.
    pub(super) defaults: u32,
    /// The distance from a place to its list.
    pub(super) lists: u32,
    /// The distance from a place to its failure place. Only the linked form has one.
    pub(super) fails: u32,
    pub(super) reports: Reports,
    pub(super) class: [u8; 256],
    /// `class` as words, for gathers.
    #[cfg(target_arch = "x86_64")]
    pub(super) wide_class: Box<[i32; 256]>,
    pub(super) bits: u32,
    pub(super) order: u32,
    pub(super) none: u32,
    /// The bits of a context that belong to bytes before the next one.
    pub(super) mask: u32,
    /// The first bit of an entry's base. Unused by the dense form.
    pub(super) shift: u32,
    /// The bits of an entry that count its state's reports, and the first of them.
    pub(super) count_mask: u32,
    pub(super) count_shift: u32,
    /// Whether some count does not fit in these bits. Then the largest value stands for itself and
    /// all larger ones.
    pub(super) saturates: bool,
    /// The bit of a linked entry whose state stores only a part of its transitions.
    pub(super) partial: u32,
    pub(super) states: usize,
    pub(super) stored: usize,
}

/// The state of a walk: its entry and the entry's place, the classes of the previous bytes, and
/// the default of the last context.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    pub(super) entry: u32,
    pub(super) place: u32,
    pub(super) past: u32,
    pub(super) deep: u32,
}

impl AcSimdTable {
    /// A walk at the root, with no bytes before it.
    pub(super) fn start(&self) -> Walk {
        let past = (1..self.order).fold(0, |past, _| (past | self.none) << self.bits);
        Walk { past, ..Walk::default() }
    }

    /// The walk of a state known by its place, after the bytes `before`.
    pub(super) fn resume(&self, place: u32, before: &[u8]) -> Walk {
        let mut walk = self.start();
        let from = before.len().saturating_sub(self.order as usize);
        before[from..].iter().for_each(|&byte| self.step(&mut walk, byte));
        let entry = if self.form == Form::Dense { place } else { self.words[place as usize] };
        Walk { place, entry, ..walk }
    }

    /// Takes one byte.
    pub(super) fn step(&self, walk: &mut Walk, byte: u8) {
        match self.form {
            Form::Dense => self.steps().take::<DENSE>(walk, byte),
            Form::Compact2 => self.steps().take::<COMPACT2>(walk, byte),
            Form::Compact3 => self.steps().take::<COMPACT3>(walk, byte),
            Form::Linked => self.steps().take::<LINKED>(walk, byte),
        }
    }

    /// What a step reads.
    #[inline(always)]
    pub(super) fn steps(&self) -> Steps<'_> {
        Steps {
            words: &self.words,
            class: &self.class,
            bits: self.bits,
            mask: self.mask,
            defaults: self.defaults,
            fails: self.fails,
            shift: self.shift,
            count_mask: self.count_mask,
            partial: self.partial,
        }
    }

    fn word(&self, index: u32) -> u32 {
        self.steps().word(index)
    }

    /// Whether the walk's state reports something.
    #[inline(always)]
    pub(super) fn reports(&self, walk: &Walk) -> bool {
        walk.entry & self.count_mask != 0
    }

    /// The list of a place.
    #[inline(always)]
    pub(super) fn list(&self, place: u32) -> ReportList {
        ReportList(self.word(self.lists + place))
    }

    /// Whether two walks that have read the same last bytes will stay in the same states.
    pub(super) fn agree(&self, a: &Walk, b: &Walk) -> bool {
        match self.form {
            Form::Dense => a.place == b.place,
            _ if a.entry >> self.shift != b.entry >> self.shift => false,
            Form::Linked if (a.entry | b.entry) & self.partial != 0 => {
                (a.entry & b.entry) & self.partial != 0
                    && self.word(self.fails + a.place) == self.word(self.fails + b.place)
            }
            _ => true,
        }
    }

    /// The name of the form, as in the options.
    pub(super) fn name(&self) -> &'static str {
        match self.form {
            Form::Dense => "dense",
            Form::Compact2 if self.order == 1 => "compact1",
            Form::Compact2 => "compact2",
            Form::Compact3 => "compact3",
            Form::Linked => "linked",
        }
    }

    pub(super) fn memory(&self) -> u64 {
        4 * self.words.len() as u64 + self.reports.memory()
    }
}

/// What a step reads of a table; the fields are those of [`AcSimdTable`]. Scalar walks keep a copy
/// in registers: the compiler would load the table's own fields again after each write of a row.
#[derive(Clone, Copy)]
pub(super) struct Steps<'a> {
    words: &'a [u32],
    class: &'a [u8; 256],
    bits: u32,
    mask: u32,
    defaults: u32,
    fails: u32,
    shift: u32,
    pub(super) count_mask: u32,
    partial: u32,
}

impl Steps<'_> {
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        debug_assert!((index as usize) < self.words.len());
        // SAFETY: callers pass a place, a place plus `lists` or `fails`, a default, a base xor a
        // class, or a row plus a class. The invariant of `AcSimdTable` makes each an index into
        // `words`, as asserted above.
        unsafe { *self.words.get_unchecked(index as usize) }
    }

    #[inline(always)]
    pub(super) fn class(self, byte: u8) -> u8 {
        self.class[usize::from(byte)]
    }

    /// Takes one byte, in a known form.
    #[inline(always)]
    pub(super) fn take<const FORM: u8>(self, walk: &mut Walk, byte: u8) {
        if FORM == DENSE {
            let class = u32::from(self.class(byte));
            walk.entry = self.word((walk.entry & !self.count_mask) + class);
            walk.place = walk.entry & !self.count_mask;
        } else {
            let default = self.default_place(&mut walk.past, self.class(byte));
            self.take_compact::<FORM>(walk, default);
        }
    }

    /// The place of the default after one more byte, in a compact form. It does not depend on the
    /// state.
    #[inline(always)]
    pub(super) fn default_place(self, past: &mut u32, class: u8) -> u32 {
        let context = *past | u32::from(class);
        *past = (context << self.bits) & self.mask;
        self.defaults + context
    }

    /// Takes one byte in a compact form. `place` is that of the default, from
    /// [`default_place`](Self::default_place). `walk.past` is not used.
    #[inline(always)]
    pub(super) fn take_compact<const FORM: u8>(self, walk: &mut Walk, mut place: u32) {
        debug_assert!(place >= self.defaults);
        // `defaults` is a multiple of 256, so the low bits of the place are the byte's class. The
        // label of an entry is its low byte: to compare bytes takes no mask.
        let class = place & ((1 << self.bits) - 1);
        let slot = (walk.entry >> self.shift) ^ class;
        let stored = self.word(slot);
        let mut entry = self.word(place);
        if FORM == COMPACT3 {
            let slot = (walk.deep >> self.shift) ^ class;
            let deeper = self.word(slot);
            walk.deep = entry;
            let fits = deeper as u8 == class as u8;
            entry = select_unpredictable(fits, deeper, entry);
            place = select_unpredictable(fits, slot, place);
        }
        let fits = stored as u8 == class as u8;
        if FORM == LINKED && !fits && walk.entry & self.partial != 0 {
            (entry, place) = self.follow(walk.place, class).unwrap_or((entry, place));
        }
        walk.entry = select_unpredictable(fits, stored, entry);
        walk.place = select_unpredictable(fits, slot, place);
    }

    /// Follows the failure states of a partial state to one that stores a transition for `class`.
    #[cold]
    pub(super) fn follow(self, mut place: u32, class: u32) -> Option<(u32, u32)> {
        loop {
            place = self.word(self.fails + place);
            let at = self.word(place);
            let slot = (at >> self.shift) ^ class;
            let stored = self.word(slot);
            if stored & LABEL == class {
                return Some((stored, slot));
            }
            if at & self.partial == 0 {
                return None;
            }
        }
    }
}
