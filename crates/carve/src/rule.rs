//! Rules: which bytes begin and end a file, and how long it may be.

use crate::needle::{Needle, NeedleId};
use std::collections::HashMap;

/// All rules of a configuration, and the needles that they share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// The rules, in the order of the file: it decides the numbers of carved files.
    pub rules: Vec<Rule>,
    /// The distinct headers and footers of all rules. Each is searched once.
    pub needles: Vec<Needle>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The line of the configuration, counted from 1.
    pub line: usize,
    /// The extension of carved files; none for `NONE`.
    pub extension: Option<String>,
    /// Shorter files are not carved.
    pub min_len: u64,
    /// Longer files are not carved, or are cut: see [`Mode`].
    pub max_len: u64,
    /// What a file begins with.
    pub header: NeedleId,
    /// What a file ends with, if the rule says so. Without a footer, every file is `max_len` long.
    pub footer: Option<NeedleId>,
    /// Which footer ends a file.
    pub mode: Mode,
}

/// Which footer ends a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The first footer after the header; it is part of the file.
    #[default]
    Forward,
    /// The first footer after the header; it begins the next file, and is not part of this one.
    Next,
    /// The last footer within `max_len`; it is part of the file.
    Reverse,
}

impl RuleSet {
    /// The number of `needle`, which is added if no rule has it yet. It compares all needles one by
    /// one: for many needles, use an [`Interner`].
    pub fn intern(&mut self, needle: Needle) -> NeedleId {
        let known = self.needles.iter().position(|n| *n == needle);
        let index = known.unwrap_or_else(|| {
            self.needles.push(needle);
            self.needles.len() - 1
        });
        NeedleId(index as u32)
    }

    /// The needle with this number.
    ///
    /// # Panics
    ///
    /// If the number is of another set.
    #[must_use]
    pub fn needle(&self, id: NeedleId) -> &Needle {
        &self.needles[id.0 as usize]
    }
}

/// Numbers distinct needles by a hash table.
#[derive(Clone, Debug, Default)]
pub struct Interner {
    ids: HashMap<Needle, NeedleId>,
    needles: Vec<Needle>,
}

impl Interner {
    /// The number of `needle`, which is added if it is new.
    pub fn intern(&mut self, needle: Needle) -> NeedleId {
        if let Some(&id) = self.ids.get(&needle) {
            return id;
        }
        let id = NeedleId(self.needles.len() as u32);
        self.needles.push(needle.clone());
        self.ids.insert(needle, id);
        id
    }

    /// The needles by their numbers.
    #[must_use]
    pub fn into_needles(self) -> Vec<Needle> {
        self.needles
    }
}
