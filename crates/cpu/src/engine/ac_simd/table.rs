//! The automaton at run time, and a single walk over it.

use fyke_automata::compact::{ReportList, Reports};
use std::hint::select_unpredictable;

/// The bits of a compact entry that hold the label.
pub(super) const LABEL: u32 = 0xff;

/// Where the count begins in a compact entry.
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

/// The tables, one after the other in `words`. Built only by `build`, which upholds what the gathers rely on.
///
/// A *place* names an entry: the index of a compact entry in `words`, the offset of a dense row.
///
/// **Invariant** of the dense form: every entry, its count masked off, is the offset of a row of `words`; every
/// class is a column.
/// **Invariant** of the others: every base is a slot below `defaults`, which is a multiple of 256; every
/// class is below 256, so that `base ^ class` is in the block of the base. Every value of a context, the
/// classes of `order` bytes of `bits` bits each, the first of which may be `none`, is below `lists - defaults`.
/// The list of place `p` is `words[lists + p]`; the failure place of a partial state, `words[fails + p]`,
/// is a place.
pub(super) struct Table {
    pub(super) form: Form,
    pub(super) words: Vec<u32>,
    /// Where the defaults by context begin in `words`.
    pub(super) defaults: u32,
    /// The distance from a place to the name of its list.
    pub(super) lists: u32,
    /// The distance from a place to the place of its failure state. Only the linked form has one.
    pub(super) fails: u32,
    pub(super) reports: Reports,
    pub(super) class: [u8; 256],
    /// The same as words, for gathers.
    pub(super) wide_class: Box<[i32; 256]>,
    pub(super) bits: u32,
    pub(super) order: u32,
    pub(super) none: u32,
    /// The bits of a context that are of bytes before the next one.
    pub(super) mask: u32,
    /// Where an entry's base begins. Unused by the dense form.
    pub(super) shift: u32,
    /// The bits of an entry that count what its state reports, and where they begin.
    pub(super) count_mask: u32,
    pub(super) count_shift: u32,
    /// Whether some count is too large for these bits: then the largest value only says so.
    pub(super) saturates: bool,
    /// The bit of a linked entry whose state stores only a part of its transitions.
    pub(super) partial: u32,
    pub(super) states: usize,
    pub(super) stored: usize,
}

/// Where a walk is: the entry of its state and where that stands, the classes of the bytes before the
/// next, and the default of the last context.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Walk {
    pub(super) entry: u32,
    pub(super) place: u32,
    pub(super) past: u32,
    pub(super) deep: u32,
}

impl Table {
    /// A walk at the root, with nothing before it.
    pub(super) fn start(&self) -> Walk {
        let past = (1..self.order).fold(0, |past, _| (past | self.none) << self.bits);
        Walk { past, ..Walk::default() }
    }

    /// The walk that left `place` behind the bytes before.
    pub(super) fn resume(&self, place: u32, before: &[u8]) -> Walk {
        let mut walk = self.start();
        let from = before.len().saturating_sub(self.order as usize);
        before[from..].iter().for_each(|&byte| self.step(&mut walk, byte));
        let entry = if self.form == Form::Dense { place } else { self.words[place as usize] };
        Walk { place, entry, ..walk }
    }

    /// Takes a byte.
    pub(super) fn step(&self, walk: &mut Walk, byte: u8) {
        match self.form {
            Form::Dense => self.step_as::<DENSE>(walk, byte),
            Form::Compact2 => self.step_as::<COMPACT2>(walk, byte),
            Form::Compact3 => self.step_as::<COMPACT3>(walk, byte),
            Form::Linked => self.step_as::<LINKED>(walk, byte),
        }
    }

    #[inline(always)]
    fn word(&self, index: u32) -> u32 {
        debug_assert!((index as usize) < self.words.len());
        // SAFETY: only places and their neighbours by the invariant of this type are looked up.
        unsafe { *self.words.get_unchecked(index as usize) }
    }

    /// Takes a byte, where the form is known.
    #[inline(always)]
    pub(super) fn step_as<const FORM: u8>(&self, walk: &mut Walk, byte: u8) {
        let class = u32::from(self.class[usize::from(byte)]);
        if FORM == DENSE {
            walk.entry = self.word((walk.entry & !self.count_mask) + class);
            walk.place = walk.entry & !self.count_mask;
            return;
        }
        let (slot, context) = ((walk.entry >> self.shift) ^ class, walk.past | class);
        let stored = self.word(slot);
        let default = self.word(self.defaults + context);
        let (mut entry, mut place) = (default, self.defaults + context);
        if FORM == COMPACT3 {
            let slot = (walk.deep >> self.shift) ^ class;
            let deeper = self.word(slot);
            let fits = deeper & LABEL == class;
            entry = select_unpredictable(fits, deeper, entry);
            place = select_unpredictable(fits, slot, place);
            walk.deep = default;
        }
        let fits = stored & LABEL == class;
        if FORM == LINKED && !fits && walk.entry & self.partial != 0 {
            (entry, place) = self.follow(walk.place, class).unwrap_or((entry, place));
        }
        entry = select_unpredictable(fits, stored, entry);
        place = select_unpredictable(fits, slot, place);
        walk.past = (context << self.bits) & self.mask;
        (walk.entry, walk.place) = (entry, place);
    }

    /// Where a partial state goes by its failure states, if one of them stores a transition.
    #[cold]
    pub(super) fn follow(&self, mut place: u32, class: u32) -> Option<(u32, u32)> {
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

    /// Whether a walk's state reports something.
    #[inline(always)]
    pub(super) fn reports(&self, walk: &Walk) -> bool {
        walk.entry & self.count_mask != 0
    }

    /// What a place reports.
    #[inline(always)]
    pub(super) fn list(&self, place: u32) -> ReportList {
        ReportList(self.word(self.lists + place))
    }

    /// Whether two walks that have read the same bytes last will be in the same states from now on.
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

    /// The name of the form, as the option has it.
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
