//! The chunks that were read last, so that reads of parts of a chunk unpack it once.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The bytes of a chunk, or why it cannot be read.
pub(super) type Unpacked = Result<Vec<u8>, BadChunk>;

/// Why a chunk cannot be read.
#[derive(Clone, Debug)]
pub(super) enum BadChunk {
    /// The system's error for its segment.
    System(i32),
    /// Its bytes are damaged.
    Damaged(String),
}

impl From<BadChunk> for io::Error {
    fn from(bad: BadChunk) -> Self {
        match bad {
            BadChunk::System(code) => Self::from_raw_os_error(code),
            BadChunk::Damaged(why) => Self::new(io::ErrorKind::InvalidData, why),
        }
    }
}

/// The chunks that were used last.
#[derive(Debug)]
pub(super) struct Cache {
    /// The one that was used last is the last one.
    slots: Mutex<VecDeque<(u64, Slot)>>,
    most: usize,
}

/// Room for a chunk that a thread may be unpacking.
type Slot = Arc<OnceLock<Arc<Unpacked>>>;

impl Cache {
    /// A cache of at most this number of chunks.
    pub(super) fn new(most: usize) -> Self {
        Self { slots: Mutex::default(), most }
    }

    /// The chunk, which is unpacked now unless it is here. Threads that want the same chunk wait
    /// for the first of them.
    pub(super) fn get(&self, chunk: u64, unpack: impl FnOnce() -> Unpacked) -> Arc<Unpacked> {
        self.slot(chunk).get_or_init(|| Arc::new(unpack())).clone()
    }

    /// Whether the chunk is here, or is being unpacked.
    pub(super) fn has(&self, chunk: u64) -> bool {
        self.lock().iter().any(|(other, _)| *other == chunk)
    }

    fn slot(&self, chunk: u64) -> Slot {
        let mut slots = self.lock();
        let found = slots.iter().position(|(other, _)| *other == chunk);
        let slot = found.and_then(|index| slots.remove(index)).map_or_else(Slot::default, |s| s.1);
        if slots.len() >= self.most {
            slots.pop_front();
        }
        slots.push_back((chunk, slot.clone()));
        slot
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<(u64, Slot)>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
