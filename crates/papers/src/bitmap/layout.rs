//! Which node each state goes to, and where that lies: 2.4.10.
//!
//! 1. Every state of class BX gets room for a bitmap node. Those that are BL or BO take only the start of
//!    it, as a low-degree or a path node.
//! 2. Siblings of class LX that fit are packed into what is left of such room, the largest families first,
//!    each into the least room that takes it.
//! 3. Of what is still left in the room of a BO state, the OO states that follow it take as much as they can.
//! 4. The other LX states get 25 bytes each. An LO state shares them, as an O2 node, with the OO state that
//!    follows it, here as in step 2.
//! 5. Families of chains of OO states begin with path nodes of the same capacity, that of the shortest chain
//!    or 5. What is left of a chain follows in a path node of its own.

use super::classify::{Class, Classes, OO, Size, groups, only_child};
use super::node::{LONGEST_PATH, LOW_BYTES, SHORT_PATH, path_bytes};
use fyke_automata::Trie;
use std::cmp::Reverse;
use std::ops::Range;

/// The kind of node that begins with a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// None: it stands further down in a path node.
    Inner,
    /// A bitmap node.
    Bitmap,
    /// A low-degree node.
    Low,
    /// A path node of so many states.
    Path(u16),
}

/// How many nodes of each kind there are.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Rooms of bitmap nodes.
    pub bitmap: u64,
    /// Rooms of low-degree nodes, those in rooms of bitmap nodes among them.
    pub low: u64,
    /// Of these, how many are in rooms of bitmap nodes.
    pub packed: u64,
    /// OO states in rooms of bitmap nodes.
    pub absorbed: u64,
    /// Path nodes of 1 to 5 states with room of their own.
    pub short: [u64; SHORT_PATH],
    /// Path nodes of 6 to 256 states.
    pub long: u64,
    /// States of the largest of these.
    pub longest: u64,
}

/// Where everything goes.
#[derive(Debug)]
pub struct Layout {
    /// The byte that each state's node begins with.
    pub node: Vec<u32>,
    /// Its place in the node.
    pub place: Vec<u8>,
    /// The node that begins with it.
    pub shape: Vec<Shape>,
    /// Bytes of all nodes. If this is more than 2^32, `node` means nothing.
    pub bytes: u64,
    /// How many nodes there are.
    pub counts: Counts,
}

impl Layout {
    /// Lays out the states of a trie, in bitmap nodes of so many bytes.
    pub fn new(trie: &Trie, classes: &Classes, bitmap_bytes: usize) -> Layout {
        let mut planner = Planner {
            trie,
            classes,
            bitmap_bytes: bitmap_bytes as u64,
            chain: chain_lengths(trie, classes),
            out: Layout {
                node: vec![0; trie.len()],
                place: vec![0; trie.len()],
                shape: vec![Shape::Inner; trie.len()],
                bytes: 0,
                counts: Counts::default(),
            },
        };
        planner.plan();
        planner.out
    }
}

/// For each OO state, how many OO states there are from it to the end of its chain; 0 for others.
fn chain_lengths(trie: &Trie, classes: &Classes) -> Vec<u32> {
    let mut chain = vec![0; trie.len()];
    for state in (0..trie.len() as u32).rev().filter(|&s| classes.of(s) == OO) {
        chain[state as usize] =
            1 + only_child(trie, state).map_or(0, |child| chain[child as usize]);
    }
    chain
}

/// Room of a bitmap node that its state has not filled.
struct Room {
    state: u32,
    /// The state takes the bytes up to here.
    start: u64,
    /// Low-degree nodes were packed from here on.
    end: u64,
}

/// Rooms by the number of low-degree nodes that they take.
struct Rooms(Vec<Vec<Room>>);

impl Rooms {
    fn add(&mut self, room: Room) {
        let slots = (room.end - room.start) as usize / LOW_BYTES;
        self.0[slots].push(room);
    }

    /// The least room for so many nodes.
    fn take(&mut self, slots: usize) -> Option<Room> {
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
        let mut rooms = self.place_bitmaps();
        self.pack(&mut rooms, &mut done);
        rooms.0.into_iter().flatten().for_each(|room| self.absorb(room));
        self.place_low(&done);
        self.place_chains(&done);
    }

    /// The siblings of which the largest has this size.
    fn families(&self, size: Size) -> impl Iterator<Item = Range<u32>> + use<'a> {
        let classes = self.classes;
        groups(self.trie).filter(move |group| classes.of(group.start).group == size)
    }

    fn allocate(&mut self, bytes: u64) -> u64 {
        let at = self.out.bytes;
        self.out.bytes += bytes;
        at
    }

    /// The root comes first in memory, so that no pointer to a child is 0.
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
    fn place_bitmaps(&mut self) -> Rooms {
        let mut rooms = Vec::new();
        for state in self.families(Size::B).flatten() {
            let at = self.allocate(self.bitmap_bytes);
            self.out.counts.bitmap += 1;
            let end = at + self.bitmap_bytes;
            match self.classes.of(state).own {
                Size::B => self.put(state, at, Shape::Bitmap),
                Size::L => {
                    self.put(state, at, Shape::Low);
                    rooms.push(Room { state, start: at + LOW_BYTES as u64, end });
                }
                Size::O => rooms.push(Room { state, start: at + path_bytes(1) as u64, end }),
            }
        }
        self.sort_rooms(rooms)
    }

    /// Among rooms of a size, those that step 3 has less use for are taken first: last in the list.
    fn sort_rooms(&self, mut list: Vec<Room>) -> Rooms {
        let most = self.bitmap_bytes as usize / LOW_BYTES;
        let mut rooms = Rooms((0..=most).map(|_| Vec::new()).collect());
        list.sort_by_key(|room| Reverse(self.followers(room.state)));
        list.into_iter().for_each(|room| rooms.add(room));
        rooms
    }

    /// How many OO states follow a state one by one.
    fn followers(&self, state: u32) -> usize {
        self.next_in_chain(state).map_or(0, |child| self.chain[child as usize] as usize)
    }

    /// Step 2.
    fn pack(&mut self, rooms: &mut Rooms, done: &mut [bool]) {
        for slots in (1..rooms.0.len()).rev() {
            for group in self.families(Size::L).filter(|group| group.len() == slots) {
                if done[group.start as usize] {
                    continue;
                }
                let Some(mut room) = rooms.take(slots) else { break };
                done[group.start as usize] = true;
                room.end -= (slots * LOW_BYTES) as u64;
                self.put_low(group, room.end);
                self.out.counts.packed += slots as u64;
                rooms.add(room);
            }
        }
    }

    /// Step 3.
    fn absorb(&mut self, room: Room) {
        if self.classes.of(room.state).own != Size::O {
            return;
        }
        let at = room.start - path_bytes(1) as u64;
        let fits = |states: &usize| path_bytes(*states) as u64 <= room.end - at;
        let states = (1..=1 + self.followers(room.state)).take_while(fits).last().unwrap_or(1);
        self.out.counts.absorbed += states as u64 - 1;
        let rest = self.put_path(room.state, at, states);
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

    /// LX siblings side by side. An LO state is an O2 node with the OO state that follows, or an O1 node.
    fn put_low(&mut self, group: Range<u32>, at: u64) {
        self.out.counts.low += group.len() as u64;
        for (state, at) in group.zip((at..).step_by(LOW_BYTES)) {
            if self.classes.of(state).own == Size::L {
                self.put(state, at, Shape::Low);
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
            // A single child was placed with what it follows.
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

    fn put(&mut self, state: u32, at: u64, shape: Shape) {
        self.out.node[state as usize] = at as u32;
        self.out.shape[state as usize] = shape;
    }

    /// Puts a state and those that follow it into a path node. Returns the OO state after them.
    fn put_path(&mut self, first: u32, at: u64, states: usize) -> Option<u32> {
        self.put(first, at, Shape::Path(states as u16));
        let mut state = first;
        for place in 1..states {
            state = self.next_in_chain(state).expect("the chain is as long as that");
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

/// The type of the nodes that some siblings have in common.
pub fn family_type(class: Class, first: Shape) -> u8 {
    use super::node::{BITMAP_NODE, LOW_NODE, path_type};
    match (class.group, first) {
        (Size::B, _) => BITMAP_NODE,
        (Size::L, _) => LOW_NODE,
        (Size::O, Shape::Path(states)) => path_type(usize::from(states)),
        (Size::O, _) => unreachable!("chains are in path nodes"),
    }
}
