//! One benchmark at a time on the devices of a machine: processes that measure beside each other wait for their turn.

use std::fs::{File, TryLockError};

/// Holds the turn until it is dropped.
pub struct Turn(#[expect(dead_code, reason = "it is locked as long as it is open")] Option<File>);

impl Turn {
    /// Waits for it. Where no file can be locked everybody measures at once, as if there was nobody else.
    pub fn wait() -> Turn {
        let path = std::env::temp_dir().join("fyke-bench-device.lock");
        let file = File::options().create(true).append(true).open(path).ok();
        Turn(file.filter(|file| {
            if let Err(TryLockError::WouldBlock) = file.try_lock() {
                eprintln!("another benchmark measures on a device: waiting for it to end");
                return file.lock().is_ok();
            }
            true
        }))
    }
}
