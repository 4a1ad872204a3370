//! Patterns of a database: what the command line adds to one, and reads from it.

use super::Loaded;
use anyhow::{Context, anyhow, ensure};
use fyke::Searcher;
use fyke::database::{Database, FIRST_ATTACHMENT};
use fyke_core::wire::{Reader, Writer};
use fyke_io::rules::{Counts, Rules};
use std::io::{self, Write};
use std::path::Path;

/// The table of patterns and origins.
const RULES: u32 = FIRST_ATTACHMENT;
/// Counts of rules, and whether patterns are plain text.
const SUMMARY: u32 = FIRST_ATTACHMENT + 1;

/// Reads the patterns of a database.
pub(super) fn load(path: &Path) -> anyhow::Result<Loaded> {
    let context = || format!("cannot use the database {}", path.display());
    let database = Database::open(path).with_context(context)?;
    let loaded = attached(database).with_context(context)?;
    Ok(loaded)
}

/// The patterns, with what the command line added. A database that a program saved has nothing
/// added: its patterns have ids and no origins.
fn attached(database: Database) -> anyhow::Result<Loaded> {
    let damaged = |what| anyhow!("the database is damaged: {what}: compile the patterns again");
    let mut loaded = Loaded::default();
    if let Some(bytes) = database.attachment(RULES) {
        loaded.rules = Rules::decode(bytes).ok_or_else(|| damaged("its rules cannot be read"))?;
        let count = loaded.rules.len() as u64;
        let set = database.set();
        let known = |id: u32| u64::from(id).wrapping_sub(1) < count;
        let all_known = (0..set.len() as u32).all(|i| set.ids(i).iter().all(|id| known(id.0)));
        ensure!(all_known, damaged("its ids are not those of its rules"));
    }
    if let Some(bytes) = database.attachment(SUMMARY) {
        let mut from = Reader::new(bytes);
        let summary = from.flag().zip(from.bytes().and_then(Counts::decode));
        let summary = summary.filter(|_| from.is_empty());
        (loaded.are_plain, loaded.counts) =
            summary.ok_or_else(|| damaged("its counts cannot be read"))?;
    }
    loaded.database = Some(database);
    Ok(loaded)
}

impl Loaded {
    /// Writes a compiled set as a database, with what is known of its patterns.
    pub(crate) fn save(&self, searcher: &Searcher, to: impl Write) -> io::Result<()> {
        let mut summary = Writer::default();
        summary.number(u64::from(self.are_plain)).bytes(&self.counts.encode());
        let (rules, summary) = (self.rules.encode(), summary.finish());
        searcher.save_with(&[(RULES, &rules), (SUMMARY, &summary)], to)
    }
}
