//! The expected time of a scan on a GPU, so that a planner can choose between GPU and CPU.
//!
//! Nothing here loads a driver: that takes longer than most scans.
//!
//! A haystack in host memory passes three stages that overlap: copies on the host, the bus, the
//! kernel. The slowest stage sets the time per byte. In every set that was measured the kernel is
//! by far the fastest stage, so the choice depends on the CPU's time.

use crate::device::Properties;
use crate::engine::{gpu_dfa, gpu_filter};
use crate::matcher::GpuEngine;
use fyke_core::Forecast;
use fyke_core::{Options, PatternSet, Refusal};

/// An engine that planners choose from, with its forecast for a haystack in device memory.
pub struct Product {
    /// The engine.
    pub engine: &'static GpuEngine,
    /// The forecast for a set, in nanoseconds per byte on an H200.
    pub forecast: fn(&PatternSet, &Options) -> Result<Forecast, Refusal>,
}

/// The engines that planners choose from.
pub static PRODUCTS: &[Product] = &[
    Product { engine: &gpu_filter::ENGINE, forecast: gpu_filter::forecast },
    Product { engine: &gpu_dfa::ENGINE, forecast: gpu_dfa::forecast },
];

/// Seconds that a program spends on a GPU beside the search: load the driver, open a device, load
/// compiled kernels, pin memory, close it all.
///
/// Benchmark: the run time of `fyke scan -c --engine gpu-filter` over 1 MB, on an H200, and the
/// estimated time to pin memory for 16 threads.
pub const OPEN_SECONDS: f64 = 0.4;

/// Nanoseconds per byte from the page cache to the device with as many threads as help, 12 or
/// more. Benchmark: `fyke bench gpu --stream -f resident/32` on an H200.
const HOST_NS: f64 = 1.0 / 48.9;

/// Nanoseconds per byte of one thread, to read it into pinned memory and to wait for the device.
/// Benchmark: the same with four threads; one thread alone is a little faster, each of eight a
/// little slower.
const COPIES_NS: f64 = 0.17;

/// Nanoseconds per byte on the bus. Benchmark: `fyke bench gpu --stream`, copies from pinned
/// memory.
const BUS_NS: f64 = 1.0 / 55.0;

/// Multiprocessors of the H200, which forecasts are for. A device with fewer is assumed to be
/// slower in proportion. Not measured: a guess.
const UNITS: f64 = 132.0;

/// Nanoseconds per byte of a haystack in host memory that this many threads feed to a device.
pub fn host_ns(kernel_ns: f32, threads: usize) -> f64 {
    let copies = COPIES_NS / threads.max(1) as f64;
    f64::from(kernel_ns).max(BUS_NS).max(HOST_NS).max(copies)
}

/// The time of a kernel on a device, given its time on the device of the forecasts.
pub fn on_device(kernel_ns: f32, device: &Properties) -> f32 {
    (f64::from(kernel_ns) * (UNITS / f64::from(device.units.max(1))).max(1.0)) as f32
}

/// Random numbers from a fixed seed.
#[cfg(test)]
pub(crate) fn random_numbers() -> impl FnMut() -> usize {
    let mut x = 88172645463325252u64;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 33) as usize
    }
}

/// Patterns of random bytes with lengths from a range, to test forecasts.
#[cfg(test)]
pub(crate) fn random_set(patterns: usize, bytes: std::ops::RangeInclusive<usize>) -> PatternSet {
    let mut next = random_numbers();
    let (least, most) = bytes.into_inner();
    let mut one = |_| {
        let length = least + next() % (most - least + 1);
        (0..length).map(|_| next() as u8).collect::<Vec<u8>>()
    };
    PatternSet::new((0..patterns).map(&mut one).collect::<Vec<_>>()).unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Backend;

    #[test]
    fn the_slowest_stage_sets_the_time() {
        assert_eq!(host_ns(0.0003, 16), HOST_NS);
        assert_eq!(host_ns(0.0003, 1), COPIES_NS);
        assert_eq!(host_ns(0.5, 8), 0.5);
    }

    #[test]
    fn smaller_devices_are_slower_and_larger_ones_are_not_assumed_faster() {
        let mut device = Properties {
            backend: Backend::Cuda,
            name: String::new(),
            driver: String::new(),
            memory: 8 << 30,
            shared: 48 << 10,
            units: 33,
            lanes: 32,
            max_items: 1024,
            is_cpu: false,
            capability: None,
        };
        assert_eq!(on_device(0.5, &device), 2.0);
        device.units = 264;
        assert_eq!(on_device(0.5, &device), 0.5);
    }
}
