//! The lists of a set, as a database file stores them, and the check of lists that come from one.

use super::{Inner, MAX_LEN, PatternId, PatternSet};
use crate::table::Table;
use std::fmt;
use std::num::NonZero;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::thread;

/// Fewest patterns that several threads check. Not measured: a guess.
const PARALLEL_FROM: usize = 1 << 16;

/// The maximum number of threads that check a set: with more, memory bandwidth is the limit. A
/// guess.
const MOST_THREADS: usize = 8;

/// The lists of a set, from [`PatternSet::tables`] and for [`PatternSet::from_tables`].
#[derive(Debug, Default)]
pub struct PatternTables {
    /// The bytes of all distinct patterns, one after the other, in bytewise order.
    pub bytes: Table<u8>,
    /// Where each pattern starts in `bytes`, and the end of the last.
    pub starts: Table<u32>,
    /// 1 for each pattern that ignores ASCII case, 0 for others. Empty if none does.
    pub nocase: Table<u8>,
    /// The ids of all patterns, one pattern after the other.
    pub ids: Table<PatternId>,
    /// Where the ids of each pattern start in `ids`, and the end of the last. Empty if each pattern
    /// has one id.
    pub id_starts: Table<u32>,
    /// [`PatternSet::has_shared_spans`].
    pub shared_spans: bool,
}

/// Why lists are not those of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsoundSet(&'static str);

impl UnsoundSet {
    /// The rule that they break.
    pub fn rule(&self) -> &'static str {
        self.0
    }
}

impl fmt::Display for UnsoundSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for UnsoundSet {}

/// What the check of some patterns computes: their least and greatest length, and how many ignore
/// case.
#[derive(Clone, Copy)]
struct Lengths {
    min: usize,
    max: usize,
    nocase: usize,
}

impl PatternSet {
    /// The lists of the set. They share its memory if it is in a mapped file, and are copies if
    /// not.
    pub fn tables(&self) -> PatternTables {
        let s = &*self.0;
        fn all<T: crate::table::Plain>(table: &Table<T>) -> Table<T> {
            table.part(0..table.len()).unwrap_or_default()
        }
        PatternTables {
            bytes: all(&s.bytes),
            starts: all(&s.starts),
            nocase: all(&s.nocase),
            ids: all(&s.ids),
            id_starts: all(&s.id_starts),
            shared_spans: s.span_shared,
        }
    }

    /// The set of lists that [`tables`](Self::tables) returned. Everything is checked except
    /// `shared_spans`, which says whether two patterns can match the same bytes.
    ///
    /// # Errors
    /// The lists are not those of a set: which rule they break.
    pub fn from_tables(tables: PatternTables) -> Result<PatternSet, UnsoundSet> {
        let Lengths { min, max, nocase } = check(&tables)?;
        let PatternTables { bytes, starts, nocase: flags, ids, id_starts, shared_spans } = tables;
        Ok(PatternSet(Arc::new(Inner {
            bytes,
            starts,
            nocase: if nocase == 0 { Table::default() } else { flags },
            ids,
            id_starts,
            min_len: if max == 0 { 0 } else { min },
            max_len: max,
            nocase_count: nocase,
            span_shared: shared_spans,
            digest: OnceLock::new(),
        })))
    }
}

/// Checks everything that engines and sinks take for granted.
fn check(tables: &PatternTables) -> Result<Lengths, UnsoundSet> {
    let starts = &tables.starts;
    let Some(count) = starts.len().checked_sub(1) else {
        return Err(UnsoundSet("the list of starts is empty"));
    };
    if starts[0] != 0 || starts[count] as usize != tables.bytes.len() {
        return Err(UnsoundSet("the starts do not cover the bytes of the patterns"));
    }
    if !tables.nocase.is_empty() && tables.nocase.len() != count {
        return Err(UnsoundSet("there is not one flag for each pattern"));
    }
    check_ids(tables, count)?;
    let threads = match count {
        ..PARALLEL_FROM => 1,
        _ => thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS),
    };
    let each = count.div_ceil(threads).max(1);
    let parts: Vec<_> = (0..count).step_by(each).map(|at| at..count.min(at + each)).collect();
    let none = Lengths { min: usize::MAX, max: 0, nocase: 0 };
    let Some((first, others)) = parts.split_first() else { return Ok(none) };
    thread::scope(|scope| {
        let part = |part: &Range<usize>| check_part(tables, part.clone());
        let others: Vec<_> = others.iter().map(|range| scope.spawn(move || part(range))).collect();
        let mut all = part(first)?;
        for other in others {
            let more = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            all.min = all.min.min(more.min);
            all.max = all.max.max(more.max);
            all.nocase += more.nocase;
        }
        Ok(all)
    })
}

fn check_ids(tables: &PatternTables, count: usize) -> Result<(), UnsoundSet> {
    let (ids, starts) = (&tables.ids, &tables.id_starts);
    if starts.is_empty() {
        let one_each = ids.len() == count;
        return one_each.then_some(()).ok_or(UnsoundSet("there is not one id for each pattern"));
    }
    let covers = starts.len() == count + 1
        && starts[0] == 0
        && starts[count] as usize == ids.len()
        && starts.is_sorted_by(|a, b| a < b);
    if !covers {
        return Err(UnsoundSet("a pattern has no id, or an id no pattern"));
    }
    let sorted = |w: &[u32]| ids[w[0] as usize..w[1] as usize].is_sorted_by(|a, b| a < b);
    let sorted = starts.windows(2).all(sorted);
    sorted.then_some(()).ok_or(UnsoundSet("the ids of a pattern are not in order"))
}

/// Checks some patterns: their lengths, that each follows the one before in order, and that
/// patterns that ignore case are folded.
fn check_part(tables: &PatternTables, part: Range<usize>) -> Result<Lengths, UnsoundSet> {
    let mut lengths = check_lengths(&tables.starts[part.start..=part.end])?;
    check_order(tables, part.clone())?;
    if let Some(flags) = tables.nocase.get(part.clone()) {
        for (i, flag) in part.zip(flags) {
            let has_upper =
                || tables.pattern(i).is_none_or(|p| p.iter().any(u8::is_ascii_uppercase));
            if *flag > 1 || *flag == 1 && has_upper() {
                return Err(UnsoundSet("a pattern that ignores case is not folded"));
            }
            lengths.nocase += usize::from(*flag);
        }
    }
    Ok(lengths)
}

/// Checks that no pattern is empty or too long. The loop has no branch, so that it compiles to SIMD
/// instructions.
fn check_lengths(starts: &[u32]) -> Result<Lengths, UnsoundSet> {
    let (mut min, mut max) = (u32::MAX, 0);
    for (from, to) in starts.iter().zip(&starts[1..]) {
        // If the end is before the start, this wraps to a number that is too large.
        let len = to.wrapping_sub(*from);
        (min, max) = (min.min(len), max.max(len));
    }
    if min == 0 || max as usize > MAX_LEN {
        return Err(UnsoundSet("a pattern is empty or too long"));
    }
    Ok(Lengths { min: min as usize, max: max as usize, nocase: 0 })
}

/// Checks that each pattern of a part follows the one before in order. Most differ in their first
/// eight bytes, which are compared as numbers.
fn check_order(tables: &PatternTables, part: Range<usize>) -> Result<(), UnsoundSet> {
    let outside = || UnsoundSet("a pattern lies outside of the bytes of the patterns");
    let unordered = || UnsoundSet("the patterns are not in bytewise order");
    let bytes = &tables.bytes[..];
    // The last pattern of the part before may have any length here: only that part checks it.
    let mut before = match part.start.checked_sub(1) {
        Some(last) => key(tables.pattern(last).ok_or_else(outside)?),
        None => 0,
    };
    let starts = &tables.starts[part.start..=part.end];
    for (i, (&from, &to)) in part.clone().zip(starts.iter().zip(&starts[1..])) {
        let this = match bytes.get(from as usize..).and_then(|rest| rest.first_chunk()) {
            Some(word) => u64::from_be_bytes(*word) & leading((to - from) as usize),
            None => key(tables.pattern(i).ok_or_else(outside)?),
        };
        if this <= before && i > 0 && !tables.follows(i).ok_or_else(outside)? {
            return Err(unordered());
        }
        before = this;
    }
    // Each end was checked as the start of the next pattern, except the last one.
    part.last().is_none_or(|last| tables.pattern(last).is_some()).then_some(()).ok_or_else(outside)
}

/// Masks the bytes of a big-endian word that belong to a pattern of `len` bytes.
#[inline(always)]
fn leading(len: usize) -> u64 {
    if len >= 8 { u64::MAX } else { !(u64::MAX >> (8 * len)) }
}

/// The first eight bytes of a pattern as a big-endian number, padded with zeros. Numbers that
/// differ sort as the patterns do.
fn key(pattern: &[u8]) -> u64 {
    pattern.iter().take(8).rev().fold(0, |key, &byte| key >> 8 | u64::from(byte) << 56)
}

impl PatternTables {
    /// The bytes of a pattern. `None` if they lie outside of the list.
    fn pattern(&self, i: usize) -> Option<&[u8]> {
        self.bytes.get(self.starts[i] as usize..self.starts[i + 1] as usize)
    }

    /// Whether a pattern sorts after the one before it.
    fn follows(&self, i: usize) -> Option<bool> {
        let flag = |i: usize| self.nocase.get(i).copied().unwrap_or(0);
        let (before, this) = (self.pattern(i - 1)?, self.pattern(i)?);
        Some((before, flag(i - 1)) < (this, flag(i)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> PatternSet {
        let mut builder = PatternSet::builder();
        for (i, p) in ["b", "ab", "ab", "abcdefghi", "abcdefghij", "a\0", "a"].iter().enumerate() {
            builder.push_with(PatternId(i as u32), p, i % 3 == 0).unwrap();
        }
        builder.build()
    }

    /// The lists of the set, changed.
    fn changed(change: impl Fn(&mut [Vec<u32>; 5])) -> Result<PatternSet, UnsoundSet> {
        let of = set().tables();
        let wide = |bytes: &[u8]| bytes.iter().map(|&b| u32::from(b)).collect::<Vec<_>>();
        let ids = of.ids.iter().map(|id| id.0).collect();
        let mut lists =
            [wide(&of.bytes), of.starts.to_vec(), wide(&of.nocase), ids, of.id_starts.to_vec()];
        change(&mut lists);
        let [bytes, starts, nocase, ids, id_starts] = lists;
        let narrow = |list: Vec<u32>| list.iter().map(|&n| n as u8).collect::<Vec<_>>().into();
        PatternSet::from_tables(PatternTables {
            bytes: narrow(bytes),
            starts: starts.into(),
            nocase: narrow(nocase),
            ids: ids.into_iter().map(PatternId).collect::<Vec<_>>().into(),
            id_starts: id_starts.into(),
            shared_spans: of.shared_spans,
        })
    }

    #[test]
    fn a_set_survives_its_lists() {
        for set in [set(), PatternSet::builder().build(), PatternSet::new(["x", "yy"]).unwrap()] {
            let again = PatternSet::from_tables(set.tables()).unwrap();
            assert!(set.iter().eq(again.iter()));
            assert_eq!(format!("{set:?}"), format!("{again:?}"));
            assert_eq!(set.digest(), again.digest());
            assert_eq!(set.has_shared_spans(), again.has_shared_spans());
        }
    }

    #[test]
    fn large_sets_are_checked_by_several_threads() {
        let count = PARALLEL_FROM + 5;
        let set = PatternSet::new((0..count).map(|i| format!("{i:07}"))).unwrap();
        let tables = || set.tables();
        assert_eq!(PatternSet::from_tables(tables()).unwrap().len(), count);
        for place in [1, count / 2, count - 1] {
            let mut bytes = tables().bytes.to_vec();
            bytes[7 * place..][..7].copy_from_slice(b"0000000");
            let changed = PatternTables { bytes: bytes.into(), ..tables() };
            assert!(PatternSet::from_tables(changed).is_err());
        }
    }

    #[test]
    fn what_is_no_set_is_refused_with_the_reason() {
        let refused = |change: fn(&mut [Vec<u32>; 5])| changed(change).err().map(|e| e.0);
        assert_eq!(refused(|_| {}), None);
        let reasons = [
            refused(|l| l[1].clear()),
            refused(|l| l[1][0] = 1),
            refused(|l| l[1][2] = l[1][1]),
            refused(|l| l[1][2] = u32::MAX),
            refused(|l| l[0].push(0)),
            refused(|l| l[0][0] = 255),
            refused(|l| l[0].swap(1, 2)),
            refused(|l| _ = l[2].pop()),
            refused(|l| l[2][0] = 2),
            refused(|l| l[3][2] = l[3][3]),
            refused(|l| l[4][1] = 0),
            refused(|l| _ = l[4].pop()),
            refused(|l| l[4].clear()),
        ];
        assert!(reasons.iter().all(Option::is_some), "{reasons:?}");
    }
}
