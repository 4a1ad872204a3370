//! Chunk tables: where each chunk is in its segment, and whether it is compressed.

use super::super::raw::RawImage;
use super::section::{Section, read_checked};
use super::volume::Volume;
use super::{adler32, le_u32, le_u64};
use std::ops::Range;

/// The bytes before the entries.
const HEADER: u64 = 24;
/// The bit of an entry that says that the chunk is compressed.
const COMPRESSED: u32 = 1 << 31;

/// Where the chunks of one table section are.
#[derive(Debug)]
pub(super) struct Table {
    /// The index of the segment.
    pub(super) segment: usize,
    /// The number of the first chunk.
    pub(super) first: u64,
    /// What offsets count from.
    base: u64,
    /// Offsets, with [`COMPRESSED`].
    entries: Box<[u32]>,
    /// Where the last chunk ends.
    end: u64,
}

/// Where a chunk is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    /// The index of the segment.
    pub(super) segment: usize,
    /// Where it is there, with its checksum.
    pub(super) range: Range<u64>,
    /// Whether it is compressed.
    pub(super) is_compressed: bool,
}

impl Table {
    /// Reads a table section of at most `most` chunks, the first of them being `first`.
    pub(super) fn read(
        file: &RawImage,
        sections: &[Section],
        section: &Section,
        (segment, first, most): (usize, u64, u64),
    ) -> Result<Self, String> {
        let body = section.body();
        let wrong = |what: &str| format!("its chunk table at byte {} {what}", body.start);
        let room = (body.end - body.start)
            .checked_sub(HEADER)
            .ok_or_else(|| wrong("has no room for its header"))?;
        let header = read_checked(file, body.start, HEADER as usize)?;
        if adler32(&header[..20]) != le_u32(&header, 20) {
            return Err(wrong("has a header with a wrong checksum"));
        }
        let (count, base) = (u64::from(le_u32(&header, 0)), le_u64(&header, 8));
        if count == 0 || count > most || count * 4 > room {
            return Err(format!(
                "its chunk table at byte {} lists {count} chunks; {most} are left, and {} have room",
                body.start,
                room / 4
            ));
        }
        let bytes = read_checked(file, body.start + HEADER, (count * 4) as usize)?;
        // The tables of the first version have no checksum of the entries: chunks follow them
        // directly.
        let has_checksum = sections.iter().any(|s| s.is("sectors")) && room >= count * 4 + 4;
        if has_checksum {
            let stored = read_checked(file, body.start + HEADER + count * 4, 4)?;
            if adler32(&bytes) != le_u32(&stored, 0) {
                return Err(wrong("has entries with a wrong checksum"));
            }
        }
        let entries: Box<[u32]> = bytes.chunks_exact(4).map(|entry| le_u32(entry, 0)).collect();
        let last = base.checked_add(u64::from(entries[entries.len() - 1] & !COMPRESSED));
        let end = last.and_then(|last| {
            sections.iter().find(|s| s.body().contains(&last)).map(|s| s.range.end)
        });
        let end = end.ok_or_else(|| wrong("has a last chunk that is in no section"))?;
        Ok(Self { segment, first, base, entries, end })
    }

    /// The number of chunks.
    pub(super) fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Where a chunk of this table is. None if its entries give no valid range.
    pub(super) fn stored(&self, chunk: u64) -> Option<Stored> {
        let index = usize::try_from(chunk.checked_sub(self.first)?).ok()?;
        let entry = *self.entries.get(index)?;
        let offset = |entry: u32| self.base.checked_add(u64::from(entry & !COMPRESSED));
        let start = offset(entry)?;
        let end = self.entries.get(index + 1).map_or(Some(self.end), |&next| offset(next))?;
        let is_compressed = entry & COMPRESSED != 0;
        (start < end).then_some(Stored { segment: self.segment, range: start..end, is_compressed })
    }
}

/// Reads the tables of a segment. A table whose copy, `table2`, follows it is replaced by the copy
/// if it is damaged.
pub(super) fn tables(
    file: &RawImage,
    sections: &[Section],
    volume: &Volume,
    (segment, mut first): (usize, u64),
) -> Result<Vec<Table>, String> {
    let mut tables = Vec::new();
    let mut damage: Option<String> = None;
    let mut is_read = false;
    for section in sections {
        let is_copy = section.is("table2");
        if !is_copy && !section.is("table") || is_copy && is_read {
            is_read = false;
            continue;
        }
        if let Some(damage) = damage.take_if(|_| !is_copy) {
            return Err(damage);
        }
        let most = volume.chunks() - first;
        match Table::read(file, sections, section, (segment, first, most)) {
            Ok(table) => {
                first += table.len();
                tables.push(table);
                (damage, is_read) = (None, !is_copy);
            }
            Err(why) => (damage, is_read) = (Some(why), false),
        }
    }
    damage.map_or(Ok(tables), Err)
}
