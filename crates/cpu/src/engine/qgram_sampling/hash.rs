//! Grams and their hash. The vector forms must compute the same values.

/// 2^64 divided by the golden ratio, an odd number that mixes well (Knuth, TAOCP 6.4).
pub(super) const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// In a gram of more than eight bytes, the last eight are rotated by this and XOR-ed with the first
/// eight. It is not a multiple of eight: letters of a small alphabet differ in few bits (those of
/// DNA in two), and these must not fall on each other.
pub(super) const TURN: u32 = 12;

/// The maximum number of bytes of a gram.
pub(super) const MAX_GRAM: usize = 16;

/// How to read a gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gram {
    /// Bytes of the gram, at most [`MAX_GRAM`].
    pub(super) len: usize,
    /// 0x20 in each byte if grams are folded: see [`Gram::folded`].
    pub(super) fold: u64,
}

impl Gram {
    /// The bytes as they are hashed: in lower case if grams are folded. Some bytes that are no
    /// letters are folded, too; patterns are compared exactly. Zeros and spaces, which data have
    /// runs of, stay different.
    #[inline(always)]
    pub(super) fn folded(self, word: u64) -> u64 {
        word | word >> 1 & self.fold
    }

    /// The mask of the first word.
    #[inline(always)]
    pub(super) fn mask(self) -> u64 {
        u64::MAX >> (64 - 8 * self.len.min(8))
    }

    /// Whether the gram takes two words.
    #[inline(always)]
    pub(super) fn is_wide(self) -> bool {
        self.len > 8
    }

    /// The distance of the second word from the first, in bytes.
    #[inline(always)]
    pub(super) fn second(self) -> usize {
        self.len.saturating_sub(8)
    }

    /// The hash of the gram at a position. All of it must be inside `bytes`.
    #[inline(always)]
    pub(super) fn hash(self, bytes: &[u8], at: usize) -> u64 {
        let first = word(bytes, at);
        if self.is_wide() {
            self.mix::<true>(first, word(bytes, at + self.second()))
        } else {
            self.mix::<false>(first, 0)
        }
    }

    /// Multiplicative hashing: the upper bits depend on all bytes.
    #[inline(always)]
    pub(super) fn mix<const WIDE: bool>(self, first: u64, second: u64) -> u64 {
        let first = self.folded(first) & self.mask();
        let key = if WIDE { first ^ self.folded(second).rotate_left(TURN) } else { first };
        key.wrapping_mul(GOLDEN)
    }
}

/// Where a gram is in the bitmap: the upper bits of its hash choose a word, others choose two
/// bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) word: usize,
    pub(super) bits: [u32; 2],
}

/// The spot among 2^`bits` words, for 1 to 22 `bits`. With more, the choice of the word and of the
/// bits in it would depend on the same hash bits.
#[inline(always)]
pub(super) fn spot(hash: u64, bits: u32) -> Spot {
    let upper = (hash >> 32) as u32;
    Spot { word: (upper >> (32 - bits)) as usize, bits: [upper & 31, upper >> 5 & 31] }
}

/// The bucket among 2^`bits`.
#[inline(always)]
pub(super) fn bucket(hash: u64, bits: u32) -> usize {
    (hash >> (64 - bits)) as usize
}

/// Eight bytes at a position, with zeros beyond the end.
#[inline(always)]
pub(super) fn word(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_le_bytes(*word),
        None => edge(bytes, at),
    }
}

#[cold]
fn edge(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().take(8).rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_of_a_gram_and_none_beyond_it_counts() {
        let text: Vec<u8> = (0..40).map(|i| b'a' + (i * 7 % 26) as u8).collect();
        for len in 3..=MAX_GRAM {
            let gram = Gram { len, fold: 0 };
            let hash = gram.hash(&text, 5);
            for at in 0..text.len() {
                let mut other = text.clone();
                other[at] ^= 1;
                assert_eq!(gram.hash(&other, 5) == hash, !(5..5 + len).contains(&at), "{len} {at}");
            }
            let folded = Gram { len, fold: 0x2020_2020_2020_2020 };
            assert_eq!(folded.hash(&text.to_ascii_uppercase(), 5), folded.hash(&text, 5));
            assert_eq!(gram.hash(&text[..5 + len], 5), hash, "the text may end with the gram");
        }
    }

    #[test]
    fn grams_of_dna_hash_apart() {
        for len in [8, 12, 16] {
            let gram = Gram { len, fold: 0 };
            let of = |n: u32| -> [u8; 16] {
                std::array::from_fn(|i| b"ACGT"[(n >> (2 * i.min(15)) & 3) as usize])
            };
            let mut words: Vec<_> =
                (0..1 << 14).map(|n: u32| spot(gram.hash(&of(n), 0), 14).word).collect();
            words.sort_unstable();
            words.dedup();
            // Random hashing would leave 63 % of the words hit.
            assert!(words.len() > 8000, "{len}: {}", words.len());
        }
    }
}
