//! The ladder's common host half: an automaton whose every state is written, as Zha and Sahni do it.
//!
//! The kernel writes `output[i]`, the state after byte i. Matches are derived from that here: the patterns of a
//! state are its own and those of its output links, longest first, which is the canonical order.
//!
//! The table has a row of 256 entries for each state (Tran et al. 2012, fig. 5 add a column for matches; here the host
//! keeps that). Sets that hold a pattern which ignores case have both spellings overlap to the same state.

use fyke_automata::Trie;
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, Queue, Shape, words};
use fyke_gpu::kernel::Source;
use fyke_gpu::matcher::{Lane, Search, States, Tile};
use fyke_gpu::resident::Timed;

/// Most bytes of a tile. Four bytes are written and copied back for each; not swept.
const TILE: usize = 32 << 20;

/// Bytes of the longest pattern that the ladder takes. Every work item walks that far before its first position; the papers'
/// patterns have 17 bytes, and longer ones than this are for the product engines.
pub(crate) const LONGEST: usize = 4096;

/// Words that a texture can have on every device that the kernels are compiled for.
const TEXELS: u64 = 1 << 27;

/// How a kernel of the ladder is launched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// Where its text is.
    pub source: &'static Source,
    /// Its name.
    pub kernel: &'static str,
    /// Work items of a group; T in the paper.
    pub items: u32,
    /// Output positions of a work item, S_thread in the paper. Where groups stage no tile in shared memory, it grows
    /// with the longest pattern, so that the work is never more than twice the text's length.
    pub positions: u32,
    /// Whether the table is read through a texture.
    pub texture: bool,
    /// Bytes of shared memory for a group beside what the kernel declares, given the bytes of overlap.
    pub shared: fn(u32) -> u32,
}

/// An automaton on a device.
pub(crate) struct Dense {
    launch: Launch,
    kernel: Kernel,
    table: Buffer,
    texture: Option<Buffer>,
    trie: Trie,
    has_output: Vec<bool>,
    confirm: Vec<bool>,
    overlap: u32,
    positions: u32,
    host_bytes: u64,
}

/// The rows of the automaton: the state after each byte in each state, and 0 in the columns after those.
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

/// Refuses sets with longer patterns than that.
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

/// Refuses groups that take more shared memory than the device has.
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

impl Dense {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        launch: Launch,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_longest(set)?;
        let confirm = Trie::must_confirm(set);
        let states = Trie::count_states(set);
        opt.check_memory(states * 1024 + confirm.len() as u64)?;
        if launch.texture {
            check_texture(states * 256)?;
        }
        let overlap = set.overlap() as u32;
        let need = (launch.shared)(overlap);
        check_shared(need, device)?;
        let positions = if need == 0 { launch.positions.max(overlap) } else { launch.positions };
        let trie = Trie::new(set)?;
        let kernel = device.kernel(launch.source, launch.kernel)?;
        let table = device.upload(&device.queue()?, &words(&rows(&trie, 256)))?;
        let texture = launch.texture.then(|| table.texture()).transpose()?;
        let outputs = |s| trie.is_output(s) || trie.output_link(s) != 0;
        let has_output = (0..trie.len() as u32).map(outputs).collect();
        let host_bytes =
            Trie::memory_for(trie.len() as u64, set) + (trie.len() + confirm.len()) as u64;
        Ok(Box::new(Dense {
            launch,
            kernel,
            table,
            texture,
            has_output,
            trie,
            confirm,
            overlap,
            positions,
            host_bytes,
        }))
    }

    /// Puts the kernel on the queue; states are written to the lane's first buffer.
    fn run(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<(), Fault> {
        lane.buffer(0, tile.bytes as usize * 4)?;
        self.launch(&lane.queue, tile, lane.held(0))
    }

    /// Appends the patterns that end at `end` in this state.
    fn report(&self, mut state: u32, end: u32, records: &mut Vec<Record>) {
        while state != 0 {
            records.extend(self.trie.own(state).iter().map(|&pattern| Record { end, pattern }));
            state = self.trie.output_link(state);
        }
    }
}

impl States for Dense {
    fn launch(&self, queue: &Queue, tile: Tile<'_>, states: &Buffer) -> Result<(), Fault> {
        let group = self.launch.items.saturating_mul(self.positions);
        let shape = Shape {
            groups: tile.bytes.div_ceil(group),
            items: self.launch.items,
            shared: (self.launch.shared)(self.overlap),
        };
        let table = self.texture.as_ref().unwrap_or(&self.table);
        let args: [Arg<'_>; 7] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            self.overlap.into(),
            self.positions.into(),
            table.into(),
            states.into(),
        ];
        let room = states.len() / 4;
        assert!(tile.bytes as usize <= room, "{} states, room for {room}", tile.bytes);
        // SAFETY: every kernel of the ladder declares these arguments, and writes only below `bytes`.
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

impl Search for Dense {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        self.run(lane, tile)?;
        let mut states = std::mem::take(&mut lane.host);
        states.resize((tile.bytes - tile.overlap) as usize * 4, 0);
        lane.read(0, tile.overlap as usize * 4, &mut states)?;
        self.records(tile.overlap, &states, records);
        lane.host = states;
        Ok(())
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        lane.buffer(0, tile.bytes as usize * 4)?;
        let seconds = lane.queue.time(|| self.launch(&lane.queue, tile, lane.held(0)))?;
        Ok(Timed { seconds, records: u64::from(tile.bytes - tile.overlap), candidates: 0 })
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
            "{} states, a table of {} bytes, {} positions a work item: {overhead:.3} times the work (Z IV-A)",
            self.trie.len(),
            self.table.len(),
            self.positions
        )
    }
}
