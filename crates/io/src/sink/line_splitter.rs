//! Divides a haystack into lines with a match and lines without one.

use super::window::Window;
use fyke_core::{Batch, PatternSet};
use memchr::memrchr;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;

/// Some whole lines. A line feed belongs to the line it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lines {
    /// One line that a match touches.
    Hit(Range<u64>),
    /// Lines that no match touches.
    Quiet(Range<u64>),
}

/// Splits one haystack into lines, as its matches become known.
///
/// A line is passed on once no further match can touch it. A match that spans lines touches each
/// of them.
#[derive(Clone, Debug, Default)]
pub struct LineSplitter {
    /// Start of the first line that was not passed on.
    at: u64,
    /// No line ends between `at` and here.
    searched: u64,
    /// Matches that may touch a line after `at`, by start.
    hits: VecDeque<Range<u64>>,
    /// A match that is not known yet starts at most this many bytes before the known end.
    lag: u64,
    /// Whether [`hits_of`](Self::hits_of) is wanted.
    spans: bool,
    /// Every match that ends at or before this position was added.
    known: u64,
    /// Whether the haystack ends at `known`.
    ended: bool,
    spare: Vec<u8>,
}

impl LineSplitter {
    /// A splitter at the start of a haystack. A match may be added up to `late` bytes after the
    /// position that it ends at. Without `spans`, [`hits_of`](Self::hits_of) may omit matches.
    pub fn new(set: &PatternSet, late: u64, spans: bool) -> Self {
        let lag = late + longest_over_lines(set).saturating_sub(1) as u64;
        Self { lag, spans, ..Self::default() }
    }

    /// Returns to the start of a haystack.
    pub fn restart(&mut self) {
        (self.at, self.searched, self.known, self.ended) = (0, 0, 0, false);
        self.hits.clear();
    }

    /// Adds matches, which are in order.
    pub fn add(&mut self, batch: &Batch<'_>) {
        for &record in batch.records {
            let end = batch.end(record);
            let start = end - batch.set.pattern_len(record.pattern) as u64;
            // Few matches start before an earlier one, so this is short.
            let mut place = self.hits.len();
            while place > 0 && self.hits[place - 1].start > start {
                place -= 1;
            }
            if place == 0 || self.hits[place - 1] != (start..end) {
                self.hits.insert(place, start..end);
            }
        }
        if let Some(&last) = batch.records.last() {
            self.known = self.known.max(batch.end(last));
        }
    }

    /// Every match that ends at or before `known` was added, but for those that are late.
    pub fn advance(&mut self, known: u64) {
        self.known = self.known.max(known);
    }

    /// The haystack ends at `end`, and every match was added.
    pub fn finish(&mut self, end: u64) {
        (self.known, self.ended) = (end, true);
    }

    /// Where the first line starts that was not passed on.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Whether there is a match on a line that was not passed on.
    pub fn has_hits(&self) -> bool {
        self.hits.iter().any(|hit| hit.end > self.at)
    }

    /// The matches that touch a line, cut to it, by start.
    pub fn hits_of(&self, line: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let (from, to) = (line.start, line.end);
        let touching = self.hits.iter().take_while(move |hit| hit.start < to);
        touching.map(move |hit| hit.start.max(from)..hit.end.min(to)).filter(|hit| !hit.is_empty())
    }

    /// The next lines, or `None` until more is known.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn next(&mut self, window: &Window<'_>) -> io::Result<Option<Lines>> {
        while self.hits.front().is_some_and(|hit| hit.end <= self.at) {
            self.hits.pop_front();
        }
        let decided = if self.ended { self.known } else { self.known.saturating_sub(self.lag) };
        let hit = self.hits.front().map(|hit| hit.start.max(self.at));
        match hit.filter(|&hit| hit < decided) {
            Some(hit) => self.next_to(hit, decided, window),
            None => Ok(self.last_line_end(decided, window)?.map(|end| self.quiet_to(end))),
        }
    }

    /// The line of a match, or the lines before it.
    fn next_to(
        &mut self,
        hit: u64,
        decided: u64,
        window: &Window<'_>,
    ) -> io::Result<Option<Lines>> {
        let least = self.searched.min(hit);
        if let Some(start) = window.line_start(hit, least, &mut self.spare)? {
            return Ok(Some(self.quiet_to(start)));
        }
        let from = hit.max(self.searched);
        let end = match window.line_end(from, decided, &mut self.spare)? {
            Some(end) => end,
            None if self.ended => decided,
            None => {
                self.searched = decided.max(self.searched);
                self.forget_spans();
                return Ok(None);
            }
        };
        let line = self.at..end;
        (self.at, self.searched) = (end, end);
        Ok(Some(Lines::Hit(line)))
    }

    /// If only lines are wanted, drops all matches of an unfinished line but the first, because a
    /// line may be as long as the haystack.
    fn forget_spans(&mut self) {
        let (mut first, searched) = (true, self.searched);
        if !self.spans {
            self.hits.retain(|hit| std::mem::take(&mut first) || hit.end > searched);
        }
    }

    fn quiet_to(&mut self, end: u64) -> Lines {
        let lines = self.at..end;
        (self.at, self.searched) = (end, end);
        Lines::Quiet(lines)
    }

    /// End of the last line that ends at or before `limit`, if it was not passed on.
    fn last_line_end(&mut self, limit: u64, window: &Window<'_>) -> io::Result<Option<u64>> {
        if self.ended {
            return Ok((limit > self.at).then_some(limit));
        }
        let from = self.searched;
        if limit <= from {
            return Ok(None);
        }
        let (start, bytes) = window.get(from..limit, &mut self.spare)?;
        let end = memrchr(b'\n', bytes).map(|at| start + at as u64 + 1);
        self.searched = limit;
        Ok(end)
    }
}

/// Length of the longest pattern that can touch two lines; 0 if there is none.
fn longest_over_lines(set: &PatternSet) -> usize {
    let over_lines = |bytes: &[u8]| memchr::memchr(b'\n', &bytes[..bytes.len() - 1]).is_some();
    set.iter().map(|p| p.bytes).filter(|b| over_lines(b)).map(<[u8]>::len).max().unwrap_or(0)
}

/// Whether a pattern of the set can touch two lines.
pub fn has_pattern_over_lines(set: &PatternSet) -> bool {
    longest_over_lines(set) > 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::Record;

    /// The lines of a text that is known up to each of the positions in turn, with `#` before hits.
    fn split(text: &[u8], patterns: &[&str], known: &[usize]) -> String {
        let set = PatternSet::new(patterns).unwrap();
        let mut splitter = LineSplitter::new(&set, 0, true);
        let (mut out, mut from) = (String::new(), 0);
        for (i, &to) in known.iter().enumerate() {
            let window = Window::new(&text[..to], 0);
            let mut records = Vec::new();
            for end in from + 1..=to {
                for (index, p) in set.iter().enumerate() {
                    if text[..end].ends_with(p.bytes) {
                        records.push(Record { end: end as u32, pattern: index as u32 });
                    }
                }
            }
            let set = &set;
            splitter.add(&Batch { base: 0, records: &records, ordered: true, single: false, set });
            splitter.advance(to as u64);
            if i + 1 == known.len() {
                splitter.finish(to as u64);
            }
            while let Some(lines) = splitter.next(&window).unwrap() {
                let (mark, range) = match &lines {
                    Lines::Hit(range) => ("#", range),
                    Lines::Quiet(range) => ("", range),
                };
                out += mark;
                out +=
                    std::str::from_utf8(&text[range.start as usize..range.end as usize]).unwrap();
            }
            from = to;
        }
        out
    }

    #[test]
    fn lines_are_hit_or_quiet_wherever_windows_end() {
        let text = b"one\ntwo x\nx x\n\nthree\nxx";
        let expected = "one\n#two x\n#x x\n\nthree\n#xx";
        let all: Vec<usize> = (1..=text.len()).collect();
        for known in [&[text.len()][..], &[4, 12, text.len()], &all] {
            assert_eq!(split(text, &["x", "o x"], known), expected, "{known:?}");
        }
    }

    #[test]
    fn a_match_over_lines_hits_each_of_them() {
        let text = b"a\nb\nc\nd\ne";
        let all: Vec<usize> = (1..=text.len()).collect();
        for known in [&[text.len()][..], &[4, 6, text.len()], &all] {
            assert_eq!(split(text, &["b\nc\nd"], known), "a\n#b\n#c\n#d\ne", "{known:?}");
            // The match that is known last starts first.
            assert_eq!(split(text, &["\nb\nc\nd", "c"], known), "#a\n#b\n#c\n#d\ne");
            assert_eq!(split(text, &["a\n"], known), "#a\nb\nc\nd\ne");
        }
    }
}
