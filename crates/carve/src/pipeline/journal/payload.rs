//! Records of a journal: what was found in a chunk, in few bytes.
//!
//! Numbers have 7 bits a byte, and starts are differences: a hit takes a byte or two.

use super::Found;
use crate::finder::PieceNeedle;
use crate::hit::{Hits, Lengths, NeedleHits};
use fyke_core::sink::{FNV_BASIS, fnv1a};
use std::ops::Range;

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

/// Reads what [`write`] wrote. None if it is damaged, or no chunk of a scan for the needles of
/// `all` has it.
pub(super) fn read(mut payload: &[u8], all: &Hits, found: &mut Found) -> Option<()> {
    let from = &mut payload;
    found.owned = get(from)?..get(from)?;
    found.bad.clear();
    for _ in 0..get(from)? {
        found.bad.push(get(from)?..get(from)?);
    }
    found.hits.restart(found.owned.start);
    found.hits.reset_for(all.needles.len());
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
    is_sound(found, all).then_some(())
}

/// Whether hits and bad ranges lie in the chunk, in order, and hits end in what is searched.
fn is_sound(found: &Found, all: &Hits) -> bool {
    let owned = &found.owned;
    let mut free = owned.start;
    let is_bad_sound = |bad: &Range<u64>| {
        let is_in_order = free <= bad.start && bad.start < bad.end && bad.end <= owned.end;
        free = bad.end;
        is_in_order
    };
    let is_needle_sound = |(needle, all): (&PieceNeedle, &NeedleHits)| {
        let has_lengths = match all.lengths {
            Lengths::Fixed(_) => needle.lengths.is_empty(),
            Lengths::Each(_) => needle.lengths.len() == needle.starts.len(),
        };
        has_lengths && needle.starts.is_sorted_by(|a, b| a < b)
    };
    let is_hit_sound = |start: u32, len: u32| {
        let start = found.hits.base.checked_add(u64::from(start));
        start.is_some_and(|start| {
            start < owned.end
                && start.checked_add(u64::from(len)).is_some_and(|e| e <= all.image_len)
        })
    };
    let mut needles = found.hits.needles.iter().zip(&all.needles);
    owned.start <= owned.end
        && found.bad.iter().all(is_bad_sound)
        && needles.clone().all(is_needle_sound)
        && needles.all(|(needle, all)| {
            let len = |index: usize| match all.lengths {
                Lengths::Fixed(len) => len,
                Lengths::Each(_) => needle.lengths[index],
            };
            needle.starts.iter().enumerate().all(|(i, &start)| is_hit_sound(start, len(i)))
        })
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
            Found { owned: 1 << 40..1 << 41, hits, bad: vec![(1 << 40) + 5..(1 << 40) + 9] };
        let needle = |lengths| NeedleHits { starts: Vec::new(), lengths };
        let needles = [Lengths::Fixed(9), Lengths::Fixed(5), Lengths::Each(Vec::new())];
        let all = Hits { image_len: 1 << 42, needles: needles.map(needle).into() };
        let (mut record, mut read_back) = (Vec::new(), Found::default());
        write_record(&found, &mut record);
        let (len, checksum) = header(record[..HEADER].try_into().unwrap());
        assert_eq!(len as usize, record.len() - HEADER);
        assert_eq!(checksum, fnv1a(&record[HEADER..], FNV_BASIS));
        read(&record[HEADER..], &all, &mut read_back).unwrap();
        assert_eq!(read_back.hits.base, found.hits.base);
        for (back, needle) in read_back.hits.needles.iter().zip(&found.hits.needles) {
            assert_eq!((&back.starts, &back.lengths), (&needle.starts, &needle.lengths));
        }
        assert_eq!((read_back.owned, read_back.bad), (found.owned, found.bad));
        let refuses = |all: &Hits| read(&record[HEADER..], all, &mut Found::default()).is_none();
        let mut other = all.clone();
        other.image_len = (1 << 40) + 9;
        assert!(refuses(&other), "a hit after the end of the image");
        other = all.clone();
        other.needles[2].lengths = Lengths::Fixed(9);
        assert!(refuses(&other), "lengths of a string");
        other = all;
        other.needles.pop();
        assert!(refuses(&other), "too few needles");
    }
}
