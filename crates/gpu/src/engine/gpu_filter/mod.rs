//! A filter over every second or fourth position, at the rate of the memory, and a compare of what it lets pass.
//!
//! A pattern is looked for by a window of it. At stride 4 that is four bytes (or eight, if four are too common), looked up
//! at every fourth position of the text, and each pattern is entered at four places, one for each remainder of its start
//! (so it has seven bytes or more); a bit table in shared memory answers. At stride 2 the window is three bytes and the low
//! nibbles of the bytes beside it: one random read of 32 bits has 16 bits for the nibble before and 16 for the nibble
//! after, and serves two starts. Windows are where the pattern is rarest, by the model of the data or
//! by a sample of the haystack (see `statistics`), and where least passes for them by chance (see `marks`).
//!
//! What passes is lined up in a queue of the warp and treated by full warps, a candidate a lane: a second bitmap by another
//! hash, then its slot, which says what all patterns there have beside the window, then the entries of the slots, an entry
//! a lane, 16 bytes under a mask each. A pattern that ignores case has masks that ignore the bit of its letters' case, and
//! its windows are entered in every spelling: no text is folded. Patterns of one byte over and over are told by where their
//! runs begin and end (see `runs`). Records are gathered by warp and written behind one counter; if they are more than the
//! buffer holds, it grows and the tile is searched again. Patterns of one to three bytes have tables of their own, at
//! stride 1.
//!
//! Where matches are only counted, no record is written and all lengths are counted in one pass (see `count`). A tile that
//! is all candidates is given up and left to an automaton (see `floor`).
//!
//! # What it costs
//! Measured on an H200 (`benchmarks/gpu.md`), as a share of the rate at which its memory is read. Wins: up to thousands of
//! patterns, few matches; then that rate is the limit: 96 % with 32 random strings, 94 % with 256, 86 % with 2,400, 42 % with
//! 100,000. Loses: text that is full of candidates, as each costs instructions. Rules of four bytes or more have 44 % (Snort
//! 2.2.0), 35 % (Snort 3 community) and 22 % (ET open 2016) on traffic; Snort of all lengths, counted, 25 %. Shown a sample of
//! the text it is 46, 37, 25 and 26 %. All matches of Snort written, 0.31 a byte, come to 3 %, which is 4.2e10 records a second:
//! there `gpu-dfa` is 1.5 times as fast.
//!
//! Instructions bound it. When a chunk of 2 KiB with Snort, four bytes or more, took 825 of a warp, at 3 a clock (it has 25
//! candidates now): look-ups 450, second test of 28 candidates 145, lining them up 65, compares 60, ends of runs 55, quieting
//! runs 30. When ET open took 1,730 (137 candidates, now 92): second test 450, compares 400.
//!
//! The idea of windows at a stride is that of Wu and Manber 1994; the layout is our own.

mod anchor;
mod count;
mod floor;
mod forecast;
mod marks;
mod runs;
mod short;
mod statistics;
mod tables;

use crate::device::{Arg, Buffer, Device, Fault, Kernel, Queue, Shape, words};
use crate::kernel::{Source, source};
use crate::matcher::{GpuEngine, Lane, Search, Tile};
use crate::resident::Timed;
use anchor::Stride;
use count::Counter;
use floor::Fallback;
pub use forecast::forecast;
use fyke_core::{
    Device as Place, Family, Footprint, Growth, Info, Options, PatternSet, Record, Refusal,
};
use short::Short;
use tables::{BitmapPlace, KINDS, Tables};

/// The entry of the registry.
pub static ENGINE: GpuEngine = GpuEngine {
    info: &Info {
        name: "gpu-filter",
        device: Place::Gpu,
        family: Family::Product,
        growth: Growth::Flat,
        about: "a filter in shared memory at every second or fourth position, compares by full warps",
        source: "ours; windows at a stride after Wu and Manber 1994",
        variants: &["backend=opencl", "backend=cuda"],
    },
    prepare,
    options: &["stride"],
};

static SOURCE: Source = source!(
    "gpu_filter",
    [
        "gpu_filter_2",
        "gpu_filter_2_runs",
        "gpu_filter_4",
        "gpu_filter_4_wide",
        "gpu_filter_short",
        "gpu_filter_count_2",
        "gpu_filter_count_4",
        "gpu_filter_count_4_wide",
        "gpu_filter_count_all",
        "gpu_filter_count_short",
    ]
);

/// Most bytes of a tile. The more, the fewer launches; what comes back is what was found.
const TILE: usize = 256 << 20;

/// Records that there is room for at first, for each byte of a tile; and at least [`ROOM`].
const RECORDS_PER_BYTE: f64 = 1.0 / 16.0;
const ROOM: usize = 1 << 12;

/// Records that come back together with their number. A second copy costs some microseconds.
const EAGER: usize = 1 << 10;

/// Bytes before the records: their number, that of the candidates, and 64 bits for the number of matches where these are
/// only counted.
const HEADER: usize = 16;

/// The kernels stop counting here, so that the number never comes round to 0; the kernel has the same.
const TOO_MANY: u32 = 1 << 31;

/// Candidates after which a search gives up: it does not; the kernel has the same.
const NEVER: u32 = u32::MAX;

/// Work items of a group for short patterns, as the kernel declares.
const SHORT_ITEMS: u32 = 256;

/// A set on a device.
struct Filter {
    long: Option<Long>,
    short: Option<ShortTables>,
    counter: Option<Counter>,
    floor: Fallback,
    confirm: Vec<bool>,
    host: u64,
    about: String,
}

struct Long {
    kernel: Kernel,
    shape: Shape,
    tables: Tables,
    table: Buffer,
    bitmap: Buffer,
    slots: Buffer,
    entries: Buffer,
    rest: Buffer,
    runs: Buffer,
}

struct ShortTables {
    kernel: Kernel,
    shape: Shape,
    log: u32,
    heads: Buffer,
    ones: Buffer,
    twos: Buffer,
    threes: Buffer,
    entries: Buffer,
}

fn prepare(set: &PatternSet, opt: &Options, device: &Device) -> Result<Box<dyn Search>, Refusal> {
    let queue = device.queue()?;
    let stride = opt.choice("stride", &["auto", "2", "4", "4-wide"])?;
    let tables = Tables::build(set, opt, stride, device.properties())?;
    let short = Short::build(set);
    let about = match &tables {
        Some(t) => t.describe(),
        None => "no pattern of four bytes or more".into(),
    };
    let host = set.len() as u64;
    let counter = Counter::prepare(set, opt, tables.as_ref(), device, &queue)?;
    let long = tables.map(|t| Long::upload(t, device, &queue)).transpose()?;
    let short = short.map(|s| ShortTables::upload(&s, device, &queue)).transpose()?;
    let confirm = tables::confirm(set);
    let floor = Fallback::new(set, opt, device);
    Ok(Box::new(Filter { long, short, counter, floor, confirm, host, about }))
}

impl Long {
    fn upload(tables: Tables, device: &Device, queue: &Queue) -> Result<Self, Fault> {
        let name = match (tables.stride, tables.runs.is_some()) {
            (Stride::Two, true) => "gpu_filter_2_runs",
            (Stride::Two, false) => "gpu_filter_2",
            (Stride::Four, _) => "gpu_filter_4",
            (Stride::FourWide, _) => "gpu_filter_4_wide",
        };
        let kernel = device.kernel(&SOURCE, name)?;
        let mut shape = Shape { groups: 1, items: tables.items, shared: tables.shared };
        shape.groups = kernel.resident_groups(shape);
        let up = |numbers: &[u32]| device.upload(queue, &words(numbers));
        Ok(Self {
            kernel,
            shape,
            table: up(&tables.table.words)?,
            bitmap: up(&tables.bitmap)?,
            slots: up(&tables.slots)?,
            entries: up(&tables.entries)?,
            rest: up(&tables.rest)?,
            runs: device.upload(queue, &tables.run_kinds())?,
            tables: tables.without_content(),
        })
    }

    fn launch(
        &self,
        queue: &Queue,
        tile: Tile<'_>,
        output: &Buffer,
        (capacity, most): (u32, u32),
    ) -> Result<(), Fault> {
        let t = &self.tables;
        let chunks = tile.bytes.div_ceil(t.chunk);
        let groups = self.shape.groups.min(chunks.div_ceil(t.warps)).max(1);
        let args = self.args(tile, output, (capacity, most), t.bitmap_place);
        // SAFETY: these are the kernel's arguments; it writes no record past the capacity, and reads the text as far as
        // whole chunks go, which is within its padding.
        unsafe { queue.launch(&self.kernel, Shape { groups, ..self.shape }, &args) }
    }

    /// The arguments that all of its kernels begin with: for so many records, giving up after so many candidates.
    fn args<'a>(
        &'a self,
        tile: Tile<'a>,
        output: &'a Buffer,
        (capacity, most): (u32, u32),
        bitmap_place: BitmapPlace,
    ) -> [Arg<'a>; 19] {
        let t = &self.tables;
        // In words of shared memory: what is said of bytes, the table, the bitmap if it is there, the room of the warps.
        let bitmap_at = KINDS as u32 / 4 + (1 << t.table.log);
        let is_near = bitmap_place == BitmapPlace::Near;
        let warps_at = bitmap_at + if is_near { 1 << (t.bitmap_log - 5) } else { 0 };
        [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            tile.overlap.into(),
            (&self.table).into(),
            (32 - t.table.log).into(),
            (&self.bitmap).into(),
            (32 - t.bitmap_log).into(),
            (bitmap_place as u32).into(),
            (&self.slots).into(),
            (32 - t.slot_log).into(),
            bitmap_at.into(),
            warps_at.into(),
            (&self.entries).into(),
            (&self.rest).into(),
            (&self.runs).into(),
            output.into(),
            capacity.into(),
            most.into(),
        ]
    }

    fn bytes(&self) -> usize {
        self.table.len()
            + self.bitmap.len()
            + self.slots.len()
            + self.entries.len()
            + self.rest.len()
    }
}

impl ShortTables {
    fn upload(short: &Short, device: &Device, queue: &Queue) -> Result<Self, Fault> {
        let kernel = device.kernel(&SOURCE, "gpu_filter_short")?;
        let mut shape = Shape { groups: 1, items: SHORT_ITEMS, shared: 0 };
        shape.groups = kernel.resident_groups(shape);
        let up = |numbers: &[u32]| device.upload(queue, &words(numbers));
        Ok(Self {
            kernel,
            shape,
            log: short.log,
            heads: up(&short.heads)?,
            ones: up(&short.ones)?,
            twos: up(&short.twos)?,
            threes: up(&short.threes)?,
            entries: up(&short.entries)?,
        })
    }

    fn launch(
        &self,
        queue: &Queue,
        tile: Tile<'_>,
        output: &Buffer,
        capacity: u32,
    ) -> Result<(), Fault> {
        let groups = self.shape.groups.min(tile.bytes.div_ceil(4 * SHORT_ITEMS)).max(1);
        let args: [Arg<'_>; 12] = [
            tile.text.into(),
            tile.at.into(),
            tile.bytes.into(),
            tile.overlap.into(),
            (&self.heads).into(),
            (&self.ones).into(),
            (&self.twos).into(),
            (&self.threes).into(),
            self.log.into(),
            (&self.entries).into(),
            output.into(),
            capacity.into(),
        ];
        // SAFETY: these are the kernel's arguments; it writes no record past the capacity, and reads the text up to eight
        // bytes past its end, which is within its padding.
        unsafe { queue.launch(&self.kernel, Shape { groups, ..self.shape }, &args) }
    }

    fn bytes(&self) -> usize {
        self.heads.len()
            + self.ones.len()
            + self.twos.len()
            + self.threes.len()
            + self.entries.len()
    }
}

impl Filter {
    /// Puts the kernels on the queue, with room for so many records in the lane's first buffer, behind a header of 16
    /// bytes.
    fn launch(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        capacity: usize,
        most: u32,
    ) -> Result<(), Fault> {
        lane.buffer(0, HEADER + 8 * capacity)?;
        let output = lane.held(0);
        lane.queue.zero(output, 0..HEADER)?;
        if let Some(long) = &self.long {
            long.launch(&lane.queue, tile, output, (capacity as u32, most))?;
        }
        if let Some(short) = &self.short {
            short.launch(&lane.queue, tile, output, capacity as u32)?;
        }
        Ok(())
    }

    /// Brings back what was said before the records.
    fn header(&self, lane: &mut Lane) -> Result<Header, Fault> {
        let mut bytes = [0; HEADER];
        lane.read(0, 0, &mut bytes)?;
        let candidates = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes"));
        let matches = u64::from_le_bytes(bytes[8..].try_into().expect("eight bytes"));
        Ok(Header { candidates, matches })
    }

    /// Brings back the number of records, and the first so many of them with it. Nothing if there were more candidates than
    /// that: then some chunks were left out.
    fn found(&self, lane: &mut Lane, eager: usize, most: u32) -> Result<Option<usize>, Fault> {
        let mut host = std::mem::take(&mut lane.host);
        host.resize(HEADER + 8 * eager, 0);
        lane.read(0, 0, &mut host)?;
        let found = u32::from_le_bytes(host[..4].try_into().expect("four bytes"));
        let candidates = u32::from_le_bytes(host[4..8].try_into().expect("four bytes"));
        lane.host = host;
        if candidates > most {
            return Ok(None);
        }
        if found > TOO_MANY {
            let said = format!("a tile has more than {TOO_MANY} matches");
            return Err(Fault::too_large("counting matches", said));
        }
        Ok(Some(found as usize))
    }
}

/// What kernels say before the records.
struct Header {
    candidates: u32,
    matches: u64,
}

/// Records that there is room for at first.
fn room_for(tile: Tile<'_>) -> usize {
    ((f64::from(tile.bytes) * RECORDS_PER_BYTE) as usize).max(ROOM)
}

/// Records as the kernels write them: end and pattern.
fn decode(bytes: &[u8], records: &mut Vec<Record>) {
    let number = |b: &[u8]| u32::from_le_bytes(b.try_into().expect("four bytes"));
    records.extend(
        bytes.chunks_exact(8).map(|r| Record { end: number(&r[..4]), pattern: number(&r[4..]) }),
    );
}

impl Search for Filter {
    fn tile(&self) -> usize {
        TILE
    }

    fn search(
        &self,
        lane: &mut Lane,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let mut room = room_for(tile);
        let found = loop {
            let most = self.floor.most(tile);
            self.launch(lane, tile, room, most)?;
            match self.found(lane, EAGER, most)? {
                Some(found) if found <= room => break found,
                Some(found) => room = found,
                // Once more without a limit, if there is no other search.
                None => {
                    if let Some(floor) = self.floor.search() {
                        return floor.search(lane, tile, records);
                    }
                }
            }
        };
        let here = found.min(EAGER);
        decode(&lane.host[HEADER..HEADER + 8 * here], records);
        if found > here {
            let mut host = std::mem::take(&mut lane.host);
            host.resize(8 * (found - here), 0);
            lane.read(0, HEADER + 8 * here, &mut host)?;
            decode(&host, records);
            lane.host = host;
        }
        if let Some(runs) = self.long.as_ref().and_then(|l| l.tables.runs.as_ref()) {
            runs.expand(records, tile.overlap);
        }
        Ok(())
    }

    fn timed(&self, lane: &mut Lane, tile: Tile<'_>) -> Result<Timed, Fault> {
        let mut room = room_for(tile);
        loop {
            lane.buffer(0, HEADER + 8 * room)?;
            let (first, most) = (lane.queue.mark()?, self.floor.most(tile));
            self.launch(lane, tile, room, most)?;
            let seconds = lane.queue.mark()?.seconds_since(&first)?;
            let found = self.found(lane, 0, most)?;
            let candidates = self.header(lane)?.candidates.into();
            match found {
                Some(found) if found <= room => {
                    return Ok(Timed { seconds, records: found as u64, candidates });
                }
                Some(found) => room = found,
                None => {
                    if let Some(floor) = self.floor.search() {
                        let rest = floor.timed(lane, tile)?;
                        return Ok(Timed { seconds: seconds + rest.seconds, candidates, ..rest });
                    }
                }
            }
        }
    }

    fn count(&self, lane: &mut Lane, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        let counter = self.counter.as_ref()?;
        let most = self.floor.most(tile);
        let launched = counter.launch(self.long.as_ref(), lane, tile, most);
        match launched.and_then(|()| self.header(lane)) {
            Ok(header) if header.candidates <= most => Some(Ok(header.matches)),
            Ok(_) => match self.floor.search() {
                Some(floor) => floor.count(lane, tile),
                None => self.count(lane, tile),
            },
            Err(fault) => Some(Err(fault)),
        }
    }

    fn timed_count(&self, lane: &mut Lane, tile: Tile<'_>) -> Option<Result<Timed, Fault>> {
        let counter = self.counter.as_ref()?;
        let most = self.floor.most(tile);
        let time = |lane: &mut Lane| {
            lane.buffer(0, HEADER)?;
            let first = lane.queue.mark()?;
            counter.launch(self.long.as_ref(), lane, tile, most)?;
            let seconds = lane.queue.mark()?.seconds_since(&first)?;
            let header = self.header(lane)?;
            let candidates = header.candidates.into();
            Ok(Timed { seconds, records: header.matches, candidates })
        };
        let timed = match time(lane) {
            Ok(timed) if timed.candidates > u64::from(most) => timed,
            other => return Some(other),
        };
        let Some(floor) = self.floor.search() else { return self.timed_count(lane, tile) };
        let sum = |rest: Timed| Timed {
            seconds: timed.seconds + rest.seconds,
            candidates: timed.candidates,
            ..rest
        };
        Some(floor.timed_count(lane, tile)?.map(sum))
    }

    fn confirm(&self) -> &[bool] {
        &self.confirm
    }

    fn footprint(&self) -> Footprint {
        let device = self.long.as_ref().map_or(0, Long::bytes)
            + self.short.as_ref().map_or(0, ShortTables::bytes)
            + self.counter.as_ref().map_or(0, Counter::bytes);
        Footprint { host: self.host, device: device as u64 }
    }

    fn describe(&self) -> String {
        let short = if self.short.is_some() {
            ", and tables for patterns of one to three bytes"
        } else {
            ""
        };
        let floor = match self.floor.compiled() {
            Some(floor) => format!("; tiles of many candidates are left to {}", floor.describe()),
            None => String::new(),
        };
        format!("{}{short}{floor}", self.about)
    }
}

#[cfg(test)]
mod tests;
