//! Run time: what one visit of a node does, and a walk of one visit after the other.

use super::nodes::{BITMAP, LOW, Nodes, ROOT, State, WINDOW};
use crate::count::Counter;

/// A walk between two visits.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) state: State,
    /// Whether the state was reached by reading a byte and was not yet asked what it reports.
    pub(super) fresh: bool,
}

/// What a visit did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visit {
    pub(super) to: Place,
    /// Bytes read: at most one more than the packing factor, and none if it came to nothing but a failure.
    pub(super) read: usize,
    /// Bit i says that the state i places on reports, and does so i bytes after the visit began.
    pub(super) reports: u32,
}

impl<const C: usize> Nodes<'_, C> {
    /// Visits the node of a state: reads as many bytes of the window as it can, `most` at most, of which
    /// there has to be one, and fails once where the next one leads nowhere.
    #[inline(always)]
    pub(super) fn visit<K: Counter>(
        self,
        from: Place,
        window: &[u8; WINDOW],
        most: usize,
        counter: &mut K,
    ) -> Visit {
        let link = self.node(from.state).link();
        if link & LOW == BITMAP {
            self.visit_bitmap(from, link, window, counter)
        } else {
            self.visit_path(from, link, window, most, counter)
        }
    }

    #[inline(always)]
    fn visit_bitmap<K: Counter>(
        self,
        from: Place,
        link: u32,
        window: &[u8; WINDOW],
        counter: &mut K,
    ) -> Visit {
        let node = self.node(from.state);
        let reports = u32::from(from.fresh && node.bitmap_reports());
        counter.transitions(1);
        match node.child(link, window[0]) {
            Some(state) => {
                counter.popcount_additions(1);
                Visit { to: Place { state, fresh: true }, read: 1, reports }
            }
            None if from.state == ROOT => {
                Visit { to: Place { state: ROOT, fresh: false }, read: 1, reports }
            }
            None => self.fail(node.failure(0), window, 0, reports, counter),
        }
    }

    #[inline(always)]
    fn visit_path<K: Counter>(
        self,
        from: Place,
        link: u32,
        window: &[u8; WINDOW],
        most: usize,
        counter: &mut K,
    ) -> Visit {
        let node = self.node(from.state);
        let place = (from.state & LOW) as usize;
        let (left, next) = ((link & LOW) as usize - place, link & !LOW);
        counter.comparisons(1);
        let run = node.common(place, window).min(left).min(most);
        counter.transitions(run as u64);
        let leaves = run == left && next != ROOT;
        // The places that the run passed within this node, and the first one if it was not asked before.
        let passed = (2 << (run - usize::from(leaves))) - 1 - u32::from(!from.fresh);
        let reports = (node.path_reports() >> place) & passed;
        if leaves {
            Visit { to: Place { state: next, fresh: true }, read: run, reports }
        } else if run == most {
            let state = from.state + run as u32;
            Visit { to: Place { state, fresh: false }, read: run, reports }
        } else {
            counter.transitions(1);
            self.fail(node.failure(place + run), window, run, reports, counter)
        }
    }

    /// Goes on from the failure state, after `read` bytes of the window. The root reads the next byte at once:
    /// it is where most failures lead.
    #[inline(always)]
    fn fail<K: Counter>(
        self,
        failure: State,
        window: &[u8; WINDOW],
        read: usize,
        reports: u32,
        counter: &mut K,
    ) -> Visit {
        if failure != ROOT {
            return Visit { to: Place { state: failure, fresh: false }, read, reports };
        }
        counter.transitions(1);
        let state = self.root_goto(window[read % WINDOW]);
        Visit { to: Place { state, fresh: true }, read: read + 1, reports }
    }
}

/// One byte at a time, as seams and leads are walked.
impl<const C: usize> Nodes<'_, C> {
    /// The state after a byte, which was folded.
    pub(super) fn step(self, mut state: State, byte: u8) -> State {
        while state != ROOT {
            let node = self.node(state);
            if let Some(to) = self.goto(state, byte) {
                return to;
            }
            state = node.failure((state & LOW) as usize);
        }
        self.root_goto(byte)
    }

    fn goto(self, state: State, byte: u8) -> Option<State> {
        let node = self.node(state);
        let link = node.link();
        if link & LOW == BITMAP {
            return node.child(link, byte);
        }
        let (place, left) = ((state & LOW) as usize, (link & LOW) - (state & LOW));
        let window = [byte; WINDOW];
        if left == 0 || node.common(place, &window) == 0 {
            return None;
        }
        let leaves = left == 1 && link & !LOW != ROOT;
        Some(if leaves { link & !LOW } else { state + 1 })
    }

    /// Whether a state has rules.
    #[inline]
    pub(super) fn reports(self, state: State) -> bool {
        self.node(state).rules((state & LOW) as usize) != 0
    }
}
