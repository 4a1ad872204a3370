//! Multipattern Boyer-Moore on a device: `gpu-mbm0` and `gpu-mbm1`, which differ in the memory of
//! the trie.
//!
//! Each work item moves a window over its share of the text and compares all patterns at once. The
//! window is as long as the shortest pattern. From its end the text is read to the left through
//! the trie of the reversed patterns, whose nodes name the patterns that end there. A share of n
//! positions reads n + max_len - 1 bytes, because the walk to the left continues into the share
//! before.
//!
//! The trie has a row of 256 children for each node. Three shift functions are in shared memory,
//! where each group copies them first: B by byte, shift1 and shift2 by node. The CPU engine
//! [`bm_multi`](crate::cpu::bm_multi) explains them, and why the window moves by
//!
//! > min(max(shift1, B(c) - depth - 1), shift2)
//!
//! and not, as Zha prints on page 94, by the largest of the three.
//!
//! # Differences from the dissertation
//! * Page 94 prints max{B, shift1, shift2}, which skips matches; the window moves by
//!   Commentz-Walter's formula.
//! * Windows are read to the left and identified by their end, so that records have the end of a
//!   match, as those of the other engines; the dissertation's output has its beginning.
//! * Its output has an entry for each byte. Here most positions are never read, and a record is
//!   written where something is found (module `sparse`).
//! * Each node takes four bytes of shared memory, and sets with more nodes than fit are refused.
//!   The dissertation's patterns are few.
//!
//! It wins over the steps of the ladder that read and write byte by byte if patterns are long and
//! few, because most bytes are skipped. It loses if a pattern is short, which makes the window
//! short, and because the lanes of a warp wait for the one that reads most.
//!
//! Source: B. Commentz-Walter, *A string matching algorithm fast on the average*, ICALP 1979; X.
//! Zha (2010), sections 6.2 and 6.5.1.2.

use crate::build::reverse::bad_characters;
use crate::cpu::bm_multi;
use crate::gpu::dense::check_longest;
use crate::gpu::division::Division;
use fyke_automata::{Direction, Trie};
use fyke_core::{
    Device as RunsOn, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal,
};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, words};
use fyke_gpu::kernel::KernelSource;
use fyke_gpu::matcher::{Search, Tile, Workspace};
use fyke_gpu::resident::Timed;
use fyke_gpu::sparse::{self, RawRecord, RecordList};

/// The maximum number of bytes of a tile. Not measured: a guess.
const TILE: usize = 32 << 20;

/// Work items of a group: T in the dissertation.
const ITEMS: u32 = 64;

/// The bit of a child that ends a pattern.
const ENDS: u32 = 1 << 31;

/// A kernel of this kind. Its arguments are
///
/// ```text
/// GLOBAL const u8 *text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 window, u32 nodes,
/// table, GLOBAL const u32 *shifts, GLOBAL u32 *found, u32 room
/// ```
///
/// where the table is `GLOBAL const u32 *` or a `TEXTURE`.
pub(crate) struct ReverseKernel {
    /// Its source.
    pub source: &'static KernelSource,
    /// Its name.
    pub kernel: &'static str,
    /// Whether the table is read through a texture.
    pub texture: bool,
}

/// The description of an engine of this kind.
pub(crate) const fn info(name: &'static str, about: &'static str) -> Info {
    Info {
        name,
        device: RunsOn::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about,
        source: "Zha 2010, 6.2 and 6.5.1.2",
        variants: &["backend=opencl", "backend=cuda"],
    }
}

/// A reversed trie on a device.
pub(crate) struct ReverseSearch {
    kernel: Kernel,
    threads: u32,
    /// Plain memory or a texture, as the kernel declares it.
    table: Buffer,
    shifts: Buffer,
    trie: Trie,
    /// The nearest ancestor of each node that ends a pattern.
    above: Vec<u32>,
    confirm: Vec<bool>,
    window: u32,
    overlap: u32,
    host_bytes: u64,
}

impl ReverseSearch {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        reverse: &ReverseKernel,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_longest(set)?;
        let states = Trie::count_states_of(set, Direction::Backward);
        let (need, have) = (shared(states), u64::from(device.properties().shared));
        if need > have {
            return Err(Refusal::TooBig {
                what: "bytes of shared memory, four for each node of the reversed trie",
                need,
                have,
            });
        }
        let host_bytes = Trie::memory_for(states, set) + 5 * states;
        opt.check_memory(host_bytes + bm_multi::shifts_memory_for(states) + 2 * 1024 * states)?;
        let trie = Trie::read(set, Direction::Backward)?;
        let kernel = device.kernel(reverse.source, reverse.kernel)?;
        let shape = LaunchShape { groups: 1, items: ITEMS, shared: need as u32 };
        let queue = device.queue()?;
        let table = device.upload(&queue, &words(&rows(&trie)))?;
        let table = if reverse.texture { table.into_texture()? } else { table };
        Ok(Box::new(ReverseSearch {
            threads: kernel.resident_groups(shape).saturating_mul(ITEMS),
            kernel,
            table,
            shifts: device.upload(&queue, &words(&shifts(set, &trie)))?,
            above: above(&trie),
            trie,
            confirm: Trie::must_confirm(set),
            window: set.min_len() as u32,
            overlap: set.overlap() as u32,
            host_bytes,
        }))
    }

    fn states(&self) -> u32 {
        self.trie.len() as u32
    }

    /// How a tile is divided.
    fn divide(&self, tile: Tile<'_>) -> Division {
        Division::of(tile.owned(), self.threads, ITEMS, self.overlap)
    }

    /// Puts the kernel on the queue.
    fn run(
        &self,
        workspace: &Workspace,
        tile: Tile<'_>,
        division: Division,
        list: RecordList<'_>,
    ) -> Result<(), Fault> {
        let shared = shared(self.states().into()) as u32;
        let shape = LaunchShape { groups: division.groups, items: ITEMS, shared };
        let [found, room] = list.args();
        let args: [Arg<'_>; 11] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
            division.positions.into(),
            self.window.into(),
            self.states().into(),
            (&self.table).into(),
            (&self.shifts).into(),
            found,
            room,
        ];
        debug_assert_eq!(self.table.len(), 1024 * self.trie.len());
        debug_assert_eq!(self.shifts.len(), 4 * (256 + self.trie.len()));
        // SAFETY: both kernels declare these arguments (`ReverseKernel`), and `shared` sizes the
        // copy of `shifts`. Reads: the text, from the window's end to the left and not beyond its
        // first byte; the row of each node that the table contains, for any byte. Writes: only by
        // the dialect's `record`, within the list's room.
        unsafe { workspace.queue().launch(&self.kernel, shape, &args) }
    }

    /// Appends the patterns of a node and of its ancestors: those that end at `end`.
    fn report(&self, mut state: u32, end: u32, records: &mut Vec<Record>) {
        while state != 0 {
            records.extend(self.trie.own(state).iter().map(|&pattern| Record { end, pattern }));
            state = self.above[state as usize];
        }
    }
}

impl Search for ReverseSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let division = self.divide(tile);
        if division.groups == 0 {
            return workspace.queue().finish();
        }
        let launch =
            |workspace: &Workspace, list: RecordList<'_>| self.run(workspace, tile, division, list);
        let each = |found: RawRecord| self.report(found.what, found.place, records);
        sparse::collect(workspace, launch, each)
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        let division = self.divide(tile);
        if division.groups == 0 {
            return Ok(Timed::default());
        }
        sparse::time(workspace, 0, |workspace, list| self.run(workspace, tile, division, list))
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        let device = (self.table.len() + self.shifts.len()) as u64;
        Footprint { host: self.host_bytes, device }
    }

    fn describe(&self) -> String {
        format!(
            "{} nodes of the reversed trie in {} bytes, {} work items, a window of {} bytes, {} bytes of shared memory",
            self.trie.len(),
            self.table.len(),
            self.threads,
            self.window,
            shared(self.states().into())
        )
    }
}

/// Bytes of shared memory of a group: a word for each byte value and each node.
fn shared(states: u64) -> u64 {
    ((256 + states) * 4).next_multiple_of(16)
}

/// The children of each node by byte, or 0.
fn rows(trie: &Trie) -> Vec<u32> {
    let mut rows = vec![0; trie.len() * 256];
    for state in 0..trie.len() as u32 {
        for child in trie.children(state) {
            let ends = if trie.own(child).is_empty() { 0 } else { ENDS };
            for byte in trie.fold().spellings(trie.label(child)) {
                rows[state as usize * 256 + usize::from(byte)] = child | ends;
            }
        }
    }
    rows
}

/// B for each byte, then for each node shift1 in the lower half of a word and shift2 in the upper.
fn shifts(set: &PatternSet, trie: &Trie) -> Vec<u32> {
    let shifts = bm_multi::shifts(trie, set.min_len() as u16);
    let words = shifts.iter().map(|s| u32::from(s.shift1) | u32::from(s.shift2) << 16);
    bad_characters(set).into_iter().chain(words).collect()
}

/// The nearest proper ancestor of each node that ends a pattern, or the root.
fn above(trie: &Trie) -> Vec<u32> {
    let parents = trie.parents();
    let mut above = vec![0; trie.len()];
    for state in 1..trie.len() {
        let parent = parents[state];
        let ends = !trie.own(parent).is_empty();
        above[state] = if ends { parent } else { above[parent as usize] };
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_names_the_patterns_on_its_way() {
        let set = PatternSet::new(["she", "he", "e", "his"]).unwrap();
        let trie = Trie::read(&set, Direction::Backward).unwrap();
        let (rows, above) = (rows(&trie), above(&trie));
        let mut state = 0;
        let mut ends = Vec::new();
        for byte in *b"ehs" {
            let child = rows[state as usize * 256 + usize::from(byte)];
            assert_ne!(child & ENDS, 0, "e, he and she end there");
            state = child & !ENDS;
            ends.push(above[state as usize]);
        }
        assert_eq!(ends[0], 0);
        assert_eq!(above[ends[2] as usize], ends[1], "she leads to he, and he to e");
        assert_eq!(rows[usize::from(b's')] & ENDS, 0, "his goes on");
        assert_eq!(rows[usize::from(b'x')], 0);
    }

    #[test]
    fn shift_functions_lie_one_after_the_other() {
        let set = PatternSet::new(["cab", "bxx"]).unwrap();
        let trie = Trie::read(&set, Direction::Backward).unwrap();
        let words = shifts(&set, &trie);
        assert_eq!(words.len(), 256 + trie.len());
        assert_eq!(b"cabxy".map(|c| words[usize::from(c)]), [3, 2, 1, 1, 4]);
        assert_eq!(words[256], 1 | 3 << 16, "the root");
        assert!(shared(trie.len() as u64) >= 4 * words.len() as u64);
    }
}
