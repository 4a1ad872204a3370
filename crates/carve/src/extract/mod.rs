//! Phase 2: copies carved files out of an image.
//!
//! The image is read once, from its beginning to its end, and only where there are files. A byte
//! that several files share is read once and written to each. A file that takes more than one write
//! has a temporary name until it is complete, so a run that is stopped leaves complete files, and
//! the next one can go on.
//!
//! Files are not synced to the device one by one. After a power loss, `resume` writes the files
//! again whose length is wrong.

mod error;
mod folder;
mod manifest;
mod reading;
mod space;
mod sweep;
mod watch;
mod writers;

pub use error::ExtractError;
pub use watch::Watch;
pub use writers::Sha256Digest;

use crate::{CarvedFile, Image};
use folder::{Disk, Folder};
use reading::{Chunk, Reader};
use std::collections::HashSet;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use sweep::{Sweep, covered, end_of};
use writers::Writers;

/// How to extract.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// Compute the SHA-256 of each file, and write the list `SHA256SUMS`.
    pub sha256: bool,
    /// Keep files that exist and have the right length; write the others.
    pub resume: bool,
    /// Write over files that exist, and begin even if the room seems too small.
    pub force: bool,
    /// Bytes to read at a time.
    pub buffer: usize,
    /// How many files may be open at a time.
    pub open_files: usize,
}

impl Default for ExtractOptions {
    fn default() -> Self {
        Self { sha256: false, resume: false, force: false, buffer: 4 << 20, open_files: 200 }
    }
}

/// What was extracted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Files that were written.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that existed already.
    pub skipped: u64,
    /// Numbers of the files that the image has only in part, or not at all, because it ended too
    /// soon. Those of which it has any bytes are written.
    pub short: Vec<u64>,
    /// Ranges of the image that could not be read. Files have zeros there.
    pub bad: Vec<Range<u64>>,
    /// The digest of each file, by its index in `files`, if digests were requested.
    pub digests: Vec<Option<Sha256Digest>>,
}

/// Copies `files` out of `image` to the folder `out`, each to the path below it in `paths`.
///
/// # Errors
///
/// If a path exists or leads out of the folder, the volume has too little room, or the image is
/// shorter than a file's end: these errors are found before anything is written. If the image
/// cannot be read, or a file or the list of digests cannot be written: then all files that have
/// their names are complete.
///
/// # Panics
///
/// If `files` and `paths` differ in length, or `options.buffer` is 0.
pub fn extract(
    image: &dyn Image,
    files: &[CarvedFile],
    paths: &[PathBuf],
    out: &Path,
    options: &ExtractOptions,
) -> Result<Extracted, ExtractError> {
    extract_watched(image, files, paths, out, options, &mut ())
}

/// The same as [`extract`]; `watch` gets the progress, and may stop it.
///
/// # Errors
///
/// Those of [`extract`], and [`ExtractError::Interrupted`].
///
/// # Panics
///
/// If `files` and `paths` differ in length, or `options.buffer` is 0.
pub fn extract_watched(
    image: &dyn Image,
    files: &[CarvedFile],
    paths: &[PathBuf],
    out: &Path,
    options: &ExtractOptions,
    watch: &mut dyn Watch,
) -> Result<Extracted, ExtractError> {
    assert_eq!(files.len(), paths.len(), "each file has a path");
    assert!(options.buffer > 0, "a buffer of no bytes");
    check_paths(files, paths)?;
    check_ends(image, files)?;
    let chosen = missing(files, paths, out, options)?;
    check_room(&chosen, files, out, options)?;
    fs::create_dir_all(out).map_err(|e| ExtractError::folder(out, e))?;
    let skipped = (files.len() - chosen.len()) as u64;
    let mut folder = Disk::new(out);
    if options.resume {
        // What a killed run left.
        chosen.iter().for_each(|&index| folder.discard(&paths[index]));
    }
    let mut copy = Copy::new(image, files, paths, folder, options);
    copy.done.skipped = skipped;
    watch.begins(covered(files, &chosen));
    let mut done = copy.run(chosen, watch).map_err(|e| e.below(out))?;
    if options.sha256 {
        let without = done.short_indexes(files);
        manifest::write(out, paths, &mut done.digests, &without)?;
    }
    Ok(done)
}

impl Extracted {
    fn add(&mut self, index: usize, bytes: u64, digest: Option<Sha256Digest>) {
        self.files += 1;
        self.bytes += bytes;
        if let Some(slot) = self.digests.get_mut(index) {
            *slot = digest;
        }
    }

    fn short_indexes(&self, files: &[CarvedFile]) -> HashSet<usize> {
        let short: HashSet<u64> = self.short.iter().copied().collect();
        (0..files.len()).filter(|&i| short.contains(&files[i].number)).collect()
    }
}

/// Refuses paths that lead out of the folder, and two files with the same path.
fn check_paths(files: &[CarvedFile], paths: &[PathBuf]) -> Result<(), ExtractError> {
    let mut seen = HashSet::with_capacity(paths.len());
    for (file, path) in files.iter().zip(paths) {
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_below || path.file_name().is_none() || !seen.insert(path) {
            return Err(ExtractError::BadPath { number: file.number, path: path.clone() });
        }
    }
    Ok(())
}

/// Refuses files that end after the end of the image.
fn check_ends(image: &dyn Image, files: &[CarvedFile]) -> Result<(), ExtractError> {
    let image_len = image.len();
    let outside = files.iter().find(|file| end_of(file) > image_len);
    outside.map_or(Ok(()), |file| {
        Err(ExtractError::ImageShort { number: file.number, end: end_of(file), image_len })
    })
}

/// The indexes of the files to write. Refuses to write over others, unless the options say so.
fn missing(
    files: &[CarvedFile],
    paths: &[PathBuf],
    out: &Path,
    options: &ExtractOptions,
) -> Result<Vec<usize>, ExtractError> {
    let mut chosen = Vec::with_capacity(files.len());
    let may_exist = options.resume || options.force;
    let manifest = options.sha256.then(|| Path::new(manifest::NAME));
    if let Some(path) = manifest.filter(|path| !may_exist && out.join(path).exists()) {
        return Err(ExtractError::Exists { path: out.join(path) });
    }
    for (index, (file, path)) in files.iter().zip(paths).enumerate() {
        let path = out.join(path);
        let known = fs::symlink_metadata(&path).ok();
        match known {
            Some(known) if options.resume && known.is_file() && known.len() == file.len => {}
            Some(known) if !may_exist || !known.is_file() => {
                return Err(ExtractError::Exists { path });
            }
            _ => chosen.push(index),
        }
    }
    Ok(chosen)
}

/// Refuses to begin if the volume has no room for all files.
fn check_room(
    chosen: &[usize],
    files: &[CarvedFile],
    out: &Path,
    options: &ExtractOptions,
) -> Result<(), ExtractError> {
    let Some(room) = space::room(out).filter(|_| !options.force) else { return Ok(()) };
    let needed = room.needed(chosen.iter().map(|&i| files[i].len));
    match needed > room.available {
        true => Err(ExtractError::NoSpace { needed, available: room.available }),
        false => Ok(()),
    }
}

/// One run: reads ranges, and writes them to the files that have them.
struct Copy<'a, F: Folder> {
    files: &'a [CarvedFile],
    reader: Reader<'a>,
    writers: Writers<'a, F>,
    done: Extracted,
    buffer: usize,
}

impl<'a, F: Folder> Copy<'a, F> {
    fn new(
        image: &'a dyn Image,
        files: &'a [CarvedFile],
        paths: &'a [PathBuf],
        folder: F,
        options: &ExtractOptions,
    ) -> Self {
        let writers = Writers::new(folder, paths, options.open_files, options.sha256);
        let digests = if options.sha256 { vec![None; files.len()] } else { Vec::new() };
        let done = Extracted { digests, ..Extracted::default() };
        Self { files, reader: Reader::new(image), writers, done, buffer: options.buffer }
    }

    fn run(mut self, chosen: Vec<usize>, watch: &mut dyn Watch) -> Result<Extracted, ExtractError> {
        let mut sweep = Sweep::new(self.files, chosen, self.buffer);
        while let Some((range, active)) = sweep.advance() {
            let chunk = match self.reader.read(range.clone()) {
                Ok(chunk) => chunk,
                Err(source) => {
                    self.writers.discard();
                    return Err(ExtractError::Read { source, done: Box::new(self.done) });
                }
            };
            for &index in active {
                if let Err(source) =
                    copy_part(index, &range, &chunk, self.files, &mut self.writers, &mut self.done)
                {
                    let path = self.writers.path(index).to_owned();
                    self.writers.discard();
                    return Err(ExtractError::Write { path, source, done: Box::new(self.done) });
                }
            }
            watch.advanced(range.end - range.start);
            if watch.stops() {
                self.writers.discard();
                return Err(ExtractError::Interrupted { done: Box::new(self.done) });
            }
        }
        self.done.bad = self.reader.into_bad();
        self.done.short.sort_unstable();
        Ok(self.done)
    }
}

/// Appends the bytes of a chunk to one of its files, and finishes the file if they are its last.
fn copy_part<F: Folder>(
    index: usize,
    range: &Range<u64>,
    chunk: &Chunk<'_>,
    files: &[CarvedFile],
    writers: &mut Writers<'_, F>,
    done: &mut Extracted,
) -> io::Result<()> {
    let file = &files[index];
    let bytes = chunk.part(file.start.max(range.start)..end_of(file).min(range.end));
    if file.len > 0 && bytes.len() as u64 == file.len {
        let digest = writers.put(index, bytes)?;
        done.add(index, file.len, digest);
        return Ok(());
    }
    if !bytes.is_empty() {
        writers.write(index, bytes)?;
    }
    if end_of(file) > range.end {
        return Ok(());
    }
    if chunk.end() < end_of(file) {
        done.short.push(file.number);
    }
    let Some((written, digest)) = writers.finish(index)? else { return Ok(()) };
    done.add(index, written, digest);
    Ok(())
}

#[cfg(test)]
mod tests;
