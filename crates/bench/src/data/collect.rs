//! Corpora that are collected from the machine: whatever documents or programs it has.
//!
//! Files are taken in the order of a hash of their paths, so that the front of the corpus is as
//! mixed as the whole. No two machines have the same files: the record has the sum of what was
//! scanned, and ratios between matchers of one run are what counts.

use std::env;
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
    /// What kind of file to take.
    pub kind: Kind,
    /// Most bytes to take of one file.
    pub each: Size,
    /// Most bytes to take in all.
    pub size: Size,
}

/// A kind of file, told by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// UTF-8 without control characters.
    Text,
    /// ELF programs and libraries.
    Elf,
}

/// Bytes that are looked at to tell the kind of a file.
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

/// Collects.
///
/// # Errors
/// The machine has no such files.
pub fn collect(what: &Collect) -> Result<Vec<u8>, Refusal> {
    let mut files = Vec::new();
    what.roots.iter().filter_map(|r| resolve(r)).for_each(|root| walk(&root, &mut files));
    files.sort_by_cached_key(|f| fnv1a(f.as_os_str().as_encoded_bytes(), FNV_BASIS));
    let mut all = Vec::new();
    for file in files {
        if all.len() >= what.size.0 {
            break;
        }
        append(&file, what, &mut all);
    }
    all.truncate(what.size.0);
    if all.is_empty() {
        return Err(Refusal(format!("no such files under {}", what.roots.join(", "))));
    }
    Ok(all)
}

/// Adds the front of a file if it is of the right kind. What cannot be read is left out.
fn append(file: &Path, what: &Collect, all: &mut Vec<u8>) {
    let Ok(file) = File::open(file) else { return };
    let mut bytes = Vec::new();
    let limit = what.each.0 as u64;
    let read = file.take(limit).read_to_end(&mut bytes);
    if read.is_ok() && what.kind.fits(&bytes[..bytes.len().min(HEAD)]) {
        all.append(&mut bytes);
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
    fn kinds_are_told_by_the_head() {
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
        let what = Collect { roots, kind: Kind::Text, each: Size(4), size: Size(100) };
        let mut all = collect(&what).unwrap();
        all.sort_unstable();
        assert_eq!(all, b"aaaabb");
        assert!(collect(&Collect { roots: vec!["/nowhere".into()], ..what }).is_err());
    }
}
