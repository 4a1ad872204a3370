//! Journal: what a scan found so far, in a file that is only appended to.
//!
//! ```text
//! magic, identity, then for each chunk in order: length, checksum, payload
//! ```
//!
//! A process may be killed at any time, so the last chunk may be there in part. Its checksum
//! shows that. It is cut off, and the scan goes on after the last whole chunk.

mod payload;

use super::chunk::Found;
use super::collect::Collector;
use super::{JournalOptions, ScanError};
use crate::image::Image;
use crate::rule::RuleSet;
use fyke_core::sink::{FNV_BASIS, fnv1a};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const MAGIC: &[u8; 16] = b"fyke carve log 1";

/// Bytes of magic and identity.
const HEADER: usize = MAGIC.len() + 5 * 8;

/// The journal reaches the disk this often: a power cut costs no more time than that.
const SYNC_EVERY: Duration = Duration::from_secs(5);

/// Bytes at the front of the image that identify it.
const IMAGE_HEAD: usize = 4096;

/// What a scan is of. A journal serves only the same scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    image_len: u64,
    /// A hash of the first bytes of the image.
    image_head: u64,
    /// A hash of the rules.
    rules: u64,
    range: (u64, u64),
}

/// Why a journal cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum JournalError {
    /// It cannot be read or written.
    Io {
        /// The journal.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is no journal, or of another version.
    Foreign(PathBuf),
    /// It is of another scan.
    Differs {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: &'static str,
    },
}

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { path, error } => {
                write!(f, "cannot use the journal {}: {error}", path.display())
            }
            Self::Foreign(path) => write!(
                f,
                "{} is not a journal of this version: start the scan again without --resume",
                path.display()
            ),
            Self::Differs { path, what } => write!(
                f,
                "the journal {} is of a scan with {what}: resume with the same image, rules and \
                 range, or start again without --resume",
                path.display()
            ),
        }
    }
}

/// Messages are whole: they contain that of the cause, so there is no source.
impl std::error::Error for JournalError {}

impl Identity {
    pub(super) fn of(image: &dyn Image, rules: &RuleSet, range: &Range<u64>) -> Self {
        let mut head = [0; IMAGE_HEAD];
        // A bad sector at the front identifies the image as well as its bytes do.
        let read = image.read_at(0, &mut head).unwrap_or(0).min(IMAGE_HEAD);
        Self {
            image_len: image.len(),
            image_head: fnv1a(&head[..read], FNV_BASIS),
            rules: fnv1a(format!("{rules:?}").as_bytes(), FNV_BASIS),
            range: (range.start, range.end),
        }
    }

    fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..MAGIC.len()].copy_from_slice(MAGIC);
        let numbers = [self.image_len, self.image_head, self.rules, self.range.0, self.range.1];
        for (to, number) in bytes[MAGIC.len()..].chunks_exact_mut(8).zip(numbers) {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// None if the bytes are no header of this version.
    fn from_bytes(bytes: &[u8; HEADER]) -> Option<Self> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let number = |i: usize| {
            let bytes = rest[8 * i..8 * i + 8].try_into().expect("8 bytes");
            u64::from_le_bytes(bytes)
        };
        let range = (number(3), number(4));
        Some(Self { image_len: number(0), image_head: number(1), rules: number(2), range })
    }

    /// What differs in another scan.
    fn difference(self, other: Self) -> Option<&'static str> {
        match () {
            () if self.image_len != other.image_len => Some("an image of another length"),
            () if self.image_head != other.image_head => Some("another image"),
            () if self.rules != other.rules => Some("other rules"),
            () if self.range != other.range => Some("another range"),
            () => None,
        }
    }
}

/// A journal that is written.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    /// The record that is written, kept for its memory.
    record: Vec<u8>,
    synced: Instant,
}

impl Journal {
    /// Opens a journal, and returns where the scan goes on. To resume, `collector` gets the hits
    /// that the journal has.
    pub(super) fn open(
        options: &JournalOptions,
        identity: &Identity,
        collector: &mut Collector<'_>,
    ) -> Result<(Self, u64), ScanError> {
        let path = &options.path;
        let fail = |error| JournalError::Io { path: path.clone(), error };
        let resumed = match options.resume {
            true => resume(path, identity, collector)?,
            false => None,
        };
        let (file, at) = match resumed {
            Some(resumed) => resumed,
            None => (create(path, identity).map_err(fail)?, identity.range.0),
        };
        let (path, record, synced) = (path.clone(), Vec::new(), Instant::now());
        Ok((Self { path, file, record, synced }, at))
    }

    /// Appends a chunk.
    pub(super) fn append(&mut self, found: &Found) -> Result<(), JournalError> {
        payload::write_record(found, &mut self.record);
        self.file.write_all(&self.record).map_err(|error| self.error(error))?;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
            self.synced = Instant::now();
        }
        Ok(())
    }

    /// Waits until the journal is on the disk.
    pub(super) fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|error| self.error(error))
    }

    fn error(&self, error: io::Error) -> JournalError {
        JournalError::Io { path: self.path.clone(), error }
    }
}

fn create(path: &Path, identity: &Identity) -> io::Result<File> {
    let mut file = File::create(path)?;
    file.write_all(&identity.to_bytes())?;
    Ok(file)
}

/// Reads a journal, cuts off a partial chunk, and leaves the file at its end. None if there is no
/// journal, or a scan was killed before it had written the header.
fn resume(
    path: &Path,
    identity: &Identity,
    collector: &mut Collector<'_>,
) -> Result<Option<(File, u64)>, ScanError> {
    let fail = |error| JournalError::Io { path: path.to_owned(), error };
    let file = match OpenOptions::new().read(true).write(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(fail)?,
    };
    let mut reader = BufReader::new(file);
    let mut header = [0; HEADER];
    match reader.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read.map_err(fail)?,
    }
    let known = Identity::from_bytes(&header).ok_or_else(|| JournalError::Foreign(path.into()))?;
    if let Some(what) = known.difference(*identity) {
        return Err(JournalError::Differs { path: path.to_owned(), what }.into());
    }
    let (mut whole, mut at) = (HEADER as u64, identity.range.0);
    let (mut record, mut found) = (Vec::new(), collector.spare());
    while let Some(len) = read_record(&mut reader, &mut record).map_err(fail)? {
        let valid = payload::read(&record, collector.hits(), &mut found).is_some();
        let follows = found.owned.start == at && found.owned.end <= identity.range.1;
        if !(valid && follows) {
            break;
        }
        collector.add(&found);
        (whole, at) = (whole + len, found.owned.end);
    }
    let mut file = reader.into_inner();
    file.set_len(whole).and_then(|()| file.seek(SeekFrom::Start(whole))).map_err(fail)?;
    Ok(Some((file, at)))
}

/// Reads a payload, and returns the length of the record. None if the record is not whole.
fn read_record(reader: &mut impl Read, payload: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut header = [0; payload::HEADER];
    match reader.read_exact(&mut header) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let (len, checksum) = payload::header(&header);
    payload.clear();
    reader.take(len).read_to_end(payload)?;
    let whole = payload.len() as u64 == len && fnv1a(payload, FNV_BASIS) == checksum;
    Ok(whole.then_some(payload::HEADER as u64 + len))
}
