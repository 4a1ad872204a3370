//! Generated data: random texts, patterns and choices.
//!
//! Everything comes from splitmix64 and is determined by its seed. Texts and patterns are byte for
//! byte those of the script `gen_random.py` with which the golden rows were computed.

use crate::definition::Hostile;

/// The golden ratio times 2^64: the step of splitmix64.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The mixing function of splitmix64.
fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// An endless stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// The next number below `bound`, which is below 2^32.
    pub fn below(&mut self, bound: usize) -> usize {
        (((self.next_u64() >> 32) * bound as u64) >> 32) as usize
    }

    /// The next letter of an alphabet: `ACGT` for 4, letters from `a` up to 26, byte values above.
    pub fn letter(&mut self, alphabet: u16) -> u8 {
        let value = self.below(usize::from(alphabet));
        match alphabet {
            4 => b"ACGT"[value],
            ..=26 => b'a' + value as u8,
            _ => value as u8,
        }
    }
}

/// Random text.
pub fn text(alphabet: u16, len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..len).map(|_| random.letter(alphabet)).collect()
}

/// Random patterns of lengths from `min` to `max`. Some may be equal.
pub fn patterns(alphabet: u16, count: usize, min: usize, max: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut lens = Random::new(seed ^ 0xab_cdef);
    let mut bytes = Random::new(seed);
    let span = (max - min + 1) as u64;
    let mut len = move || min + (lens.next_u64() % span) as usize;
    (0..count).map(|_| (0..len()).map(|_| bytes.letter(alphabet)).collect()).collect()
}

/// Takes `count` of the items at random, in their order; all if there are fewer.
pub fn choose<T>(mut items: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut random = Random::new(seed);
    let mut wanted = count.min(items.len());
    let mut left = items.len();
    items.retain(|_| {
        let take = random.below(left) < wanted;
        left -= 1;
        wanted -= usize::from(take);
        take
    });
    items
}

/// Cuts `count` distinct strings of lengths from `min` to `max` out of `text`, or fewer if random
/// tries do not find as many. Each has at least three different bytes, or only different ones if it
/// is shorter, because nobody searches for runs of zeros.
pub fn sample(text: &[u8], count: usize, min: usize, max: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut taken = std::collections::BTreeSet::new();
    let tries = 20 * count + 1000;
    for _ in 0..tries {
        if taken.len() == count || text.len() < max {
            break;
        }
        let len = min + random.below(max - min + 1);
        let at = random.next_u64() as usize % (text.len() - len + 1);
        let piece = &text[at..at + len];
        if kinds(piece) >= 3.min(len) {
            taken.insert(piece.to_vec());
        }
    }
    taken.into_iter().collect()
}

fn kinds(piece: &[u8]) -> usize {
    let mut seen = [false; 256];
    piece.iter().for_each(|&b| seen[usize::from(b)] = true);
    seen.iter().filter(|&&s| s).count()
}

/// Random text with planted patterns, to which `percent` of its bytes belong.
pub fn planted(patterns: &[&[u8]], percent: u8, alphabet: u16, len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = Vec::with_capacity(len + 64);
    let mut theirs = 0;
    while text.len() < len {
        if patterns.is_empty() || 100 * theirs >= usize::from(percent) * (text.len() + 1) {
            text.push(random.letter(alphabet));
        } else {
            let pattern = patterns[random.below(patterns.len())];
            text.extend_from_slice(pattern);
            theirs += pattern.len();
        }
    }
    text.truncate(len);
    text
}

/// Bytes of one run of [`Hostile::Run`].
const RUN: usize = 512;

/// A haystack made from patterns to be expensive to scan. Empty if there are no patterns.
pub fn hostile(kind: Hostile, patterns: &[&[u8]], len: usize, seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = Vec::with_capacity(len + RUN);
    while text.len() < len && !patterns.is_empty() {
        let pattern = patterns[random.below(patterns.len())];
        // A pattern of one byte stays whole: every round has to add bytes.
        let last = pattern.len() - 1;
        match kind {
            Hostile::Full => text.extend_from_slice(pattern),
            Hostile::Pre => text.extend_from_slice(&pattern[..last.max(1)]),
            Hostile::Suf => text.extend_from_slice(&pattern[last.min(1)..]),
            Hostile::Mid => text.extend_from_slice(&pattern[..=random.below(pattern.len())]),
            Hostile::Run => text.extend_from_slice(&[pattern[0]; RUN]),
        }
    }
    text.truncate(len);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::sha256;

    #[test]
    fn the_text_is_that_of_the_script() {
        let sum = sha256(&text(26, 4 << 20, 1026));
        assert_eq!(sum, "d88016642ff7d572c9b355feca65d7b97d7a6309e5d774b16478b32b7104adea");
        let sum = sha256(&text(4, 4 << 20, 1004));
        assert_eq!(sum, "6638bad2efc77e925bb02a5bdf4f018d00d5c388868da3d8bd919e89561a4757");
    }

    #[test]
    fn planting_reaches_its_share() {
        let text = planted(&[b"XYZ"], 50, 26, 10_000, 1);
        let found = text.windows(3).filter(|w| w == b"XYZ").count();
        assert!((1600..=1700).contains(&found), "{found}");
        assert_eq!(text.len(), 10_000);
    }

    #[test]
    fn hostile_texts_are_made_of_the_patterns() {
        let make = |kind, patterns: &[&[u8]]| hostile(kind, patterns, 1000, 1);
        assert_eq!(&make(Hostile::Full, &[b"abc"])[..6], b"abcabc");
        assert_eq!(&make(Hostile::Pre, &[b"abc"])[..6], b"ababab");
        assert_eq!(&make(Hostile::Suf, &[b"abc"])[..6], b"bcbcbc");
        assert_eq!(make(Hostile::Run, &[b"abc"]), [b'a'; 1000]);
        assert!(make(Hostile::Mid, &[b"abc"]).windows(2).any(|w| w == b"aa"));
        assert_eq!(make(Hostile::Pre, &[b"a"]), [b'a'; 1000]);
        assert_eq!(make(Hostile::Suf, &[b"a"]).len(), 1000);
        assert!(make(Hostile::Full, &[]).is_empty());
    }

    #[test]
    fn choices_are_of_the_size_asked_for() {
        let chosen = choose((0..1000).collect(), 20, 7);
        assert_eq!(chosen.len(), 20);
        assert!(chosen.is_sorted());
        assert_eq!(choose(vec![1, 2], 20, 7), [1, 2]);
    }

    #[test]
    fn samples_are_pieces_of_the_text() {
        let source = text(26, 5000, 3);
        let cut = sample(&source, 50, 4, 8, 9);
        assert_eq!(cut.len(), 50);
        assert!(cut.iter().all(|p| source.windows(p.len()).any(|w| w == p)));
        assert!(sample(b"ab", 5, 4, 8, 9).is_empty());
    }
}
