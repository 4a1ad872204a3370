//! PFAC, parallel failureless Aho-Corasick: a walk from every position, and no failure links.
//!
//! A failure link is needed to continue after a mismatch with what may have begun since. If a walk
//! begins at every position, it can end there: the table has 0 where there is no transition, and
//! most walks end after a byte or two. Neighbors read neighboring bytes of a text that the group
//! staged in shared memory, where the root's row is, too, because every walk begins with it. Other
//! rows are read through a texture.
//!
//! States that end a pattern have the smallest numbers, so one comparison recognizes them. A walk
//! writes the last of them, that of the longest pattern that begins there. The other patterns that
//! begin there are its prefixes, and the host finds them by a link from each to the next shorter
//! one.
//!
//! It wins where walks are short, with many patterns, too. It loses where they are long: text of
//! long runs and patterns of such runs take a walk of the longest pattern at each position, which
//! Aho-Corasick never does, and a warp waits for its longest walk. So sets with patterns of more
//! than 256 bytes are refused: that bounds the worst case, and no walk leaves the bytes that its
//! group staged. The output takes four bytes per position, as the ladder's does.
//!
//! Differences from the original: it reports the longest pattern of each position and takes longer
//! ones; here all matches are reported.
//!
//! Lin, Tsai, Liu, Chang and Shyu, *Accelerating string matching using multi-threaded algorithm on
//! GPU*, GLOBECOM 2010; as Tran et al. 2012, 4.1, describe it.

use crate::gpu::dense::{check_length, check_texture};
use fyke_automata::Trie;
use fyke_core::{Device, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Fault, Kernel, LaunchShape, words};
use fyke_gpu::kernel::{KernelSource, kernel_source};
use fyke_gpu::matcher::{GpuEngine, Search, Tile, Workspace};
use fyke_gpu::resident::Timed;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-pfac",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "Aho-Corasick without failure links, a walk from each position",
        source: "Lin et al. 2010",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Ok(Box::new(PfacSearch::prepare(set, opt, device)?)),
    options: &[],
};

static SOURCE: KernelSource = kernel_source!("gpu_pfac", ["gpu_pfac"]);

/// Work items of a group.
const ITEMS: u32 = 256;

/// Positions of a group, as in the kernel. Benchmark: `fyke bench gpu -e gpu-pfac` with random
/// strings and Snort's on an H200, with 256 and 1,024.
const POSITIONS: u32 = 1024;

/// Longest pattern. There is a walk from every position, so the worst case is as many transitions
/// per byte, and a group stages as many bytes beyond its own.
const LONGEST: usize = 256;

/// The maximum number of bytes of a tile. Four bytes are written and copied back for each. Not
/// measured: a guess.
const TILE: usize = 32 << 20;

/// The patterns of a state, and the state of their longest proper prefix that is a pattern, too.
struct FinalState {
    patterns: Vec<u32>,
    bytes: u32,
    shorter: u32,
}

struct PfacSearch {
    kernel: Kernel,
    /// A texture.
    table: Buffer,
    /// By number; the first is unused, because 0 means that there is no transition.
    finals: Vec<FinalState>,
    confirm: Vec<bool>,
    states: usize,
}

/// New numbers of a trie's states: 0 for the root, then those that end a pattern, then the rest.
fn renumber(trie: &Trie) -> Vec<u32> {
    let mut numbers = vec![0; trie.len()];
    let (ending, other): (Vec<u32>, Vec<u32>) =
        (1..trie.len() as u32).partition(|&s| !trie.own(s).is_empty());
    for (number, state) in (1..).zip(ending.into_iter().chain(other)) {
        numbers[state as usize] = number;
    }
    numbers
}

/// A row of 256 entries for each state, by number: the next state, or 0.
fn rows(trie: &Trie, numbers: &[u32]) -> Vec<u32> {
    let mut rows = vec![0u32; trie.len() * 256];
    for state in 0..trie.len() as u32 {
        let row = numbers[state as usize] as usize * 256;
        for child in trie.children(state) {
            for byte in trie.fold().spellings(trie.label(child)) {
                rows[row + usize::from(byte)] = numbers[child as usize];
            }
        }
    }
    rows
}

/// The patterns of each state that ends one, by number.
fn finals(trie: &Trie, numbers: &[u32], set: &PatternSet) -> Vec<FinalState> {
    let parents = trie.parents();
    // The nearest state towards the root, itself included, that ends a pattern.
    let mut nearest = vec![0u32; trie.len()];
    let mut finals = vec![FinalState { patterns: Vec::new(), bytes: 0, shorter: 0 }];
    for state in 1..trie.len() {
        let shorter = nearest[parents[state] as usize];
        let patterns = trie.own(state as u32);
        nearest[state] = if patterns.is_empty() { shorter } else { numbers[state] };
        if let Some(&first) = patterns.first() {
            let bytes = set.pattern_len(first) as u32;
            finals.push(FinalState { patterns: patterns.to_vec(), bytes, shorter });
        }
    }
    finals
}

impl PfacSearch {
    fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &fyke_gpu::device::Device,
    ) -> Result<Self, Refusal> {
        check_length(set, LONGEST)?;
        let states = Trie::count_states(set);
        opt.check_memory(states * 1024)?;
        check_texture(states * 256)?;
        let trie = Trie::new(set)?;
        let numbers = renumber(&trie);
        let table = device.upload(&device.queue()?, &words(&rows(&trie, &numbers)))?;
        Ok(Self {
            kernel: device.kernel(&SOURCE, "gpu_pfac")?,
            table: table.into_texture()?,
            finals: finals(&trie, &numbers, set),
            confirm: Trie::must_confirm(set),
            states: trie.len(),
        })
    }

    /// Makes room for the states in the workspace's buffer 0.
    fn make_room(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<(), Fault> {
        workspace.reserve(0, tile.bytes() as usize * 4).map(drop)
    }

    /// Puts the kernel on the queue.
    ///
    /// # Panics
    /// There is no room for the states.
    fn launch(&self, workspace: &Workspace, tile: Tile<'_>) -> Result<(), Fault> {
        let shape =
            LaunchShape { groups: tile.bytes().div_ceil(POSITIONS), items: ITEMS, shared: 0 };
        let output = workspace.buffer(0);
        assert!(output.len() / 4 >= tile.bytes() as usize, "room for the states");
        debug_assert!(self.table.len() == 1024 * self.states);
        let args: [Arg<'_>; 6] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            (self.finals.len() as u32 - 1).into(),
            (&self.table).into(),
            output.into(),
        ];
        // SAFETY: these are the arguments that the kernel declares. Reads: the text in whole words
        // of four bytes, which a tile's padding covers; the row of each state that the table
        // contains, for any byte; the bytes that the group staged, beyond which no walk gets
        // because patterns have at most 256 bytes (`prepare`). Writes: `output[i]` for i below
        // `bytes`; the assertion checks the room.
        unsafe { workspace.queue().launch(&self.kernel, shape, &args) }
    }

    /// Appends the patterns that begin at `start` and end after the overlap: the longest, and its
    /// prefixes.
    fn report(&self, mut number: u32, start: u32, overlap: u32, records: &mut Vec<Record>) {
        while number != 0 {
            let found = &self.finals[number as usize];
            let end = start + found.bytes;
            if end <= overlap {
                return;
            }
            records.extend(found.patterns.iter().map(|&pattern| Record { end, pattern }));
            number = found.shorter;
        }
    }
}

impl Search for PfacSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        self.make_room(workspace, tile)?;
        self.launch(workspace, tile)?;
        let mut found = workspace.take_host();
        found.resize(tile.bytes() as usize * 4, 0);
        workspace.read(0, 0, &mut found)?;
        for (start, number) in (0..).zip(found.chunks_exact(4)) {
            let number = u32::from_le_bytes(number.try_into().expect("four bytes"));
            self.report(number, start, tile.overlap(), records);
        }
        workspace.return_host(found);
        Ok(())
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        self.make_room(workspace, tile)?;
        let seconds = workspace.queue().time(|| self.launch(workspace, tile))?;
        Ok(Timed { seconds, records: u64::from(tile.owned()), candidates: 0 })
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        let patterns: usize = self.finals.iter().map(|f| f.patterns.len() * 4).sum();
        let host = self.finals.len() * size_of::<FinalState>() + patterns + self.confirm.len();
        Footprint { host: host as u64, device: self.table.len() as u64 }
    }

    fn describe(&self) -> String {
        format!(
            "{} states without failure links, a table of {} bytes",
            self.states,
            self.table.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_finds_the_longest_pattern_and_links_lead_to_the_others() {
        let set = PatternSet::new(["ab", "b", "abcd", "abce"]).unwrap();
        let trie = Trie::new(&set).unwrap();
        let numbers = renumber(&trie);
        let rows = rows(&trie, &numbers);
        let finals = finals(&trie, &numbers, &set);
        let walk = |text: &[u8]| {
            text.iter().fold(0, |s, b| rows[s as usize * 256 + usize::from(*b)]) as usize
        };
        assert_eq!(finals.len(), 5, "one before the first");
        let abcd = &finals[walk(b"abcd")];
        assert_eq!((abcd.bytes, abcd.shorter as usize), (4, walk(b"ab")));
        assert_eq!(finals[walk(b"ab")].shorter, 0, "b begins elsewhere");
        assert!(walk(b"abc") >= finals.len(), "ends nothing");
        assert_eq!(walk(b"abx"), 0, "no way on");
    }

    #[test]
    fn longer_patterns_are_refused() {
        let check =
            |bytes: usize| check_length(&PatternSet::new([vec![b'a'; bytes]]).unwrap(), LONGEST);
        assert!(check(256).is_ok() && matches!(check(257), Err(Refusal::TooBig { .. })));
    }
}
