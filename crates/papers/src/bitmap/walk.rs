//! Walks over the nodes and counts their memory accesses.

use super::accesses::{self, MinMax};
use super::layout::Counts;
use super::node::{
    self, BITMAP_NODE, FIRST_CHILD, LOW_BYTES, LOW_NODE, Low, Path, RULES, SHORT_PATH, bitmap_bytes,
};
use super::summary::{self, Summary};
use crate::build::{Arena, lists};
use crate::cost::{ACCESS_WIDTHS, Accesses, CostCounter};
use fyke_automata::CaseFold;
use fyke_automata::walk::{Automaton, Step};
use fyke_core::{Footprint, Info};
use std::ops::Range;

/// A state is the offset of its node in the low 32 bits and its place in the node above them.
const PLACE: u32 = 32;
const ROOT: u64 = 0;

/// The nodes, the root first, and after them the rule lists.
pub(super) struct BitmapAutomaton<S> {
    pub(super) info: &'static Info,
    pub(super) fold: CaseFold,
    pub(super) arena: Arena,
    /// Where the rule lists begin.
    pub(super) lists: usize,
    pub(super) summary: S,
    pub(super) states: u64,
    pub(super) classes: Vec<(String, u64)>,
    pub(super) counts: Counts,
}

fn state_of((node, place): node::Target) -> u64 {
    u64::from(node) | u64::from(place) << PLACE
}

impl<S: Summary> BitmapAutomaton<S> {
    /// The distance between siblings, by the type of the first.
    const STRIDES: [u32; 8] = {
        let mut strides = [0; 8];
        let mut kind = 0;
        while kind < strides.len() {
            strides[kind] = node::stride::<S>(kind as u8);
            kind += 1;
        }
        strides
    };

    #[inline(always)]
    fn split(state: u64) -> (usize, usize) {
        (state as u32 as usize, (state >> PLACE) as usize)
    }

    #[inline(always)]
    fn child(node: &[u8], rank: u32) -> u64 {
        let stride = Self::STRIDES[usize::from(node::child_type_of(node[0]))];
        u64::from(node::pointer(node, FIRST_CHILD) + rank * stride)
    }

    /// The target of a byte from a bitmap node, and whether that is a child or the failure state.
    #[inline(always)]
    fn leave_bitmap<C: CostCounter>(&self, at: usize, byte: u8, counter: &mut C) -> (u64, bool) {
        let node = self.arena.slice(at, bitmap_bytes::<S>());
        let q = usize::from(byte);
        let is_match = summary::bit(node, q);
        counter.accesses(|| bitmap_accesses::<S>(q, is_match));
        if !is_match {
            return (state_of(node::fail_of(node)), false);
        }
        (Self::child(node, self.summary.rank(node, q, counter)), true)
    }

    /// The same for a low-degree node.
    #[inline(always)]
    fn leave_low<C: CostCounter>(&self, at: usize, byte: u8, counter: &mut C) -> (u64, bool) {
        let node = self.arena.slice(at, LOW_BYTES).try_into().expect("as long as asked for");
        let (rank, compared) = Low(node).search(byte);
        counter.comparisons(compared as u64);
        counter.accesses(|| low_accesses(compared, rank.is_some()));
        match rank {
            Some(rank) => (Self::child(node, rank), true),
            None => (state_of(node::fail_of(node)), false),
        }
    }

    /// The same for a state of a path node. `entered_here` says that a failure transition led to
    /// the state.
    #[inline(always)]
    fn leave_path<C: CostCounter>(
        &self,
        path: Path,
        state: u64,
        byte: u8,
        entered_here: bool,
        counter: &mut C,
    ) -> (u64, bool) {
        let (at, place) = Self::split(state);
        let node = self.arena.tail(at);
        let last = place + 1 == path.states;
        let next =
            if last { u64::from(node::pointer(node, path.next())) } else { state + (1 << PLACE) };
        let is_match = node[path.char(place)] == byte && next != 0;
        counter.comparisons(1);
        counter.accesses(|| {
            path_accesses(path, if entered_here { place } else { 0 }, place, is_match)
        });
        if is_match {
            return (next, true);
        }
        let fail = path.fail(place);
        (state_of((node::pointer(node, fail), node[fail + node::POINTER])), false)
    }

    #[inline(always)]
    fn path(&self, at: usize, kind: u8) -> Path {
        // The byte exists even for the last node, because the lists follow.
        Path::read(kind, self.arena.u8(at + 1))
    }

    /// The pointer to the rule list of a state.
    #[inline(always)]
    fn rules(&self, state: u64) -> u32 {
        let (at, place) = Self::split(state);
        let field = match node::type_of(self.arena.u8(at)) {
            BITMAP_NODE | LOW_NODE => RULES,
            path => self.path(at, path).rules(place),
        };
        self.arena.u32(at + field)
    }

    fn bytes_of_tables(&self) -> u64 {
        self.summary.table_bytes() as u64
    }
}

impl<S: Summary> Automaton for BitmapAutomaton<S> {
    fn info(&self) -> &'static Info {
        self.info
    }

    fn root(&self) -> u64 {
        ROOT
    }

    #[inline(always)]
    fn is_output(&self, state: u64) -> bool {
        self.rules(state) != lists::NO_LIST
    }

    fn outputs(&self, state: u64, each: impl FnMut(u32)) {
        lists::each_of(self.arena.tail(self.lists), self.rules(state), each);
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.arena.len() as u64 + self.bytes_of_tables(), device: 0 }
    }

    fn stats(&self) -> Vec<(String, u64)> {
        let counts = &self.counts;
        let (nodes, arena) = (self.lists as u64, self.arena.len() as u64);
        let mut stats = vec![
            ("states".to_owned(), self.states),
            ("B nodes".to_owned(), counts.bitmap),
            ("L nodes".to_owned(), counts.low),
        ];
        let short = counts.short.iter().enumerate();
        stats.extend(short.map(|(i, &count)| (format!("O{} nodes", i + 1), count)));
        let rest = [
            ("Ol nodes", counts.short.iter().sum()),
            ("O nodes", counts.long),
            ("largest O", counts.longest),
            ("packed L nodes", counts.packed),
            ("O states in B nodes", counts.absorbed),
            ("node bytes", nodes),
            ("rule list bytes", arena - nodes),
            ("table bytes", self.bytes_of_tables()),
            ("arena bytes", arena),
        ];
        stats.extend(rest.map(|(name, count)| (name.to_owned(), count)));
        stats.extend(self.classes.iter().cloned());
        stats.extend(access_rows::<S>());
        stats
    }

    fn describe(&self) -> String {
        let Counts { bitmap, low, short, long, .. } = &self.counts;
        let paths = short.iter().sum::<u64>() + long;
        let states = self.states;
        format!("{states} states in {bitmap} bitmap, {low} low-degree and {paths} path nodes")
    }
}

impl<S: Summary, C: CostCounter> Step<C> for BitmapAutomaton<S> {
    #[inline(always)]
    fn step(&self, state: u64, byte: u8, counter: &mut C) -> u64 {
        let byte = self.fold.byte(byte);
        let mut state = state;
        let mut entered_here = false;
        loop {
            let (at, _) = Self::split(state);
            let (to, is_match) = match node::type_of(self.arena.u8(at)) {
                BITMAP_NODE => self.leave_bitmap(at, byte, counter),
                LOW_NODE => self.leave_low(at, byte, counter),
                kind => self.leave_path(self.path(at, kind), state, byte, entered_here, counter),
            };
            counter.transitions(1);
            if is_match || state == ROOT {
                return to;
            }
            state = to;
            entered_here = true;
        }
    }
}

fn count(fields: &[Range<usize>]) -> Accesses {
    ACCESS_WIDTHS.map(|w| accesses::blocks(fields.iter().cloned(), w))
}

fn bitmap_accesses<S: Summary>(q: usize, is_match: bool) -> Accesses {
    let mut fields = node::bitmap_reads(q, is_match).to_vec();
    if is_match {
        // The first range covers the summaries before the rule list.
        let late = S::reads(q).into_iter().filter(|&byte| byte >= RULES);
        fields.extend(late.map(|byte| byte..byte + 1));
    }
    count(&fields)
}

fn low_accesses(compared: usize, is_match: bool) -> Accesses {
    let fields = node::low_reads(compared, is_match);
    let fields: Vec<_> = fields.into_iter().filter(|f| !f.is_empty()).collect();
    count(&fields)
}

/// The accesses that the state at `place` adds to a visit that began at `first`.
fn path_accesses(path: Path, first: usize, place: usize, is_match: bool) -> Accesses {
    let mut now = path.reads(first, place + 1).to_vec();
    if !is_match {
        now.push(path.fail_field(place));
    } else if place + 1 == path.states {
        now.push(path.next()..path.next() + node::POINTER);
    }
    let before = if place > first { path.reads(first, place).to_vec() } else { Vec::new() };
    let (now, before) = (count(&now), count(&before));
    std::array::from_fn(|w| now[w] - before[w])
}

/// The rows of tables 2-3 and 2-4 for these layouts.
fn access_rows<S: Summary>() -> Vec<(String, u64)> {
    let bitmap = |is_match| MinMax::over((0..256).map(|q| bitmap_accesses::<S>(q, is_match)));
    let low = |is_match| MinMax::over((1..=8).map(|compared| low_accesses(compared, is_match)));
    let mut rows = accesses::rows("B", bitmap(true), bitmap(false));
    rows.extend(accesses::rows("L", low(true), low(false)));
    for states in 1..=SHORT_PATH {
        let path = Path::new(states);
        let mismatch = MinMax::over((0..states).map(|place| path_visit(path, place, false)));
        let match_ = MinMax::over([path_visit(path, states - 1, true)]);
        rows.extend(accesses::rows(&format!("O{states}"), match_, mismatch));
    }
    rows
}

/// A visit from the first state of a path node to the one at `place`, which matches or not.
fn path_visit(path: Path, place: usize, is_match: bool) -> Accesses {
    let steps = (0..=place).map(|p| path_accesses(path, 0, p, p < place || is_match));
    steps.fold(Accesses::default(), |a, b| std::array::from_fn(|w| a[w] + b[w]))
}
