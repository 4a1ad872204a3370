//! Codes: the bits of a byte that index a table, and their frequencies by the model.

use super::cluster::{self, Codes, Joint};
use super::shape::{FilterShape, has_nibbles};
use crate::simd::Isa;
use fyke_automata::model::PairModel;
use fyke_core::Pattern;
use std::ops::RangeInclusive;

/// Bytes that come in runs, and the share of positions to add for a run. These are a quarter of the
/// measured shares: four zeros begin at 10 % of the positions of programs, four spaces at 2 % of
/// those of documents and traffic. Dividing by `FORESEEN` doubles them.
pub(super) const RUNS: [(u8, f32); 2] = [(0, 0.025), (b' ', 0.005)];

/// The six bits of a byte that index a 64-entry table.
pub(super) fn code(byte: u8) -> usize {
    usize::from(byte & 63)
}

/// The bytes that a pattern accepts at an offset: two for a letter that ignores case, else one.
pub(super) fn allowed(pattern: &Pattern<'_>, at: usize) -> [u8; 2] {
    let byte = pattern.bytes[at];
    [byte, if pattern.nocase { byte.to_ascii_uppercase() } else { byte }]
}

/// The same bytes, each once.
pub(super) fn variants(pattern: &Pattern<'_>, at: usize) -> impl Iterator<Item = u8> {
    let [byte, other] = allowed(pattern, at);
    std::iter::once(byte).chain((other != byte).then_some(other))
}

/// What indexes a table: some bits of the byte at an offset.
pub(super) type Part = (usize, Bits);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bits {
    /// The low six bits: AVX-512, NEON and scalar.
    Six,
    /// The low or the high nibble: AVX2 and simd128.
    Low,
    High,
}

impl Bits {
    fn code(self, byte: u8) -> usize {
        match self {
            Bits::Six => code(byte),
            Bits::Low => usize::from(byte % 16),
            Bits::High => usize::from(byte / 16),
        }
    }

    fn all(self) -> u64 {
        if self == Bits::Six { u64::MAX } else { 0xffff }
    }
}

/// What indexes each table of a shape, in order.
pub(super) fn parts(shape: FilterShape, isa: Isa) -> Vec<Part> {
    if !has_nibbles(isa) {
        return (0..shape.offsets).map(|at| (at, Bits::Six)).collect();
    }
    let of = |at: usize| [(at < shape.highs).then_some((at, Bits::High)), Some((at, Bits::Low))];
    (0..shape.offsets).flat_map(of).flatten().collect()
}

/// The codes that a pattern accepts in each table. Beyond its end it accepts all codes.
pub(super) fn codes(pattern: &Pattern<'_>, window: usize, parts: &[Part]) -> Codes {
    let mut codes = [0; cluster::TABLES];
    for (codes, &(at, bits)) in codes.iter_mut().zip(parts) {
        *codes = if window + at < pattern.bytes.len() {
            let allowed = allowed(pattern, window + at);
            allowed.iter().fold(0, |set, &byte| set | 1 << bits.code(byte))
        } else {
            bits.all()
        };
    }
    codes
}

/// The codes of a run of `byte`.
fn run(byte: u8, parts: &[Part]) -> Codes {
    let mut codes = [0; cluster::TABLES];
    codes.iter_mut().zip(parts).for_each(|(codes, (_, bits))| *codes = 1 << bits.code(byte));
    codes
}

/// The number of letters of a small alphabet. `dna/10` has 4, and runs of one or two bytes have
/// fewer than 3. The maximum is a guess.
const FEW_LETTERS: RangeInclusive<usize> = 3..=8;

/// The minimum number of bytes of patterns for each letter. Not measured: a guess.
const BYTES_PER_LETTER: usize = 16;

/// The letters of patterns, if they are few, as in genomes.
///
/// The pair model mixes data in general with the patterns at each byte, so it underestimates
/// windows of few letters (`dna/10`). This estimate is for a haystack of the same letters, equally
/// frequent. Filters of pair tables do not use it.
pub(super) struct SmallAlphabet {
    letters: Vec<u8>,
}

impl SmallAlphabet {
    pub(super) fn new(patterns: &[Pattern<'_>]) -> Option<SmallAlphabet> {
        let mut letters = Vec::new();
        let mut bytes = 0;
        for pattern in patterns {
            bytes += pattern.bytes.len();
            for letter in (0..pattern.bytes.len()).flat_map(|at| allowed(pattern, at)) {
                if !letters.contains(&letter) {
                    letters.push(letter);
                }
            }
            if letters.len() > *FEW_LETTERS.end() {
                return None;
            }
        }
        let is_small =
            FEW_LETTERS.contains(&letters.len()) && bytes >= BYTES_PER_LETTER * letters.len();
        is_small.then_some(SmallAlphabet { letters })
    }

    /// The expected share of positions that pass. `buckets` are the accepted codes of each.
    pub(super) fn pass(&self, buckets: &[Codes], parts: &[Part]) -> f32 {
        let offsets = parts.iter().map(|&(at, _)| at + 1).max().unwrap_or(0);
        let of = |codes| (0..offsets).map(|at| self.share(at, codes, parts)).product::<f32>();
        buckets.iter().map(of).sum()
    }

    /// The share of letters that a bucket accepts at an offset.
    fn share(&self, offset: usize, codes: &Codes, parts: &[Part]) -> f32 {
        let accepts = |letter: u8| {
            let mut tables = codes.iter().zip(parts).filter(|(_, (at, _))| *at == offset);
            tables.all(|(codes, (_, bits))| codes >> bits.code(letter) & 1 == 1)
        };
        let accepted = self.letters.iter().filter(|&&letter| accepts(letter)).count();
        accepted as f32 / self.letters.len() as f32
    }
}

/// For each code of a byte, how often each byte follows it.
fn behind(model: &PairModel, bytes: &[f32; 256], bits: Bits) -> Vec<[f32; 256]> {
    let shares: [f32; 256] = std::array::from_fn(|parts| (parts as f32 / -8.0).exp2());
    let mut behind = vec![[0.0; 256]; bits.all().count_ones() as usize];
    for byte in 0..=255 {
        let sums = behind[bits.code(byte)].iter_mut();
        for (sum, parts) in sums.zip(model.parts_after(byte)) {
            *sum += bytes[usize::from(byte)] * shares[usize::from(parts)];
        }
    }
    behind
}

/// The frequency of codes and of pairs of codes, by the model.
pub(super) struct Grams {
    /// The frequency of each byte.
    bytes: [f32; 256],
    /// For two kinds of bits, the frequency of pairs of codes: of the same byte (`true`) or of
    /// consecutive bytes.
    links: Vec<(Bits, Bits, bool, Joint)>,
    /// Runs of a byte, which the pair model underestimates.
    runs: &'static [(u8, f32)],
}

impl Grams {
    /// `general`: whether the model describes typical data and not a sample.
    pub(super) fn new(model: &PairModel, isa: Isa, general: bool) -> Grams {
        let bytes: [f32; 256] = std::array::from_fn(|b| model.probability(&[b as u8]));
        let within = |a: Bits, b: Bits| {
            let pair = |byte: u8| (a.code(byte), b.code(byte), bytes[usize::from(byte)]);
            (a, b, true, Joint::new((0..=255).map(pair)))
        };
        let (six, high, low) = (Bits::Six, Bits::High, Bits::Low);
        let first = if has_nibbles(isa) { low } else { six };
        let behind = behind(model, &bytes, first);
        let next = |b: Bits| {
            let row = |(a, row): (usize, &[f32; 256])| row.map(|share| (a, share));
            let byte = |(byte, (a, share)): (usize, (usize, f32))| (a, b.code(byte as u8), share);
            let pairs = behind.iter().enumerate().flat_map(|r| row(r).into_iter().enumerate());
            (first, b, false, Joint::new(pairs.map(byte)))
        };
        let links = if has_nibbles(isa) {
            vec![within(high, low), next(high), next(low)]
        } else {
            vec![next(six)]
        };
        Grams { bytes, links, runs: if general { &RUNS } else { &[] } }
    }

    pub(super) fn tables(&self, parts: &[Part]) -> cluster::CodeModel<'_> {
        let frequencies = |&(_, bits): &Part| {
            let mut of = [0.0; 64];
            (0..=255u8).for_each(|b| of[bits.code(b)] += self.bytes[usize::from(b)]);
            let all: f32 = of.iter().sum();
            of.map(|share| share / all)
        };
        let link = |pair: &[Part]| {
            let wanted = (pair[0].1, pair[1].1, pair[0].0 == pair[1].0);
            let link = self.links.iter().find(|l| (l.0, l.1, l.2) == wanted);
            &link.expect("`new` makes the links of all shapes").3
        };
        cluster::CodeModel {
            frequencies: parts.iter().map(frequencies).collect(),
            links: parts.windows(2).map(link).collect(),
            all: parts.iter().map(|part| part.1.all()).collect(),
            runs: self.runs.iter().map(|&(byte, share)| (run(byte, parts), share)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cluster::unions;
    use super::super::shape::shape;
    use super::*;
    use fyke_core::PatternSet;

    fn alphabet(patterns: &[&str]) -> Option<SmallAlphabet> {
        let set = PatternSet::new(patterns).unwrap();
        SmallAlphabet::new(&set.iter().collect::<Vec<_>>())
    }

    #[test]
    fn an_alphabet_needs_few_letters_and_much_evidence() {
        let genes = ["ACGTTGCAACGTTGCAACGTTGCAACGTTGCA", "GATTACAGATTACAGATTACAGATTACAGATTACA"];
        assert_eq!(alphabet(&genes).unwrap().letters.len(), 4);
        assert!(alphabet(&["ACGTTGCA"]).is_none());
        assert!(alphabet(&["--------------------------------", "================"]).is_none());
        assert!(alphabet(&["the quick brown fox jumps over the lazy dog"; 9]).is_none());
    }

    #[test]
    fn letters_pass_as_often_as_their_windows_occur() {
        let letters = SmallAlphabet { letters: b"ACGT".to_vec() };
        let set = PatternSet::new(["ACG", "ACT", "GGG"]).unwrap();
        for isa in [Isa::Avx512, Isa::Avx2] {
            let parts = parts(shape(3, 3), isa);
            let codes: Vec<Codes> = set.iter().map(|p| codes(&p, 0, &parts)).collect();
            let pass = |home: &[u8]| letters.pass(&unions(&codes, home, 8), &parts);
            // One bucket for AC and G or T, one for GGG; then one for all, whose bytes mix.
            assert_eq!(pass(&[0, 0, 1]), 2.0 / 64.0 + 1.0 / 64.0, "{isa:?}");
            assert_eq!(pass(&[0, 0, 0]), 2.0 * 2.0 * 2.0 / 64.0, "{isa:?}");
        }
    }
}
