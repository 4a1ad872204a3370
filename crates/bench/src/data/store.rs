//! The data of a run: every corpus is read once, every cell is prepared from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use fyke_core::PatternSet;
use fyke_rivals::{Refusal, Tally};

use super::corpora::{self, Entries, Note};
use super::golden::{self, Row};
use super::{Place, generate, packed, patterns, sha256};
use crate::definition::{Cell, Haystack, Patterns, Source};
use crate::size::Size;

/// The packed lists of patterns that the golden rows are about.
const GOLDEN_LISTS: &str = "golden/pattern-hexlists.tar.xz";
/// The golden rows.
const GOLDEN_ROWS: &str = "golden/golden.txt";

/// How much of a cell's haystack is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What the definition says.
    Full,
    /// The definition's quick size, if it has one.
    Quick,
    /// The same, but all of it where a golden row says what is to be found.
    Verify,
}

/// Reads data, and keeps it.
pub struct Store {
    place: Place,
    entries: Entries,
    corpora: BTreeMap<String, Arc<Vec<u8>>>,
    notes: Vec<Note>,
    lists: Option<BTreeMap<String, Vec<u8>>>,
    golden: Vec<Row>,
}

/// A cell ready to be scanned.
pub struct Prepared {
    /// The patterns.
    pub set: PatternSet,
    /// The bytes to scan.
    pub haystack: Arc<Vec<u8>>,
    /// The sum of the haystack.
    pub sha256: String,
    /// What each call scans: pieces of this size.
    pub call: usize,
    /// Whether all pieces are handed over at once.
    pub batch: bool,
    /// The golden result, if the cell is a golden row.
    pub golden: Option<Tally>,
}

impl Prepared {
    /// What each call scans, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        self.haystack.chunks(self.call)
    }

    /// The number of calls that scan everything once.
    pub fn calls(&self) -> usize {
        self.haystack.len().div_ceil(self.call)
    }
}

impl Store {
    /// A store over the folders of `place`.
    ///
    /// # Errors
    /// The list of corpora or the golden rows are there and cannot be read.
    pub fn open(place: Place) -> Result<Self> {
        let entries = corpora::load(&place)?;
        let golden = match place.data_file(&[GOLDEN_ROWS.into()]) {
            Some(file) => golden::parse(&String::from_utf8(packed::read(&file)?)?)?,
            None => Vec::new(),
        };
        Ok(Self {
            place,
            entries,
            corpora: BTreeMap::new(),
            notes: Vec::new(),
            lists: None,
            golden,
        })
    }

    /// The bytes of a corpus.
    ///
    /// # Errors
    /// A [`Refusal`] if it is not there; another error if it is not in the list or not sound.
    pub fn corpus(&mut self, name: &str) -> Result<Arc<Vec<u8>>> {
        if let Some(bytes) = self.corpora.get(name) {
            return Ok(Arc::clone(bytes));
        }
        let entry = self.entries.get(name);
        let entry = entry.with_context(|| format!("corpora.toml has no corpus {name}"))?;
        let bytes = Arc::new(entry.read(name, &self.place, &mut self.notes)?);
        self.corpora.insert(name.into(), Arc::clone(&bytes));
        Ok(bytes)
    }

    /// What is to be known about the corpora that were collected from this machine.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// A list of patterns of the golden rows: lines of hexadecimal digits.
    ///
    /// # Errors
    /// A [`Refusal`] if the list is not there; another error if it cannot be read.
    pub fn golden_list(&mut self, name: &str) -> Result<Vec<u8>> {
        if let Some(file) = self.place.data_file(&[format!("golden/{name}.hex")]) {
            return packed::read(&file);
        }
        if self.lists.is_none() {
            let file = self.place.data_file(&[GOLDEN_LISTS.into()]);
            let file = file.ok_or_else(|| self.no_list(name))?;
            self.lists = Some(packed::read_tar(&file)?);
        }
        let list = self.lists.iter().find_map(|l| l.get(&format!("{name}.hex")));
        list.cloned().with_context(|| format!("{GOLDEN_LISTS} has no {name}.hex"))
    }

    fn no_list(&self, name: &str) -> Refusal {
        let folders = self.place.data_folders();
        Refusal(format!(
            "no golden/{name}.hex and no {GOLDEN_LISTS} in {folders}; name the folder that has one in FYKE_DATA"
        ))
    }

    /// Makes the patterns and the haystack of a cell.
    ///
    /// # Errors
    /// A [`Refusal`] if the data is not there; another error if it is not sound.
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

    /// Makes a set of patterns.
    ///
    /// # Errors
    /// A [`Refusal`] if the data is not there; another error if it is not sound.
    pub fn patterns(&mut self, wanted: &Patterns) -> Result<PatternSet> {
        patterns::make(wanted, self)
    }

    /// Makes a haystack. `set` and `seed` are those of the patterns that may be put into it.
    ///
    /// # Errors
    /// A [`Refusal`] if the data is not there; another error if it is not sound.
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
            let size = size.context("a hostile haystack has to have a size")?;
            return Ok(Arc::new(generate::hostile(kind, &patterns(), size, seed + 1)));
        }
        if let Some(percent) = wanted.planted {
            let size = size.context("a planted haystack has to have a size")?;
            let text = generate::planted(&patterns(), percent, wanted.alphabet, size, seed + 1);
            return Ok(Arc::new(text));
        }
        let name = wanted.corpus.as_deref().context("no corpus")?;
        let corpus = self.corpus(name)?;
        match size {
            Some(size) if size > corpus.len() => {
                self.repeated(name, corpus.len(), size);
                Ok(Arc::new(repeat(&corpus, size)))
            }
            Some(size) if size != corpus.len() => Ok(Arc::new(repeat(&corpus, size))),
            _ => Ok(corpus),
        }
    }

    /// Notes that a corpus was too short for a cell.
    fn repeated(&mut self, corpus: &str, have: usize, size: usize) {
        let note = Note::new(corpus, format!("{} repeated to {}", Size(have), Size(size)));
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// The golden result of a cell, if it scans the whole corpus.
    fn golden_tally(&mut self, cell: &Cell, haystack: &[u8]) -> Result<Option<Tally>> {
        let (Some(row), Some(corpus)) = (self.golden_row(cell), &cell.haystack.corpus) else {
            return Ok(None);
        };
        let whole = self.corpus(corpus)?.len() == haystack.len();
        Ok(whole.then_some(row.tally))
    }

    /// The golden row of a cell that scans for a whole golden list in one call.
    fn golden_row(&self, cell: &Cell) -> Option<Row> {
        let patterns = &cell.patterns;
        let Source::Golden(list) = &patterns.source else { return None };
        let entry = self.entries.get(cell.haystack.corpus.as_ref()?)?;
        let filtered =
            patterns.count.is_some() || patterns.min_len > 1 || patterns.max_len.is_some();
        let is_row = |r: &&Row| {
            r.patterns == *list
                && Some(&r.haystack) == entry.golden.as_ref()
                && r.nocase == patterns.nocase
        };
        let rows = || self.golden.iter().find(is_row).cloned();
        if filtered || cell.haystack.call.is_some() { None } else { rows() }
    }
}

/// The front of a corpus, or the corpus over and over.
fn repeat(corpus: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    while bytes.len() < size && !corpus.is_empty() {
        let part = corpus.len().min(size - bytes.len());
        bytes.extend_from_slice(&corpus[..part]);
    }
    bytes
}
