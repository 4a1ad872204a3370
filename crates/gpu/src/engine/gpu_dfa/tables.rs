//! The tables of the compact automaton, as the kernels read them.
//!
//! A state is a word: its base, how many matches end in it, and the label of the transition to it.
//! In shared memory the default of a context takes 16 bits: the base and the count, without the
//! label. So default states need a base among the first [`DEFAULT_BASES`] slots, and they are
//! placed before all others.

use fyke_automata::Trie;
use fyke_automata::compact::{BLOCK, Contexts, EdgeLimit, Edges, Placement, ReportList, Reports};
use fyke_automata::trie::ROOT;
use fyke_core::{Options, PatternSet, Refusal};

/// Bits of a word below its base, as in the kernels.
const BASE: u32 = 10;
const BASE_LINKED: u32 = 11;

/// The flag of partial states in the linked form, as in the kernel.
const PARTIAL: u32 = 1 << 10;

/// The bit where a word's count begins, and the largest count, which means that many or more.
const COUNT: u32 = 8;
const MOST_COUNTED: u32 = 3;

/// Bases that fit 16 bits beside the count.
const DEFAULT_BASES: u32 = 1 << 14;

/// Slots that the base of a word can address.
const SLOTS: usize = 1 << (32 - BASE);
pub(super) const SLOTS_LINKED: usize = 1 << (32 - BASE_LINKED);

/// Most stored transitions of a set: the first number for each state, plus the second. A set with
/// more gets the linked form. The limits are those of the CPU's `ac-simd`, and no golden list
/// reaches them.
const TRANSITIONS_PER_STATE: usize = 16;
const TRANSITIONS_FREE: usize = 4096;

/// Most stored transitions of a state in the linked form, as in the CPU's `ac-simd`.
const LINKED_EXCEPTIONS: usize = 8;

/// Blocks that the double array may have in addition to three times those that its transitions
/// fill.
const SPARE_BLOCKS: usize = 26;

/// With more classes than this every byte is its own class, which saves a lookup per byte.
const CLASSES: usize = 128;

/// States are placed in this many rounds, so that the most frequent ones are in shared memory. The
/// first `BY_DEPTH` rounds go by depth, the others by the number of patterns below a state, in
/// powers of two. By simulation on `snort3-community` both orders together load less from device
/// memory than depth alone.
const ROUNDS: u32 = 8;
const BY_DEPTH: u32 = 2;

/// The flag above the labels of a path.
const PATH: u32 = 0x80;

/// Which kernel walks the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableForm {
    /// Contexts of two bytes in shared memory.
    Bytes,
    /// Contexts of classes in shared memory.
    Classes,
    /// Contexts in device memory, and states that leave transitions to their failure states.
    Linked,
}

impl TableForm {
    pub(super) fn name(self) -> &'static str {
        match self {
            TableForm::Bytes => "bytes",
            TableForm::Classes => "classes",
            TableForm::Linked => "linked",
        }
    }
}

/// The tables of a set.
pub(super) struct DfaTables {
    pub(super) form: TableForm,
    /// Contexts, 16 bits each, or 32 in the linked form.
    pub(super) contexts: Vec<u8>,
    /// The context before the first byte.
    pub(super) start: u32,
    pub(super) bits: u32,
    pub(super) mask: u32,
    pub(super) order: u32,
    pub(super) classes: [u8; 256],
    /// A word for each slot, and then, if there are paths, two for each.
    pub(super) slots: Vec<u32>,
    pub(super) slot_count: usize,
    /// Slots in shared memory.
    pub(super) near_slots: usize,
    /// The same beside staged text, if it is staged for counting.
    pub(super) staged_slots: Option<usize>,
    /// Slots that begin a path.
    pub(super) paths: usize,
    /// By place: the slots, and after them the contexts.
    pub(super) depths: Vec<u16>,
    pub(super) counts: Vec<u32>,
    /// In the linked form the place of each place's failure state. In the other forms the words of
    /// the states on a path, by the base of the path's end.
    pub(super) fails: Vec<u32>,
    pub(super) lists: Vec<ReportList>,
    pub(super) reports: Reports,
    pub(super) states: usize,
    pub(super) stored: usize,
}

/// Builds tables of any form from the trie.
struct TableBuilder {
    trie: Trie,
    depths: Vec<u16>,
    lists: Vec<ReportList>,
    reports: Reports,
    /// How many matches end in each state, one for each id of a pattern.
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

/// Bytes per state that compiling takes beside the trie, at most, before the stored transitions are
/// known.
const BYTES_PER_STATE: u64 = 64;

/// Why a form with contexts in shared memory refuses a set.
pub(super) const TOO_MANY_TRANSITIONS: &str = "the set has too many transitions for shared memory";

/// Bytes of shared memory for contexts and slots.
#[derive(Clone, Copy)]
pub(super) struct Room {
    /// If the text is loaded.
    pub(super) loaded: usize,
    pub(super) staging: Staging,
}

/// Whether the kernel that counts stages the text, and the room beside the blocks.
#[derive(Clone, Copy)]
pub(super) enum Staging {
    /// It loads the text.
    Never,
    /// It stages the text if that is expected to be faster.
    IfItPays(usize),
    /// It stages the text if the contexts fit.
    Always(usize),
}

impl Room {
    /// How many of all slots are in shared memory beside staged text. `None` if the text is loaded.
    /// `fit` returns how many slots fit a room. It returns `None` if the contexts do not fit.
    ///
    /// Blocks take the room of slots. If shared memory has most of the slots, staging slows hostile
    /// text down as much as it speeds other text up (`floor`, Snort 2.2.0).
    pub(super) fn staged(
        self,
        slots: usize,
        fit: impl Fn(usize) -> Option<usize>,
    ) -> Option<usize> {
        let is_short = || 2 * fit(self.loaded).unwrap_or(0) < slots;
        match self.staging {
            Staging::Never => None,
            Staging::IfItPays(room) => fit(room).filter(|&near| near == slots || is_short()),
            Staging::Always(room) => fit(room),
        }
    }
}

impl DfaTables {
    /// Compiles a set. `wanted` is a form, or "auto".
    pub(super) fn build(
        set: &PatternSet,
        opt: &Options,
        wanted: &str,
        room: Room,
    ) -> Result<DfaTables, Refusal> {
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
        let parts = TableBuilder { trie, depths, lists, reports, counts };
        let form = match wanted {
            "bytes" => TableForm::Bytes,
            "classes" => TableForm::Classes,
            "linked" => TableForm::Linked,
            _ if shape.classes.len() > CLASSES => TableForm::Bytes,
            _ => TableForm::Classes,
        };
        let made = match form {
            TableForm::Bytes => parts.near(form, &Contexts::of_bytes(set), room)?,
            TableForm::Classes => (1..=shape.order)
                .rev()
                .find_map(|order| parts.near(form, &shape.of_order(order), room).transpose())
                .transpose()?,
            TableForm::Linked => None,
        };
        let made = match made {
            Some(made) => made,
            None if wanted == "auto" || wanted == "linked" => parts.linked(&shape)?,
            None => {
                return Err(Refusal::BadOption(format!(
                    "form={wanted}: {TOO_MANY_TRANSITIONS}; take form=auto"
                )));
            }
        };
        opt.check_memory(made.memory())?;
        Ok(DfaTables { reports: parts.reports, ..made })
    }

    /// Bytes on the host and on the device, while compiling.
    fn memory(&self) -> u64 {
        let places = self.lists.len() as u64;
        2 * self.device_bytes() + 4 * places + self.reports.memory()
    }

    /// Bytes on the device.
    pub(super) fn device_bytes(&self) -> u64 {
        let words = self.slots.len() + self.counts.len() + self.fails.len();
        (self.contexts.len() + 4 * words + 2 * self.depths.len()) as u64
    }

    /// Without the tables that were uploaded.
    pub(super) fn without_content(self) -> DfaTables {
        DfaTables {
            contexts: Vec::new(),
            slots: Vec::new(),
            depths: Vec::new(),
            counts: Vec::new(),
            fails: Vec::new(),
            ..self
        }
    }
}

/// Reorders contexts of two bytes to the byte order of a text in memory, where the last byte is
/// the higher one; the contexts of a first byte follow.
fn as_in_memory(defaults: &[u32]) -> Vec<u32> {
    let turned = (0..1 << 16).map(|i| defaults[(i & 0xff) << 8 | i >> 8]);
    turned.chain(defaults[1 << 16..][..256].iter().copied()).collect()
}

impl TableBuilder {
    /// A form with contexts in shared memory. `None` if there are too many contexts, default
    /// states or stored transitions.
    fn near(
        &self,
        form: TableForm,
        shape: &Contexts,
        room: Room,
    ) -> Result<Option<DfaTables>, Refusal> {
        let states = self.trie.len();
        let size = (2 * shape.count()).next_multiple_of(16);
        let at_once = BLOCK * size_of::<u32>();
        let cap =
            EdgeLimit::Total((TRANSITIONS_PER_STATE * states + TRANSITIONS_FREE).min(SLOTS / 2));
        if size + at_once > room.loaded {
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
        if told.iter().any(|&s| placed.base[s as usize] >= DEFAULT_BASES) {
            return Ok(None);
        }
        if form == TableForm::Bytes {
            told = as_in_memory(&told);
        }
        let word = |s: u32| placed.base[s as usize] << BASE | self.count(s) << COUNT;
        let mut contexts: Vec<u8> =
            told.iter().flat_map(|&s| ((word(s) >> COUNT) as u16).to_le_bytes()).collect();
        contexts.resize(contexts.len().next_multiple_of(16), 0);
        let mut tables = self.tables(form, shape, &edges, &placed, &told, word);
        let slots = tables.slot_count;
        let fit = |room: usize| {
            (size + at_once <= room).then(|| slots.min((room - size) / at_once * BLOCK))
        };
        tables.near_slots = fit(room.loaded).unwrap_or(0);
        tables.staged_slots = room.staged(slots, fit);
        let of_place = self.states_of_places(&edges, &placed, &told);
        self.add_paths(&mut tables, shape, &edges, &placed, &below, &of_place);
        Ok(Some(DfaTables { contexts, ..tables }))
    }

    /// Adds the second list of slots, which has two words for each, with the paths that begin in
    /// slots outside of shared memory.
    fn add_paths(
        &self,
        tables: &mut DfaTables,
        shape: &Contexts,
        edges: &Edges,
        placed: &Placement,
        below: &[u32],
        of_place: &[u32],
    ) {
        let paths = HeavyPaths::new(&self.trie, below, |s| self.counts[s as usize] > 0);
        let mut pairs = Vec::with_capacity(2 * tables.slot_count);
        let mut fails = vec![0; HeavyPaths::LABELS * tables.slot_count];
        // Both kernels share the paths, and the one that stages has fewer slots in shared memory.
        let near = tables.staged_slots.unwrap_or(tables.near_slots);
        for (slot, &one) in tables.slots.iter().enumerate() {
            let states = if slot < near { Vec::new() } else { paths.from(of_place[slot]) };
            let Some((&end, before)) = states.split_last() else {
                pairs.extend([one, 0]);
                continue;
            };
            tables.paths += 1;
            let base = placed.base[end as usize];
            pairs
                .extend([base << BASE | one & ((1 << BASE) - 1), self.path(shape, edges, &states)]);
            for (left, &s) in before.iter().rev().enumerate() {
                fails[HeavyPaths::LABELS * base as usize + left] = placed.base[s as usize] << BASE;
            }
        }
        if tables.paths > 0 {
            tables.slots.extend(pairs);
            tables.fails = fails;
        }
    }

    /// The number of patterns at or below each state; at least one.
    fn patterns_below(&self) -> Vec<u32> {
        let trie = &self.trie;
        let mut below: Vec<u32> =
            (0..trie.len() as u32).map(|s| trie.own(s).len() as u32).collect();
        for s in (0..trie.len() as u32).rev() {
            below[s as usize] += trie.children(s).map(|child| below[child as usize]).sum::<u32>();
        }
        below
    }

    /// The word of a path along these states: its labels, the first one lowest, and above them
    /// flags that tell the kernel which states store nothing but the path.
    fn path(&self, shape: &Contexts, edges: &Edges, states: &[u32]) -> u32 {
        let before = &states[..states.len() - 1];
        let alone = |(left, &s): (usize, &u32)| u32::from(edges.of(s).len() == 1) << left;
        let flags = before.iter().rev().enumerate().map(alone).sum::<u32>() | PATH;
        let label = |&s: &u32| u32::from(shape.class(self.trie.label(s)));
        states[1..].iter().rev().map(label).fold(flags, |word, label| word << 8 | label)
    }

    /// The linked form, for any set that is not too large.
    fn linked(&self, shape: &Contexts) -> Result<DfaTables, Refusal> {
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
            let mut tables = self.tables(TableForm::Linked, shape, &edges, &placed, &told, word);
            let of_place = self.states_of_places(&edges, &placed, &told);
            tables.fails = edges.failure_places(&self.trie, &self.depths, shape.order, &of_place);
            return Ok(DfaTables { contexts, ..tables });
        }
        let (need, have) = (states as u64, SLOTS_LINKED as u64);
        Err(Refusal::TooBig { what: "states", need, have })
    }

    /// How many matches end in a state, as far as its word can count.
    fn count(&self, state: u32) -> u32 {
        self.counts[state as usize].min(MOST_COUNTED)
    }

    /// The state of each slot, and then of each context.
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

    /// The parts that all forms share.
    fn tables(
        &self,
        form: TableForm,
        shape: &Contexts,
        edges: &Edges,
        placed: &Placement,
        told: &[u32],
        word: impl Fn(u32) -> u32,
    ) -> DfaTables {
        let of_place = self.states_of_places(edges, placed, told);
        let entry = |(&label, &state): (&u8, &u32)| word(state) | u32::from(label);
        let lists: Vec<ReportList> = of_place.iter().map(|&s| self.lists[s as usize]).collect();
        DfaTables {
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
            staged_slots: None,
            paths: 0,
            lists,
            reports: Reports::default(),
            states: self.trie.len(),
            stored: edges.edges.len(),
        }
    }
}

/// The path that most patterns take from each state.
struct HeavyPaths {
    /// The child of each state with most patterns below it, or the root if a path ends before that
    /// child: states of a path report nothing and have children.
    next: Vec<u32>,
}

impl HeavyPaths {
    /// The maximum number of labels of a path.
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

    /// The states of the path that begins at a state, itself included; empty if there is none.
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
