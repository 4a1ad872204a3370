//! Serializes benchmarks on the devices of a machine: only one process measures at a time.

use std::fs::{File, TryLockError};

/// A lock, held until it is dropped.
pub struct Turn(
    #[expect(dead_code, reason = "the file is locked as long as it is open")] Option<File>,
);

impl Turn {
    /// Waits for the lock. Without a file that can be locked, processes measure at the same time.
    pub fn wait() -> Turn {
        let path = std::env::temp_dir().join("fyke-bench-device.lock");
        let file = File::options().create(true).append(true).open(path).ok();
        Turn(file.filter(|file| {
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                eprintln!("waiting for another benchmark to finish with the devices");
                return file.lock().is_ok();
            }
            true
        }))
    }
}
