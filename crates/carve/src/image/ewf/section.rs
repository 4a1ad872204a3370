//! Sections: a segment is a header and a chain of them, each with its type, size and checksum.

use super::super::raw::RawImage;
use super::super::{Image, ImageError};
use super::{adler32, damaged, le_u16, le_u32, le_u64};
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::Path;

/// The bytes before the first section.
const FILE_HEADER: u64 = 13;
/// The bytes of a section before its body.
const DESCRIPTOR: usize = 76;

/// One section of a segment.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// Its name, without the zeros after it.
    pub(super) kind: Vec<u8>,
    /// Where it is in the segment, with its descriptor.
    pub(super) range: Range<u64>,
}

impl Section {
    /// Where its bytes without the descriptor are.
    pub(super) fn body(&self) -> Range<u64> {
        (self.range.start + DESCRIPTOR as u64).min(self.range.end)..self.range.end
    }

    /// Whether the section has this name.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.kind == kind.as_bytes()
    }
}

/// Reads exactly the bytes from `offset` on.
pub(super) fn read_exact(file: &RawImage, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; len];
    let mut done = 0;
    while done < len {
        let at = offset + done as u64;
        match file.read_at(at, &mut bytes[done..]) {
            Ok(0) => {
                return Err(io::Error::new(
                    ErrorKind::InvalidData,
                    format!("it ends at byte {at}"),
                ));
            }
            Ok(n) => done += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

/// As [`read_exact`], with the error as a reason.
pub(super) fn read_checked(file: &RawImage, offset: u64, len: usize) -> Result<Vec<u8>, String> {
    read_exact(file, offset, len).map_err(|error| format!("reading at byte {offset}: {error}"))
}

/// The number in a segment's header, counted from 1.
pub(super) fn segment_number(file: &RawImage, path: &Path) -> Result<u16, ImageError> {
    let header = read_checked(file, 0, FILE_HEADER as usize).map_err(|why| damaged(path, why))?;
    if !header.starts_with(b"EVF\x09\x0d\x0a\xff\x00") {
        return Err(damaged(path, "it does not begin as a segment of an E01 image".into()));
    }
    Ok(le_u16(&header, 9))
}

/// All sections of a segment, in order. The last one is `next` or `done`.
pub(super) fn sections(file: &RawImage, path: &Path) -> Result<Vec<Section>, ImageError> {
    let mut sections = Vec::new();
    let mut at = FILE_HEADER;
    loop {
        let (section, next) = section(file, at).map_err(|why| damaged(path, why))?;
        let is_last = section.is("next") || section.is("done");
        let end = section.range.end;
        sections.push(section);
        if is_last {
            return Ok(sections);
        }
        if next < at + DESCRIPTOR as u64 || next < end {
            return Err(damaged(path, format!("its section at byte {at} leads back to {next}")));
        }
        at = next;
    }
}

/// The section at an offset, and where the next one is.
fn section(file: &RawImage, at: u64) -> Result<(Section, u64), String> {
    if at.checked_add(DESCRIPTOR as u64).is_none_or(|end| end > file.len()) {
        return Err(format!(
            "it is cut: a section begins at byte {at}, and the file has {} bytes",
            file.len()
        ));
    }
    let bytes = read_checked(file, at, DESCRIPTOR)?;
    if adler32(&bytes[..72]) != le_u32(&bytes, 72) {
        return Err(format!("the checksum of its section at byte {at} is wrong"));
    }
    let kind = bytes[..16].iter().copied().take_while(|&b| b != 0).collect();
    let (next, size) = (le_u64(&bytes, 16), le_u64(&bytes, 24));
    // Some writers give the last section a size of 0.
    let end = at.checked_add(size.max(DESCRIPTOR as u64)).filter(|&end| end <= file.len());
    let end = end.ok_or_else(|| {
        format!("it is cut: its section at byte {at} has {size} bytes, the file {}", file.len())
    })?;
    Ok((Section { kind, range: at..end }, next))
}
