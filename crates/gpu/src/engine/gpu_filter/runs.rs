//! Patterns of one byte over and over, 00 00 00 00: in real traffic 97 to 99 matches of a hundred of four bytes or more
//! are of them, and a run of n bytes has some n matches of each. The kernel writes where such a run begins and where it
//! ends, and what matches in it follows from that.

use fyke_core::{Pattern, PatternSet, Record};

/// Patterns that do not exist: the ends of a run, with the byte in the low bits. The kernel has the same.
pub(super) const START: u32 = 0x8000_0000;
const END: u32 = 0xC000_0000;

/// From this length on a byte's runs are told by five equal bytes, which are rarer than four.
const LONG: usize = 6;

/// What the kernel reads of a byte: it has patterns of it alone; all of these are long; no pattern has its window inside of
/// its runs. The kernel has the same.
const BYTE: u8 = 1;
const ALL_LONG: u8 = 2;
const QUIET: u8 = 4;

/// The patterns of one byte.
pub(super) struct Runs {
    /// For each byte its patterns: length and index, shortest first.
    patterns: Vec<Vec<(u32, u32)>>,
}

impl Runs {
    /// Nothing if there are none. Letters of patterns that ignore case are left to the filter: a run of them may be of
    /// both cases.
    pub(super) fn new(set: &PatternSet) -> Option<Runs> {
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
        patterns.iter().any(|p| !p.is_empty()).then_some(Runs { patterns })
    }

    /// Whether a pattern is found by its runs.
    pub(super) fn has(&self, bytes: &[u8]) -> bool {
        is_uniform(bytes) && bytes.len() >= 4 && !self.patterns[usize::from(bytes[0])].is_empty()
    }

    /// Patterns of a byte alone: length and index, shortest first.
    pub(super) fn patterns(&self, byte: u8) -> &[(u32, u32)] {
        &self.patterns[usize::from(byte)]
    }

    /// The bytes that have patterns, and whether all of these are long.
    pub(super) fn bytes(&self) -> impl Iterator<Item = (u8, bool)> {
        let least = |b: u8| Some((b, self.patterns[usize::from(b)].first()?.0 as usize >= LONG));
        (0..=255).filter_map(least)
    }

    /// Leaves the patterns of a byte to the filter. Says whether there were any.
    pub(super) fn leave(&mut self, byte: u8) -> bool {
        !std::mem::take(&mut self.patterns[usize::from(byte)]).is_empty()
    }

    /// What the kernel reads of each byte. Inside of the runs of a quiet byte no pattern is looked for.
    pub(super) fn kinds(&self, quiet: &[bool; 256]) -> [u8; 256] {
        let mut kinds = quiet.map(|quiet| if quiet { QUIET } else { 0 });
        for (byte, long) in self.bytes() {
            kinds[usize::from(byte)] |= if long { BYTE | ALL_LONG } else { BYTE };
        }
        kinds
    }

    /// Puts the matches of runs in the place of their ends.
    pub(super) fn expand(&self, records: &mut Vec<Record>, overlap: u32) {
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
            for &(length, pattern) in &self.patterns[byte as usize] {
                if length > end - start {
                    break;
                }
                let first = (start + length).max(overlap + 1);
                records.extend((first..=end).map(|end| Record { end, pattern }));
            }
        }
    }
}

/// The bytes of whose runs the inside may be where a pattern is looked for by its window of three bytes at `k`: what
/// stands beside that in the pattern, if anything, is the same.
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

/// Whether all bytes are the same.
pub(super) fn is_uniform(bytes: &[u8]) -> bool {
    bytes.windows(2).all(|w| w[0] == w[1])
}
