//! Multipattern Boyer-Moore on a device: what `gpu-mbm0` and `gpu-mbm1` share.
//!
//! The reversed trie of the patterns has a row of 256 children for each node, and lies in the memory that the engine
//! says. Three shift functions lie in shared memory, where each group copies them first: B by byte, shift1 and shift2 by
//! node. They are those of the processor's engine
//! [`bm_multi`](crate::cpu::bm_multi), which says what they mean and why the window moves by
//!
//! > min(max(shift1, B(c) - depth - 1), shift2)
//!
//! and not, as Zha prints it on page 94, by the largest of the three.
//!
//! Four bytes for each node have to fit a group's shared memory: sets with more nodes are refused.

use crate::build::reverse::bad_characters;
use crate::cpu::bm_multi;
use crate::gpu::dense::check_longest;
use fyke_automata::{Direction, Trie};
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, Shape, words};
use fyke_gpu::kernel::Source;
use fyke_gpu::matcher::{Lane, Search, Tile};
use fyke_gpu::resident::Timed;
use fyke_gpu::sparse::{self, Cut, Found, List};

/// Most bytes of a tile; not swept.
const TILE: usize = 32 << 20;

/// Work items of a group: T of the paper.
const ITEMS: u32 = 64;

/// The bit of a child that ends a pattern.
const ENDS: u32 = 1 << 31;

/// A reversed trie on a device.
pub(crate) struct Reverse {
    kernel: Kernel,
    threads: u32,
    table: Buffer,
    texture: Option<Buffer>,
    shifts: Buffer,
    trie: Trie,
    /// The nearest node with patterns on the way from each node to the root.
    above: Vec<u32>,
    confirm: Vec<bool>,
    window: u32,
    overlap: u32,
    host_bytes: u64,
}

impl Reverse {
    /// Compiles a set for the kernel of that name, with the trie in a texture or in plain device memory.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        (source, name): (&'static Source, &str),
        texture: bool,
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
        let kernel = device.kernel(source, name)?;
        let shape = Shape { groups: 1, items: ITEMS, shared: need as u32 };
        let queue = device.queue()?;
        let table = device.upload(&queue, &words(&rows(&trie)))?;
        Ok(Box::new(Reverse {
            threads: kernel.resident_groups(shape).saturating_mul(ITEMS),
            kernel,
            texture: texture.then(|| table.texture()).transpose()?,
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

    /// How a tile is cut.
    fn cut(&self, tile: Tile<'_>) -> Cut {
        Cut::of(tile.owned(), self.threads, ITEMS, self.overlap)
    }

    /// Puts the kernel on the queue.
    fn run(&self, lane: &Lane, tile: Tile<'_>, cut: Cut, list: List<'_>) -> Result<(), Fault> {
        let shared = shared(self.states().into()) as u32;
        let shape = Shape { groups: cut.groups, items: ITEMS, shared };
        let [found, room] = list.args();
        let args: [Arg<'_>; 11] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            tile.overlap.into(),
            cut.positions.into(),
            self.window.into(),
            self.states().into(),
            self.texture.as_ref().unwrap_or(&self.table).into(),
            (&self.shifts).into(),
            found,
            room,
        ];
        // SAFETY: both kernels declare these arguments, and write only through `record`.
        unsafe { lane.queue.launch(&self.kernel, shape, &args) }
    }

    /// Appends the patterns on the way from a node to the root: those that end at `end`.
    fn report(&self, mut state: u32, end: u32, records: &mut Vec<Record>) {
        while state != 0 {
            records.extend(self.trie.own(state).iter().map(|&pattern| Record { end, pattern }));
            state = self.above[state as usize];
        }
    }
}

impl Search for Reverse {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let cut = self.cut(tile);
        if cut.groups == 0 {
            return lane.queue.finish();
        }
        let launch = |lane: &Lane, list: List<'_>| self.run(lane, tile, cut, list);
        sparse::collect(lane, launch, |f: Found| self.report(f.what, f.place, records))
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        let cut = self.cut(tile);
        if cut.groups == 0 {
            return Ok(Timed::default());
        }
        sparse::time(lane, 0, |lane, list| self.run(lane, tile, cut, list))
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

/// Bytes of shared memory: a word for each byte value and each node.
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

/// B for each byte, then shift1 in the lower half of a word and shift2 in the upper for each node.
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
