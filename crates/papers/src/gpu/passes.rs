//! A pass for each pattern: what the engines share that search for one pattern after the other.
//!
//! The papers launch a kernel for every pattern. Here the grid has a second dimension, patterns, and one launch makes
//! as many passes as its list of records allows: small texts fill the device that way too. The work still grows
//! with the number of patterns.
//!
//! Patterns lie one after the other on the device, with a table of 16-bit numbers for each. Those that ignore case lie
//! there in lower case, and their passes read the text so.

use crate::gpu::dense::check_longest;
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, Shape};
use fyke_gpu::kernel::Source;
use fyke_gpu::matcher::{Lane, Search, Tile};
use fyke_gpu::resident::Timed;
use fyke_gpu::sparse::{self, Cut, Found, List};

/// Most bytes of a tile; not swept.
const TILE: usize = 32 << 20;

/// Work items of a group; not swept.
const ITEMS: u32 = 64;

/// Most work items that a pass may be asked to have.
const MOST_THREADS: usize = 1 << 20;

/// Words of the description of a pattern.
const DESCRIPTION: usize = 4;

/// How a kernel of this kind is launched. Its arguments are
///
/// ```text
/// GLOBAL const u8 *text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 groups, u32 first_pattern,
/// GLOBAL const u32 *descriptions, GLOBAL const u8 *patterns, GLOBAL const u16 *tables, GLOBAL u32 *found, u32 room
/// ```
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    /// Where its text is.
    pub source: &'static Source,
    /// Its name.
    pub kernel: &'static str,
    /// The table of a pattern.
    pub table: fn(&[u8]) -> Vec<u16>,
    /// Entries of the table of a pattern of so many bytes.
    pub entries: fn(usize) -> usize,
    /// Bytes of shared memory for a group, given the bytes of the longest pattern.
    pub shared: fn(u32) -> u32,
}

/// Patterns on a device.
pub(crate) struct Passes {
    kernel: Kernel,
    shared: u32,
    threads: u32,
    patterns: u32,
    overlap: u32,
    descriptions: Buffer,
    bytes: Buffer,
    tables: Buffer,
}

impl Passes {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        launch: Launch,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_longest(set)?;
        let entries: u64 = set.iter().map(|p| (launch.entries)(p.bytes.len()) as u64).sum();
        let (need, have) = (entries.max(set.total_bytes() as u64), u64::from(u32::MAX));
        if need > have {
            return Err(Refusal::TooBig { what: "entries of tables", need, have });
        }
        let described = (set.len() * DESCRIPTION * 4) as u64;
        // On the host and on the device.
        opt.check_memory(2 * (set.total_bytes() as u64 + 2 * entries + described))?;
        let shared = (launch.shared)(set.max_len() as u32);
        let (need, have) = (shared, device.properties().shared);
        if need > have {
            return Err(Refusal::TooBig {
                what: "bytes of shared memory, which grows with the longest pattern",
                need: need.into(),
                have: have.into(),
            });
        }
        let kernel = device.kernel(launch.source, launch.kernel)?;
        let shape = Shape { groups: 1, items: ITEMS, shared };
        let flat = Flat::of(set, launch.table);
        let queue = device.queue()?;
        Ok(Box::new(Passes {
            threads: match opt.number("threads", 1..=MOST_THREADS)? {
                Some(threads) => threads as u32,
                None => kernel.resident_groups(shape).saturating_mul(ITEMS),
            },
            kernel,
            shared,
            patterns: set.len() as u32,
            overlap: set.overlap() as u32,
            descriptions: device.upload(&queue, &flat.descriptions)?,
            bytes: device.upload(&queue, &flat.bytes)?,
            tables: device.upload(&queue, &flat.tables)?,
        }))
    }

    /// How many passes a launch may make over so many positions.
    fn passes(positions: u32) -> u32 {
        (sparse::MOST / positions.max(1)).max(1)
    }

    /// Calls `each` with every launch that a tile takes, and waits if there is none.
    fn launches(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        mut each: impl FnMut(
            &mut Lane,
            &dyn Fn(&Lane, List<'_>) -> Result<(), Fault>,
        ) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let positions = tile.owned();
        let cut = Cut::of(positions, self.threads, ITEMS, self.overlap);
        if cut.groups == 0 {
            return lane.queue.finish();
        }
        let most = Self::passes(positions);
        for first in (0..self.patterns).step_by(most as usize) {
            let passes = most.min(self.patterns - first);
            each(lane, &|lane, list| self.run(lane, tile, cut, first, passes, list))?;
        }
        Ok(())
    }

    /// Puts some passes on the queue.
    fn run(
        &self,
        lane: &Lane,
        tile: Tile<'_>,
        cut: Cut,
        first: u32,
        passes: u32,
        list: List<'_>,
    ) -> Result<(), Fault> {
        let shape = Shape { groups: cut.groups * passes, items: ITEMS, shared: self.shared };
        let [found, room] = list.args();
        let args: [Arg<'_>; 12] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            tile.overlap.into(),
            cut.positions.into(),
            cut.groups.into(),
            first.into(),
            (&self.descriptions).into(),
            (&self.bytes).into(),
            (&self.tables).into(),
            found,
            room,
        ];
        // SAFETY: every kernel of this kind declares these arguments, and writes only through `record`.
        unsafe { lane.queue.launch(&self.kernel, shape, &args) }
    }
}

impl Search for Passes {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        self.launches(lane, tile, |lane, launch| {
            let each = |f: Found| records.push(Record { end: f.place, pattern: f.what });
            sparse::collect(lane, launch, each)
        })
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        let mut sum = Timed::default();
        self.launches(lane, tile, |lane, launch| {
            sum = sum.then(sparse::time(lane, 0, launch)?);
            Ok(())
        })?;
        Ok(sum)
    }

    fn footprint(&self) -> Footprint {
        let device = self.descriptions.len() + self.bytes.len() + self.tables.len();
        Footprint { host: 0, device: device as u64 }
    }

    fn describe(&self) -> String {
        format!(
            "{} patterns, a pass for each with {} work items, {} bytes of shared memory a group",
            self.patterns, self.threads, self.shared
        )
    }
}

/// The patterns one after the other, as bytes for the device.
#[derive(Default)]
struct Flat {
    /// Four words a pattern: where its bytes begin, how many there are, how many letters from A on it reads in lower
    /// case (26 or none), and where its table begins.
    descriptions: Vec<u8>,
    bytes: Vec<u8>,
    tables: Vec<u8>,
}

impl Flat {
    fn of(set: &PatternSet, table: fn(&[u8]) -> Vec<u16>) -> Self {
        let mut flat = Flat::default();
        for pattern in set.iter() {
            let letters = if pattern.nocase { 26 } else { 0 };
            let description = [
                flat.bytes.len() as u32,
                pattern.bytes.len() as u32,
                letters,
                (flat.tables.len() / 2) as u32,
            ];
            flat.descriptions.extend(description.iter().flat_map(|w| w.to_le_bytes()));
            flat.tables.extend(table(pattern.bytes).iter().flat_map(|e| e.to_le_bytes()));
            flat.bytes.extend(pattern.bytes);
        }
        flat
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternId;

    #[test]
    fn a_launch_finds_no_more_than_the_counter_counts() {
        for positions in [0, 1, 1000, TILE as u32] {
            let most = u64::from(Passes::passes(positions)) * u64::from(positions);
            assert!(most <= u64::from(sparse::MOST));
        }
    }

    #[test]
    fn patterns_that_ignore_case_are_flattened_in_lower_case() {
        let mut set = PatternSet::builder();
        set.push_with(PatternId(0), b"AbC", false).unwrap();
        set.push_with(PatternId(1), b"XyZ", true).unwrap();
        let set = set.build();
        let flat = Flat::of(&set, |p| vec![p.len() as u16; 2]);
        assert_eq!((&flat.bytes[..], flat.tables.len()), (&b"AbCxyz"[..], 8));
        let words: Vec<u32> = flat
            .descriptions
            .chunks(4)
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
            .collect();
        assert_eq!(words, [0, 3, 0, 0, 3, 3, 26, 2]);
    }
}
