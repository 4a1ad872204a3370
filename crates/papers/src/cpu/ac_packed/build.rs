//! Compile time: decides which states share a node, and where the nodes stand.

use super::nodes::{
    BITMAP, BITS, FAILURE, ROOT_TABLE, SUMMARIES, State, path_bytes_at, path_failure_at, rules_at,
    size,
};
use crate::build::Arena;
use crate::build::lists::RuleLists;
use fyke_automata::{Trie, trie};
use fyke_core::{Options, PatternSet, Refusal};

/// The largest packing factor.
const MOST: usize = 12;

/// Bytes per state while nodes are placed, beside the trie: its place, its list, its entry.
const BUILD_BYTES_PER_STATE: u64 = 4 + 4 + 4;

/// Bytes of the word after the lists that [`first_of`](crate::build::lists::first_of) reads.
const LIST_PAD: usize = 4;

/// The built automaton in one run of bytes: nodes, the root's table, rule lists.
pub(super) struct Built {
    pub(super) arena: Arena,
    pub(super) counts: Counts,
    /// The offset of the root's table, which is the end of the nodes.
    pub(super) root_table: usize,
    /// The offset of the rule lists.
    pub(super) lists: usize,
}

/// The numbers of states and nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) states: u64,
    pub(super) bitmap_nodes: u64,
    pub(super) path_nodes: u64,
}

/// Upper bound of the bytes that the arena of a set takes.
///
/// For p patterns, at most p states have several children. A path begins at a child of one of
/// these or of the root, and ends at another of them or at the end of a pattern. So there are at
/// most `2p + 1` paths, and a path of k states takes at most `k / pack + 1` nodes.
pub(super) fn arena_bound(states: u64, pack: usize, set: &PatternSet) -> u64 {
    let nodes = states.min(3 * set.len() as u64 + 2 + states / pack as u64);
    size(pack) as u64 * nodes + (ROOT_TABLE + LIST_PAD) as u64 + RuleLists::memory_for(set.len())
}

/// Builds the automaton of a set.
///
/// # Errors
/// It takes more memory than the limit, or more than 32-bit pointers can address.
pub(super) fn compile(set: &PatternSet, pack: usize, opt: &Options) -> Result<Built, Refusal> {
    let states = Trie::count_states(set);
    let need = arena_bound(states, pack, set);
    let while_built = Trie::memory_for(states, set) + BUILD_BYTES_PER_STATE * states;
    opt.check_memory(need.saturating_add(while_built))?;
    let trie = Trie::new(set)?;
    let placed = Placed::new(&trie, pack)?;
    let lists = RuleLists::new(&trie)?;
    Ok(fill(&trie, &placed, &lists))
}

/// The place of every state.
struct Placed {
    pack: usize,
    /// The first state of each node, in order of the nodes.
    entries: Vec<u32>,
    /// The place of each state.
    places: Vec<State>,
}

impl Placed {
    /// Visits the nodes in order of their addresses and appends those that each leads to. So the
    /// children of a bitmap node are neighbors, and nodes near the root, which are visited most,
    /// stay together.
    fn new(trie: &Trie, pack: usize) -> Result<Placed, Refusal> {
        let mut placed = Placed { pack, entries: Vec::new(), places: vec![0; trie.len()] };
        placed.append(trie::ROOT)?;
        let mut node = 0;
        while let Some(&entry) = placed.entries.get(node) {
            placed.append_after(trie, entry)?;
            node += 1;
        }
        Ok(placed)
    }

    fn append(&mut self, entry: u32) -> Result<(), Refusal> {
        let at = self.entries.len() as u64 * size(self.pack) as u64;
        let have = u64::from(u32::MAX) - size(self.pack) as u64;
        if at > have {
            return Err(Refusal::TooBig { what: "bytes of nodes", need: at, have });
        }
        self.places[entry as usize] = at as State;
        self.entries.push(entry);
        Ok(())
    }

    fn append_after(&mut self, trie: &Trie, entry: u32) -> Result<(), Refusal> {
        if branches(trie, entry) {
            return trie.children(entry).try_for_each(|child| self.append(child));
        }
        let path = Path::new(trie, entry, self.pack);
        let address = self.places[entry as usize];
        for (place, &state) in path.states().iter().enumerate() {
            self.places[state as usize] = address + place as State;
        }
        path.next.map_or(Ok(()), |next| self.append(next))
    }
}

/// Whether a state gets a bitmap node: it has several children, or is the root.
fn branches(trie: &Trie, state: u32) -> bool {
    state == trie::ROOT || trie.children(state).len() > 1
}

/// States that share a path node. Each state but the last has the next one as its only child.
struct Path {
    states: [u32; MOST],
    len: usize,
    /// The only child of the last state, which begins another node.
    next: Option<u32>,
}

impl Path {
    fn new(trie: &Trie, entry: u32, pack: usize) -> Path {
        let mut path = Path { states: [entry; MOST], len: 1, next: None };
        let only_child = |state: u32| trie.children(state).next();
        path.next = only_child(entry);
        while let Some(state) = path.next.filter(|&s| path.len < pack && !branches(trie, s)) {
            path.states[path.len] = state;
            path.len += 1;
            path.next = only_child(state);
        }
        path
    }

    fn states(&self) -> &[u32] {
        &self.states[..self.len]
    }
}

/// Writes all nodes, the root's table and the lists.
fn fill(trie: &Trie, placed: &Placed, lists: &RuleLists) -> Built {
    let node_bytes = placed.entries.len() * size(placed.pack);
    let mut arena = Arena::zeroed(node_bytes);
    let mut counts = Counts { states: trie.len() as u64, ..Counts::default() };
    for &entry in &placed.entries {
        if branches(trie, entry) {
            counts.bitmap_nodes += 1;
            fill_bitmap(&mut arena, trie, placed, lists, entry);
        } else {
            counts.path_nodes += 1;
            fill_path(&mut arena, trie, placed, lists, entry);
        }
    }
    let root_table = arena.grow(ROOT_TABLE);
    for byte in 0..=255 {
        let state = trie.next(trie::ROOT, trie.fold().byte(byte));
        let to = placed.places[state as usize];
        put(&mut arena, root_table + 4 * usize::from(byte), to);
    }
    let lists = arena.append(&lists.bytes);
    arena.grow(LIST_PAD);
    Built { arena, counts, root_table, lists }
}

fn put(arena: &mut Arena, at: usize, number: u32) {
    arena.put(at, &number.to_le_bytes());
}

fn fill_bitmap(arena: &mut Arena, trie: &Trie, placed: &Placed, lists: &RuleLists, state: u32) {
    let at = placed.places[state as usize] as usize;
    let first = trie.children(state).next().map_or(0, |child| placed.places[child as usize]);
    put(arena, at, first | BITMAP);
    put(arena, at + FAILURE, placed.places[trie.fail(state) as usize]);
    put(arena, at + rules_at(0), lists.heads[state as usize]);
    let labels = trie.child_labels(state);
    for word in 0..4 {
        let below = labels.partition_point(|&label| usize::from(label) < 64 * word);
        arena.put(at + SUMMARIES + word, &[below as u8]);
    }
    for &label in labels {
        arena.set_bit(at + BITS, usize::from(label));
    }
}

fn fill_path(arena: &mut Arena, trie: &Trie, placed: &Placed, lists: &RuleLists, entry: u32) {
    let at = placed.places[entry as usize] as usize;
    let path = Path::new(trie, entry, placed.pack);
    let along = path.states()[1..].iter().chain(&path.next);
    for (place, &state) in along.enumerate() {
        arena.put(at + path_bytes_at(placed.pack) + place, &[trie.label(state)]);
    }
    let moves = path.len - 1 + usize::from(path.next.is_some());
    let next = path.next.map_or(0, |next| placed.places[next as usize]);
    put(arena, at, next | moves as u32);
    for (place, &state) in path.states().iter().enumerate() {
        put(
            arena,
            at + path_failure_at(placed.pack, place),
            placed.places[trie.fail(state) as usize],
        );
        put(arena, at + rules_at(place), lists.heads[state as usize]);
    }
}
