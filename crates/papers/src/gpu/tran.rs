//! Aho-Corasick over overlapping chunks, after Tran et al.: what `gpu-ac-global` and
//! `gpu-ac-shared` share.
//!
//! The state-transition table (4.2, fig. 5) has a row for each state and 257 columns: the next
//! state for each byte, and whether patterns end in the state. It is in a texture. Every work item
//! begins at the root with the first byte of its chunk, and continues `max_len - 1` bytes past the
//! last, because a match that begins in the chunk may end there.
//!
//! **Ownership.** A match is reported by the work item in whose chunk it begins. The next chunk's
//! work item sees matches that begin in the overlap, too, so both have to agree. Instead of the
//! paper's yes or no the 257th column has the length of the state's longest pattern: `d` bytes
//! past the chunk the longest match begins in the chunk if it has more than `d` bytes, and only
//! then a record is written, with a bit that says it is past the chunk. Shorter matches of the
//! same state may begin in the next chunk; the host, which knows where chunks end, drops those.
//! Within the chunk every match is owned, because the walk began with it.
//!
//! Differences from the paper: its overlap has `max_len` bytes, one more than a match can need,
//! and it does not mention matches that are seen twice. Its table is a texture of two dimensions,
//! ours of one. It reads the text through zero-copy memory; here the text is copied to the device
//! first, as for all engines.

use crate::gpu::dense::{check_length, check_shared, check_texture, rows};
use crate::gpu::division::Division;
use fyke_automata::Trie;
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, words};
use fyke_gpu::kernel::KernelSource;
use fyke_gpu::matcher::{Search, Tile, Workspace};
use fyke_gpu::resident::Timed;
use fyke_gpu::sparse::{self, RawRecord, RecordList};

/// The maximum number of bytes of a tile. Not measured: a guess.
const TILE: usize = 32 << 20;

/// Columns of the state-transition table.
const COLUMNS: usize = 257;

/// The bit of a record's state that means it was found past the chunk.
const PAST: u32 = 1 << 31;

/// A kernel of this kind and how it is launched. Its arguments are
///
/// ```text
/// GLOBAL const u8 *text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 after, TEXTURE table,
/// GLOBAL u32 *found, u32 room
/// ```
#[derive(Clone, Copy)]
pub(crate) struct ChunkKernel {
    /// Its source.
    pub source: &'static KernelSource,
    /// Its name.
    pub kernel: &'static str,
    /// Work items of a group.
    pub items: u32,
    /// Longest pattern that it takes, in bytes.
    pub longest: usize,
    /// Bytes of a chunk, given the bytes past it that are read; at least as many, so that a match
    /// reaches no further than the next chunk. Without, the text is divided among all work items
    /// of the device.
    pub positions: Option<fn(u32) -> u32>,
}

/// An automaton on a device.
pub(crate) struct ChunkedSearch {
    chunks: ChunkKernel,
    kernel: Kernel,
    threads: u32,
    /// A texture.
    table: Buffer,
    trie: Trie,
    /// The length of each pattern.
    lengths: Vec<u32>,
    confirm: Vec<bool>,
    after: u32,
    host_bytes: u64,
}

impl ChunkKernel {
    /// Bytes of shared memory of a group: its chunks, and the bytes past the last.
    fn shared(&self, after: u32) -> u32 {
        let chunks = |positions: fn(u32) -> u32| self.items * positions(after);
        self.positions.map_or(0, |p| chunks(p) + after.next_multiple_of(16))
    }

    /// How a tile of that many bytes is divided.
    fn divide(&self, bytes: u32, threads: u32, after: u32) -> Division {
        match self.positions {
            None => Division::of(bytes, threads, self.items, after),
            Some(positions) => {
                let positions = positions(after);
                Division { positions, groups: bytes.div_ceil(positions * self.items) }
            }
        }
    }
}

/// The length of each pattern by dense index.
fn lengths(set: &PatternSet) -> Vec<u32> {
    (0..set.len() as u32).map(|p| set.pattern_len(p) as u32).collect()
}

/// The table: the ladder's rows, and the length of the longest pattern that ends in each state, or
/// 0.
fn table(trie: &Trie, lengths: &[u32]) -> Vec<u32> {
    let mut table = rows(trie, COLUMNS);
    for state in 0..trie.len() {
        let longest = match trie.own(state as u32) {
            [] => table[trie.output_link(state as u32) as usize * COLUMNS + 256],
            own => lengths[own[0] as usize],
        };
        table[state * COLUMNS + 256] = longest;
    }
    table
}

impl ChunkedSearch {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        chunks: ChunkKernel,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_length(set, chunks.longest)?;
        let states = Trie::count_states(set);
        let host_bytes = Trie::memory_for(states, set) + 5 * set.len() as u64;
        let entries = states * COLUMNS as u64;
        opt.check_memory(host_bytes + 4 * entries)?;
        check_texture(entries)?;
        let after = set.overlap() as u32;
        check_shared(chunks.shared(after), device)?;
        let trie = Trie::new(set)?;
        let lengths = lengths(set);
        let kernel = device.kernel(chunks.source, chunks.kernel)?;
        let shape = LaunchShape { groups: 1, items: chunks.items, shared: chunks.shared(after) };
        let table = device.upload(&device.queue()?, &words(&table(&trie, &lengths)))?;
        Ok(Box::new(ChunkedSearch {
            threads: kernel.resident_groups(shape).saturating_mul(chunks.items),
            chunks,
            kernel,
            table: table.into_texture()?,
            trie,
            lengths,
            confirm: Trie::must_confirm(set),
            after,
            host_bytes,
        }))
    }

    /// Puts the kernel on the queue.
    fn run(
        &self,
        workspace: &Workspace,
        tile: Tile<'_>,
        division: Division,
        list: RecordList<'_>,
    ) -> Result<(), Fault> {
        let shape = LaunchShape {
            groups: division.groups,
            items: self.chunks.items,
            shared: self.chunks.shared(self.after),
        };
        let [found, room] = list.args();
        let args: [Arg<'_>; 9] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
            division.positions.into(),
            self.after.into(),
            (&self.table).into(),
            found,
            room,
        ];
        debug_assert_eq!(self.table.len(), 4 * COLUMNS * self.trie.len());
        // SAFETY: both kernels declare these arguments (`ChunkKernel`), and `ChunkKernel::shared`
        // sizes what they stage. Reads: the text in whole words of four bytes, which a tile's
        // padding covers; the row of each state that the table contains, at 257 columns. Writes:
        // only by the dialect's `record`, within the list's room.
        unsafe { workspace.queue().launch(&self.kernel, shape, &args) }
    }

    /// Appends the patterns of a record that begin in the chunk that it was found for.
    fn report(&self, found: RawRecord, positions: u32, records: &mut Vec<Record>) {
        let end = found.place;
        // Matches of the chunk begin before the next chunk's first byte; within the chunk,
        // anywhere.
        let before = if found.what & PAST == 0 { end } else { (end - 1) / positions * positions };
        let mut state = found.what & !PAST;
        while state != 0 {
            let own = self.trie.own(state).iter();
            let owned = own.filter(|&&p| end - self.lengths[p as usize] < before);
            records.extend(owned.map(|&pattern| Record { end, pattern }));
            state = self.trie.output_link(state);
        }
    }
}

impl Search for ChunkedSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let division = self.chunks.divide(tile.bytes(), self.threads, self.after);
        if division.groups == 0 {
            return workspace.queue().finish();
        }
        let launch =
            |workspace: &Workspace, list: RecordList<'_>| self.run(workspace, tile, division, list);
        let each = |found: RawRecord| self.report(found, division.positions, records);
        sparse::collect(workspace, launch, each)
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        let division = self.chunks.divide(tile.bytes(), self.threads, self.after);
        if division.groups == 0 {
            return Ok(Timed::default());
        }
        sparse::time(workspace, 0, |workspace, list| self.run(workspace, tile, division, list))
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.host_bytes, device: self.table.len() as u64 }
    }

    fn describe(&self) -> String {
        format!(
            "{} states, a table of {} bytes, {} bytes past each chunk, {} bytes of shared memory per group",
            self.trie.len(),
            self.table.len(),
            self.after,
            self.chunks.shared(self.after)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_column_has_the_longest_pattern_of_each_state() {
        let set = PatternSet::new(["he", "she", "his", "hers"]).unwrap();
        let trie = Trie::new(&set).unwrap();
        let table = table(&trie, &lengths(&set));
        let mut state = 0;
        let mut ends = Vec::new();
        for byte in *b"usherhis" {
            state = table[state * COLUMNS + usize::from(byte)] as usize;
            ends.push(table[state * COLUMNS + 256]);
        }
        assert_eq!(ends, [0, 0, 0, 3, 0, 0, 0, 3]);
        assert_eq!(table[256], 0, "the root");
    }
}
