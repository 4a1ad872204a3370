//! A case: patterns, a haystack, and every match in it.

use crate::naive::{self, Occurrence};
use crate::text::quote;
use fyke_core::{PatternError, PatternId, PatternSet, Semantics, StreamMatch};
use std::fmt;

/// A pattern as a caller adds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The bytes to find.
    pub bytes: Vec<u8>,
    /// Whether ASCII letters match in either case.
    pub nocase: bool,
    /// The caller's id.
    pub id: u32,
}

impl Entry {
    /// The normal form: two entries that mean the same pattern have equal ones.
    pub fn folded(&self) -> Entry {
        let nocase = self.nocase && self.bytes.iter().any(u8::is_ascii_alphabetic);
        let bytes = if nocase { self.bytes.to_ascii_lowercase() } else { self.bytes.clone() };
        Entry { bytes, nocase, id: self.id }
    }
}

/// Patterns, a haystack, and every occurrence of the patterns in it, found by [`naive`].
#[derive(Clone)]
pub struct Case {
    /// The patterns as the caller adds them.
    pub entries: Vec<Entry>,
    /// The set of these patterns.
    pub set: PatternSet,
    /// The haystack.
    pub haystack: Vec<u8>,
    /// Every occurrence, in canonical order.
    pub found: Vec<Occurrence>,
    /// The matches of these occurrences.
    pub expected: Vec<StreamMatch>,
}

impl Case {
    /// Builds the set and finds every occurrence with the naive search.
    ///
    /// # Errors
    /// A pattern is empty or too long.
    pub fn new(entries: Vec<Entry>, haystack: Vec<u8>) -> Result<Case, PatternError> {
        let mut builder = PatternSet::builder();
        for e in &entries {
            builder.push_with(PatternId(e.id), &e.bytes, e.nocase)?;
        }
        let found = naive::occurrences(&entries, &haystack);
        let expected = naive::all(&found);
        Ok(Case { set: builder.build(), entries, haystack, found, expected })
    }

    /// The case with every pattern ignoring ASCII case and the haystack in upper case.
    pub fn folded(&self) -> Case {
        let insensitive = |e: &Entry| Entry { nocase: true, ..e.clone() };
        let entries = self.entries.iter().map(insensitive).collect();
        Case::new(entries, self.haystack.to_ascii_uppercase()).expect("folding keeps lengths")
    }

    /// The case with every pattern added a second time, with its id plus a million.
    pub fn doubled(&self) -> Case {
        let again = |e: &Entry| Entry { id: e.id.wrapping_add(1_000_000), ..e.clone() };
        let entries = self.entries.iter().cloned().chain(self.entries.iter().map(again)).collect();
        Case::new(entries, self.haystack.clone()).expect("the same patterns again")
    }

    /// The matches under one semantics.
    pub fn under(&self, semantics: Semantics) -> Vec<StreamMatch> {
        naive::under(&self.found, semantics)
    }

    /// A byte that is in no pattern in either case, so that padding with it adds no match.
    pub fn filler(&self) -> Option<u8> {
        let mut used = [false; 256];
        for &b in self.entries.iter().flat_map(|e| &e.bytes) {
            used[usize::from(b.to_ascii_lowercase())] = true;
            used[usize::from(b.to_ascii_uppercase())] = true;
        }
        (b'.'..=255).chain(0..b'.').find(|&b| !used[usize::from(b)])
    }
}

/// Prints a vector, ready to be pasted into `vectors/*.toml` with the fix of a failure.
impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pattern = |e: &Entry| {
            let nocase = if e.nocase { ", nocase = true" } else { "" };
            format!("{{ id = {}, bytes = {}{nocase} }}", e.id, quote(&e.bytes))
        };
        let triple = |m: &StreamMatch| format!("[{}, {}, {}]", m.pattern, m.start, m.end);
        writeln!(f, "\n[[test]]\nname = \"\"")?;
        writeln!(f, "patterns = [{}]", join(&self.entries, pattern))?;
        writeln!(f, "haystack = {}", quote(&self.haystack))?;
        writeln!(f, "matches = [{}]", join(&self.expected, triple))
    }
}

fn join<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(", ")
}
