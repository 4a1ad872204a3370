//! The search for matches that do not overlap: all at once, and by an iterator.

use super::call::{interruptible, run};
use super::haystack::Haystack;
use super::searcher::PySearcher;
use crate::pieces::FindCursor;
use fyke::Match;
use pyo3::prelude::*;

/// Bytes that one step of an iterator looks at.
const STEP: usize = 1 << 20;

/// The maximum number of matches that one step of an iterator takes.
const STEP_MATCHES: usize = 4096;

/// Up to `most` matches of `find_iter`.
pub(super) fn find_all(
    py: Python<'_>,
    searcher: &fyke::Searcher,
    bytes: &[u8],
    most: usize,
) -> PyResult<Vec<Match>> {
    interruptible(py, bytes, |pause| {
        let mut found = Vec::new();
        let mut cursor = FindCursor::default();
        while !cursor.is_ended() && found.len() < most {
            cursor.advance(searcher, bytes, STEP, most - found.len(), &mut found);
            if pause().is_break() {
                return None;
            }
        }
        Some(found)
    })
}

/// Iterates over matches that do not overlap. It scans as far as it is asked.
#[pyclass(module = "fyke")]
pub(super) struct MatchIterator {
    searcher: Py<PySearcher>,
    haystack: Haystack,
    /// Whether positions count characters and differ from those of the bytes.
    chars: bool,
    cursor: FindCursor,
    found: Vec<Match>,
    next: usize,
    /// Bytes that the next step looks at.
    size: usize,
    /// A byte position and the characters before it.
    counted: (usize, usize),
}

#[pymethods]
impl MatchIterator {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<(u32, usize, usize)>> {
        while self.next == self.found.len() {
            if self.cursor.is_ended() {
                return Ok(None);
            }
            self.step(py)?;
        }
        let m = self.found[self.next];
        self.next += 1;
        if !self.chars {
            return Ok(Some((m.pattern.0, m.start, m.end)));
        }
        let (start, end) = self.char_positions(py, m)?;
        Ok(Some((m.pattern.0, start, end)))
    }
}

impl MatchIterator {
    /// `chars`: whether positions count characters and differ from those of the bytes.
    pub(super) fn new(searcher: Py<PySearcher>, haystack: Haystack, chars: bool) -> Self {
        Self {
            searcher,
            haystack,
            chars,
            cursor: FindCursor::default(),
            found: Vec::new(),
            next: 0,
            size: 1 << 12,
            counted: (0, 0),
        }
    }

    /// Looks at the next piece of the haystack.
    fn step(&mut self, py: Python<'_>) -> PyResult<()> {
        self.found.clear();
        self.next = 0;
        let bytes = self.haystack.bytes(py)?;
        let searcher = &self.searcher.get().searcher;
        let (mut cursor, size) = (self.cursor, self.size);
        let (found, cursor) = run(py, size.min(bytes.len()), || {
            let mut found = Vec::new();
            cursor.advance(searcher, bytes, size, STEP_MATCHES, &mut found);
            (found, cursor)
        })?;
        (self.found, self.cursor) = (found, cursor);
        self.size = (2 * size).min(STEP);
        py.check_signals()
    }

    /// The positions of a match in characters, counted from the match before.
    fn char_positions(&mut self, py: Python<'_>, m: Match) -> PyResult<(usize, usize)> {
        let bytes = self.haystack.bytes(py)?;
        let (at, chars) = self.counted;
        // Matches do not overlap, so the next one starts after the last one.
        let count = |from: usize, to: usize| {
            bytes[from..to].iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
        };
        let before = chars + count(at, m.start);
        let within = bytes.get(m.start).is_some_and(|byte| byte & 0xc0 == 0x80);
        let end = before + count(m.start, m.end);
        self.counted = (m.end, end);
        Ok((before - usize::from(within), end))
    }
}
