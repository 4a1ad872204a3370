//! Parallel failureless Aho-Corasick: a work item for every position, and no failure links.
//!
//! A failure link is needed to go on after a mismatch, with what may have begun since. If a walk begins at every position, it
//! can end there: the table has 0, for no way on, and most walks of a text end after a byte or two. Neighbours read
//! neighbouring bytes, from a piece of the text that the group staged in shared memory, where the root's row is too, since
//! every walk begins with it. The other rows are read through a texture.
//!
//! States that end a pattern have the smallest numbers, so one comparison tells. A walk writes the last of them it came
//! by, that of the longest pattern that begins there. Others that begin at the same position are prefixes of it, and
//! the host finds them by a link from each to the next shorter one: nothing is lost by writing one number.
//!
//! It should win where walks are short, on many patterns too. It loses where they are not: a text of long runs against
//! patterns of such runs takes a walk of the longest pattern's length at each position, which Aho-Corasick never does, and
//! a warp waits for its longest walk. Hence sets with patterns of more than 256 bytes are refused: that bounds the worst
//! case, and no walk leaves the 512 bytes that its group staged. The output is as long as that of the ladder, four
//! bytes a position.
//!
//! Where it differs from the original: the original reports the longest pattern of each position, and takes longer
//! ones; here all are reported.
//!
//! Lin, Tsai, Liu, Chang and Shyu, *Accelerating string matching using multi-threaded algorithm on GPU*, GLOBECOM 2010; as
//! Tran et al. 2012, 4.1, describe it.

use crate::gpu::dense::{check_length, check_texture};
use fyke_automata::Trie;
use fyke_core::{Device, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Fault, Kernel, Shape, words};
use fyke_gpu::kernel::{Source, source};
use fyke_gpu::matcher::{GpuEngine, Lane, Search, Tile};
use fyke_gpu::resident::Timed;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-pfac",
        device: Device::Gpu,
        family: Family::Paper,
        growth: Growth::Flat,
        about: "Aho-Corasick without failure links, a thread for each position",
        source: "Lin et al. 2010",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare: |set, opt, device| Ok(Box::new(Pfac::prepare(set, opt, device)?)),
    options: &[],
};

static SOURCE: Source = source!("gpu_pfac", ["gpu_pfac"]);

/// Work items of a group, and so its positions.
const ITEMS: u32 = 256;

/// Bytes of the longest pattern. Every position walks on its own, so that the worst case is as many transitions a byte;
/// and a group stages so many bytes beside its own.
const LONGEST: usize = 256;

/// Most bytes of a tile. Four bytes are written and copied back for each; not swept.
const TILE: usize = 32 << 20;

/// Patterns that end in one state, and the state of the longest proper prefix that ends one too.
struct Final {
    patterns: Vec<u32>,
    bytes: u32,
    shorter: u32,
}

struct Pfac {
    kernel: Kernel,
    table: Buffer,
    texture: Buffer,
    /// By number; the first means nothing, for 0 is no way on.
    finals: Vec<Final>,
    confirm: Vec<bool>,
    states: usize,
}

/// New numbers of a trie's states: 0 for the root, then those that end a pattern, then the others.
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

/// What ends in each state that ends something, by number.
fn finals(trie: &Trie, numbers: &[u32], set: &PatternSet) -> Vec<Final> {
    let parents = trie.parents();
    // The nearest state on the way to the root, itself included, that ends something.
    let mut nearest = vec![0u32; trie.len()];
    let mut finals = vec![Final { patterns: Vec::new(), bytes: 0, shorter: 0 }];
    for state in 1..trie.len() {
        let shorter = nearest[parents[state] as usize];
        let patterns = trie.own(state as u32);
        nearest[state] = if patterns.is_empty() { shorter } else { numbers[state] };
        if let Some(&first) = patterns.first() {
            let bytes = set.pattern_len(first) as u32;
            finals.push(Final { patterns: patterns.to_vec(), bytes, shorter });
        }
    }
    finals
}

impl Pfac {
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
            texture: table.texture()?,
            table,
            finals: finals(&trie, &numbers, set),
            confirm: Trie::must_confirm(set),
            states: trie.len(),
        })
    }

    /// Makes room for the longest patterns in the lane's first buffer.
    fn make_room(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<(), Fault> {
        lane.buffer(0, tile.bytes as usize * 4).map(drop)
    }

    /// Puts the kernel on the queue; there has to be room.
    fn launch(&self, lane: &Lane, tile: Tile<'_>) -> Result<(), Fault> {
        let shape = Shape { groups: tile.bytes.div_ceil(ITEMS), items: ITEMS, shared: 0 };
        let args: [Arg<'_>; 6] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            (self.finals.len() as u32 - 1).into(),
            (&self.texture).into(),
            lane.held(0).into(),
        ];
        // SAFETY: these are the kernel's arguments, and it writes only below `bytes`.
        unsafe { lane.queue.launch(&self.kernel, shape, &args) }
    }

    /// Appends the patterns that begin at `start` and end after the overlap: the longest, and its prefixes.
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

impl Search for Pfac {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        self.make_room(lane, tile)?;
        self.launch(lane, tile)?;
        let mut found = std::mem::take(&mut lane.host);
        found.resize(tile.bytes as usize * 4, 0);
        lane.read(0, 0, &mut found)?;
        for (start, number) in (0..).zip(found.chunks_exact(4)) {
            let number = u32::from_le_bytes(number.try_into().expect("four bytes"));
            self.report(number, start, tile.overlap, records);
        }
        lane.host = found;
        Ok(())
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        self.make_room(lane, tile)?;
        let seconds = lane.queue.time(|| self.launch(lane, tile))?;
        Ok(Timed { seconds, records: u64::from(tile.bytes - tile.overlap), candidates: 0 })
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        let patterns: usize = self.finals.iter().map(|f| f.patterns.len() * 4).sum();
        let host = self.finals.len() * size_of::<Final>() + patterns + self.confirm.len();
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
