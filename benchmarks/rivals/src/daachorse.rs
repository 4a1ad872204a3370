//! The `daachorse` crate: a compact double-array Aho-Corasick automaton with a 2-gram prefilter.
//!
//! `find_overlapping_iter`, the crate's call for all occurrences in a slice. The crate can also lay
//! its states out by a sample of the data; that form stands beside the plain one as its own rival,
//! because it knows more than the others do.
//!
//! The crate has no case flag: for patterns that ignore case the haystack is copied in lower case
//! first, inside the timed part; in a mixed set the case-sensitive patterns are compared again at
//! each match.

use std::collections::BTreeMap;

use daachorse::{DoubleArrayAhoCorasick, DoubleArrayAhoCorasickBuilder};
use fyke_core::PatternSet;

use crate::fold::Fold;
use crate::{Built, Job, Memory, Refusal, Rival, Scanner, Walk};

/// The crate, with or without a sample of the data.
#[derive(Debug)]
pub struct Daachorse {
    profiled: bool,
}

/// As built from the patterns alone.
pub static PLAIN: Daachorse = Daachorse { profiled: false };

/// With states laid out by a sample of the haystack.
pub static PROFILED: Daachorse = Daachorse { profiled: true };

impl Rival for Daachorse {
    fn name(&self) -> &'static str {
        if self.profiled { "daachorse-sampled" } else { "daachorse" }
    }

    fn about(&self) -> &'static str {
        if self.profiled {
            "daachorse, bytewise, states laid out by a sample of the haystack, find_overlapping_iter"
        } else {
            "daachorse, bytewise, find_overlapping_iter"
        }
    }

    fn version(&self) -> Result<String, Refusal> {
        Ok(env!("FYKE_DAACHORSE_VERSION").to_string())
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        let fold = job.set.nocase_count() > 0;
        let groups = Groups::new(job.set);
        let sample = if fold { job.sample.to_ascii_lowercase() } else { job.sample.to_vec() };
        let builder = DoubleArrayAhoCorasickBuilder::new();
        let builder = if self.profiled { builder.corpus([sample]) } else { builder };
        let automaton = builder.build(&groups.texts).map_err(|e| Refusal(e.to_string()))?;
        Ok(Box::new(Compiled { automaton, set: job.set.clone(), fold, members: groups.members }))
    }
}

/// The distinct byte strings to search for, and which patterns each stands for: `Ab` and a
/// case-insensitive `ab` are one string to a matcher that sees lower case only.
struct Groups {
    texts: Vec<Vec<u8>>,
    /// Empty unless the set mixes both kinds: then string `i` is pattern `i`.
    members: Vec<Vec<u32>>,
}

impl Groups {
    fn new(set: &PatternSet) -> Self {
        if set.nocase_count() == 0 || set.nocase_count() == set.len() {
            let texts = set.iter().map(|p| p.bytes.to_vec()).collect();
            return Self { texts, members: Vec::new() };
        }
        let mut groups: BTreeMap<Vec<u8>, Vec<u32>> = BTreeMap::new();
        for p in set.iter() {
            groups.entry(p.bytes.to_ascii_lowercase()).or_default().push(p.index);
        }
        let (texts, members) = groups.into_iter().unzip();
        Self { texts, members }
    }
}

struct Compiled {
    automaton: DoubleArrayAhoCorasick<u32>,
    set: PatternSet,
    fold: bool,
    members: Vec<Vec<u32>>,
}

impl Built for Compiled {
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal> {
        Ok(Box::new(Thread { compiled: self, lower: Vec::new() }))
    }

    fn memory(&self) -> Option<Memory> {
        Some(Memory { bytes: self.automaton.heap_bytes() as u64, from: "heap_bytes()" })
    }
}

struct Thread<'a> {
    compiled: &'a Compiled,
    /// The haystack in lower case.
    lower: Vec<u8>,
}

impl Walk for Thread<'_> {
    fn walk<F: Fold>(&mut self, haystack: &[u8], fold: &mut F) -> Result<(), Refusal> {
        let compiled = self.compiled;
        if !compiled.fold {
            compiled.plain(haystack, fold);
            return Ok(());
        }
        self.lower.clear();
        self.lower.extend_from_slice(haystack);
        self.lower.make_ascii_lowercase();
        if compiled.members.is_empty() {
            compiled.plain(&self.lower, fold);
        } else {
            compiled.confirmed(haystack, &self.lower, fold);
        }
        Ok(())
    }
}

impl Compiled {
    fn plain<F: Fold>(&self, haystack: &[u8], fold: &mut F) {
        for m in self.automaton.find_overlapping_iter(haystack) {
            fold.on(m.end() as u64, m.value());
        }
    }

    fn confirmed<F: Fold>(&self, haystack: &[u8], lower: &[u8], fold: &mut F) {
        for m in self.automaton.find_overlapping_iter(lower) {
            for &index in &self.members[m.value() as usize] {
                let p = self.set.get(index);
                if p.nocase || p.bytes == &haystack[m.start()..m.end()] {
                    fold.on(m.end() as u64, index);
                }
            }
        }
    }
}
