//! Checks of what a database says, on which the rest of the crate relies.
//!
//! The digest reveals damage, but not a forged database: anyone can compute the digest of one.

use super::error::Kind;
use super::schema;
use crate::{CarvedFile, Hits, Needle, NeedleId, RuleSet};
use rusqlite::Connection;
use std::ops::Range;

/// Refuses a file whose tables are something else, such as views, which may compute without end.
pub(super) fn tables(connection: &Connection) -> Result<(), Kind> {
    let kind = "SELECT count(*) FROM pragma_table_list \
                WHERE schema = 'main' AND name = ? AND type = 'table'";
    let generated = "SELECT count(*) FROM pragma_table_xinfo(?) WHERE hidden <> 0";
    for table in schema::TABLE_NAMES {
        let count = |query| connection.query_row(query, [table], |row| row.get::<_, i64>(0));
        require(count(kind)? == 1, || format!("{table} is no table"))?;
        require(count(generated)? == 0, || format!("the table {table} computes its columns"))?;
    }
    Ok(())
}

pub(super) fn rules(set: &RuleSet) -> Result<(), Kind> {
    for (id, needle) in set.needles.iter().enumerate() {
        let len = needle.max_len();
        require((1..=Needle::MAX_LEN).contains(&len), || format!("needle {id} has {len} bytes"))?;
    }
    let is_known = |id: NeedleId| (id.0 as usize) < set.needles.len();
    for rule in &set.rules {
        let is_whole = is_known(rule.header) && rule.footer.is_none_or(is_known);
        require(is_whole, || format!("the rule of line {} has no needle", rule.line))?;
        require(rule.max_len > 0, || format!("the rule of line {} carves nothing", rule.line))?;
    }
    Ok(())
}

/// Hits lie in the part of the image that was searched. Their order was checked before.
pub(super) fn hits(hits: &Hits) -> Result<(), Kind> {
    let len = hits.image_len;
    require(i64::try_from(len).is_ok(), || format!("an image of {len} bytes was searched"))?;
    for (needle, found) in hits.needles.iter().enumerate() {
        let is_within = |index: usize| {
            let end = found.starts[index].checked_add(found.len_of(index));
            end.is_some_and(|end| end <= len)
        };
        let are_within = (0..found.starts.len()).all(is_within);
        require(are_within, || {
            format!("a hit of needle {needle} lies after the end of the image")
        })?;
    }
    Ok(())
}

/// Every file has bytes, an end after its start, and a rule with a number below `rules`.
pub(super) fn files(files: &[CarvedFile], rules: u64) -> Result<(), Kind> {
    for file in files {
        let number = file.number;
        require((file.rule as u64) < rules, || format!("file {number} has no rule"))?;
        let has_end = file.len > 0 && file.start.checked_add(file.len).is_some();
        require(has_end, || format!("file {number} has {} bytes at {}", file.len, file.start))?;
    }
    Ok(())
}

pub(super) fn bad(bad: &[Range<u64>]) -> Result<(), Kind> {
    let inverted = bad.iter().find(|range| range.start > range.end);
    require(inverted.is_none(), || format!("{inverted:?} could not be read"))
}

fn require(is_sound: bool, what: impl FnOnce() -> String) -> Result<(), Kind> {
    if is_sound { Ok(()) } else { Err(Kind::Corrupt(what())) }
}
