//! [`Window`]: the last bytes of a haystack that arrives in chunks, which a stream keeps.
//!
//! It keeps one byte less than the longest literal. Small chunks are joined to that history in a
//! buffer of the scratch. Of a large chunk only the head is joined; the rest is scanned in place.

use fyke_core::Block;
use std::ops::ControlFlow;

/// Chunks of up to this many bytes more than the history are joined to it. A second scan would read
/// the history's length again, and cost more than the copy (`bench hs`, stream/chunks).
const JOINED: usize = 2 << 10;

/// The last bytes of what was fed.
pub(crate) struct Window<'a> {
    /// Bytes fed so far.
    pub(crate) offset: &'a mut u64,
    /// How many of `bytes` are in use.
    pub(crate) held: &'a mut u32,
    /// Room for the history.
    pub(crate) bytes: &'a mut [u8],
}

/// Bytes of the buffer for joining, for a history of this length.
pub(crate) fn joined_capacity(history: usize) -> usize {
    if history == 0 { 0 } else { 2 * history + JOINED }
}

impl Window<'_> {
    /// Takes the next chunk. `scan` gets blocks that together own it. `Break` ends the scan; the
    /// window moves on all the same.
    pub(crate) fn feed(
        &mut self,
        chunk: &[u8],
        joined: &mut Vec<u8>,
        scan: impl FnMut(Block<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let flow = self.scan(chunk, joined, scan);
        self.keep(chunk);
        flow
    }

    fn scan(
        &self,
        chunk: &[u8],
        joined: &mut Vec<u8>,
        mut scan: impl FnMut(Block<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let history = &self.bytes[..*self.held as usize];
        if history.is_empty() {
            return scan(Block { bytes: chunk, overlap: 0, offset: *self.offset });
        }
        let is_small = chunk.len() <= self.bytes.len() + JOINED;
        let head = if is_small { chunk.len() } else { self.bytes.len() };
        joined.clear();
        joined.extend_from_slice(history);
        joined.extend_from_slice(&chunk[..head]);
        let offset = *self.offset - history.len() as u64;
        scan(Block { bytes: joined, overlap: history.len(), offset })?;
        if head == chunk.len() {
            return ControlFlow::Continue(());
        }
        scan(Block { bytes: chunk, overlap: head, offset: *self.offset })
    }

    /// Moves the window to the end of the chunk.
    fn keep(&mut self, chunk: &[u8]) {
        *self.offset += chunk.len() as u64;
        let room = self.bytes.len();
        if chunk.len() >= room {
            self.bytes.copy_from_slice(&chunk[chunk.len() - room..]);
            *self.held = room as u32;
            return;
        }
        let held = *self.held as usize;
        let kept = held.min(room - chunk.len());
        self.bytes.copy_within(held - kept..held, 0);
        self.bytes[kept..kept + chunk.len()].copy_from_slice(chunk);
        *self.held = (kept + chunk.len()) as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every block has the history that it needs, and each position is owned once.
    #[test]
    fn blocks_own_every_byte_once() {
        let text: Vec<u8> = (0..5000u32).map(|i| (i * 7 % 251) as u8).collect();
        for room in [0, 1, 2, 7, 300] {
            for size in [1, 2, 3, 64, 299, 700, 2400, 5000] {
                let (mut offset, mut held, mut bytes) = (0, 0, vec![0; room]);
                let mut owned = Vec::new();
                let mut joined = Vec::with_capacity(joined_capacity(room));
                let capacity = joined.capacity();
                for chunk in text.chunks(size) {
                    let (offset, held) = (&mut offset, &mut held);
                    let mut window = Window { offset, held, bytes: &mut bytes };
                    let flow = window.feed(chunk, &mut joined, |block| {
                        let at = block.offset as usize;
                        assert_eq!(block.bytes, &text[at..at + block.bytes.len()]);
                        assert!(block.overlap >= room.min(at + block.overlap), "{room} {size}");
                        owned.extend_from_slice(block.owned());
                        ControlFlow::Continue(())
                    });
                    assert!(flow.is_continue());
                }
                assert_eq!(owned, text);
                assert_eq!(joined.capacity(), capacity, "the buffer grew");
            }
        }
    }
}
