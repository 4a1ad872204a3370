//! Patterns that repeat one byte, such as 00 00 00 00.
//!
//! In real traffic nearly all matches of four bytes or more are of such patterns, because a run of
//! n bytes has about n matches of each. The kernel writes where a run begins and where it ends,
//! and the host derives the matches.

use crate::matcher::Packed;
use fyke_core::{Pattern, PatternSet, Record};
use std::ops::Range;

/// Numbers of no pattern that mark the ends of a run, with the byte in the low bits; as in the
/// kernel.
pub(super) const START: u32 = 0x8000_0000;
const END: u32 = 0xC000_0000;

/// If all patterns of a byte have this length or more, its runs are recognized by five equal bytes,
/// which are rarer than four.
const LONG: usize = 6;

/// What the kernel reads of a byte: patterns repeat it; all of these are long; no pattern has a
/// window inside of its runs. As in the kernel.
const BYTE: u8 = 1;
const ALL_LONG: u8 = 2;
const QUIET: u8 = 4;

/// The patterns that repeat one byte.
pub(super) struct RunPatterns {
    /// Length and index of the patterns of each byte, shortest first.
    patterns: Vec<Vec<(u32, u32)>>,
}

impl RunPatterns {
    /// The patterns of a set that repeat one byte; `None` if there are none. A letter with a
    /// pattern that ignores case is left to the filter with all its patterns, because runs of that
    /// pattern may mix both cases.
    pub(super) fn new(set: &PatternSet) -> Option<RunPatterns> {
        let mut patterns = vec![Vec::new(); 256];
        let mut mixed = [false; 256];
        for p in set.iter().filter(|p| is_uniform(p.bytes) && p.bytes.len() >= 4) {
            let byte = p.bytes[0];
            if p.nocase && byte.is_ascii_alphabetic() {
                mixed[usize::from(byte.to_ascii_lowercase())] = true;
                mixed[usize::from(byte.to_ascii_uppercase())] = true;
            }
            patterns[usize::from(byte)].push((p.bytes.len() as u32, p.index));
        }
        patterns.iter_mut().zip(mixed).filter(|(_, mixed)| *mixed).for_each(|(p, _)| p.clear());
        patterns.iter_mut().for_each(|p| p.sort_unstable());
        patterns.iter().any(|p| !p.is_empty()).then_some(RunPatterns { patterns })
    }

    /// Whether a pattern is found by the ends of runs.
    pub(super) fn has(&self, bytes: &[u8]) -> bool {
        is_uniform(bytes) && bytes.len() >= 4 && !self.patterns[usize::from(bytes[0])].is_empty()
    }

    /// Length and index of the patterns of a byte, shortest first.
    pub(super) fn patterns(&self, byte: u8) -> &[(u32, u32)] {
        &self.patterns[usize::from(byte)]
    }

    /// The bytes with patterns, and whether all patterns of each are long.
    pub(super) fn bytes(&self) -> impl Iterator<Item = (u8, bool)> {
        let least = |b: u8| Some((b, self.patterns[usize::from(b)].first()?.0 as usize >= LONG));
        (0..=255).filter_map(least)
    }

    /// Leaves the patterns of a byte to the filter; returns whether there were any.
    pub(super) fn leave(&mut self, byte: u8) -> bool {
        !std::mem::take(&mut self.patterns[usize::from(byte)]).is_empty()
    }

    /// What the kernel reads of each byte. It ignores windows inside of the runs of a quiet byte.
    pub(super) fn kinds(&self, quiet: &[bool; 256]) -> [u8; 256] {
        let mut kinds = quiet.map(|quiet| if quiet { QUIET } else { 0 });
        for (byte, long) in self.bytes() {
            kinds[usize::from(byte)] |= if long { BYTE | ALL_LONG } else { BYTE };
        }
        kinds
    }

    /// Replaces the ends of runs by the matches within the runs. With packed haystacks, by those
    /// within one of them that the sink has to get.
    pub(super) fn expand(
        &self,
        records: &mut Vec<Record>,
        overlap: u32,
        packed: Option<Packed<'_>>,
    ) {
        let is_edge = |r: &Record| r.pattern >= START;
        let mut starts: Vec<(u32, u32)> = Vec::new();
        let mut ends: Vec<u32> = Vec::new();
        for r in records.iter().filter(|r| is_edge(r)) {
            if r.pattern >= END { ends.push(r.end) } else { starts.push((r.end, r.pattern & 255)) }
        }
        records.retain(|r| !is_edge(r));
        starts.sort_unstable();
        ends.sort_unstable();
        debug_assert_eq!(starts.len(), ends.len(), "every run has two ends");
        for (&(start, byte), &end) in starts.iter().zip(&ends) {
            let Some(packed) = packed else {
                self.matches(byte as u8, start..end, overlap, |_, _| true, records);
                continue;
            };
            let mut at = start;
            while at < end {
                let (haystack, span) = packed.haystack(at);
                let run = start.max(span.start)..end.min(span.end);
                at = span.end;
                let take = |pattern, n| packed.haystacks.take(haystack, pattern, n);
                self.matches(byte as u8, run, overlap, take, records);
            }
        }
    }

    /// Appends the matches within a run of a byte. `take` gets a pattern and the number of its
    /// matches, and says whether they are appended.
    fn matches(
        &self,
        byte: u8,
        run: Range<u32>,
        overlap: u32,
        take: impl Fn(u32, u64) -> bool,
        records: &mut Vec<Record>,
    ) {
        for &(length, pattern) in &self.patterns[usize::from(byte)] {
            if length > run.len() as u32 {
                break;
            }
            let first = (run.start + length).max(overlap + 1);
            if first <= run.end && take(pattern, u64::from(run.end - first + 1)) {
                records.extend((first..=run.end).map(|end| Record { end, pattern }));
            }
        }
    }
}

/// The bytes whose runs may contain a pattern's window of three bytes at `k` in their inside: the
/// window and the bytes beside it in the pattern, if any, are equal.
pub(super) fn inner_bytes(pattern: &Pattern<'_>, k: usize) -> Vec<u8> {
    let (bytes, byte) = (pattern.bytes, pattern.bytes[k]);
    let around = &bytes[k.saturating_sub(1)..bytes.len().min(k + 4)];
    let is_same = |b: &u8| *b == byte || pattern.nocase && b.eq_ignore_ascii_case(&byte);
    match around.iter().all(is_same) {
        true if pattern.nocase => vec![byte.to_ascii_lowercase(), byte.to_ascii_uppercase()],
        true => vec![byte],
        false => Vec::new(),
    }
}

/// Whether all bytes are equal.
pub(super) fn is_uniform(bytes: &[u8]) -> bool {
    bytes.windows(2).all(|w| w[0] == w[1])
}
