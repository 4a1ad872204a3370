//! Runs Scalpel and reads what it wrote.

use crate::case::{Carved, Case, Memory, Row};
use fyke_carve::Compat;
use fyke_carve::extract::{ExtractOptions, extract};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What Scalpel carves.
pub(crate) struct Reference {
    /// Sorted.
    pub(crate) rows: Vec<Row>,
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
    /// The list of hits that `-d` writes.
    pub(crate) hit_list: Option<String>,
}

/// Carves with Scalpel.
pub(crate) fn scalpel(case: &Case) -> Reference {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("case.conf"), &case.conf).unwrap();
    fs::write(at("case.img"), &case.image).unwrap();
    let mut command = Command::new(fyke_testkit::require::scalpel().unwrap());
    for (is_on, flag) in [
        (case.missing_footer, "-b"),
        (case.no_overlap, "-r"),
        (case.all_footers, "-d"),
        (case.preview, "-p"),
    ] {
        if is_on {
            command.arg(flag);
        }
    }
    if let Some(cluster) = case.cluster {
        command.arg("-q").arg(cluster.to_string());
    }
    if case.skip > 0 {
        command.arg("-s").arg(case.skip.to_string());
    }
    command.arg("-c").arg(at("case.conf")).arg("-o").arg(at("out")).arg(at("case.img"));
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(status.success(), "scalpel fails: {status}");
    let out = at("out");
    let audit = fs::read_to_string(out.join("audit.txt")).unwrap();
    let hit_list = fs::read_to_string(out.join("case.img.hfd")).ok();
    let mut files = BTreeMap::new();
    read_files(&out, &out, &mut files);
    Reference { rows: rows(&audit), files, hit_list }
}

/// The rows of an audit file, sorted.
pub(crate) fn rows(audit: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = audit.lines().filter_map(row).collect();
    rows.sort();
    rows
}

fn row(line: &str) -> Option<Row> {
    let [first, second, _] = line.split("\t\t").collect::<Vec<_>>()[..] else { return None };
    let [name, start] = first.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let [chopped, len] = second.split_whitespace().collect::<Vec<_>>()[..] else { return None };
    let chopped = chopped == "YES";
    Some(Row { name: name.into(), start: start.parse().ok()?, chopped, len: len.parse().ok()? })
}

fn read_files(root: &Path, folder: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read_files(root, &path, files);
        } else if folder != root {
            let name = path.strip_prefix(root).unwrap().to_path_buf();
            files.insert(name, fs::read(&path).unwrap());
        }
    }
}

/// Fails unless fyke under compatibility carves what Scalpel carves. Returns both.
pub(crate) fn assert_equal(what: &str, case: &Case) -> (Carved, Reference) {
    let (ours, theirs) = (case.carve(Compat::Scalpel160), scalpel(case));
    let rows = ours.rows();
    if let Some(at) =
        (0..rows.len().max(theirs.rows.len())).find(|&i| rows.get(i) != theirs.rows.get(i))
    {
        panic!(
            "{what}: of {} rows, Scalpel has {}; row {at} is {:?}, Scalpel's {:?}\n{:?}\n{}",
            rows.len(),
            theirs.rows.len(),
            rows.get(at),
            theirs.rows.get(at),
            case.options(Compat::Scalpel160),
            String::from_utf8_lossy(&case.conf)
        );
    }
    if !case.preview && case.skip == 0 {
        assert_equal_files(what, case, &ours, &theirs);
    }
    (ours, theirs)
}

/// Extracts the files and compares them. Scalpel's file that ends one byte after the image (B1)
/// has a byte there that is not the image's.
fn assert_equal_files(what: &str, case: &Case, ours: &Carved, theirs: &Reference) {
    let folder = tempfile::tempdir().unwrap();
    let mut files = ours.files.clone();
    for file in &mut files {
        file.len = file.len.min(case.image.len() as u64 - file.start);
    }
    let image = Memory(&case.image);
    extract(&image, &files, &ours.paths, folder.path(), &ExtractOptions::default()).unwrap();
    let mut read = BTreeMap::new();
    for (path, file) in ours.paths.iter().zip(&files) {
        read.insert(path.clone(), (fs::read(folder.path().join(path)).unwrap(), file.len as usize));
    }
    assert_eq!(read.len(), theirs.files.len(), "{what}: the number of files");
    for ((path, (bytes, len)), (their_path, their_bytes)) in read.iter().zip(&theirs.files) {
        assert_eq!(path, their_path, "{what}");
        assert!(their_bytes.len() - len <= 1, "{what}: {path:?}");
        assert!(bytes[..] == their_bytes[..*len], "{what}: the bytes of {path:?} differ");
    }
}
