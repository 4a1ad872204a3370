//! Failed calls of a driver, as values.

use fyke_core::Refusal;
use std::fmt;

/// A call of a driver that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    doing: &'static str,
    kind: FaultKind,
    said: String,
}

/// What a caller can do about a [`Fault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// There is not enough device memory. Smaller pieces may fit.
    OutOfMemory,
    /// The driver is older than the kernel's code.
    OldDriver,
    /// Anything else. The device may be lost: the CPU has to take over.
    Other,
}

impl Fault {
    /// A fault of `kind`, with what was being done and what the driver said.
    pub fn new(doing: &'static str, kind: FaultKind, said: impl Into<String>) -> Self {
        Self { doing, kind, said: said.into() }
    }

    /// The fault of a piece of the haystack that is too large to be searched at once.
    pub fn too_large(doing: &'static str, said: impl Into<String>) -> Self {
        Self::new(doing, FaultKind::OutOfMemory, said)
    }

    /// What a caller can do about it.
    pub fn kind(&self) -> FaultKind {
        self.kind
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.doing, self.said)?;
        match self.kind {
            FaultKind::OutOfMemory => {
                f.write_str(" (free device memory, or pass the haystack in smaller pieces)")
            }
            FaultKind::OldDriver => f.write_str(" (install driver version 525 or newer)"),
            FaultKind::Other => Ok(()),
        }
    }
}

impl std::error::Error for Fault {}

impl From<Fault> for Refusal {
    fn from(fault: Fault) -> Self {
        Refusal::NoDevice(fault.to_string())
    }
}
