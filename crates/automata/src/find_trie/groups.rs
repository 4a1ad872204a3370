//! [`Groups`]: at which positions a pattern may begin, by the groups of the next three bytes. For
//! sets with patterns that are shorter than a hash needs. A pattern of one or two bytes stands for
//! all groups after it.

use super::prefixes::StartPositions;
use crate::classes::ByteClasses;
use crate::find_states::States;
use crate::trie::ROOT;

/// The number of groups that bytes are in.
const GROUPS: usize = 64;

/// The groups of the first three bytes of all patterns.
#[derive(Debug)]
pub(super) struct Groups {
    /// By the groups of the first two bytes, a bit for each group of the third.
    third: Vec<u64>,
    /// The group of each byte: its class, if there are at most [`GROUPS`].
    group: Box<[u8; 256]>,
}

impl StartPositions for &Groups {
    #[inline(always)]
    fn next(&mut self, haystack: &[u8], at: usize) -> usize {
        at + self.first(haystack.get(at..).unwrap_or_default())
    }
}

impl Groups {
    pub(super) fn new(states: &States<'_>, classes: &ByteClasses) -> Groups {
        let group = Box::new(classes.map().map(|class| class % GROUPS as u8));
        let mut third = vec![0; GROUPS * GROUPS];
        let group_of = |state| usize::from(group[usize::from(states.trie.label(state))]);
        for first in states.children(ROOT) {
            let begin = group_of(first) * GROUPS;
            if states.matched(first).is_some() {
                third[begin..][..GROUPS].fill(!0);
            }
            for second in states.children(first) {
                let third = &mut third[begin + group_of(second)];
                if states.matched(second).is_some() {
                    *third = !0;
                }
                states.children(second).for_each(|state| *third |= 1 << group_of(state));
            }
        }
        Groups { third, group }
    }

    /// The bytes of memory of any set.
    pub(super) const MEMORY: u64 = (8 * GROUPS * GROUPS) as u64;

    /// The first position at which a pattern may begin, or the length. The last two positions may.
    #[inline(always)]
    fn first(&self, haystack: &[u8]) -> usize {
        let may_begin = |bytes: &[u8]| {
            let [a, b, c] = [bytes[0], bytes[1], bytes[2]].map(|b| self.group[usize::from(b)]);
            let pair = usize::from(a) * GROUPS + usize::from(b);
            self.third[pair % (GROUPS * GROUPS)] >> (c % GROUPS as u8) & 1 != 0
        };
        let found = haystack.windows(3).position(may_begin);
        found.unwrap_or(haystack.len().saturating_sub(2))
    }
}
