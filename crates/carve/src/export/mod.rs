//! The list of carved files in other forms: JSON lines, CSV, and Digital Forensics XML.
//!
//! The same list gives the same bytes: files come in the order of their numbers, and nothing but
//! the list is read. The other two forms are the audit file and a copy of the
//! [`database`](crate::database).

mod csv;
mod dfxml;
mod json;

pub use self::csv::write as write_csv;
pub use dfxml::write as write_dfxml;
pub use json::{FIELDS as JSON_FIELDS, write as write_json};

use crate::database::Run;
use crate::extract::Sha256Digest;
use crate::{CarvedFile, Mode, Rule, RuleSet, Validity};
use std::ops::Range;

/// The files to export, and what is known about them.
#[derive(Clone, Copy, Debug)]
pub struct Listing<'a> {
    /// What was searched, and with what.
    pub run: &'a Run,
    /// The rules of the run.
    pub rules: &'a RuleSet,
    /// The files.
    pub files: &'a [CarvedFile],
    /// The name of each file, such as its path in the folder of carved files.
    pub names: &'a [String],
    /// The number of the file that each begins inside of, as
    /// [`containers`](crate::embedded::containers) says: none, or one element per file.
    pub inside: &'a [Option<u64>],
    /// The digests of the files that have one: none, or one element per file.
    pub digests: &'a [Option<Sha256Digest>],
    /// Ranges of the image that could not be read.
    pub bad: &'a [Range<u64>],
}

/// One row of the list.
struct Entry<'a> {
    file: &'a CarvedFile,
    name: &'a str,
    rule: &'a Rule,
    inside: Option<u64>,
    sha256: Option<String>,
}

impl Listing<'_> {
    fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        assert_eq!(self.files.len(), self.names.len(), "each file has a name");
        let rows = self.files.iter().zip(self.names).enumerate();
        rows.map(|(index, (file, name))| Entry {
            file,
            name,
            rule: &self.rules.rules[file.rule],
            inside: self.inside.get(index).copied().flatten(),
            sha256: self.digests.get(index).copied().flatten().map(|digest| hex(&digest)),
        })
    }
}

fn hex(digest: &Sha256Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Validity {
    /// The word for it in lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

impl Mode {
    /// The word for it in lists.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Next => "next",
            Self::Reverse => "reverse",
        }
    }
}

#[cfg(test)]
mod tests;
