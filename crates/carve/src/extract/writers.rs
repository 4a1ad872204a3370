//! The files that are being written, of which only some are open at a time.

use super::folder::Folder;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A SHA-256 digest.
pub type Sha256Digest = [u8; 32];

/// Files that were begun and are not complete.
pub(super) struct Writers<'a, F: Folder> {
    folder: F,
    paths: &'a [PathBuf],
    begun: HashMap<usize, Writer<F::File>>,
    /// How many of them are open, and how many may be.
    open: usize,
    most_open: usize,
    hashes: bool,
}

/// A file that was begun.
struct Writer<T> {
    /// None if too many others are open.
    file: Option<T>,
    hasher: Option<Sha256>,
    written: u64,
}

impl<'a, F: Folder> Writers<'a, F> {
    pub(super) fn new(folder: F, paths: &'a [PathBuf], most_open: usize, hashes: bool) -> Self {
        Self { folder, paths, begun: HashMap::new(), open: 0, most_open, hashes }
    }

    /// Writes the file at `index`, of which these are all bytes. Returns its digest if digests are
    /// wanted.
    pub(super) fn put(&mut self, index: usize, bytes: &[u8]) -> io::Result<Option<Sha256Digest>> {
        self.folder.put(&self.paths[index], bytes)?;
        Ok(self.hashes.then(|| Sha256::digest(bytes).into()))
    }

    /// Appends to the file at `index`. The first call for a file creates it.
    ///
    /// The files that overlap are written in turn. So those that are open stay open, and the others
    /// are opened and closed each time: closing the least recently used one would close the one
    /// needed next.
    pub(super) fn write(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let path = &self.paths[index];
        let hashes = self.hashes;
        let is_new = !self.begun.contains_key(&index);
        let writer = self.begun.entry(index);
        let writer = writer.or_insert_with(|| Writer {
            file: None,
            hasher: hashes.then(Sha256::new),
            written: 0,
        });
        if let Some(hasher) = &mut writer.hasher {
            hasher.update(bytes);
        }
        writer.written += bytes.len() as u64;
        if let Some(file) = &mut writer.file {
            return file.write_all(bytes);
        }
        let mut file = if is_new { self.folder.create(path)? } else { self.folder.reopen(path)? };
        file.write_all(bytes)?;
        if self.open < self.most_open {
            self.open += 1;
            writer.file = Some(file);
        }
        Ok(())
    }

    /// Closes the file at `index` and gives it its name. Returns its length, and its digest if
    /// digests are wanted; or nothing if no byte of it was written.
    pub(super) fn finish(
        &mut self,
        index: usize,
    ) -> io::Result<Option<(u64, Option<Sha256Digest>)>> {
        let Some(mut writer) = self.begun.remove(&index) else { return Ok(None) };
        if let Some(mut file) = writer.file.take() {
            self.open -= 1;
            file.flush()?;
        }
        let renamed = self.folder.finish(&self.paths[index]);
        if renamed.is_err() {
            self.folder.discard(&self.paths[index]);
        }
        let digest = writer.hasher.map(|hasher| hasher.finalize().into());
        renamed.map(|()| Some((writer.written, digest)))
    }

    /// Removes all files that are not complete.
    pub(super) fn discard(&mut self) {
        let mut begun: Vec<usize> = self.begun.drain().map(|(index, _)| index).collect();
        begun.sort_unstable();
        for index in begun {
            self.folder.discard(&self.paths[index]);
        }
        self.open = 0;
    }

    /// The path of the file at `index`, below the folder.
    pub(super) fn path(&self, index: usize) -> &'a Path {
        &self.paths[index]
    }
}
