//! Compile time: chooses the form and builds its tables.

use super::table::{AcSimdTable, COUNT_SHIFT, Form};
use crate::simd::Isa;
use fyke_automata::Trie;
use fyke_automata::compact::{BLOCK, Contexts, EdgeLimit, Edges, Placement, ReportList, Reports};
use fyke_automata::trie::ROOT;
use fyke_core::{Options, PatternSet, Refusal};

/// Largest dense table: it takes one gather per byte, and this size fits in an L2 cache of 2 MB. A
/// guess: `forms` would show it.
pub(super) const DENSE_UP_TO: u64 = 2 << 20;

/// Largest dense table without AVX-512, where a step costs more and a cache miss the same. The
/// dense form is faster up to this size (`golden/dict6000-kjv`, `atoms/random-1000-*`). Beyond it,
/// it is faster only where few states are visited (`words/10000`, but not `golden/words20k-kjv` and
/// `atoms/real-10000-text`).
const DENSE_UP_TO_NARROW: u64 = 4 << 20;

/// The largest dense table of an instruction set.
pub(super) fn dense_up_to(isa: Isa) -> u64 {
    if isa == Isa::Avx512 { DENSE_UP_TO } else { DENSE_UP_TO_NARROW }
}

/// From this many bits per class on, contexts of two bytes are numerous enough to try those of one
/// byte.
pub(super) const ONE_BYTE_FROM: u32 = 7;

/// Most stored transitions with contexts of one byte, as a share of the number of contexts of two
/// bytes. Up to this share, the tables stay in or near the L1 cache for any haystack. Swept by
/// `density`: contexts of one byte are faster up to a share of 0.6, and slower at 1.0.
pub(super) const ONE_BYTE_UP_TO: f32 = 0.625;

/// The maximum number of bytes of entries for compact2. Larger sets get compact3, which needs a
/// third gather per byte. A guess: `words/10000` and `words/99175` lie on either side.
pub(super) const COMPACT2_UP_TO: u64 = 4 << 20;

/// Largest dense table for sets with too many exceptions for a compact form. Up to this size, it is
/// faster than the linked form. A guess: `hostile` would show it.
const DENSE_AT_WORST: u64 = 16 << 20;

/// Most stored transitions per state of a compact form, on average. Only hostile sets, whose
/// exceptions grow with the square of their size, exceed it; no `golden` set does.
const TRANSITIONS_PER_STATE: usize = 16;

/// Transitions that any set may store in addition.
const TRANSITIONS_FREE: usize = 4096;

/// The maximum number of exceptions of a state of the linked form. A guess: no benchmark depends on
/// it.
const LINKED_EXCEPTIONS: usize = 8;

/// The maximum number of bits of an entry for the number of reports, so that the sums of a lane
/// cannot overflow.
const COUNT_BITS: u32 = 8;

/// Blocks of the double array beyond those that the transitions fill.
const SPARE_BLOCKS: usize = 26;

/// Entries that a base can address with one bit left to count. The linked form needs a bit for
/// partial states, too.
pub(super) const MAX_ENTRIES: usize = 1 << 23;

/// Bytes to compile a set before its exceptions are known.
pub(super) fn memory(states: u64, set: &PatternSet) -> u64 {
    Trie::memory_for(states, set)
        .saturating_add(states * 24)
        .saturating_add(24 * (states.min(MAX_ENTRIES as u64)))
}

/// The inputs of all forms.
struct BuildInput {
    trie: Trie,
    shape: Contexts,
    depths: Vec<u16>,
    lists: Vec<ReportList>,
    reports: Reports,
    /// The longest list.
    longest: u32,
}

pub(super) fn compile(set: &PatternSet, isa: Isa, opt: &Options) -> Result<AcSimdTable, Refusal> {
    let wanted =
        opt.choice("form", &["auto", "dense", "compact1", "compact2", "compact3", "linked"])?;
    let states = Trie::count_states(set);
    opt.check_memory(memory(states, set))?;
    let trie = Trie::new(set)?;
    let (reports, lists) = Reports::new(&trie)?;
    let longest = lists.iter().map(|&l| reports.len(l)).max().unwrap_or(0);
    let depths = trie.depths().map(|d| d as u16).collect();
    let shape = Contexts::new(set, &trie);
    let parts = BuildInput { trie, shape, depths, lists, reports, longest };
    match wanted {
        "dense" => parts.dense(opt),
        "compact1" => {
            let parts = BuildInput { shape: parts.shape.of_one_byte(), ..parts };
            parts.compact(Form::Compact2, states, opt)
        }
        "compact2" => parts.compact(Form::Compact2, states, opt),
        "compact3" => parts.compact(Form::Compact3, states, opt),
        "linked" => parts.linked(opt),
        _ => parts.best(states, isa, opt),
    }
}

/// Most transitions that a compact form stores.
fn most_stored(states: u64) -> usize {
    (TRANSITIONS_PER_STATE * states as usize + TRANSITIONS_FREE).min(MAX_ENTRIES)
}

/// Most entries of a sparse table for these transitions.
fn most_entries(form: Form, edges: &Edges) -> usize {
    let linked = u32::from(form == Form::Linked);
    (3 * edges.edges.len() + SPARE_BLOCKS * BLOCK).min(MAX_ENTRIES >> linked)
}

/// The refusal of a set at a limit where building stopped: the true number is unknown, but larger.
fn above(most: usize, what: &'static str) -> Refusal {
    Refusal::TooBig { what, need: most as u64 + 1, have: most as u64 }
}

impl BuildInput {
    /// Builds the form that suits the size of the tables.
    fn best(mut self, states: u64, isa: Isa, opt: &Options) -> Result<AcSimdTable, Refusal> {
        let dense = self.dense_bytes();
        if dense <= DENSE_UP_TO {
            return self.dense(opt);
        }
        if let Some((shape, edges)) = self.by_one_byte() {
            let wider = std::mem::replace(&mut self.shape, shape);
            if let Some(table) = self.place(Form::Compact2, &edges, opt)? {
                return Ok(self.finish(table));
            }
            self.shape = wider;
        }
        if dense <= dense_up_to(isa) {
            return self.dense(opt);
        }
        let small = EdgeLimit::Total(COMPACT2_UP_TO as usize / 4);
        let large = EdgeLimit::Total(most_stored(states));
        for (form, cap) in [(Form::Compact2, small), (Form::Compact3, large)] {
            if let Some(edges) = self.edges(form, cap)
                && let Some(table) = self.place(form, &edges, opt)?
            {
                return Ok(self.finish(table));
            }
        }
        if dense <= DENSE_AT_WORST { self.dense(opt) } else { self.linked(opt) }
    }

    /// Contexts of one byte and the transitions to store with them, if the result is much smaller.
    fn by_one_byte(&self) -> Option<(Contexts, Edges)> {
        if self.shape.bits < ONE_BYTE_FROM {
            return None;
        }
        let most = EdgeLimit::Total((ONE_BYTE_UP_TO * self.shape.count() as f32) as usize);
        let shape = self.shape.of_one_byte();
        let edges = Edges::new(&self.trie, &shape, &self.depths, shape.order, most)?;
        Some((shape, edges))
    }

    fn compact(self, form: Form, states: u64, opt: &Options) -> Result<AcSimdTable, Refusal> {
        let most = most_stored(states);
        let edges = self.edges(form, EdgeLimit::Total(most));
        let edges = edges.ok_or_else(|| above(most, "or more stored transitions"))?;
        let table = self.place(form, &edges, opt)?;
        let full = || above(most_entries(form, &edges), "or more entries of a sparse table");
        table.map(|table| self.finish(table)).ok_or_else(full)
    }

    fn linked(self, opt: &Options) -> Result<AcSimdTable, Refusal> {
        for exceptions in [LINKED_EXCEPTIONS, 0] {
            let edges = self.edges(Form::Linked, EdgeLimit::PerState(exceptions));
            let edges = edges.expect("without a total limit there are edges");
            if let Some(table) = self.place(Form::Linked, &edges, opt)? {
                return Ok(self.finish(table));
            }
        }
        let (need, have) = (self.trie.len() as u64, MAX_ENTRIES as u64 / 2);
        Err(Refusal::TooBig { what: "states", need, have })
    }

    fn edges(&self, form: Form, cap: EdgeLimit) -> Option<Edges> {
        let told = self.shape.order + u32::from(form == Form::Compact3);
        Edges::new(&self.trie, &self.shape, &self.depths, told, cap)
    }

    fn dense_bytes(&self) -> u64 {
        4 * self.trie.len() as u64 * (self.shape.classes.len() as u64 + 1)
    }

    /// A row per state: a column per class, and one for the state's list.
    fn dense(self, opt: &Options) -> Result<AcSimdTable, Refusal> {
        let columns = self.shape.classes.len();
        let (need, have) = (self.dense_bytes(), 1 << 32);
        if need > have {
            return Err(Refusal::TooBig { what: "bytes of a dense table", need, have });
        }
        opt.check_memory(need + memory(self.trie.len() as u64, &PatternSet::builder().build()))?;
        let row = |state: u32| state as usize * (columns + 1);
        let words = row(self.trie.len() as u32);
        let shift = 32 - (words as u32).leading_zeros();
        let most = (1u32 << (32 - shift)) - 1;
        let entry = |state: u32| {
            (row(state) as u32) | self.reports.len(self.lists[state as usize]).min(most) << shift
        };
        let mut table = vec![0u32; words];
        for state in 0..self.trie.len() as u32 {
            let at = row(state);
            if state != ROOT {
                let from = row(self.trie.fail(state));
                table.copy_within(from..from + columns, at);
            }
            for child in self.trie.children(state) {
                table[at + usize::from(self.shape.class(self.trie.label(child)))] = entry(child);
            }
            table[at + columns] = self.lists[state as usize].0;
        }
        let saturates = self.longest > most;
        let blank = self.blank(Form::Dense, table, saturates);
        Ok(self.finish(AcSimdTable {
            lists: columns as u32,
            count_mask: most << shift,
            count_shift: shift,
            stored: words,
            ..blank
        }))
    }

    /// A compact form of these transitions, or `None` if they do not fit.
    fn place(
        &self,
        form: Form,
        edges: &Edges,
        opt: &Options,
    ) -> Result<Option<AcSimdTable>, Refusal> {
        let linked = u32::from(form == Form::Linked);
        let most = most_entries(form, edges);
        let contexts = self.shape.count();
        let need = 16 * (edges.edges.len() + contexts + SPARE_BLOCKS * BLOCK) as u64;
        opt.check_memory(need + memory(self.trie.len() as u64, &PatternSet::builder().build()))?;
        let Ok(placed) = Placement::new(edges, self.trie.len(), most) else { return Ok(None) };
        let slots = placed.labels.len();
        let base_bits = 32 - (slots as u32 - 1).leading_zeros();
        let count_bits = (24 - base_bits - linked).min(COUNT_BITS);
        let most = (1u32 << count_bits) - 1;
        let shift = COUNT_SHIFT + count_bits + linked;
        let partial = if form == Form::Linked { 1 << (shift - 1) } else { 0 };
        let entry = |state: u32, label: u8| {
            let count = self.reports.len(self.lists[state as usize]).min(most);
            let flag = if edges.is_partial(state) { partial } else { 0 };
            placed.base[state as usize] << shift | flag | count << COUNT_SHIFT | u32::from(label)
        };
        let mut of_place = vec![ROOT; slots];
        let mut words: Vec<u32> = placed.labels.iter().map(|&l| u32::from(l)).collect();
        for s in 0..self.trie.len() as u32 {
            for edge in edges.of(s) {
                let slot = placed.base[s as usize] as usize ^ usize::from(edge.class);
                words[slot] = entry(edge.target, edge.class);
                of_place[slot] = edge.target;
            }
        }
        of_place.extend(self.shape.defaults(&self.trie, &self.depths));
        words.extend(of_place[slots..].iter().map(|&s| entry(s, 0)));
        words.extend(of_place.iter().map(|&s| self.lists[s as usize].0));
        if form == Form::Linked {
            let order = self.shape.order;
            words.extend(edges.failure_places(&self.trie, &self.depths, order, &of_place));
        }
        let places = of_place.len();
        let saturates = self.longest > most;
        let blank = self.blank(form, words, saturates);
        Ok(Some(AcSimdTable {
            defaults: slots as u32,
            lists: places as u32,
            fails: 2 * places as u32,
            shift,
            count_mask: most << COUNT_SHIFT,
            count_shift: COUNT_SHIFT,
            partial,
            stored: edges.edges.len(),
            ..blank
        }))
    }

    /// A table with the fields that all forms share.
    fn blank(&self, form: Form, words: Vec<u32>, saturates: bool) -> AcSimdTable {
        AcSimdTable {
            form,
            words,
            defaults: 0,
            lists: 0,
            fails: 0,
            reports: Reports::default(),
            class: *self.shape.classes.map(),
            #[cfg(target_arch = "x86_64")]
            wide_class: Box::new(self.shape.classes.map().map(i32::from)),
            bits: self.shape.bits,
            order: self.shape.order,
            none: self.shape.none,
            mask: self.shape.mask(),
            shift: 0,
            count_mask: 0,
            count_shift: 0,
            saturates,
            partial: 0,
            states: self.trie.len(),
            stored: 0,
        }
    }

    fn finish(self, table: AcSimdTable) -> AcSimdTable {
        AcSimdTable { reports: self.reports, ..table }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_automata::trie::ROOT;

    fn forms(set: &PatternSet) -> Vec<AcSimdTable> {
        ["dense", "compact1", "compact2", "compact3", "linked"]
            .iter()
            .map(|form| {
                compile(set, Isa::Scalar, &Options::with_params(&format!("form={form}")).unwrap())
                    .unwrap()
            })
            .collect()
    }

    /// After any text each table is in the state of the automaton, and reports the same.
    #[test]
    fn one_step_a_byte_follows_the_automaton() {
        let patterns = ["he", "she", "his", "hers", "ushers", "shersh", "ersher", "aaaa", "aab"];
        let set = PatternSet::new(patterns).unwrap();
        let trie = Trie::new(&set).unwrap();
        for table in forms(&set) {
            let mut random = 1u32;
            let (mut state, mut walk) = (ROOT, table.start());
            for _ in 0..20_000 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let byte = b"hershiua"[(random >> 29) as usize];
                state = trie.next(state, byte);
                table.step(&mut walk, byte);
                assert_eq!(table.reports(&walk), trie.is_output(state), "{:?}", table.form);
                let (mut reported, mut expected) = (Vec::new(), Vec::new());
                table.reports.each(table.list(walk.place), |p| reported.push(p));
                let mut suffix = state;
                while suffix != ROOT {
                    expected.extend_from_slice(trie.own(suffix));
                    suffix = trie.output_link(suffix);
                }
                assert_eq!(reported, expected);
            }
        }
    }

    fn hostile() -> PatternSet {
        let tails = (0..256u32).map(|c| [b"aaaaa".as_slice(), &[c as u8], b"zz"].concat());
        let runs = (0..1000u32).map(|i| [&i.to_le_bytes()[..], &[b'a'; 100]].concat());
        PatternSet::new(tails.chain(runs)).unwrap()
    }

    /// 256 heads before one tail with many branches: exceptions in the square of the set. It is
    /// accepted.
    #[test]
    fn hostile_sets_get_the_linked_form() {
        let set = hostile();
        let options = |form: &str| Options::with_params(form).unwrap();
        for form in ["form=compact2", "form=compact3"] {
            let refused = compile(&set, Isa::Scalar, &options(form)).err().unwrap().to_string();
            let most = most_stored(Trie::count_states(&set));
            let said =
                format!("needs {} or more stored transitions, the limit is {most}", most + 1);
            assert!(refused.contains(&said), "{refused}");
        }
        let table = compile(&set, Isa::Avx512, &options("")).unwrap();
        assert_eq!(table.form, Form::Linked);
        assert!(table.memory() < 64 * table.states as u64, "{} states", table.states);
    }
}
