//! A disk with a fixed rate, so that reading takes as long beside the search as on the paper's
//! disk.

use fyke_carve::Image;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes in memory that arrive at a rate, one request after the other.
pub(super) struct Disk<'a> {
    bytes: &'a [u8],
    /// Bytes a second; none for memory.
    rate: Option<usize>,
    queue: Mutex<Queue>,
}

/// The requests of a disk.
struct Queue {
    /// When the last request will have arrived.
    busy_until: Instant,
    /// What was asked for ahead, and when it arrives.
    ahead: Vec<(Range<u64>, Instant)>,
}

impl<'a> Disk<'a> {
    pub(super) fn new(bytes: &'a [u8], rate: Option<usize>) -> Self {
        let queue = Queue { busy_until: Instant::now(), ahead: Vec::new() };
        Self { bytes, rate, queue: Mutex::new(queue) }
    }

    /// When a range arrives. It is requested, unless it was asked for ahead.
    fn arrival(&self, range: &Range<u64>, rate: usize) -> Instant {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let known = queue
            .ahead
            .iter()
            .position(|(ahead, _)| ahead.start <= range.start && range.end <= ahead.end);
        if let Some(known) = known {
            return queue.ahead.swap_remove(known).1;
        }
        queue.request(range, rate)
    }
}

impl Queue {
    fn request(&mut self, range: &Range<u64>, rate: usize) -> Instant {
        let takes = Duration::from_secs_f64((range.end - range.start) as f64 / rate.max(1) as f64);
        self.busy_until = self.busy_until.max(Instant::now()) + takes;
        self.busy_until
    }
}

impl Image for Disk<'_> {
    fn name(&self) -> &str {
        "simulated disk"
    }

    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let from = self.bytes.len().min(usize::try_from(offset).unwrap_or(usize::MAX));
        let take = buf.len().min(self.bytes.len() - from);
        if let Some(rate) = self.rate {
            let arrival = self.arrival(&(offset..offset + take as u64), rate);
            thread::sleep(arrival.saturating_duration_since(Instant::now()));
        }
        buf[..take].copy_from_slice(&self.bytes[from..from + take]);
        Ok(take)
    }

    fn prefetch(&self, offset: u64, len: usize) {
        let range = offset..(offset + len as u64).min(self.len());
        if let Some(rate) = self.rate {
            let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
            let arrival = queue.request(&range, rate);
            queue.ahead.push((range, arrival));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_for_ahead_arrives_meanwhile() {
        let bytes: Vec<u8> = (0..100).collect();
        let disk = Disk::new(&bytes, Some(1000));
        disk.prefetch(10, 50);
        thread::sleep(Duration::from_millis(50));
        let (start, mut buf) = (Instant::now(), [0; 50]);
        assert_eq!(disk.read_at(10, &mut buf).unwrap(), 50);
        assert_eq!(buf[..], bytes[10..60]);
        let ahead = start.elapsed();
        assert_eq!(disk.read_at(60, &mut buf[..40]).unwrap(), 40);
        assert!(start.elapsed() >= Duration::from_millis(40), "reading takes its time");
        assert!(ahead < start.elapsed());
    }
}
