//! The rate at which one thread reads memory: what no matcher can exceed on data that is not in a
//! cache.

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
