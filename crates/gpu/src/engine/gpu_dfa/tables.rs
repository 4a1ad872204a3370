//! The compact automaton as the kernels have it.
//!
//! A state is a word: its base, how many patterns end in it, the label of the transition that led there. The forms
//! in shared memory tell contexts by 16 bits each, the base and the count of a word without its label: so states that
//! contexts tell have to have their base in the first [`TOLD_BASES`] slots, where they are placed before all others.

use fyke_automata::Trie;
use fyke_automata::compact::{BLOCK, Contexts, EdgeLimit, Edges, Placement, ReportList, Reports};
use fyke_automata::trie::ROOT;
use fyke_core::{Options, PatternSet, Refusal};

/// Bits of a word before its base, as the kernels have it.
const BASE: u32 = 10;
const BASE_LINKED: u32 = 11;

/// The flag of partial states in the linked form, as the kernel has it.
const PARTIAL: u32 = 1 << 10;

/// Where a word's count begins, and the most that it says: so many or more.
const COUNT: u32 = 8;
const MOST_COUNTED: u32 = 3;

/// Bases that 16 bits can name beside the count.
const TOLD_BASES: u32 = 1 << 14;

/// Slots that a word can name.
const SLOTS: usize = 1 << (32 - BASE);
pub(super) const SLOTS_LINKED: usize = 1 << (32 - BASE_LINKED);

/// Transitions that the states of a set may store, for each state and beside that; a set with more gets the linked form. As
/// on the processor, where no golden list has so many.
const TRANSITIONS_PER_STATE: usize = 16;
const TRANSITIONS_FREE: usize = 4096;

/// Exceptions of a state of the linked form, at most, as on the processor.
const LINKED_EXCEPTIONS: usize = 8;

/// Blocks of the double array that a set may have beside those that its transitions fill.
const SPARE_BLOCKS: usize = 26;

/// More classes than this, and every byte is one of its own: that saves a look-up a byte.
const CLASSES: usize = 128;

/// States are placed in so many rounds, so that those which are met most are in shared memory: first those of the least
/// depths, then those that are on the way to the most patterns, by powers of two. With depths alone hostile text loaded for
/// 0.21 lanes a byte from the device on `snort3-community`, not for 0.18, and traffic for 0.06, not 0.02 (simulated).
const ROUNDS: u32 = 8;
const BY_DEPTH: u32 = 2;

/// The flag that a path's labels have above them.
const PATH: u32 = 0x80;

/// Which kernel walks the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Contexts of two bytes in shared memory.
    Bytes,
    /// Contexts of some classes in shared memory.
    Classes,
    /// Contexts on the device, and states that leave transitions to their failure states.
    Linked,
}

impl Form {
    pub(super) fn name(self) -> &'static str {
        match self {
            Form::Bytes => "bytes",
            Form::Classes => "classes",
            Form::Linked => "linked",
        }
    }
}

/// The tables of a set, as the device gets them.
pub(super) struct Tables {
    pub(super) form: Form,
    /// Contexts, 16 bits each, or 32 in the linked form.
    pub(super) contexts: Vec<u8>,
    /// What a context has of the bytes before the first.
    pub(super) start: u32,
    pub(super) bits: u32,
    pub(super) mask: u32,
    pub(super) order: u32,
    pub(super) classes: [u8; 256],
    /// Words of slots: one for each, and then, where there are paths, two for each.
    pub(super) slots: Vec<u32>,
    pub(super) slot_count: usize,
    /// Slots that are in shared memory where records are written, and where matches are counted.
    pub(super) near_slots: usize,
    pub(super) near_slots_counting: usize,
    /// Slots that begin a path.
    pub(super) paths: usize,
    /// By place: a slot, or a context behind the slots.
    pub(super) depths: Vec<u16>,
    pub(super) counts: Vec<u32>,
    /// Places of failure states in the linked form; in the others the words of the states on a path, by its end's base.
    pub(super) fails: Vec<u32>,
    pub(super) lists: Vec<ReportList>,
    pub(super) reports: Reports,
    pub(super) states: usize,
    pub(super) stored: usize,
}

/// What everything is built from.
struct Parts {
    trie: Trie,
    depths: Vec<u16>,
    lists: Vec<ReportList>,
    reports: Reports,
    /// How many matches end in each state: one for each id of a pattern.
    counts: Vec<u32>,
}

/// How many matches end in each state.
fn counts(trie: &Trie, set: &PatternSet) -> Vec<u32> {
    let mut counts = vec![0; trie.len()];
    for s in 1..trie.len() as u32 {
        let own: usize = trie.own(s).iter().map(|&p| set.ids(p).len()).sum();
        counts[s as usize] = counts[trie.output_link(s) as usize] + own as u32;
    }
    counts
}

/// Bytes that compiling a set takes at most before its exceptions are known, for each state.
const BYTES_PER_STATE: u64 = 64;

impl Tables {
    /// Compiles a set. `wanted` is a form, or "auto"; contexts and slots in shared memory have at most so many bytes where
    /// records are written, and so many more where matches are counted.
    pub(super) fn build(
        set: &PatternSet,
        opt: &Options,
        wanted: &str,
        room: usize,
        more: usize,
    ) -> Result<Tables, Refusal> {
        let states = Trie::count_states(set);
        let (need, have) = (states, SLOTS_LINKED as u64);
        if need > have {
            return Err(Refusal::TooBig { what: "states", need, have });
        }
        opt.check_memory(Trie::memory_for(states, set) + BYTES_PER_STATE * states)?;
        let trie = Trie::new(set)?;
        let (reports, lists) = Reports::new(&trie)?;
        let depths = trie.depths().map(|d| d as u16).collect();
        let shape = Contexts::new(set, &trie);
        let counts = counts(&trie, set);
        let parts = Parts { trie, depths, lists, reports, counts };
        let form = match wanted {
            "bytes" => Form::Bytes,
            "classes" => Form::Classes,
            "linked" => Form::Linked,
            _ if shape.classes.len() > CLASSES => Form::Bytes,
            _ => Form::Classes,
        };
        let made = match form {
            Form::Bytes => parts.near(form, &Contexts::of_bytes(set), room, more)?,
            Form::Classes => (1..=shape.order)
                .rev()
                .find_map(|order| parts.near(form, &shape.of_order(order), room, more).transpose())
                .transpose()?,
            Form::Linked => None,
        };
        let made = match made {
            Some(made) => made,
            None if wanted == "auto" || wanted == "linked" => parts.linked(&shape)?,
            None => {
                let (need, have) = (u64::from(TOLD_BASES) + 1, u64::from(TOLD_BASES));
                return Err(Refusal::TooBig { what: "transitions in shared memory", need, have });
            }
        };
        opt.check_memory(made.memory())?;
        Ok(Tables { reports: parts.reports, ..made })
    }

    /// Bytes on the host and the device.
    fn memory(&self) -> u64 {
        let places = self.lists.len() as u64;
        2 * self.device_bytes() + 4 * places + self.reports.memory()
    }

    /// Bytes on the device.
    pub(super) fn device_bytes(&self) -> u64 {
        let words = self.slots.len() + self.counts.len() + self.fails.len();
        (self.contexts.len() + 4 * words + 2 * self.depths.len()) as u64
    }

    /// Without what is on the device.
    pub(super) fn without_content(self) -> Tables {
        Tables {
            contexts: Vec::new(),
            slots: Vec::new(),
            depths: Vec::new(),
            counts: Vec::new(),
            fails: Vec::new(),
            ..self
        }
    }
}

/// The place of each context of two bytes: the last byte above the one before it, as a text has them in memory, and then
/// the contexts of a first byte.
fn as_in_memory(defaults: &[u32]) -> Vec<u32> {
    let turned = (0..1 << 16).map(|i| defaults[(i & 0xff) << 8 | i >> 8]);
    turned.chain(defaults[1 << 16..][..256].iter().copied()).collect()
}

impl Parts {
    /// A form with contexts in shared memory. `None` if these or the bases that they tell are too many, or if there are too
    /// many exceptions.
    fn near(
        &self,
        form: Form,
        shape: &Contexts,
        room: usize,
        more: usize,
    ) -> Result<Option<Tables>, Refusal> {
        let states = self.trie.len();
        let size = (2 * shape.count()).next_multiple_of(16);
        let at_once = BLOCK * size_of::<u32>();
        let cap =
            EdgeLimit::Total((TRANSITIONS_PER_STATE * states + TRANSITIONS_FREE).min(SLOTS / 2));
        if size + at_once > room {
            return Ok(None);
        }
        let Some(edges) = Edges::new(&self.trie, shape, &self.depths, shape.order, cap) else {
            return Ok(None);
        };
        let below = self.patterns_below();
        let round = |s: u32| match u32::from(self.depths[s as usize]) - shape.order {
            beyond if beyond < BY_DEPTH => beyond,
            _ => (ROUNDS - 1).saturating_sub(below[s as usize].ilog2()).max(BY_DEPTH),
        };
        let most = (3 * edges.edges.len() + SPARE_BLOCKS * BLOCK).min(SLOTS);
        let Ok(placed) = Placement::in_rounds(&edges, states, most, ROUNDS, round) else {
            return Ok(None);
        };
        let mut told = shape.defaults(&self.trie, &self.depths);
        if told.iter().any(|&s| placed.base[s as usize] >= TOLD_BASES) {
            return Ok(None);
        }
        if form == Form::Bytes {
            told = as_in_memory(&told);
        }
        let word = |s: u32| placed.base[s as usize] << BASE | self.count(s) << COUNT;
        let mut contexts: Vec<u8> =
            told.iter().flat_map(|&s| ((word(s) >> COUNT) as u16).to_le_bytes()).collect();
        contexts.resize(contexts.len().next_multiple_of(16), 0);
        let mut tables = self.tables(form, shape, &edges, &placed, &told, word);
        let slots_in = |room: usize| tables.slot_count.min((room - size) / at_once * BLOCK);
        (tables.near_slots, tables.near_slots_counting) = (slots_in(room), slots_in(room + more));
        let paths = Paths::new(&self.trie, &below, |s| self.counts[s as usize] > 0);
        let of_place = self.states_of_places(&edges, &placed, &told);
        let mut slots = Vec::with_capacity(3 * tables.slot_count);
        slots.extend(&tables.slots);
        tables.fails = vec![0; Paths::LABELS * tables.slot_count];
        for (slot, &one) in tables.slots.iter().enumerate() {
            let states =
                if slot < tables.near_slots { Vec::new() } else { paths.from(of_place[slot]) };
            let Some((&end, before)) = states.split_last() else {
                slots.extend([one, 0]);
                continue;
            };
            tables.paths += 1;
            let base = placed.base[end as usize];
            slots.extend([
                base << BASE | one & ((1 << BASE) - 1),
                self.path(shape, &edges, &states),
            ]);
            for (left, &s) in before.iter().rev().enumerate() {
                tables.fails[Paths::LABELS * base as usize + left] =
                    placed.base[s as usize] << BASE;
            }
        }
        if tables.paths == 0 {
            slots.truncate(tables.slot_count);
            tables.fails.clear();
        }
        Ok(Some(Tables { contexts, slots, ..tables }))
    }

    /// How many patterns each state is on the way to, or at the end of; at least one.
    fn patterns_below(&self) -> Vec<u32> {
        let trie = &self.trie;
        let mut below: Vec<u32> =
            (0..trie.len() as u32).map(|s| trie.own(s).len() as u32).collect();
        for s in (0..trie.len() as u32).rev() {
            below[s as usize] += trie.children(s).map(|child| below[child as usize]).sum::<u32>();
        }
        below
    }

    /// The word of a path along these states: its labels, the first one lowest, and above them what the kernel has to know
    /// to leave it.
    fn path(&self, shape: &Contexts, edges: &Edges, states: &[u32]) -> u32 {
        let before = &states[..states.len() - 1];
        let alone = |(left, &s): (usize, &u32)| u32::from(edges.of(s).len() == 1) << left;
        let flags = before.iter().rev().enumerate().map(alone).sum::<u32>() | PATH;
        let label = |&s: &u32| u32::from(shape.class(self.trie.label(s)));
        states[1..].iter().rev().map(label).fold(flags, |word, label| word << 8 | label)
    }

    /// The form that takes any set that is not too large.
    fn linked(&self, shape: &Contexts) -> Result<Tables, Refusal> {
        let states = self.trie.len();
        for exceptions in [LINKED_EXCEPTIONS, 0] {
            let cap = EdgeLimit::PerState(exceptions);
            let edges = Edges::new(&self.trie, shape, &self.depths, shape.order, cap)
                .expect("no cap in all");
            let most = (3 * edges.edges.len() + SPARE_BLOCKS * BLOCK).min(SLOTS_LINKED);
            let Ok(placed) = Placement::new(&edges, states, most) else { continue };
            let told = shape.defaults(&self.trie, &self.depths);
            let word = |s: u32| {
                let flag = if edges.is_partial(s) { PARTIAL } else { 0 };
                placed.base[s as usize] << BASE_LINKED | flag | self.count(s) << COUNT
            };
            let contexts = told.iter().flat_map(|&s| word(s).to_le_bytes()).collect();
            let mut tables = self.tables(Form::Linked, shape, &edges, &placed, &told, word);
            let of_place = self.states_of_places(&edges, &placed, &told);
            tables.fails = edges.failure_places(&self.trie, &self.depths, shape.order, &of_place);
            return Ok(Tables { contexts, ..tables });
        }
        let (need, have) = (states as u64, SLOTS_LINKED as u64);
        Err(Refusal::TooBig { what: "states", need, have })
    }

    /// How many matches end in a state, as far as its word says it.
    fn count(&self, state: u32) -> u32 {
        self.counts[state as usize].min(MOST_COUNTED)
    }

    /// The state of each slot, and then those of the contexts.
    fn states_of_places(&self, edges: &Edges, placed: &Placement, told: &[u32]) -> Vec<u32> {
        let mut of_place = vec![ROOT; placed.labels.len()];
        for s in 0..self.trie.len() as u32 {
            for edge in edges.of(s) {
                let slot = placed.base[s as usize] as usize ^ usize::from(edge.class);
                of_place[slot] = edge.target;
            }
        }
        of_place.extend(told);
        of_place
    }

    /// What all forms have.
    fn tables(
        &self,
        form: Form,
        shape: &Contexts,
        edges: &Edges,
        placed: &Placement,
        told: &[u32],
        word: impl Fn(u32) -> u32,
    ) -> Tables {
        let of_place = self.states_of_places(edges, placed, told);
        let entry = |(&label, &state): (&u8, &u32)| word(state) | u32::from(label);
        let lists: Vec<ReportList> = of_place.iter().map(|&s| self.lists[s as usize]).collect();
        Tables {
            form,
            contexts: Vec::new(),
            start: (1..shape.order).fold(0, |past, _| (past | shape.none) << shape.bits),
            bits: shape.bits,
            mask: shape.mask(),
            order: shape.order,
            classes: *shape.classes.map(),
            slot_count: placed.labels.len(),
            slots: placed.labels.iter().zip(&of_place).map(entry).collect(),
            depths: of_place.iter().map(|&s| self.depths[s as usize]).collect(),
            counts: of_place.iter().map(|&s| self.counts[s as usize]).collect(),
            fails: Vec::new(),
            near_slots: 0,
            near_slots_counting: 0,
            paths: 0,
            lists,
            reports: Reports::default(),
            states: self.trie.len(),
            stored: edges.edges.len(),
        }
    }
}

/// Paths that most patterns take.
struct Paths {
    /// The child of each state below which most patterns are, or the root, if paths end before it: a path has only states
    /// that report nothing and have children.
    next: Vec<u32>,
}

impl Paths {
    /// Labels of a path, at most.
    const LABELS: usize = 3;

    fn new(trie: &Trie, below: &[u32], reports: impl Fn(u32) -> bool) -> Self {
        let states = trie.len() as u32;
        let next = |s| {
            let child = trie.children(s).max_by_key(|&child| below[child as usize]);
            child
                .filter(|&child| !reports(child) && !trie.children(child).is_empty())
                .unwrap_or(ROOT)
        };
        Self { next: (0..states).map(next).collect() }
    }

    /// The states of the path from a state on, with it; none if there is no path.
    fn from(&self, state: u32) -> Vec<u32> {
        let mut states = vec![state];
        while states.len() <= Self::LABELS {
            match self.next[states[states.len() - 1] as usize] {
                ROOT => break,
                next => states.push(next),
            }
        }
        if states.len() > 1 { states } else { Vec::new() }
    }
}
