//! What one thread needs to search on a device: a queue, and buffers that grow and stay.

use super::PAD;
use crate::device::{self, Backend, Buffer, Device, Event, Fault, Pinned, Place, Queue};
use crate::sparse;

/// Shorter texts are passed to the driver as they are. Not measured: a guess.
pub(super) const LEAST_STAGED: usize = 2 << 20;

/// Bytes that are copied to pinned memory at a time: while the device fetches them, the next ones
/// are copied. Smaller parts need more calls of the driver. Benchmark: `fyke bench gpu --stream -f
/// resident/32` on an H100 with 0.25 to 16 MiB.
const PART: usize = 4 << 20;

/// Parts in pinned memory, which take turns. Benchmark: as above, with 1, 2, 3, 4 and 8.
const PARTS: usize = 2;

/// Fewest and most bytes that come back through pinned memory at a time. Not measured: a guess.
pub(super) const FETCHED: std::ops::RangeInclusive<usize> = 16 << 10..=2 << 20;

/// A queue with the buffers of a search. One thread uses it at a time.
pub struct Workspace {
    queue: Queue,
    /// The device's copy of a text.
    text: Option<Buffer>,
    /// Whether copies go through pinned memory of this workspace.
    pub(super) stages: bool,
    staging: Option<Pinned>,
    fetching: Option<Pinned>,
    buffers: Vec<Option<Buffer>>,
    host: Vec<u8>,
    /// Most records of a launch; tests set fewer.
    pub(crate) most_records: usize,
}

impl Workspace {
    /// An empty workspace with a queue of a device.
    ///
    /// # Errors
    /// The device is lost.
    pub fn open(device: &Device) -> Result<Self, Fault> {
        Ok(Self {
            queue: device.queue()?,
            text: None,
            // OpenCL's pinned memory is plain memory: staging would only add a copy.
            stages: device.properties().backend == Backend::Cuda,
            staging: None,
            fetching: None,
            buffers: Vec::new(),
            host: Vec::new(),
            most_records: sparse::MOST as usize,
        })
    }

    /// The queue.
    pub fn queue(&self) -> &Queue {
        &self.queue
    }

    /// Makes the buffer of that number at least so large; returns its size. Its content is
    /// undefined.
    ///
    /// # Errors
    /// There is not enough memory.
    pub fn reserve(&mut self, number: usize, bytes: usize) -> Result<usize, Fault> {
        if self.buffers.len() <= number {
            self.buffers.resize_with(number + 1, || None);
        }
        grow(self.queue.device(), &mut self.buffers[number], bytes).map(Buffer::len)
    }

    /// The buffer of that number.
    ///
    /// # Panics
    /// [`reserve`](Self::reserve) was not called for it.
    pub fn buffer(&self, number: usize) -> &Buffer {
        let buffer = self.buffers.get(number).and_then(Option::as_ref);
        buffer.expect("`reserve` is called before `buffer`")
    }

    /// Takes the host memory of the workspace; give it back by [`return_host`](Self::return_host),
    /// so that the next search need not allocate.
    pub fn take_host(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.host)
    }

    /// Gives host memory back.
    pub fn return_host(&mut self, host: Vec<u8>) {
        self.host = host;
    }

    /// Copies bytes of the buffer of that number to the host, and waits for them.
    ///
    /// They come through pinned memory. A copy to pageable memory waits inside the driver for all
    /// work before it, and the work that other threads enqueue waits with it. A pipeline would not
    /// overlap copies and kernels then (`fyke bench gpu --stream`, `gpu-dfa`).
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The range lies outside of the buffer, or there is no such buffer.
    pub fn read(&mut self, number: usize, at: usize, to: &mut [u8]) -> Result<(), Fault> {
        if !self.stages || to.is_empty() {
            return self.queue.read(self.buffer(number), at, to);
        }
        let most = to.len().next_power_of_two().clamp(*FETCHED.start(), *FETCHED.end());
        pinned(&self.queue, &mut self.fetching, most);
        let Some(mut through) = self.fetching.take() else {
            return self.queue.read(self.buffer(number), at, to);
        };
        for (i, part) in to.chunks_mut(most).enumerate() {
            // SAFETY: `through` is a local that no copy uses when it is accessed or dropped: if
            // `read_later` fails, no copy was put on the queue, and after `finish` none is running,
            // even if that fails (`Queue::finish`).
            unsafe {
                let range = 0..part.len();
                self.queue.read_later(self.buffer(number), at + i * most, &mut through, range)?;
            }
            self.queue.finish()?;
            part.copy_from_slice(&through[..part.len()]);
        }
        self.fetching = Some(through);
        Ok(())
    }

    /// Puts a copy of a text to the device on the queue. In the buffer that is returned the text
    /// begins at [`PAD`], and `PAD` bytes or more follow it.
    ///
    /// # Safety
    /// The queue is waited for before the bytes are changed or dropped and before `bring` is
    /// called again, whatever happens in between.
    pub(super) unsafe fn bring(&mut self, bytes: &[u8]) -> Result<Buffer, Fault> {
        let is_direct = !self.stages
            || match device::place(bytes) {
                Place::Pinned => true,
                Place::Split => false,
                Place::Ordinary => bytes.len() < LEAST_STAGED,
            };
        let size = PAD + bytes.len().next_multiple_of(PAD) + PAD;
        let before = self.text.as_ref().map_or(0, Buffer::len);
        let after = grow(self.queue.device(), &mut self.text, size)?.len();
        let text = self.text.take().expect("`grow` fills it");
        if before != after {
            self.queue.zero(&text, 0..after)?;
        }
        let wanted = bytes.len().next_multiple_of(LEAST_STAGED).min(PARTS * PART);
        let staged = if is_direct { None } else { pinned(&self.queue, &mut self.staging, wanted) };
        let Some(staging) = staged else {
            // SAFETY: `write_unwaited` requires that the bytes stay until the queue was waited
            // for, which the caller promises.
            unsafe { self.queue.write_unwaited(&text, PAD, bytes)? };
            return Ok(text);
        };
        let mut fetched: [Option<Event>; PARTS] = [const { None }; PARTS];
        for (i, part) in bytes.chunks(PART).enumerate() {
            let place = i % PARTS;
            if let Some(event) = fetched[place].take() {
                event.wait()?;
            }
            let range = place * PART..place * PART + part.len();
            staging[range.clone()].copy_from_slice(part);
            // SAFETY: `write_later` requires that these bytes of `staging` stay until the queue or
            // an event after their copy was waited for. Only this function changes or replaces
            // them: above, after the wait for that event, and in the next call, before which the
            // caller promises to wait for the queue.
            unsafe { self.queue.write_later(&text, PAD + i * PART, staging, range)? };
            fetched[place] = Some(self.queue.record()?);
        }
        Ok(text)
    }

    /// Keeps the buffer that [`bring`](Self::bring) returned for the next text.
    pub(super) fn keep_text(&mut self, text: Buffer) {
        self.text = Some(text);
    }
}

/// Pinned memory of at least that many bytes, if there is enough.
fn pinned<'a>(queue: &Queue, held: &'a mut Option<Pinned>, bytes: usize) -> Option<&'a mut Pinned> {
    if held.as_ref().is_none_or(|p| p.len() < bytes) {
        *held = None;
        *held = queue.device().pinned(bytes).ok();
    }
    held.as_mut()
}

/// Replaces a buffer that has fewer bytes.
fn grow<'a>(
    device: &Device,
    held: &'a mut Option<Buffer>,
    bytes: usize,
) -> Result<&'a Buffer, Fault> {
    if held.as_ref().is_none_or(|b| b.len() < bytes) {
        // The old one first: there may not be memory for both.
        *held = None;
        let rounded = bytes.checked_next_power_of_two().unwrap_or(bytes);
        *held = Some(device.allocate(rounded).or_else(|_| device.allocate(bytes))?);
    }
    Ok(held.as_ref().expect("filled above"))
}

/// A workspace whose queue is waited for when this goes out of scope, after a panic too.
pub(super) struct WaitOnDrop<'a>(pub(super) &'a mut Workspace);

impl Drop for WaitOnDrop<'_> {
    fn drop(&mut self) {
        // Errors in Drop are ignored. Even after an error nothing is running any more
        // (`Queue::finish`).
        let _ = self.0.queue.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn bytes_come_to_the_device_as_they_are_however_they_go() {
        testing::each_device(|device| {
            let mut workspace = Workspace::open(device).unwrap();
            let sizes =
                [0, 1, LEAST_STAGED - 1, LEAST_STAGED, PART + 1, PARTS * PART, 3 * PART + 3, 5];
            for bytes in sizes {
                let text: Vec<u8> = (0..bytes).map(|i| (i % 251) as u8).collect();
                let mut pinned = device.pinned(bytes).unwrap();
                pinned[..bytes].copy_from_slice(&text);
                assert!(device::is_pinned(&pinned) && (bytes == 0 || !device::is_pinned(&text)));
                for (stages, form) in
                    [(true, &text[..]), (false, &text[..]), (true, &pinned[..bytes])]
                {
                    workspace.stages = stages;
                    // SAFETY: `read` below waits for the queue, and nothing changes the bytes
                    // before.
                    let brought = unsafe { workspace.bring(form) }.unwrap();
                    let mut back = vec![1; bytes];
                    workspace.queue.read(&brought, PAD, &mut back).unwrap();
                    assert!(back == text, "{bytes} bytes on {device:?}");
                    workspace.keep_text(brought);
                }
            }
        });
    }

    #[test]
    fn bytes_come_to_the_device_if_only_a_part_is_registered() {
        testing::each_device(|device| {
            let text: Vec<u8> = (0..LEAST_STAGED / 2).map(|i| (i % 251) as u8).collect();
            let mut workspace = Workspace::open(device).unwrap();
            let bring = || {
                // SAFETY: `read` waits for the queue, and nothing changes the bytes before.
                let brought = unsafe { workspace.bring(&text) }.unwrap();
                let mut back = vec![1; text.len()];
                workspace.queue.read(&brought, PAD, &mut back).unwrap();
                assert!(back == text, "{device:?}");
            };
            device.with_registered(&text[..text.len() / 2], bring).unwrap();
        });
    }

    #[test]
    fn bytes_come_back_as_they_are_however_they_go() {
        testing::each_device(|device| {
            let mut workspace = Workspace::open(device).unwrap();
            let text: Vec<u8> = (0..2 * FETCHED.end() + 9).map(|i| (i % 251) as u8).collect();
            workspace.reserve(3, text.len()).unwrap();
            workspace.queue.write(workspace.buffer(3), 0, &text).unwrap();
            for (at, bytes) in [(0, 0), (7, 1), (0, FETCHED.start() + 1), (5, text.len() - 5)] {
                for stages in [false, true] {
                    workspace.stages = stages;
                    let mut back = vec![1; bytes];
                    workspace.read(3, at, &mut back).unwrap();
                    assert!(back == text[at..at + bytes], "{bytes} bytes on {device:?}");
                }
            }
        });
    }
}
