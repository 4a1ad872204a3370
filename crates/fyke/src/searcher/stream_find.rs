//! The `find` calls for readers.

use super::Searcher;
use super::replace::replacement;
use fyke_core::driver::piece_size;
use fyke_core::{Collect, Driver, PatternSet, Source, StreamMatch};
use fyke_io::source::ReadSource;
use std::fmt;
use std::io::{self, Read, Write};

/// Iterates over the matches of a reader. It reads lazily.
pub struct StreamFindIter<'a, R> {
    searcher: &'a Searcher,
    source: ReadSource<R>,
    driver: Driver,
    found: std::vec::IntoIter<StreamMatch>,
    ended: bool,
}

impl Searcher {
    /// The non-overlapping matches of a reader that the searcher's [`MatchKind`](crate::MatchKind)
    /// reports. A match comes as soon as no better one is possible: at the latest when as many
    /// bytes were read from its start on as the longest pattern has. After an error the iterator
    /// ends.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["needle"])?;
    /// let found = searcher.stream_find_iter(&b"hay needle hay"[..]);
    /// let spans: Vec<_> = found.map(|m| m.map(|m| m.range())).collect::<Result<_, _>>()?;
    /// assert_eq!(spans, [4..10]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream_find_iter<R: Read>(&self, reader: R) -> StreamFindIter<'_, R> {
        StreamFindIter {
            searcher: self,
            source: ReadSource::new(reader, piece_size(&**self.matcher()), self.set().overlap()),
            driver: Driver::new(self.kind.semantics(), self.set()),
            found: Vec::new().into_iter(),
            ended: false,
        }
    }

    /// Copies a reader to a writer and replaces every match of
    /// [`stream_find_iter`](Self::stream_find_iter). A match of the pattern with id `i` becomes
    /// `replacements[i]`.
    ///
    /// # Errors
    /// Reading or writing failed. The text before the failure may be written in part.
    ///
    /// # Panics
    /// The id of a match has no replacement.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["secret"])?;
    /// let mut redacted = Vec::new();
    /// searcher.stream_replace_all(&b"a secret here"[..], &mut redacted, &["******"])?;
    /// assert_eq!(redacted, b"a ****** here");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream_replace_all<B: AsRef<[u8]>>(
        &self,
        reader: impl Read,
        writer: impl Write,
        replacements: &[B],
    ) -> io::Result<()> {
        self.stream_replace_all_with(reader, writer, |m, _, to| {
            to.write_all(replacement(replacements, m.pattern).as_ref())
        })
    }

    /// As [`stream_replace_all`](Self::stream_replace_all), with a function that gets each match
    /// and its bytes, and writes what stands in their place.
    ///
    /// # Errors
    /// Reading or writing failed, or the function did.
    pub fn stream_replace_all_with<W: Write>(
        &self,
        reader: impl Read,
        writer: W,
        replace: impl FnMut(&StreamMatch, &[u8], &mut W) -> io::Result<()>,
    ) -> io::Result<()> {
        let (matcher, set) = (&**self.matcher(), self.set());
        // Leftmost matches are decided up to a pattern's length after their end.
        let mut source = ReadSource::new(reader, piece_size(matcher), 2 * set.max_len());
        let mut driver = Driver::new(self.kind.semantics(), set);
        let mut found = Collect::default();
        let mut copy = Copy { writer, replace, done: 0 };
        while let Some(view) = source.next_view()? {
            let known = view.block.offset + view.block.bytes.len() as u64;
            let _ = driver.scan(matcher, view.block, &mut found);
            let held = Held { bytes: view.bytes, offset: view.offset };
            copy.matches(held, &mut found)?;
            copy.up_to(decided_before(known, set), held)?;
        }
        let _ = driver.finish(set, &mut found);
        let (bytes, offset) = source.buffered();
        let held = Held { bytes, offset };
        copy.matches(held, &mut found)?;
        copy.up_to(offset + bytes.len() as u64, held)?;
        copy.writer.flush()
    }
}

/// Copies a haystack to a writer, with its matches replaced.
struct Copy<W, F> {
    writer: W,
    replace: F,
    /// Bytes of the haystack that were copied or replaced.
    done: u64,
}

impl<W: Write, F: FnMut(&StreamMatch, &[u8], &mut W) -> io::Result<()>> Copy<W, F> {
    /// Copies up to the last of some matches, and replaces them.
    fn matches(&mut self, held: Held<'_>, found: &mut Collect) -> io::Result<()> {
        for m in found.matches.drain(..) {
            self.up_to(m.start, held)?;
            (self.replace)(&m, held.range(m.start, m.end), &mut self.writer)?;
            self.done = m.end;
        }
        Ok(())
    }

    /// Copies up to a position, if that was not done.
    fn up_to(&mut self, to: u64, held: Held<'_>) -> io::Result<()> {
        if to > self.done {
            self.writer.write_all(held.range(self.done, to))?;
            self.done = to;
        }
        Ok(())
    }
}

/// A position before which no further match starts, given that every match that ends at or before
/// `known` was applied. Matches that end later and matches that are held back start after it.
fn decided_before(known: u64, set: &PatternSet) -> u64 {
    known.saturating_sub(set.max_len() as u64)
}

/// The bytes of a reader that are in memory.
#[derive(Clone, Copy)]
struct Held<'a> {
    bytes: &'a [u8],
    /// Position of the first of them in the haystack.
    offset: u64,
}

impl<'a> Held<'a> {
    fn range(&self, from: u64, to: u64) -> &'a [u8] {
        &self.bytes[(from - self.offset) as usize..(to - self.offset) as usize]
    }
}

impl<R: Read> StreamFindIter<'_, R> {
    /// Scans the next block. False at the end.
    fn scan_block(&mut self) -> io::Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let (matcher, mut found) = (&**self.searcher.matcher(), Collect::default());
        // Until the block is scanned, an error ends the iterator.
        self.ended = true;
        match self.source.next()? {
            Some(block) => {
                let _ = self.driver.scan(matcher, block, &mut found);
                self.ended = false;
            }
            None => {
                let _ = self.driver.finish(matcher.set(), &mut found);
            }
        }
        self.found = found.matches.into_iter();
        Ok(true)
    }
}

impl<R: Read> Iterator for StreamFindIter<'_, R> {
    type Item = io::Result<StreamMatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(m) = self.found.next() {
                return Some(Ok(m));
            }
            match self.scan_block() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(e) => return Some(Err(e)),
            }
        }
    }
}

impl<R> fmt::Debug for StreamFindIter<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamFindIter")
            .field("searcher", self.searcher)
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}
