//! The data of a run: every cell is prepared from [`Sources`].

use std::sync::Arc;

use anyhow::{Context, Result};
use fyke_core::PatternSet;
use fyke_rivals::Tally;

use super::corpora::Note;
use super::golden::{self, Row};
use super::place::Place;
use super::replay::PreparedReplay;
use super::sources::Sources;
use super::sum::sha256;
use super::{generate, packed, patterns};
use crate::definition::{Cell, Haystack, Patterns, Replay, Source};

/// The golden rows.
const GOLDEN_ROWS: &str = "golden/golden.txt";

/// How much of a cell's haystack is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The size of the definition.
    Full,
    /// The definition's quick size, if it has one.
    Quick,
    /// The same, but the whole haystack where there is a golden row.
    Verify,
}

/// Prepares cells.
pub struct Store {
    sources: Sources,
    golden: Vec<Row>,
}

/// A cell ready to be scanned.
pub struct Prepared {
    /// The patterns.
    pub set: PatternSet,
    /// The bytes to scan; the corpus that they are cut out of if the cell asks a question.
    pub haystack: Arc<Vec<u8>>,
    /// SHA-256 of the haystack.
    pub sha256: String,
    /// Bytes that each call scans.
    pub call: usize,
    /// Whether all pieces are handed over in one call.
    pub batch: bool,
    /// The golden result, if the cell has a golden row.
    pub golden: Option<Tally>,
}

impl Prepared {
    /// What each call scans, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.haystack.chunks(self.call)
    }

    /// The number of calls that scan the whole haystack.
    pub fn calls(&self) -> usize {
        self.haystack.len().div_ceil(self.call)
    }
}

impl Store {
    /// A store over the folders of `place`.
    ///
    /// # Errors
    /// The list of corpora or the golden rows cannot be read.
    pub fn open(place: Place) -> Result<Self> {
        let golden = match place.data_file(&[GOLDEN_ROWS.into()]) {
            Some(file) => golden::parse(&String::from_utf8(packed::read(&file)?)?)?,
            None => Vec::new(),
        };
        Ok(Self { sources: Sources::open(place)?, golden })
    }

    /// Remarks about the corpora that were collected from this machine or repeated.
    pub fn notes(&self) -> &[Note] {
        self.sources.notes()
    }

    /// Makes the patterns and the haystack of a cell.
    ///
    /// # Errors
    /// A [`Refusal`](fyke_rivals::Refusal) if data is absent; another error if it is not well
    /// formed.
    pub fn prepare(&mut self, cell: &Cell, extent: Extent) -> Result<Prepared> {
        let set = self.patterns(&cell.patterns)?;
        let quick = match extent {
            Extent::Full => false,
            Extent::Quick => true,
            Extent::Verify => self.golden_row(cell).is_none(),
        };
        let haystack = self.haystack(&cell.haystack, &set, cell.patterns.seed, quick)?;
        let call = cell.haystack.call.map_or(haystack.len().max(1), |c| c.0);
        let sum = sha256(&haystack);
        let golden = self.golden_tally(cell, &haystack)?;
        Ok(Prepared { set, haystack, sha256: sum, call, batch: cell.batch, golden })
    }

    /// Makes the sets and the calls of a cell that replays them.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn replay(&mut self, cell: &Cell, replay: &Replay) -> Result<PreparedReplay> {
        PreparedReplay::make(cell, replay, &mut self.sources)
    }

    /// Makes a set of patterns.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn patterns(&mut self, wanted: &Patterns) -> Result<PatternSet> {
        patterns::make(wanted, &mut self.sources)
    }

    /// Makes a haystack. `set` and `seed` are those of the patterns that may be planted in it.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare).
    pub fn haystack(
        &mut self,
        wanted: &Haystack,
        set: &PatternSet,
        seed: u64,
        quick: bool,
    ) -> Result<Arc<Vec<u8>>> {
        let size = if quick { wanted.quick.or(wanted.size) } else { wanted.size };
        let size = size.map(|s| s.0);
        let patterns = || set.iter().map(|p| p.bytes).collect::<Vec<_>>();
        if let Some(kind) = wanted.hostile {
            let size = size.context("a hostile haystack needs a size")?;
            return Ok(Arc::new(generate::hostile(kind, &patterns(), size, seed + 1)));
        }
        if let Some(percent) = wanted.planted {
            let size = size.context("a planted haystack needs a size")?;
            let text = generate::planted(&patterns(), percent, wanted.alphabet, size, seed + 1);
            return Ok(Arc::new(text));
        }
        self.sources.front(wanted.corpus.as_deref().context("no corpus")?, size)
    }

    /// The golden result of a cell, if it scans the whole corpus.
    fn golden_tally(&mut self, cell: &Cell, haystack: &[u8]) -> Result<Option<Tally>> {
        let (Some(row), Some(corpus)) = (self.golden_row(cell), &cell.haystack.corpus) else {
            return Ok(None);
        };
        let whole = self.sources.corpus(corpus)?.len() == haystack.len();
        Ok(whole.then_some(row.tally))
    }

    /// The golden row of a cell that searches for a whole golden list in one call.
    fn golden_row(&self, cell: &Cell) -> Option<Row> {
        let patterns = &cell.patterns;
        let Source::Golden(list) = &patterns.source else { return None };
        let entry = self.sources.entry(cell.haystack.corpus.as_ref()?)?;
        let fewer = patterns.count.is_some() || patterns.min_len > 1 || patterns.max_len.is_some();
        let other = fewer || patterns.cut || patterns.also.is_some();
        let is_row = |r: &&Row| {
            r.patterns == *list
                && Some(&r.haystack) == entry.golden.as_ref()
                && r.nocase == patterns.nocase
        };
        let rows = || self.golden.iter().find(is_row).cloned();
        if other || cell.haystack.call.is_some() { None } else { rows() }
    }
}
