//! Counts matches where they are verified, and writes no records.
//!
//! * A verified match adds the number of its pattern's ids to a sum of its lane; each warp adds
//!   its sum to the device's at the end.
//! * A run of one byte adds its matches by a closed form, one part where it begins and one where it
//!   ends. Beyond the length of the byte's longest pattern, every further byte of a run adds the
//!   same number of matches, so neither end has to know the other (`count_of_edges` in the kernel).
//! * Patterns of one and two bytes are counted at every position by a table of 64 KiB in shared
//!   memory. It has a byte for each pair of bytes: the number of matches that end with it. At
//!   stride 2 that happens in the same pass if both tables fit, because the text is in registers
//!   anyway. The rarer pair of a pattern of three bytes is marked there, and the third byte is
//!   compared only at a mark.
//!
//! Shared memory bounds it: the lookups of pairs conflict in its banks. A table of single bytes
//! with one copy per bank would have no conflicts. But its words would need a bit for each kind of
//! first byte, and rule sets have more kinds than a word has bits.
//!
//! Two kinds of numbers do not fit and go through a mark: that of a pair that ends more than 127
//! matches, and that of a pattern of three bytes with more than 63 ids. They are after the table
//! of marks.
//!
//! A set is not counted here if a longer pattern has more than 524,287 ids, if the host has to
//! compare patterns, or if the tables do not fit the shared memory ([`CountSearch::prepare`] says
//! which). Then its records are counted on the host.

use super::anchor::{CHECKED, Stride, spellings};
use super::entries::CHECKED_BITS;
use super::kernels::{HEADER, Output, WindowKernel, shape_for};
use super::layout::GroupShape;
use super::marks::SPREAD;
use super::runs::RunPatterns;
use super::short::{MARKED, PAIRS, ThreeBytes, place};
use super::statistics::WindowStatistics;
use super::tables::FilterTables;
use super::{OUTPUT, SOURCE};
use crate::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, Properties, Queue, words};
use crate::matcher::{Tile, Workspace};
use fyke_automata::PairModel;
use fyke_core::{Options, PatternSet, Refusal};
use std::collections::BTreeMap;

/// Fewest words of the table of patterns of three bytes for each of them: with this many the first
/// lookup mostly succeeds. Benchmark: Snort 2.2.0 of all lengths over `zeek`, counted, with 2 and
/// with 8.
const THREE_PLACES: usize = 8;

/// Flag in the word of a pattern of three bytes: the next place may have another one. And the bit
/// where the number of ids begins. As in the kernel.
const THREE_MORE: u32 = 1 << 25;
const THREE_IDS: u32 = 26;

/// Flag in a number after the table: it is the number of a pair. As in the kernel.
const ALL_OF_PAIR: u32 = 1 << 31;

/// The maximum number of ids of a pattern of four bytes or more: an entry has as many bits for
/// them.
const MOST_IDS: usize = (1 << (32 - CHECKED_BITS)) - 1;

/// The tables for patterns of one to three bytes.
pub(super) struct PairTables {
    /// For each pair of bytes, at its [`place`].
    pub(super) pairs: Vec<u8>,
    /// The number of ids of the pattern that is each byte.
    pub(super) singles: Vec<u32>,
    /// A hash table of patterns of three bytes, and of pairs with many matches, each at its pair's
    /// hash or the next free place. The numbers of all of them follow in as many words; the kernel
    /// reads one if it does not fit beside the bytes.
    pub(super) threes: Vec<u32>,
    pub(super) log: u32,
}

/// What is counted where a pair is marked.
struct Marked {
    pair: u32,
    /// What the kernel compares.
    key: u32,
    /// The number of ids, with [`ALL_OF_PAIR`] if they are those of a pair.
    ids: u32,
}

impl PairTables {
    /// Builds the tables. `None` if no pattern is that short. The model decides which pair of a
    /// pattern is the rarer one.
    pub(super) fn build(set: &PatternSet, model: &PairModel) -> Option<PairTables> {
        let mut singles = vec![0u32; 256];
        let mut twos = vec![0u32; PAIRS as usize];
        let mut threes: BTreeMap<[u8; 3], usize> = BTreeMap::new();
        let mut is_short = false;
        for p in set.iter().filter(|p| p.bytes.len() < 4) {
            is_short = true;
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
        if !is_short {
            return None;
        }
        let three = |(bytes, ids): (_, usize)| {
            let three = ThreeBytes::new(bytes, model);
            Marked { pair: three.pair, key: three.key(), ids: ids as u32 }
        };
        let mut marked: Vec<Marked> = threes.into_iter().map(three).collect();
        let mut pairs = vec![0; PAIRS as usize];
        for pair in 0..PAIRS {
            let ids = twos[pair as usize] + singles[pair as usize >> 8];
            match u8::try_from(ids) {
                Ok(number) if number < MARKED => pairs[place(pair)] = number,
                _ => marked.push(Marked { pair, key: pair, ids: ids | ALL_OF_PAIR }),
            }
        }
        marked.iter().for_each(|m| pairs[place(m.pair)] |= MARKED);
        let (threes, log) = table_of_marked(&marked);
        Some(PairTables { pairs, singles, threes, log })
    }
}

/// The hash table of what is counted at marks, with its numbers after it, and the logarithm of its
/// words.
fn table_of_marked(marked: &[Marked]) -> (Vec<u32>, u32) {
    let log = (THREE_PLACES * marked.len()).max(16).next_power_of_two().ilog2();
    let mut is_taken = vec![false; 1 << log];
    let mut table = vec![0u32; 2 << log];
    for m in marked {
        let mut at = ((m.pair << 8).wrapping_mul(SPREAD) >> (32 - log)) as usize;
        while is_taken[at] {
            table[at] |= THREE_MORE;
            at = (at + 1) % is_taken.len();
        }
        is_taken[at] = true;
        let few = if m.ids >> (32 - THREE_IDS) == 0 { m.ids } else { 0 };
        table[at] = few << THREE_IDS | m.key;
        table[at + (1 << log)] = m.ids;
    }
    (table, log)
}

/// Words that describe a byte's runs: where its list is, its longest pattern, the number of ids of
/// its patterns, and one unused.
const RUN_WORDS: usize = 4;

/// A description of each byte's runs, and after them the lists: how many matches a run of 0, 1, 2
/// and more bytes has, up to the byte's longest pattern.
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
    /// Whether the windows' second bitmap may be in shared memory; `None` if the kernel has no
    /// windows.
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

impl CountSearch {
    /// Prepares the kernels; or says why the set is not counted.
    pub(super) fn prepare(
        set: &PatternSet,
        opt: &Options,
        filter: Option<&FilterTables>,
        device: &Device,
        queue: &Queue,
    ) -> Result<Result<CountSearch, String>, Refusal> {
        if let Some(why) = uncounted(set) {
            return Ok(Err(why));
        }
        let pairs = PairTables::build(set, &WindowStatistics::quick(set, opt).ranking);
        let Some(shapes) = shapes(filter, pairs.is_some(), device.properties()) else {
            let have = device.properties().shared;
            return Ok(Err(format!("the tables exceed the {have} bytes of shared memory")));
        };
        let mut passes = Vec::new();
        for (name, mut shape, has_pairs, near) in shapes {
            let kernel = device.kernel(&SOURCE, name)?;
            shape.groups = kernel.resident_groups(shape);
            passes.push(CountKernel { kernel, shape, has_pairs, near });
        }
        let sums = run_sums(filter.and_then(|f| f.runs.as_ref()), set);
        let run_sums = device.upload(queue, &sums)?;
        let pairs = pairs.map(|p| PairBuffers::upload(&p, device, queue)).transpose()?;
        Ok(Ok(CountSearch { passes, run_sums, pairs }))
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
            let shape = shape_for(tile, pass.shape, queue.device());
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
                let place = windows.tables.bitmap_place.if_near_fits(near);
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
            debug_assert_eq!(p.threes.len(), 4 * (2 << p.log));
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

/// Why the patterns themselves keep a set from being counted.
fn uncounted(set: &PatternSet) -> Option<String> {
    let long = set.iter().filter(|p| p.bytes.len() > CHECKED).count();
    if long > 0 {
        return Some(format!(
            "the host compares the patterns of more than {CHECKED} bytes, of which it has {long}"
        ));
    }
    let most = set.iter().filter(|p| p.bytes.len() >= 4).map(|p| p.ids.len()).max()?;
    (most > MOST_IDS).then(|| format!("a pattern has {most} ids, of which {MOST_IDS} are counted"))
}

/// A kernel's name, its shape, whether it takes the pairs, and [`CountKernel::near`].
type PlannedKernel = (&'static str, LaunchShape, bool, Option<bool>);

/// The kernels that count a set: one pass, or two if the tables of windows and of pairs do not fit
/// together. `None` if one does not fit alone.
fn shapes(
    filter: Option<&FilterTables>,
    is_short: bool,
    device: &Properties,
) -> Option<Vec<PlannedKernel>> {
    let shape = |fits: GroupShape| {
        (LaunchShape { groups: 1, items: fits.items, shared: fits.shared }, fits.near)
    };
    let short = || {
        let (shape, _) = shape(GroupShape::find(device, PAIRS, 0)?);
        Some(("gpu_filter_count_short", shape, true, None))
    };
    let Some(t) = filter else { return Some(vec![short()?]) };
    if let Some(fits) = t.with_pairs(device).filter(|_| is_short) {
        let (shape, near) = shape(fits);
        return Some(vec![("gpu_filter_count_all", shape, true, Some(near))]);
    }
    let name = match t.stride {
        Stride::Two => "gpu_filter_count_2",
        Stride::Four => "gpu_filter_count_4",
        Stride::FourWide => "gpu_filter_count_4_wide",
    };
    let (shape, near) = shape(GroupShape::find(device, t.window_bytes(), t.near_bytes())?);
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
    use super::*;

    #[test]
    fn numbers_that_do_not_fit_a_word_are_behind_the_table() {
        let ids = [1, 63, 64, 5 | ALL_OF_PAIR];
        let marked: Vec<_> =
            ids.iter().map(|&ids| Marked { pair: 7, key: ids & 0xff, ids }).collect();
        let (table, log) = table_of_marked(&marked);
        let size = 1 << log;
        let mut at = ((7u32 << 8).wrapping_mul(SPREAD) >> (32 - log)) as usize;
        for (i, m) in marked.iter().enumerate() {
            let few = table[at] >> THREE_IDS;
            assert_eq!(few, if m.ids < 64 { m.ids } else { 0 });
            assert_eq!(table[at + size], m.ids);
            assert_eq!(table[at] & THREE_MORE != 0, i + 1 < marked.len());
            at = (at + 1) % size;
        }
    }

    #[test]
    fn what_keeps_a_set_from_being_counted_is_said() {
        let of = |bytes: usize| uncounted(&PatternSet::new([vec![b'a'; bytes]]).unwrap());
        assert_eq!(of(CHECKED), None);
        assert!(of(CHECKED + 1).unwrap().contains("more than 4096 bytes"));
    }
}
