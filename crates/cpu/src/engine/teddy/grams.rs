//! Codes: the bits of a byte that index a table, and their frequencies by the model.

use super::cluster::{self, Codes, Joint};
use super::shape::{FilterShape, has_nibbles};
use crate::simd::Isa;
use fyke_automata::model::PairModel;
use fyke_core::Pattern;

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
