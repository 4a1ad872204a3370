//! Memory: the rate at which one thread reads it, which no matcher can exceed on data that is not in
//! a cache; and how much of it something takes at its peak.

use std::fs;
use std::hint::black_box;

use super::clock::time;
use super::stats::Stats;

/// Bytes of a cache line.
const LINE: usize = 64;
/// The buffer is this many times the largest cache, so that nothing of one pass serves the next.
const CACHES: usize = 2;
/// The least buffer, for machines that do not tell the size of their caches.
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

/// Bytes of the largest cache of the first processor, as the kernel tells; 0 if it does not.
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

/// Watches how large the process grows.
///
/// The figure is of the whole process and of pages it touched: what the allocator kept from earlier
/// work and hands out again is not seen.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    before: u64,
}

impl Peak {
    /// Begins to watch. `None` if the system does not tell or does not let the mark be reset.
    pub fn start() -> Option<Self> {
        fs::write("/proc/self/clear_refs", "5").ok()?;
        Some(Self { before: status("VmRSS:")? })
    }

    /// Bytes by which the process was larger than at the start when it was largest.
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
