//! Memory that kernels access.

use super::api::Handle;
use super::{Device, Fault};

/// What a [`Buffer`] owns, and so how it is released.
enum Owned {
    /// Device memory.
    Memory,
    /// The mapping of pinned memory, which its owner keeps alive: see
    /// [`Pinned::map`](super::Pinned::map).
    Mapping,
    /// A texture, and the memory that it reads.
    Texture {
        /// Released after the texture: fields are dropped after `Buffer::drop`.
        _memory: Box<Buffer>,
    },
}

/// Memory that kernels access: on the device, mapped from the host, or read through a texture.
///
/// Dropping it while kernels use it is safe: CUDA first waits for all work of the device, and an
/// OpenCL command keeps its buffers alive.
pub struct Buffer {
    device: Device,
    handle: Handle,
    bytes: usize,
    owned: Owned,
}

impl Buffer {
    pub(super) fn allocate(device: &Device, bytes: usize) -> Result<Buffer, Fault> {
        // SAFETY: `allocate` requires at least one byte, which `max` ensures.
        let handle = unsafe { device.api().allocate(bytes.max(1))? };
        Ok(Buffer { device: device.clone(), handle, bytes, owned: Owned::Memory })
    }

    /// The buffer of a mapping that `Api::map` returned for that many bytes.
    pub(super) fn of_mapping(device: &Device, handle: Handle, bytes: usize) -> Buffer {
        Buffer { device: device.clone(), handle, bytes, owned: Owned::Mapping }
    }

    /// Its size in bytes.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it has no byte.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The same memory, read by kernels through a texture as 32-bit words. It cannot be copied to
    /// or from any more.
    ///
    /// # Errors
    /// It is larger than a texture of this device can be.
    pub fn into_texture(self) -> Result<Buffer, Fault> {
        let (device, bytes) = (self.device.clone(), self.bytes);
        // SAFETY: `bind_texture` requires live device memory of that many bytes that outlives the
        // texture. This buffer is that, and the new one owns it.
        let handle = unsafe { device.api().bind_texture(self.handle, bytes)? };
        Ok(Buffer { device, handle, bytes, owned: Owned::Texture { _memory: Box::new(self) } })
    }

    /// The driver's handle: of memory, or of a texture.
    pub(super) fn handle(&self) -> Handle {
        self.handle
    }

    /// Whether copies accept it: a texture's handle is no address.
    pub(super) fn is_memory(&self) -> bool {
        !matches!(self.owned, Owned::Texture { .. })
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let api = self.device.api();
        match self.owned {
            // SAFETY: `allocate` returned the handle to `Buffer::allocate`; it is released here
            // only.
            Owned::Memory => unsafe { api.release(self.handle) },
            // SAFETY: `map` returned the handle to `Pinned::map`; it is released here only.
            Owned::Mapping => unsafe { api.unmap(self.handle) },
            // SAFETY: `bind_texture` returned the handle to `into_texture`; it is released here
            // only.
            Owned::Texture { .. } => unsafe { api.release_texture(self.handle) },
        }
    }
}

/// Numbers as little-endian bytes, the byte order of devices.
pub fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}
