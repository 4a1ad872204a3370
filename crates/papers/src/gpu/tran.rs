//! Aho-Corasick over chunks that overlap, as Tran et al. do it: what `gpu-ac-global` and `gpu-ac-shared` share.
//!
//! The state-transition table (4.2, fig. 5) has a row for each state and 257 columns: the next state for each byte, and
//! one that says whether patterns end in the state. It lies in a texture. Every work item begins at the root with the
//! first byte of its chunk, and goes `max_len - 1` bytes past the last, for a match that begins in the chunk may end there.
//!
//! **Who reports a match.** The one in whose chunk it begins. In the overlap the next chunk's work item sees those that
//! begin there too, so both have to agree. The 257th column has the bytes of the longest pattern of the state, in place
//! of the paper's yes or no: `d` bytes past the chunk, the longest match begins in the chunk if it has more than `d` bytes,
//! and only then a record is written, with a bit that says it is past the chunk. The shorter ones of the same state may
//! begin in the next chunk; the host, which knows where chunks end, leaves those out. Within the chunk nothing has to be
//! decided, since the walk began with it.
//!
//! Where the paper differs: its overlap has `max_len` bytes, one more than a match can need, and it says nothing about
//! matches that are seen twice. Its table is a texture in two dimensions, ours in one. It reads the text through zero-copy
//! memory; here the text is copied to the device first, as for all engines.

use crate::gpu::dense::{check_length, check_shared, check_texture, rows};
use fyke_automata::Trie;
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, Shape, words};
use fyke_gpu::kernel::Source;
use fyke_gpu::matcher::{Lane, Search, Tile};
use fyke_gpu::resident::Timed;
use fyke_gpu::sparse::{self, Cut, Found, List};

/// Most bytes of a tile; not swept.
const TILE: usize = 32 << 20;

/// Columns of the state-transition table.
const COLUMNS: usize = 257;

/// The bit of a record's state that says it was found past the chunk.
const PAST: u32 = 1 << 31;

/// How a kernel of this kind is launched. Its arguments are
///
/// ```text
/// GLOBAL const u8 *text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 after, TEXTURE table,
/// GLOBAL u32 *found, u32 room
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    /// Where its text is.
    pub source: &'static Source,
    /// Its name.
    pub kernel: &'static str,
    /// Work items of a group.
    pub items: u32,
    /// Bytes of the longest pattern.
    pub longest: usize,
    /// Bytes of a chunk, given those past it; without, the text is shared between all work items of the device. No fewer
    /// than those past it, so that a match reaches the next chunk and none after that.
    pub positions: Option<fn(u32) -> u32>,
}

/// An automaton on a device.
pub(crate) struct Chunked {
    launch: Launch,
    kernel: Kernel,
    threads: u32,
    table: Buffer,
    texture: Buffer,
    trie: Trie,
    /// Of each pattern.
    lengths: Vec<u32>,
    confirm: Vec<bool>,
    after: u32,
    host_bytes: u64,
}

impl Launch {
    /// Bytes of shared memory of a group: its chunks and those past the last.
    fn shared(&self, after: u32) -> u32 {
        let chunks = |positions: fn(u32) -> u32| self.items * positions(after);
        self.positions.map_or(0, |p| chunks(p) + after.next_multiple_of(16))
    }

    /// How a tile of so many bytes is cut.
    fn cut(&self, bytes: u32, threads: u32, after: u32) -> Cut {
        match self.positions {
            None => Cut::of(bytes, threads, self.items, after),
            Some(positions) => {
                let positions = positions(after);
                Cut { positions, groups: bytes.div_ceil(positions * self.items) }
            }
        }
    }
}

/// Bytes of each pattern by dense index.
fn lengths(set: &PatternSet) -> Vec<u32> {
    (0..set.len() as u32).map(|p| set.pattern_len(p) as u32).collect()
}

/// The table: the ladder's rows, and the bytes of the longest pattern that ends in each state, or 0.
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

impl Chunked {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        launch: Launch,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_length(set, launch.longest)?;
        let states = Trie::count_states(set);
        let host_bytes = Trie::memory_for(states, set) + 5 * set.len() as u64;
        let entries = states * COLUMNS as u64;
        opt.check_memory(host_bytes + 4 * entries)?;
        check_texture(entries)?;
        let after = set.overlap() as u32;
        check_shared(launch.shared(after), device)?;
        let trie = Trie::new(set)?;
        let lengths = lengths(set);
        let kernel = device.kernel(launch.source, launch.kernel)?;
        let shape = Shape { groups: 1, items: launch.items, shared: launch.shared(after) };
        let table = device.upload(&device.queue()?, &words(&table(&trie, &lengths)))?;
        Ok(Box::new(Chunked {
            threads: kernel.resident_groups(shape).saturating_mul(launch.items),
            launch,
            kernel,
            texture: table.texture()?,
            table,
            trie,
            lengths,
            confirm: Trie::must_confirm(set),
            after,
            host_bytes,
        }))
    }

    /// Puts the kernel on the queue.
    fn run(&self, lane: &Lane, tile: Tile<'_>, cut: Cut, list: List<'_>) -> Result<(), Fault> {
        let shape = Shape {
            groups: cut.groups,
            items: self.launch.items,
            shared: self.launch.shared(self.after),
        };
        let [found, room] = list.args();
        let args: [Arg<'_>; 9] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            tile.overlap.into(),
            cut.positions.into(),
            self.after.into(),
            (&self.texture).into(),
            found,
            room,
        ];
        // SAFETY: both kernels declare these arguments, and write only through `record`.
        unsafe { lane.queue.launch(&self.kernel, shape, &args) }
    }

    /// Appends the patterns that end at a place in its state, if they begin in the chunk they were found for.
    fn report(&self, found: Found, positions: u32, records: &mut Vec<Record>) {
        let end = found.place;
        // Where matches of that chunk begin before: the next chunk's first byte, or, within the chunk, anywhere.
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

impl Search for Chunked {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let cut = self.launch.cut(tile.bytes, self.threads, self.after);
        if cut.groups == 0 {
            return lane.queue.finish();
        }
        let launch = |lane: &Lane, list: List<'_>| self.run(lane, tile, cut, list);
        sparse::collect(lane, launch, |f: Found| self.report(f, cut.positions, records))
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        let cut = self.launch.cut(tile.bytes, self.threads, self.after);
        if cut.groups == 0 {
            return Ok(Timed::default());
        }
        sparse::time(lane, 0, |lane, list| self.run(lane, tile, cut, list))
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.host_bytes, device: self.table.len() as u64 }
    }

    fn describe(&self) -> String {
        format!(
            "{} states, a table of {} bytes, {} bytes past each chunk, {} bytes of shared memory a group",
            self.trie.len(),
            self.table.len(),
            self.after,
            self.launch.shared(self.after)
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
