//! Memory: the rate at which one thread reads it, and the peak that a process reached.
//!
//! No matcher exceeds the read rate on data that is not in a cache.

use std::fs;
use std::hint::black_box;

use super::clock::time;
use super::stats::Stats;

/// Bytes of a cache line.
const LINE: usize = 64;
/// The buffer is this many times the largest cache, so that no pass reads what the last one cached.
const CACHES: usize = 2;
/// The least buffer, for machines that do not report the size of their caches.
const LEAST: usize = 256 << 20;
/// Passes that are timed.
const PASSES: usize = 7;

/// Bytes per nanosecond (GB/s) that one thread reads from memory: the median over passes that touch
/// one word of every cache line of a buffer larger than the caches.
pub fn read_rate() -> f64 {
    let size = LEAST.max(CACHES * largest_cache());
    let buffer: Vec<u64> = (0..(size / 8) as u64).collect();
    let pass = |_| size as f64 / time(|| black_box(touch(black_box(&buffer)))).1.wall;
    let rates: Vec<f64> = (0..=PASSES).map(pass).skip(1).collect();
    Stats::of(&rates).median
}

fn touch(buffer: &[u64]) -> u64 {
    buffer.chunks(LINE / 8).fold(0, |sum, line| sum.wrapping_add(line[0]))
}

/// Bytes of the largest cache of the first CPU; 0 if the kernel does not report it.
pub fn largest_cache() -> usize {
    let entries =
        fs::read_dir("/sys/devices/system/cpu/cpu0/cache").into_iter().flatten().flatten();
    let size = |text: String| {
        let text = text.trim();
        let (number, shift) = match text.strip_suffix('K') {
            Some(number) => (number, 10),
            None => (text.strip_suffix('M')?, 20),
        };
        Some(number.parse::<usize>().ok()? << shift)
    };
    let sizes = entries.filter_map(|e| size(fs::read_to_string(e.path().join("size")).ok()?));
    sizes.max().unwrap_or(0)
}

/// Measures how far the process grows.
///
/// The figure counts pages of the whole process. Memory that the allocator kept from earlier work
/// and hands out again is not in it.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    before: u64,
}

impl Peak {
    /// Starts measuring. `None` if the system does not report the peak or does not let it be reset.
    pub fn start() -> Option<Self> {
        fs::write("/proc/self/clear_refs", "5").ok()?;
        Some(Self { before: status("VmRSS:")? })
    }

    /// Bytes by which the peak exceeds the size at the start.
    pub fn grown(self) -> u64 {
        status("VmHWM:").map_or(0, |peak| peak.saturating_sub(self.before))
    }
}

/// A size in `/proc/self/status`.
fn status(name: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peak_is_seen_after_it_is_gone() {
        let Some(peak) = Peak::start() else { return };
        drop(black_box(vec![1_u8; 96 << 20]));
        assert!(peak.grown() >= 90 << 20, "{}", peak.grown());
    }
}
