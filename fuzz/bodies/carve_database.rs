//! Body of the target `carve_database`, also included by `crates/carve/tests/regressions.rs`.
//!
//! An input changes a sound database. The first byte says how: bytes of the file, or, with bit 0,
//! values of rows under a digest that is right. What opens can be read, or is an error; what was
//! read can be paired, filtered, validated and exported, and, with bit 1, written again.

use fyke_carve::database::{self, Contents, Database, Run};
use fyke_carve::embedded::containers;
use fyke_carve::export::{Listing, write_csv, write_dfxml, write_json};
use fyke_carve::filter::Filter;
use fyke_carve::image::fake::FakeImage;
use fyke_carve::layout::{Layout, LayoutOptions};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::{Compat, RuleSet, conf, naive, validate};
use rusqlite::Connection;
use rusqlite::types::Value;
use std::fs;
use std::path::Path;
use std::slice;
use std::sync::LazyLock;
use tempfile::TempDir;

const CONF: &[u8] = b"a y 50 AB CD\nb n 1:90 x?y zz NEXT\nNONE y 70 /q+r/ /[st]u*/ REVERSE\n";
const IMAGE: &[u8] = b"AB..xay..qqqr..CDzz..su..PK\x03\x04AB..CDxYyzzqr.qqr.tuuu.ABCD";

/// What a row can be changed by: the table, its key, and the column.
const CHANGES: [(&str, &str, &str); 25] = [
    ("info", "'image_len'", "value"),
    ("info", "'searched_len'", "value"),
    ("info", "'conf'", "value"),
    ("options", "'skip'", "value"),
    ("options", "'compat'", "value"),
    ("needles", "", "bytes"),
    ("needles", "", "wildcards"),
    ("needles", "", "regex"),
    ("needles", "", "nocase"),
    ("needles", "", "hit_len"),
    ("rules", "", "extension"),
    ("rules", "", "min_len"),
    ("rules", "", "max_len"),
    ("rules", "", "header"),
    ("rules", "", "footer"),
    ("rules", "", "mode"),
    ("hit_blocks", "", "needle"),
    ("hit_blocks", "", "first"),
    ("hit_blocks", "", "count"),
    ("hit_blocks", "", "deltas"),
    ("hit_blocks", "", "lengths"),
    ("files", "", "number"),
    ("files", "", "rule"),
    ("files", "", "start"),
    ("files", "", "len"),
];

struct Scene {
    folder: TempDir,
    rules: RuleSet,
    /// A sound database.
    file: Vec<u8>,
}

static SCENE: LazyLock<Scene> = LazyLock::new(Scene::new);

impl Scene {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let rules = conf::parse(CONF, "c", conf::Options::default()).expect("it is right");
        let hits = naive::find(IMAGE, &rules);
        let files = pair(&rules, &hits, &PairOptions::default(), 0);
        let mut run = Run { image_len: IMAGE.len() as u64, ..Run::default() };
        let options = PairOptions { skip: 1, compat: Compat::Scalpel160, ..PairOptions::default() };
        run.set_pair_options(&options);
        let bad = 5..7;
        let contents = Contents {
            run: &run,
            rules: &rules,
            hits: &hits,
            files: &files,
            bad: slice::from_ref(&bad),
        };
        let path = folder.path().join("sound");
        Database::create(&path, &contents).expect("the folder is writable");
        let file = fs::read(&path).expect("it was written");
        Self { folder, rules, file }
    }
}

/// Opens a changed database.
pub(crate) fn database(data: &[u8]) {
    let scene = &*SCENE;
    let path = scene.folder.path().join("changed");
    let (&how, changes) = data.split_first().unwrap_or((&0, &[]));
    if how & 1 == 0 {
        fs::write(&path, patched(&scene.file, changes)).expect("the folder is writable");
    } else {
        fs::write(&path, &scene.file).expect("the folder is writable");
        let connection = Connection::open(&path).expect("it is sound");
        let quick =
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA foreign_keys = OFF";
        connection.execute_batch(quick).expect("it is sound");
        change(&connection, changes);
        drop(connection);
        database::seal(&path).expect("its tables are those of a database");
    }
    if let Err(error) = read(&path, &scene.rules, how & 2 != 0) {
        let message = error.to_string();
        assert!(message.contains("changed") && !message.contains('\n'), "{message}");
    }
}

/// The file with each triple of bytes as a change: the offset, and what is written there.
fn patched(file: &[u8], changes: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    for change in changes.chunks_exact(3) {
        let at = usize::from(u16::from_le_bytes([change[0], change[1]]));
        // The file has more than 64 KiB if a page does not fit; all of its pages can be changed.
        let len = file.len();
        file[at % len] = change[2];
    }
    file
}

/// Changes values: the change, the row, the kind of the value, and the value.
fn change(connection: &Connection, mut input: &[u8]) {
    while let [change, row, kind, rest @ ..] = input {
        let (value, rest) = value(*kind, rest);
        input = rest;
        let (table, key, column) = CHANGES[usize::from(*change) % CHANGES.len()];
        let place = match key {
            "" => format!("rowid = (SELECT rowid FROM {table} LIMIT 1 OFFSET {})", row % 4),
            key if table == "info" => format!("key = {key}"),
            key => format!("name = {key}"),
        };
        let query = format!("UPDATE OR IGNORE {table} SET {column} = ? WHERE {place}");
        // A constraint of the table may refuse the value.
        drop(connection.execute(&query, [value]));
    }
}

/// A value of a kind: its type, and for a number how it is made of two bytes.
fn value(kind: u8, rest: &[u8]) -> (Value, &[u8]) {
    let (len, numbers) = (usize::from(kind >> 3), rest.split_at(rest.len().min(2)));
    let text = rest.split_at(rest.len().min(len));
    let small = numbers.0.iter().rev().fold(0, |all, &byte| all << 8 | i64::from(byte));
    match kind % 8 {
        0 => (Value::Null, rest),
        1 => (Value::Blob(text.0.to_vec()), text.1),
        2 | 3 => (Value::Text(String::from_utf8_lossy(text.0).into_owned()), text.1),
        4 => (Value::Integer(-small), numbers.1),
        5 => (Value::Integer(i64::MAX - small), numbers.1),
        6 => (Value::Integer(small << (kind >> 3)), numbers.1),
        _ => (Value::Integer(small), numbers.1),
    }
}

fn read(path: &Path, known: &RuleSet, again: bool) -> Result<(), database::DatabaseError> {
    let database = Database::open(path)?;
    let (run, rules, files) = (database.run()?, database.rules()?, database.files()?);
    let (hits, bad) = (database.hits()?, database.bad()?);
    drop(fyke_carve::again::hits_for(known, &rules, &hits));
    let others = PairOptions { missing_footer: true, no_overlap: true, ..PairOptions::default() };
    let compat = PairOptions { compat: Compat::Scalpel160, ..others };
    for options in [run.pair_options(), others, compat] {
        drop(pair(&rules, &hits, &options, 0));
    }
    let mut validated = files.clone();
    validate::validate_all(&FakeImage::new(IMAGE.to_vec()), &mut validated, 1);
    let inside = containers(&rules, &validated);
    drop(Filter { no_embedded: true, ..Filter::default() }.select(&rules, &validated));
    let mut layout = Layout::new(&rules, LayoutOptions::default());
    let names: Vec<String> =
        files.iter().map(|file| layout.path(file).display().to_string()).collect();
    let listing = Listing {
        run: &run,
        rules: &rules,
        files: &validated,
        names: &names,
        inside: &inside,
        digests: &[],
        bad: &bad,
    };
    for write in [write_csv, write_dfxml, write_json] {
        write(&mut std::io::sink(), &listing).expect("a sink takes everything");
    }
    if !again {
        return Ok(());
    }
    let copy = path.with_file_name("written-again-changed");
    let contents = Contents { run: &run, rules: &rules, hits: &hits, files: &files, bad: &bad };
    Database::replace(&copy, &contents)?;
    let copy = Database::open(&copy)?;
    assert_eq!((copy.run()?, copy.rules()?, copy.files()?), (run, rules, files));
    assert!(copy.hits()? == hits && copy.bad()? == bad);
    Ok(())
}
