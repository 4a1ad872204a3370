//! Which patterns share a bucket.
//!
//! A bucket lets pass every mixture of its patterns' bytes: the `j`-th of one, the next of another. How many
//! positions pass is about the product, over the tables, of how frequent the codes of the bucket are there. The
//! sum of these products over the buckets is made small by moving one pattern at a time, from the start of
//! neighbours in sorted order.

use super::plan::OFFSETS;

/// What a pattern allows in each table: a set of up to 64 codes.
pub(super) type Codes = [u64; OFFSETS];

/// How often each code of a table is met.
pub(super) type Frequencies = [f32; 64];

/// Rounds over all patterns. Later rounds hardly move any. Not swept.
const ROUNDS: usize = 6;

/// A bucket while patterns come and go.
#[derive(Clone)]
struct Bucket {
    /// How many patterns have each code of each table.
    counts: Vec<[u16; 64]>,
    /// The codes that some pattern has.
    codes: Codes,
    /// How frequent these are together.
    share: [f32; OFFSETS],
}

impl Bucket {
    fn new(tables: usize) -> Self {
        Bucket { counts: vec![[0; 64]; tables], codes: [0; OFFSETS], share: [0.0; OFFSETS] }
    }

    fn add(&mut self, pattern: &Codes, frequencies: &[Frequencies]) {
        for (j, counts) in self.counts.iter_mut().enumerate() {
            bits(pattern[j]).for_each(|code| counts[code] += 1);
            self.share[j] += weigh(pattern[j] & !self.codes[j], &frequencies[j]);
            self.codes[j] |= pattern[j];
        }
    }

    fn remove(&mut self, pattern: &Codes, frequencies: &[Frequencies]) {
        for (j, counts) in self.counts.iter_mut().enumerate() {
            bits(pattern[j]).for_each(|code| counts[code] -= 1);
            let gone = bits(pattern[j]).filter(|&code| counts[code] == 0).map(|code| 1 << code);
            self.codes[j] &= !gone.sum::<u64>();
            self.share[j] = weigh(self.codes[j], &frequencies[j]);
        }
    }

    /// The share of positions that pass.
    fn passes(&self) -> f32 {
        self.share[..self.counts.len()].iter().product()
    }

    /// The same, were this pattern here.
    fn passes_with(&self, pattern: &Codes, frequencies: &[Frequencies]) -> f32 {
        let with = |j: usize| self.share[j] + weigh(pattern[j] & !self.codes[j], &frequencies[j]);
        (0..self.counts.len()).map(with).product()
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        lowest
    })
}

fn weigh(codes: u64, frequencies: &Frequencies) -> f32 {
    if codes == u64::MAX { 1.0 } else { bits(codes).map(|code| frequencies[code]).sum() }
}

/// Puts each pattern into one of `buckets` buckets. The patterns should be in an order that has like ones
/// together.
pub(super) fn cluster(patterns: &[Codes], buckets: usize, frequencies: &[Frequencies]) -> Vec<u8> {
    let start = |i: usize| (i * buckets.min(patterns.len()) / patterns.len()) as u8;
    let mut home: Vec<u8> = (0..patterns.len()).map(start).collect();
    if patterns.len() <= buckets {
        return home;
    }
    let mut state = vec![Bucket::new(frequencies.len()); buckets];
    for (pattern, &bucket) in patterns.iter().zip(&home) {
        state[usize::from(bucket)].add(pattern, frequencies);
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        for (pattern, home) in patterns.iter().zip(&mut home) {
            let best = best_for(pattern, usize::from(*home), &mut state, frequencies);
            moved |= best != usize::from(*home);
            *home = best as u8;
        }
        if !moved {
            break;
        }
    }
    home
}

/// Moves a pattern to the bucket where it adds least, and says which.
fn best_for(
    pattern: &Codes,
    home: usize,
    state: &mut [Bucket],
    frequencies: &[Frequencies],
) -> usize {
    state[home].remove(pattern, frequencies);
    let added = |b: &Bucket| b.passes_with(pattern, frequencies) - b.passes();
    let (mut best, mut least) = (home, added(&state[home]));
    for (i, bucket) in state.iter().enumerate() {
        let added = added(bucket);
        if added < least {
            (best, least) = (i, added);
        }
    }
    state[best].add(pattern, frequencies);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_patterns_end_up_together() {
        // Two kinds, in order but for one of each.
        let kind = |i: usize| usize::from((i >= 8) != (i == 3 || i == 12));
        let codes = |i: usize| {
            let mut codes = [0; OFFSETS];
            codes[0] = 1 << kind(i);
            codes[1] = 1 << (kind(i) + 2);
            codes[2] = 1 << (4 + i);
            codes
        };
        let patterns: Vec<Codes> = (0..16).map(codes).collect();
        let home = cluster(&patterns, 2, &[[1.0 / 64.0; 64]; 3]);
        assert!((0..16).all(|i| usize::from(home[i]) == kind(i)), "{home:?}");
    }

    #[test]
    fn few_patterns_have_a_bucket_each() {
        assert_eq!(cluster(&[[1; OFFSETS]; 3], 8, &[[0.1; 64]; 3]), [0, 1, 2]);
    }
}
