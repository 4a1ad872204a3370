//! Keeps the matches that are whole words, or whole lines (`-w`, `-x`).
//!
//! Whether a match is one depends on the byte before it and the byte after it, so the last match
//! of a block may have to wait for the next block.

use super::window::Window;
use fyke_core::{Batch, PatternSet, Record};
use std::io;

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

/// Filters the matches of one haystack after the other.
///
/// ```
/// use fyke_io::sink::{Boundary, BoundaryFilter, Window};
/// use fyke_core::{Batch, PatternSet, Record};
/// let set = PatternSet::new(["ab"])?;
/// let records = [Record { end: 2, pattern: 0 }, Record { end: 6, pattern: 0 }];
/// let batch = Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
/// let mut filter = BoundaryFilter::new(Boundary::Word);
/// let kept = filter.select(&Window::new(b"ab, xab.", 0), &batch)?;
/// assert_eq!(kept.records, [records[0]]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BoundaryFilter {
    boundary: Boundary,
    kept: Vec<Record>,
    /// Patterns of matches that end where the window ended, and may be followed by a word byte.
    held: Vec<Record>,
    /// Where they end.
    held_end: u64,
    spare: Vec<u8>,
}

impl BoundaryFilter {
    /// A filter at the start of a haystack.
    pub fn new(boundary: Boundary) -> Self {
        let (kept, held) = (Vec::new(), Vec::new());
        Self { boundary, kept, held, held_end: 0, spare: Vec::new() }
    }

    /// Starts another haystack.
    pub fn restart(&mut self) {
        self.held.clear();
    }

    /// The matches of a batch that have the boundary. Call [`release`](Self::release) before.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn select<'b>(
        &'b mut self,
        window: &Window<'_>,
        batch: &Batch<'b>,
    ) -> io::Result<Batch<'b>> {
        self.kept.clear();
        for &record in batch.records {
            let end = batch.end(record);
            let start = end - batch.set.pattern_len(record.pattern) as u64;
            let before = match start.checked_sub(1) {
                Some(at) => window.byte(at, &mut self.spare)?,
                None => None,
            };
            if !self.boundary.admits(before) {
                continue;
            }
            match window.byte(end, &mut self.spare)? {
                None => {
                    self.held_end = end;
                    self.held.push(Record { end: 0, pattern: record.pattern });
                }
                after if self.boundary.admits(after) => self.kept.push(record),
                _ => {}
            }
        }
        Ok(Batch { records: &self.kept, ..*batch })
    }

    /// The matches that waited for a byte which the window now has, or that end with the haystack.
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
        if self.held.is_empty() || !at_end && window.end() <= self.held_end {
            return Ok(None);
        }
        let after = window.byte(self.held_end, &mut self.spare)?;
        if self.boundary.admits(after) {
            self.kept.append(&mut self.held);
        }
        self.held.clear();
        let (base, records) = (self.held_end, &*self.kept);
        Ok(Some(Batch { base, records, ordered: true, single: false, set }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ends of the matches that are kept if the haystack comes in windows of these ends.
    fn kept(boundary: Boundary, text: &[u8], pattern: &str, windows: &[usize]) -> Vec<u64> {
        let set = PatternSet::new([pattern]).unwrap();
        let mut filter = BoundaryFilter::new(boundary);
        let (mut ends, mut known) = (Vec::new(), 0);
        for &to in windows {
            let window = Window::new(&text[..to], 0);
            let mut add = |b: Batch<'_>| ends.extend(b.records.iter().map(|&r| b.end(r)));
            filter.release(&window, false, &set).unwrap().into_iter().for_each(&mut add);
            let records: Vec<_> = (known + 1..=to)
                .filter(|&end| text[..end].ends_with(pattern.as_bytes()))
                .map(|end| Record { end: end as u32, pattern: 0 })
                .collect();
            let batch =
                Batch { base: 0, records: &records, ordered: true, single: false, set: &set };
            add(filter.select(&window, &batch).unwrap());
            known = to;
        }
        let last = filter.release(&Window::new(text, 0), true, &set).unwrap();
        last.into_iter().for_each(|b| ends.extend(b.records.iter().map(|&r| b.end(r))));
        ends
    }

    #[test]
    fn words_and_lines_over_the_seams_of_windows() {
        let text = b"ab ab_ xab -ab\nab\nab";
        let all: Vec<usize> = (1..=text.len()).collect();
        for windows in [&[text.len()][..], &[2, 5, 14, 17, 20], &all] {
            assert_eq!(kept(Boundary::Word, text, "ab", windows), [2, 14, 17, 20], "{windows:?}");
            assert_eq!(kept(Boundary::Line, text, "ab", windows), [17, 20], "{windows:?}");
            assert_eq!(kept(Boundary::Line, b"ab\r\n", "ab", &[4]), [0; 0]);
        }
    }
}
