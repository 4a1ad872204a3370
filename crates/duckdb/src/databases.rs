//! Databases that stay loaded, because a query names its database in every row.

use fyke::Searcher;
use fyke::database::Database;
use std::fs::File;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of databases that stay loaded. A guess: queries name one or two.
const MOST_LOADED: usize = 16;

/// Bytes of a file's header, which has a hash of the whole content: see docs/database-file.md.
const HEADER: u64 = 64;

struct Loaded {
    path: String,
    header: Vec<u8>,
    searcher: Arc<Searcher>,
}

/// The least recently used one is the first.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

/// The searcher of the database at a path. A file that was replaced is loaded again.
///
/// # Errors
/// The file cannot be read, or is not a sound database of this version. The message begins with the
/// path.
pub fn load_once(path: &str) -> Result<Arc<Searcher>, String> {
    let header = header(path).map_err(|error| format!("{path}: {error}"))?;
    // Other threads wait for the one that loads. A panic leaves the list whole.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let found = loaded.iter().position(|l| l.path == path).map(|at| loaded.remove(at));
    let kept = match found.filter(|l| l.header == header) {
        Some(kept) => kept,
        None => Loaded { path: path.to_owned(), header, searcher: Arc::new(load(path)?) },
    };
    let searcher = Arc::clone(&kept.searcher);
    if loaded.len() == MOST_LOADED {
        loaded.remove(0);
    }
    loaded.push(kept);
    Ok(searcher)
}

/// The header: it differs once another database replaces the file.
fn header(path: &str) -> io::Result<Vec<u8>> {
    let mut header = Vec::new();
    File::open(path)?.take(HEADER).read_to_end(&mut header)?;
    Ok(header)
}

fn load(path: &str) -> Result<Searcher, String> {
    let load = || {
        let database = Database::open(path)?;
        // DuckDB has threads of its own.
        database.build(&database.builder().threads(1))
    };
    load().map_err(|error| format!("{path}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save(pattern: &str, path: &str) {
        let searcher = Searcher::new([pattern]).unwrap();
        fyke::database::replace_file(path.as_ref(), |to| searcher.save(to)).unwrap();
    }

    #[test]
    fn a_database_is_loaded_once_and_again_if_it_was_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let first = path("first");
        save("he", &first);
        let one = load_once(&first).unwrap();
        assert_eq!(one.count("hehe"), 2);
        assert!(Arc::ptr_eq(&one, &load_once(&first).unwrap()));
        save("she", &first);
        assert_eq!(load_once(&first).unwrap().count("hehe"), 0);
        assert_eq!(one.count("hehe"), 2, "a searcher in use stays as it is");

        let kept = load_once(&first).unwrap();
        for number in 0..MOST_LOADED {
            save("a", &path(&number.to_string()));
            load_once(&path(&number.to_string())).unwrap();
        }
        assert!(!Arc::ptr_eq(&kept, &load_once(&first).unwrap()), "others took its place");
        assert!(LOADED.lock().unwrap().len() <= MOST_LOADED);
    }

    #[test]
    fn errors_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("text"), "no database").unwrap();
        let folder = path("");
        for path in [path("absent"), path("text"), folder, String::new(), path("a\0b")] {
            let error = load_once(&path).map(|_| ()).unwrap_err();
            assert!(error.starts_with(&format!("{path}: ")), "{error}");
        }
    }
}
