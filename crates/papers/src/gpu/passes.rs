//! One pass over the text for each pattern: what `gpu-kmp` and `gpu-ebm` share.
//!
//! The papers launch a kernel for every pattern. Here the grid has a second dimension, patterns,
//! and one launch makes as many passes as its list of records allows, so that small texts fill the
//! device, too. The work still grows with the number of patterns.
//!
//! The patterns are concatenated on the device, with a table of 16-bit numbers for each. Patterns
//! that ignore case are stored in lower case, and their passes fold the text.

use crate::gpu::dense::{check_longest, check_shared};
use crate::gpu::division::Division;
use fyke_core::{Footprint, Options, PatternSet, Record, Refusal};
use fyke_gpu::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape};
use fyke_gpu::kernel::KernelSource;
use fyke_gpu::matcher::{Search, Tile, Workspace};
use fyke_gpu::resident::Timed;
use fyke_gpu::sparse::{self, RawRecord, RecordList};
use std::ops::Range;

/// The maximum number of bytes of a tile. Not measured: a guess.
const TILE: usize = 32 << 20;

/// Work items of a group. Not measured: a guess.
const ITEMS: u32 = 64;

/// Largest value of the option `threads`.
const MOST_THREADS: usize = 1 << 20;

/// Words that describe a pattern.
const DESCRIPTION: usize = 4;

/// A kernel of this kind and how it is launched. Its arguments are
///
/// ```text
/// GLOBAL const u8 *text, u64 at, u32 bytes, u32 overlap, u32 positions, u32 groups,
/// u32 first_pattern, GLOBAL const u32 *descriptions, GLOBAL const u8 *patterns,
/// GLOBAL const u16 *tables, GLOBAL u32 *found, u32 room
/// ```
#[derive(Clone, Copy)]
pub(crate) struct PassKernel {
    /// Its source.
    pub source: &'static KernelSource,
    /// Its name.
    pub kernel: &'static str,
    /// Builds the table of a pattern.
    pub table: fn(&[u8]) -> Vec<u16>,
    /// Entries of the table of a pattern of that length.
    pub entries: fn(usize) -> usize,
    /// Bytes of shared memory of a group, given the length of the longest pattern.
    pub shared: fn(u32) -> u32,
}

/// Patterns on a device.
pub(crate) struct PassSearch {
    kernel: Kernel,
    shared: u32,
    threads: u32,
    patterns: u32,
    overlap: u32,
    descriptions: Buffer,
    bytes: Buffer,
    tables: Buffer,
}

impl PassSearch {
    /// Compiles a set.
    pub(crate) fn prepare(
        set: &PatternSet,
        opt: &Options,
        device: &Device,
        pass: PassKernel,
    ) -> Result<Box<dyn Search>, Refusal> {
        check_longest(set)?;
        let entries: u64 = set.iter().map(|p| (pass.entries)(p.bytes.len()) as u64).sum();
        let (need, have) = (entries.max(set.total_bytes() as u64), u64::from(u32::MAX));
        if need > have {
            return Err(Refusal::TooBig { what: "entries of tables", need, have });
        }
        let described = (set.len() * DESCRIPTION * 4) as u64;
        // On the host and on the device.
        opt.check_memory(2 * (set.total_bytes() as u64 + 2 * entries + described))?;
        let shared = (pass.shared)(set.max_len() as u32);
        check_shared(shared, device)?;
        let kernel = device.kernel(pass.source, pass.kernel)?;
        let shape = LaunchShape { groups: 1, items: ITEMS, shared };
        let flat = FlatPatterns::of(set, pass.table);
        let queue = device.queue()?;
        Ok(Box::new(PassSearch {
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

    /// Most passes of a launch over that many positions: each may find a record everywhere.
    fn passes(positions: u32) -> u32 {
        (sparse::MOST / positions.max(1)).max(1)
    }

    /// Calls `each` with every launch that a tile needs; waits for the queue if there is none.
    fn launches(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        mut each: impl FnMut(
            &mut Workspace,
            &dyn Fn(&Workspace, RecordList<'_>) -> Result<(), Fault>,
        ) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let positions = tile.owned();
        let division = Division::of(positions, self.threads, ITEMS, self.overlap);
        if division.groups == 0 {
            return workspace.queue().finish();
        }
        let most = Self::passes(positions);
        for first in (0..self.patterns).step_by(most as usize) {
            let passes = most.min(self.patterns - first);
            each(workspace, &|workspace, list| {
                self.run(workspace, tile, division, first..first + passes, list)
            })?;
        }
        Ok(())
    }

    /// Puts the passes of some patterns on the queue.
    fn run(
        &self,
        workspace: &Workspace,
        tile: Tile<'_>,
        division: Division,
        patterns: Range<u32>,
        list: RecordList<'_>,
    ) -> Result<(), Fault> {
        let groups = division.groups * patterns.len() as u32;
        let shape = LaunchShape { groups, items: ITEMS, shared: self.shared };
        let [found, room] = list.args();
        let args: [Arg<'_>; 12] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
            division.positions.into(),
            division.groups.into(),
            patterns.start.into(),
            (&self.descriptions).into(),
            (&self.bytes).into(),
            (&self.tables).into(),
            found,
            room,
        ];
        debug_assert!(patterns.end <= self.patterns);
        debug_assert_eq!(self.descriptions.len(), 4 * DESCRIPTION * self.patterns as usize);
        // SAFETY: every kernel of this kind declares these arguments (`PassKernel`), and
        // `PassKernel::shared` sizes what it copies. Reads: the text; the descriptions of
        // `patterns`, and bytes and tables where these say. Writes: only by the dialect's
        // `record`, within the list's room.
        unsafe { workspace.queue().launch(&self.kernel, shape, &args) }
    }
}

impl Search for PassSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        self.launches(workspace, tile, |workspace, launch| {
            let each = |f: RawRecord| records.push(Record { end: f.place, pattern: f.what });
            sparse::collect(workspace, launch, each)
        })
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        let mut sum = Timed::default();
        self.launches(workspace, tile, |workspace, launch| {
            sum = sum.then(sparse::time(workspace, 0, launch)?);
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
            "{} patterns, one pass each with {} work items, {} bytes of shared memory per group",
            self.patterns, self.threads, self.shared
        )
    }
}

/// The concatenated patterns, as bytes for the device.
#[derive(Default)]
struct FlatPatterns {
    /// Four words per pattern: where its bytes begin, its length, how many letters from A on it
    /// folds to lower case (26 or 0), and where its table begins.
    descriptions: Vec<u8>,
    bytes: Vec<u8>,
    tables: Vec<u8>,
}

impl FlatPatterns {
    fn of(set: &PatternSet, table: fn(&[u8]) -> Vec<u16>) -> Self {
        let mut flat = FlatPatterns::default();
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
            let most = u64::from(PassSearch::passes(positions)) * u64::from(positions);
            assert!(most <= u64::from(sparse::MOST));
        }
    }

    #[test]
    fn patterns_that_ignore_case_are_flattened_in_lower_case() {
        let mut set = PatternSet::builder();
        set.push_with(PatternId(0), b"AbC", false).unwrap();
        set.push_with(PatternId(1), b"XyZ", true).unwrap();
        let set = set.build();
        let flat = FlatPatterns::of(&set, |p| vec![p.len() as u16; 2]);
        assert_eq!((&flat.bytes[..], flat.tables.len()), (&b"AbCxyz"[..], 8));
        let words: Vec<u32> = flat
            .descriptions
            .chunks(4)
            .map(|w| u32::from_le_bytes(w.try_into().unwrap()))
            .collect();
        assert_eq!(words, [0, 3, 0, 0, 3, 3, 26, 2]);
    }
}
