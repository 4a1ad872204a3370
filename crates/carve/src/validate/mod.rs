//! Validators: whether a carved file is what its first bytes say.
//!
//! A validator walks the structure of a format: segments, chunks, blocks, directories. It decodes
//! no pictures and unpacks nothing. Bytes after the end of the structure do not count, because a
//! file that was cut at the rule's limit usually has some.
//!
//! | format | checked | source |
//! |---|---|---|
//! | JPEG | segments and scans up to EOI | ITU-T T.81, annex B |
//! | PNG | chunks with their CRC up to IEND | W3C PNG, 5 |
//! | GIF | blocks up to the trailer | GIF89a, appendix A |
//! | PDF | header, end, cross-reference table | ISO 32000-1, 7.5 |
//! | ZIP | local headers, central directory, its end | PKWARE APPNOTE, 4.3 |
//!
//! The time is linear in the file, and at most [`MOST_BYTES`] are read: a file that needs more is
//! [`Validity::Unknown`].

mod bytes;
mod chains;
mod gif;
mod jpeg;
mod pdf;
mod png;
#[cfg(test)]
pub(crate) mod samples;
mod zip;

use crate::{CarvedFile, Image, Validity};
use bytes::Bytes;
use chains::Chains;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The maximum number of bytes that a validator reads of one file.
pub const MOST_BYTES: u64 = 256 << 20;

/// What a validator found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// What it says.
    pub valid: Validity,
    /// Where the structure ends, counted from the file's start. Known if it is complete.
    pub len: Option<u64>,
}

/// Why a validator stops before the end of the structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The structure is wrong, or goes on after the end of the file.
    Wrong,
    /// The image cannot be read, or too much would have to be.
    Unknown,
}

/// A format with a validator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Jpeg,
    Png,
    Gif,
    Pdf,
    Zip,
}

/// The first bytes of each format.
const FORMATS: [(&[u8], Format); 6] = [
    (b"\xff\xd8\xff", Format::Jpeg),
    (b"\x89PNG\r\n\x1a\n", Format::Png),
    (b"GIF87a", Format::Gif),
    (b"GIF89a", Format::Gif),
    (b"%PDF-", Format::Pdf),
    (b"PK\x03\x04", Format::Zip),
];

impl Format {
    /// The format that the first bytes name.
    fn of(bytes: &mut Bytes<'_>) -> Result<Self, Stop> {
        for (magic, format) in FORMATS {
            match bytes.get(0, magic.len()) {
                Ok(head) if head == magic => return Ok(format),
                Err(Stop::Unknown) => break,
                _ => {}
            }
        }
        Err(Stop::Unknown)
    }

    /// The length of the structure.
    fn validate(self, bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
        match self {
            Self::Jpeg => jpeg::validate(bytes),
            Self::Png => png::validate(bytes),
            Self::Gif => gif::validate(bytes),
            Self::Pdf => pdf::validate(bytes),
            Self::Zip => zip::validate(bytes),
        }
    }
}

/// Validates a file by the format that its first bytes name.
#[must_use]
pub fn validate(image: &dyn Image, file: &CarvedFile) -> Report {
    let chains = Chains::default();
    let mut bytes = bytes_of(image, file, &chains);
    report(examine(&mut bytes))
}

fn examine(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    Format::of(bytes)?.validate(bytes)
}

fn bytes_of<'a>(image: &'a dyn Image, file: &CarvedFile, chains: &'a Chains) -> Bytes<'a> {
    Bytes::new(image, (file.start, file.len), MOST_BYTES, chains)
}

fn report(result: Result<u64, Stop>) -> Report {
    match result {
        Ok(len) => Report { valid: Validity::Yes, len: Some(len) },
        Err(Stop::Wrong) => Report { valid: Validity::No, len: None },
        Err(Stop::Unknown) => Report { valid: Validity::Unknown, len: None },
    }
}

/// Validates files on several threads, and sets [`CarvedFile::valid`]. A file whose validity is
/// known already keeps it.
pub fn validate_all(image: &dyn Image, files: &mut [CarvedFile], threads: usize) {
    validate_until(image, files, threads, &|| false);
}

/// The same as [`validate_all`], until `stops` says so. Returns whether all files were validated.
///
/// Time is linear in the image and the number of files. ZIP files are validated last and in order,
/// because each tells the next ones about the archive that they share.
pub fn validate_until(
    image: &dyn Image,
    files: &mut [CarvedFile],
    threads: usize,
    stops: &(dyn Fn() -> bool + Sync),
) -> bool {
    let stopped = AtomicBool::new(false);
    let mut archives = validate_others(image, files, threads, &|| {
        let stop = stops();
        stopped.fetch_or(stop, Ordering::Relaxed);
        stop
    });
    archives.sort_unstable();
    let chains = Chains::default();
    for index in archives {
        if stopped.load(Ordering::Relaxed) || stops() {
            return false;
        }
        let result = zip::validate(&mut bytes_of(image, &files[index], &chains));
        files[index].valid = report(result).valid;
    }
    !stopped.into_inner()
}

/// Validates all files but ZIP archives, whose indexes it returns.
fn validate_others(
    image: &dyn Image,
    files: &mut [CarvedFile],
    threads: usize,
    stops: &(dyn Fn() -> bool + Sync),
) -> Vec<usize> {
    let archives = Mutex::new(Vec::new());
    // Adjacent files go to different threads, because the files of one rule take about the same
    // time.
    let shared = Mutex::new(files.iter_mut().enumerate());
    let work = || {
        let chains = Chains::default();
        loop {
            let next = shared.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, file)) = next.filter(|_| !stops()) else { return };
            if file.valid != Validity::Unknown {
                continue;
            }
            let mut bytes = bytes_of(image, file, &chains);
            match Format::of(&mut bytes) {
                Ok(Format::Zip) => {
                    archives.lock().unwrap_or_else(PoisonError::into_inner).push(index);
                }
                format => {
                    let result = format.and_then(|format| format.validate(&mut bytes));
                    file.valid = report(result).valid;
                }
            }
        }
    };
    match threads {
        0 | 1 => work(),
        _ => thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work)))),
    }
    archives.into_inner().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
