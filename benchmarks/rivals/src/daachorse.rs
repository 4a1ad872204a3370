//! The `daachorse` crate: a compact double-array Aho-Corasick automaton with a 2-gram prefilter.
//!
//! It is used through `find_overlapping_iter`, the call for all occurrences in a slice. The crate
//! can also order its states by a sample of the data; this is a separate rival, because it gets
//! data that the others do not get.
//!
//! The crate has no case flag. For patterns that ignore case, the timed part first copies the
//! haystack in lower case; in a mixed set, case-sensitive patterns are compared again at each
//! match.
//!
//! For [`calls`](crate::calls) it has `find_iter` and `leftmost_find_iter`; their first item is the
//! first match.

use std::collections::BTreeMap;

use daachorse::{DoubleArrayAhoCorasick, DoubleArrayAhoCorasickBuilder, MatchKind};
use fyke_core::PatternSet;

use crate::calls::{Answer, Asked, CallJob, Caller, Calls, Question};
use crate::matches::{FindAll, MatchSink};
use crate::rival::{Built, Job, Memory, Refusal, Rival, Scanner};

/// The crate, with or without a sample of the data.
#[derive(Debug)]
pub struct Daachorse {
    sampled: bool,
}

/// Built from the patterns alone.
pub static PLAIN: Daachorse = Daachorse { sampled: false };

/// With states ordered by a sample of the haystack.
pub static SAMPLED: Daachorse = Daachorse { sampled: true };

impl Rival for Daachorse {
    fn name(&self) -> &'static str {
        if self.sampled { "daachorse-sampled" } else { "daachorse" }
    }

    fn about(&self) -> &'static str {
        if self.sampled {
            "daachorse, bytewise, states ordered by a sample of the haystack, find_overlapping_iter"
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
        let builder = if self.sampled { builder.corpus([sample]) } else { builder };
        let automaton = builder.build(&groups.texts).map_err(refuse)?;
        Ok(Box::new(CompiledSet { automaton, set: job.set.clone(), fold, members: groups.members }))
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        if self.sampled {
            return None;
        }
        let (question, builder) = (job.question, DoubleArrayAhoCorasickBuilder::new());
        if question.is_leftmost() {
            let built = builder.match_kind(MatchKind::LeftmostFirst).build(job.patterns);
            return Some(built.map(|a| asked(question, StartsFirst(a))).map_err(refuse));
        }
        let built = builder.build(job.patterns);
        Some(built.map(|a| asked(question, EndsFirst(a))).map_err(refuse))
    }
}

/// The distinct byte strings to search for, and the patterns of each: `Ab` and a case-insensitive
/// `ab` are the same string in a lower-case haystack.
struct Groups {
    texts: Vec<Vec<u8>>,
    /// Empty if all patterns are of one kind: then string `i` is pattern `i`.
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

struct CompiledSet {
    automaton: DoubleArrayAhoCorasick<u32>,
    set: PatternSet,
    fold: bool,
    members: Vec<Vec<u32>>,
}

impl Built for CompiledSet {
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal> {
        Ok(Box::new(LowercaseScanner { compiled: self, lower: Vec::new() }))
    }

    fn memory(&self) -> Option<Memory> {
        Some(Memory { bytes: self.automaton.heap_bytes() as u64, from: "heap_bytes()" })
    }
}

struct LowercaseScanner<'a> {
    compiled: &'a CompiledSet,
    /// The haystack in lower case.
    lower: Vec<u8>,
}

impl FindAll for LowercaseScanner<'_> {
    fn find_all<S: MatchSink>(&mut self, haystack: &[u8], sink: &mut S) -> Result<(), Refusal> {
        let compiled = self.compiled;
        if !compiled.fold {
            compiled.plain(haystack, sink);
            return Ok(());
        }
        self.lower.clear();
        self.lower.extend_from_slice(haystack);
        self.lower.make_ascii_lowercase();
        if compiled.members.is_empty() {
            compiled.plain(&self.lower, sink);
        } else {
            compiled.confirmed(haystack, &self.lower, sink);
        }
        Ok(())
    }
}

impl CompiledSet {
    fn plain<S: MatchSink>(&self, haystack: &[u8], sink: &mut S) {
        for m in self.automaton.find_overlapping_iter(haystack) {
            sink.on(m.end() as u64, m.value());
        }
    }

    fn confirmed<S: MatchSink>(&self, haystack: &[u8], lower: &[u8], sink: &mut S) {
        for m in self.automaton.find_overlapping_iter(lower) {
            for &index in &self.members[m.value() as usize] {
                let p = self.set.get(index);
                if p.nocase || p.bytes == &haystack[m.start()..m.end()] {
                    sink.on(m.end() as u64, index);
                }
            }
        }
    }
}

fn refuse(error: daachorse::errors::DaachorseError) -> Refusal {
    Refusal(error.to_string())
}

fn asked(question: Question, calls: impl Calls + 'static) -> Box<dyn Caller> {
    Box::new(Asked { question, calls })
}

/// An automaton of standard matches.
struct EndsFirst(DoubleArrayAhoCorasick<u32>);

impl Calls for EndsFirst {
    #[inline]
    fn is_match(&self, haystack: &[u8]) -> bool {
        self.0.find_iter(haystack).next().is_some()
    }

    #[inline]
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.0.find_iter(haystack).next().map(|m| m.end())
    }

    #[inline]
    fn find_iter(&self, haystack: &[u8], answer: &mut Answer) {
        self.0.find_iter(haystack).for_each(|m| answer.add(m.end()));
    }
}

/// An automaton of leftmost-first matches.
struct StartsFirst(DoubleArrayAhoCorasick<u32>);

impl Calls for StartsFirst {
    #[inline]
    fn is_match(&self, haystack: &[u8]) -> bool {
        self.find(haystack).is_some()
    }

    #[inline]
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.0.leftmost_find_iter(haystack).next().map(|m| m.end())
    }

    #[inline]
    fn find_iter(&self, haystack: &[u8], answer: &mut Answer) {
        self.0.leftmost_find_iter(haystack).for_each(|m| answer.add(m.end()));
    }
}
