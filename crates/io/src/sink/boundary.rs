//! Keeps the matches that have the requested boundaries: whole words or whole lines (`-w`, `-x`),
//! or what their pattern asks for (`fullword` of YARA strings).
//!
//! Boundaries depend on the bytes before and after a match, so the last matches of a block may have
//! to wait for the next block.

use super::window::Window;
use crate::rules::{Remark, Rules};
use fyke_core::{Batch, PatternId, PatternSet, Record};
use std::io;
use std::ops::Range;

/// What must surround a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boundary {
    /// No word byte before or after it. Word bytes are ASCII letters, digits and `_`.
    Word,
    /// The start of a line before it and the end of a line after it. A CR is part of the line.
    Line,
}

impl Boundary {
    /// Whether a match may stand next to this byte; `None` is the start or end of the haystack.
    fn admits(self, neighbor: Option<u8>) -> bool {
        match self {
            Boundary::Word => !neighbor.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_'),
            Boundary::Line => neighbor.is_none_or(|b| b == b'\n'),
        }
    }
}

/// What the ids of a pattern ask for, as bits: nothing; no ASCII letter or digit next to a match;
/// or the same for wide strings, in which a zero follows each letter or digit.
const NOTHING: u8 = 1;
const FULLWORD: u8 = 2;
const WIDE_FULLWORD: u8 = 4;
const EVERYTHING: u8 = NOTHING | FULLWORD | WIDE_FULLWORD;

/// What must surround the matches of a set: the same for all of them, and what patterns ask for.
///
/// Equal patterns of different rules may ask for different things. A match is then reported only
/// for those ids whose request is met. [`Semantics`](fyke_core::Semantics) other than `All` see
/// such patterns as one.
#[derive(Clone, Debug)]
pub struct Boundaries {
    all: Option<Boundary>,
    /// What the ids of each distinct pattern ask for; empty if no pattern asks for anything.
    asked: Vec<u8>,
    /// Three variants of the set, by which requests are met at a match: none, `FULLWORD`, or
    /// `WIDE_FULLWORD`. Each lacks the ids whose request is not met. Empty if all ids of each
    /// pattern ask for the same.
    reduced: Vec<PatternSet>,
}

impl Boundaries {
    /// The boundaries that the matches of a set need. `rules` has the patterns of the set. `None`
    /// if they need nothing.
    pub fn new(all: Option<Boundary>, rules: &Rules, set: &PatternSet) -> Option<Self> {
        if !rules.have_boundaries() {
            return all.map(Self::of_all);
        }
        let asked_by = |id: PatternId| match rules.get(id).and_then(|p| p.origin.remark) {
            Some(Remark::Fullword) => FULLWORD,
            Some(Remark::WideFullword) => WIDE_FULLWORD,
            _ => NOTHING,
        };
        let asked: Vec<u8> =
            set.iter().map(|p| p.ids.iter().fold(0, |bits, &id| bits | asked_by(id))).collect();
        let differ = asked.iter().any(|bits| bits.count_ones() > 1);
        let kinds = [NOTHING, NOTHING | FULLWORD, NOTHING | WIDE_FULLWORD];
        let kinds = if differ { &kinds[..] } else { &[] };
        let reduced = kinds.iter().map(|met| reduced(set, |id| asked_by(id) & met != 0)).collect();
        Some(Self { all, asked, reduced })
    }

    /// The same for all matches.
    pub fn of_all(boundary: Boundary) -> Self {
        Self { all: Some(boundary), asked: Vec::new(), reduced: Vec::new() }
    }

    /// How many bytes after a match decide about it.
    pub fn look_ahead(&self) -> u64 {
        if self.asked.iter().any(|bits| bits & WIDE_FULLWORD != 0) { 2 } else { 1 }
    }

    /// Divides a batch of matches that a [`BoundaryFilter`] kept. In each part the set has only the
    /// ids whose request is met.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn with_their_ids<'b>(
        &'b self,
        window: &Window<'_>,
        batch: &Batch<'b>,
    ) -> io::Result<Vec<Batch<'b>>> {
        if self.reduced.is_empty() {
            return Ok(vec![*batch]);
        }
        let mut spare = Vec::new();
        let (mut batches, mut start, mut last) = (Vec::new(), 0, batch.set);
        for (i, &record) in batch.records.iter().enumerate() {
            let asked = self.asked[record.pattern as usize];
            let met = self.met(window, span(batch, record), asked, &mut spare)?;
            // A match whose ids all ask for the same was kept for all of them.
            let set = match self.reduced.get(usize::from(met >> 1)) {
                _ if asked.count_ones() == 1 => last,
                Some(reduced) if met & asked != asked => reduced,
                _ => batch.set,
            };
            if !std::ptr::eq(set, last) && start < i {
                batches.push(Batch { records: &batch.records[start..i], set: last, ..*batch });
                start = i;
            }
            last = set;
        }
        batches.push(Batch { records: &batch.records[start..], set: last, ..*batch });
        Ok(batches)
    }

    /// Whether a match has its boundary: that of all, and what an id of its pattern asks for.
    fn admit(
        &self,
        window: &Window<'_>,
        span: Range<u64>,
        pattern: u32,
        spare: &mut Vec<u8>,
    ) -> io::Result<bool> {
        if let Some(all) = self.all {
            let before = before(window, span.start, 1, spare)?;
            if !all.admits(before) || !all.admits(window.byte(span.end, spare)?) {
                return Ok(false);
            }
        }
        let asked = self.asked.get(pattern as usize).copied().unwrap_or(NOTHING);
        Ok(asked & NOTHING != 0 || self.met(window, span, asked, spare)? & asked != 0)
    }

    /// The requests that are met at a match, as bits. Those that its pattern does not make are not
    /// tested and count as met.
    fn met(
        &self,
        window: &Window<'_>,
        span: Range<u64>,
        asked: u8,
        spare: &mut Vec<u8>,
    ) -> io::Result<u8> {
        let is_word = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric());
        let mut met = EVERYTHING;
        if asked & FULLWORD != 0 {
            let word = is_word(before(window, span.start, 1, spare)?)
                || is_word(window.byte(span.end, spare)?);
            met &= if word { !FULLWORD } else { EVERYTHING };
        }
        if asked & WIDE_FULLWORD != 0 {
            let word = is_word(before(window, span.start, 2, spare)?)
                && before(window, span.start, 1, spare)? == Some(0)
                || is_word(window.byte(span.end, spare)?)
                    && window.byte(span.end + 1, spare)? == Some(0);
            met &= if word { !WIDE_FULLWORD } else { EVERYTHING };
        }
        Ok(met)
    }
}

/// The set with only some of its ids. A pattern that would lose all of its ids keeps all.
fn reduced(set: &PatternSet, keep: impl Fn(PatternId) -> bool) -> PatternSet {
    let mut builder = PatternSet::builder();
    for pattern in set.iter() {
        let none = !pattern.ids.iter().any(|&id| keep(id));
        for &id in pattern.ids.iter().filter(|&&id| none || keep(id)) {
            let pushed = builder.push_with(id, pattern.bytes, pattern.nocase);
            debug_assert!(pushed.is_ok(), "the patterns are those of a set");
        }
    }
    builder.build()
}

/// Where a match starts and ends.
fn span(batch: &Batch<'_>, record: Record) -> Range<u64> {
    let end = batch.end(record);
    end - batch.set.pattern_len(record.pattern) as u64..end
}

/// The byte that many bytes before a position.
fn before(
    window: &Window<'_>,
    position: u64,
    distance: u64,
    spare: &mut Vec<u8>,
) -> io::Result<Option<u8>> {
    match position.checked_sub(distance) {
        Some(at) => window.byte(at, spare),
        None => Ok(None),
    }
}

/// Filters the matches of one haystack after the other.
///
/// ```
/// use fyke_io::sink::{Boundaries, Boundary, BoundaryFilter, Window};
/// use fyke_core::{Batch, PatternSet, Record};
/// let set = PatternSet::new(["ab"])?;
/// let records = [Record { end: 2, pattern: 0 }, Record { end: 6, pattern: 0 }];
/// let batch = Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
/// let words = Boundaries::of_all(Boundary::Word);
/// let mut filter = BoundaryFilter::new(&words);
/// let kept = filter.select(&Window::new(b"ab, xab.", 0), &batch)?;
/// assert_eq!(kept.records, [records[0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoundaryFilter<'r> {
    boundaries: &'r Boundaries,
    look_ahead: u64,
    kept: Vec<Record>,
    /// Matches that end too near the end of the window: the end of each, and its pattern.
    held: Vec<(u64, u32)>,
    spare: Vec<u8>,
}

impl<'r> BoundaryFilter<'r> {
    /// A filter at the start of a haystack.
    pub fn new(boundaries: &'r Boundaries) -> Self {
        let (kept, held, spare) = (Vec::new(), Vec::new(), Vec::new());
        Self { boundaries, look_ahead: boundaries.look_ahead(), kept, held, spare }
    }

    /// Starts another haystack.
    pub fn restart(&mut self) {
        self.held.clear();
    }

    /// The matches of a batch that have their boundary. Call [`release`](Self::release) first.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn select<'b>(
        &'b mut self,
        window: &Window<'_>,
        batch: &Batch<'b>,
    ) -> io::Result<Batch<'b>> {
        self.kept.clear();
        let known = window.end();
        for &record in batch.records {
            let span = span(batch, record);
            if span.end + self.look_ahead > known {
                self.held.push((span.end, record.pattern));
            } else if self.boundaries.admit(window, span, record.pattern, &mut self.spare)? {
                self.kept.push(record);
            }
        }
        Ok(Batch { records: &self.kept, ..*batch })
    }

    /// The matches that waited for bytes which the window now has, or for the end of the haystack.
    ///
    /// # Errors
    /// As [`select`](Self::select).
    pub fn release<'b>(
        &'b mut self,
        window: &Window<'_>,
        at_end: bool,
        set: &'b PatternSet,
    ) -> io::Result<Option<Batch<'b>>> {
        self.kept.clear();
        let known = if at_end { u64::MAX } else { window.end() };
        let ready = self.held.partition_point(|&(end, _)| end + self.look_ahead <= known);
        let Some(&(base, _)) = self.held[..ready].first() else { return Ok(None) };
        for (end, pattern) in self.held.drain(..ready) {
            let span = end - set.pattern_len(pattern) as u64..end;
            if self.boundaries.admit(window, span, pattern, &mut self.spare)? {
                self.kept.push(Record { end: (end - base) as u32, pattern });
            }
        }
        Ok(Some(Batch { base, records: &self.kept, ordered: true, single: false, set }))
    }
}

#[cfg(test)]
mod tests;
