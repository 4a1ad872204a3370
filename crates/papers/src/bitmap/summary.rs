//! Ranks with few additions, section 2.3: summaries of a 256-bit bitmap, and look-up tables for
//! the rest.
//!
//! The rank of position q is the number of bits set before it. A summary holds the ranks of some
//! positions. Each level of summaries counts from a position whose rank the level above holds:
//!
//! | type | level 1 | level 2 | level 3 | bytes | additions |
//! |---|---|---|---|---|---|
//! | [`TypeI`] | 3 of 8 bits, every 64 bits | 4 x 15 of 6 bits, every 4 | 64 of 2 bits, every 2; the bit before | 64 | 3 |
//! | [`TypeII`] | as type I | as type I | [`T4`], 16 bytes for all nodes | 48 | 2 |
//! | [`TypeIII`] | 15 of 8 bits, every 16 | [`T16`], 256 KiB for all nodes | | 15 | 1 |
//!
//! Positions are numbered from the left: position 0 of a bitmap is the highest bit of its first
//! byte.

use super::node::{BITMAP, summary_byte};
use crate::cost::CostCounter;

/// A way to store ranks.
pub trait Summary: Send + Sync + 'static {
    /// Bytes of summaries in a node.
    const BYTES: usize;

    /// Builds the look-up table.
    fn new() -> Self;

    /// Bytes of the look-up table.
    fn table_bytes(&self) -> usize;

    /// Writes the summaries of a node. Its bitmap is written, and `ranks` are those of its
    /// positions.
    fn write(node: &mut [u8], ranks: &[u8; 256]);

    /// The rank of position q of a node's bitmap.
    fn rank<C: CostCounter>(&self, node: &[u8], q: usize, counter: &mut C) -> u32;

    /// The offsets of the summary bytes that the rank of position q reads, in ascending order.
    fn reads(q: usize) -> Vec<usize>;
}

/// Bits of a bitmap per summary of level 1, of level 2, and of level 3.
const S1_BITS: usize = 64;
const S2_BITS: usize = 4;
const S3_BITS: usize = 2;
/// Level-2 summaries in a level-1 block, and bits of each.
const S2_COUNT: usize = S1_BITS / S2_BITS - 1;
const S2_WIDTH: usize = 6;
/// The first bytes of levels 2 and 3 among the summary bytes.
const S2_AT: usize = 3;
const S3_AT: usize = 48;
const S2_BYTES: usize = S3_AT - S2_AT;

/// Whether position q of a node's bitmap is set.
#[inline(always)]
pub fn bit(node: &[u8], q: usize) -> bool {
    node[BITMAP + q / 8] >> (7 - q % 8) & 1 == 1
}

/// The block and subblock of a position, as the paper names them.
#[inline(always)]
fn blocks_of(q: usize) -> (usize, usize) {
    (q / S1_BITS, q % S1_BITS / S2_BITS)
}

/// The level-1 summary of a block after the first.
#[inline(always)]
fn s1(node: &[u8], b: usize) -> u32 {
    u32::from(node[summary_byte(b - 1)])
}

/// The place of S2(b, sb): the offset of the two bytes to read, and the bits to skip in them. The
/// last two bytes are always read together, because no byte may follow them.
#[inline(always)]
fn s2_place(b: usize, sb: usize) -> (usize, usize) {
    let bits = (b * S2_COUNT + sb - 1) * S2_WIDTH;
    let byte = (bits / 8).min(S2_BYTES - 2);
    (summary_byte(S2_AT + byte), bits - 8 * byte)
}

/// The level-2 summary of a subblock after the first.
#[inline(always)]
fn s2(node: &[u8], b: usize, sb: usize) -> u32 {
    let (byte, shift) = s2_place(b, sb);
    u32::from(u16::from_le_bytes([node[byte], node[byte + 1]]) >> shift) & 63
}

/// The rank from levels 1 and 2, which types I and II share.
#[inline(always)]
fn rank_of_subblock<C: CostCounter>(node: &[u8], b: usize, sb: usize, counter: &mut C) -> u32 {
    let mut rank = 0;
    if b > 0 {
        rank = s1(node, b);
    }
    if sb > 0 {
        rank += s2(node, b, sb);
        counter.popcount_additions(1);
    }
    rank
}

fn write_levels_1_and_2(node: &mut [u8], ranks: &[u8; 256]) {
    for b in 0..256 / S1_BITS {
        let start = b * S1_BITS;
        if b > 0 {
            node[summary_byte(b - 1)] = ranks[start];
        }
        for sb in 1..=S2_COUNT {
            let (byte, shift) = s2_place(b, sb);
            let value = u16::from(ranks[start + sb * S2_BITS] - ranks[start]) << shift;
            let [low, high] = value.to_le_bytes();
            node[byte] |= low;
            node[byte + 1] |= high;
        }
    }
}

/// The offsets that levels 1 and 2 read, in ascending order.
fn reads_of_levels_1_and_2(q: usize) -> Vec<usize> {
    let (b, sb) = blocks_of(q);
    let mut reads = Vec::new();
    if b > 0 {
        reads.push(summary_byte(b - 1));
    }
    if sb > 0 {
        let (byte, shift) = s2_place(b, sb);
        reads.extend(byte + shift / 8..byte + (shift + S2_WIDTH).div_ceil(8));
    }
    reads
}

/// Three levels of summaries, no table.
#[derive(Debug)]
pub struct TypeI;

/// The place of S3 of a subblock: the offset of its byte, and the bits to skip in it.
#[inline(always)]
fn s3_place(q: usize) -> (usize, usize) {
    let subblock = q / S2_BITS;
    (summary_byte(S3_AT + subblock / 4), subblock % 4 * 2)
}

impl Summary for TypeI {
    const BYTES: usize = 64;

    fn new() -> TypeI {
        TypeI
    }

    fn table_bytes(&self) -> usize {
        0
    }

    fn write(node: &mut [u8], ranks: &[u8; 256]) {
        write_levels_1_and_2(node, ranks);
        for start in (0..256).step_by(S2_BITS) {
            let (byte, shift) = s3_place(start);
            node[byte] |= (ranks[start + S3_BITS] - ranks[start]) << shift;
        }
    }

    #[inline(always)]
    fn rank<C: CostCounter>(&self, node: &[u8], q: usize, counter: &mut C) -> u32 {
        let (b, sb) = blocks_of(q);
        let mut rank = rank_of_subblock(node, b, sb, counter);
        if q % S2_BITS >= S3_BITS {
            let (byte, shift) = s3_place(q);
            rank += u32::from(node[byte] >> shift & 3);
            counter.popcount_additions(1);
        }
        if !q.is_multiple_of(S3_BITS) {
            rank += u32::from(bit(node, q - 1));
            counter.popcount_additions(1);
        }
        rank
    }

    fn reads(q: usize) -> Vec<usize> {
        let mut reads = reads_of_levels_1_and_2(q);
        if q % S2_BITS >= S3_BITS {
            reads.push(s3_place(q).0);
        }
        reads
    }
}

/// Table 2-1: for each block of 4 bits, the ranks of its positions, 2 bits each.
#[derive(Debug)]
pub struct T4([u8; 16]);

impl T4 {
    /// Computes the table.
    pub fn new() -> T4 {
        T4(std::array::from_fn(|i| {
            (1..4).map(|j| (i as u8 >> (4 - j)).count_ones() as u8 * (1 << (2 * j))).sum()
        }))
    }

    /// T4(i, j): the bits set before position j of block i.
    #[inline(always)]
    pub fn get(&self, i: usize, j: usize) -> u32 {
        u32::from(self.0[i & 15] >> (2 * j) & 3)
    }
}

impl Default for T4 {
    fn default() -> T4 {
        T4::new()
    }
}

/// Two levels of summaries and a table of ranks in 4 bits.
#[derive(Debug)]
pub struct TypeII(T4);

impl Summary for TypeII {
    const BYTES: usize = 48;

    fn new() -> TypeII {
        TypeII(T4::new())
    }

    fn table_bytes(&self) -> usize {
        size_of::<T4>()
    }

    fn write(node: &mut [u8], ranks: &[u8; 256]) {
        write_levels_1_and_2(node, ranks);
    }

    #[inline(always)]
    fn rank<C: CostCounter>(&self, node: &[u8], q: usize, counter: &mut C) -> u32 {
        let (b, sb) = blocks_of(q);
        let mut rank = rank_of_subblock(node, b, sb, counter);
        let e = q % S2_BITS;
        if e > 0 {
            let d = node[BITMAP + q / 8] >> (4 - q % 8 / 4 * 4);
            rank += self.0.get(usize::from(d), e);
            counter.popcount_additions(1);
        }
        rank
    }

    fn reads(q: usize) -> Vec<usize> {
        reads_of_levels_1_and_2(q)
    }
}

/// Bits of a block of type III.
const T16_BITS: usize = 16;

/// For each block of 16 bits, the ranks of its positions, 4 bits each. Rows 2j and 2j + 1 are
/// equal, because no position comes after the last bit, and are stored once.
#[derive(Debug)]
pub struct T16(Vec<u64>);

impl T16 {
    /// Computes the table.
    pub fn new() -> T16 {
        let ranks = |row: u32| {
            let block = row << 1;
            let rank = |j: usize| u64::from((block >> (T16_BITS - j)).count_ones());
            (1..T16_BITS).map(|j| rank(j) << (4 * j)).sum()
        };
        T16((0..1 << (T16_BITS - 1)).map(ranks).collect())
    }

    /// T16(i, j): the bits set before position j of block i.
    #[inline(always)]
    pub fn get(&self, i: u16, j: usize) -> u32 {
        (self.0[usize::from(i >> 1)] >> (4 * j)) as u32 & 15
    }
}

impl Default for T16 {
    fn default() -> T16 {
        T16::new()
    }
}

/// One level of summaries and a table of ranks in 16 bits.
#[derive(Debug)]
pub struct TypeIII(T16);

impl Summary for TypeIII {
    const BYTES: usize = 15;

    fn new() -> TypeIII {
        TypeIII(T16::new())
    }

    fn table_bytes(&self) -> usize {
        8 * self.0.0.len()
    }

    fn write(node: &mut [u8], ranks: &[u8; 256]) {
        for block in 1..256 / T16_BITS {
            node[summary_byte(block - 1)] = ranks[block * T16_BITS];
        }
    }

    #[inline(always)]
    fn rank<C: CostCounter>(&self, node: &[u8], q: usize, counter: &mut C) -> u32 {
        let block = q / T16_BITS;
        let mut rank = 0;
        if block > 0 {
            rank = u32::from(node[summary_byte(block - 1)]);
        }
        let e = q % T16_BITS;
        if e > 0 {
            let at = BITMAP + 2 * block;
            rank += self.0.get(u16::from_be_bytes([node[at], node[at + 1]]), e);
            counter.popcount_additions(1);
        }
        rank
    }

    fn reads(q: usize) -> Vec<usize> {
        let block = q / T16_BITS;
        if block == 0 { Vec::new() } else { vec![summary_byte(block - 1)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::node::{bitmap_bytes, write_bitmap};
    use crate::cost::Cost;

    /// Table 2-1.
    #[test]
    fn t4_is_the_table_of_the_paper() {
        let rows = [
            "0000", "0000", "0001", "0001", "0011", "0011", "0012", "0012", "0111", "0111", "0112",
            "0112", "0122", "0122", "0123", "0123",
        ];
        let t4 = T4::new();
        for (i, row) in rows.iter().enumerate() {
            let entries: String = (0..4).map(|j| t4.get(i, j).to_string()).collect();
            assert_eq!(&entries, row, "row {i}");
        }
    }

    #[test]
    fn t16_keeps_even_rows_in_256_kibibytes() {
        let t16 = T16::new();
        assert_eq!(8 * t16.0.len(), 256 << 10);
        for i in [0, 1, 2, 0x8000, 0xfffe, 0xffff, 0xa5c3] {
            for j in 0..T16_BITS {
                let shifted = if j == 0 { 0 } else { i >> (T16_BITS - j) };
                assert_eq!(t16.get(i, j), shifted.count_ones(), "T16({i}, {j})");
            }
        }
    }

    fn node<S: Summary>(labels: &[u8]) -> Vec<u8> {
        let mut node = vec![0; bitmap_bytes::<S>()];
        write_bitmap::<S>(&mut node, labels);
        node
    }

    /// Checks the rank of every position of a bitmap. Returns the most additions that a rank took.
    fn most_additions<S: Summary>(labels: &[u8]) -> u64 {
        let (node, summary) = (node::<S>(labels), S::new());
        let additions = (0..256).map(|q| {
            let mut cost = Cost::default();
            let before = labels.iter().filter(|&&label| usize::from(label) < q).count();
            assert_eq!(summary.rank(&node, q, &mut cost), before as u32, "position {q}");
            assert_eq!(bit(&node, q), labels.contains(&(q as u8)), "bit {q}");
            cost.popcount_additions
        });
        additions.max().unwrap()
    }

    #[test]
    fn every_rank_of_every_type() {
        let patterns: [Vec<u8>; 5] = [
            vec![],
            vec![0, 255],
            (0..=255).collect(),
            (0..=255).filter(|b| b % 3 == 1).collect(),
            (0..=255u8).filter(|b| b.wrapping_mul(167) < 50).collect(),
        ];
        for labels in &patterns {
            assert_eq!(most_additions::<TypeI>(labels), 3);
            assert_eq!(most_additions::<TypeII>(labels), 2);
            assert_eq!(most_additions::<TypeIII>(labels), 1);
        }
    }

    /// The example of 2.3: position 203 is in subblock 2 of block 3, and its rank is
    /// S1(3) + S2(3, 2) + S3(3, 2, 1) + bit(202).
    #[test]
    fn the_rank_of_position_203() {
        assert_eq!((blocks_of(203), 203 % S2_BITS >= S3_BITS), ((3, 2), true));
        let labels = [5, 60, 191, 192, 199, 200, 201, 202, 203, 255];
        let node = node::<TypeI>(&labels);
        let (byte, shift) = s3_place(203);
        let s3 = node[byte] >> shift & 3;
        assert_eq!((s1(&node, 3), s2(&node, 3, 2), s3, bit(&node, 202)), (3, 2, 2, true));
        let mut cost = Cost::default();
        assert_eq!(TypeI.rank(&node, 203, &mut cost), 8);
        assert_eq!(cost.popcount_additions, 3);
    }
}
