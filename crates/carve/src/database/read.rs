//! Reads the parts of a database.

use super::Run;
use super::blocks::{self, Block};
use super::check;
use super::error::Kind;
use crate::{
    CarvedFile, Hits, Lengths, Mode, Needle, NeedleHits, NeedleId, Rule, RuleSet, Validity,
};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension, Row};
use std::ops::Range;

/// A value of the table `info`.
pub(super) fn info<T: FromSql>(connection: &Connection, key: &str) -> Result<T, Kind> {
    let query = "SELECT value FROM info WHERE key = ?";
    let found = connection.query_row(query, [key], |row| row.get(0)).optional()?;
    found.ok_or_else(|| Kind::Corrupt(format!("the table info has no {key}")))
}

pub(super) fn run(connection: &Connection) -> Result<Run, Kind> {
    let mut statement = connection.prepare("SELECT name, value FROM options")?;
    let options = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(Run {
        program: info(connection, "program")?,
        image: info(connection, "image")?,
        image_len: info::<i64>(connection, "image_len")? as u64,
        conf_path: info(connection, "conf_path")?,
        conf: info(connection, "conf")?,
        options: options.collect::<Result<_, _>>()?,
    })
}

pub(super) fn rules(connection: &Connection) -> Result<RuleSet, Kind> {
    let query = "SELECT bytes, wildcards, regex, nocase FROM needles ORDER BY id";
    let needles = all(connection, query, needle)?;
    let query =
        "SELECT line, extension, min_len, max_len, header, footer, mode FROM rules ORDER BY id";
    let rules = all(connection, query, rule)?;
    let rules = RuleSet { rules, needles };
    check::rules(&rules)?;
    Ok(rules)
}

/// All rows of a query.
fn all<T>(
    connection: &Connection,
    query: &str,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare(query)?;
    statement.query_map([], read)?.collect()
}

fn needle(row: &Row<'_>) -> rusqlite::Result<Needle> {
    let nocase = row.get(3)?;
    if let Some(pattern) = row.get::<_, Option<String>>(2)? {
        return Ok(Needle::Regex { pattern, nocase });
    }
    let plain: Vec<u8> = row.get(0)?;
    let wild: Option<Vec<u8>> = row.get(1)?;
    let is_wild = |i: usize| wild.as_ref().is_some_and(|wild| wild.get(i) == Some(&1));
    let bytes = plain.iter().enumerate().map(|(i, &byte)| (!is_wild(i)).then_some(byte)).collect();
    Ok(Needle::Bytes { bytes, nocase })
}

fn rule(row: &Row<'_>) -> rusqlite::Result<Rule> {
    let mode: String = row.get(6)?;
    let modes = [Mode::Forward, Mode::Next, Mode::Reverse];
    let mode = modes.into_iter().find(|&m| m.word() == mode);
    let footer: Option<u32> = row.get(5)?;
    Ok(Rule {
        line: unsigned(row, 0)? as usize,
        extension: row.get(1)?,
        min_len: unsigned(row, 2)?,
        max_len: unsigned(row, 3)?,
        header: NeedleId(row.get(4)?),
        footer: footer.map(NeedleId),
        mode: mode.ok_or(rusqlite::Error::InvalidQuery)?,
    })
}

/// A number of 64 bits without sign: SQLite has signed numbers only.
fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(|n| n as u64)
}

pub(super) fn hits(connection: &Connection) -> Result<Hits, Kind> {
    let query = "SELECT hit_len FROM needles ORDER BY id";
    let lengths = all(connection, query, |row| row.get::<_, Option<u32>>(0))?;
    let empty = |len: Option<u32>| NeedleHits {
        starts: Vec::new(),
        lengths: len.map_or_else(|| Lengths::Each(Vec::new()), Lengths::Fixed),
    };
    let mut needles: Vec<NeedleHits> = lengths.into_iter().map(empty).collect();
    let query = "SELECT needle, first, count, deltas, lengths FROM hit_blocks ORDER BY id";
    let mut statement = connection.prepare(query)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (needle, block) = hit_block(row)?;
        let known = needles.get_mut(needle);
        if !known.is_some_and(|hits| blocks::decode(&block, hits)) {
            return Err(Kind::Corrupt(format!("the hits of needle {needle} are wrong")));
        }
    }
    let hits = Hits { image_len: info::<i64>(connection, "searched_len")? as u64, needles };
    check::hits(&hits)?;
    Ok(hits)
}

fn hit_block(row: &Row<'_>) -> rusqlite::Result<(usize, Block)> {
    let block = Block {
        first: unsigned(row, 1)?,
        count: unsigned(row, 2)? as usize,
        deltas: row.get(3)?,
        lengths: row.get(4)?,
    };
    Ok((unsigned(row, 0)? as usize, block))
}

pub(super) fn files(connection: &Connection) -> Result<Vec<CarvedFile>, Kind> {
    let query = "SELECT number, rule, start, len, chopped, valid FROM files ORDER BY number";
    let files = all(connection, query, file)?;
    let rules: i64 = connection.query_row("SELECT count(*) FROM rules", [], |row| row.get(0))?;
    check::files(&files, rules as u64)?;
    Ok(files)
}

fn file(row: &Row<'_>) -> rusqlite::Result<CarvedFile> {
    let valid = match row.get(5)? {
        Some(true) => Validity::Yes,
        Some(false) => Validity::No,
        None => Validity::Unknown,
    };
    Ok(CarvedFile {
        number: unsigned(row, 0)?,
        rule: unsigned(row, 1)? as usize,
        start: unsigned(row, 2)?,
        len: unsigned(row, 3)?,
        chopped: row.get(4)?,
        valid,
    })
}

pub(super) fn bad(connection: &Connection) -> Result<Vec<Range<u64>>, Kind> {
    let query = "SELECT start, \"end\" FROM bad_ranges ORDER BY start";
    let bad = all(connection, query, |row| Ok(unsigned(row, 0)?..unsigned(row, 1)?))?;
    check::bad(&bad)?;
    Ok(bad)
}
