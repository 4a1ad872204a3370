//! Assigns patterns to buckets so that few false positives pass.
//!
//! A bucket passes every mixture of its patterns' bytes: the first byte of one, the second of
//! another. A Markov chain over the tables estimates the share of positions that pass: the
//! frequency of the bucket's codes in the first table, then the conditional frequency of its codes
//! in each next table. Independent frequencies would underestimate bytes that occur together. Some
//! data have more runs of zeros or spaces than any chain predicts, so runs are added separately.
//!
//! The algorithm is agglomerative clustering: each pattern starts as a bucket, and the two buckets
//! whose union adds the fewest candidates are joined until few enough are left. Then single
//! patterns move to the bucket where they add the fewest.

use super::shape::OFFSETS;
use std::array::from_fn;

/// The maximum number of tables per position.
pub(super) const TABLES: usize = 2 * OFFSETS;

/// The codes that a pattern accepts in each table: a set of up to 64.
pub(super) type Codes = [u64; TABLES];

/// Buckets to start with. In larger sets, neighboring patterns share one. With 96, rule sets have
/// slightly fewer candidates and take much longer to compile (`replay`).
const SEEDS: usize = 64;

/// Rounds of moves over all patterns. With none, `words` have 1.5 to 2.5 times the candidates; a
/// third round removes another 5 to 10 %.
const ROUNDS: usize = 2;

/// A number for each code of a table.
type PerCode = [f32; 64];

/// The frequency of each pair of codes of two consecutive tables.
pub(super) struct Joint {
    rows: [PerCode; 64],
    columns: [PerCode; 64],
}

impl Joint {
    /// Normalizes the frequencies of pairs of codes to shares.
    pub(super) fn new(pairs: impl Iterator<Item = (usize, usize, f32)>) -> Joint {
        let mut joint = Joint { rows: [[0.0; 64]; 64], columns: [[0.0; 64]; 64] };
        pairs.for_each(|(a, b, share)| joint.rows[a][b] += share);
        let all: f32 = joint.rows.iter().flatten().sum();
        joint.rows.iter_mut().flatten().for_each(|share| *share /= all);
        joint.columns = from_fn(|b| from_fn(|a| joint.rows[a][b]));
        joint
    }
}

/// The frequency model of the tables.
pub(super) struct CodeModel<'a> {
    /// For each table, the frequency of each code.
    pub(super) frequencies: Vec<PerCode>,
    /// The pair frequencies of each table with the next.
    pub(super) links: Vec<&'a Joint>,
    /// All codes of each table.
    pub(super) all: Vec<u64>,
    /// The codes of runs of a byte, and the share of positions to add for them.
    pub(super) runs: Vec<(Codes, f32)>,
}

impl CodeModel<'_> {
    /// The share of positions whose codes are in these sets.
    fn passes(&self, codes: &Codes) -> f32 {
        let full = |j: usize| codes[j] == self.all[j];
        let (mut share, mut joint) = ([0.0; TABLES], [0.0; TABLES]);
        for (j, frequencies) in self.frequencies.iter().enumerate() {
            share[j] = if full(j) { 1.0 } else { sum(frequencies, codes[j]) };
        }
        for (j, link) in self.links.iter().enumerate() {
            joint[j] = match (full(j), full(j + 1)) {
                (true, _) => share[j + 1],
                (_, true) => share[j],
                _ => bits(codes[j]).map(|a| sum(&link.rows[a], codes[j + 1])).sum(),
            };
        }
        self.chain(&share, &joint) + self.runs(|j| codes[j])
    }

    /// The probability that all tables accept, by the chain.
    fn chain(&self, share: &[f32; TABLES], joint: &[f32; TABLES]) -> f32 {
        let links = joint.iter().zip(share).take(self.links.len());
        links.fold(
            share[0],
            |all, (joint, share)| {
                if *share > 0.0 { all * joint / share } else { 0.0 }
            },
        )
    }

    /// The share of runs that these codes pass.
    fn runs(&self, codes: impl Fn(usize) -> u64) -> f32 {
        let passes = |run: &Codes| (0..self.all.len()).all(|j| run[j] & codes(j) != 0);
        self.runs.iter().filter(|(run, _)| passes(run)).map(|(_, share)| share).sum()
    }
}

/// Patterns that share a bit.
#[derive(Clone)]
struct Bucket {
    /// The codes that some pattern accepts.
    codes: Codes,
    /// The total frequency of these codes in each table.
    share: [f32; TABLES],
    /// Their joint frequency with the accepted codes of the next table.
    joint: [f32; TABLES],
    /// For each code, its joint frequency with the accepted codes of the next table.
    before: [PerCode; TABLES],
    /// For each code of the next table, its joint frequency with the accepted codes of this one.
    after: [PerCode; TABLES],
}

impl Bucket {
    const EMPTY: Bucket = Bucket {
        codes: [0; TABLES],
        share: [0.0; TABLES],
        joint: [0.0; TABLES],
        before: [[0.0; 64]; TABLES],
        after: [[0.0; 64]; TABLES],
    };

    fn of(codes: &Codes, tables: &CodeModel<'_>) -> Bucket {
        let mut bucket = Bucket::EMPTY;
        bucket.add(codes, tables);
        bucket
    }

    /// Adds codes to the accepted ones.
    fn add(&mut self, codes: &Codes, tables: &CodeModel<'_>) {
        let share: [f32; TABLES] = from_fn(|j| self.share_with(j, codes, tables));
        let joint: [f32; TABLES] = from_fn(|j| match tables.links.get(j) {
            Some(_) => self.joint_with(j, codes, [share[j], share[j + 1]], tables),
            None => 0.0,
        });
        for (j, link) in tables.links.iter().enumerate() {
            let new = |j: usize| bits(codes[j] & !self.codes[j]);
            new(j).for_each(|a| add_all(&mut self.after[j], &link.rows[a]));
            new(j + 1).for_each(|b| add_all(&mut self.before[j], &link.columns[b]));
        }
        (self.share, self.joint) = (share, joint);
        self.codes.iter_mut().zip(codes).for_each(|(all, codes)| *all |= codes);
    }

    /// The total frequency in table `j` if `codes` were added.
    #[inline]
    fn share_with(&self, j: usize, codes: &Codes, tables: &CodeModel<'_>) -> f32 {
        let Some(frequencies) = tables.frequencies.get(j) else { return 0.0 };
        if self.codes[j] | codes[j] == tables.all[j] {
            return 1.0;
        }
        self.share[j] + sum(frequencies, codes[j] & !self.codes[j])
    }

    /// The joint frequency of tables `j` and `j + 1` if `codes` were added, which makes their total
    /// frequencies `share`.
    #[inline]
    fn joint_with(&self, j: usize, codes: &Codes, share: [f32; 2], tables: &CodeModel<'_>) -> f32 {
        let full = |j: usize| self.codes[j] | codes[j] == tables.all[j];
        // If one side accepts everything, the joint frequency is that of the other side.
        if full(j) {
            return share[1];
        }
        if full(j + 1) {
            return share[0];
        }
        let new = |j: usize| codes[j] & !self.codes[j];
        let (first, second) = (new(j), new(j + 1));
        let mut joint = self.joint[j] + sum(&self.after[j], second);
        for a in bits(first) {
            joint += self.before[j][a] + sum(&tables.links[j].rows[a], second);
        }
        joint
    }

    /// The share of positions that pass.
    fn passes(&self, tables: &CodeModel<'_>) -> f32 {
        tables.chain(&self.share, &self.joint) + tables.runs(|j| self.codes[j])
    }

    /// The same if `codes` were added.
    fn passes_with(&self, codes: &Codes, tables: &CodeModel<'_>) -> f32 {
        let mut share = self.share_with(0, codes, tables);
        let mut all = share;
        for j in 0..tables.links.len() {
            let next = self.share_with(j + 1, codes, tables);
            let joint = self.joint_with(j, codes, [share, next], tables);
            all = if share > 0.0 { all * joint / share } else { 0.0 };
            share = next;
        }
        all + tables.runs(|j| self.codes[j] | codes[j])
    }
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros() as usize);
        set &= set.wrapping_sub(1);
        lowest
    })
}

fn sum(of: &PerCode, codes: u64) -> f32 {
    bits(codes).map(|code| of[code]).sum()
}

fn add_all(to: &mut PerCode, some: &PerCode) {
    to.iter_mut().zip(some).for_each(|(to, some)| *to += some);
}

/// The union of the codes of some patterns.
fn union<'a>(patterns: impl IntoIterator<Item = &'a Codes>) -> Codes {
    patterns.into_iter().fold([0; TABLES], |all, codes| from_fn(|j| all[j] | codes[j]))
}

/// Puts each pattern into one of `buckets` buckets, and estimates the share of positions that
/// pass. Patterns should be ordered so that similar ones are neighbors.
pub(super) fn cluster(
    patterns: &[Codes],
    buckets: usize,
    tables: &CodeModel<'_>,
) -> (Vec<u8>, f32) {
    let count = patterns.len().min(SEEDS);
    let seed = |i: usize| i * count / patterns.len();
    let mut seeds = vec![[0; TABLES]; count];
    for (i, codes) in patterns.iter().enumerate() {
        let all = &mut seeds[seed(i)];
        *all = union([&*all, codes]);
    }
    let joined = agglomerate(&seeds, buckets, tables);
    let mut home: Vec<u8> = (0..patterns.len()).map(|i| joined[seed(i)]).collect();
    let pass = move_patterns(patterns, &mut home, buckets, tables);
    (home, pass)
}

/// The codes that each bucket accepts.
pub(super) fn unions(patterns: &[Codes], home: &[u8], buckets: usize) -> Vec<Codes> {
    let mut all = vec![[0; TABLES]; buckets];
    for (codes, &bucket) in patterns.iter().zip(home) {
        let bucket = &mut all[usize::from(bucket)];
        *bucket = union([&*bucket, codes]);
    }
    all
}

/// Joins the two buckets whose union adds the fewest candidates, until `buckets` are left. Returns
/// the bucket of each seed.
fn agglomerate(seeds: &[Codes], buckets: usize, tables: &CodeModel<'_>) -> Vec<u8> {
    let mut state: Vec<Bucket> = seeds.iter().map(|codes| Bucket::of(codes, tables)).collect();
    let mut passes: Vec<f32> = state.iter().map(|bucket| bucket.passes(tables)).collect();
    let mut left: Vec<usize> = (0..state.len()).collect();
    let mut home = left.clone();
    let mut costs = MergeCosts::new(state.len());
    for a in 0..state.len() {
        for b in 0..a {
            let both = state[a].passes_with(&state[b].codes, tables);
            costs.set(a, b, both - passes[a] - passes[b]);
        }
    }
    left.iter().for_each(|&bucket| costs.find_nearest(bucket, &left));
    while left.len() > buckets {
        let (stays, gone) = costs.least(&left);
        let codes = state[gone].codes;
        state[stays].add(&codes, tables);
        passes[stays] = state[stays].passes(tables);
        left.retain(|&bucket| bucket != gone);
        home.iter_mut().filter(|home| **home == gone).for_each(|home| *home = stays);
        for &other in left.iter().filter(|other| **other != stays) {
            let both = state[stays].passes_with(&state[other].codes, tables);
            costs.set(stays, other, both - passes[stays] - passes[other]);
        }
        for &bucket in &left {
            costs.after_joining(bucket, stays, gone, &left);
        }
    }
    let number = |bucket: usize| left.iter().position(|&b| b == bucket).unwrap_or(0) as u8;
    home.into_iter().map(number).collect()
}

/// The candidates that joining two buckets adds, and the cheapest partner of each bucket.
struct MergeCosts {
    added: Vec<Vec<f32>>,
    nearest: Vec<usize>,
}

impl MergeCosts {
    fn new(count: usize) -> MergeCosts {
        MergeCosts { added: vec![vec![f32::INFINITY; count]; count], nearest: vec![0; count] }
    }

    fn set(&mut self, a: usize, b: usize, added: f32) {
        self.added[a][b] = added;
        self.added[b][a] = added;
    }

    fn find_nearest(&mut self, bucket: usize, left: &[usize]) {
        let added = &self.added[bucket];
        let others = left.iter().copied().filter(|other| *other != bucket);
        let nearest = others.min_by(|&a, &b| added[a].total_cmp(&added[b]));
        self.nearest[bucket] = nearest.unwrap_or(bucket);
    }

    fn after_joining(&mut self, bucket: usize, stays: usize, gone: usize, left: &[usize]) {
        let nearest = self.nearest[bucket];
        if bucket == stays || nearest == stays || nearest == gone {
            self.find_nearest(bucket, left);
        } else if self.added[bucket][stays] < self.added[bucket][nearest] {
            self.nearest[bucket] = stays;
        }
    }

    /// The cheapest pair.
    fn least(&self, left: &[usize]) -> (usize, usize) {
        let added = |bucket: usize| self.added[bucket][self.nearest[bucket]];
        let least = left.iter().copied().min_by(|&a, &b| added(a).total_cmp(&added(b)));
        let bucket = least.expect("at least two buckets are left");
        (bucket, self.nearest[bucket])
    }
}

/// Moves patterns to the bucket where they add the fewest candidates. Returns the share of
/// positions that pass.
fn move_patterns(
    patterns: &[Codes],
    home: &mut [u8],
    buckets: usize,
    tables: &CodeModel<'_>,
) -> f32 {
    let in_bucket = |home: &[u8], bucket: usize, but: usize| {
        let there = home.iter().enumerate().filter(|(i, home)| **home == bucket as u8 && *i != but);
        union(there.map(|(i, _)| &patterns[i]))
    };
    let all = unions(patterns, home, buckets);
    let mut state: Vec<Bucket> = all.iter().map(|codes| Bucket::of(codes, tables)).collect();
    let mut passes: Vec<f32> = state.iter().map(|bucket| bucket.passes(tables)).collect();
    for _ in 0..ROUNDS {
        let mut moved = false;
        for (i, codes) in patterns.iter().enumerate() {
            let from = usize::from(home[i]);
            let rest = in_bucket(home, from, i);
            if rest == state[from].codes {
                continue;
            }
            let stay = passes[from] - tables.passes(&rest);
            let added = |to: usize| state[to].passes_with(codes, tables) - passes[to];
            let others = (0..buckets).filter(|to| *to != from).map(|to| (to, added(to)));
            let best = others.min_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((to, added)) = best
                && added < stay
            {
                state[from] = Bucket::of(&rest, tables);
                state[to].add(codes, tables);
                [from, to].into_iter().for_each(|at| passes[at] = state[at].passes(tables));
                home[i] = to as u8;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    passes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(like: impl Fn(usize) -> usize, count: usize, buckets: usize) {
        let even = Joint::new((0..64 * 64).map(|pair| (pair / 64, pair % 64, 1.0)));
        let tables = CodeModel {
            frequencies: vec![[1.0 / 64.0; 64]; 3],
            links: vec![&even; 2],
            all: vec![u64::MAX; 3],
            runs: Vec::new(),
        };
        let codes = |i: usize| {
            let mut codes = [0; TABLES];
            codes[..3].copy_from_slice(&[1 << like(i), 1 << (like(i) + 8), 1 << (i % 64)]);
            codes
        };
        let patterns: Vec<Codes> = (0..count).map(codes).collect();
        let (home, pass) = cluster(&patterns, buckets, &tables);
        for i in 0..count {
            assert!((0..i).all(|j| (home[i] == home[j]) == (like(i) == like(j))), "{home:?}");
        }
        let expected: f32 = (0..buckets)
            .map(|kind| (0..count).filter(|&i| like(i) == kind).count() as f32 / 262_144.0)
            .sum();
        assert!((pass / expected - 1.0).abs() < 0.001, "{pass} {expected}");
    }

    #[test]
    fn like_patterns_end_up_together() {
        check(|i| usize::from((i >= 8) != (i == 3 || i == 12)), 16, 2);
        check(|i| i % 3, 60, 3);
    }

    #[test]
    fn few_patterns_have_a_bucket_each() {
        check(|i| i, 3, 8);
    }
}
