//! Hits as blocks of bytes: differences between starts, each in as few bytes as it needs.

use crate::{Lengths, NeedleHits};
use std::fmt::Write as _;
use std::ops::Range;

/// Hits per block. Larger blocks save little: a row has some 12 bytes beside them. Blocks that are
/// not much smaller than a page of 4096 bytes fill it badly.
pub(super) const HITS_PER_BLOCK: usize = 128;

/// Some hits of one needle, as they are stored.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) first: u64,
    pub(super) count: usize,
    pub(super) deltas: Vec<u8>,
    pub(super) lengths: Option<String>,
}

/// The blocks of a needle's hits.
pub(super) fn encode(hits: &NeedleHits) -> impl Iterator<Item = Block> + '_ {
    let last = hits.starts.len();
    let ranges = (0..last).step_by(HITS_PER_BLOCK).map(move |i| i..last.min(i + HITS_PER_BLOCK));
    ranges.map(|range| encode_block(hits, range))
}

fn encode_block(hits: &NeedleHits, range: Range<usize>) -> Block {
    let starts = &hits.starts[range.clone()];
    let mut deltas = Vec::with_capacity(2 * starts.len());
    for pair in starts.windows(2) {
        assert!(pair[0] < pair[1], "hits are in order, each once");
        push_varint(&mut deltas, pair[1] - pair[0]);
    }
    let lengths = match &hits.lengths {
        Lengths::Fixed(_) => None,
        Lengths::Each(lengths) => Some(json(&lengths[range])),
    };
    Block { first: starts[0], count: starts.len(), deltas, lengths }
}

fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn json(numbers: &[u32]) -> String {
    let mut text = String::from("[");
    for (i, number) in numbers.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(text, "{comma}{number}");
    }
    text + "]"
}

/// Appends the hits of a block. Returns whether the block is sound.
pub(super) fn decode(block: &Block, hits: &mut NeedleHits) -> bool {
    let is_after = hits.starts.last().is_none_or(|&last| last < block.first);
    if block.count == 0 || !is_after {
        return false;
    }
    let mut start = block.first;
    hits.starts.push(start);
    let mut bytes = block.deltas.iter();
    for _ in 1..block.count {
        let next = take_varint(&mut bytes).and_then(|delta| start.checked_add(delta));
        let Some(next) = next.filter(|&next| next > start) else { return false };
        start = next;
        hits.starts.push(start);
    }
    let lengths_are_sound = match (&mut hits.lengths, &block.lengths) {
        (Lengths::Fixed(_), None) => true,
        (Lengths::Each(all), Some(text)) => {
            let lengths: Vec<u32> = serde_json::from_str(text).unwrap_or_default();
            all.extend(&lengths);
            lengths.len() == block.count
        }
        _ => false,
    };
    bytes.next().is_none() && lengths_are_sound
}

fn take_varint<'a>(bytes: &mut impl Iterator<Item = &'a u8>) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = u64::from(*bytes.next()?);
        value |= (byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_every_size() {
        for bits in 0..64 {
            for value in [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let mut bytes = Vec::new();
                push_varint(&mut bytes, value);
                let mut rest = bytes.iter();
                assert_eq!(take_varint(&mut rest), Some(value));
                assert!(rest.next().is_none() && bytes.len() <= 10);
            }
        }
        assert_eq!(take_varint(&mut [0x80; 11].iter()), None);
        assert_eq!(take_varint(&mut [0x80; 3].iter()), None);
    }
}
