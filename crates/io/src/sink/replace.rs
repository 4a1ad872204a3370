//! Copies a haystack with its matches replaced, for redaction.

use super::window::Window;
use fyke_core::{Batch, PatternId, PatternSet, StreamMatch};
use std::collections::VecDeque;
use std::io;

/// What stands in place of matches: one text for all patterns, or one for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replacements {
    texts: Vec<Vec<u8>>,
}

impl Replacements {
    /// One text for all patterns.
    pub fn all(text: impl Into<Vec<u8>>) -> Self {
        Self { texts: vec![text.into()] }
    }

    /// The lines of a file, which end with LF or CRLF: one for each of `patterns` patterns, or one
    /// for all.
    ///
    /// # Errors
    /// If there are fewer or more lines; the error is their number.
    pub fn lines(file: &[u8], patterns: usize) -> Result<Self, usize> {
        let file = file.strip_suffix(b"\n").unwrap_or(file);
        let whole = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        let texts: Vec<Vec<u8>> = file.split(|&b| b == b'\n').map(whole).collect();
        match texts.len() {
            1 => Ok(Self { texts }),
            n if n == patterns => Ok(Self { texts }),
            n => Err(n),
        }
    }

    fn of(&self, pattern: PatternId) -> &[u8] {
        let index = (pattern.0 as usize).saturating_sub(1).min(self.texts.len() - 1);
        &self.texts[index]
    }
}

/// Copies the bytes of one haystack after the other, and replaces matches.
///
/// Matches that overlap are replaced together, by the text of the one that starts first, so that no
/// byte of a match is copied.
#[derive(Clone, Debug)]
pub struct ReplacePrinter {
    texts: Replacements,
    /// Matches that were not replaced yet, by start.
    pending: VecDeque<StreamMatch>,
    /// Bytes before this position were copied or replaced.
    done: u64,
    /// A match that is not known yet starts at most this many bytes before the known end.
    lag: u64,
    spare: Vec<u8>,
}

impl ReplacePrinter {
    /// A printer for the patterns of a set, which are numbered from 1.
    pub fn new(texts: Replacements, set: &PatternSet) -> Self {
        // Two more bytes, for a match that waits for the bytes after it.
        let lag = set.max_len() as u64 + 2;
        Self { texts, pending: VecDeque::new(), done: 0, lag, spare: Vec::new() }
    }

    /// Starts a haystack.
    pub fn begin(&mut self) {
        self.pending.clear();
        self.done = 0;
    }

    /// Adds matches, which are in order.
    pub fn add(&mut self, batch: &Batch<'_>) {
        for &record in batch.records {
            let end = batch.end(record);
            let start = end - batch.set.pattern_len(record.pattern) as u64;
            let pattern = batch.set.ids(record.pattern)[0];
            let mut place = self.pending.len();
            while place > 0 && self.pending[place - 1].start > start {
                place -= 1;
            }
            self.pending.insert(place, StreamMatch { start, end, pattern });
        }
    }

    /// Copies what is decided, once every match that ends at or before `known` was added.
    ///
    /// # Errors
    /// If the window cannot read its file.
    pub fn advance(
        &mut self,
        out: &mut Vec<u8>,
        window: &Window<'_>,
        known: u64,
    ) -> io::Result<()> {
        self.copy_to(out, window, known.saturating_sub(self.lag))
    }

    /// Copies the rest of a haystack that ends at `end`.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn finish(&mut self, out: &mut Vec<u8>, window: &Window<'_>, end: u64) -> io::Result<()> {
        self.copy_to(out, window, end)
    }

    /// Start of the bytes that are still needed.
    pub fn needed_from(&self) -> u64 {
        self.done
    }

    fn copy_to(&mut self, out: &mut Vec<u8>, window: &Window<'_>, to: u64) -> io::Result<()> {
        while let Some(m) = self.pending.pop_front_if(|m| m.start < to) {
            if m.start >= self.done {
                self.copy(out, window, m.start)?;
                out.extend_from_slice(self.texts.of(m.pattern));
            }
            self.done = self.done.max(m.end);
        }
        self.copy(out, window, to)
    }

    fn copy(&mut self, out: &mut Vec<u8>, window: &Window<'_>, to: u64) -> io::Result<()> {
        if to > self.done {
            out.extend_from_slice(window.get(self.done..to, &mut self.spare)?.1);
            self.done = to;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::Record;

    /// Replaces in a text that is known up to each of the positions in turn.
    fn replaced(text: &[u8], patterns: &[&str], texts: &Replacements, known: &[usize]) -> String {
        let mut builder = PatternSet::builder();
        for (id, pattern) in (1..).zip(patterns) {
            builder.push_with(PatternId(id), pattern, false).unwrap();
        }
        let set = builder.build();
        let mut printer = ReplacePrinter::new(texts.clone(), &set);
        let (mut out, mut from) = (Vec::new(), 0);
        printer.begin();
        for &to in known {
            let window = Window::new(&text[..to], 0);
            for end in from + 1..=to {
                for (pattern, p) in (0..).zip(set.iter()) {
                    if text[..end].ends_with(p.bytes) {
                        let records = [Record { end: end as u32, pattern }];
                        let (records, set) = (&records[..], &set);
                        printer.add(&Batch { base: 0, records, ordered: true, single: false, set });
                    }
                }
            }
            printer.advance(&mut out, &window, to as u64).unwrap();
            from = to;
        }
        printer.finish(&mut out, &Window::new(text, 0), text.len() as u64).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn no_byte_of_a_match_is_copied() {
        let text = b"xabcdx bcd, ab";
        let stars = Replacements::all("***");
        let all: Vec<usize> = (1..=text.len()).collect();
        for known in [&[text.len()][..], &[3, 9, text.len()], &all] {
            assert_eq!(
                replaced(text, &["abc", "bcd"], &stars, known),
                "x***x ***, ab",
                "{known:?}"
            );
            let each = Replacements::lines(b"1\r\n2\n", 2).unwrap();
            assert_eq!(replaced(text, &["bcd", "abc"], &each, known), "x2x 1, ab");
            assert_eq!(replaced(text, &["zz"], &stars, known), "xabcdx bcd, ab");
        }
        assert_eq!(Replacements::lines(b"1\n2\n", 3), Err(2));
        assert_eq!(Replacements::lines(b"", 3), Ok(Replacements::all("")));
    }
}
