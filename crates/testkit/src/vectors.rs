//! Reads the conformance vectors, `vectors/*.toml`. `vectors/README.md` describes their form.

use crate::case::{Case, Entry};
use crate::text;
use fyke_core::{PatternId, Semantics, StreamMatch};
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// One conformance vector.
#[derive(Clone, Debug)]
pub struct Vector {
    /// Its name, unique among all vectors.
    pub name: String,
    /// Patterns, haystack, and the matches that the naive search finds.
    pub case: Case,
    /// The matches that the vector states, by semantics.
    pub stated: Vec<(Semantics, Vec<StreamMatch>)>,
    /// The number of matches that the vector states, if it does not list them.
    pub count: Option<u64>,
}

/// The vectors of one file.
#[derive(Clone, Debug)]
pub struct File {
    /// The file's name without `.toml`.
    pub stem: String,
    /// Its vectors.
    pub vectors: Vec<Vector>,
}

/// Keys of a test that list matches.
const LISTS: [(&str, Semantics); 4] = [
    ("matches", Semantics::All),
    ("once", Semantics::Once),
    ("leftmost-first", Semantics::LeftmostFirst),
    ("leftmost-longest", Semantics::LeftmostLongest),
];
const OTHER_KEYS: [&str; 5] = ["name", "about", "patterns", "haystack", "count"];
const PATTERN_KEYS: [&str; 6] = ["id", "bytes", "hex", "pieces", "repeat", "nocase"];

/// The folder of the vectors.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors")
}

/// Reads all files of a folder, in the order of their names.
///
/// # Errors
/// The file, the test and the mistake.
pub fn load(folder: &Path) -> Result<Vec<File>, String> {
    let listing = std::fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut paths: Vec<PathBuf> = listing.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "toml"));
    paths.sort();
    let files: Vec<File> = paths.iter().map(|p| load_file(p)).collect::<Result<_, _>>()?;
    check_unique_names(&files)?;
    if files.is_empty() {
        Err(format!("{}: no vectors in this folder", folder.display()))
    } else {
        Ok(files)
    }
}

fn load_file(path: &Path) -> Result<File, String> {
    let at = |e: String| format!("{}: {e}", path.display());
    let toml = std::fs::read_to_string(path).map_err(|e| at(e.to_string()))?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(File { stem, vectors: parse(&toml).map_err(at)? })
}

/// The vectors of a file's text.
///
/// # Errors
/// The test and the mistake.
pub fn parse(toml: &str) -> Result<Vec<Vector>, String> {
    let table: Table = toml.parse().map_err(|e: toml::de::Error| e.to_string())?;
    if let Some(key) = table.keys().find(|k| *k != "test") {
        return Err(format!("unknown key {key:?}: expected only [[test]] tables"));
    }
    let tests = table.get("test").and_then(Value::as_array).ok_or("no [[test]] in the file")?;
    tests.iter().enumerate().map(|(i, t)| test(i, t)).collect()
}

fn test(index: usize, value: &Value) -> Result<Vector, String> {
    let table = value.as_table().ok_or("test must be a table")?;
    let name = table.get("name").and_then(Value::as_str);
    let name = name.ok_or_else(|| format!("test {} has no name", index + 1))?;
    vector(name, table).map_err(|e| format!("test {name:?}: {e}"))
}

fn vector(name: &str, table: &Table) -> Result<Vector, String> {
    let known = |key: &str| OTHER_KEYS.contains(&key) || LISTS.iter().any(|(k, _)| *k == key);
    if let Some(key) = table.keys().find(|k| !known(k)) {
        return Err(format!("unknown key {key:?}"));
    }
    let entries = patterns(table.get("patterns").ok_or("no patterns")?)?;
    let haystack = text::bytes(table.get("haystack").ok_or("no haystack")?)
        .map_err(|e| format!("haystack: {e}"))?;
    let stated = LISTS
        .iter()
        .filter_map(|(key, semantics)| {
            Some((*semantics, list(key, table.get(*key)?, haystack.len())))
        })
        .map(|(semantics, result)| result.map(|matches| (semantics, matches)))
        .collect::<Result<Vec<_>, _>>()?;
    let count = table.get("count").and_then(Value::as_integer).map(|n| n as u64);
    if table.contains_key("matches") == count.is_some() {
        return Err("expected exactly one of matches and count".into());
    }
    let case = Case::new(entries, haystack).map_err(|e| e.to_string())?;
    Ok(Vector { name: name.to_owned(), case, stated, count })
}

fn patterns(value: &Value) -> Result<Vec<Entry>, String> {
    let list = value.as_array().ok_or("patterns must be a list")?;
    let read =
        |(i, v): (usize, &Value)| pattern(i, v).map_err(|e| format!("pattern {}: {e}", i + 1));
    list.iter().enumerate().map(read).collect()
}

fn pattern(index: usize, value: &Value) -> Result<Entry, String> {
    let empty = Table::new();
    let table = value.as_table().unwrap_or(&empty);
    if let Some(key) = table.keys().find(|k| !PATTERN_KEYS.contains(&k.as_str())) {
        return Err(format!("unknown key {key:?}"));
    }
    let id = table.get("id").map_or(Some(index as i64), Value::as_integer);
    let id = id.and_then(|n| u32::try_from(n).ok()).ok_or("id must be a number below 2^32")?;
    let nocase = table
        .get("nocase")
        .map_or(Some(false), Value::as_bool)
        .ok_or("nocase must be true or false")?;
    Ok(Entry { bytes: text::bytes(value)?, nocase, id })
}

/// A list of `[id, start, end]`, in canonical order and inside the haystack.
fn list(key: &str, value: &Value, len: usize) -> Result<Vec<StreamMatch>, String> {
    let triples = value.as_array().ok_or_else(|| format!("{key} must be a list"))?;
    let matches: Vec<StreamMatch> =
        triples.iter().map(|t| triple(key, t)).collect::<Result<_, _>>()?;
    if !matches.is_sorted() {
        return Err(format!("{key} is not in order of (end, start, id)"));
    }
    match matches.iter().find(|m| m.start >= m.end || m.end > len as u64) {
        Some(m) => Err(format!(
            "{key}: [{}, {}, {}] is not inside the haystack of {len} bytes",
            m.pattern, m.start, m.end
        )),
        None => Ok(matches),
    }
}

fn triple(key: &str, value: &Value) -> Result<StreamMatch, String> {
    let number = |v: &Value| v.as_integer().and_then(|n| u64::try_from(n).ok());
    let numbers: Option<Vec<u64>> = value.as_array().and_then(|t| t.iter().map(number).collect());
    match numbers.as_deref() {
        Some(&[id, start, end]) if id <= u64::from(u32::MAX) => {
            Ok(StreamMatch { end, start, pattern: PatternId(id as u32) })
        }
        _ => Err(format!("{key}: {value} is not of the form [id, start, end]")),
    }
}

fn check_unique_names(files: &[File]) -> Result<(), String> {
    let mut names: Vec<&str> =
        files.iter().flat_map(|f| &f.vectors).map(|v| v.name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|w| w[0] == w[1]) {
        Some(twice) => Err(format!("two vectors are named {:?}", twice[0])),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "[[test]]\nname = 'x'\npatterns = ['ab', { id = 7, bytes = 'B', nocase = true }]\n\
                        haystack = 'ab'\nmatches = [[0, 0, 2], [7, 1, 2]]\n";

    #[test]
    fn a_vector_is_read() {
        let all = parse(GOOD).unwrap();
        let v = &all[0];
        assert_eq!(v.case.entries[1], Entry { bytes: b"B".to_vec(), nocase: true, id: 7 });
        assert_eq!(v.stated, [(Semantics::All, v.case.expected.clone())]);
    }

    #[test]
    fn mistakes_are_named() {
        for (from, to, part) in [
            ("matches", "match", "unknown key \"match\""),
            ("[0, 0, 2], [7, 1, 2]", "[7, 1, 2], [0, 0, 2]", "not in order"),
            ("[7, 1, 2]", "[7, 1, 3]", "is not inside"),
            ("[7, 1, 2]", "[7, 1]", "not of the form"),
            ("id = 7", "id = -1", "id must be"),
            ("id = 7", "ids = 7", "pattern 2: unknown key"),
            ("'ab'\nmatches", "'ab'\ncount = 2\nmatches", "exactly one of matches and count"),
            ("'ab', {", "'', {", "pattern 1 is empty"),
            ("haystack = 'ab'", "haystack = 'a\\'", "haystack: bad escape"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            assert_ne!(bad, GOOD);
            let e = parse(&bad).unwrap_err();
            assert!(e.contains(part) && e.contains("test \"x\""), "{e}");
        }
    }
}
