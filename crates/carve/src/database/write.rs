//! Writes a database: in one transaction, in a fixed order.

use super::blocks::Block;
use super::error::Kind;
use super::{Contents, blocks, digest, schema};
use crate::{CarvedFile, Hits, Lengths, Needle, Rule, RuleSet, Validity};
use rusqlite::{Connection, Statement, params};
use std::ops::Range;
use std::path::Path;

/// Writes a new file.
pub(super) fn write(path: &Path, contents: &Contents<'_>) -> Result<(), Kind> {
    let mut connection = Connection::open(path)?;
    connection.execute_batch(schema::SETTINGS)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(schema::TABLES)?;
    write_info(&transaction, contents)?;
    write_needles(&transaction, contents.rules, contents.hits)?;
    write_rules(&transaction, &contents.rules.rules)?;
    write_hits(&transaction, contents.hits)?;
    write_files(&transaction, contents.files)?;
    write_bad(&transaction, contents.bad)?;
    let digest = digest::of(&transaction)?;
    insert_info(&transaction)?.execute(params!["sha256", digest])?;
    transaction.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", schema::VERSION)?;
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error.into())
}

fn insert_info(connection: &Connection) -> rusqlite::Result<Statement<'_>> {
    connection.prepare("INSERT INTO info VALUES(?, ?)")
}

fn write_info(connection: &Connection, contents: &Contents<'_>) -> rusqlite::Result<()> {
    let run = contents.run;
    let mut info = insert_info(connection)?;
    info.execute(params!["program", run.program])?;
    info.execute(params!["image", run.image])?;
    info.execute(params!["image_len", run.image_len as i64])?;
    info.execute(params!["searched_len", contents.hits.image_len as i64])?;
    info.execute(params!["conf_path", run.conf_path])?;
    info.execute(params!["conf", run.conf])?;
    let mut option = connection.prepare("INSERT INTO options VALUES(?, ?)")?;
    for (name, value) in &run.options {
        option.execute(params![name, value])?;
    }
    let mut byte = connection.prepare("INSERT INTO byte_values VALUES(?, ?)")?;
    (0..=u8::MAX).try_for_each(|value| byte.execute(params![[value], value]).map(drop))
}

fn write_needles(connection: &Connection, rules: &RuleSet, hits: &Hits) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO needles VALUES(?, ?, ?, ?, ?, ?)")?;
    for (id, (needle, hits)) in rules.needles.iter().zip(&hits.needles).enumerate() {
        let hit_len = match hits.lengths {
            Lengths::Fixed(len) => Some(len),
            Lengths::Each(_) => None,
        };
        match needle {
            Needle::Bytes { bytes, nocase } => {
                let plain: Vec<u8> = bytes.iter().map(|b| b.unwrap_or(0)).collect();
                let wild: Vec<u8> = bytes.iter().map(|b| u8::from(b.is_none())).collect();
                let wild = wild.contains(&1).then_some(wild);
                insert.execute(params![id as i64, plain, wild, None::<&str>, nocase, hit_len])?;
            }
            Needle::Regex { pattern, nocase } => {
                let none = None::<&[u8]>;
                insert.execute(params![id as i64, none, none, pattern, nocase, hit_len])?;
            }
        }
    }
    Ok(())
}

fn write_rules(connection: &Connection, rules: &[Rule]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO rules VALUES(?, ?, ?, ?, ?, ?, ?, ?)")?;
    for (id, rule) in rules.iter().enumerate() {
        insert.execute(params![
            id as i64,
            rule.line as i64,
            rule.extension,
            rule.min_len as i64,
            rule.max_len as i64,
            rule.header.0,
            rule.footer.map(|footer| footer.0),
            rule.mode.word(),
        ])?;
    }
    Ok(())
}

fn write_hits(connection: &Connection, hits: &Hits) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO hit_blocks VALUES(NULL, ?, ?, ?, ?, ?)")?;
    for (needle, hits) in hits.needles.iter().enumerate() {
        for block in blocks::encode(hits) {
            let Block { first, count, deltas, lengths } = block;
            insert.execute(params![needle as i64, first as i64, count as i64, deltas, lengths])?;
        }
    }
    Ok(())
}

fn write_files(connection: &Connection, files: &[CarvedFile]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO files VALUES(?, ?, ?, ?, ?, ?)")?;
    for file in files {
        let valid = match file.valid {
            Validity::Yes => Some(true),
            Validity::No => Some(false),
            Validity::Unknown => None,
        };
        insert.execute(params![
            file.number as i64,
            file.rule as i64,
            file.start as i64,
            file.len as i64,
            file.chopped,
            valid,
        ])?;
    }
    Ok(())
}

fn write_bad(connection: &Connection, bad: &[Range<u64>]) -> rusqlite::Result<()> {
    let mut insert = connection.prepare("INSERT INTO bad_ranges VALUES(?, ?)")?;
    bad.iter().try_for_each(|range| {
        insert.execute(params![range.start as i64, range.end as i64]).map(drop)
    })
}
