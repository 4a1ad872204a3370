//! How much free space a volume has for files.

use std::path::Path;

/// What a volume has room for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// Bytes that files may take.
    pub(super) available: u64,
    /// Files take whole blocks of this many bytes.
    pub(super) block: u64,
}

impl Room {
    /// The bytes that files of these lengths take.
    pub(super) fn needed(&self, lengths: impl Iterator<Item = u64>) -> u64 {
        let block = self.block.max(1);
        let rounded = lengths.map(|len| len.div_ceil(block).saturating_mul(block));
        rounded.fold(0, u64::saturating_add)
    }
}

/// The room on the volume of `folder`, which need not exist yet. None if the system does not say.
#[cfg(unix)]
pub(super) fn room(folder: &Path) -> Option<Room> {
    let nearest = folder.ancestors().find(|path| path.exists());
    let nearest = nearest.unwrap_or(Path::new("."));
    let volume = rustix::fs::statvfs(nearest).ok()?;
    // A file system that reports no size, such as some network mounts, reports zeros.
    (volume.f_blocks > 0).then(|| Room {
        available: volume.f_bavail.saturating_mul(volume.f_frsize),
        block: volume.f_frsize,
    })
}

/// The room on the volume of `folder`: unknown on this system.
#[cfg(not(unix))]
pub(super) fn room(_folder: &Path) -> Option<Room> {
    None
}
