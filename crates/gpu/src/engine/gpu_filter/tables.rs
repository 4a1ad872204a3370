//! The filter's tables, as the kernel reads them.

use super::anchor::{CHECKED, Stride, places, spellings};
use super::marks::{Mark, SPREAD, SPREAD_3, Table, first_hash};
use super::runs::{Runs, inner_bytes};
use super::statistics::Statistics;
use crate::device::Properties;
use fyke_core::{Options, Pattern, PatternSet, Refusal};
use std::collections::HashMap;

/// Multipliers of the second hash; the kernel has the same.
const MIX_NIBBLES: u32 = 0x85EB_CA6B;
const MIX: u32 = 0x2C1B_3C6D;

/// Bytes of an entry's window before and from its place on; the kernel has the same.
const BEFORE: usize = 6;
const WINDOW: usize = 16;

/// Words of an entry: bytes, mask, and what there is to know.
const ENTRY_WORDS: usize = 12;

/// Words of a slot: its first entry and how many there are, four bytes that all of them have beside the window, their mask,
/// and two further bytes with theirs.
const SLOT_WORDS: usize = 4;

/// Bytes of an entry's window that a slot tells of: those before the pattern's window and behind its first three bytes.
const BESIDE: [usize; 4] = [BEFORE - 2, BEFORE - 1, BEFORE + 3, BEFORE + 4];
const FURTHER: [usize; 2] = [BEFORE - 3, BEFORE + 5];

/// In place of the number of a slot's entries: it stands in an entry before them, or the slot is split. The kernel has the same.
const MANY_ENTRIES: usize = 63;
const SPLIT: u32 = 62;

/// Parts of a slot that is split by a byte of the text; the kernel has the same.
const PARTS: usize = 8;

/// Share of a slot's entries that its parts may leave to compare, for it to be split: to look a part up costs a load. Not swept;
/// so set, rules of ET Open take 4.5 per cent less time.
const WORTH_SPLITTING: (usize, usize) = (2, 3);

/// Most slots that are split: where the parts of one are has 22 bits.
const MOST_SPLIT: usize = 1 << 22;

/// Most entries: the number of one has 26 bits.
const MOST_ENTRIES: usize = 1 << 26;

/// From so many items on there is no more than a slot for each, and before it a bitmap in device memory: slots then take
/// more memory than the cache has. Not swept.
const MANY_ITEMS: usize = 1 << 18;

/// Bytes of shared memory that say what is known of each byte's runs; the kernel has the same.
pub(super) const KINDS: usize = 256;

/// Windows for each word of the table: less than one position in a hundred passes by chance.
const WINDOWS_PER_WORD: f32 = 0.25;

/// Logarithm of the words of the largest table that leaves room for all warps of a group. For few windows a larger one
/// costs more warps than it saves candidates: 2,400 patterns at stride 4 take 5 per cent longer with twice the words, the
/// rules of ET Open 18 per cent.
const FULL_LOG: u32 = 14;

/// From so many windows on the largest table is taken. 100,000 patterns of 8 to 20 random bytes are beyond both, ET Open is
/// not; where between them was not swept.
const MANY_WINDOWS_2: usize = 100_000;
const MANY_WINDOWS_4: usize = 12_000;

/// Logarithms of the table's words.
const TABLE_LOGS: std::ops::RangeInclusive<u32> = 11..=15;

/// The most of the logarithm of the second bitmap's bits where it lies in shared memory: 32 KiB. Not swept.
const NEAR_LOG: u32 = 18;

/// Fewest bits of it for each item: Snort 3's community rules have 2.6, and one in three candidates passes that should not.
const NEAR_BITS: usize = 2;

/// Shared memory of a group that a second bitmap has to leave: where 31 KiB of the 227 of an H200 are not used, the cache
/// that they are cut from has 60 KiB in place of 28. Rules then take 1.5 per cent less time with the smallest bitmap than
/// with one of 32 KiB, and ET Open's 4.5 per cent less with none.
const FOR_THE_CACHE: u32 = 31 << 10;

/// Bits of the second bitmap for each item in it, if it lies in device memory: one in 64 passes by chance.
const FAR_BITS: usize = 64;

/// Picoseconds a byte that the look-ups take, and picoseconds for each candidate, on an H200: what decides between strides.
/// The look-ups are `resident/32` and the instructions of one chunk; candidates took 13 to 15 in the rule sets of
/// `benchmarks/matrix/gpu.toml`, 9 where few of them are compared.
const COST_4: f32 = 0.22;
const COST_4_WIDE: f32 = 0.26;
const COST_2: f32 = 0.31;
const COST_CANDIDATE: f32 = 14.0;

/// Where the second bitmap lies; the kernel has the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BitmapPlace {
    /// There is none: a slot is looked up for every candidate.
    Nowhere,
    /// Shared memory.
    Near,
    /// Device memory.
    Far,
}

/// See the module.
pub(super) struct Tables {
    pub(super) stride: Stride,
    pub(super) table: Table,
    pub(super) bitmap: Vec<u32>,
    pub(super) bitmap_log: u32,
    pub(super) bitmap_place: BitmapPlace,
    pub(super) slots: Vec<u32>,
    pub(super) slot_log: u32,
    pub(super) entries: Vec<u32>,
    pub(super) rest: Vec<u32>,
    /// Patterns that are found by the ends of runs.
    pub(super) runs: Option<Runs>,
    /// For each byte, whether no window lies inside of its runs.
    pub(super) quiet: [bool; 256],
    /// Work items of a group, warps of it, and its shared memory.
    pub(super) items: u32,
    pub(super) warps: u32,
    pub(super) shared: u32,
    /// Bytes of a warp's chunk.
    pub(super) chunk: u32,
    patterns: usize,
    windows: usize,
    /// Candidates that are expected for each byte.
    candidates: f32,
}

/// For each pattern, whether the host has to compare it: the device compares its first bytes. Nothing if none.
pub(super) fn confirm(set: &PatternSet) -> Vec<bool> {
    if set.max_len() <= CHECKED {
        return Vec::new();
    }
    set.iter().map(|p| p.bytes.len() > CHECKED).collect()
}

/// A window of a pattern that was chosen.
struct Window {
    pattern: u32,
    at: usize,
}

/// Windows of a set at one stride, and what they cost.
struct Choice {
    stride: Stride,
    windows: Vec<Window>,
    /// The sum of their probabilities.
    passing: f32,
    /// How likely a position passes for what they mark by chance.
    chance: f32,
    /// Each stands for so many: a forecast looks at some patterns of a large set.
    times: usize,
}

impl Choice {
    /// Of one pattern in `times`.
    fn new(
        set: &PatternSet,
        stride: Stride,
        statistics: &Statistics,
        runs: Option<&Runs>,
        times: usize,
    ) -> Choice {
        let is_wanted =
            |p: &Pattern<'_>| p.bytes.len() >= 4 && !runs.is_some_and(|r| r.has(p.bytes));
        let mut patterns: Vec<_> = set.iter().step_by(times).filter(is_wanted).collect();
        // A long pattern has more windows to choose from, so that it can do with what short ones have marked.
        patterns.sort_by_key(|p| p.bytes.len());
        let windows = patterns.len() * times * stride.positions();
        let mut table = Table::part_of(stride, wanted_log(stride, windows), times);
        let mut used: HashMap<Vec<u8>, u32> = HashMap::new();
        let mut choice = Choice { stride, windows: Vec::new(), passing: 0.0, chance: 0.0, times };
        for pattern in patterns {
            let crowd = |w: &[u8]| used.get(w).copied().unwrap_or(0);
            let found = places(&pattern, stride, statistics, crowd, &table);
            for (at, probability) in found {
                let window = &pattern.bytes[at..at + stride.window()];
                *used.entry(window.to_vec()).or_default() += 1;
                Mark::of(&pattern, at, stride).for_each(|m| table.set(&m));
                choice.windows.push(Window { pattern: pattern.index, at });
                choice.passing += probability * times as f32;
            }
        }
        choice.chance = table.chance();
        choice
    }

    /// The cheapest for a set whose shortest pattern of four bytes and more has so many.
    fn best(
        set: &PatternSet,
        shortest: usize,
        statistics: &Statistics,
        runs: Option<&Runs>,
        times: usize,
    ) -> Choice {
        let all: &[Stride] = match runs {
            Some(_) => &[Stride::Two],
            None => &[Stride::Two, Stride::Four, Stride::FourWide],
        };
        let all = all.iter().filter(|s| shortest >= s.least());
        let all = all.map(|s| Choice::new(set, *s, statistics, runs, times));
        let best = all.min_by(|a, b| a.cost().total_cmp(&b.cost()));
        best.expect("stride 2 takes patterns of four bytes")
    }

    /// Windows of the whole set.
    fn count(&self) -> usize {
        self.windows.len() * self.times
    }

    /// What the windows mark, in a table that may be smaller than the one they were chosen for.
    fn table(&self, set: &PatternSet, log: u32) -> Table {
        let mut table = Table::new(self.stride, log);
        for window in &self.windows {
            let marks = Mark::of(&set.get(window.pattern), window.at, self.stride);
            marks.for_each(|mark| table.set(&mark));
        }
        table
    }

    /// Bytes inside of whose runs one of the windows lies.
    fn inner_bytes(&self, set: &PatternSet) -> impl Iterator<Item = u8> {
        self.windows.iter().flat_map(|w| inner_bytes(&set.get(w.pattern), w.at))
    }

    /// Candidates for each byte: windows of patterns, and what passes by chance.
    fn candidates(&self) -> f32 {
        (self.passing + self.chance).min(1.0) / self.stride.positions() as f32
    }

    fn cost(&self) -> f32 {
        let filter = match self.stride {
            Stride::Two => COST_2,
            Stride::Four => COST_4,
            Stride::FourWide => COST_4_WIDE,
        };
        filter + COST_CANDIDATE * self.candidates()
    }

    fn wanted_log(&self) -> u32 {
        wanted_log(self.stride, self.count())
    }
}

/// Logarithm of the words of the table for so many windows.
fn wanted_log(stride: Stride, windows: usize) -> u32 {
    let many = match stride {
        Stride::Two => MANY_WINDOWS_2,
        Stride::Four | Stride::FourWide => MANY_WINDOWS_4,
    };
    if windows > many {
        return *TABLE_LOGS.end();
    }
    let words = windows.max(1) as f32 / WINDOWS_PER_WORD;
    (words.log2().ceil() as u32).clamp(*TABLE_LOGS.start(), FULL_LOG)
}

/// What a filter is expected to come to, before it is built.
pub(super) struct Expected {
    pub(super) stride: Stride,
    /// Picoseconds a byte, without what is written for matches.
    pub(super) cost: f32,
    /// Candidates for each byte.
    pub(super) candidates: f32,
    /// Bytes of the tables.
    pub(super) memory: u64,
}

impl Expected {
    /// Looks at one pattern in `times`, a power of two. Nothing if no pattern has four bytes.
    pub(super) fn of(set: &PatternSet, statistics: &Statistics, times: usize) -> Option<Expected> {
        let shortest = set.iter().map(|p| p.bytes.len()).filter(|&l| l >= 4).min()?;
        let runs = Runs::new(set);
        let choice = Choice::best(set, shortest, statistics, runs.as_ref(), times);
        let log = choice.wanted_log();
        // An entry and, for its bits and slots, some words.
        let each = 4 * (ENTRY_WORDS + FAR_BITS / 32 + 2 * SLOT_WORDS);
        Some(Expected {
            stride: choice.stride,
            cost: choice.cost(),
            candidates: choice.candidates(),
            memory: (choice.count() * each + (4 << log)) as u64,
        })
    }
}

/// What a warp holds in shared memory for each lane; the kernel has the same.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// Candidates lined up.
    queue: u32,
    records: u32,
}

impl Held {
    const WRITES: Held = Held { queue: 8, records: 2 };
    pub(super) const COUNTS: Held = Held { queue: 8, records: 0 };
    /// Where the table of pairs is there, too. With half of a queue the filter's table keeps its size and the group its warps:
    /// counted, Snort 3's community rules take 2.5 per cent less time so, ET Open 10.
    pub(super) const COUNTS_ALL: Held = Held { queue: 4, records: 0 };
}

/// Words of shared memory of a warp, as the kernel counts: text, queue, survivors, and the records.
pub(super) fn warp_words(lanes: u32, held: Held) -> u32 {
    let survivors = lanes + lanes % 2;
    let queue = if lanes == 1 { Held::COUNTS.queue } else { held.queue * lanes };
    (lanes * 64 + 32) / 4 + queue / 2 + 2 * held.records * lanes + 6 * survivors
}

/// The size of a group's parts: what fits the shared memory of a device.
struct Room {
    items: u32,
    warps: u32,
    table_log: u32,
    near_log: Option<u32>,
    shared: u32,
    chunk: u32,
}

impl Room {
    /// Room for a table of that size or less, and for one of the near bitmaps if there is room left.
    fn find(device: &Properties, wanted: u32, near_logs: &[u32]) -> Result<Room, Refusal> {
        let lanes = device.lanes;
        let all_items: &[u32] = if lanes > 1 { &[1024, 768, 512, 256] } else { &[64] };
        // With a bitmap beside the table if that takes no warps.
        let shapes = |&items: &u32| {
            near_logs.iter().map(move |log| (items, Some(*log))).chain([(items, None)])
        };
        for log in (8..=wanted).rev() {
            for (items, near_log) in all_items.iter().flat_map(shapes) {
                let near = near_log.map_or(0, |log| (1 << log) / 8);
                let (warps, table) = (items / lanes, 4u32 << log);
                let tables = table + near + KINDS as u32;
                let shared = tables + warps * warp_words(lanes, Held::WRITES) * 4;
                let needed = shared + near_log.map_or(0, |_| FOR_THE_CACHE);
                // Fewer than 512 items are too few to hide the memory's latency: a smaller table is the better choice.
                let too_few = lanes > 1 && items < 512 && log > 11;
                if items > device.max_items || needed > device.shared || too_few {
                    continue;
                }
                let chunk = lanes * 64;
                return Ok(Room { items, warps, table_log: log, near_log, shared, chunk });
            }
        }
        Err(Refusal::TooBig {
            what: "bytes of shared memory",
            need: 32 << 10,
            have: device.shared.into(),
        })
    }
}

impl Tables {
    /// Nothing if no pattern has four bytes.
    pub(super) fn build(
        set: &PatternSet,
        opt: &Options,
        stride: &str,
        device: &Properties,
    ) -> Result<Option<Tables>, Refusal> {
        let Some(shortest) = set.iter().map(|p| p.bytes.len()).filter(|&l| l >= 4).min() else {
            return Ok(None);
        };
        // Every pattern may take 48 bytes at each place and spelling.
        opt.check_memory(set.len() as u64 * 4 * ENTRY_WORDS as u64 * 2)?;
        let statistics = Statistics::of(set, opt);
        let mut runs = Runs::new(set);
        if stride.starts_with('4') {
            runs = None;
        }
        let fits = |s: &Stride| shortest >= s.least();
        let choose = |s: Stride| Choice::new(set, s, &statistics, runs.as_ref(), 1);
        let mut choice = match stride {
            "2" => choose(Stride::Two),
            "auto" => Choice::best(set, shortest, &statistics, runs.as_ref(), 1),
            named => {
                let stride = if named == "4" { Stride::Four } else { Stride::FourWide };
                if !fits(&stride) {
                    return Err(Refusal::TooShort { min: stride.least(), have: shortest });
                }
                choose(stride)
            }
        };
        // The kernel looks for nothing inside of a run whose ends it tells, so runs of a byte are left to the filter if the
        // only windows of another pattern are there: one that begins with a hundred zeros.
        while let Some(runs) = runs.as_mut() {
            if choice.inner_bytes(set).filter(|byte| runs.leave(*byte)).count() == 0 {
                break;
            }
            choice = Choice::new(set, Stride::Two, &statistics, Some(runs), 1);
        }
        Self::lay_out(set, choice, runs, device).map(Some)
    }

    fn lay_out(
        set: &PatternSet,
        mut choice: Choice,
        runs: Option<Runs>,
        device: &Properties,
    ) -> Result<Tables, Refusal> {
        let mut quiet = [true; 256];
        choice.inner_bytes(set).for_each(|byte| quiet[usize::from(byte)] = false);
        let mut made = Made::default();
        for window in &choice.windows {
            made.add(&set.get(window.pattern), window.at, choice.stride);
        }
        let items = made.items.len();
        let near_log = ((items * 16).max(1).next_power_of_two().ilog2()).clamp(13, NEAR_LOG);
        let near_logs = (12..=near_log).rev().take_while(|log| items * NEAR_BITS <= 1 << log);
        let near_logs: Vec<_> = near_logs.collect();
        let room = Room::find(device, choice.wanted_log(), &near_logs)?;
        let far_log = ((items * FAR_BITS).max(1).next_power_of_two().ilog2()).clamp(13, 27);
        let slot_log = items.max(1).next_power_of_two().ilog2();
        let slot_log = (slot_log + u32::from(items < MANY_ITEMS)).clamp(8, 26);
        let entries = items + items / MANY_ENTRIES;
        if entries > MOST_ENTRIES {
            let (need, have) = (entries as u64, MOST_ENTRIES as u64);
            return Err(Refusal::TooBig { what: "windows of patterns", need, have });
        }
        let (bitmap_place, bitmap_log) = match room.near_log {
            Some(log) => (BitmapPlace::Near, log),
            None if items < MANY_ITEMS => (BitmapPlace::Nowhere, 13),
            None => (BitmapPlace::Far, far_log),
        };
        let table = choice.table(set, room.table_log);
        choice.chance = table.chance();
        let mut tables = Tables {
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
            items: room.items,
            warps: room.warps,
            shared: room.shared,
            chunk: room.chunk,
            patterns: set.len(),
            windows: items,
            candidates: choice.candidates(),
        };
        tables.mark_runs();
        tables.file(&mut made);
        Ok(tables)
    }

    /// Sets the bits of three equal bytes: with the same beside them on both sides, if all patterns of the byte are long.
    fn mark_runs(&mut self) {
        let bytes: Vec<_> = self.runs.iter().flat_map(Runs::bytes).collect();
        for (byte, long) in bytes {
            self.table.set(&Mark::of_run(byte, long));
        }
    }

    /// Puts the entries in the order of their slots.
    fn file(&mut self, made: &mut Made) {
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
        // Every hash again: items of one slot were joined above, their bits may differ.
        for &hash in &made.hashes {
            let bit = hash >> (32 - self.bitmap_log);
            self.bitmap[bit as usize >> 5] |= 1 << (bit & 31);
        }
    }

    /// Files entries one behind the other, and gives their slot.
    fn file_together(&mut self, entries: &[&[u32]]) -> [u32; SLOT_WORDS] {
        let first = (self.entries.len() / ENTRY_WORDS) as u32;
        let is_many = entries.len() >= SPLIT as usize;
        if is_many {
            self.entries.push(entries.len() as u32);
            self.entries.extend([0; ENTRY_WORDS - 1]);
        }
        entries.iter().for_each(|entry| self.entries.extend_from_slice(entry));
        let number = if is_many { MANY_ENTRIES } else { entries.len() };
        about(first << 6 | number as u32, entries)
    }

    /// Files entries in parts by a byte of their window, and gives the slot that leads to these.
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
        about(((place << 4 | byte) as u32) << 6 | SPLIT, entries)
    }

    /// What the kernel reads about runs.
    pub(super) fn run_kinds(&self) -> [u8; KINDS] {
        self.runs.as_ref().map_or([0; KINDS], |r| r.kinds(&self.quiet))
    }

    /// The same without what was brought to the device.
    pub(super) fn without_content(mut self) -> Tables {
        self.table.words = Vec::new();
        self.bitmap = Vec::new();
        self.slots = Vec::new();
        self.entries = Vec::new();
        self.rest = Vec::new();
        self
    }

    pub(super) fn describe(&self) -> String {
        format!(
            "{} patterns, {} windows at stride {}, a table of {} bytes, {}, groups of {}; {:.4} candidates a byte are \
             expected",
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

#[derive(Default)]
struct Made {
    /// Hashes with their entries; several spellings and nibbles overlap to one entry.
    items: Vec<(u32, u32)>,
    hashes: Vec<u32>,
    entries: Vec<u32>,
    rest: Vec<u32>,
}

/// The hash by which candidates are looked up again.
fn second_hash(window: u64, nibbles: u32, stride: Stride) -> u32 {
    let hash = match stride {
        Stride::Two => {
            (window as u32).wrapping_mul(SPREAD_3).wrapping_add(nibbles.wrapping_mul(MIX_NIBBLES))
        }
        Stride::Four | Stride::FourWide => first_hash(window),
    };
    (hash ^ hash >> 15).wrapping_mul(MIX)
}

/// The bits of a byte that have to be the same.
fn mask_of(byte: u8, nocase: bool) -> u8 {
    if nocase && byte.is_ascii_alphabetic() { !0x20 } else { !0 }
}

/// A slot: what is said of its entries, and the bytes that all of them have beside the window.
fn about(what: u32, entries: &[&[u32]]) -> [u32; SLOT_WORDS] {
    let [beside, mask] = shared_bytes(entries.iter().copied(), &BESIDE);
    let [further, further_mask] = shared_bytes(entries.iter().copied(), &FURTHER);
    [what, beside, mask, further | further_mask << 16]
}

/// A byte of an entry's window and its mask.
fn byte_of(entry: &[u32], at: usize) -> (u8, u8) {
    let of = |words: &[u32]| (words[at / 4] >> (8 * (at % 4))) as u8;
    (of(entry), of(&entry[WINDOW / 4..]))
}

/// The part of a split slot that a byte of the text leads to.
fn part(byte: u8) -> u32 {
    u32::from(byte).wrapping_mul(SPREAD) >> (32 - PARTS.ilog2())
}

/// The parts that an entry is in, a bit each: all that its byte may lead to.
fn parts(entry: &[u32], at: usize) -> u8 {
    let (byte, mask) = byte_of(entry, at);
    let (mut all, mut free) = (0, 0u8);
    // Every choice of the bits that are not masked.
    loop {
        all |= 1 << part(byte & mask | free);
        free = free.wrapping_sub(!mask) & !mask;
        if free == 0 || all == u8::MAX {
            return all;
        }
    }
}

/// The byte of the window that splits entries best, if its parts leave [`WORTH_SPLITTING`] of them or less to compare.
fn best_split(entries: &[&[u32]]) -> Option<usize> {
    if entries.len() < 2 {
        return None;
    }
    // Of a part with n entries all n are compared, and the more there are the oftener it is met.
    let cost = |at: usize| -> usize {
        let mut sizes = [0usize; PARTS];
        for entry in entries {
            let parts = parts(entry, at);
            (0..PARTS).for_each(|p| sizes[p] += usize::from(parts >> p & 1));
        }
        sizes.iter().map(|n| n * n).sum()
    };
    let best = (0..WINDOW).map(|at| (cost(at), at)).min()?;
    let (share, of) = WORTH_SPLITTING;
    (of * best.0 <= share * entries.len() * entries.len()).then_some(best.1)
}

/// Bytes at some places that all entries of a slot have, and their mask.
fn shared_bytes<'a>(mut entries: impl Iterator<Item = &'a [u32]>, places: &[usize]) -> [u32; 2] {
    let of = |entry: &[u32], words: usize| {
        let byte = |n: u32, j: &usize| n << 8 | entry[words + j / 4] >> (8 * (j % 4)) & 255;
        places.iter().rev().fold(0, byte)
    };
    let Some(first) = entries.next() else { return [0, 0] };
    let (value, mask) = (of(first, 0), of(first, WINDOW / 4));
    let mask =
        entries.fold(mask, |mask, entry| mask & of(entry, WINDOW / 4) & !(of(entry, 0) ^ value));
    [value & mask, mask]
}

impl Made {
    fn entry(&self, entry: u32) -> &[u32] {
        let first = entry as usize * ENTRY_WORDS;
        &self.entries[first..first + ENTRY_WORDS]
    }

    /// Enters a pattern by its window at `k`.
    fn add(&mut self, pattern: &Pattern<'_>, k: usize, stride: Stride) {
        let bytes = pattern.bytes;
        let entry = (self.entries.len() / ENTRY_WORDS) as u32;
        self.add_entry(pattern, k);
        for window in spellings(&bytes[k..k + stride.window()], pattern.nocase) {
            let before = k.checked_sub(1).map(|b| bytes[b]);
            let after = bytes.get(k + 3).copied();
            let every = |known: Option<u8>| match known.map(|byte| u32::from(byte & 15)) {
                Some(n) => n..n + 1,
                None => 0..16,
            };
            let (first, second) = match stride {
                Stride::Two => (every(before), every(after)),
                Stride::Four | Stride::FourWide => (0..1, 0..1),
            };
            for b in first {
                for a in second.clone() {
                    let hash = second_hash(window, b << 4 | a, stride);
                    self.items.push((hash, entry));
                    self.hashes.push(hash);
                }
            }
        }
    }

    fn add_entry(&mut self, pattern: &Pattern<'_>, k: usize) {
        let (bytes, checked) = (pattern.bytes, pattern.bytes.len().min(CHECKED));
        let (mut window, mut mask) = ([0u8; WINDOW], [0u8; WINDOW]);
        for j in 0..WINDOW {
            let Some(at) = (k + j).checked_sub(BEFORE).filter(|&at| at < checked) else { continue };
            window[j] = bytes[at];
            mask[j] = mask_of(bytes[at], pattern.nocase);
        }
        let is_covered = k <= BEFORE && checked + BEFORE <= k + WINDOW;
        let rest = if is_covered { u32::MAX } else { self.rest.len() as u32 / 2 };
        if !is_covered {
            self.rest.extend(bytes[..checked].chunks(4).flat_map(|four| {
                let word = |of: fn(u8, bool) -> u8| {
                    four.iter().rev().fold(0, |n, b| n << 8 | u32::from(of(*b, pattern.nocase)))
                };
                [word(|byte, _| byte), word(mask_of)]
            }));
        }
        let words = |b: &[u8; WINDOW]| -> Vec<u32> {
            b.chunks_exact(4)
                .map(|w| u32::from_le_bytes(w.try_into().expect("four bytes")))
                .collect()
        };
        self.entries.extend(words(&window));
        self.entries.extend(words(&mask));
        let about = [
            pattern.index,
            (bytes.len() as u32) << 16 | k as u32,
            rest,
            // Kernels that count refuse more ids than there is room for.
            (pattern.ids.len() as u32) << 16 | (checked as u32) << 1,
        ];
        self.entries.extend(about);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::device::Backend;

    pub(in super::super) fn h200() -> Properties {
        Properties {
            backend: Backend::Cuda,
            name: "H200".into(),
            driver: String::new(),
            memory: 140 << 30,
            shared: 227 << 10,
            units: 132,
            lanes: 32,
            max_items: 1024,
            is_processor: false,
            capability: Some((9, 0)),
        }
    }

    #[test]
    fn a_group_has_all_its_warps_and_leaves_the_cache_memory() {
        let room = |log, near: &[u32]| {
            let room = Room::find(&h200(), log, near).unwrap();
            (room.warps, room.table_log, room.near_log)
        };
        assert_eq!(room(FULL_LOG, &[18, 17, 16]), (32, 14, Some(16)), "Snort 2.2.0");
        assert_eq!(room(FULL_LOG, &[]), (32, 14, None), "ET Open");
        assert!(room(15, &[]).0 < 32, "so larger tables take warps");
    }
}
