//! Corpora collected from the machine: its documents or its programs.
//!
//! Files are taken in the order of a hash of their paths, so that the front of the corpus is as
//! mixed as the whole. No two machines have the same files: the record has the checksum of what
//! was scanned, and only ratios between matchers of one run are comparable.

use std::env;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use fyke_core::sink::{FNV_BASIS, fnv1a};
use fyke_rivals::Refusal;
use serde::Deserialize;

use crate::size::Size;

/// What to collect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collect {
    /// Folders to walk; `$CARGO_HOME` and `$SYSROOT` (of the Rust toolchain) may lead a path.
    pub roots: Vec<String>,
    /// Folders to walk too if those give less than half of `size`, as on a machine with hardly any
    /// documentation.
    #[serde(default)]
    pub spare: Vec<String>,
    /// What kind of file to take.
    pub kind: Kind,
    /// Most bytes to take of one file.
    pub each: Size,
    /// Most bytes to take in total.
    pub size: Size,
}

/// A kind of file, recognized by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// UTF-8 without control characters.
    Text,
    /// ELF programs and libraries.
    Elf,
}

/// Bytes that are read to recognize the kind of a file.
const HEAD: usize = 4096;

impl Kind {
    fn fits(self, head: &[u8]) -> bool {
        match self {
            Kind::Elf => head.starts_with(b"\x7fELF"),
            Kind::Text => is_text(head),
        }
    }
}

fn is_text(head: &[u8]) -> bool {
    let control = |b: &u8| (*b < 0x20 || *b == 0x7f) && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c);
    let cut_short = |e: std::str::Utf8Error| e.error_len().is_none();
    !head.is_empty()
        && !head.iter().any(control)
        && std::str::from_utf8(head).map_or_else(cut_short, |_| true)
}

/// A collected corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Files that were taken.
    pub files: usize,
    /// The folders that were walked.
    pub roots: Vec<String>,
}

impl fmt::Display for Collected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (size, files) = (Size(self.bytes.len()), self.files);
        write!(f, "{size} of {files} files under {}", self.roots.join(", "))
    }
}

/// Collects a corpus.
///
/// # Errors
/// The machine has no such files.
pub fn collect(what: &Collect) -> Result<Collected, Refusal> {
    let first = collect_from(&what.roots, what);
    if 2 * first.bytes.len() >= what.size.0 || what.spare.is_empty() {
        return first.some();
    }
    let all: Vec<String> = what.roots.iter().chain(&what.spare).cloned().collect();
    collect_from(&all, what).some()
}

impl Collected {
    fn some(self) -> Result<Self, Refusal> {
        if self.bytes.is_empty() {
            return Err(Refusal(format!("no such files under {}", self.roots.join(", "))));
        }
        Ok(self)
    }
}

fn collect_from(roots: &[String], what: &Collect) -> Collected {
    let mut all = Collected { roots: roots.to_vec(), ..Collected::default() };
    let mut files = Vec::new();
    roots.iter().filter_map(|r| resolve(r)).for_each(|root| walk(&root, &mut files));
    files.sort_by_cached_key(|f| fnv1a(f.as_os_str().as_encoded_bytes(), FNV_BASIS));
    files.dedup();
    for file in files {
        if all.bytes.len() >= what.size.0 {
            break;
        }
        append(&file, what, &mut all);
    }
    all.bytes.truncate(what.size.0);
    all
}

/// Adds the front of a file if it is of the right kind. Unreadable files are left out.
fn append(file: &Path, what: &Collect, all: &mut Collected) {
    let Ok(file) = File::open(file) else { return };
    let mut bytes = Vec::new();
    let limit = what.each.0 as u64;
    let read = file.take(limit).read_to_end(&mut bytes);
    if read.is_ok() && what.kind.fits(&bytes[..bytes.len().min(HEAD)]) {
        all.bytes.append(&mut bytes);
        all.files += 1;
    }
}

/// Regular files under a folder; links are not followed.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

fn resolve(root: &str) -> Option<PathBuf> {
    if let Some(rest) = root.strip_prefix("$CARGO_HOME") {
        return Some(cargo_home()?.join(rest.trim_start_matches('/')));
    }
    if let Some(rest) = root.strip_prefix("$SYSROOT") {
        return Some(sysroot()?.join(rest.trim_start_matches('/')));
    }
    Some(root.into())
}

fn cargo_home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| env::home_dir().map(|home| home.join(".cargo")))
}

fn sysroot() -> Option<PathBuf> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_recognized_by_the_head() {
        assert!(is_text("Grüße\n".as_bytes()));
        assert!(is_text(&"Grüße".as_bytes()[..3]), "a character cut in two is still text");
        assert!(!is_text(b"a\0b") && !is_text(b"\xff\xfe") && !is_text(b""));
        assert!(Kind::Elf.fits(b"\x7fELF\x02"));
    }

    #[test]
    fn a_folder_is_collected_up_to_the_limits() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("deep")).unwrap();
        fs::write(folder.path().join("a"), "aaaaaa").unwrap();
        fs::write(folder.path().join("deep/b"), "bb").unwrap();
        fs::write(folder.path().join("c"), b"\x7fELF").unwrap();
        let roots = vec![folder.path().display().to_string()];
        let (each, size) = (Size(4), Size(100));
        let what = Collect { roots, spare: Vec::new(), kind: Kind::Text, each, size };
        let found = collect(&what).unwrap();
        assert!(found.to_string().starts_with("6 B of 2 files under /"), "{found}");
        let mut all = found.bytes;
        all.sort_unstable();
        assert_eq!(all, b"aaaabb");
        let nowhere = Collect { roots: vec!["/nowhere".into()], ..what.clone() };
        assert!(collect(&nowhere).is_err());
        let spare = collect(&Collect { spare: what.roots, ..nowhere }).unwrap();
        assert_eq!(spare.files, 2);
    }
}
