//! A random number generator with the same output on every platform: splitmix64.
//!
//! Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.

/// The increment of the counter.
const GOLDEN_GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// A seeded generator.
#[derive(Clone, Debug)]
pub struct SplitMix(u64);

impl SplitMix {
    /// A generator that starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN_GAMMA);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// A number below `n`, made of the high bits.
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.bits() >> 32) * n) >> 32
    }
}

/// A text of `len` random symbols of an alphabet of `size`, as in the golden rows: the bases of
/// DNA for 4, letters from `a` for other sizes up to 26, all bytes for 256.
pub fn text(size: u64, len: usize, seed: u64) -> Vec<u8> {
    let symbol = |v: u64| match size {
        4 => b"ACGT"[v as usize],
        ..=26 => b'a' + v as u8,
        _ => v as u8,
    };
    let mut numbers = SplitMix::new(seed);
    (0..len).map(|_| symbol(numbers.below(size))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix64_is_the_published_one() {
        // First outputs for seed 1234567, as in the reference implementation.
        let mut r = SplitMix::new(1_234_567);
        assert_eq!([r.bits(), r.bits()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }

    #[test]
    fn texts_keep_to_their_alphabet() {
        assert!(text(4, 100, 1).iter().all(|b| b"ACGT".contains(b)));
        assert!(text(10, 100, 1).iter().all(|b| (b'a'..=b'j').contains(b)));
        assert!(text(256, 1000, 1).iter().any(|b| *b > 127));
    }
}
