//! Kernels that were compiled for a device, and how they are launched.

use super::api::{EncodedRows, Handle, RawArg};
use super::{Buffer, Device, Fault};

/// How a kernel is launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchShape {
    /// Groups ("blocks").
    pub groups: u32,
    /// Work items ("threads") of each group.
    pub items: u32,
    /// Bytes of shared memory of each group that the host sizes, in addition to what the kernel
    /// declares; 0 if the kernel takes none.
    pub shared: u32,
}

/// A kernel that was compiled for a device.
#[derive(Clone)]
pub struct Kernel {
    device: Device,
    handle: Handle,
}

impl Kernel {
    /// The kernel of a handle that `Api::load` of the device returned.
    pub(super) fn new(device: &Device, handle: Handle) -> Kernel {
        Kernel { device: device.clone(), handle }
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// How many groups of that shape the whole device runs at a time (its occupancy in groups).
    pub fn resident_groups(&self, shape: LaunchShape) -> u32 {
        // SAFETY: `resident_groups` requires a kernel of the same device. `Device::kernel` stores
        // each handle with the device that loaded it, and kernels are never released.
        let each = unsafe { self.device.api().resident_groups(self.handle, shape) };
        each.max(1) * self.device.properties().units
    }
}

/// A part of a buffer as rows of equal length, for kernels that copy blocks of it to shared memory.
pub struct Rows<'a> {
    buffer: &'a Buffer,
    encoded: EncodedRows,
}

impl<'a> Rows<'a> {
    /// `rows` rows of `bytes` bytes each, from byte `at` of the buffer on.
    ///
    /// # Errors
    /// The driver does not encode them.
    ///
    /// # Panics
    /// The rows do not lie within the buffer, there is none, `at` or `bytes` is no multiple of 16,
    /// or the device copies no blocks.
    pub fn new(buffer: &'a Buffer, at: u64, bytes: u32, rows: u32) -> Result<Rows<'a>, Fault> {
        let device = buffer.device();
        assert!(device.properties().copies_blocks(), "rows for {device:?}");
        assert!(at.is_multiple_of(16) && bytes.is_multiple_of(16), "rows of {bytes} bytes at {at}");
        let end = at + u64::from(bytes) * u64::from(rows);
        let is_within = buffer.is_memory() && end <= buffer.len() as u64;
        assert!(is_within && end > at, "{rows} rows of {bytes} bytes at {at} of {}", buffer.len());
        let encoded = device.api().encode_rows(buffer.handle(), at, bytes, rows)?;
        Ok(Rows { buffer, encoded })
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// Memory, or a texture.
    Buffer(&'a Buffer),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
    /// Rows of a buffer.
    Rows(&'a Rows<'a>),
}

impl Arg<'_> {
    /// The buffer that it gives access to.
    pub(super) fn buffer(&self) -> Option<&Buffer> {
        match self {
            Arg::Buffer(buffer) => Some(buffer),
            Arg::Rows(rows) => Some(rows.buffer),
            Arg::U32(_) | Arg::U64(_) => None,
        }
    }

    /// The argument as the driver gets it.
    pub(super) fn raw(&self) -> RawArg {
        match self {
            Arg::Buffer(buffer) => RawArg::Memory(buffer.handle()),
            Arg::U32(n) => RawArg::U32(*n),
            Arg::U64(n) => RawArg::U64(*n),
            Arg::Rows(rows) => RawArg::Rows(rows.encoded),
        }
    }
}

impl<'a> From<&'a Buffer> for Arg<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Arg::Buffer(buffer)
    }
}

impl<'a> From<&'a Rows<'a>> for Arg<'a> {
    fn from(rows: &'a Rows<'a>) -> Self {
        Arg::Rows(rows)
    }
}

impl From<u32> for Arg<'_> {
    fn from(number: u32) -> Self {
        Arg::U32(number)
    }
}

impl From<u64> for Arg<'_> {
    fn from(number: u64) -> Self {
        Arg::U64(number)
    }
}
