//! Body of the target `carve_validate`, also included by `crates/carve/tests/regressions.rs`.
//!
//! An input is some files of an image, and the image: the number of files, their starts and lengths
//! as 16 bits each, the start of what cannot be read, and bytes. Validators say something about
//! every file, read not much more than it has, and say the same of it among other files.

use fyke_carve::image::fake::FakeImage;
use fyke_carve::validate::{Report, validate, validate_all};
use fyke_carve::{CarvedFile, Image, Validity};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

const FILES: u8 = 5;
/// A validator may jump to the place that each entry of a directory names, and reads some bytes
/// there.
const READ_PER_BYTE: u64 = 600;
/// Bytes of one read, at most.
const WINDOW: u64 = 16 << 10;

/// An image that counts the bytes that are read.
struct Counted {
    image: FakeImage,
    read: AtomicU64,
}

impl Image for Counted {
    fn name(&self) -> &str {
        "fuzz"
    }

    fn len(&self) -> u64 {
        self.image.len()
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let read = self.image.read_at(offset, buf)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Validates the files of an input.
pub(crate) fn validate_files(data: &[u8]) {
    let mut input = data;
    let files: Vec<CarvedFile> = (0..word(&mut input, 1) % u64::from(FILES + 1))
        .map(|number| {
            let (start, len) = (word(&mut input, 2), word(&mut input, 2));
            let valid = Validity::Unknown;
            CarvedFile { number, rule: 0, start, len, chopped: false, valid }
        })
        .collect();
    let bad = word(&mut input, 2);
    let image = FakeImage::new(input.to_vec());
    let is_bad = bad < image.len();
    let image = if is_bad { image.failing(std::iter::once(bad..bad + 1)) } else { image };
    let image = Counted { image, read: AtomicU64::new(0) };
    let alone: Vec<Report> = files.iter().map(|file| check_alone(&image, file)).collect();
    // On one thread: the leak sanitizer may see a thread that ends later than its scope.
    let mut together = files.clone();
    validate_all(&image, &mut together, 1);
    for (file, report) in together.iter().zip(&alone) {
        // An archive's file may learn from an earlier one that the archive goes on after it, or
        // need not read a bad sector.
        let learned = (file.valid, report.valid) == (Validity::No, Validity::Unknown);
        assert!(is_bad || learned || file.valid == report.valid, "{file:?} but {report:?}");
    }
}

fn check_alone(image: &Counted, file: &CarvedFile) -> Report {
    image.read.store(0, Ordering::Relaxed);
    let report = validate(image, file);
    assert_eq!(report.len.is_some(), report.valid == Validity::Yes, "{report:?}");
    assert!(report.len.is_none_or(|len| (1..=file.len).contains(&len)), "{report:?} of {file:?}");
    let read = image.read.load(Ordering::Relaxed);
    assert!(read <= WINDOW + READ_PER_BYTE * file.len, "{read} bytes are read of {file:?}");
    report
}

/// The next bytes as a number.
fn word(input: &mut &[u8], bytes: usize) -> u64 {
    let (word, rest) = input.split_at(bytes.min(input.len()));
    *input = rest;
    word.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))
}
