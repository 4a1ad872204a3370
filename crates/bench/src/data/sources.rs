//! Sources: corpora and lists of patterns, each read once.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use fyke_rivals::Refusal;

use super::corpora::{self, Entries, Entry, Note};
use super::packed;
use super::place::Place;
use crate::size::Size;

/// The archive with the pattern lists of the golden rows.
const GOLDEN_LISTS: &str = "golden/pattern-hexlists.tar.xz";

/// Reads corpora and lists, and keeps them.
pub struct Sources {
    place: Place,
    entries: Entries,
    corpora: BTreeMap<String, Arc<Vec<u8>>>,
    notes: Vec<Note>,
    lists: Option<BTreeMap<String, Vec<u8>>>,
}

impl Sources {
    /// Sources in the folders of `place`.
    ///
    /// # Errors
    /// The list of corpora cannot be read.
    pub fn open(place: Place) -> Result<Self> {
        let entries = corpora::load(&place)?;
        Ok(Self { place, entries, corpora: BTreeMap::new(), notes: Vec::new(), lists: None })
    }

    /// The entry of a corpus.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// The bytes of a corpus.
    ///
    /// # Errors
    /// A [`Refusal`] if it is absent; another error if it is not in the list or not well formed.
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

    /// Remarks about the corpora that were collected from this machine or repeated.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// A list of patterns of the golden rows: lines of hexadecimal digits.
    ///
    /// # Errors
    /// A [`Refusal`] if the list is absent; another error if it cannot be read.
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
            "no golden/{name}.hex and no {GOLDEN_LISTS} in {folders}; set FYKE_DATA to the folder that \
             has one"
        ))
    }

    /// The front of a corpus; a shorter corpus is repeated, which is noted.
    ///
    /// # Errors
    /// As [`corpus`](Self::corpus).
    pub fn front(&mut self, name: &str, size: Option<usize>) -> Result<Arc<Vec<u8>>> {
        let corpus = self.corpus(name)?;
        let Some(size) = size.filter(|s| *s != corpus.len()) else { return Ok(corpus) };
        if size > corpus.len() {
            let text = format!("{} repeated to {}", Size(corpus.len()), Size(size));
            let note = Note::new(name, text);
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        Ok(Arc::new(repeat(&corpus, size)))
    }
}

/// The front of a corpus, or the corpus repeated.
fn repeat(corpus: &[u8], size: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size);
    while bytes.len() < size && !corpus.is_empty() {
        let part = corpus.len().min(size - bytes.len());
        bytes.extend_from_slice(&corpus[..part]);
    }
    bytes
}
