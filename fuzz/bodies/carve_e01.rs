//! Body of the target `carve_e01`, also included by `crates/carve/tests/regressions.rs`.
//!
//! The first byte of an input says how to read it: bit 0 corrects the checksums of sections, volume
//! and tables, which a fuzzer would not guess; bit 1 cuts the rest in two segments, at the offset
//! that the next two bytes have. An image that opens reads the same for reads of any length.

use fyke_carve::image::{self, Image};
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

/// Where sections begin in a segment.
const FIRST: usize = 13;
/// The bytes of a section before its body.
const DESCRIPTOR: usize = 76;
/// Bytes that are compared of an image, which may claim many more than it has.
const COMPARED: u64 = 40_000;

static FOLDER: LazyLock<TempDir> = LazyLock::new(|| tempfile::tempdir().expect("a folder"));

/// Opens an input as an image and reads it.
pub(crate) fn e01(data: &[u8]) {
    let (&how, rest) = data.split_first().unwrap_or((&0, &[]));
    let mut segments = segments(how, rest);
    if how & 1 != 0 {
        segments.iter_mut().for_each(|segment| seal(segment));
    }
    let path = FOLDER.path().join("fuzz.E01");
    let second = FOLDER.path().join("fuzz.E02");
    fs::write(&path, &segments[0]).expect("the folder is writable");
    match segments.get(1) {
        Some(segment) => fs::write(second, segment).expect("the folder is writable"),
        None => drop(fs::remove_file(second)),
    }
    match image::open(&path) {
        Ok(image) => check_image(&*image),
        Err(error) => check_message(&error.to_string(), &path),
    }
}

fn segments(how: u8, rest: &[u8]) -> Vec<Vec<u8>> {
    match rest {
        [low, high, rest @ ..] if how & 2 != 0 => {
            let at = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
            vec![rest[..at].to_vec(), rest[at..].to_vec()]
        }
        _ => vec![rest.to_vec()],
    }
}

fn check_message(message: &str, path: &Path) {
    let folder = path.parent().expect("it has a folder").display().to_string();
    assert!(message.contains(&folder) && !message.contains('\n'), "{message}");
}

fn check_image(image: &dyn Image) {
    let tail = image.len().saturating_sub(1000)..image.len();
    for range in [0..image.len().min(COMPARED), tail] {
        let whole = read(image, range.clone(), usize::MAX);
        for at_once in [512, 4096] {
            let parts = read(image, range.clone(), at_once);
            assert_eq!(whole.1, parts.1, "bad ranges, {at_once} at once");
            assert!(whole.0 == parts.0, "{at_once} at once");
        }
        image.prefetch(range.start, (range.end - range.start) as usize);
    }
    let mut buf = [0; 9];
    assert_eq!(image.read_at(image.len(), &mut buf).ok(), Some(0));
    assert_eq!(image.read_at(u64::MAX, &mut buf).ok(), Some(0));
    image.prefetch(u64::MAX, usize::MAX);
}

/// The bytes of a range, read `at_once` bytes at a time, and the parts that cannot be read.
fn read(image: &dyn Image, range: Range<u64>, at_once: usize) -> (Vec<u8>, Vec<Range<u64>>) {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    let (mut bad, mut at): (Vec<Range<u64>>, u64) = (Vec::new(), range.start);
    for part in bytes.chunks_mut(at_once) {
        let more = image::read_readable(image, at, part).expect("the image is as long as it says");
        for range in more {
            match bad.last_mut() {
                Some(last) if last.end == range.start => last.end = range.end,
                _ => bad.push(range),
            }
        }
        at += part.len() as u64;
    }
    (bytes, bad)
}

/// Corrects the checksums of a segment, as far as its chain of sections leads.
fn seal(bytes: &mut [u8]) {
    let mut at = FIRST;
    while let Some(descriptor) = bytes.get_mut(at..at.saturating_add(DESCRIPTOR)) {
        write_sum(descriptor, 0..72);
        let kind = descriptor[..16].to_vec();
        let [next, len] = [16, 24].map(|i| number(&descriptor[i..i + 8]));
        let end = at.saturating_add(len.max(DESCRIPTOR)).min(bytes.len());
        let body = &mut bytes[at + DESCRIPTOR..end];
        if kind.starts_with(b"volume") || kind.starts_with(b"disk") {
            write_sum(body, 0..1048);
        } else if kind.starts_with(b"table") {
            write_sum(body, 0..20);
            let count = body.get(..4).map_or(0, number);
            write_sum(body, 24..24 + 4 * count);
        }
        if next <= at {
            return;
        }
        at = next;
    }
}

/// Writes the Adler-32 of a range after it, if there is room.
fn write_sum(bytes: &mut [u8], range: Range<usize>) {
    let (from, to) = (range.start, range.end);
    if bytes.len() < to.saturating_add(4) {
        return;
    }
    let (low, high) = bytes[from..to].iter().fold((1, 0), |(low, high): (u32, u32), &byte| {
        let low = (low + u32::from(byte)) % 65521;
        (low, (high + low) % 65521)
    });
    bytes[to..to + 4].copy_from_slice(&(high << 16 | low).to_le_bytes());
}

fn number(bytes: &[u8]) -> usize {
    let number = bytes.iter().rev().fold(0u64, |all, &byte| all << 8 | u64::from(byte));
    usize::try_from(number).unwrap_or(usize::MAX)
}
