//! Zip archives: each member is a haystack of its own, so that no match spans two members.

use super::push::PushReader;
use super::{BoxRead, Kind, Warn};
use crate::source::{self, DataFile, Opened};
use flate2::Crc;
use lzma_rust2::LzmaReader;
use rawzip::{CompressionMethod, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive};
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

/// Maximum memory to decode a member compressed with lzma, in KiB.
const LZMA_MEMORY_KIB: u32 = 512 << 10;

/// A zip archive and the list of its members.
#[derive(Debug)]
pub struct Archive {
    file: Arc<DataFile>,
    zip: ZipArchive<At>,
    members: Vec<Member>,
}

/// A member of an archive: a file, not a folder.
#[derive(Debug)]
pub struct Member {
    name: Vec<u8>,
    method: CompressionMethod,
    encrypted: bool,
    wayfinder: rawzip::ZipArchiveEntryWayfinder,
    size: u64,
    crc: u32,
}

/// Whether a file that starts with these bytes is a zip archive.
pub fn is_archive(magic: &[u8]) -> bool {
    Kind::of(magic) == Some(Kind::Zip)
}

impl Archive {
    /// Opens the archive at a path; `None` if its first bytes are not those of one, or it is no
    /// regular file.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn at_path(path: &Path) -> io::Result<Option<Archive>> {
        if !path.metadata()?.is_file() {
            return Ok(None);
        }
        match source::open(path)? {
            Opened::File(file) => Ok(Self::open(file)?.ok()),
            Opened::Stream(_) => Ok(None),
        }
    }

    /// Opens an archive. The file is given back if its first bytes are not those of one.
    ///
    /// # Errors
    /// If the file cannot be read, or the archive has no readable directory.
    pub fn open(file: DataFile) -> io::Result<Result<Archive, DataFile>> {
        let mut magic = [0; 4];
        let file = match file.len() {
            4.. => {
                file.read_at(0, &mut magic)?;
                file
            }
            _ => return Ok(Err(file)),
        };
        if !is_archive(&magic) {
            return Ok(Err(file));
        }
        let file = Arc::new(file);
        let len = file.len();
        let mut buffer = vec![0; RECOMMENDED_BUFFER_SIZE];
        let zip = rawzip::ZipLocator::new()
            .locate_in_reader(At { file: Arc::clone(&file) }, &mut buffer, len)
            .map_err(|(_, error)| no_directory(&error))?;
        let members = members(&zip, &mut buffer).map_err(|error| no_directory(&error))?;
        Ok(Ok(Archive { file, zip, members }))
    }

    /// The members, in the order of the archive's directory.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Opens a member.
    ///
    /// # Errors
    /// If the member is encrypted, or compressed in a way that is not supported.
    pub fn read(&self, member: &Member) -> io::Result<BoxRead> {
        if member.encrypted {
            return Err(super::unsupported(
                "this member is encrypted: extract it, and scan the extracted file",
            ));
        }
        let range = self
            .zip
            .get_entry(member.wayfinder)
            .map_err(|e| damaged(&e.to_string(), 0))?
            .compressed_data_range();
        let packed = Part { file: Arc::clone(&self.file), at: range.0, end: range.1 };
        let inner = unpack(member.method, packed, member.size)?;
        Ok(Box::new(Checked { inner, crc: Crc::new(), size: member.size, expected: member.crc }))
    }
}

impl Member {
    /// The name as the archive has it, with slashes between folders.
    pub fn name(&self) -> &[u8] {
        &self.name
    }
}

/// Lists the files of an archive.
fn members(zip: &ZipArchive<At>, buffer: &mut [u8]) -> Result<Vec<Member>, rawzip::Error> {
    let mut members = Vec::new();
    let mut entries = zip.entries(buffer);
    while let Some(entry) = entries.next_entry()? {
        if entry.is_dir() {
            continue;
        }
        members.push(Member {
            name: entry.file_path().as_ref().to_vec(),
            method: entry.compression_method(),
            encrypted: entry.flags().is_encrypted(),
            wayfinder: entry.wayfinder(),
            size: entry.uncompressed_size_hint(),
            crc: entry.crc32(),
        });
    }
    Ok(members)
}

/// A reader of the decompressed bytes of a member.
fn unpack(method: CompressionMethod, packed: Part, size: u64) -> io::Result<BoxRead> {
    let buffered = |part| BufReader::with_capacity(64 << 10, part);
    Ok(match method {
        CompressionMethod::STORE => Box::new(packed),
        CompressionMethod::DEFLATE => {
            Box::new(PushReader::<flate2::Decompress, _>::new(buffered(packed)))
        }
        CompressionMethod::BZIP2 | CompressionMethod::ZSTD | CompressionMethod::XZ => {
            let warn: Warn = Box::new(|_| {});
            super::decompress_with(Box::new(packed), warn)?
        }
        CompressionMethod::LZMA => {
            let mut packed = buffered(packed);
            let mut header = [0; 9];
            packed.read_exact(&mut header)?;
            let [_, _, _, _, properties, dictionary @ ..] = header;
            let dictionary = u32::from_le_bytes(dictionary);
            let needs = lzma_rust2::lzma_get_memory_usage_by_props(dictionary, properties);
            if needs.map_err(io::Error::other)? > LZMA_MEMORY_KIB {
                return Err(super::unsupported("this member needs more than 512 MiB of memory"));
            }
            Box::new(LzmaReader::new_with_props(packed, size, properties, dictionary, None)?)
        }
        other => {
            let (number, name) = (other.as_u16(), other.name().unwrap_or("unknown"));
            return Err(super::unsupported(&format!(
                "this member is compressed with method {number} ({name}), which is not \
                 supported: extract it, and scan the extracted file"
            )));
        }
    })
}

/// The error of an archive whose directory, which is at its end, cannot be read.
fn no_directory(error: &rawzip::Error) -> io::Error {
    let message = format!(
        "this zip archive is truncated or damaged ({error}): get a whole copy, or try `zip -FF`"
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn damaged(what: &str, given: u64) -> io::Error {
    let message = format!(
        "this member is damaged ({what}): only its first {given} decompressed bytes could be \
         scanned; get a whole copy of the archive"
    );
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// The archive's file, read at any position.
#[derive(Debug)]
struct At {
    file: Arc<DataFile>,
}

impl ReaderAt for At {
    fn read_at(&self, to: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = self.file.len().saturating_sub(offset);
        let n = usize::try_from(left).unwrap_or(usize::MAX).min(to.len());
        self.file.read_at(offset, &mut to[..n])?;
        Ok(n)
    }
}

/// The compressed bytes of a member.
struct Part {
    file: Arc<DataFile>,
    at: u64,
    end: u64,
}

impl Read for Part {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let end = self.end.min(self.file.len());
        let left = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let n = left.min(to.len());
        self.file.read_at(self.at, &mut to[..n])?;
        self.at += n as u64;
        Ok(n)
    }
}

/// Checks the size and the checksum of a member at its end.
struct Checked {
    inner: BoxRead,
    crc: Crc,
    size: u64,
    expected: u32,
}

impl Read for Checked {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let given = u64::from(self.crc.amount());
        let n = match self.inner.read(to) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => return Err(e),
            Err(e) => return Err(damaged(&e.to_string(), given)),
        };
        self.crc.update(&to[..n]);
        let wrong = self.crc.amount() != self.size as u32 || self.crc.sum() != self.expected;
        if n == 0 && !to.is_empty() && wrong {
            return Err(damaged("its size or checksum does not match", given));
        }
        Ok(n)
    }
}
