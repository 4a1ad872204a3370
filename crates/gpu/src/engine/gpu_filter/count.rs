//! Counting: the same candidates, verified and added up where they are found, and nothing written for a match.
//!
//! * A match that was verified adds the number of its pattern's ids to a sum of its lane; each warp adds its sum to the
//!   device's at the end.
//! * A run of one byte adds what matches in it by a closed form, half of it where it begins and half where it ends: from
//!   the longest pattern of the byte on, each byte more has the same number of matches more, so neither end has to know the
//!   other (`count_of_edges` in the kernel).
//! * Patterns of one and two bytes are counted at every position by a table of 64 KiB in shared memory, which has a byte
//!   for each pair of bytes: how many patterns end with it. At stride 2 that is done in the same pass, since the text is in
//!   registers anyway. Of a pattern of three bytes the rarer pair is marked there, and the third byte is looked at only
//!   where a mark is found: with Snort 2.2.0 in traffic one position in 125 to 150, by simulation.
//!
//! Shared memory bounds it. With Snort 2.2.0 in traffic it comes to 1.16 to 1.19 TB/s on an H200 (`benchmarks/gpu.md`). When it came
//! to 1.13 to 1.18, a chunk of 2 KiB took 1,252 instructions of a warp, and the 64 look-ups of
//! pairs 3.1 turns in shared memory each, which was busy 78 per cent of the time. A table of single bytes that is there once for each bank would have no
//! conflicts, but there are more kinds of first bytes than a word of it has bits: 25 in Snort 2.2.0, 75 in ET Open.
//!
//! A set is not counted, but its records are found and counted on the host, if a pair of bytes has more than 127 patterns
//! of one or two bytes (each id counts), if a pattern of three bytes has more than 63 ids or a longer one more than
//! 65,535, or if the tables do not fit the shared memory.

use super::anchor::{Stride, spellings};
use super::marks::SPREAD;
use super::runs::Runs;
use super::statistics::Statistics;
use super::tables::{BitmapPlace, Held, KINDS, Tables, warp_words};
use super::{HEADER, Long, SOURCE};
use crate::device::{Arg, Buffer, Device, Fault, Kernel, Properties, Queue, Shape, words};
use crate::matcher::{Lane, Tile};
use fyke_automata::PairModel;
use fyke_core::{Options, PatternSet, Refusal};
use std::collections::BTreeMap;

/// Bytes of the table of pairs.
pub(super) const PAIRS: u32 = 1 << 16;

/// The mark of a pair that is the rarer one of a pattern of three bytes. Below it, a number; the kernel has the same.
const MARKED: u8 = 0x80;

/// Words of the table of patterns of three bytes for each of them, at least: most find their place at once. With two, a free
/// place to stop at and the text's edges looked at for each, Snort 2.2.0 took 5 per cent longer. Not swept.
const THREE_PLACES: usize = 8;

/// In the word of a pattern of three bytes: another one was put past it; its rarer pair are its first two bytes; where the number
/// of its ids begins. The kernel has the same.
const THREE_MORE: u32 = 1 << 25;
const BEHIND_PAIR: u32 = 1 << 24;
const THREE_IDS: u32 = 26;

/// Most ids of a pattern of four bytes or more: an entry has 16 bits for them.
const MOST_IDS: usize = 0xffff;

/// Where a pair of bytes, the first one lowest, is in the table; the kernel has the same. In place of the first byte both choose
/// the bank, so that the 32 look-ups of a warp take 3.1 turns in traffic, by count, and not 4.1.
fn place(pair: u32) -> usize {
    (pair ^ pair >> 6 & 0x7c) as usize
}

/// The tables for patterns of one to three bytes.
pub(super) struct Pairs {
    /// For each pair of bytes, at its [`place`].
    pub(super) pairs: Vec<u8>,
    /// For each byte, how many patterns it is.
    pub(super) singles: Vec<u32>,
    /// Patterns of three bytes, see [`Three`], each at the place of its pair's hash or the next one that was free.
    pub(super) threes: Vec<u32>,
    pub(super) log: u32,
}

impl Pairs {
    /// Nothing if some number is too large for its place. How rare a pair is, the model says.
    pub(super) fn build(set: &PatternSet, model: &PairModel) -> Option<Pairs> {
        let mut singles = vec![0u32; 256];
        let mut twos = vec![0u32; PAIRS as usize];
        let mut threes: BTreeMap<[u8; 3], usize> = BTreeMap::new();
        for p in set.iter().filter(|p| p.bytes.len() < 4) {
            let ids = p.ids.len();
            for spelled in spellings(p.bytes, p.nocase) {
                let [a, b, c, ..] = spelled.to_le_bytes();
                match p.bytes.len() {
                    1 => singles[usize::from(a)] += ids as u32,
                    2 => twos[usize::from(u16::from_le_bytes([a, b]))] += ids as u32,
                    _ => *threes.entry([a, b, c]).or_default() += ids,
                }
            }
        }
        let number = |pair: u32| twos[pair as usize] + singles[pair as usize >> 8];
        let mut pairs = vec![0; PAIRS as usize];
        for pair in 0..PAIRS {
            pairs[place(pair)] = u8::try_from(number(pair)).ok().filter(|n| *n < MARKED)?;
        }
        let log = (THREE_PLACES * threes.len()).max(16).next_power_of_two().ilog2();
        let mut table = vec![0u32; 1 << log];
        for (bytes, ids) in threes {
            let three = Three::new(bytes, model);
            pairs[place(three.pair)] |= MARKED;
            let mut at = ((three.pair << 8).wrapping_mul(SPREAD) >> (32 - log)) as usize;
            while table[at] != 0 {
                table[at] |= THREE_MORE;
                at = (at + 1) % table.len();
            }
            table[at] = three.word(ids)?;
        }
        Some(Pairs { pairs, singles, threes: table, log })
    }
}

/// A pattern of three bytes, its rarer pair, and whether those are its first two bytes.
struct Three {
    bytes: u32,
    pair: u32,
    is_first: bool,
}

impl Three {
    fn new([a, b, c]: [u8; 3], model: &PairModel) -> Three {
        let is_first = model.probability(&[a, b]) < model.probability(&[b, c]);
        let pair = u16::from_le_bytes(if is_first { [a, b] } else { [b, c] });
        Three { bytes: u32::from_le_bytes([a, b, c, 0]), pair: pair.into(), is_first }
    }

    /// The word of the table, if there is room in it for the ids.
    fn word(&self, ids: usize) -> Option<u32> {
        let behind = if self.is_first { BEHIND_PAIR } else { 0 };
        (ids < 1 << (32 - THREE_IDS)).then_some((ids as u32) << THREE_IDS | behind | self.bytes)
    }
}

/// Words of what is said of a byte's runs: where its list is, its longest pattern, how many patterns it has.
const RUN_WORDS: usize = 4;

/// For each byte where its list is and what is said of it, and behind them the lists: how many matches are in a run of 0, 1, 2
/// bytes, up to its longest pattern.
fn run_sums(runs: Option<&Runs>, set: &PatternSet) -> Vec<u8> {
    let mut abouts = vec![[0u32; RUN_WORDS]; 256];
    let mut sums = Vec::new();
    for byte in 0..=255u8 {
        let patterns = runs.map_or(&[][..], |r| r.patterns(byte));
        let Some(&(longest, _)) = patterns.last() else { continue };
        let first = (abouts.len() * RUN_WORDS / 2 + sums.len()) as u32;
        let (mut sum, mut each, mut rest) = (0u64, 0u32, patterns);
        for run in 0..=longest {
            while let Some((&(_, pattern), more)) = rest.split_first().filter(|(p, _)| p.0 == run) {
                each += set.ids(pattern).len() as u32;
                rest = more;
            }
            sum += u64::from(each);
            sums.push(sum);
        }
        abouts[usize::from(byte)] = [first, longest, each, 0];
    }
    let abouts = abouts.iter().flatten().flat_map(|n| n.to_le_bytes());
    abouts.chain(sums.iter().flat_map(|n| n.to_le_bytes())).collect()
}

/// A kernel that counts, and how it is launched.
struct Pass {
    kernel: Kernel,
    shape: Shape,
    has_pairs: bool,
    /// Whether the second bitmap is in shared memory; nothing where there is none.
    near: Option<bool>,
}

/// What counting needs beside the filter's tables.
pub(super) struct Counter {
    passes: Vec<Pass>,
    run_sums: Buffer,
    pairs: Option<PairBuffers>,
}

struct PairBuffers {
    pairs: Buffer,
    singles: Buffer,
    threes: Buffer,
    log: u32,
}

/// The work items of a group and its shared memory: as many as fit, with the second bitmap near if that fits beside them.
fn room(device: &Properties, held: Held, tables: u32, bitmap: u32) -> Option<(u32, u32, bool)> {
    let sizes: &[u32] = if device.lanes > 1 { &[1024, 768, 512, 256] } else { &[64] };
    let shared = |items: u32, near: bool| {
        let fixed = KINDS as u32 + tables + if near { bitmap } else { 0 };
        (items, fixed + items / device.lanes * warp_words(device.lanes, held) * 4, near)
    };
    let both = |&items: &u32| [shared(items, bitmap > 0), shared(items, false)];
    let fits = |r: &(u32, u32, bool)| r.0 <= device.max_items && r.1 <= device.shared;
    sizes.iter().flat_map(both).find(fits)
}

impl Counter {
    /// Nothing if the set is not counted.
    pub(super) fn prepare(
        set: &PatternSet,
        opt: &Options,
        long: Option<&Tables>,
        device: &Device,
        queue: &Queue,
    ) -> Result<Option<Counter>, Refusal> {
        let is_short = set.iter().any(|p| p.bytes.len() < 4);
        let pairs =
            if is_short { Pairs::build(set, &Statistics::quick(set, opt).ranking) } else { None };
        if pairs.is_some() != is_short || set.iter().any(|p| p.ids.len() > MOST_IDS) {
            return Ok(None);
        }
        let Some(shapes) = shapes(long, is_short, device.properties()) else { return Ok(None) };
        let mut passes = Vec::new();
        for (name, mut shape, has_pairs, near) in shapes {
            let kernel = device.kernel(&SOURCE, name)?;
            shape.groups = kernel.resident_groups(shape);
            passes.push(Pass { kernel, shape, has_pairs, near });
        }
        let sums = run_sums(long.and_then(|l| l.runs.as_ref()), set);
        let run_sums = device.upload(queue, &sums)?;
        let pairs = pairs.map(|p| PairBuffers::upload(&p, device, queue)).transpose()?;
        Ok(Some(Counter { passes, run_sums, pairs }))
    }

    /// Puts the kernels on the queue; their sums come to the lane's first buffer.
    pub(super) fn launch(
        &self,
        long: Option<&Long>,
        lane: &mut Lane,
        tile: Tile<'_>,
        most: u32,
    ) -> Result<(), Fault> {
        lane.buffer(0, HEADER)?;
        let output = lane.held(0);
        lane.queue.zero(output, 0..HEADER)?;
        for pass in &self.passes {
            let mut args: Vec<Arg<'_>> = Vec::new();
            match (pass.near, long) {
                (Some(near), Some(long)) => {
                    let place = match long.tables.bitmap_place {
                        BitmapPlace::Near if !near => BitmapPlace::Nowhere,
                        place => place,
                    };
                    args.extend(long.args(tile, output, (0, most), place));
                    args.push((&self.run_sums).into());
                }
                _ => {
                    let text: [Arg<'_>; 2] = [tile.text.into(), tile.at.into()];
                    let rest: [Arg<'_>; 3] =
                        [tile.bytes.into(), tile.overlap.into(), output.into()];
                    args.extend(text.into_iter().chain(rest));
                }
            }
            if let Some(p) = self.pairs.as_ref().filter(|_| pass.has_pairs) {
                let tables = [&p.pairs, &p.singles, &p.threes];
                args.extend(tables.map(Arg::from));
                args.push(p.log.into());
            }
            let lanes = lane.queue.device().properties().lanes;
            let chunks = tile.bytes.div_ceil(lanes * 64);
            let groups = pass.shape.groups.min(chunks.div_ceil(pass.shape.items / lanes)).max(1);
            let shape = Shape { groups, ..pass.shape };
            // SAFETY: these are the kernel's arguments; it writes the header only, and reads the text as far as whole
            // chunks go and 16 bytes more on both sides, which is within its padding.
            unsafe { lane.queue.launch(&pass.kernel, shape, &args)? };
        }
        Ok(())
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> usize {
        let of = |p: &PairBuffers| p.pairs.len() + p.singles.len() + p.threes.len();
        self.run_sums.len() + self.pairs.as_ref().map_or(0, of)
    }
}

/// Kernels with their shapes, whether they take the pairs, and where the second bitmap is if they have one.
type Planned = (&'static str, Shape, bool, Option<bool>);

/// The kernels that count a set. Nothing if one does not fit.
fn shapes(long: Option<&Tables>, is_short: bool, device: &Properties) -> Option<Vec<Planned>> {
    let shape =
        |(items, shared, near): (u32, u32, bool)| (Shape { groups: 1, items, shared }, near);
    let short = || {
        let (shape, _) = shape(room(device, Held::COUNTS_ALL, PAIRS, 0)?);
        Some(("gpu_filter_count_short", shape, true, None))
    };
    let Some(t) = long else { return Some(vec![short()?]) };
    let is_near = t.bitmap_place == BitmapPlace::Near;
    let (table, bitmap) = (4u32 << t.table.log, if is_near { 1 << (t.bitmap_log - 3) } else { 0 });
    if is_short && t.stride == Stride::Two {
        let fits = room(device, Held::COUNTS_ALL, PAIRS + table, bitmap);
        let fits = fits.filter(|r| device.lanes == 1 || r.0 >= 512);
        if let Some(fits) = fits {
            let (shape, near) = shape(fits);
            return Some(vec![("gpu_filter_count_all", shape, true, Some(near))]);
        }
    }
    let name = match t.stride {
        Stride::Two => "gpu_filter_count_2",
        Stride::Four => "gpu_filter_count_4",
        Stride::FourWide => "gpu_filter_count_4_wide",
    };
    let (shape, near) = shape(room(device, Held::COUNTS, table, bitmap)?);
    let mut all = vec![(name, shape, false, Some(near))];
    if is_short {
        all.push(short()?);
    }
    Some(all)
}

impl PairBuffers {
    fn upload(pairs: &Pairs, device: &Device, queue: &Queue) -> Result<Self, Fault> {
        Ok(Self {
            pairs: device.upload(queue, &pairs.pairs)?,
            singles: device.upload(queue, &words(&pairs.singles))?,
            threes: device.upload(queue, &words(&pairs.threes))?,
            log: pairs.log,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tables;
    use super::*;

    #[test]
    fn a_group_that_counts_all_lengths_has_all_its_warps() {
        let device = tables::tests::h200();
        let counts = |log: u32, bitmap| {
            let (items, shared, near) =
                room(&device, Held::COUNTS_ALL, PAIRS + (4 << log), bitmap).unwrap();
            assert!(shared <= device.shared);
            (items, near)
        };
        assert_eq!(counts(14, 1 << 13), (1024, false), "Snort 2.2.0: no room for its bitmap");
        assert_eq!(counts(13, 1 << 13), (1024, true));
        assert!(counts(15, 0).0 < 1024);
    }

    #[test]
    fn a_pattern_of_three_is_known_by_its_rarer_pair() {
        let model = PairModel::sampled(&b"abab".repeat(1 << 12));
        let first = Three::new(*b"xab", &model);
        assert!(first.is_first && first.pair == u32::from(u16::from_le_bytes(*b"xa")));
        let last = Three::new(*b"abx", &model);
        assert!(!last.is_first && last.pair == u32::from(u16::from_le_bytes(*b"bx")));
        assert_eq!(last.word(63), Some(63 << THREE_IDS | u32::from_le_bytes(*b"abx\0")));
        assert_eq!(last.word(64), None);
    }

    #[test]
    fn every_pair_of_bytes_has_a_place_of_its_own() {
        let mut is_taken = vec![false; PAIRS as usize];
        for pair in 0..PAIRS {
            assert!(!std::mem::replace(&mut is_taken[place(pair)], true), "{pair:04x}");
        }
        let banks = |first: u32| -> std::collections::BTreeSet<_> {
            (0..32).map(|second| place(first | second << 8) / 4 % 32).collect()
        };
        assert_eq!(banks(u32::from(b'e')).len(), 32, "pairs of one first byte are in all banks");
    }
}
