//! The filter's kernels with their tables on a device, and how they are launched.

use super::SOURCE;
use super::anchor::Stride;
use super::layout::{GroupShape, KINDS};
use super::short::{LIST_WORDS, PAIRS, PairLists};
use super::tables::{BitmapPlace, FilterTables};
use crate::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, Queue, words};
use crate::matcher::Tile;
use fyke_core::Refusal;

/// Bytes of the header before the records: the number of places, that of candidates (32 bits each),
/// and the number of matches if these are only counted, else that of holes (64 bits).
pub(super) const HEADER: usize = 16;

/// Bytes of a record.
pub(super) const RECORD: usize = 8;

/// The output of a launch: a header and room for records.
#[derive(Clone, Copy)]
pub(super) struct Output<'a> {
    buffer: &'a Buffer,
    capacity: u32,
    /// The kernels give up after this many candidates.
    most: u32,
}

impl<'a> Output<'a> {
    /// Output to a buffer with room for that many records.
    ///
    /// # Panics
    /// The buffer is smaller.
    pub(super) fn new(buffer: &'a Buffer, capacity: u32, most: u32) -> Self {
        let needed = HEADER + RECORD * capacity as usize;
        assert!(buffer.len() >= needed, "{needed} bytes of output in {}", buffer.len());
        Output { buffer, capacity, most }
    }

    /// The buffer.
    pub(super) fn buffer(&self) -> &'a Buffer {
        self.buffer
    }
}

/// The filter by windows, for patterns of four bytes or more, and for shorter ones in the same pass
/// if both fit.
pub(super) struct WindowKernel {
    kernel: Kernel,
    shape: LaunchShape,
    bitmap_place: BitmapPlace,
    lists: Option<ListBuffers>,
    pub(super) tables: FilterTables,
    table: Buffer,
    bitmap: Buffer,
    slots: Buffer,
    entries: Buffer,
    rest: Buffer,
    runs: Buffer,
}

impl WindowKernel {
    pub(super) fn upload(
        tables: FilterTables,
        short: Option<&PairLists>,
        device: &Device,
        queue: &Queue,
    ) -> Result<Self, Fault> {
        let pairs = short.and_then(|s| Some((s, tables.with_pairs(device.properties())?)));
        let name = match (tables.stride, tables.runs.is_some()) {
            _ if pairs.is_some() => "gpu_filter_all",
            (Stride::Two, true) => "gpu_filter_2_runs",
            (Stride::Two, false) => "gpu_filter_2",
            (Stride::Four, _) => "gpu_filter_4",
            (Stride::FourWide, _) => "gpu_filter_4_wide",
        };
        let kernel = device.kernel(&SOURCE, name)?;
        let mut shape = LaunchShape { groups: 1, items: tables.items, shared: tables.shared };
        let mut bitmap_place = tables.bitmap_place;
        if let Some((_, group)) = pairs {
            (shape.items, shape.shared) = (group.items, group.shared);
            bitmap_place = bitmap_place.if_near_fits(group.near);
        }
        shape.groups = kernel.resident_groups(shape);
        let up = |numbers: &[u32]| device.upload(queue, &words(numbers));
        Ok(Self {
            kernel,
            shape,
            bitmap_place,
            lists: pairs.map(|(s, _)| ListBuffers::upload(s, device, queue)).transpose()?,
            table: up(&tables.table.words)?,
            bitmap: up(&tables.bitmap)?,
            slots: up(&tables.slots)?,
            entries: up(&tables.entries)?,
            rest: up(&tables.rest)?,
            runs: device.upload(queue, &tables.run_kinds())?,
            tables: tables.without_content(),
        })
    }

    /// Puts the kernel on the queue.
    pub(super) fn launch(
        &self,
        queue: &Queue,
        tile: Tile<'_>,
        output: Output<'_>,
    ) -> Result<(), Fault> {
        let shape = shape_for(tile, self.shape, queue.device());
        let mut args = self.args(tile, output, self.bitmap_place).to_vec();
        args.extend(self.lists.iter().flat_map(ListBuffers::args));
        // SAFETY: these are the arguments that the kernel declares (FILTER_ARGS, and PAIR_ARGS if
        // it is `gpu_filter_all`), and `GroupLayout` or `with_pairs` sized the shared memory for
        // its tables and warps. Reads: the text in whole chunks and 16 bytes on both sides, at most
        // 2 KiB + 16 bytes past its end, which a tile's padding covers; tables at pairs and at
        // hashes of as many bits as they have, and at places that `FilterTables` and `PairLists`
        // stored in them. Writes: the header and at most `capacity` records, which `Output` has
        // room for.
        unsafe { queue.launch(&self.kernel, shape, &args) }
    }

    /// The arguments that all kernels with windows begin with.
    pub(super) fn args<'a>(
        &'a self,
        tile: Tile<'a>,
        output: Output<'a>,
        bitmap_place: BitmapPlace,
    ) -> [Arg<'a>; 19] {
        let t = &self.tables;
        // In words of shared memory: kinds of bytes, the table, a near bitmap, the warps' memory.
        let bitmap_at = KINDS as u32 / 4 + (1 << t.table.log);
        let is_near = bitmap_place == BitmapPlace::Near;
        let warps_at = bitmap_at + if is_near { 1 << (t.bitmap_log - 5) } else { 0 };
        debug_assert_eq!(self.table.len(), 4 << t.table.log);
        debug_assert_eq!(self.bitmap.len(), 4 << (t.bitmap_log - 5));
        debug_assert_eq!(self.runs.len(), KINDS);
        [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
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
            output.buffer.into(),
            output.capacity.into(),
            output.most.into(),
        ]
    }

    /// Whether it also finds patterns of one to three bytes.
    pub(super) fn has_short(&self) -> bool {
        self.lists.is_some()
    }

    /// Bytes of its tables on the device.
    pub(super) fn bytes(&self) -> usize {
        self.table.len()
            + self.bitmap.len()
            + self.slots.len()
            + self.entries.len()
            + self.rest.len()
            + self.lists.as_ref().map_or(0, ListBuffers::bytes)
    }
}

/// As many groups of a shape as a tile has work for.
pub(super) fn shape_for(tile: Tile<'_>, shape: LaunchShape, device: &Device) -> LaunchShape {
    let lanes = device.properties().lanes;
    let chunks = tile.bytes().div_ceil(lanes * 64);
    let groups = shape.groups.min(chunks.div_ceil(shape.items / lanes)).max(1);
    LaunchShape { groups, ..shape }
}

/// The lists of pairs on a device.
struct ListBuffers {
    marks: Buffer,
    lists: Buffer,
    entries: Buffer,
}

impl ListBuffers {
    fn upload(lists: &PairLists, device: &Device, queue: &Queue) -> Result<Self, Fault> {
        Ok(Self {
            marks: device.upload(queue, &lists.marks)?,
            lists: device.upload(queue, &words(&lists.lists))?,
            entries: device.upload(queue, &words(&lists.entries))?,
        })
    }

    /// The arguments PAIR_ARGS.
    fn args(&self) -> [Arg<'_>; 3] {
        debug_assert_eq!(self.marks.len(), PAIRS as usize);
        debug_assert_eq!(self.lists.len(), 4 * LIST_WORDS * (PAIRS as usize + 256));
        [&self.marks, &self.lists, &self.entries].map(Arg::from)
    }

    fn bytes(&self) -> usize {
        self.marks.len() + self.lists.len() + self.entries.len()
    }
}

/// The search for patterns of one to three bytes alone.
pub(super) struct ShortKernel {
    kernel: Kernel,
    shape: LaunchShape,
    lists: ListBuffers,
}

impl ShortKernel {
    /// `wanted` is where the table of pairs has to be: "near", "far", or "auto".
    ///
    /// # Errors
    /// The device failed, or has too little shared memory.
    pub(super) fn upload(
        lists: &PairLists,
        wanted: &str,
        device: &Device,
        queue: &Queue,
    ) -> Result<Self, Refusal> {
        let group = |table| GroupShape::find(device.properties(), table, 0);
        let near = group(PAIRS).filter(|_| wanted != "far").map(|g| ("gpu_filter_short", g));
        let far = group(0).filter(|_| wanted != "near").map(|g| ("gpu_filter_short_far", g));
        let Some((name, group)) = near.or(far) else {
            let have = device.properties().shared.into();
            let need = PAIRS.into();
            return Err(Refusal::TooBig { what: "bytes of shared memory", need, have });
        };
        let kernel = device.kernel(&SOURCE, name)?;
        let mut shape = LaunchShape { groups: 1, items: group.items, shared: group.shared };
        shape.groups = kernel.resident_groups(shape);
        Ok(Self { kernel, shape, lists: ListBuffers::upload(lists, device, queue)? })
    }

    /// Puts the kernel on the queue.
    pub(super) fn launch(
        &self,
        queue: &Queue,
        tile: Tile<'_>,
        output: Output<'_>,
    ) -> Result<(), Fault> {
        let shape = shape_for(tile, self.shape, queue.device());
        let [marks, lists, entries] = self.lists.args();
        let args: [Arg<'_>; 9] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
            output.buffer.into(),
            output.capacity.into(),
            marks,
            lists,
            entries,
        ];
        // SAFETY: these are the arguments that the kernel declares (SHORT_ARGS), and `GroupShape`
        // sized the shared memory for its table and warps. Reads: the text in whole chunks and 16
        // bytes on both sides, which a tile's padding covers; a mark and a list for each pair and
        // byte, for which they have room; entries as the lists delimit them. Writes: the header
        // and at most `capacity` records, which `Output` has room for.
        unsafe { queue.launch(&self.kernel, shape, &args) }
    }

    /// Bytes of its tables on the device.
    pub(super) fn bytes(&self) -> usize {
        self.lists.bytes()
    }
}
