//! Writes the nodes of a layout.

use super::classify::{Classes, Size};
use super::layout::{Layout, NodeKind, family_type};
use super::node::{BITMAP_NODE, LOW_NODE, Path, Target, Writer, bitmap_bytes};
use super::summary::Summary;
use super::walk::BitmapAutomaton;
use crate::build::Arena;
use crate::build::lists::RuleLists;
use fyke_automata::Trie;
use fyke_core::{Info, Options, PatternSet, Refusal};

/// Bytes that a 4-byte pointer can address.
const REACH: u64 = 1 << 32;

/// Bytes per state while the layout is built: class, chain length, node, place, kind, done, rule
/// list.
const LAYOUT_BYTES: u64 = 2 + 4 + 4 + 1 + 4 + 1 + 4;

/// Bytes it takes to lay out a set, before its arena exists. Once the layout is known, the size of
/// the arena is checked, too.
pub fn memory_to_plan(set: &PatternSet) -> u64 {
    let states = Trie::count_states(set);
    Trie::memory_for(states, set) + states * LAYOUT_BYTES
}

/// Compresses the automaton of a set.
///
/// # Errors
/// It takes more memory than the limit, or more bytes of nodes than pointers can address.
pub(super) fn compress<S: Summary>(
    info: &'static Info,
    set: &PatternSet,
    opt: &Options,
) -> Result<BitmapAutomaton<S>, Refusal> {
    opt.check_memory(memory_to_plan(set))?;
    let trie = Trie::new(set)?;
    let classes = Classes::new(&trie);
    let layout = Layout::new(&trie, &classes, bitmap_bytes::<S>());
    if layout.bytes > REACH {
        return Err(Refusal::TooBig { what: "bytes of nodes", need: layout.bytes, have: REACH });
    }
    let rules = RuleLists::new(&trie)?;
    let summary = S::new();
    let confirm = set.len() as u64;
    let arena = layout.bytes + rules.bytes.len() as u64;
    opt.check_memory(arena + summary.table_bytes() as u64 + confirm)?;
    let mut builder = Builder {
        trie: &trie,
        classes: &classes,
        layout: &layout,
        rules: &rules,
        arena: Arena::zeroed(layout.bytes as usize),
    };
    for state in 0..trie.len() as u32 {
        builder.write::<S>(state);
    }
    let mut arena = builder.arena;
    let lists = arena.append(&rules.bytes);
    let states = trie.len() as u64;
    let stats = classes.stats();
    Ok(BitmapAutomaton {
        info,
        fold: trie.fold(),
        arena,
        lists,
        summary,
        states,
        classes: stats,
        counts: layout.counts,
    })
}

struct Builder<'a> {
    trie: &'a Trie,
    classes: &'a Classes,
    layout: &'a Layout,
    rules: &'a RuleLists,
    arena: Arena,
}

impl Builder<'_> {
    /// Writes the node that begins with a state, if one does.
    fn write<S: Summary>(&mut self, state: u32) {
        let labels = self.trie.child_labels(state);
        let kind = match self.layout.kind[state as usize] {
            NodeKind::Inner => return,
            NodeKind::Path(states) => return self.write_path(state, usize::from(states)),
            NodeKind::Bitmap => BITMAP_NODE,
            NodeKind::Low => LOW_NODE,
        };
        let (rules, fail, child) =
            (self.rules_of(state), self.fail(state), self.first_child(state));
        let mut node = self.writer(state);
        node.header(kind, rules, fail, child);
        if kind == BITMAP_NODE { node.bitmap::<S>(labels) } else { node.chars(labels) }
    }

    fn write_path(&mut self, first: u32, states: usize) {
        let path = Path::new(states);
        let mut state = first;
        for place in 0..states {
            let label = self.trie.child_labels(state).first().copied().unwrap_or(0);
            let (rules, fail) = (self.rules_of(state), self.fail(state));
            self.writer(first).path_state(path, place, label, rules, fail);
            if place + 1 < states {
                state = self.trie.children(state).start;
            }
        }
        let next = self.first_child(state);
        self.writer(first).path(path, next);
    }

    fn writer(&mut self, state: u32) -> Writer<'_> {
        Writer { arena: &mut self.arena, at: self.layout.node[state as usize] as usize }
    }

    fn rules_of(&self, state: u32) -> u32 {
        self.rules.heads[state as usize]
    }

    fn fail(&self, state: u32) -> Target {
        let fail = self.trie.fail(state) as usize;
        (self.layout.node[fail], self.layout.place[fail])
    }

    /// The node of the first child of a state, and the type of its children. 0 stands for no
    /// child, because the root is no child.
    fn first_child(&self, state: u32) -> (u32, u8) {
        let children = self.trie.children(state);
        if children.is_empty() {
            return (0, 0);
        }
        let (first, place) = (children.start as usize, children.start);
        let class = self.classes.of(place);
        debug_assert!(class.group != Size::O || self.layout.kind[first] != NodeKind::Inner);
        (self.layout.node[first], family_type(class, self.layout.kind[first]))
    }
}
