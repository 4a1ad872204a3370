//! Faults that a scan survived: the processor took over, and whoever runs the program should know.

use crate::device::{Device, Fault};
use std::sync::{Mutex, PoisonError};

/// Different faults that are kept; a device that is lost fails for every block in the same way.
const KEPT: usize = 16;

static NOTED: Mutex<Vec<Noted>> = Mutex::new(Vec::new());

/// A fault, and how often it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// Engine, device and fault.
    pub what: String,
    /// Pieces of haystacks that the processor scanned in its place.
    pub pieces: u64,
}

/// Notes a fault.
pub(crate) fn note(engine: &str, device: &Device, fault: &Fault) {
    let what = format!("{engine} on {device:?}: {fault}");
    let mut noted = NOTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(n) = noted.iter_mut().find(|n| n.what == what) {
        n.pieces += 1;
    } else if noted.len() < KEPT {
        noted.push(Noted { what, pieces: 1 });
    }
}

/// The faults since this was last asked for.
pub fn take() -> Vec<Noted> {
    std::mem::take(&mut *NOTED.lock().unwrap_or_else(PoisonError::into_inner))
}
