//! `benchmarks/corpora.toml`: where each corpus comes from, and the checksums of those that are the
//! same on every machine.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use fyke_rivals::Refusal;
use serde::Deserialize;

use super::collect::{self, Collect};
use super::place::Place;
use super::sum::sha256;
use super::{generate, packed};
use crate::size::Size;

/// Where a corpus comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file of a data folder; several names are tried in turn.
    Files(Vec<String>),
    /// Several files of a data folder, one after the other.
    Join(Vec<String>),
    /// Random text.
    Random(RandomText),
    /// Files of the machine.
    Collect(Collect),
}

/// Random text.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomText {
    alphabet: u16,
    size: Size,
    seed: u64,
}

/// An entry of the list.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// What it is.
    pub about: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The SHA-256 of its bytes, for corpora that are the same everywhere.
    pub sha256: Option<String>,
    /// Its name in the golden rows.
    pub golden: Option<String>,
}

/// A remark about a corpus that is not the same on every machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The corpus, as the name of a fact.
    pub name: String,
    /// The remark.
    pub text: String,
}

impl Note {
    /// A note about a corpus.
    pub fn new(corpus: &str, text: String) -> Self {
        Self { name: format!("corpus {corpus}"), text }
    }
}

/// All corpora, by name.
pub type Entries = BTreeMap<String, Entry>;

/// Reads the file.
///
/// # Errors
/// It cannot be read or is not well formed.
pub fn load(place: &Place) -> Result<Entries> {
    let file = place.benchmarks.join("corpora.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

impl Entry {
    /// The bytes of the corpus, compared with its checksum. Remarks about corpora that are not the
    /// same everywhere are added to `notes`.
    ///
    /// # Errors
    /// A [`Refusal`] if it is absent; another error if it cannot be read or has other bytes.
    pub fn read(&self, name: &str, place: &Place, notes: &mut Vec<Note>) -> Result<Vec<u8>> {
        let bytes = self.origin.read(name, place, notes)?;
        if let Some(expected) = &self.sha256 {
            let sum = sha256(&bytes);
            ensure!(
                sum == *expected,
                "corpus {name} has sha256 {sum}, but corpora.toml says {expected}: download it again"
            );
        }
        Ok(bytes)
    }
}

impl Origin {
    fn read(&self, name: &str, place: &Place, notes: &mut Vec<Note>) -> Result<Vec<u8>> {
        match self {
            Origin::Random(r) => Ok(generate::text(r.alphabet, r.size.0, r.seed)),
            Origin::Collect(what) => {
                let found = collect::collect(what);
                let found = found.map_err(|e| Refusal(format!("corpus {name}: {e}")))?;
                notes.push(Note::new(name, found.to_string()));
                Ok(found.bytes)
            }
            Origin::Files(names) => read_file(name, names, place),
            Origin::Join(names) => {
                let parts = names.iter().map(|n| read_file(name, std::slice::from_ref(n), place));
                Ok(parts.collect::<Result<Vec<_>>>()?.concat())
            }
        }
    }
}

fn read_file(corpus: &str, names: &[String], place: &Place) -> Result<Vec<u8>> {
    match place.data_file(names) {
        Some(file) => packed::read(&file),
        None => Err(missing(corpus, names, place).into()),
    }
}

fn missing(name: &str, names: &[String], place: &Place) -> Refusal {
    Refusal(format!(
        "corpus {name}: no {} in {}; set FYKE_DATA to the folder that has it",
        names.join(" or "),
        place.data_folders()
    ))
}
