//! Counts matches where they are verified, and writes no records.
//!
//! * A verified match adds the number of its pattern's ids to a sum of its lane; each warp adds
//!   its sum to the device's at the end.
//! * A run of one byte adds its matches by a closed form, one part where it begins and one where
//!   it ends. From the longest pattern of the byte on every further byte adds the same number of
//!   matches, so neither end has to know the other (`count_of_edges` in the kernel).
//! * Patterns of one and two bytes are counted at every position by a table of 64 KiB in shared
//!   memory, with a byte for each pair of bytes: the number of patterns that end with it. At
//!   stride 2 that happens in the same pass, because the text is in registers anyway. The rarer
//!   pair of a pattern of three bytes is marked there, and the third byte is compared only at a
//!   mark.
//!
//! Shared memory bounds it: the lookups of pairs conflict in its banks. A table of single bytes
//! with one copy per bank would have no conflicts, but rule sets have more kinds of first bytes
//! than a word of it has bits.
//!
//! A set is not counted here, but its records are counted on the host, if a pair of bytes ends
//! more than 127 patterns of one or two bytes (each id counts), if a pattern of three bytes has
//! more than 63 ids or a longer one more than 65,535, or if the tables do not fit the shared
//! memory.

use super::anchor::{Stride, spellings};
use super::kernels::{HEADER, Output, WindowKernel};
use super::layout::{KINDS, WarpMemory};
use super::marks::SPREAD;
use super::runs::RunPatterns;
use super::statistics::WindowStatistics;
use super::tables::{BitmapPlace, FilterTables};
use super::{OUTPUT, SOURCE};
use crate::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, Properties, Queue, words};
use crate::matcher::{Tile, Workspace};
use fyke_automata::PairModel;
use fyke_core::{Options, PatternSet, Refusal};
use std::collections::BTreeMap;

/// Bytes of the table of pairs.
pub(super) const PAIRS: u32 = 1 << 16;

/// The flag of a pair that is the rarer one of a pattern of three bytes, above the number; as in
/// the kernel.
const MARKED: u8 = 0x80;

/// Fewest words of the table of patterns of three bytes for each of them: with this many the first
/// lookup mostly succeeds. Benchmark: Snort 2.2.0 of all lengths over `zeek`, counted, with 2 and
/// with 8.
const THREE_PLACES: usize = 8;

/// In the word of a pattern of three bytes: another one was placed behind it; its rarer pair is
/// its first two bytes; the bit where the number of its ids begins. As in the kernel.
const THREE_MORE: u32 = 1 << 25;
const BEHIND_PAIR: u32 = 1 << 24;
const THREE_IDS: u32 = 26;

/// Most ids of a pattern of four bytes or more: an entry has 16 bits for them.
const MOST_IDS: usize = 0xffff;

/// The place of a pair of bytes in the table, the first byte lowest; as in the kernel. Both bytes
/// choose the bank: by the first alone more of a warp's 32 lookups would conflict.
fn place(pair: u32) -> usize {
    (pair ^ pair >> 6 & 0x7c) as usize
}

/// The tables for patterns of one to three bytes.
pub(super) struct PairTables {
    /// For each pair of bytes, at its [`place`].
    pub(super) pairs: Vec<u8>,
    /// The number of patterns that are each byte.
    pub(super) singles: Vec<u32>,
    /// Patterns of three bytes, see [`ThreeBytes`], each at its pair's hash or the next free
    /// place.
    pub(super) threes: Vec<u32>,
    pub(super) log: u32,
}

impl PairTables {
    /// Builds the tables. `None` if a number does not fit its place. The model decides which pair
    /// of a pattern is the rarer one.
    pub(super) fn build(set: &PatternSet, model: &PairModel) -> Option<PairTables> {
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
            let three = ThreeBytes::new(bytes, model);
            pairs[place(three.pair)] |= MARKED;
            let mut at = ((three.pair << 8).wrapping_mul(SPREAD) >> (32 - log)) as usize;
            while table[at] != 0 {
                table[at] |= THREE_MORE;
                at = (at + 1) % table.len();
            }
            table[at] = three.word(ids)?;
        }
        Some(PairTables { pairs, singles, threes: table, log })
    }
}

/// A pattern of three bytes, its rarer pair, and whether that is its first two bytes.
struct ThreeBytes {
    bytes: u32,
    pair: u32,
    is_first: bool,
}

impl ThreeBytes {
    fn new([a, b, c]: [u8; 3], model: &PairModel) -> ThreeBytes {
        let is_first = model.probability(&[a, b]) < model.probability(&[b, c]);
        let pair = u16::from_le_bytes(if is_first { [a, b] } else { [b, c] });
        ThreeBytes { bytes: u32::from_le_bytes([a, b, c, 0]), pair: pair.into(), is_first }
    }

    /// The word of the table, if the number of ids fits.
    fn word(&self, ids: usize) -> Option<u32> {
        let behind = if self.is_first { BEHIND_PAIR } else { 0 };
        (ids < 1 << (32 - THREE_IDS)).then_some((ids as u32) << THREE_IDS | behind | self.bytes)
    }
}

/// Words that describe a byte's runs: where its list is, its longest pattern, its number of
/// patterns.
const RUN_WORDS: usize = 4;

/// A description of each byte's runs, and behind them the lists: how many matches a run of 0, 1, 2
/// bytes has, up to the byte's longest pattern.
fn run_sums(runs: Option<&RunPatterns>, set: &PatternSet) -> Vec<u8> {
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

/// A kernel that counts, and its shape.
struct CountKernel {
    kernel: Kernel,
    shape: LaunchShape,
    has_pairs: bool,
    /// Whether it has windows, and then whether their second bitmap may be in shared memory.
    near: Option<bool>,
}

/// The kernels that count a set, and their tables in addition to the filter's.
pub(super) struct CountSearch {
    passes: Vec<CountKernel>,
    run_sums: Buffer,
    pairs: Option<PairBuffers>,
}

struct PairBuffers {
    pairs: Buffer,
    singles: Buffer,
    threes: Buffer,
    log: u32,
}

/// The most work items of a group that fit, its shared memory, and whether the second bitmap fits,
/// too.
fn group_layout(
    device: &Properties,
    held: WarpMemory,
    tables: u32,
    bitmap: u32,
) -> Option<(u32, u32, bool)> {
    let sizes: &[u32] = if device.lanes > 1 { &[1024, 768, 512, 256] } else { &[64] };
    let shared = |items: u32, near: bool| {
        let fixed = KINDS as u32 + tables + if near { bitmap } else { 0 };
        (items, fixed + items / device.lanes * held.warp_words(device.lanes) * 4, near)
    };
    let both = |&items: &u32| [shared(items, bitmap > 0), shared(items, false)];
    let fits = |r: &(u32, u32, bool)| r.0 <= device.max_items && r.1 <= device.shared;
    sizes.iter().flat_map(both).find(fits)
}

impl CountSearch {
    /// Prepares the kernels. `None` if the set cannot be counted.
    pub(super) fn prepare(
        set: &PatternSet,
        opt: &Options,
        filter: Option<&FilterTables>,
        device: &Device,
        queue: &Queue,
    ) -> Result<Option<CountSearch>, Refusal> {
        let is_short = set.iter().any(|p| p.bytes.len() < 4);
        let pairs = if is_short {
            PairTables::build(set, &WindowStatistics::quick(set, opt).ranking)
        } else {
            None
        };
        if pairs.is_some() != is_short || set.iter().any(|p| p.ids.len() > MOST_IDS) {
            return Ok(None);
        }
        let Some(shapes) = shapes(filter, is_short, device.properties()) else { return Ok(None) };
        let mut passes = Vec::new();
        for (name, mut shape, has_pairs, near) in shapes {
            let kernel = device.kernel(&SOURCE, name)?;
            shape.groups = kernel.resident_groups(shape);
            passes.push(CountKernel { kernel, shape, has_pairs, near });
        }
        let sums = run_sums(filter.and_then(|f| f.runs.as_ref()), set);
        let run_sums = device.upload(queue, &sums)?;
        let pairs = pairs.map(|p| PairBuffers::upload(&p, device, queue)).transpose()?;
        Ok(Some(CountSearch { passes, run_sums, pairs }))
    }

    /// Puts the kernels on the queue; their sums come to the header of the workspace's output.
    pub(super) fn launch(
        &self,
        windows: Option<&WindowKernel>,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        most: u32,
    ) -> Result<(), Fault> {
        workspace.reserve(OUTPUT, HEADER)?;
        let output = Output::new(workspace.buffer(OUTPUT), 0, most);
        let queue = workspace.queue();
        queue.zero(output.buffer(), 0..HEADER)?;
        for pass in &self.passes {
            let args = self.args(pass, windows, tile, output);
            let lanes = queue.device().properties().lanes;
            let chunks = tile.bytes().div_ceil(lanes * 64);
            let groups = pass.shape.groups.min(chunks.div_ceil(pass.shape.items / lanes)).max(1);
            let shape = LaunchShape { groups, ..pass.shape };
            // SAFETY: `args` are those that the pass's kernel declares, and `shapes` sized the
            // shared memory for its tables and warps. Reads: the text in whole chunks and 16 bytes
            // on both sides, at most 2 KiB + 16 bytes past its end, which a tile's padding covers;
            // tables at bytes, pairs and hashes of as many bits as they have. Writes: the header
            // only, which `Output` has room for.
            unsafe { queue.launch(&pass.kernel, shape, &args)? };
        }
        Ok(())
    }

    /// The arguments of a pass.
    fn args<'a>(
        &'a self,
        pass: &CountKernel,
        windows: Option<&'a WindowKernel>,
        tile: Tile<'a>,
        output: Output<'a>,
    ) -> Vec<Arg<'a>> {
        let mut args: Vec<Arg<'a>> = Vec::new();
        match (pass.near, windows) {
            (Some(near), Some(windows)) => {
                let place = match windows.tables.bitmap_place {
                    BitmapPlace::Near if !near => BitmapPlace::Nowhere,
                    place => place,
                };
                args.extend(windows.args(tile, output, place));
                args.push((&self.run_sums).into());
            }
            _ => {
                debug_assert!(pass.near.is_none(), "windows come with their tables");
                let text: [Arg<'a>; 2] = [tile.text().into(), tile.at().into()];
                let rest: [Arg<'a>; 3] =
                    [tile.bytes().into(), tile.overlap().into(), output.buffer().into()];
                args.extend(text.into_iter().chain(rest));
            }
        }
        if pass.has_pairs {
            let p = self.pairs.as_ref().expect("`prepare` uploads the pairs that a pass has");
            debug_assert_eq!(p.pairs.len(), PAIRS as usize);
            debug_assert_eq!(p.threes.len(), 4 << p.log);
            args.extend([&p.pairs, &p.singles, &p.threes].map(Arg::from));
            args.push(p.log.into());
        }
        args
    }

    /// Bytes on the device.
    pub(super) fn bytes(&self) -> usize {
        let of = |p: &PairBuffers| p.pairs.len() + p.singles.len() + p.threes.len();
        self.run_sums.len() + self.pairs.as_ref().map_or(0, of)
    }
}

/// A kernel's name, its shape, whether it takes the pairs, and [`CountKernel::near`].
type PlannedKernel = (&'static str, LaunchShape, bool, Option<bool>);

/// The kernels that count a set. `None` if one does not fit.
fn shapes(
    filter: Option<&FilterTables>,
    is_short: bool,
    device: &Properties,
) -> Option<Vec<PlannedKernel>> {
    let shape =
        |(items, shared, near): (u32, u32, bool)| (LaunchShape { groups: 1, items, shared }, near);
    let short = || {
        let (shape, _) = shape(group_layout(device, WarpMemory::COUNTS_ALL, PAIRS, 0)?);
        Some(("gpu_filter_count_short", shape, true, None))
    };
    let Some(t) = filter else { return Some(vec![short()?]) };
    let is_near = t.bitmap_place == BitmapPlace::Near;
    let (table, bitmap) = (4u32 << t.table.log, if is_near { 1 << (t.bitmap_log - 3) } else { 0 });
    if is_short && t.stride == Stride::Two {
        let fits = group_layout(device, WarpMemory::COUNTS_ALL, PAIRS + table, bitmap);
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
    let (shape, near) = shape(group_layout(device, WarpMemory::COUNTS, table, bitmap)?);
    let mut all = vec![(name, shape, false, Some(near))];
    if is_short {
        all.push(short()?);
    }
    Some(all)
}

impl PairBuffers {
    fn upload(pairs: &PairTables, device: &Device, queue: &Queue) -> Result<Self, Fault> {
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
    use super::super::layout;
    use super::*;

    #[test]
    fn a_group_that_counts_all_lengths_has_all_its_warps() {
        let device = layout::tests::h200();
        let counts = |log: u32, bitmap| {
            let (items, shared, near) =
                group_layout(&device, WarpMemory::COUNTS_ALL, PAIRS + (4 << log), bitmap).unwrap();
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
        let first = ThreeBytes::new(*b"xab", &model);
        assert!(first.is_first && first.pair == u32::from(u16::from_le_bytes(*b"xa")));
        let last = ThreeBytes::new(*b"abx", &model);
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
