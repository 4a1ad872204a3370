//! Compile time: builds the table from the trie.

use super::{AT_ONCE, DfaTable, Form, ListHead, NO_ROW, ReportLists};
use fyke_automata::trie::ROOT;
use fyke_automata::{ByteClasses, CaseFold, Trie};
use fyke_core::{Options, PatternSet, Refusal};

/// Columns of the dense form.
pub(super) const DENSE_COLUMNS: u64 = 256;

/// The maximum number of entries of all report lists, per state and pattern. Up to this, a state
/// has all its patterns in one list. Beyond it, in sets such as a, aa, aaa, ..., a list links to
/// that of a suffix.
const FLAT_LISTS: usize = 4;

/// Bytes of an entry.
const ENTRY: usize = size_of::<i32>();

/// The maximum number of entries of a table: state numbers are signed 32-bit distances in bytes.
const MAX_ENTRIES: u64 = i32::MAX as u64 / ENTRY as u64;

/// The bytes that occur in the patterns, as the automaton reads them.
pub(super) fn used_bytes(set: &PatternSet) -> [bool; 256] {
    let fold = CaseFold::of(set);
    let mut used = [false; 256];
    for p in set.iter() {
        p.bytes.iter().for_each(|&b| used[usize::from(fold.byte(b))] = true);
    }
    used
}

/// The number of columns of a form.
pub(super) fn columns(form: Form, classes: &ByteClasses) -> u64 {
    if form == Form::Dense { DENSE_COLUMNS } else { classes.len() as u64 }
}

/// Most bytes of the table.
pub(super) fn memory(states: u64, columns: u64, set: &PatternSet) -> u64 {
    let (depths, heads) = (2 * states, 12 * states);
    let lists = 4 * (FLAT_LISTS as u64 * (states + set.len() as u64) + AT_ONCE as u64);
    states * columns * 4 + depths + heads + lists + set.len() as u64
}

pub(super) fn compile(
    set: &PatternSet,
    states: u64,
    form: Form,
    opt: &Options,
) -> Result<DfaTable, Refusal> {
    let classes = ByteClasses::new(&used_bytes(set));
    let classes = if CaseFold::of(set) == CaseFold::Lower { classes.fold_case() } else { classes };
    let stride = columns(form, &classes);
    opt.check_memory(memory(states, stride, set).saturating_add(Trie::memory_for(states, set)))?;
    if states * stride > MAX_ENTRIES {
        return Err(Refusal::TooBig {
            what: "table entries",
            need: states * stride,
            have: MAX_ENTRIES,
        });
    }
    let trie = Trie::new(set)?;
    let stride = stride as usize;
    let numbers = number(&trie, stride);
    let reporting = numbers.iter().filter(|n| **n < 0).count();
    let mut table = DfaTable {
        rows: vec![0; trie.len() * stride],
        origin: reporting * stride,
        stride,
        per_row: (1u64 << 33).div_ceil((stride * ENTRY) as u64),
        class: *classes.map(),
        form,
        depths: vec![0; trie.len()],
        reports: ReportLists::new(reporting),
    };
    fill(&mut table, &trie, &classes, &numbers);
    describe_states(&mut table, &trie, &numbers);
    Ok(table)
}

/// Numbers the states by the distances of their rows from the root's, breadth first: the rows of
/// reporting states lie before it, the others after it. So shallow states, which are visited most,
/// are close together.
fn number(trie: &Trie, stride: usize) -> Vec<i32> {
    let (mut plain, mut reporting) = (0i32, 0i32);
    let row = (stride * ENTRY) as i32;
    (0..trie.len() as u32)
        .map(|s| {
            if trie.is_output(s) {
                reporting -= row;
                reporting
            } else {
                plain += row;
                plain - row
            }
        })
        .collect()
}

/// Fills in each row: a copy of the failure state's, overwritten by the children.
fn fill(table: &mut DfaTable, trie: &Trie, classes: &ByteClasses, numbers: &[i32]) {
    let stride = table.stride;
    for s in 0..trie.len() as u32 {
        let start = |table: &DfaTable, s: u32| table.row(numbers[s as usize] as isize) * stride;
        let row = start(table, s);
        if s != ROOT {
            let fail = start(table, trie.fail(s));
            table.rows.copy_within(fail..fail + stride, row);
        }
        for child in trie.children(s) {
            let target = numbers[child as usize];
            let label = trie.label(child);
            for_columns(table.form, trie, classes, label, |c| table.rows[row + c] = target);
        }
    }
}

/// Calls `write` with the columns of a label.
fn for_columns(
    form: Form,
    trie: &Trie,
    classes: &ByteClasses,
    label: u8,
    mut write: impl FnMut(usize),
) {
    match form {
        Form::Classes => write(usize::from(classes.get(label))),
        Form::Dense => {
            write(usize::from(label));
            if trie.fold() == CaseFold::Lower {
                write(usize::from(label.to_ascii_uppercase()));
            }
        }
    }
}

/// Records the depth and the reports of each state.
fn describe_states(table: &mut DfaTable, trie: &Trie, numbers: &[i32]) {
    let budget = FLAT_LISTS * (trie.len() + trie.pattern_count());
    for (s, depth) in (0..trie.len() as u32).zip(trie.depths()) {
        let row = table.row(numbers[s as usize] as isize);
        table.depths[row] = depth as u16;
        if trie.is_output(s) {
            let link = trie.output_link(s);
            let shorter = (link != ROOT).then(|| table.row(numbers[link as usize] as isize));
            table.reports.heads[row] = table.reports.add(trie.own(s), shorter, budget);
        }
    }
    table.reports.patterns.extend([0; AT_ONCE]);
}

impl ReportLists {
    fn new(states: usize) -> Self {
        ReportLists { heads: vec![ListHead::default(); states], patterns: Vec::new() }
    }

    /// Adds a state that reports `own`, then what the state in the row `shorter` reports.
    fn add(&mut self, own: &[u32], shorter: Option<usize>, budget: usize) -> ListHead {
        if let (Some(row), true) = (shorter, own.is_empty()) {
            return self.heads[row];
        }
        let at = self.patterns.len() as u32;
        self.patterns.extend_from_slice(own);
        let mut next = shorter.map_or(NO_ROW, |row| row as u32);
        while next != NO_ROW && self.patterns.len() < budget {
            let list = self.heads[next as usize];
            self.patterns.extend_from_within(list.at as usize..(list.at + list.count) as usize);
            next = list.next;
        }
        ListHead { at, count: self.patterns.len() as u32 - at, next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(patterns: &[Vec<u8>]) -> DfaTable {
        let set = PatternSet::new(patterns).unwrap();
        compile(&set, Trie::count_states(&set), Form::Classes, &Options::default()).unwrap()
    }

    fn walk(t: &DfaTable, text: &[u8]) -> isize {
        text.iter().fold(0, |s, &b| t.steps::<false>().next(s, b))
    }

    fn patterns_of(t: &DfaTable, text: &[u8]) -> Vec<u32> {
        let s = walk(t, text);
        let mut row = t.row(s) as u32;
        let mut all = Vec::new();
        while row != NO_ROW {
            let list = t.reports.heads[row as usize];
            all.extend(&t.reports.patterns[list.at as usize..][..list.count as usize]);
            row = list.next;
        }
        all
    }

    /// The automaton of Zha (2010), figure 2-3: every state is found by its number.
    #[test]
    fn rows_are_found_by_number() {
        let t = table(&[b"he".to_vec(), b"she".to_vec(), b"his".to_vec(), b"hers".to_vec()]);
        assert_eq!((t.depths.len(), t.stride, t.reports.heads.len()), (10, 6, 4));
        let she = walk(&t, b"ushe");
        assert!(she < 0);
        assert_eq!((t.depth(she), t.depth(0)), (3, 0));
        assert_eq!(patterns_of(&t, b"ushe"), [3, 0]);
    }

    /// 300 patterns that are suffixes of one another have 45,150 reports in all; the lists stay
    /// linear.
    #[test]
    fn nested_patterns_do_not_blow_up_the_lists() {
        let nested: Vec<Vec<u8>> = (1..=300).map(|n| vec![b'a'; n]).collect();
        let t = table(&nested);
        let entries = t.reports.patterns.len();
        assert!(entries < 2 * FLAT_LISTS * (301 + 300), "{entries}");
        assert_eq!(patterns_of(&t, &nested[299]), (0..300).rev().collect::<Vec<_>>());
    }
}
