//! Reading and writing records.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::row::Row;
use crate::machine::Facts;

/// The columns of one benchmark, beside those that [`Row`] has.
pub trait Columns: Clone + Default + Serialize + DeserializeOwned {
    /// Cuts digits that say nothing, before a row is written.
    fn round(&mut self);
}

/// What a section of cells is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// The section's name.
    pub name: String,
    /// What varies from cell to cell.
    pub axis: String,
    /// One line about it.
    pub about: String,
}

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record<Extra> {
    /// Facts about the run.
    pub facts: Facts,
    /// The sections that took part.
    pub sections: Vec<Heading>,
    /// The rows.
    pub rows: Vec<Row<Extra>>,
}

/// The fact that names the contender by which fyke is judged; without it, its fastest one is.
pub const JUDGED: &str = "judged by";

/// The fact that names a part of a record: its sections and its date.
const PART: &str = "part";

/// Facts in which records have to agree if their figures go into one document.
const SAME: [&str; 8] =
    ["cpu", "cores", "fyke", "commit", "profile", "haystacks", "ratios of", JUDGED];

impl<Extra: Columns> Record<Extra> {
    /// An empty record with these facts.
    pub fn new(facts: Facts) -> Self {
        Self { facts, sections: Vec::new(), rows: Vec::new() }
    }

    /// Writes `MACHINE/DATE-KIND.csv` under a folder. Later runs of a day get `-2`, `-3`, ...
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn save(&self, folder: &Path, kind: &str) -> Result<PathBuf> {
        let folder = folder.join(self.facts.machine());
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let date = self.facts.get("date");
        let stem = format!("{}-{kind}", date.split('T').next().unwrap_or(date));
        let later = (2..).map(|n| folder.join(format!("{stem}-{n}.csv")));
        let mut names = std::iter::once(folder.join(format!("{stem}.csv"))).chain(later);
        let file = names.find(|f| !f.exists()).context("no name is free")?;
        fs::write(&file, self.to_csv()?).with_context(|| file.display().to_string())?;
        Ok(file)
    }

    /// Adds a record of the same kind from the same machine, for example one of other sections. Its
    /// cells replace those of the same name. Each part becomes a fact.
    ///
    /// # Errors
    /// A fact differs that the figures depend on.
    pub fn add(&mut self, other: Self) -> Result<()> {
        for fact in SAME {
            let (mine, theirs) = (self.facts.get(fact), other.facts.get(fact));
            ensure!(mine == theirs, "records differ in {fact}: {mine:?} and {theirs:?}");
        }
        self.add_parts(other.parts());
        let cells: BTreeSet<&str> = other.rows.iter().map(|r| &*r.cell).collect();
        self.rows.retain(|r| !cells.contains(&*r.cell));
        for section in other.sections {
            if self.sections.iter().all(|s| s.name != section.name) {
                self.sections.push(section);
            }
        }
        // A corpus may have several notes. Of all other facts those of the first record remain.
        for (name, value) in other.facts.0 {
            let known = self.facts.0.contains(&(name.clone(), value.clone()));
            if !known && (name.starts_with("corpus ") || self.facts.get(&name).is_empty()) {
                self.facts.add(&name, value);
            }
        }
        self.rows.extend(other.rows);
        Ok(())
    }

    /// The parts it was put together from; itself if it was not.
    fn parts(&self) -> Vec<String> {
        let named = self.facts.0.iter().filter(|(name, _)| name == PART);
        let named: Vec<String> = named.map(|(_, part)| part.clone()).collect();
        if !named.is_empty() {
            return named;
        }
        let sections: Vec<&str> = self.sections.iter().map(|s| &*s.name).collect();
        vec![format!("{} of {}", sections.join(", "), self.facts.get("date"))]
    }

    /// Names its own parts and more of them, unless all are one.
    fn add_parts(&mut self, more: Vec<String>) {
        let mut parts = self.parts();
        for part in more {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        if parts.len() > 1 {
            self.facts.0.retain(|(name, _)| name != PART);
            parts.into_iter().for_each(|part| self.facts.add(PART, part));
        }
    }

    /// The text of the file.
    ///
    /// # Errors
    /// A row cannot be written as CSV.
    pub fn to_csv(&self) -> Result<String> {
        let mut text = String::new();
        for (name, value) in &self.facts.0 {
            text += &format!("# {name}: {value}\n");
        }
        for section in &self.sections {
            text += &format!("# section {}: {}: {}\n", section.name, section.axis, section.about);
        }
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in &self.rows {
            let (mut row, mut extra) = (row.clone(), row.extra.clone());
            row.round();
            extra.round();
            writer.serialize((row, extra))?;
        }
        text += &String::from_utf8(writer.into_inner()?)?;
        Ok(text)
    }

    /// Reads a file that was saved.
    ///
    /// # Errors
    /// It cannot be read or is not a record.
    pub fn load(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        Self::parse(&text).with_context(|| file.display().to_string())
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// It is not a record.
    pub fn parse(text: &str) -> Result<Self> {
        let mut record = Self::new(Facts::default());
        let comments = text.lines().map_while(|l| l.strip_prefix("# "));
        comments.for_each(|line| record.read_comment(line));
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let names = reader.headers()?.clone();
        let has = |name: &&str| names.iter().any(|n| n == *name);
        let missing = ["cell", "contender", "median_ns"].into_iter().find(|name| !has(name));
        if let Some(name) = missing.filter(|_| !names.is_empty()) {
            anyhow::bail!("not a record: there is no column {name}");
        }
        ensure!(!record.facts.0.is_empty(), "not a record: no line begins with \"# \"");
        for line in reader.records() {
            let line = line?;
            let mut row: Row<Extra> = line.deserialize(Some(&names))?;
            row.extra = line.deserialize(Some(&names))?;
            record.rows.push(row);
        }
        Ok(record)
    }

    fn read_comment(&mut self, line: &str) {
        let Some((name, value)) = line.split_once(": ") else { return };
        match (name.strip_prefix("section "), value.split_once(": ")) {
            (Some(name), Some((axis, about))) => {
                let [name, axis, about] = [name, axis, about].map(String::from);
                self.sections.push(Heading { name, axis, about });
            }
            _ => self.facts.add(name, value),
        }
    }
}
