//! Expert Witness Format, version 1: the images `.E01 .E02 ...` of EnCase, FTK and ewfacquire.
//!
//! An image is cut into chunks of usually 32 KiB. Each is compressed by zlib or stored, and has a
//! checksum. Segment files are chains of sections, which hold the chunks, the geometry, and tables
//! that say where each chunk is. Opening checks all but the chunks. A chunk whose checksum is wrong
//! is an error of the reads that touch it, as a bad sector of a disk is.
//!
//! The hashes of the whole image are not checked: a carve need not read all of it.
//!
//! Source: Metz, Expert Witness Compression Format specification.

mod cache;
mod chunk;
mod names;
mod section;
mod table;
#[cfg(test)]
mod tests;
mod volume;

use super::raw::RawImage;
use super::{Image, ImageError};
use cache::{BadChunk, Cache};
use std::io;
use std::path::{Path, PathBuf};
use table::{Stored, Table};
use volume::Volume;

/// Bytes of unpacked chunks that are kept. Not measured: a guess.
const CACHE: u64 = 4 << 20;
/// Chunks that are kept even if they are larger.
const CACHED_CHUNKS: u64 = 4;

/// An image in segments of chunks.
#[derive(Debug)]
pub(super) struct EwfImage {
    name: String,
    volume: Volume,
    segments: Vec<RawImage>,
    /// In the order of their chunks; every chunk is in one.
    tables: Vec<Table>,
    cache: Cache,
}

impl EwfImage {
    /// Opens an image by its first segment.
    pub(super) fn open(first: &Path) -> Result<Self, ImageError> {
        let (mut segments, mut tables) = (Vec::new(), Vec::new());
        let mut volume = None;
        let mut path = first.to_owned();
        loop {
            let number = segments.len() as u16 + 1;
            let file = open_segment(first, &path, number)?;
            let sections = section::sections(&file, &path)?;
            if let Some(section) = sections.iter().find(|s| s.is("volume") || s.is("disk")) {
                let read = Volume::read(&file, section).map_err(|why| damaged(&path, why))?;
                volume.get_or_insert(read);
            }
            let known = volume.ok_or_else(|| damaged(&path, "it has no volume section".into()))?;
            let place = (segments.len(), tables.last().map_or(0, |t: &Table| t.first + t.len()));
            let more = table::tables(&file, &sections, &known, place);
            tables.extend(more.map_err(|why| damaged(&path, why))?);
            segments.push(file);
            if sections.last().is_some_and(|s| s.is("done")) {
                return Self::of(first, known, segments, tables);
            }
            path = next_path(first, number)?;
        }
    }

    fn of(
        first: &Path,
        volume: Volume,
        segments: Vec<RawImage>,
        tables: Vec<Table>,
    ) -> Result<Self, ImageError> {
        let listed = tables.last().map_or(0, |t| t.first + t.len());
        if listed != volume.chunks() {
            let why = format!(
                "it says that it has {} bytes in {} chunks, but its tables list {listed} chunks",
                volume.len,
                volume.chunks()
            );
            return Err(damaged(first, why));
        }
        let cache = Cache::new((CACHE / volume.chunk).max(CACHED_CHUNKS) as usize);
        Ok(Self { name: first.display().to_string(), volume, segments, tables, cache })
    }

    /// Where a chunk is.
    fn stored(&self, chunk: u64) -> Option<Stored> {
        let index = self.tables.partition_point(|table| table.first <= chunk).checked_sub(1)?;
        self.tables[index].stored(chunk)
    }

    /// Fills `buf` with the chunk's bytes.
    fn unpack(&self, chunk: u64, buf: &mut [u8]) -> Result<(), BadChunk> {
        let (segment, result) = match self.stored(chunk) {
            Some(stored) => {
                let segment = &self.segments[stored.segment];
                (segment.name(), chunk::read(segment, &stored, buf, self.volume.chunk))
            }
            None => (self.name(), Err(io::Error::other("its place in the chunk table is wrong"))),
        };
        result.map_err(|error| match error.raw_os_error() {
            Some(code) => BadChunk::System(code),
            None => BadChunk::Damaged(format!(
                "{segment}: chunk {chunk}, at byte {} of the image, is damaged: {error}",
                chunk * self.volume.chunk
            )),
        })
    }

    /// Copies a part of a chunk, which starts at `skip`, to `buf`.
    fn read_part(&self, chunk: u64, skip: usize, buf: &mut [u8]) -> Result<(), BadChunk> {
        let len = self.volume.chunk_len(chunk);
        let is_whole = skip == 0 && buf.len() == len;
        if is_whole && !self.cache.has(chunk) {
            let result = self.unpack(chunk, buf);
            if let Err(bad) = &result {
                // The parts of a bad chunk are asked for next.
                self.cache.get(chunk, || Err(bad.clone()));
            }
            return result;
        }
        let slot = self.cache.get(chunk, || {
            let mut bytes = vec![0; len];
            self.unpack(chunk, &mut bytes).map(|()| bytes)
        });
        match &*slot {
            Ok(bytes) => buf.copy_from_slice(&bytes[skip..skip + buf.len()]),
            Err(bad) => return Err(bad.clone()),
        }
        Ok(())
    }
}

impl Image for EwfImage {
    fn name(&self) -> &str {
        &self.name
    }

    fn len(&self) -> u64 {
        self.volume.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(self.volume.len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let take = buf.len().min(rest);
        let mut done = 0;
        while done < take {
            let at = offset + done as u64;
            let (chunk, skip) = (at / self.volume.chunk, (at % self.volume.chunk) as usize);
            let part = (self.volume.chunk_len(chunk) - skip).min(take - done);
            match self.read_part(chunk, skip, &mut buf[done..done + part]) {
                Ok(()) => done += part,
                // The error comes again where the next read begins.
                Err(_) if done > 0 => break,
                Err(bad) => return Err(bad.into()),
            }
        }
        Ok(done)
    }

    fn prefetch(&self, offset: u64, len: usize) {
        if len == 0 || offset >= self.volume.len {
            return;
        }
        let last = (offset + (len as u64 - 1)).min(self.volume.len - 1) / self.volume.chunk;
        let (Some(from), Some(to)) = (self.stored(offset / self.volume.chunk), self.stored(last))
        else {
            return;
        };
        // What lies after the end of the segment is not prefetched.
        let end = if from.segment == to.segment { to.range.end } else { from.range.end };
        let len = end.saturating_sub(from.range.start);
        self.segments[from.segment].prefetch(from.range.start, len as usize);
    }
}

/// Opens a segment and checks its number.
fn open_segment(first: &Path, path: &Path, number: u16) -> Result<RawImage, ImageError> {
    let file = RawImage::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound if path != first => {
            ImageError::MissingSegment { first: first.to_owned(), missing: path.to_owned() }
        }
        _ => ImageError::open(path, error),
    })?;
    let found = section::segment_number(&file, path)?;
    if found == number {
        return Ok(file);
    }
    let why = match number {
        1 => format!("it is segment {found} of an image: give the first segment"),
        _ => format!("it is segment {found}, where segment {number} should be"),
    };
    Err(damaged(path, why))
}

/// The path of the segment after segment `number`.
fn next_path(first: &Path, number: u16) -> Result<PathBuf, ImageError> {
    let next = number.checked_add(1).and_then(|next| names::segment_path(first, next));
    next.ok_or_else(|| {
        let why = format!("it has more than {number} segments, and its name is not as NAME.E01");
        damaged(first, why)
    })
}

fn damaged(path: &Path, why: String) -> ImageError {
    ImageError::Damaged { path: path.to_owned(), why }
}

fn adler32(bytes: &[u8]) -> u32 {
    simd_adler32::adler32(&bytes)
}

fn le_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn le_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from(le_u16(bytes, at)) | u32::from(le_u16(bytes, at + 2)) << 16
}

fn le_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from(le_u32(bytes, at)) | u64::from(le_u32(bytes, at + 4)) << 32
}
