//! Chains of headers in ZIP archives, kept between files.
//!
//! Every member of an archive has a local header, and so a file of its own that goes on to the
//! archive's end. Each of them alone takes time linear in the archive: all of them together would
//! take quadratic time.

use std::cell::RefCell;
use std::collections::HashMap;

/// What validating earlier files found out. Offsets are those of the image.
#[derive(Debug, Default)]
pub(super) struct Chains {
    links: RefCell<HashMap<u64, u64>>,
    searched: RefCell<HashMap<u64, u64>>,
}

impl Chains {
    /// Where the chain of headers that begins with this one ends.
    pub(super) fn end_of(&self, header: u64) -> Option<u64> {
        self.links.borrow().get(&header).copied()
    }

    /// Notes that the chain of these headers ends at `end`.
    pub(super) fn link(&self, headers: Vec<u64>, end: u64) {
        self.links.borrow_mut().extend(headers.into_iter().map(|header| (header, end)));
    }

    /// Whether there is no descriptor of the data at `data` before `end`.
    pub(super) fn has_no_descriptor(&self, data: u64, end: u64) -> bool {
        self.searched.borrow().get(&data).is_some_and(|&searched| searched >= end)
    }

    /// Notes that there is none.
    pub(super) fn no_descriptor(&self, data: u64, end: u64) {
        let mut searched = self.searched.borrow_mut();
        let known = searched.entry(data).or_insert(end);
        *known = end.max(*known);
    }
}
