//! A filter over every second or fourth position that runs at the memory's read rate, and the
//! verification of its candidates.
//!
//! # Filter
//! A pattern is entered with one window for each remainder of its start by the stride, so that one
//! of them lies at a position that is looked up.
//!
//! * At stride 4 a window has four bytes, or eight if four are too common. A pattern has four
//!   windows, so it needs seven bytes or more (eleven with windows of eight).
//! * At stride 2 a window has three bytes and the low nibbles of the bytes beside it. A pattern has
//!   two windows, so it needs four bytes or more. A lookup reads one word of 32 bits from shared
//!   memory: 16 bits for the nibble before and 16 for the one after.
//!
//! Windows are chosen where the pattern is rarest, by a model of the data or by a sample of the
//! haystack (`statistics`), and where they let the least pass by chance (`marks`).
//!
//! # Verification
//! Candidates go to a queue of the warp, and full warps verify them, one candidate per lane:
//!
//! 1. A second bitmap is looked up by another hash.
//! 2. The candidate's slot repeats the bytes beside the window that all patterns there share.
//! 3. The slot's entries are compared, one entry per lane, 16 bytes under a mask.
//!
//! A pattern that ignores case has masks without the case bit of its letters, and its windows are
//! entered in every spelling, so the text is not folded. Patterns that repeat one byte are found by
//! the ends of runs (`runs`). Patterns of one to three bytes are found by pairs of bytes at every
//! position, in the same pass if both tables fit (`short`).
//!
//! # Output
//! A warp reserves places for many records by one atomic. If the buffer is too small, it grows, and
//! the tile is searched again.
//!
//! If matches are only counted, no record is written (`count`). A tile with too many candidates is
//! left to the automaton of `gpu-dfa` (`fallback`).
//!
//! # When
//! It wins with up to thousands of patterns and few matches: then the memory's read rate is the
//! limit. It loses on text full of candidates, because each candidate costs instructions, and with
//! dense matches, where [`gpu_dfa`](super::gpu_dfa) is faster. `benchmarks/gpu.md` has the
//! throughput of both, and what bounds it.
//!
//! Source: windows at a stride after Wu and Manber 1994; the layout is our own.

mod anchor;
mod choice;
mod count;
mod entries;
mod fallback;
mod forecast;
mod kernels;
mod layout;
mod marks;
mod runs;
mod short;
mod statistics;
mod tables;

pub use forecast::forecast;

use crate::device::{Device, Fault};
use crate::kernel::{KernelSource, kernel_source};
use crate::matcher::{GpuEngine, Packed, Search, Tile, Workspace};
use crate::resident::Timed;
use crate::sparse::HOLE;
use count::CountSearch;
use fallback::AutomatonFallback;
use fyke_core::{
    Device as RunsOn, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal,
};
use kernels::{HEADER, Output, RECORD, ShortKernel, WindowKernel};
use short::PairLists;
use statistics::WindowStatistics;
use tables::FilterTables;

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-filter",
        device: RunsOn::Gpu,
        family: Family::Product,
        growth: Growth::Flat,
        about: "filter in shared memory at every second or fourth position, candidates verified by full warps",
        source: "windows at a stride after Wu and Manber 1994; the layout is our own",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare,
    options: &["stride", "table", "pairs"],
};

static SOURCE: KernelSource = kernel_source!(
    "gpu_filter",
    [
        "gpu_filter_2",
        "gpu_filter_2_runs",
        "gpu_filter_4",
        "gpu_filter_4_wide",
        "gpu_filter_all",
        "gpu_filter_short",
        "gpu_filter_short_far",
        "gpu_filter_count_2",
        "gpu_filter_count_4",
        "gpu_filter_count_4_wide",
        "gpu_filter_count_all",
        "gpu_filter_count_short",
    ]
);

/// The maximum number of bytes of a tile. Larger tiles need fewer launches; only matches come back.
/// Not measured: a guess.
const TILE: usize = 256 << 20;

/// Records per byte of a tile that the output has room for at first; at least [`ROOM`].
const RECORDS_PER_BYTE: f64 = 1.0 / 16.0;
const ROOM: usize = 1 << 12;

/// Records that one copy brings back with their number: a second copy costs microseconds.
const EAGER: usize = 1 << 10;

/// The kernels stop counting records here, so that the number does not overflow; as in the kernel.
const TOO_MANY: u32 = 1 << 31;

/// Sentinel: never give up because of candidates; as in the kernel.
const NEVER: u32 = u32::MAX;

/// The workspace's buffer for the output.
const OUTPUT: usize = 0;

/// A set compiled for a device.
struct FilterSearch {
    windows: Option<WindowKernel>,
    short: Option<ShortKernel>,
    /// The search that counts, or why there is none.
    counter: Result<CountSearch, String>,
    fallback: AutomatonFallback,
    confirm: Vec<bool>,
    host: u64,
    about: String,
}

fn prepare(set: &PatternSet, opt: &Options, device: &Device) -> Result<Box<dyn Search>, Refusal> {
    let queue = device.queue()?;
    let stride = opt.choice("stride", &["auto", "2", "4", "4-wide"])?;
    let tables = FilterTables::build(set, opt, stride, device.properties())?;
    let pairs = opt.choice("pairs", &["auto", "near", "far"])?;
    let short = PairLists::build(set, &WindowStatistics::quick(set, opt).ranking);
    let about = match &tables {
        Some(t) => t.describe(),
        None => "no pattern of four bytes or more".into(),
    };
    let counter = CountSearch::prepare(set, opt, tables.as_ref(), device, &queue)?;
    let together = short.as_ref().filter(|_| pairs == "auto");
    let windows = tables.map(|t| WindowKernel::upload(t, together, device, &queue)).transpose()?;
    let alone = short.filter(|_| !windows.as_ref().is_some_and(WindowKernel::has_short));
    Ok(Box::new(FilterSearch {
        windows,
        short: alone.map(|s| ShortKernel::upload(&s, pairs, device, &queue)).transpose()?,
        counter,
        fallback: AutomatonFallback::new(set, opt, device),
        confirm: tables::confirm(set),
        host: set.len() as u64,
        about,
    }))
}

impl FilterSearch {
    /// Puts the kernels on the queue, with room for that many records.
    fn launch(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        capacity: usize,
        most: u32,
    ) -> Result<(), Fault> {
        workspace.reserve(OUTPUT, HEADER + RECORD * capacity)?;
        let capacity = u32::try_from(capacity).expect("at most TOO_MANY records");
        let output = Output::new(workspace.buffer(OUTPUT), capacity, most);
        workspace.queue().zero(output.buffer(), 0..HEADER)?;
        if let Some(windows) = &self.windows {
            windows.launch(workspace.queue(), tile, output)?;
        }
        if let Some(short) = &self.short {
            short.launch(workspace.queue(), tile, output)?;
        }
        Ok(())
    }

    /// Brings back the header of the output.
    fn header(&self, workspace: &mut Workspace) -> Result<Header, Fault> {
        let mut bytes = [0; HEADER];
        workspace.read(OUTPUT, 0, &mut bytes)?;
        Ok(Header::decode(&bytes))
    }

    /// Copies the header and the first `eager` records to the workspace's host memory, and returns
    /// the number of records. `None` if there were more than `most` candidates: then some chunks
    /// were skipped.
    fn found(
        &self,
        workspace: &mut Workspace,
        eager: usize,
        most: u32,
    ) -> Result<Option<usize>, Fault> {
        let mut host = workspace.take_host();
        host.resize(HEADER + RECORD * eager, 0);
        workspace.read(OUTPUT, 0, &mut host)?;
        let header = Header::decode(&host);
        workspace.return_host(host);
        if header.candidates > most {
            return Ok(None);
        }
        if header.records > TOO_MANY {
            let said = format!("a tile has more than {TOO_MANY} matches");
            return Err(Fault::too_large("counting matches", said));
        }
        Ok(Some(header.records as usize))
    }
}

/// What kernels write before the records.
struct Header {
    /// Places of records and holes.
    records: u32,
    candidates: u32,
    /// Matches that were counted, or holes among the places.
    matches: u64,
}

impl Header {
    fn decode(bytes: &[u8]) -> Header {
        Header {
            records: u32::from_le_bytes(bytes[..4].try_into().expect("four bytes")),
            candidates: u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes")),
            matches: u64::from_le_bytes(bytes[8..HEADER].try_into().expect("eight bytes")),
        }
    }
}

/// Records that the output has room for at first.
fn room_for(tile: Tile<'_>) -> usize {
    ((f64::from(tile.bytes()) * RECORDS_PER_BYTE) as usize).max(ROOM)
}

/// Appends records as the kernels write them: end and pattern, with holes between them.
fn decode(bytes: &[u8], records: &mut Vec<Record>) {
    let number = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("four bytes"));
    let record = |r: &[u8]| Record { end: number(&r[..4]), pattern: number(&r[4..]) };
    records.extend(bytes.chunks_exact(RECORD).map(record).filter(|r| r.pattern != HOLE));
}

impl Search for FilterSearch {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        if let Some(automaton) = self.fallback.instead() {
            return automaton.search(workspace, tile, records);
        }
        let mut room = room_for(tile);
        let found = loop {
            let most = self.fallback.most(tile);
            self.launch(workspace, tile, room, most)?;
            match self.found(workspace, EAGER, most)? {
                Some(found) if found <= room => {
                    self.fallback.filter_was_enough();
                    break found;
                }
                Some(found) => room = found,
                // If there is no automaton, the next round has no limit.
                None => {
                    if let Some(automaton) = self.fallback.take_over() {
                        return automaton.search(workspace, tile, records);
                    }
                }
            }
        };
        let here = found.min(EAGER);
        let mut host = workspace.take_host();
        decode(&host[HEADER..HEADER + RECORD * here], records);
        if found > here {
            host.resize(RECORD * (found - here), 0);
            workspace.read(OUTPUT, HEADER + RECORD * here, &mut host)?;
            decode(&host, records);
        }
        workspace.return_host(host);
        Ok(())
    }

    fn expand(&self, records: &mut Vec<Record>, overlap: u32, packed: Option<Packed<'_>>) {
        if let Some(runs) = self.windows.as_ref().and_then(|w| w.tables.runs.as_ref()) {
            runs.expand(records, overlap, packed);
        }
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        if let Some(automaton) = self.fallback.instead() {
            return automaton.timed(workspace, tile);
        }
        let mut room = room_for(tile);
        loop {
            workspace.reserve(OUTPUT, HEADER + RECORD * room)?;
            let (first, most) = (workspace.queue().record()?, self.fallback.most(tile));
            self.launch(workspace, tile, room, most)?;
            let seconds = workspace.queue().record()?.seconds_since(&first)?;
            let found = self.found(workspace, 0, most)?;
            let header = self.header(workspace)?;
            let candidates = header.candidates.into();
            match found {
                Some(found) if found <= room => {
                    self.fallback.filter_was_enough();
                    let records = found as u64 - header.matches;
                    return Ok(Timed { seconds, records, candidates });
                }
                Some(found) => room = found,
                None => {
                    if let Some(automaton) = self.fallback.take_over() {
                        let rest = automaton.timed(workspace, tile)?;
                        return Ok(Timed { seconds: seconds + rest.seconds, candidates, ..rest });
                    }
                }
            }
        }
    }

    fn count(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        let counter = self.counter.as_ref().ok()?;
        if let Some(automaton) = self.fallback.instead() {
            return automaton.count(workspace, tile);
        }
        let most = self.fallback.most(tile);
        let launched = counter.launch(self.windows.as_ref(), workspace, tile, most);
        match launched.and_then(|()| self.header(workspace)) {
            Ok(header) if header.candidates <= most => {
                self.fallback.filter_was_enough();
                Some(Ok(header.matches))
            }
            Ok(_) => match self.fallback.take_over() {
                Some(automaton) => automaton.count(workspace, tile),
                None => self.count(workspace, tile),
            },
            Err(fault) => Some(Err(fault)),
        }
    }

    fn timed_count(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
    ) -> Option<Result<Timed, Fault>> {
        let counter = self.counter.as_ref().ok()?;
        if let Some(automaton) = self.fallback.instead() {
            return automaton.timed_count(workspace, tile);
        }
        let most = self.fallback.most(tile);
        let time = |workspace: &mut Workspace| {
            workspace.reserve(OUTPUT, HEADER)?;
            let first = workspace.queue().record()?;
            counter.launch(self.windows.as_ref(), workspace, tile, most)?;
            let seconds = workspace.queue().record()?.seconds_since(&first)?;
            let header = self.header(workspace)?;
            let candidates = header.candidates.into();
            Ok(Timed { seconds, records: header.matches, candidates })
        };
        let timed = match time(workspace) {
            Ok(timed) if timed.candidates > u64::from(most) => timed,
            other => {
                self.fallback.filter_was_enough();
                return Some(other);
            }
        };
        let Some(automaton) = self.fallback.take_over() else {
            return self.timed_count(workspace, tile);
        };
        let sum = |rest: Timed| Timed {
            seconds: timed.seconds + rest.seconds,
            candidates: timed.candidates,
            ..rest
        };
        Some(automaton.timed_count(workspace, tile)?.map(sum))
    }

    fn why_uncounted(&self) -> Option<&str> {
        self.counter.as_ref().err().map(String::as_str)
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        let device = self.windows.as_ref().map_or(0, WindowKernel::bytes)
            + self.short.as_ref().map_or(0, ShortKernel::bytes)
            + self.counter.as_ref().map_or(0, CountSearch::bytes);
        Footprint { host: self.host, device: device as u64 }
    }

    fn describe(&self) -> String {
        let short = match (&self.short, &self.windows) {
            (Some(_), _) => ", and pairs for patterns of one to three bytes",
            (None, Some(w)) if w.has_short() => {
                ", and in the same pass pairs for patterns of one to three bytes"
            }
            _ => "",
        };
        let fallback = match self.fallback.compiled() {
            Some(automaton) => {
                format!("; tiles with too many candidates are left to {}", automaton.describe())
            }
            None => String::new(),
        };
        format!("{}{short}{fallback}", self.about)
    }
}

#[cfg(test)]
mod tests;
