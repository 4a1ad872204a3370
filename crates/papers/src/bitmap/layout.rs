//! Gives each state a node and each node a place: section 2.4.10.
//!
//! 1. Every state of class BX gets the space of a bitmap node. BL and BO states take only the
//!    start of it, as a low-degree or a path node.
//! 2. Siblings of class LX are packed into these gaps where they fit, the largest families first,
//!    each into the smallest gap that holds it.
//! 3. The OO states that follow a BO state take as much as they can of the gap that is left behind
//!    it.
//! 4. The other LX states get 25 bytes each. An LO state shares them, as an O2 node, with the OO
//!    state that follows it, as in step 2.
//! 5. Families of chains of OO states begin with path nodes of one capacity: the length of the
//!    shortest chain, at most 5. The rest of a chain follows in path nodes of its own.

use super::classify::{Class, Classes, OO, Size, groups, only_child};
use super::node::{LONGEST_PATH, LOW_BYTES, SHORT_PATH, path_bytes};
use fyke_automata::Trie;
use std::cmp::Reverse;
use std::ops::Range;

/// The kind of node that begins with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// None: the state is further down in a path node.
    Inner,
    /// A bitmap node.
    Bitmap,
    /// A low-degree node.
    Low,
    /// A path node of this many states.
    Path(u16),
}

/// The number of nodes of each kind.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Spaces of bitmap nodes.
    pub bitmap: u64,
    /// Spaces of low-degree nodes, including those in gaps.
    pub low: u64,
    /// Those of them that are in gaps.
    pub packed: u64,
    /// OO states in gaps.
    pub absorbed: u64,
    /// Path nodes of 1 to 5 states with space of their own.
    pub short: [u64; SHORT_PATH],
    /// Path nodes of 6 to 256 states.
    pub long: u64,
    /// States of the largest long path node.
    pub longest: u64,
}

/// Where each state and each node goes.
#[derive(Debug)]
pub struct Layout {
    /// The offset of the node of each state.
    pub node: Vec<u32>,
    /// The place of each state in its node.
    pub place: Vec<u8>,
    /// The kind of node that begins with each state.
    pub kind: Vec<NodeKind>,
    /// Bytes of all nodes. If they exceed 2^32, the offsets in `node` are wrong.
    pub bytes: u64,
    /// The number of nodes.
    pub counts: Counts,
}

impl Layout {
    /// Lays out the states of a trie, with bitmap nodes of `bitmap_bytes` bytes.
    pub fn new(trie: &Trie, classes: &Classes, bitmap_bytes: usize) -> Layout {
        let mut planner = Planner {
            trie,
            classes,
            bitmap_bytes: bitmap_bytes as u64,
            chain: chain_lengths(trie, classes),
            out: Layout {
                node: vec![0; trie.len()],
                place: vec![0; trie.len()],
                kind: vec![NodeKind::Inner; trie.len()],
                bytes: 0,
                counts: Counts::default(),
            },
        };
        planner.plan();
        planner.out
    }
}

/// For each OO state, the number of states from it to the end of its chain. 0 for other states.
fn chain_lengths(trie: &Trie, classes: &Classes) -> Vec<u32> {
    let mut chain = vec![0; trie.len()];
    for state in (0..trie.len() as u32).rev().filter(|&s| classes.of(s) == OO) {
        chain[state as usize] =
            1 + only_child(trie, state).map_or(0, |child| chain[child as usize]);
    }
    chain
}

/// Space of a bitmap node that its state does not fill.
struct Gap {
    state: u32,
    /// The state takes the bytes before this one.
    start: u64,
    /// Packed low-degree nodes take the bytes from this one on.
    end: u64,
}

/// Gaps, by the number of low-degree nodes that fit them.
struct Gaps(Vec<Vec<Gap>>);

impl Gaps {
    fn add(&mut self, gap: Gap) {
        let slots = (gap.end - gap.start) as usize / LOW_BYTES;
        self.0[slots].push(gap);
    }

    /// The smallest gap for `slots` nodes.
    fn take(&mut self, slots: usize) -> Option<Gap> {
        self.0.get_mut(slots..)?.iter_mut().find_map(Vec::pop)
    }
}

struct Planner<'a> {
    trie: &'a Trie,
    classes: &'a Classes,
    bitmap_bytes: u64,
    chain: Vec<u32>,
    out: Layout,
}

impl<'a> Planner<'a> {
    fn plan(&mut self) {
        let mut done = vec![false; self.trie.len()];
        self.place_root(&mut done);
        let mut gaps = self.place_bitmaps();
        self.pack(&mut gaps, &mut done);
        gaps.0.into_iter().flatten().for_each(|gap| self.absorb(gap));
        self.place_low(&done);
        self.place_chains(&done);
    }

    /// The groups of siblings whose largest needs this size.
    fn families(&self, size: Size) -> impl Iterator<Item = Range<u32>> + use<'a> {
        let classes = self.classes;
        groups(self.trie).filter(move |group| classes.of(group.start).group == size)
    }

    fn allocate(&mut self, bytes: u64) -> u64 {
        let at = self.out.bytes;
        self.out.bytes += bytes;
        at
    }

    /// Puts the root first in memory, so that no pointer to a child is 0.
    fn place_root(&mut self, done: &mut [bool]) {
        let root = groups(self.trie).next().expect("there is a root");
        match self.classes.of(root.start).group {
            Size::B => return,
            Size::L => self.allocate_low(root),
            Size::O => self.follow(Some(0)),
        }
        done[0] = true;
    }

    /// Step 1.
    fn place_bitmaps(&mut self) -> Gaps {
        let mut gaps = Vec::new();
        for state in self.families(Size::B).flatten() {
            let at = self.allocate(self.bitmap_bytes);
            self.out.counts.bitmap += 1;
            let end = at + self.bitmap_bytes;
            match self.classes.of(state).own {
                Size::B => self.put(state, at, NodeKind::Bitmap),
                Size::L => {
                    self.put(state, at, NodeKind::Low);
                    gaps.push(Gap { state, start: at + LOW_BYTES as u64, end });
                }
                Size::O => gaps.push(Gap { state, start: at + path_bytes(1) as u64, end }),
            }
        }
        self.sort_gaps(gaps)
    }

    /// Sorts the gaps. Of one size, those that step 3 uses less stand last in the list and are
    /// taken first.
    fn sort_gaps(&self, mut list: Vec<Gap>) -> Gaps {
        let most = self.bitmap_bytes as usize / LOW_BYTES;
        let mut gaps = Gaps((0..=most).map(|_| Vec::new()).collect());
        list.sort_by_key(|gap| Reverse(self.followers(gap.state)));
        list.into_iter().for_each(|gap| gaps.add(gap));
        gaps
    }

    /// The number of OO states in the chain after a state.
    fn followers(&self, state: u32) -> usize {
        self.next_in_chain(state).map_or(0, |child| self.chain[child as usize] as usize)
    }

    /// Step 2.
    fn pack(&mut self, gaps: &mut Gaps, done: &mut [bool]) {
        for slots in (1..gaps.0.len()).rev() {
            for group in self.families(Size::L).filter(|group| group.len() == slots) {
                if done[group.start as usize] {
                    continue;
                }
                let Some(mut gap) = gaps.take(slots) else { break };
                done[group.start as usize] = true;
                gap.end -= (slots * LOW_BYTES) as u64;
                self.put_low(group, gap.end);
                self.out.counts.packed += slots as u64;
                gaps.add(gap);
            }
        }
    }

    /// Step 3.
    fn absorb(&mut self, gap: Gap) {
        if self.classes.of(gap.state).own != Size::O {
            return;
        }
        let at = gap.start - path_bytes(1) as u64;
        let fits = |states: &usize| path_bytes(*states) as u64 <= gap.end - at;
        let states = (1..=1 + self.followers(gap.state)).take_while(fits).last().unwrap_or(1);
        self.out.counts.absorbed += states as u64 - 1;
        let rest = self.put_path(gap.state, at, states);
        self.follow(rest);
    }

    /// Step 4.
    fn place_low(&mut self, done: &[bool]) {
        for group in self.families(Size::L) {
            if !done[group.start as usize] {
                self.allocate_low(group);
            }
        }
    }

    fn allocate_low(&mut self, group: Range<u32>) {
        let at = self.allocate((group.len() * LOW_BYTES) as u64);
        self.put_low(group, at);
    }

    /// Puts LX siblings side by side. An LO state is an O2 node with the OO state that follows it,
    /// or an O1 node.
    fn put_low(&mut self, group: Range<u32>, at: u64) {
        self.out.counts.low += group.len() as u64;
        for (state, at) in group.zip((at..).step_by(LOW_BYTES)) {
            if self.classes.of(state).own == Size::L {
                self.put(state, at, NodeKind::Low);
            } else {
                let states = 1 + usize::from(self.next_in_chain(state).is_some());
                let rest = self.put_path(state, at, states);
                self.follow(rest);
            }
        }
    }

    /// Step 5.
    fn place_chains(&mut self, done: &[bool]) {
        for group in self.families(Size::O) {
            // A single child was placed with its parent.
            let only = group.len() == 1;
            if !only && !done[group.start as usize] {
                self.place_family(group);
            }
        }
    }

    fn place_family(&mut self, group: Range<u32>) {
        let shortest = group.clone().map(|state| self.chain[state as usize]).min().unwrap_or(1);
        let states = SHORT_PATH.min(shortest as usize);
        let bytes = path_bytes(states);
        let at = self.allocate((group.len() * bytes) as u64);
        for (state, at) in group.zip((at..).step_by(bytes)) {
            self.out.counts.short[states - 1] += 1;
            let rest = self.put_path(state, at, states);
            self.follow(rest);
        }
    }

    /// Puts the rest of a chain into path nodes of its own.
    fn follow(&mut self, mut rest: Option<u32>) {
        while let Some(state) = rest {
            let states = LONGEST_PATH.min(self.chain[state as usize] as usize);
            let at = self.allocate(path_bytes(states) as u64);
            if states <= SHORT_PATH {
                self.out.counts.short[states - 1] += 1;
            } else {
                self.out.counts.long += 1;
                self.out.counts.longest = self.out.counts.longest.max(states as u64);
            }
            rest = self.put_path(state, at, states);
        }
    }

    fn put(&mut self, state: u32, at: u64, kind: NodeKind) {
        self.out.node[state as usize] = at as u32;
        self.out.kind[state as usize] = kind;
    }

    /// Puts a state and its followers, `states` in all, into a path node. Returns the OO state
    /// after them.
    fn put_path(&mut self, first: u32, at: u64, states: usize) -> Option<u32> {
        self.put(first, at, NodeKind::Path(states as u16));
        let mut state = first;
        for place in 1..states {
            state = self.next_in_chain(state).expect("the caller counted the states of the chain");
            self.out.node[state as usize] = at as u32;
            self.out.place[state as usize] = place as u8;
        }
        self.next_in_chain(state)
    }

    /// The only child of a state, if it is OO.
    fn next_in_chain(&self, state: u32) -> Option<u32> {
        only_child(self.trie, state).filter(|&child| self.classes.of(child) == OO)
    }
}

/// The type of node that siblings share.
pub fn family_type(class: Class, first: NodeKind) -> u8 {
    use super::node::{BITMAP_NODE, LOW_NODE, path_type};
    match (class.group, first) {
        (Size::B, _) => BITMAP_NODE,
        (Size::L, _) => LOW_NODE,
        (Size::O, NodeKind::Path(states)) => path_type(usize::from(states)),
        (Size::O, _) => unreachable!("chains are in path nodes"),
    }
}
