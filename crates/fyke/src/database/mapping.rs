//! Brings a file into memory: mapped where nobody else can change it, read otherwise.
//!
//! If a mapped file changes, so do the tables of a searcher that is in use. So a file is mapped
//! only if it is private or sealed. It is private if it belongs to this user or to root, and
//! neither group nor others may write to it. Sealed memory comes from `memfd_create` on Linux.
#![allow(unsafe_code)]

use fyke_core::table::{AlignedBytes, SharedBytes};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The bytes of a file.
pub(super) struct FileBytes {
    pub(super) bytes: SharedBytes,
    pub(super) mapped: bool,
}

/// Maps a file, or reads it if it is not private, not sealed, or cannot be mapped.
pub(super) fn load(mut file: File) -> io::Result<FileBytes> {
    if let Some(bytes) = map::private(&file) {
        return Ok(FileBytes { bytes, mapped: true });
    }
    let mut bytes = AlignedBytes::default();
    bytes.append(&mut file, u64::MAX)?;
    Ok(FileBytes { bytes: Arc::new(bytes), mapped: false })
}

#[cfg(unix)]
mod map {
    use super::{Arc, File, SharedBytes};
    use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
    use std::os::unix::fs::MetadataExt;
    use std::ptr::NonNull;

    /// Bits of a mode with which group or others may write.
    const WRITABLE: u32 = 0o022;

    /// Memory of a file.
    struct Mapping {
        at: NonNull<u8>,
        len: usize,
    }

    // SAFETY: a mapping belongs to the process, not to a thread. It is only read, as slices of
    // bytes, and unmapped once, by `drop`, when no slice borrows from it.
    unsafe impl Send for Mapping {}
    // SAFETY: the same.
    unsafe impl Sync for Mapping {}

    impl AsRef<[u8]> for Mapping {
        fn as_ref(&self) -> &[u8] {
            // SAFETY: `len` bytes from `at` on are mapped for reading until `drop`, and a byte has
            // no alignment. Nobody else can change them: the file is private or sealed. A user who
            // changes a file of their own while it is in use breaks the contract of
            // `Database::open`, which no program can enforce.
            unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: address and length are those that `mmap` returned, `drop` runs once, and
            // every slice borrows from `self`, so none is left.
            let unmapped = unsafe { munmap(self.at.as_ptr().cast(), self.len) };
            debug_assert!(unmapped.is_ok(), "{unmapped:?}");
        }
    }

    /// Maps a file that nobody else can change. `None` for any other file, or if mapping fails.
    pub(super) fn private(file: &File) -> Option<SharedBytes> {
        let meta = file.metadata().ok()?;
        let len = usize::try_from(meta.len()).ok().filter(|len| *len > 0 && meta.is_file())?;
        let own = meta.uid() == 0 || meta.uid() == rustix::process::geteuid().as_raw();
        let private = own && meta.mode() & WRITABLE == 0;
        if !private && !is_sealed(file) {
            return None;
        }
        let (read, flags) = (ProtFlags::READ, MapFlags::PRIVATE);
        // SAFETY: there is neither an address nor `MAP_FIXED`, so the system puts the new mapping
        // where it overlaps no memory in use.
        let at = unsafe { mmap(std::ptr::null_mut(), len, read, flags, file, 0) };
        let at = NonNull::new(at.ok()?.cast())?;
        Some(Arc::new(Mapping { at, len }))
    }

    /// Whether the file is memory that can neither be written to nor shrunk.
    #[cfg(target_os = "linux")]
    fn is_sealed(file: &File) -> bool {
        use rustix::fs::{SealFlags, fcntl_get_seals};
        let needed = SealFlags::WRITE | SealFlags::SHRINK;
        fcntl_get_seals(file).is_ok_and(|seals| seals.contains(needed))
    }

    #[cfg(not(target_os = "linux"))]
    fn is_sealed(_: &File) -> bool {
        false
    }
}

#[cfg(not(unix))]
mod map {
    use super::{File, SharedBytes};

    pub(super) fn private(_: &File) -> Option<SharedBytes> {
        None
    }
}
