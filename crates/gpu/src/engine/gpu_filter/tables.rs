//! The tables of the filter, as the kernels read them.

use super::anchor::{CHECKED, Stride};
use super::choice::WindowChoice;
use super::entries::{ENTRY_WORDS, EntryBuilder, best_split, parts, slot_words};
use super::layout::{GroupLayout, GroupShape, KINDS};
use super::marks::{WindowBits, WindowTable};
use super::runs::RunPatterns;
use super::short::PAIRS;
use super::statistics::WindowStatistics;
use crate::device::Properties;
use fyke_core::{Options, PatternSet, Refusal};

/// Words of a slot: its first entry and their number, four bytes beside the window that all of
/// them share, their mask, and two further bytes with theirs.
pub(super) const SLOT_WORDS: usize = 4;

/// Special values of a slot's number of entries, as in the kernel. With `MANY_ENTRIES` the number
/// is in an extra entry before them. With `SPLIT` the slot is split into parts.
const MANY_ENTRIES: usize = 63;
const SPLIT: u32 = 62;

/// Parts of a split slot; as in the kernel.
pub(super) const PARTS: usize = 8;

/// A slot is split if its parts leave at most this fraction of its entries to compare: looking up a
/// part costs a load. Benchmark: ET Open over `zeek`, with and without splitting.
pub(super) const WORTH_SPLITTING: (usize, usize) = (2, 3);

/// Most split slots: the index of one has 22 bits.
const MOST_SPLIT: usize = 1 << 22;

/// Most entries: the index of one has 26 bits.
const MOST_ENTRIES: usize = 1 << 26;

/// From this many items on, slots take more memory than the cache has. Then there is one slot per
/// item, and a bitmap in device memory is looked up before the slots. Not measured: a guess.
const MANY_ITEMS: usize = 1 << 18;

/// Largest logarithm of the second bitmap's bits in shared memory: 16 KiB. Benchmark:
/// `snort-2.2.0-4/zeek`, flat from 16 to 18.
const NEAR_LOG: u32 = 17;

/// Fewest bits per item of that bitmap. With as few as Snort 3 community has, it passes one in
/// three false candidates.
const NEAR_BITS: usize = 2;

/// Bits per item of the second bitmap in device memory: one in 64 passes by chance.
pub(super) const FAR_BITS: usize = 64;

/// Where the second bitmap is; the values are those of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitmapPlace {
    /// There is none: every candidate is looked up in a slot.
    Nowhere,
    /// Shared memory.
    Near,
    /// Device memory.
    Far,
}

impl BitmapPlace {
    /// The place of the bitmap in a group, given whether a bitmap in shared memory fits there.
    pub(super) fn if_near_fits(self, fits: bool) -> BitmapPlace {
        if self == BitmapPlace::Near && !fits { BitmapPlace::Nowhere } else { self }
    }
}

/// The tables of the patterns of four bytes or more.
pub(super) struct FilterTables {
    pub(super) stride: Stride,
    pub(super) table: WindowTable,
    pub(super) bitmap: Vec<u32>,
    pub(super) bitmap_log: u32,
    pub(super) bitmap_place: BitmapPlace,
    pub(super) slots: Vec<u32>,
    pub(super) slot_log: u32,
    pub(super) entries: Vec<u32>,
    pub(super) rest: Vec<u32>,
    /// Patterns that are found by the ends of runs of a byte.
    pub(super) runs: Option<RunPatterns>,
    /// For each byte, whether no window lies inside of its runs.
    pub(super) quiet: [bool; 256],
    /// Work items of a group, and its shared memory.
    pub(super) items: u32,
    pub(super) shared: u32,
    patterns: usize,
    windows: usize,
    /// Expected candidates per byte.
    candidates: f32,
}

/// Whether the host has to compare each pattern: the device compares its first [`CHECKED`] bytes.
/// Empty if it has to compare none.
pub(super) fn confirm(set: &PatternSet) -> Vec<bool> {
    if set.max_len() <= CHECKED {
        return Vec::new();
    }
    set.iter().map(|p| p.bytes.len() > CHECKED).collect()
}

impl FilterTables {
    /// Builds the tables. `None` if no pattern has four bytes.
    pub(super) fn build(
        set: &PatternSet,
        opt: &Options,
        stride: &str,
        device: &Properties,
    ) -> Result<Option<FilterTables>, Refusal> {
        let Some(shortest) = set.iter().map(|p| p.bytes.len()).filter(|&l| l >= 4).min() else {
            return Ok(None);
        };
        // A lower bound: a pattern takes an entry at each place and spelling.
        opt.check_memory(set.len() as u64 * 4 * ENTRY_WORDS as u64 * 2)?;
        let statistics = WindowStatistics::of(set, opt);
        let mut runs = RunPatterns::new(set);
        if stride.starts_with('4') {
            runs = None;
        }
        let fits = |s: &Stride| shortest >= s.least();
        let choose = |s: Stride| WindowChoice::new(set, s, &statistics, runs.as_ref(), 1);
        let mut choice = match stride {
            "2" => choose(Stride::Two),
            "auto" => WindowChoice::best(set, shortest, &statistics, runs.as_ref(), 1),
            named => {
                let stride = if named == "4" { Stride::Four } else { Stride::FourWide };
                if !fits(&stride) {
                    return Err(Refusal::TooShort { min: stride.least(), have: shortest });
                }
                choose(stride)
            }
        };
        // The kernel ignores windows inside of runs whose ends it reports. If a pattern has windows
        // only there, for example one that begins with a hundred zeros, the patterns that repeat
        // this byte are left to the filter, and the kernel reports no ends of its runs.
        while let Some(runs) = runs.as_mut() {
            if choice.inner_bytes(set).filter(|byte| runs.leave(*byte)).count() == 0 {
                break;
            }
            choice = WindowChoice::new(set, Stride::Two, &statistics, Some(runs), 1);
        }
        let log = opt.number("table", 8..=15)?.map_or(choice.wanted_log(), |log| log as u32);
        Self::lay_out(set, choice, log, runs, device).map(Some)
    }

    fn lay_out(
        set: &PatternSet,
        mut choice: WindowChoice,
        wanted_log: u32,
        runs: Option<RunPatterns>,
        device: &Properties,
    ) -> Result<FilterTables, Refusal> {
        let mut quiet = [true; 256];
        choice.inner_bytes(set).for_each(|byte| quiet[usize::from(byte)] = false);
        let mut made = EntryBuilder::default();
        for window in &choice.windows {
            made.add(&set.get(window.pattern), window.at, choice.stride);
        }
        let items = made.items.len();
        let near_log = ((items * 8).max(1).next_power_of_two().ilog2()).clamp(13, NEAR_LOG);
        let near_logs = (12..=near_log).rev().take_while(|log| items * NEAR_BITS <= 1 << log);
        let near_logs: Vec<_> = near_logs.collect();
        let layout = GroupLayout::find(device, wanted_log, &near_logs)?;
        let far_log = ((items * FAR_BITS).max(1).next_power_of_two().ilog2()).clamp(13, 27);
        let slot_log = items.max(1).next_power_of_two().ilog2();
        let slot_log = (slot_log + u32::from(items < MANY_ITEMS)).clamp(8, 26);
        let entries = items + items / MANY_ENTRIES;
        if entries > MOST_ENTRIES {
            let (need, have) = (entries as u64, MOST_ENTRIES as u64);
            return Err(Refusal::TooBig { what: "windows of patterns", need, have });
        }
        let (bitmap_place, bitmap_log) = match layout.near_log {
            Some(log) => (BitmapPlace::Near, log),
            None if items < MANY_ITEMS => (BitmapPlace::Nowhere, 13),
            None => (BitmapPlace::Far, far_log),
        };
        let table = choice.table(set, layout.table_log);
        choice.chance = table.chance();
        let mut tables = FilterTables {
            stride: choice.stride,
            table,
            bitmap: vec![0; 1 << (bitmap_log - 5)],
            bitmap_log,
            bitmap_place,
            slots: Vec::new(),
            slot_log,
            entries: Vec::new(),
            rest: std::mem::take(&mut made.rest),
            runs,
            quiet,
            items: layout.items,
            shared: layout.shared,
            patterns: set.len(),
            windows: items,
            candidates: choice.candidates(),
        };
        tables.mark_runs();
        tables.file(&mut made);
        Ok(tables)
    }

    /// Sets the bits of three equal bytes: with the same byte on both sides, if all patterns of
    /// the byte are long.
    fn mark_runs(&mut self) {
        let bytes: Vec<_> = self.runs.iter().flat_map(RunPatterns::bytes).collect();
        for (byte, long) in bytes {
            self.table.set(&WindowBits::of_run(byte, long));
        }
    }

    /// Orders the entries by slot, and fills slots and bitmap.
    fn file(&mut self, made: &mut EntryBuilder) {
        let shift = 32 - self.slot_log;
        made.items.sort_unstable_by_key(|&(hash, entry)| (hash >> shift, entry));
        made.items.dedup_by_key(|&mut (hash, entry)| (hash >> shift, entry));
        self.slots = vec![0; SLOT_WORDS << self.slot_log];
        for items in made.items.chunk_by(|a, b| a.0 >> shift == b.0 >> shift) {
            let slot = (items[0].0 >> shift) as usize * SLOT_WORDS;
            let entries: Vec<&[u32]> = items.iter().map(|&(_, entry)| made.entry(entry)).collect();
            let split = (made.items.len() < MANY_ITEMS).then(|| best_split(&entries)).flatten();
            let about = match split {
                Some(byte) => self.file_split(&entries, byte),
                None => self.file_together(&entries),
            };
            self.slots[slot..slot + SLOT_WORDS].copy_from_slice(&about);
        }
        // The hashes of all items: items of one slot were merged above, but their bits may differ.
        for &hash in &made.hashes {
            let bit = hash >> (32 - self.bitmap_log);
            self.bitmap[bit as usize >> 5] |= 1 << (bit & 31);
        }
    }

    /// Appends entries and returns their slot.
    fn file_together(&mut self, entries: &[&[u32]]) -> [u32; SLOT_WORDS] {
        let first = (self.entries.len() / ENTRY_WORDS) as u32;
        let is_many = entries.len() >= SPLIT as usize;
        if is_many {
            self.entries.push(entries.len() as u32);
            self.entries.extend([0; ENTRY_WORDS - 1]);
        }
        entries.iter().for_each(|entry| self.entries.extend_from_slice(entry));
        let number = if is_many { MANY_ENTRIES } else { entries.len() };
        slot_words(first << 6 | number as u32, entries)
    }

    /// Appends entries in parts by a byte of their text, and returns the slot that leads to the
    /// parts.
    fn file_split(&mut self, entries: &[&[u32]], byte: usize) -> [u32; SLOT_WORDS] {
        let place = (self.slots.len() / SLOT_WORDS - (1 << self.slot_log)) / PARTS;
        if place == MOST_SPLIT {
            return self.file_together(entries);
        }
        for part in 0..PARTS {
            let here = entries.iter().copied().filter(|e| parts(e, byte) >> part & 1 == 1);
            let about = self.file_together(&here.collect::<Vec<_>>());
            self.slots.extend(about);
        }
        slot_words(((place << 4 | byte) as u32) << 6 | SPLIT, entries)
    }

    /// Bytes of shared memory of the table of windows and of what describes the runs of each byte.
    pub(super) fn window_bytes(&self) -> u32 {
        KINDS as u32 + (4 << self.table.log)
    }

    /// Bytes of the second bitmap, if it is in shared memory.
    pub(super) fn near_bytes(&self) -> u32 {
        if self.bitmap_place == BitmapPlace::Near { 1 << (self.bitmap_log - 3) } else { 0 }
    }

    /// The shape of a group that looks up windows and pairs in one pass. `None` if too few of its
    /// work items fit beside both tables, or at a stride that has no such kernel.
    pub(super) fn with_pairs(&self, device: &Properties) -> Option<GroupShape> {
        let fits = GroupShape::find(device, PAIRS + self.window_bytes(), self.near_bytes())?;
        let enough = device.lanes == 1 || fits.items >= 512;
        (self.stride == Stride::Two && enough).then_some(fits)
    }

    /// What the kernel reads about the runs of each byte.
    pub(super) fn run_kinds(&self) -> [u8; KINDS] {
        self.runs.as_ref().map_or([0; KINDS], |r| r.kinds(&self.quiet))
    }

    /// Without the tables that were uploaded.
    pub(super) fn without_content(mut self) -> FilterTables {
        self.table.words = Vec::new();
        self.bitmap = Vec::new();
        self.slots = Vec::new();
        self.entries = Vec::new();
        self.rest = Vec::new();
        self
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "{} patterns, {} windows at stride {}, a table of {} bytes, {}, groups of {}; expects {:.4} \
             candidates per byte",
            self.patterns,
            self.windows,
            self.stride.positions(),
            4 << self.table.log,
            match self.bitmap_place {
                BitmapPlace::Nowhere => "no second bitmap".into(),
                place => format!(
                    "a second bitmap of {} bytes in {} memory",
                    1 << (self.bitmap_log - 3),
                    if place == BitmapPlace::Near { "shared" } else { "device" }
                ),
            },
            self.items,
            self.candidates
        )
    }
}
