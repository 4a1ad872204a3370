//! Kernels that were compiled for a device, and how they are launched.

use super::api::{Handle, RawArg};
use super::{Buffer, Device};

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

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub enum Arg<'a> {
    /// Memory, or a texture.
    Buffer(&'a Buffer),
    /// A number of 32 bits.
    U32(u32),
    /// A number of 64 bits.
    U64(u64),
}

impl Arg<'_> {
    /// The argument as the driver gets it.
    pub(super) fn raw(&self) -> RawArg {
        match self {
            Arg::Buffer(buffer) => RawArg::Memory(buffer.handle()),
            Arg::U32(n) => RawArg::U32(*n),
            Arg::U64(n) => RawArg::U64(*n),
        }
    }
}

impl<'a> From<&'a Buffer> for Arg<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Arg::Buffer(buffer)
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
