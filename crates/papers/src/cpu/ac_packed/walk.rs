//! Run time: the visit of a node, and walks made of visits.

use super::nodes::{BITMAP, LOW, Nodes, ROOT, State, WINDOW};
use crate::cost::CostCounter;
use std::hint::select_unpredictable;
use std::ops::ControlFlow;

/// A walk between two visits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) state: State,
    /// Whether a byte led to the state and its reports are still to be read.
    pub(super) fresh: bool,
}

/// The outcome of a visit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) to: Place,
    /// Bytes read: at most one more than the packing factor, and none if the visit only failed.
    pub(super) read: usize,
    /// Bit i says that the state i places further reports, i bytes after the visit began.
    pub(super) reports: u32,
}

/// A transition, and whether it reads a byte.
#[derive(Clone, Copy)]
struct Hop {
    state: State,
    reads: bool,
}

/// One of two hops: by a branch, or without one if `EVEN`.
#[inline(always)]
fn choose<const EVEN: bool>(
    which: bool,
    yes: impl FnOnce() -> Hop,
    no: impl FnOnce() -> Hop,
) -> Hop {
    if !EVEN {
        return if which { yes() } else { no() };
    }
    let (yes, no) = (yes(), no());
    let state = select_unpredictable(which, yes.state, no.state);
    Hop { state, reads: (which & yes.reads) | (!which & no.reads) }
}

/// A state with rules, and the position where it was reached, from the start of a text or segment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hit {
    pub(super) rules: u32,
    pub(super) end: u32,
}

impl<const C: usize> Nodes<'_, C> {
    /// Visits the node of a state. It reads as many bytes as it can, up to `most`, which is at
    /// least 1, and follows one failure pointer where the next byte does not match. If that leads
    /// to the root, as most failures do, the root reads the byte at once.
    ///
    /// The direction of a node is hard to predict. If `EVEN`, both directions are computed and one
    /// is selected, as in the paper. Otherwise there is a branch, and a single walk speculates
    /// past it.
    #[inline(always)]
    pub(super) fn visit<const EVEN: bool, N: CostCounter>(
        self,
        from: Place,
        window: &[u8; WINDOW],
        most: usize,
        counter: &mut N,
    ) -> Visit {
        let link = self.node(from.state).link();
        if link & LOW == BITMAP {
            self.visit_bitmap::<EVEN, N>(from, link, window, counter)
        } else {
            self.visit_path::<EVEN, N>(from, link, window, most, counter)
        }
    }

    #[inline(always)]
    fn visit_bitmap<const EVEN: bool, N: CostCounter>(
        self,
        from: Place,
        link: u32,
        window: &[u8; WINDOW],
        counter: &mut N,
    ) -> Visit {
        let node = self.node(from.state);
        let reports = u32::from(from.fresh & (node.rules(0) != 0));
        let hit = node.has_child(window[0]);
        counter.transitions(1);
        counter.popcount_additions(u64::from(hit));
        let goto = || Hop { state: node.child(link, window[0]), reads: true };
        let fail = || self.fail::<EVEN>(node.bitmap_failure(), window[0]);
        let hop = choose::<EVEN>(hit, goto, fail);
        counter.transitions(u64::from(!hit & hop.reads));
        let to = Place { state: hop.state, fresh: hop.reads };
        Visit { to, read: usize::from(hop.reads), reports }
    }

    #[inline(always)]
    fn visit_path<const EVEN: bool, N: CostCounter>(
        self,
        from: Place,
        link: u32,
        window: &[u8; WINDOW],
        most: usize,
        counter: &mut N,
    ) -> Visit {
        let node = self.node(from.state);
        let place = (from.state & LOW) as usize;
        let (left, next) = ((link & LOW) as usize - place, link & !LOW);
        let run = node.common(place, window).min(left).min(most);
        let leaves = (run == left) & (next != ROOT);
        counter.comparisons(1);
        counter.transitions(run as u64);
        // The places passed within this node, and the first one if its reports are still to be
        // read.
        let passed = (2 << (run - usize::from(leaves))) - 1 - u32::from(!from.fresh);
        let reports = (node.path_reports() >> place) & passed;
        if !leaves & (run == most) {
            let to = Place { state: from.state + run as u32, fresh: false };
            return Visit { to, read: run, reports };
        }
        let fail = || self.fail::<EVEN>(node.path_failure(place + run), window[run % WINDOW]);
        let hop = choose::<EVEN>(leaves, || Hop { state: next, reads: false }, fail);
        counter.transitions(u64::from(!leaves) + u64::from(hop.reads));
        let to = Place { state: hop.state, fresh: leaves | hop.reads };
        Visit { to, read: run + usize::from(hop.reads), reports }
    }

    /// The hit `on` places and bytes after a visit that began in a state.
    #[inline(always)]
    pub(super) fn hit(self, state: State, on: u32, at: usize) -> Hit {
        let rules = self.node(state).rules((state & LOW) as usize + on as usize);
        Hit { rules, end: at as u32 + on }
    }

    /// The hop of a failure. If it leads to the root, the root reads the byte at once.
    #[inline(always)]
    fn fail<const EVEN: bool>(self, failure: State, byte: u8) -> Hop {
        let at_root = || Hop { state: self.root_goto(byte), reads: true };
        choose::<EVEN>(failure == ROOT, at_root, || Hop { state: failure, reads: false })
    }

    /// Walks over `len` bytes of a text, which has a window more after them, and calls `each`
    /// with its hits. Returns the state at the end.
    #[inline(always)]
    pub(super) fn walk<N: CostCounter>(
        self,
        text: &[u8],
        len: usize,
        state: State,
        counter: &mut N,
        mut each: impl FnMut(Hit) -> ControlFlow<()>,
    ) -> ControlFlow<(), State> {
        let (mut at, mut place) = (0, Place { state, fresh: false });
        while at < len {
            let window = text[at..].first_chunk().expect("a window follows the text");
            let visit = self.visit::<false, _>(place, window, len - at, counter);
            let mut reports = visit.reports;
            while reports != 0 {
                let on = reports.trailing_zeros();
                each(self.hit(place.state, on, at))?;
                reports &= reports - 1;
            }
            (place, at) = (visit.to, at + visit.read);
        }
        if place.fresh & self.reports(place.state) {
            each(self.hit(place.state, 0, at))?;
        }
        ControlFlow::Continue(place.state)
    }
}

/// Walks of one byte at a time, for seams and overlaps.
impl<const C: usize> Nodes<'_, C> {
    /// The state after a folded byte.
    #[inline]
    pub(super) fn step(self, mut state: State, byte: u8) -> State {
        while state != ROOT {
            let node = self.node(state);
            let (link, place) = (node.link(), (state & LOW) as usize);
            if link & LOW == BITMAP {
                if node.has_child(byte) {
                    return node.child(link, byte);
                }
                state = node.bitmap_failure();
            } else {
                let left = (link & LOW) as usize - place;
                if left > 0 && node.common(place, &[byte; WINDOW]) > 0 {
                    let leaves = left == 1 && link & !LOW != ROOT;
                    return if leaves { link & !LOW } else { state + 1 };
                }
                state = node.path_failure(place);
            }
        }
        self.root_goto(byte)
    }

    /// Whether a state has rules.
    #[inline(always)]
    pub(super) fn reports(self, state: State) -> bool {
        self.node(state).rules((state & LOW) as usize) != 0
    }
}
