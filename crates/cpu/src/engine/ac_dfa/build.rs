//! Compile time: rows out of the trie.

use super::{Form, NO_LIST, Table};
use crate::build::trie::ROOT;
use crate::build::{ByteClasses, Fold, Trie};
use fyke_core::{Options, PatternSet, Refusal};

/// Entries of a row of the dense form: 256 columns and the match column.
pub(super) const DENSE_STRIDE: u64 = 257;

/// Entries that a table may have: state numbers are signed 32-bit offsets.
const MAX_ENTRIES: u64 = i32::MAX as u64;

/// The bytes that occur in the patterns, as they are read.
pub(super) fn used_bytes(set: &PatternSet) -> [bool; 256] {
    let fold = Fold::of(set);
    let mut used = [false; 256];
    for p in set.iter() {
        p.bytes.iter().for_each(|&b| used[usize::from(fold.byte(b))] = true);
    }
    used
}

/// The number of columns of a form, the match column left out.
pub(super) fn columns(form: Form, classes: &ByteClasses) -> u64 {
    if form == Form::Dense { DENSE_STRIDE - 1 } else { classes.len() as u64 }
}

/// Bytes of the table and the lists; lists have three words and the patterns, for each state at most.
pub(super) fn memory(states: u64, columns: u64, set: &PatternSet) -> u64 {
    states * (columns + 1) * 4 + 12 * states + 5 * set.len() as u64
}

pub(super) fn compile(
    set: &PatternSet,
    states: u64,
    form: Form,
    opt: &Options,
) -> Result<Table, Refusal> {
    let classes = ByteClasses::new(&used_bytes(set));
    let classes = if Fold::of(set) == Fold::Lower { classes.fold_case() } else { classes };
    let stride = columns(form, &classes) + 1;
    opt.check_memory(
        memory(states, stride - 1, set).saturating_add(Trie::memory_for(states, set)),
    )?;
    if states * stride > MAX_ENTRIES {
        return Err(Refusal::TooBig {
            what: "table entries",
            need: states * stride,
            have: MAX_ENTRIES,
        });
    }
    let trie = Trie::new(set)?;
    let numbers = number(&trie, stride as usize);
    let mut table = Table {
        rows: vec![0; trie.len() * stride as usize],
        origin: numbers.iter().filter(|n| **n < 0).count() * stride as usize,
        stride: stride as usize,
        class: *classes.map(),
        form,
        lists: Vec::new(),
    };
    fill(&mut table, &trie, &classes, &numbers);
    list(&mut table, &trie, &numbers);
    Ok(table)
}

/// Numbers the states by their rows, breadth first: the others upwards from 0, those that report
/// downwards from -1, so that shallow states, which are the busy ones, lie close together.
fn number(trie: &Trie, stride: usize) -> Vec<i32> {
    let (mut plain, mut reporting) = (0i32, 0i32);
    let stride = stride as i32;
    (0..trie.len() as u32)
        .map(|s| {
            if trie.is_output(s) {
                reporting -= stride;
                reporting
            } else {
                plain += stride;
                plain - stride
            }
        })
        .collect()
}

/// A row is that of the failure state with the children written over it.
fn fill(table: &mut Table, trie: &Trie, classes: &ByteClasses, numbers: &[i32]) {
    let columns = table.stride - 1;
    for s in 0..trie.len() as u32 {
        let row = table.origin.wrapping_add_signed(numbers[s as usize] as isize);
        if s != ROOT {
            let fail = table.origin.wrapping_add_signed(numbers[trie.fail(s) as usize] as isize);
            table.rows.copy_within(fail..fail + columns, row);
        }
        for child in trie.children(s) {
            let target = numbers[child as usize];
            for_columns(table.form, trie, classes, trie.label(child), |c| {
                table.rows[row + c] = target
            });
        }
    }
}

/// The columns that a label stands for.
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
            if trie.fold() == Fold::Lower {
                write(usize::from(label.to_ascii_uppercase()));
            }
        }
    }
}

/// Fills the last column, and the lists of the states that report.
fn list(table: &mut Table, trie: &Trie, numbers: &[i32]) {
    let mut place = vec![NO_LIST; trie.len()];
    for (s, depth) in (0..trie.len() as u32).zip(trie.depths()) {
        let number = numbers[s as usize];
        let mut last = depth;
        if number < 0 {
            last = table.lists.len() as u32;
            place[s as usize] = last;
            let link = trie.output_link(s);
            let link = if link == ROOT { NO_LIST } else { place[link as usize] };
            table.lists.extend([depth, trie.own(s).len() as u32, link]);
            table.lists.extend_from_slice(trie.own(s));
        }
        let row = table.origin.wrapping_add_signed(number as isize);
        table.rows[row + table.stride - 1] = last as i32;
    }
}
