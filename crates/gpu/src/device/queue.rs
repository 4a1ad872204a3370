//! Queues ("streams"): work for a device, done in order.
//!
//! [`Queue::write`] and [`Queue::read`] wait for their copy. The copies from and to [`Pinned`]
//! memory do not: with two queues a device copies and computes at once.

use super::api::{Handle, RawArg};
use super::pinned::{self, InUse};
use super::{Arg, Buffer, Device, Fault, Kernel, LaunchShape, Pinned};
use std::cell::{Cell, RefCell};
use std::ops::Range;

/// Work for a device, done in order. One thread uses a queue at a time.
pub struct Queue {
    device: Device,
    handle: Handle,
    /// Whether [`finish`](Self::finish) has waited for all work.
    is_idle: Cell<bool>,
    /// The uses of registered memory by copies that were not waited for.
    uses: RefCell<Vec<InUse>>,
}

/// A point in a queue's work.
pub struct Event {
    device: Device,
    handle: Handle,
}

impl Event {
    /// Waits until the work before it is done.
    ///
    /// # Errors
    /// Some of that work failed.
    pub fn wait(&self) -> Result<(), Fault> {
        // SAFETY: `wait` requires a live event of the device: `Queue::record` got it from there,
        // and `drop` alone releases it.
        unsafe { self.device.api().wait(self.handle) }
    }

    /// Seconds on the device's clock from an earlier event to this one. Waits for both.
    ///
    /// # Errors
    /// Some of the work before them failed.
    ///
    /// # Panics
    /// The earlier event belongs to another device.
    pub fn seconds_since(&self, earlier: &Event) -> Result<f64, Fault> {
        assert!(self.device.is(&earlier.device), "an event of another device");
        earlier.wait()?;
        self.wait()?;
        // SAFETY: `seconds_between` requires two live events of the device that were waited for:
        // both belong to it by the assertion, and the lines above wait.
        unsafe { self.device.api().seconds_between(earlier.handle, self.handle) }
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: `Queue::record` got the handle from the same device; it is released here only.
        unsafe { self.device.api().release_event(self.handle) }
    }
}

impl Queue {
    pub(super) fn open(device: &Device) -> Result<Queue, Fault> {
        // SAFETY: `open_queue` requires nothing.
        let handle = unsafe { device.api().open_queue()? };
        let (is_idle, uses) = (Cell::new(true), RefCell::default());
        Ok(Queue { device: device.clone(), handle, is_idle, uses })
    }

    /// The device it belongs to.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Copies to the device, and waits for the copy and for all work before it.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The range lies outside of the buffer, or the buffer belongs to another device or is a
    /// texture.
    pub fn write(&self, to: &Buffer, at: usize, from: &[u8]) -> Result<(), Fault> {
        // SAFETY: the bytes are borrowed, and `finish` waits for the copy.
        unsafe { self.write_unwaited(to, at, from)? };
        if from.is_empty() { Ok(()) } else { self.finish() }
    }

    /// Puts a copy to the device on the queue. The driver may wait for it or not.
    ///
    /// # Safety
    /// The bytes are neither changed nor dropped until the queue, or an event after the copy, has
    /// been waited for.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// As [`write`](Self::write).
    pub unsafe fn write_unwaited(&self, to: &Buffer, at: usize, from: &[u8]) -> Result<(), Fault> {
        self.check(to, at, from.len());
        if from.is_empty() {
            return Ok(());
        }
        self.note_work();
        let ranges = pinned::pinned_ranges();
        ranges.add_uses(from, &mut self.uses.borrow_mut());
        // SAFETY: `write` requires live handles of this device and a range within the memory,
        // which `check` ensures, and bytes that stay until the copy is done, which the caller
        // promises. They stay pinned, too: `ranges` is kept until the copy is on the queue, and its
        // uses are dropped after a wait only.
        let put = unsafe { self.device.api().write(self.handle, to.handle(), at, from) };
        drop(ranges);
        put
    }

    /// Copies from the device and waits for the copy and for all work before it.
    ///
    /// # Errors
    /// The device is lost, or work before the copy failed.
    ///
    /// # Panics
    /// The buffer has fewer bytes, belongs to another device or is a texture.
    pub fn read(&self, from: &Buffer, at: usize, to: &mut [u8]) -> Result<(), Fault> {
        self.check(from, at, to.len());
        if to.is_empty() {
            return self.finish();
        }
        self.note_work();
        // SAFETY: `read` requires live handles of this device and a range within the memory, which
        // `check` ensures, and bytes that nothing else accesses until the copy is done: `finish`
        // waits for it while `to` is borrowed.
        unsafe { self.device.api().read(self.handle, from.handle(), at, to)? };
        self.finish()
    }

    /// Puts a copy to the device on the queue and does not wait for it.
    ///
    /// # Safety
    /// The range of the pinned memory is neither changed nor dropped until the queue, or an event
    /// after the copy, has been waited for.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// As [`write`](Self::write), or the range lies outside of the pinned memory.
    pub unsafe fn write_later(
        &self,
        to: &Buffer,
        at: usize,
        from: &Pinned,
        range: Range<usize>,
    ) -> Result<(), Fault> {
        // SAFETY: the caller of this function makes the promise of `write_unwaited` for the pinned
        // memory, of which these bytes are a part.
        unsafe { self.write_unwaited(to, at, &from[range]) }
    }

    /// Puts a copy from the device on the queue and does not wait for it.
    ///
    /// # Safety
    /// The pinned memory is neither accessed nor dropped until the queue has been waited for.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// As [`read`](Self::read), or the range lies outside of the pinned memory.
    pub unsafe fn read_later(
        &self,
        from: &Buffer,
        at: usize,
        to: &mut Pinned,
        range: Range<usize>,
    ) -> Result<(), Fault> {
        self.check(from, at, range.len());
        let to = &mut to[range];
        if to.is_empty() {
            return Ok(());
        }
        self.note_work();
        // SAFETY: `read` requires live handles of this device and a range within the memory, which
        // `check` ensures, and bytes that nothing else accesses until the copy is done, which the
        // caller promises.
        unsafe { self.device.api().read(self.handle, from.handle(), at, to) }
    }

    /// Puts a copy within the device on the queue. The ranges must not overlap.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// A range lies outside of its buffer, or a buffer belongs to another device or is a texture.
    pub fn copy(
        &self,
        from: &Buffer,
        from_at: usize,
        to: &Buffer,
        at: usize,
        bytes: usize,
    ) -> Result<(), Fault> {
        self.check(from, from_at, bytes);
        self.check(to, at, bytes);
        if bytes == 0 {
            return Ok(());
        }
        self.note_work();
        // SAFETY: `copy` requires live handles of this device and ranges within both memories,
        // which `check` ensures.
        unsafe {
            let (from, to) = ((from.handle(), from_at), (to.handle(), at));
            self.device.api().copy(self.handle, from, to, bytes)
        }
    }

    /// Puts the zeroing of a range on the queue.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The range lies outside of the buffer, or the buffer belongs to another device or is a
    /// texture.
    pub fn zero(&self, memory: &Buffer, range: Range<usize>) -> Result<(), Fault> {
        self.check(memory, range.start, range.len());
        if range.is_empty() {
            return Ok(());
        }
        self.note_work();
        // SAFETY: `zero` requires live handles of this device and a range within the memory, which
        // `check` ensures.
        unsafe { self.device.api().zero(self.handle, memory.handle(), range.start, range.len()) }
    }

    /// Puts a kernel on the queue.
    ///
    /// # Safety
    /// The arguments are those that the kernel declares, in number, order and type; the shape has
    /// the work items and the shared memory that it expects; and with them it accesses no memory
    /// outside of its buffers.
    ///
    /// # Errors
    /// The device rejects the shape, or is lost.
    ///
    /// # Panics
    /// The kernel or a buffer belongs to another device.
    pub unsafe fn launch(
        &self,
        kernel: &Kernel,
        shape: LaunchShape,
        args: &[Arg<'_>],
    ) -> Result<(), Fault> {
        assert!(kernel.device().is(&self.device), "a kernel of another device");
        for arg in args {
            if let Some(buffer) = arg.buffer() {
                assert!(buffer.device().is(&self.device), "a buffer of another device");
            }
        }
        let raw: Vec<RawArg> = args.iter().map(Arg::raw).collect();
        self.note_work();
        // SAFETY: `launch` requires live handles of this device: the assertions check the device,
        // and the borrows keep them alive. The caller vouches for what the kernel does with them.
        unsafe { self.device.api().launch(self.handle, kernel.handle(), shape, &raw) }
    }

    /// Waits until all work is done.
    ///
    /// # Errors
    /// Some of it failed. Nothing is running any more then, either.
    pub fn finish(&self) -> Result<(), Fault> {
        // SAFETY: `finish` requires a live queue of the device: `open` got it from there, and
        // `drop` alone releases it.
        let done = unsafe { self.device.api().finish(self.handle) };
        self.uses.borrow_mut().clear();
        self.is_idle.set(done.is_ok());
        done
    }

    /// As [`finish`](Self::finish), without a call of the driver if all work was waited for.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn settle(&self) -> Result<(), Fault> {
        if self.is_idle.get() { Ok(()) } else { self.finish() }
    }

    /// Seconds on the device's clock for the work that `work` puts on this queue. Waits for it.
    ///
    /// # Errors
    /// Some of it failed, or cannot be put on the queue.
    pub fn time(&self, work: impl FnOnce() -> Result<(), Fault>) -> Result<f64, Fault> {
        let first = self.record()?;
        work()?;
        self.record()?.seconds_since(&first)
    }

    /// Lets the work that follows begin only when another queue of the device has reached an
    /// event.
    ///
    /// # Errors
    /// The device is lost.
    ///
    /// # Panics
    /// The event belongs to another device.
    pub fn follow(&self, event: &Event) -> Result<(), Fault> {
        assert!(self.device.is(&event.device), "an event of another device");
        self.note_work();
        // SAFETY: `follow` requires a live queue and a live event of one device; the assertion
        // checks the device, and the borrows keep them alive.
        unsafe { self.device.api().follow(self.handle, event.handle) }
    }

    /// An event that is reached when all work before it is done.
    ///
    /// # Errors
    /// The device is lost.
    pub fn record(&self) -> Result<Event, Fault> {
        self.note_work();
        // SAFETY: `record` requires a live queue of the device: `open` got it from there, and
        // `drop` alone releases it.
        let handle = unsafe { self.device.api().record(self.handle)? };
        Ok(Event { device: self.device.clone(), handle })
    }

    /// Notes work before it is put on the queue, so that `settle` never misses any.
    fn note_work(&self) {
        self.is_idle.set(false);
    }

    /// What every copy needs of a buffer: memory of this device, with that range in it.
    fn check(&self, buffer: &Buffer, at: usize, bytes: usize) {
        assert!(buffer.device().is(&self.device), "a buffer of another device");
        assert!(buffer.is_memory(), "a texture cannot be copied");
        assert!(
            at.checked_add(bytes).is_some_and(|end| end <= buffer.len()),
            "{bytes} bytes at {at} of a buffer of {}",
            buffer.len()
        );
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if !self.uses.get_mut().is_empty() {
            // Their memory may be unpinned right after this. Errors in Drop are ignored.
            let _ = self.finish();
        }
        // SAFETY: `open` got the handle from the same device; it is released here only.
        unsafe { self.device.api().close_queue(self.handle) }
    }
}
