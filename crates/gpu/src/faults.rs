//! Faults that a scan survived, because the CPU took over: kept for a warning to the user.

use crate::device::{Device, Fault};
use std::sync::{Mutex, PoisonError};

/// Most different faults that are kept. A lost device fails for every block in the same way, so a
/// few are enough.
const KEPT: usize = 16;

static NOTED: Mutex<Vec<NotedFault>> = Mutex::new(Vec::new());

/// A fault, and how often it occurred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedFault {
    /// Engine, device and fault.
    pub what: String,
    /// Pieces of haystacks that the CPU scanned instead.
    pub pieces: u64,
}

/// Records a fault, or counts it if the same one was recorded before.
pub(crate) fn note(engine: &str, device: &Device, fault: &Fault) {
    let what = format!("{engine} on {device:?}: {fault}");
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(n) = noted.iter_mut().find(|n| n.what == what) {
        n.pieces += 1;
    } else if noted.len() < KEPT {
        noted.push(NotedFault { what, pieces: 1 });
    }
}

/// Removes and returns the faults that were kept.
pub fn take() -> Vec<NotedFault> {
    std::mem::take(&mut *NOTED.lock().unwrap_or_else(PoisonError::into_inner))
}
