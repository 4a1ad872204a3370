//! The host half of Zha and Sahni's ladder: an automaton that writes a state for every byte.
//!
//! The kernel writes `output[i]`, the state after byte i. The host derives the matches: the
//! patterns of a state are its own and those of its output links, longest first, which is the
//! canonical order.
//!
//! The table has a row of 256 entries for each state. (Tran et al. 2012, fig. 5, add a column for
//! matches; here the host keeps it.) If a pattern ignores case both spellings of a letter lead to
//! the same state.

use fyke_automata::Trie;
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, Queue, words};
use fyke_gpu::kernel::KernelSource;
use fyke_gpu::matcher::{Search, States, Tile, Workspace};
use fyke_gpu::resident::Timed;

/// The maximum number of bytes of a tile. Four bytes are written and copied back for each. Not
/// measured: a guess.
const TILE: usize = 32 << 20;

/// Longest pattern that the ladder takes. Every work item walks that far before its first
/// position; the papers' patterns have up to 17 bytes, and the product engines take longer ones.
pub(crate) const LONGEST: usize = 4096;

/// The maximum number of words of a texture on every device that the kernels are compiled for.
const TEXELS: u64 = 1 << 27;

/// A kernel of the ladder and how it is launched. Its arguments are
///
/// ```text
/// GLOBAL const u8 *text, u64 at, u32 bytes, u32 overlap, u32 positions, table, GLOBAL u32 *output
/// ```
///
/// where the table is `GLOBAL const u32 *` or a `TEXTURE`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LadderKernel {
    /// Its source.
    pub source: &'static KernelSource,
    /// Its name.
    pub kernel: &'static str,
    /// Work items of a group; T in the paper.
    pub items: u32,
    /// Output positions of a work item, S_thread in the paper. If the kernel stages no text in
    /// shared memory they grow with the longest pattern, so that the work is at most twice the
    /// text's length.
    pub positions: u32,
    /// Whether the table is read through a texture.
    pub texture: bool,
    /// Bytes of shared memory of a group that the host sizes, given the bytes of overlap.
    pub shared: fn(u32) -> u32,
}

/// An automaton on a device.
pub(crate) struct DenseSearch {
    ladder: LadderKernel,
    kernel: Kernel,
    /// Plain memory or a texture, as the kernel declares it.
    table: Buffer,
    trie: Trie,
    has_output: Vec<bool>,
    confirm: Vec<bool>,
    overlap: u32,
    positions: u32,
    host_bytes: u64,
}

/// The rows of the automaton: the state after each byte in each state, and 0 in further columns.
pub(crate) fn rows(trie: &Trie, columns: usize) -> Vec<u32> {
    let mut rows = vec![0u32; trie.len() * columns];
    for state in 0..trie.len() as u32 {
        let at = state as usize * columns;
        if state != 0 {
            let fail = trie.fail(state) as usize * columns;
            rows.copy_within(fail..fail + 256, at);
        }
        for child in trie.children(state) {
            for byte in trie.fold().spellings(trie.label(child)) {
                rows[at + usize::from(byte)] = child;
            }
        }
    }
    rows
}

/// Refuses sets with longer patterns than [`LONGEST`].
pub(crate) fn check_longest(set: &PatternSet) -> Result<(), Refusal> {
    check_length(set, LONGEST)
}

/// Refuses sets with patterns longer than `longest`.
pub(crate) fn check_length(set: &PatternSet, longest: usize) -> Result<(), Refusal> {
    let (need, have) = (set.max_len() as u64, longest as u64);
    if need > have {
        return Err(Refusal::TooBig { what: "bytes of the longest pattern", need, have });
    }
    Ok(())
}

/// Refuses tables of more words than a texture can have.
pub(crate) fn check_texture(words: u64) -> Result<(), Refusal> {
    if words > TEXELS {
        return Err(Refusal::TooBig { what: "words of a texture", need: words, have: TEXELS });
    }
    Ok(())
}

/// Refuses groups that need more shared memory than the device has.
pub(crate) fn check_shared(need: u32, device: &Device) -> Result<(), Refusal> {
    let have = device.properties().shared;
    if need > have {
        return Err(Refusal::TooBig {
            what: "bytes of shared memory, which grows with the longest pattern",
            need: need.into(),
            have: have.into(),
        });
    }
    Ok(())
}

impl DenseSearch {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        ladder: LadderKernel,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_longest(set)?;
        let confirm = Trie::must_confirm(set);
        let states = Trie::count_states(set);
        opt.check_memory(states * 1024 + confirm.len() as u64)?;
        if ladder.texture {
            check_texture(states * 256)?;
        }
        let overlap = set.overlap() as u32;
        let need = (ladder.shared)(overlap);
        check_shared(need, device)?;
        let positions = if need == 0 { ladder.positions.max(overlap) } else { ladder.positions };
        let trie = Trie::new(set)?;
        let kernel = device.kernel(ladder.source, ladder.kernel)?;
        let table = device.upload(&device.queue()?, &words(&rows(&trie, 256)))?;
        let table = if ladder.texture { table.into_texture()? } else { table };
        let outputs = |s| trie.is_output(s) || trie.output_link(s) != 0;
        let has_output = (0..trie.len() as u32).map(outputs).collect();
        let host_bytes =
            Trie::memory_for(trie.len() as u64, set) + (trie.len() + confirm.len()) as u64;
        Ok(Box::new(DenseSearch {
            ladder,
            kernel,
            table,
            has_output,
            trie,
            confirm,
            overlap,
            positions,
            host_bytes,
        }))
    }

    /// Puts the kernel on the queue; states come to the workspace's buffer 0.
    fn run(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<(), Fault> {
        workspace.reserve(0, tile.bytes() as usize * 4)?;
        self.launch(workspace.queue(), tile, workspace.buffer(0))
    }

    /// Appends the patterns that end at `end` in this state.
    fn report(&self, mut state: u32, end: u32, records: &mut Vec<Record>) {
        while state != 0 {
            records.extend(self.trie.own(state).iter().map(|&pattern| Record { end, pattern }));
            state = self.trie.output_link(state);
        }
    }
}

impl States for DenseSearch {
    fn launch(&self, queue: &Queue, tile: Tile<'_>, states: &Buffer) -> Result<(), Fault> {
        let group = self.ladder.items.saturating_mul(self.positions);
        let shape = LaunchShape {
            groups: tile.bytes().div_ceil(group),
            items: self.ladder.items,
            shared: (self.ladder.shared)(self.overlap),
        };
        let args: [Arg<'_>; 7] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            self.overlap.into(),
            self.positions.into(),
            (&self.table).into(),
            states.into(),
        ];
        let room = states.len() / 4;
        assert!(tile.bytes() as usize <= room, "{} states, room for {room}", tile.bytes());
        debug_assert!(self.table.len() == 1024 * self.trie.len());
        // SAFETY: every kernel of the ladder declares these arguments (`LadderKernel`), and
        // `LadderKernel::shared` sizes what it stages. Reads: the text in whole words of 16 bytes,
        // less than 16 past its end, which a tile's padding covers; the row of each state that the
        // table contains, for any byte. Writes: `output[i]` for i below `bytes`; the assertion
        // checks the room.
        unsafe { queue.launch(&self.kernel, shape, &args) }
    }

    fn records(&self, overlap: u32, states: &[u8], records: &mut Vec<Record>) {
        for (end, state) in (overlap + 1..).zip(states.chunks_exact(4)) {
            let state = u32::from_le_bytes(state.try_into().expect("four bytes"));
            if self.has_output[state as usize] {
                self.report(state, end, records);
            }
        }
    }
}

impl Search for DenseSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        self.run(workspace, tile)?;
        let mut states = workspace.take_host();
        states.resize(tile.owned() as usize * 4, 0);
        workspace.read(0, tile.overlap() as usize * 4, &mut states)?;
        self.records(tile.overlap(), &states, records);
        workspace.return_host(states);
        Ok(())
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        workspace.reserve(0, tile.bytes() as usize * 4)?;
        let queue = workspace.queue();
        let seconds = queue.time(|| self.launch(queue, tile, workspace.buffer(0)))?;
        Ok(Timed { seconds, records: u64::from(tile.owned()), candidates: 0 })
    }

    fn states(&self) -> Option<&dyn States> {
        Some(self)
    }

    fn is_ordered(&self) -> bool {
        true
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        Footprint { host: self.host_bytes, device: self.table.len() as u64 }
    }

    fn describe(&self) -> String {
        let overhead = 1.0 + f64::from(self.overlap) / f64::from(self.positions);
        format!(
            "{} states, a table of {} bytes, {} positions per work item: {overhead:.3} times the work (Z IV-A)",
            self.trie.len(),
            self.table.len(),
            self.positions
        )
    }
}
