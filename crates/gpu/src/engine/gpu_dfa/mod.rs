//! The automaton that sets a floor: so much a second on any text, whatever its matches are and whoever chose it.
//!
//! # The automaton
//! It is the compact one of the processor's `ac-simd`. The state after most bytes is that of a short suffix of the
//! text: the *default by context*, told by the last two bytes, or by more where few are in use. A state stores only what
//! the context cannot tell, in a double array: transition `c` of base `b` stands at `b ^ c` if the label there is `c`.
//!
//! ```text
//! told   = contexts[last bytes]                     in shared memory, does not wait for the state
//! stored = slots[base ^ c], if the state has a base    the first slots in shared memory, the others on the device
//! state  = stored if its label is c, told otherwise
//! ```
//!
//! A multiprocessor answers about nine look-ups a clock from shared memory and one from elsewhere: a load whose lanes
//! go to as many lines takes a clock for each lane. So the table by context is made to fit: of the word of a state it keeps
//! 16 bits, a base among the first 16,384 and a count of up to three. The slots of states that contexts tell are placed
//! first, and behind them those of deeper states, on the way to most patterns first, so that the slots that fit beside the
//! table are those which are asked for most. A step has no branch: lanes whose state stores nothing, or stores it in the other memory, are left out
//! by predicates.
//!
//! # Paths
//! Hostile text takes the walk deep into the patterns, to states that are not in shared memory, and the device cannot answer
//! a load of each lane for each byte. But below the first bytes a state has one child below which most of its patterns
//! are, and text that has come so far mostly goes there. So a slot on the device has a second word, the labels of up to
//! three such steps, and leads to the state behind them: a lane on a *path* compares bytes with labels in a register. One
//! that leaves it asks for the state that it is in by the base of the path's end, which is that of one path alone; it asks
//! for nothing if that state stores nothing but the path, for then the context tells. States that report something are not
//! on paths, nor at their ends.
//!
//! That takes half as many instructions again, so a warp looks at every 32 bytes how many of its lanes are that deep, and
//! takes one loop or the other.
//!
//! # Forms
//! Where more than half of all bytes are in use, a byte is its own class, and a context two bytes of the text as they
//! are (form `bytes`). Otherwise one more look-up gives the class, and contexts of a small alphabet are longer (form
//! `classes`). Hostile sets store transitions in the square of their size; in the form `linked` a state with too many leaves
//! them to its failure states, as on the processor. Its lanes do not wait for each other's bytes, so that a byte that
//! takes many steps stops no other lane: two steps a byte at most, on any text. That form has all tables on the device, and
//! serves devices with little shared memory too.
//!
//! # Seams
//! A lane walks a segment, and begins at the root at its first byte: it owns the matches that *begin* there. At the
//! segment's end it walks on as long as the state is longer than the bytes read behind it, for then something is
//! alive that began before; of what it finds there, it takes what is longer than those bytes. So there is no warm-up as
//! long as the longest pattern, and patterns may be of any length: only text that is full of a pattern's
//! prefix makes lanes walk far.
//!
//! # Output
//! A record is the end and the place of a state. A warp gathers records in shared memory and writes some dozens of them
//! behind one atomic; the host turns places into patterns. Another kernel only counts, and writes nothing: behind its segment
//! a lane walks a second state from there on, as the next lane does, and takes what the first has more than that. (The form
//! `linked` writes records there.)
//!
//! # What it costs
//! Measured on an H200 (rows `floor/...` of `benchmarks/record/nvidia-h200/2026-11-22-gpu-7.csv`, 4 GiB in device memory), in
//! GB/s. Traffic is `traffic-zeek`; hostile text is patterns one after the other, and patterns without their last byte.
//!
//! | set | states, slots | traffic, counted | hostile, counted | traffic, written |
//! |---|---:|---:|---:|---:|
//! | snort-2.2.0 | 17,454, 31,488 | 675 | 405, 408 | 195 |
//! | snort3-community | 38,595, 81,664 | 605 | 366, 365 | 185 |
//! | et-open-2016 | 200,197, 743,936 | 409 | 264, 268 | 131 |
//!
//! Written are 4.4e10 to 4.6e10 records a second. It was 2.1e10 where a warp looked how many there were before it added its
//! own to that number.
//!
//! What the two loops and the order of slots by patterns do, counted, at commit 711b1d4. Before them *plain* never followed paths and *paths*
//! always did, and had the memory for records for slots (snort-2.2.0 on hostile text without that: 318). Hostile text is whole
//! patterns. *Loads* are lanes that load from the device, for each byte of it, simulated on the tables.
//!
//! | set | loads: plain, paths | traffic: plain, paths, both | hostile: plain, paths, both |
//! |---|---:|---:|---:|
//! | snort-2.2.0 | 0.30, 0.10 | 677, 534, 673 | 242, 344, 405 |
//! | snort3-community | 0.59, 0.20 | 592, 455, 607 | 194, 283, 364 |
//! | et-open-2016 | 0.84, 0.31 | 447, 345, 410 | 135, 230, 261 |
//!
//! So hostile text has the gain of paths and more, and traffic loses 1 % at most with two sets and 8 % with the largest. Such a
//! load was predicted to take one clock of its multiprocessor for each lane, and took one and a half to two.
//!
//! # When
//! Wins where a filter lets too much pass: text made of the patterns, and matches so dense that to write them is the work
//! (1.5 times as fast as `gpu-filter` on all of snort-2.2.0 in traffic, written: 195 and 134 GB/s). Loses to `gpu-filter` where
//! few positions pass the filter, which reads some bytes a step and no state: 675 and 1,167 GB/s where the same are counted.
//! From pinned memory of the host any text is counted at 53 GB/s, where the bus has 55.5.
//! Refuses: sets of more than 2,097,152 states.
//!
//! Aho and Corasick 1975; Aoe, *An efficient digital search algorithm by using a double-array structure*, IEEE TSE 15(9),
//! 1989.

mod forecast;
mod tables;

pub use forecast::forecast;

use crate::device::{Arg, Buffer, Device, Fault, Kernel, Queue, Shape, words};
use crate::kernel::{Source, source};
use crate::matcher::{GpuEngine, Lane, Search, Tile};
use crate::resident::Timed;
use crate::sparse::{self, Found, List};
use fyke_automata::Trie;
use fyke_core::{
    Device as Place, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal,
};
use tables::{Form, Tables};

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-dfa",
        device: Place::Gpu,
        family: Family::Product,
        growth: Growth::Flat,
        about: "a compact Aho-Corasick automaton with contexts in shared memory: large sets, dense matches, hostile text",
        source: "Aho and Corasick 1975; Aoe 1989, double array; defaults by context are our own",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare,
    options: &["form", "shared", "positions"],
};

static SOURCE: Source = source!(
    "gpu_dfa",
    [
        "gpu_dfa_bytes",
        "gpu_dfa_bytes_count",
        "gpu_dfa_bytes_paths",
        "gpu_dfa_bytes_paths_count",
        "gpu_dfa_classes",
        "gpu_dfa_classes_count",
        "gpu_dfa_classes_paths",
        "gpu_dfa_classes_paths_count",
        "gpu_dfa_linked",
        "gpu_dfa_linked_count",
    ]
);

/// Most bytes of a tile; not swept.
const TILE: usize = 64 << 20;

/// Work items of a group where they run in step, and where each is on its own, as the kernels declare.
const ITEMS: u32 = 1024;
const ITEMS_ALONE: u32 = 64;

/// Positions that a work item takes at a time: two loads of sixteen bytes.
const STEP: u32 = 32;

/// Most positions of a work item, if the longest pattern has no more bytes. What begins there is followed beyond, for as
/// many steps as the longest pattern has bytes if the text is full of it. Not swept.
const POSITIONS: u32 = 4096;

/// The same for the longest patterns: with fewer work items the device would have nothing to do. So the work is at most
/// nine times the text's length; it is at most twice that for patterns up to as many bytes.
const POSITIONS_MOST: u32 = 8192;

/// Fewest positions of a work item, in a text too small for the device; not swept.
const POSITIONS_LEAST: u32 = 64;

/// The same as a share of the longest pattern, one over this: work items that follow a pattern for all its length would
/// else take as many steps as the square of a small text.
const POSITIONS_OF_LONGEST: u32 = 4;

/// Bytes of shared memory for each work item that writes records: those that its warp holds.
const SHARED_PER_ITEM: u32 = 16;

/// Bytes of shared memory for classes.
const SHARED_CLASSES: u32 = 256;

/// A warp follows paths while more than one over this of those of its lanes are deep in the patterns that would be if all
/// slots were met as often. With that hostile text and traffic are told apart on the three sets of rules: 0.24, 0.57 and
/// 0.84 of all bytes are looked up on the device in the one, 0.002, 0.05 and 0.19 in the other (simulated).
const DEEP_OF_HOSTILE: f32 = 3.0;

/// Most bytes of shared memory that are used: a device that has more is a processor, whose caches are smaller.
const SHARED_MOST: u32 = 227 << 10;

/// The mark of a record from behind a work item's positions, as the kernels have it.
const TAIL: u32 = 1 << 31;

/// The number of the lane's buffer for the sums of groups. Records are in the first.
const SUMS: usize = 1;

/// Bytes of a sum.
const SUM_BYTES: usize = 8;

/// Bytes of a text that there is room for a record for at first, where a search is timed: most texts have fewer.
const RECORD_FOR_BYTES: u32 = 4;

/// One of the two kernels, with what it has of a multiprocessor.
struct Launch {
    kernel: Kernel,
    shape: Shape,
    near_slots: u32,
    few_deep: u32,
}

/// A set on a device.
struct Dfa {
    tables: Tables,
    finding: Launch,
    counting: Launch,
    /// Positions of a work item: at least, and at most.
    least: u32,
    positions: u32,
    letters: u32,
    contexts: Buffer,
    classes: Buffer,
    slots: Buffer,
    depths: Buffer,
    counts: Buffer,
    fails: Buffer,
    device_bytes: u64,
    /// By pattern: its bytes, and how many ids it has.
    bytes: Vec<u32>,
    ids: Vec<u32>,
    confirm: Vec<bool>,
}

fn prepare(set: &PatternSet, opt: &Options, device: &Device) -> Result<Box<dyn Search>, Refusal> {
    Ok(Box::new(Dfa::new(set, opt, device)?))
}

/// An option that is a number, or what it is if it was not given.
fn number(opt: &Options, name: &str, default: u32) -> Result<u32, Refusal> {
    Ok(opt.number(name, 0..=u32::MAX as usize)?.map_or(default, |n| n as u32))
}

impl Dfa {
    fn new(set: &PatternSet, opt: &Options, device: &Device) -> Result<Self, Refusal> {
        let wanted = opt.choice("form", &["auto", "bytes", "classes", "linked"])?;
        let properties = device.properties();
        let items = if properties.lanes > 1 { ITEMS } else { ITEMS_ALONE };
        let (need, have) = (items, properties.max_items);
        if need > have {
            let (need, have) = (need.into(), have.into());
            return Err(Refusal::TooBig { what: "work items of a group", need, have });
        }
        let shared = number(opt, "shared", SHARED_MOST)?.min(properties.shared);
        let gathered = SHARED_PER_ITEM * items;
        let room = shared.saturating_sub(SHARED_CLASSES + gathered);
        let tables = Tables::build(set, opt, wanted, room as usize, gathered as usize)?;
        let is_linked = tables.form == Form::Linked;
        let held = if is_linked { 0 } else { tables.contexts.len() as u32 };
        let paths = if tables.paths > 0 { "_paths" } else { "" };
        let name = format!("gpu_dfa_{}{paths}", tables.form.name());
        let shape = |kernel: &Kernel, near_slots: usize, gathered: u32| {
            let shared = SHARED_CLASSES + held + 4 * near_slots as u32 + gathered;
            let shape = Shape { groups: 1, items, shared: shared.max(SUM_BYTES as u32 * items) };
            Shape { groups: kernel.resident_groups(shape), ..shape }
        };
        let few_deep = |near_slots: usize| {
            let far = tables.slot_count.saturating_sub(near_slots) as f32;
            let lanes = properties.lanes as f32;
            (lanes * far / tables.slot_count as f32 / DEEP_OF_HOSTILE) as u32
        };
        let kernel = device.kernel(&SOURCE, &name)?;
        let finding = Launch {
            shape: shape(&kernel, tables.near_slots, gathered),
            kernel,
            near_slots: tables.near_slots as u32,
            few_deep: few_deep(tables.near_slots),
        };
        let kernel = device.kernel(&SOURCE, &format!("{name}_count"))?;
        let counting = Launch {
            shape: shape(&kernel, tables.near_slots_counting, if is_linked { gathered } else { 0 }),
            kernel,
            near_slots: tables.near_slots_counting as u32,
            few_deep: few_deep(tables.near_slots_counting),
        };
        let longest = u32::try_from(set.max_len()).unwrap_or(u32::MAX);
        let most = longest.clamp(POSITIONS, POSITIONS_MOST).next_multiple_of(STEP);
        let positions = number(opt, "positions", most)?.clamp(STEP, 1 << 20).next_multiple_of(STEP);
        let least = (longest / POSITIONS_OF_LONGEST).max(POSITIONS_LEAST).next_multiple_of(STEP);
        let queue = device.queue()?;
        let confirm = Trie::must_confirm(set);
        Ok(Self {
            finding,
            counting,
            least: least.min(positions),
            positions,
            letters: if set.nocase_count() > 0 { 26 } else { 0 },
            contexts: device.upload(&queue, &tables.contexts)?,
            classes: device.upload(&queue, &tables.classes)?,
            slots: device.upload(&queue, &words(&tables.slots))?,
            depths: upload_depths(device, &queue, &tables.depths)?,
            counts: device.upload(&queue, &words(&tables.counts))?,
            fails: device.upload(&queue, &words(&tables.fails))?,
            device_bytes: tables.device_bytes(),
            bytes: set.iter().map(|p| p.bytes.len() as u32).collect(),
            ids: (0..set.len() as u32).map(|p| set.ids(p).len() as u32).collect(),
            confirm,
            tables: tables.without_content(),
        })
    }

    /// How a tile is cut: positions of each work item, and groups. All work items get as many, and as many times.
    fn cut(&self, shape: Shape, bytes: u32) -> (u32, u32) {
        let threads = u64::from(shape.groups * shape.items);
        let bytes = u64::from(bytes);
        let rounds = bytes.div_ceil(threads * u64::from(self.positions)).max(1);
        let even = bytes.div_ceil(threads * rounds) as u32;
        let positions = even.next_multiple_of(STEP).max(self.least);
        let groups = bytes.div_ceil(u64::from(positions) * u64::from(shape.items));
        (positions, shape.groups.min(groups as u32).max(1))
    }

    /// Puts a kernel on the queue.
    fn launch(
        &self,
        queue: &Queue,
        what: &Launch,
        tile: Tile<'_>,
        sums: &Buffer,
        list: List<'_>,
    ) -> Result<(), Fault> {
        let t = &self.tables;
        let (positions, groups) = self.cut(what.shape, tile.bytes);
        let held = if t.form == Form::Linked { 0 } else { self.contexts.len() as u32 / 16 };
        let [found, room] = list.args();
        let args: [Arg<'_>; 22] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            tile.overlap.into(),
            positions.into(),
            (&self.contexts).into(),
            held.into(),
            t.start.into(),
            t.bits.into(),
            t.mask.into(),
            self.letters.into(),
            (&self.classes).into(),
            (&self.slots).into(),
            (self.tables.slot_count as u32).into(),
            what.near_slots.into(),
            what.few_deep.into(),
            (&self.depths).into(),
            (&self.counts).into(),
            (&self.fails).into(),
            sums.into(),
            found,
            room,
        ];
        let shape = Shape { groups, ..what.shape };
        // SAFETY: these are the kernel's arguments. It reads the text up to 32 bytes past its end, which is within its
        // padding, writes a sum for each group if it counts, and records as far as there is room.
        unsafe { queue.launch(&what.kernel, shape, &args) }
    }

    /// Calls `each` with the end and the pattern of what a launch wrote.
    fn expand<'a>(
        &'a self,
        overlap: u32,
        mut each: impl FnMut(u32, u32) + 'a,
    ) -> impl FnMut(Found) + 'a {
        let mut behind: Option<Found> = None;
        move |found| {
            let (place, end, least) = match behind.take() {
                // Only what is longer than the bytes behind the work item's positions began in them.
                Some(first) => (first.what & !TAIL, first.place, found.place + 1),
                None if found.what & TAIL != 0 => {
                    behind = Some(found);
                    return;
                }
                None => (found.what, found.place, 0),
            };
            debug_assert!(end > overlap);
            self.tables.reports.each(self.tables.lists[place as usize], |pattern| {
                if self.bytes[pattern as usize] >= least {
                    each(end, pattern);
                }
            });
        }
    }

    /// Puts the kernel that counts on the queue.
    fn launch_count(&self, lane: &Lane, tile: Tile<'_>, list: List<'_>) -> Result<(), Fault> {
        self.launch(&lane.queue, &self.counting, tile, lane.held(SUMS), list)
    }

    /// Makes room for the sums of groups, and says for how many.
    fn make_sums(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<usize, Fault> {
        let groups = self.cut(self.counting.shape, tile.bytes).1 as usize;
        lane.buffer(SUMS, SUM_BYTES * groups)?;
        Ok(groups)
    }

    /// The sums of groups, and in the form `linked` what was found behind work items' positions.
    fn counted(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<u64, Fault> {
        let groups = self.make_sums(lane, tile)?;
        let mut count = 0;
        if self.tables.form == Form::Linked {
            let each = |_, pattern: u32| count += u64::from(self.ids[pattern as usize]);
            sparse::collect(
                lane,
                |lane, list| self.launch_count(lane, tile, list),
                self.expand(tile.overlap, each),
            )?;
        } else {
            self.launch_count(lane, tile, List::of_none(lane.held(SUMS)))?;
        }
        let mut sums = vec![0; SUM_BYTES * groups];
        lane.read(SUMS, 0, &mut sums)?;
        let sum = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(count + sums.chunks_exact(SUM_BYTES).map(sum).sum::<u64>())
    }
}

fn upload_depths(device: &Device, queue: &Queue, depths: &[u16]) -> Result<Buffer, Fault> {
    let bytes: Vec<u8> = depths.iter().flat_map(|d| d.to_le_bytes()).collect();
    device.upload(queue, &bytes)
}

impl Search for Dfa {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let launch = |lane: &Lane, list: List<'_>| {
            self.launch(&lane.queue, &self.finding, tile, &self.contexts, list)
        };
        let each = |end, pattern| records.push(Record { end, pattern });
        sparse::collect(lane, launch, self.expand(tile.overlap, each))
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        let launch = |lane: &Lane, list: List<'_>| {
            self.launch(&lane.queue, &self.finding, tile, &self.contexts, list)
        };
        sparse::time(lane, (tile.bytes / RECORD_FOR_BYTES) as usize, launch)
    }

    fn count(&self, lane: &mut Lane, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        Some(self.counted(lane, tile))
    }

    fn timed_count(&self, lane: &mut Lane, tile: Tile<'_>) -> Option<Result<Timed, Fault>> {
        let timed = self
            .make_sums(lane, tile)
            .and_then(|_| sparse::time(lane, 0, |lane, list| self.launch_count(lane, tile, list)));
        let counted = timed.and_then(|t| Ok(Timed { records: self.counted(lane, tile)?, ..t }));
        Some(counted)
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        let t = &self.tables;
        let host = 4 * (t.lists.len() + 2 * self.bytes.len()) + self.confirm.len();
        Footprint { host: host as u64 + t.reports.memory(), device: self.device_bytes }
    }

    fn describe(&self) -> String {
        let t = &self.tables;
        format!(
            "{} states, {} stored transitions in {} slots, {} of them in shared memory and {} that begin a path, contexts of {} bytes, {} form, \
             {} bytes of shared memory a group",
            t.states,
            t.stored,
            t.slot_count,
            t.near_slots,
            t.paths,
            t.order,
            t.form.name(),
            self.finding.shape.shared
        )
    }
}

#[cfg(test)]
mod tests;
