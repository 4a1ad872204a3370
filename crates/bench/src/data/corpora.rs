//! `benchmarks/corpora.toml`: the corpora by their names, where each comes from, and the sum of
//! those that are the same everywhere.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use fyke_rivals::Refusal;
use serde::Deserialize;

use super::collect::{self, Collect};
use super::{Place, generate, packed, sha256};
use crate::size::Size;

/// Where a corpus comes from.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A file of a data folder; several names are tried in turn.
    Files(Vec<String>),
    /// Several files of a data folder, one after the other.
    Join(Vec<String>),
    /// A random text.
    Random(RandomText),
    /// Files of the machine.
    Collect(Collect),
}

/// A random text.
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
    /// The sum of its bytes, for corpora that are the same everywhere.
    pub sha256: Option<String>,
    /// Its name in the golden rows.
    pub golden: Option<String>,
}

/// What is to be known about a corpus that is not the same everywhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The corpus, as the name of a fact.
    pub name: String,
    /// What is to be known.
    pub text: String,
}

impl Note {
    /// A note about a corpus.
    pub fn new(corpus: &str, text: String) -> Self {
        Self { name: format!("corpus {corpus}"), text }
    }
}

/// The list.
pub type Entries = BTreeMap<String, Entry>;

/// Reads the list.
///
/// # Errors
/// It cannot be read or is not well formed.
pub fn load(place: &Place) -> Result<Entries> {
    let file = place.benchmarks.join("corpora.toml");
    let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

impl Entry {
    /// The bytes of the corpus, checked against its sum. `notes` takes what is to be known about a
    /// corpus that is not the same everywhere.
    ///
    /// # Errors
    /// A [`Refusal`] if it is not there; another error if it is but cannot be read or has other bytes.
    pub fn read(&self, name: &str, place: &Place, notes: &mut Vec<Note>) -> Result<Vec<u8>> {
        let bytes = self.origin.read(name, place, notes)?;
        if let Some(expected) = &self.sha256 {
            let sum = sha256(&bytes);
            ensure!(
                sum == *expected,
                "corpus {name} has sha256 {sum}, and corpora.toml says {expected}: get it again"
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
        "corpus {name}: no {} in {}; name the folder that has it in FYKE_DATA",
        names.join(" or "),
        place.data_folders()
    ))
}
