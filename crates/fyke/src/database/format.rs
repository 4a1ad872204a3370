//! The container: header, section table, sections. docs/database-file.md describes every byte.

use super::checksum;
use super::error::{DatabaseError, Kind};
use std::io::{self, Write};
use std::ops::Range;

/// The version of the format that this build writes, and the only one that it reads.
pub(super) const VERSION: u32 = 1;

/// The first bytes. They contain a byte that is not ASCII and line ends of both kinds, so a
/// transfer as text damages them and is noticed.
const MAGIC: [u8; 8] = *b"\x8bfyke\r\n\x1a";

/// Written in the byte order of the machine.
const ENDIAN_TAG: u32 = 0x0a0b_0c0d;

/// Bytes of the header, and of an entry of the section table.
pub(super) const HEADER: usize = 64;
const ENTRY: usize = 32;

/// Sections begin at multiples of this many bytes.
const ALIGN: usize = 64;

/// Most sections. A database has some dozens.
const MOST_SECTIONS: u32 = 1 << 12;

/// Where the numbers of the header are.
const AT_ENDIAN: usize = 8;
const AT_VERSION: usize = 12;
const AT_LENGTH: usize = 16;
const AT_COUNT: usize = 24;
const AT_ZERO: usize = 28;
const AT_HASH: usize = 32;
const AT_REST: usize = 40;

/// What a section holds, and of which part of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) kind: u32,
    pub(super) part: u32,
}

/// A section of a file.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: Name,
    pub(super) range: Range<usize>,
    checksum: u64,
}

/// What the header says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    /// Bytes of the whole file.
    pub(super) length: u64,
    pub(super) content_hash: u64,
    sections: usize,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes[at..].first_chunk().map_or(0, |chunk| u32::from_ne_bytes(*chunk))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk().map_or(0, |chunk| u64::from_ne_bytes(*chunk))
}

/// Reads the header from the first bytes of a file; there may be fewer than [`HEADER`].
pub(super) fn header(bytes: &[u8]) -> Result<Header, DatabaseError> {
    let magic = &bytes[..bytes.len().min(MAGIC.len())];
    if magic.is_empty() || !MAGIC.starts_with(magic) {
        return Err(DatabaseError(Kind::NotADatabase));
    }
    let (have, need) = (bytes.len() as u64, HEADER as u64);
    if have < AT_LENGTH as u64 {
        return Err(DatabaseError(Kind::Truncated { have, need }));
    }
    match u32_at(bytes, AT_ENDIAN) {
        ENDIAN_TAG => {}
        tag if tag.swap_bytes() == ENDIAN_TAG => return Err(DatabaseError(Kind::OtherEndian)),
        _ => return Err(DatabaseError::damaged("header", "the endian tag is unknown")),
    }
    match u32_at(bytes, AT_VERSION) {
        VERSION => {}
        0 => return Err(DatabaseError::damaged("header", "there is no format version 0")),
        version => return Err(DatabaseError(Kind::Version(version))),
    }
    if have < need {
        return Err(DatabaseError(Kind::Truncated { have, need }));
    }
    let count = u32_at(bytes, AT_COUNT);
    let length = u64_at(bytes, AT_LENGTH);
    let least = HEADER as u64 + ENTRY as u64 * u64::from(count);
    if count > MOST_SECTIONS || length < least || u32_at(bytes, AT_ZERO) != 0 {
        return Err(DatabaseError::damaged("header", "the numbers contradict each other"));
    }
    Ok(Header { length, content_hash: u64_at(bytes, AT_HASH), sections: count as usize })
}

/// Checks everything in a file except the content of its sections, and lists the sections.
pub(super) fn sections(bytes: &[u8], header: &Header) -> Result<Vec<Section>, DatabaseError> {
    let (have, need) = (bytes.len() as u64, header.length);
    if have < need {
        return Err(DatabaseError(Kind::Truncated { have, need }));
    }
    if have > need {
        return Err(DatabaseError::damaged("file", "there are bytes after its end"));
    }
    let table_end = HEADER + ENTRY * header.sections;
    if content_hash(&bytes[..table_end]) != header.content_hash {
        return Err(DatabaseError::damaged("header", "the checksum differs"));
    }
    let mut sections: Vec<Section> = Vec::with_capacity(header.sections);
    let mut end = table_end;
    for entry in bytes[HEADER..table_end].chunks_exact(ENTRY) {
        let section = section(entry, bytes, end)?;
        if sections.iter().any(|other| other.name == section.name) {
            return Err(DatabaseError::damaged(section.name.to_string(), "it is there twice"));
        }
        end = section.range.end;
        sections.push(section);
    }
    if end != bytes.len() {
        return Err(DatabaseError::damaged("header", "the sections do not fill the file"));
    }
    verify(bytes, &sections)?;
    Ok(sections)
}

/// The section of an entry. It begins at the next aligned offset after `end`.
fn section(entry: &[u8], bytes: &[u8], end: usize) -> Result<Section, DatabaseError> {
    let name = Name { kind: u32_at(entry, 0), part: u32_at(entry, 4) };
    let (offset, length) = (u64_at(entry, 8), u64_at(entry, 16));
    let wrong = |what| DatabaseError::damaged(name.to_string(), what);
    let start = end.next_multiple_of(ALIGN);
    let room = (bytes.len() as u64).checked_sub(offset);
    if offset != start as u64 || room.is_none_or(|room| room < length) {
        return Err(wrong("it lies at a wrong place"));
    }
    if bytes[end..start].iter().any(|&byte| byte != 0) {
        return Err(wrong("the bytes before it are not 0"));
    }
    Ok(Section { name, range: start..start + length as usize, checksum: u64_at(entry, 24) })
}

fn verify(bytes: &[u8], sections: &[Section]) -> Result<(), DatabaseError> {
    let slices: Vec<&[u8]> = sections.iter().map(|s| &bytes[s.range.clone()]).collect();
    let found = checksum::all(&slices);
    match sections.iter().zip(found).find(|(section, found)| section.checksum != *found) {
        Some((section, _)) => {
            Err(DatabaseError::damaged(section.name.to_string(), "the checksum differs"))
        }
        None => Ok(()),
    }
}

/// The hash of header and section table, with the hash itself as zeros. The table has the checksums
/// of all sections, so this is a hash of the whole content.
fn content_hash(head: &[u8]) -> u64 {
    let mut rest = head.to_vec();
    rest[AT_HASH..AT_REST].fill(0);
    checksum::hash(&rest)
}

/// Writes a file of these sections.
pub(super) fn write(to: &mut impl Write, sections: &[(Name, &[u8])]) -> io::Result<()> {
    let slices: Vec<&[u8]> = sections.iter().map(|(_, bytes)| *bytes).collect();
    let checksums = checksum::all(&slices);
    let mut end = HEADER + ENTRY * sections.len();
    let mut table = Vec::new();
    for ((name, bytes), checksum) in sections.iter().zip(checksums) {
        let start = end.next_multiple_of(ALIGN);
        end = start + bytes.len();
        table.extend(name.kind.to_ne_bytes());
        table.extend(name.part.to_ne_bytes());
        table.extend((start as u64).to_ne_bytes());
        table.extend((bytes.len() as u64).to_ne_bytes());
        table.extend(checksum.to_ne_bytes());
    }
    let mut head = MAGIC.to_vec();
    head.extend(ENDIAN_TAG.to_ne_bytes());
    head.extend(VERSION.to_ne_bytes());
    head.extend((end as u64).to_ne_bytes());
    head.extend((sections.len() as u32).to_ne_bytes());
    head.resize(HEADER, 0);
    head.extend(table);
    let hash = content_hash(&head);
    head[AT_HASH..AT_REST].copy_from_slice(&hash.to_ne_bytes());
    to.write_all(&head)?;
    let mut end = head.len();
    for (_, bytes) in sections {
        let start = end.next_multiple_of(ALIGN);
        to.write_all(&[0; ALIGN][..start - end])?;
        to.write_all(bytes)?;
        end = start + bytes.len();
    }
    to.flush()
}

/// Corrects the checksums and the hash of a file whose bytes were changed, so that tests and
/// fuzzing reach what the checksums guard. Does nothing if the header is not sound.
#[doc(hidden)]
pub fn seal(bytes: &mut [u8]) {
    let Ok(header) = header(bytes) else { return };
    let table_end = HEADER + ENTRY * header.sections;
    if bytes.len() < table_end {
        return;
    }
    for at in (HEADER..table_end).step_by(ENTRY) {
        let (offset, length) = (u64_at(bytes, at + 8) as usize, u64_at(bytes, at + 16) as usize);
        let section = offset.checked_add(length).and_then(|end| bytes.get(offset..end));
        if let Some(section) = section {
            let checksum = checksum::all(&[section])[0];
            bytes[at + 24..][..8].copy_from_slice(&checksum.to_ne_bytes());
        }
    }
    let hash = content_hash(&bytes[..table_end]);
    bytes[AT_HASH..AT_REST].copy_from_slice(&hash.to_ne_bytes());
}
