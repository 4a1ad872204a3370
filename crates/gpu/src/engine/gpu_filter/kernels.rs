//! The filter's kernels with their tables on a device, and how they are launched.

use super::SOURCE;
use super::anchor::Stride;
use super::layout::KINDS;
use super::short::ShortTables;
use super::tables::{BitmapPlace, FilterTables};
use crate::device::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, Queue, words};
use crate::matcher::Tile;

/// Bytes before the records: their number, that of the candidates, and 64 bits for the number of
/// matches if these are only counted.
pub(super) const HEADER: usize = 16;

/// Bytes of a record.
pub(super) const RECORD: usize = 8;

/// Work items of a group for short patterns, as the kernel declares.
const SHORT_ITEMS: u32 = 256;

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

/// The filter by windows, for patterns of four bytes or more.
pub(super) struct WindowKernel {
    kernel: Kernel,
    shape: LaunchShape,
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
        device: &Device,
        queue: &Queue,
    ) -> Result<Self, Fault> {
        let name = match (tables.stride, tables.runs.is_some()) {
            (Stride::Two, true) => "gpu_filter_2_runs",
            (Stride::Two, false) => "gpu_filter_2",
            (Stride::Four, _) => "gpu_filter_4",
            (Stride::FourWide, _) => "gpu_filter_4_wide",
        };
        let kernel = device.kernel(&SOURCE, name)?;
        let mut shape = LaunchShape { groups: 1, items: tables.items, shared: tables.shared };
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

    /// Puts the kernel on the queue.
    pub(super) fn launch(
        &self,
        queue: &Queue,
        tile: Tile<'_>,
        output: Output<'_>,
    ) -> Result<(), Fault> {
        let t = &self.tables;
        let chunks = tile.bytes().div_ceil(t.chunk);
        let groups = self.shape.groups.min(chunks.div_ceil(t.warps)).max(1);
        let args = self.args(tile, output, t.bitmap_place);
        // SAFETY: these are the arguments that the kernel declares (FILTER_ARGS), and
        // `GroupLayout` sized the shared memory for its tables and warps. Reads: the text in whole
        // chunks and 16 bytes on both sides, at most 2 KiB + 16 bytes past its end, which a tile's
        // padding covers; tables at hashes of as many bits as they have, and at places that
        // `FilterTables` stored in them. Writes: the header and at most `capacity` records, which
        // `Output` has room for.
        unsafe { queue.launch(&self.kernel, LaunchShape { groups, ..self.shape }, &args) }
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

    /// Bytes of its tables on the device.
    pub(super) fn bytes(&self) -> usize {
        self.table.len()
            + self.bitmap.len()
            + self.slots.len()
            + self.entries.len()
            + self.rest.len()
    }
}

/// The search for patterns of one to three bytes.
pub(super) struct ShortKernel {
    kernel: Kernel,
    shape: LaunchShape,
    log: u32,
    heads: Buffer,
    ones: Buffer,
    twos: Buffer,
    threes: Buffer,
    entries: Buffer,
}

impl ShortKernel {
    pub(super) fn upload(
        tables: &ShortTables,
        device: &Device,
        queue: &Queue,
    ) -> Result<Self, Fault> {
        let kernel = device.kernel(&SOURCE, "gpu_filter_short")?;
        let mut shape = LaunchShape { groups: 1, items: SHORT_ITEMS, shared: 0 };
        shape.groups = kernel.resident_groups(shape);
        let up = |numbers: &[u32]| device.upload(queue, &words(numbers));
        Ok(Self {
            kernel,
            shape,
            log: tables.log,
            heads: up(&tables.heads)?,
            ones: up(&tables.ones)?,
            twos: up(&tables.twos)?,
            threes: up(&tables.threes)?,
            entries: up(&tables.entries)?,
        })
    }

    /// Puts the kernel on the queue.
    pub(super) fn launch(
        &self,
        queue: &Queue,
        tile: Tile<'_>,
        output: Output<'_>,
    ) -> Result<(), Fault> {
        let groups = self.shape.groups.min(tile.bytes().div_ceil(4 * SHORT_ITEMS)).max(1);
        let args: [Arg<'_>; 12] = [
            tile.text().into(),
            tile.at().into(),
            tile.bytes().into(),
            tile.overlap().into(),
            (&self.heads).into(),
            (&self.ones).into(),
            (&self.twos).into(),
            (&self.threes).into(),
            self.log.into(),
            (&self.entries).into(),
            output.buffer.into(),
            output.capacity.into(),
        ];
        debug_assert_eq!(self.heads.len(), 4 * 2048);
        debug_assert_eq!(self.threes.len(), 4 * ((1 << self.log) + 1));
        // SAFETY: these are the arguments that the kernel declares. Reads: the text up to 8 bytes
        // past its end, which a tile's padding covers; lists at keys of 8, 16 and `log` bits, one
        // more entry than keys each; entries as the lists delimit them, of which there is at least
        // one. Writes: the header and at most `capacity` records, which `Output` has room for.
        unsafe { queue.launch(&self.kernel, LaunchShape { groups, ..self.shape }, &args) }
    }

    /// Bytes of its tables on the device.
    pub(super) fn bytes(&self) -> usize {
        self.heads.len()
            + self.ones.len()
            + self.twos.len()
            + self.threes.len()
            + self.entries.len()
    }
}
