//! Records of a journal: what was found in a chunk, in few bytes.
//!
//! Numbers have 7 bits a byte, and starts are differences: a hit takes a byte or two.

use super::Found;
use fyke_core::sink::{FNV_BASIS, fnv1a};

/// Bytes before the payload: its length and its checksum.
pub(super) const HEADER: usize = 16;

/// Replaces `record` by the record of a chunk.
pub(super) fn write_record(found: &Found, record: &mut Vec<u8>) {
    record.clear();
    record.resize(HEADER, 0);
    write(found, record);
    let (len, checksum) = ((record.len() - HEADER) as u64, fnv1a(&record[HEADER..], FNV_BASIS));
    record[..8].copy_from_slice(&len.to_le_bytes());
    record[8..HEADER].copy_from_slice(&checksum.to_le_bytes());
}

/// The length of the payload, and its checksum.
pub(super) fn header(bytes: &[u8; HEADER]) -> (u64, u64) {
    let (len, checksum) = bytes.split_at(8);
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("8 bytes"));
    (number(len), number(checksum))
}

fn write(found: &Found, to: &mut Vec<u8>) {
    put(to, found.owned.start);
    put(to, found.owned.end);
    put(to, found.bad.len() as u64);
    for bad in &found.bad {
        put(to, bad.start);
        put(to, bad.end);
    }
    for (id, needle) in found.hits.needles.iter().enumerate() {
        if needle.starts.is_empty() {
            continue;
        }
        put(to, id as u64);
        put(to, needle.starts.len() as u64);
        let mut last = 0;
        for &start in &needle.starts {
            put(to, u64::from(start - last));
            last = start;
        }
        put(to, needle.lengths.len() as u64);
        needle.lengths.iter().for_each(|&len| put(to, u64::from(len)));
    }
}

/// Reads what [`write`] wrote. None if it is damaged.
pub(super) fn read(mut payload: &[u8], needles: usize, found: &mut Found) -> Option<()> {
    let from = &mut payload;
    found.owned = get(from)?..get(from)?;
    found.bad.clear();
    for _ in 0..get(from)? {
        found.bad.push(get(from)?..get(from)?);
    }
    found.hits.restart(found.owned.start);
    found.hits.reset_for(needles);
    while !from.is_empty() {
        let needle = found.hits.needles.get_mut(usize::try_from(get(from)?).ok()?)?;
        let mut start = 0_u32;
        for _ in 0..get(from)? {
            start = start.checked_add(u32::try_from(get(from)?).ok()?)?;
            needle.starts.push(start);
        }
        for _ in 0..get(from)? {
            needle.lengths.push(u32::try_from(get(from)?).ok()?);
        }
    }
    Some(())
}

fn put(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

fn get(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finder::PieceHits;

    #[test]
    fn records_are_read_as_they_were_written() {
        let mut hits = PieceHits { base: 1 << 40, ..PieceHits::default() };
        hits.reset_for(3);
        hits.needles[1].starts = vec![0, 1, 300, u32::MAX];
        (hits.needles[2].starts, hits.needles[2].lengths) = (vec![7], vec![4096]);
        let found =
            Found { owned: 1 << 40..(1 << 40) + 9, hits, bad: vec![5..9, 1 << 50..1 << 51] };
        let (mut record, mut read_back) = (Vec::new(), Found::default());
        write_record(&found, &mut record);
        let (len, checksum) = header(record[..HEADER].try_into().unwrap());
        assert_eq!(len as usize, record.len() - HEADER);
        assert_eq!(checksum, fnv1a(&record[HEADER..], FNV_BASIS));
        read(&record[HEADER..], 3, &mut read_back).unwrap();
        assert_eq!(read_back.hits.base, found.hits.base);
        for (back, needle) in read_back.hits.needles.iter().zip(&found.hits.needles) {
            assert_eq!((&back.starts, &back.lengths), (&needle.starts, &needle.lengths));
        }
        assert_eq!((read_back.owned, read_back.bad), (found.owned, found.bad));
        assert!(read(&record[HEADER..], 2, &mut Found::default()).is_none(), "too few needles");
    }
}
