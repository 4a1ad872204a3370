//! Files that may be compressed: `.xz`, and `.tar.xz` for many small ones.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use lzma_rust2::XzReader;

/// The bytes of a file, decompressed if its name ends in `.xz`.
///
/// # Errors
/// It cannot be read, or is not what its name says.
pub fn read(file: &Path) -> Result<Vec<u8>> {
    let name = || file.display().to_string();
    if file.extension().is_none_or(|e| e != "xz") {
        return fs::read(file).with_context(name);
    }
    let mut bytes = Vec::new();
    open_xz(file)?.read_to_end(&mut bytes).with_context(name)?;
    Ok(bytes)
}

/// The files of a `.tar.xz`, by their names without folders.
///
/// # Errors
/// It cannot be read, or is not what its name says.
pub fn read_tar(file: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let name = || file.display().to_string();
    let mut archive = tar::Archive::new(open_xz(file)?);
    let mut files = BTreeMap::new();
    for entry in archive.entries().with_context(name)? {
        let mut entry = entry.with_context(name)?;
        let path = entry.path().with_context(name)?;
        let Some(base) = path.file_name().map(|n| n.to_string_lossy().into_owned()) else {
            continue;
        };
        if entry.header().entry_type().is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).with_context(name)?;
            files.insert(base, bytes);
        }
    }
    Ok(files)
}

fn open_xz(file: &Path) -> Result<impl Read> {
    let file = File::open(file).with_context(|| file.display().to_string())?;
    Ok(XzReader::new(BufReader::new(file), true))
}
