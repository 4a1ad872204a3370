//! Tells images that are packed in a format of their own from raw ones, by their first bytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// How the bytes of an image are stored in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// As they are.
    Raw,
    /// Expert Witness Format, version 1, of a disk: `.E01`.
    Ewf,
    /// A format that fyke does not read.
    Other(&'static str),
}

/// The formats and the bytes that their files begin with.
const FORMATS: [(&[u8], Format); 4] = [
    (b"EVF\x09\x0d\x0a\xff\x00", Format::Ewf),
    (b"EVF2\x0d\x0a\x81\x00", Format::Other("Ex01 (Expert Witness Format 2)")),
    (b"LVF\x09\x0d\x0a\xff\x00", Format::Other("L01 (files, not a disk)")),
    (b"LEF2\x0d\x0a\x81\x00", Format::Other("Lx01 (files, not a disk)")),
];

/// The format of a file. A file that cannot be opened is an error; a short one is raw.
pub(super) fn format(path: &Path) -> io::Result<Format> {
    let mut start = Vec::new();
    File::open(path)?.take(8).read_to_end(&mut start)?;
    let known = FORMATS.iter().find(|(magic, _)| start == *magic);
    Ok(known.map_or(Format::Raw, |(_, format)| *format))
}
