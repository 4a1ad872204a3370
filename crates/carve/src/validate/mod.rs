//! Validators: whether a carved file is what its first bytes say.
//!
//! A validator walks the structure of a format: segments, chunks, blocks, directories. It decodes no
//! pictures and unpacks nothing. Bytes behind the end of the structure do not count, as a file that was
//! cut at the rule's limit usually has some.
//!
//! | format | checked | source |
//! |---|---|---|
//! | JPEG | segments and scans up to EOI | ITU-T T.81, annex B |
//! | PNG | chunks with their CRC up to IEND | W3C PNG, 5 |
//! | GIF | blocks up to the trailer | GIF89a, appendix A |
//! | PDF | header, end, cross-reference table | ISO 32000-1, 7.5 |
//! | ZIP | local headers, central directory, its end | PKWARE APPNOTE, 4.3 |
//!
//! The time is linear in the file, and at most [`MOST_BYTES`] are read: a file of which that is not
//! enough is [`Validity::Unknown`].

mod bytes;
mod gif;
mod jpeg;
mod pdf;
mod png;
#[cfg(test)]
pub(crate) mod samples;
mod zip;

use crate::{CarvedFile, Image, Validity};
use bytes::Bytes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The most bytes that a validator reads of one file.
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
    /// The structure is wrong, or goes on behind the file.
    Wrong,
    /// The image cannot be read, or too much would have to be.
    Unknown,
}

/// A validator returns the length of the structure.
type Validator = fn(&mut Bytes<'_>) -> Result<u64, Stop>;

/// The first bytes of a format, and its validator.
const FORMATS: [(&[u8], Validator); 6] = [
    (b"\xff\xd8\xff", jpeg::validate),
    (b"\x89PNG\r\n\x1a\n", png::validate),
    (b"GIF87a", gif::validate),
    (b"GIF89a", gif::validate),
    (b"%PDF-", pdf::validate),
    (b"PK\x03\x04", zip::validate),
];

/// Validates a file by the format that its first bytes name.
#[must_use]
pub fn validate(image: &dyn Image, file: &CarvedFile) -> Report {
    let mut bytes = Bytes::new(image, file.start, file.len, MOST_BYTES);
    match examine(&mut bytes) {
        Ok(len) => Report { valid: Validity::Yes, len: Some(len) },
        Err(Stop::Wrong) => Report { valid: Validity::No, len: None },
        Err(Stop::Unknown) => Report { valid: Validity::Unknown, len: None },
    }
}

/// Validates files on several threads, and notes what is said. Files that have a verdict keep it.
pub fn validate_all(image: &dyn Image, files: &mut [CarvedFile], threads: usize) {
    validate_until(image, files, threads, &|| false);
}

/// The same as [`validate_all`], until `stops` says so. Returns whether all files were validated.
pub fn validate_until(
    image: &dyn Image,
    files: &mut [CarvedFile],
    threads: usize,
    stops: &(dyn Fn() -> bool + Sync),
) -> bool {
    let is_complete = AtomicBool::new(true);
    // Neighbors are dealt to different threads, as the files of one rule take about the same time.
    let shared = Mutex::new(files.iter_mut());
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let next = shared.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(file) = next else { return };
                    if stops() {
                        is_complete.store(false, Ordering::Relaxed);
                        return;
                    }
                    if file.valid == Validity::Unknown {
                        file.valid = validate(image, file).valid;
                    }
                }
            });
        }
    });
    is_complete.into_inner()
}

fn examine(bytes: &mut Bytes<'_>) -> Result<u64, Stop> {
    for (magic, validator) in FORMATS {
        match bytes.get(0, magic.len()) {
            Ok(head) if head == magic => return validator(bytes),
            Err(Stop::Unknown) => break,
            _ => {}
        }
    }
    Err(Stop::Unknown)
}

#[cfg(test)]
mod tests;
