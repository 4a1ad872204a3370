//! Compact Aho-Corasick automaton. Its throughput depends little on the text, even on hostile text.
//!
//! # The automaton
//! It is the compact automaton of the CPU's `ac-simd`. The state after most bytes is that of a
//! short suffix of the text: the *default of the context*. A context is the last two bytes, or more
//! of them if few byte values occur in the patterns. A state stores only the transitions that
//! differ from the default, in a double array: transition `c` of base `b` lies at `b ^ c` if the
//! label there is `c`.
//!
//! ```text
//! told   = contexts[last bytes]          in shared memory, independent of the state
//! stored = slots[base ^ c], if any base  first slots in shared memory, rest in device memory
//! state  = stored if its label is c, told otherwise
//! ```
//!
//! Shared memory answers about nine lookups per clock of a multiprocessor, and device memory about
//! one: a load takes a clock for each cache line that its lanes touch. So contexts lie in shared
//! memory, in 16 bits each: a base among the first 16,384 and a count of up to three. The slots
//! that fit beside them are the most frequent ones. Slots of default states come first, then those
//! of deeper states, on the way to most patterns first.
//!
//! A step has no branch: predicates exclude lanes whose state stores nothing or stores it in the
//! other memory.
//!
//! # Paths
//! Hostile text leads the walk deep into the patterns, to states outside of shared memory, and
//! device memory cannot answer a load per lane and byte. But beyond the first bytes one child of a
//! state leads to most of its patterns, and text that came so far mostly continues there. So a slot
//! in device memory has a second word with the labels of up to three such steps, the *path*, and
//! its base is that of the path's end.
//!
//! A lane on a path compares bytes with labels in a register and loads nothing. If it leaves the
//! path, it looks up its state by the base of the path's end, which belongs to one path only. If
//! that state stores nothing but the path, the default is right and no lookup is needed. No state
//! on a path reports a match.
//!
//! A step with paths takes about half as many instructions again. So every 32 bytes a warp counts
//! its lanes that are outside of shared memory or on a path, and takes the loop with or without
//! paths.
//!
//! # Forms
//! * `bytes`: each byte is its own class, and a context is two bytes of text. For sets in which
//!   more than half of all byte values occur.
//! * `classes`: one more lookup maps a byte to its class, and contexts of a small alphabet are
//!   longer.
//! * `linked`: a state with too many transitions leaves them to its failure states, as on the CPU,
//!   because hostile sets store transitions in the square of their size. Its lanes do not wait for
//!   each other's bytes: two steps per byte at most, on any text. All tables are in device memory,
//!   so this form also serves devices with little shared memory.
//!
//! # Text
//! The lanes of a warp read from segments that lie far apart. So a load of text touches a cache
//! line for each lane and takes as long as many lookups. On NVIDIA GPUs from compute capability 9.0
//! on, the kernel that counts *stages* the text: a copy unit brings the next 32 bytes of each
//! lane's segment to shared memory, as one block of a matrix whose rows are the segments.
//!
//! The blocks take room from slots. So the text is loaded if most slots of a set fit shared memory
//! without the blocks, but not all beside them. It is also loaded on a device with less shared
//! memory than an H100, and by the kernel that writes records: it gains less than the slots are
//! worth.
//!
//! # Segment borders
//! A lane walks a segment from the root and owns the matches that *begin* in it. Past the segment's
//! end it walks on while its state is longer than the bytes read there, because only then may a
//! match have begun in the segment. There it reports only matches longer than those bytes. So no
//! warm-up is needed, and patterns may have any length: only text full of a pattern's prefix makes
//! lanes walk far.
//!
//! # Output
//! A record is an end and the place of a state; the host turns places into patterns. A warp
//! reserves places for hundreds of records by one atomic.
//!
//! Another kernel only counts. Past its segment a lane walks a second state from the root, as the
//! next lane does, and adds only the matches that the first state has more than the second. (The
//! form `linked` writes records there.)
//!
//! # When
//! It wins where a filter passes too much: on text made of the patterns, and where matches are so
//! dense that writing them is the work. It loses to [`gpu_filter`](super::gpu_filter) where few
//! positions pass the filter: a filter reads several bytes per step and has no state. It refuses
//! sets of more than 2,097,152 states. `benchmarks/gpu.md` has the throughput of both.
//!
//! Source: Aho and Corasick 1975; Aoe, *An efficient digital search algorithm by using a
//! double-array structure*, IEEE TSE 15(9), 1989. Defaults by context are our own.

mod forecast;
mod kernels;
mod tables;

pub use forecast::forecast;

use crate::device::{Arg, Buffer, Device, Fault, LaunchShape, Queue, Rows, words};
use crate::matcher::{GpuEngine, PAD, Search, Tile, Workspace};
use crate::resident::Timed;
use crate::sparse::{self, RawRecord, RecordList};
use fyke_automata::Trie;
use fyke_core::{
    Device as RunsOn, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal,
};
use kernels::{DfaKernel, ITEMS, ITEMS_ALONE, SHARED_CLASSES, SUM_BYTES, kernels, shared_of_warps};
use tables::{DfaTables, Room, Staging, TableForm};

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-dfa",
        device: RunsOn::Gpu,
        family: Family::Product,
        growth: Growth::Flat,
        about: "compact Aho-Corasick automaton with contexts in shared memory, for large sets, dense matches and hostile text",
        source: "Aho and Corasick 1975; Aoe 1989 (double array); defaults by context are our own",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare,
    options: &["form", "shared", "positions", "staged"],
};

/// The maximum number of bytes of a tile. Not measured: a guess.
const TILE: usize = 64 << 20;

/// Bytes that a work item takes at a time: two loads of 16 bytes.
const STEP: u32 = 32;

/// The maximum number of positions of a work item, unless a pattern is longer. A work item follows
/// the matches that begin at its positions beyond them: for as many steps as the longest pattern
/// has bytes, if the text is full of it. Not measured: a guess.
const POSITIONS: u32 = 4096;

/// The same for sets with longer patterns: more positions would leave too few work items. All work
/// items together walk at most twice the text's length if patterns have up to this many bytes, and
/// at most nine times for longer ones.
const POSITIONS_MOST: u32 = 8192;

/// Fewest positions of a work item, in a text too small for the device. Not measured: a guess.
const POSITIONS_LEAST: u32 = 64;

/// Divisor of the longest pattern's length: a work item has at least the quotient as positions.
/// With fewer, a small text would take quadratic time, because work items follow a pattern past
/// their positions for all its length.
const POSITIONS_OF_LONGEST: u32 = 4;

/// Why a device or a set refuses to stage the text.
const CANNOT_STAGE: &str = "staged=yes: needs an NVIDIA GPU of compute capability 9.0 or newer, and \
                            positions or patterns of up to 4,096 bytes: leave the option out";

/// The maximum number of bytes of shared memory that are used. A device that has more is a CPU, and
/// more than this would not fit its caches.
const SHARED_MOST: u32 = 227 << 10;

/// The bit of a record that a work item wrote past its positions, as in the kernels.
const TAIL: u32 = 1 << 31;

/// The workspace's buffer for the sums of groups. The list of records is buffer 0.
const SUMS: usize = 1;

/// A timed search expects a record for this many bytes of text; most texts have fewer.
const RECORD_FOR_BYTES: u32 = 4;

/// A set compiled for a device.
struct DfaSearch {
    tables: DfaTables,
    finding: DfaKernel,
    counting: DfaKernel,
    /// Fewest and most positions of a work item.
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
    /// Length and number of ids of each pattern.
    bytes: Vec<u32>,
    ids: Vec<u32>,
    confirm: Vec<bool>,
}

fn prepare(set: &PatternSet, opt: &Options, device: &Device) -> Result<Box<dyn Search>, Refusal> {
    Ok(Box::new(DfaSearch::new(set, opt, device)?))
}

/// The value of a numeric option, or its default.
fn number(opt: &Options, name: &str, default: u32) -> Result<u32, Refusal> {
    Ok(opt.number(name, 0..=u32::MAX as usize)?.map_or(default, |n| n as u32))
}

impl DfaSearch {
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
        let longest = u32::try_from(set.max_len()).unwrap_or(u32::MAX);
        let most = longest.clamp(POSITIONS, POSITIONS_MOST).next_multiple_of(STEP);
        let positions = number(opt, "positions", most)?.clamp(STEP, 1 << 20).next_multiple_of(STEP);
        let least = (longest / POSITIONS_OF_LONGEST).max(POSITIONS_LEAST).next_multiple_of(STEP);
        // The last row may reach beyond the text, into the tile's padding.
        let can_stage = properties.copies_blocks() && positions as usize <= PAD;
        let room = |staged| {
            let taken = SHARED_CLASSES + shared_of_warps(device, items, staged);
            shared.saturating_sub(taken) as usize
        };
        let staging = match opt.choice("staged", &["auto", "yes", "no"])? {
            "auto" if can_stage && shared >= SHARED_MOST => Staging::IfItPays(room(true)),
            "yes" if can_stage => Staging::Always(room(true)),
            "yes" => return Err(Refusal::BadOption(CANNOT_STAGE.to_owned())),
            _ => Staging::Never,
        };
        let tables = DfaTables::build(set, opt, wanted, Room { loaded: room(false), staging })?;
        let [finding, counting] = kernels(device, &tables, items)?;
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

    /// The positions of each work item, and the number of groups, for a tile. All work items get
    /// the same number of positions, in the same number of rounds.
    fn divide(&self, shape: LaunchShape, bytes: u32) -> (u32, u32) {
        let threads = u64::from(shape.groups * shape.items);
        let bytes = u64::from(bytes);
        let rounds = bytes.div_ceil(threads * u64::from(self.positions)).max(1);
        let even = bytes.div_ceil(threads * rounds) as u32;
        let positions = even.next_multiple_of(STEP).max(self.least);
        let groups = bytes.div_ceil(u64::from(positions) * u64::from(shape.items));
        (positions, shape.groups.min(groups as u32).max(1))
    }

    /// Puts a kernel on the queue. `sums` has room for a sum of each group if the kernel counts.
    fn launch(
        &self,
        queue: &Queue,
        what: &DfaKernel,
        tile: Tile<'_>,
        sums: &Buffer,
        list: RecordList<'_>,
    ) -> Result<(), Fault> {
        let t = &self.tables;
        let (positions, groups) = self.divide(what.shape, tile.bytes());
        let is_linked = t.form == TableForm::Linked;
        let context_words = if is_linked { 0 } else { self.contexts.len() as u32 / 16 };
        let [found, room] = list.args();
        let rows = what.staged.then(|| {
            let rows = tile.bytes().div_ceil(positions).max(1);
            Rows::new(tile.text(), tile.at(), positions, rows)
        });
        let rows = rows.transpose()?;
        let args: [Arg<'_>; 22] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
            positions.into(),
            (&self.contexts).into(),
            context_words.into(),
            t.start.into(),
            t.bits.into(),
            t.mask.into(),
            self.letters.into(),
            (&self.classes).into(),
            (&self.slots).into(),
            (t.slot_count as u32).into(),
            what.near_slots.into(),
            what.few_deep.into(),
            (&self.depths).into(),
            (&self.counts).into(),
            (&self.fails).into(),
            sums.into(),
            found,
            room,
        ];
        let args: Vec<Arg<'_>> = args.into_iter().chain(rows.as_ref().map(Arg::from)).collect();
        let shape = LaunchShape { groups, ..what.shape };
        assert!(!what.counts || sums.len() >= SUM_BYTES * groups as usize, "room for the sums");
        debug_assert!(4 * what.near_slots as usize <= self.slots.len());
        debug_assert!(positions.is_multiple_of(STEP) && self.classes.len() == 256);
        // SAFETY: these are the arguments of every kernel of `kernels::SOURCE` and, with the rows,
        // of `kernels::STAGED` (DFA_ARGS), and `kernels` sized the shared memory for these tables
        // and work items. Reads: the text up to 63 bytes past its end, which a tile's padding
        // covers, or its rows, which `Rows` checked; tables at places that `DfaTables` stored in
        // them, and at classes and contexts of bytes, for which they have an entry each. Writes: a
        // sum for each group, for which the assertion checks the room, and records within the
        // list's room.
        unsafe { queue.launch(&what.kernel, shape, &args) }
    }

    /// Turns the records of a launch into ends and patterns.
    fn expand<'a>(
        &'a self,
        overlap: u32,
        mut each: impl FnMut(u32, u32) + 'a,
    ) -> impl FnMut(RawRecord) + 'a {
        // The first of two records that describe a match past a work item's positions.
        let mut tail: Option<RawRecord> = None;
        move |found| {
            let (place, end, least) = match tail.take() {
                // A match that is longer than the bytes past the positions began at one of the
                // positions.
                Some(first) => (first.what & !TAIL, first.place, found.place + 1),
                None if found.what & TAIL != 0 => {
                    tail = Some(found);
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
    fn launch_count(
        &self,
        workspace: &Workspace,
        tile: Tile<'_>,
        list: RecordList<'_>,
    ) -> Result<(), Fault> {
        self.launch(workspace.queue(), &self.counting, tile, workspace.buffer(SUMS), list)
    }

    /// Makes room for the sums of groups; returns how many groups there are.
    fn make_sums(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<usize, Fault> {
        let groups = self.divide(self.counting.shape, tile.bytes()).1 as usize;
        workspace.reserve(SUMS, SUM_BYTES * groups)?;
        Ok(groups)
    }

    /// Counts the matches of a tile: the sums of its groups, and in the form `linked` the records
    /// past the positions of work items.
    fn counted(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<u64, Fault> {
        let groups = self.make_sums(workspace, tile)?;
        let mut count = 0;
        if self.tables.form == TableForm::Linked {
            let each = |_, pattern: u32| count += u64::from(self.ids[pattern as usize]);
            sparse::collect(
                workspace,
                |workspace, list| self.launch_count(workspace, tile, list),
                self.expand(tile.overlap(), each),
            )?;
        } else {
            let none = RecordList::of_none(workspace.buffer(SUMS));
            self.launch_count(workspace, tile, none)?;
        }
        let mut sums = vec![0; SUM_BYTES * groups];
        workspace.read(SUMS, 0, &mut sums)?;
        let sum = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
        Ok(count + sums.chunks_exact(SUM_BYTES).map(sum).sum::<u64>())
    }
}

fn upload_depths(device: &Device, queue: &Queue, depths: &[u16]) -> Result<Buffer, Fault> {
    let bytes: Vec<u8> = depths.iter().flat_map(|d| d.to_le_bytes()).collect();
    device.upload(queue, &bytes)
}

impl Search for DfaSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let launch = |workspace: &Workspace, list: RecordList<'_>| {
            self.launch(workspace.queue(), &self.finding, tile, &self.contexts, list)
        };
        let each = |end, pattern| records.push(Record { end, pattern });
        sparse::collect(workspace, launch, self.expand(tile.overlap(), each))
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        let launch = |workspace: &Workspace, list: RecordList<'_>| {
            self.launch(workspace.queue(), &self.finding, tile, &self.contexts, list)
        };
        sparse::time(workspace, (tile.bytes() / RECORD_FOR_BYTES) as usize, launch)
    }

    fn count(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        Some(self.counted(workspace, tile))
    }

    fn timed_count(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
    ) -> Option<Result<Timed, Fault>> {
        let timed = self.make_sums(workspace, tile).and_then(|_| {
            let launch = |workspace: &Workspace, list: RecordList<'_>| {
                self.launch_count(workspace, tile, list)
            };
            sparse::time(workspace, 0, launch)
        });
        let counted =
            timed.and_then(|t| Ok(Timed { records: self.counted(workspace, tile)?, ..t }));
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
            "{} states, {} stored transitions in {} slots ({} in shared memory, {} begin a path), contexts \
             of {} bytes, {} form, {} bytes of shared memory per group{}",
            t.states,
            t.stored,
            t.slot_count,
            t.near_slots,
            t.paths,
            t.order,
            t.form.name(),
            self.finding.shape.shared,
            if self.counting.staged { ", text staged for counting" } else { "" }
        )
    }
}

#[cfg(test)]
mod tests;
