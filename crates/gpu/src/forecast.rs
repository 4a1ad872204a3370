//! What a scan by a graphics processor is expected to take, so that a planner can choose between it and the processor.
//! Nothing here opens a driver: to do that takes longer than most scans.
//!
//! A haystack on the host has three ways to go, and the longest of them is what a byte takes: copies on the host, the bus,
//! the kernel. For all sets that were measured the kernel is the shortest by far: what decides is how
//! long the processor would take instead.

use crate::device::Properties;
use crate::engine::{gpu_dfa, gpu_filter};
use crate::matcher::GpuEngine;
use fyke_core::Forecast;
use fyke_core::{Options, PatternSet, Refusal};

/// An engine for use and what it expects of a set: of a byte that is in device memory.
pub struct Product {
    /// The engine.
    pub engine: &'static GpuEngine,
    /// Asks it. Nanoseconds are those of an H200.
    pub forecast: fn(&PatternSet, &Options) -> Result<Forecast, Refusal>,
}

/// The engines that are chosen from: a line each.
pub static PRODUCTS: &[Product] = &[
    Product { engine: &gpu_filter::ENGINE, forecast: gpu_filter::forecast },
    Product { engine: &gpu_dfa::ENGINE, forecast: gpu_dfa::forecast },
];

/// Seconds from the start of a program to its first search, and to end it: open the driver and a device (0.1 s each beside
/// an H200), load kernels that were compiled before, pin memory.
///
/// `fyke scan -c --engine gpu-filter` over 1 MB took 0.34 s as a whole. Memory for 16 threads takes 0.06 s more, if
/// the driver pins it at the rate that it has for one.
pub const OPEN_SECONDS: f64 = 0.4;

/// Nanoseconds a byte from the page cache to the device by as many threads as are of use, 12 or more: 48.9 GB/s beside an
/// H200, by `fyke bench gpu --stream -f resident/32`.
const HOST_NS: f64 = 1.0 / 48.9;

/// Nanoseconds a byte that a thread takes to read it into pinned memory and to wait for the device, by the same benchmark
/// with four threads. One alone takes 0.14, each of eight 0.19.
const COPIES_NS: f64 = 0.17;

/// Nanoseconds a byte on the bus: 55 GB/s from pinned memory.
const BUS_NS: f64 = 1.0 / 55.0;

/// Multiprocessors of the device that forecasts are for. One with fewer is taken to be slower in proportion, which was not
/// measured.
const UNITS: f64 = 132.0;

/// Nanoseconds that a byte on the host takes on its way through a device, if so many threads feed it.
pub fn host_ns(kernel_ns: f32, threads: usize) -> f64 {
    let copies = COPIES_NS / threads.max(1) as f64;
    f64::from(kernel_ns).max(BUS_NS).max(HOST_NS).max(copies)
}

/// What a kernel takes on a device, given what it takes on that of the forecasts.
pub fn on_device(kernel_ns: f32, device: &Properties) -> f32 {
    (f64::from(kernel_ns) * (UNITS / f64::from(device.units.max(1))).max(1.0)) as f32
}

/// The same random numbers each time.
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

/// Patterns of random bytes, of so many bytes each: what forecasts are tried with.
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
    fn the_longest_way_counts() {
        assert_eq!(host_ns(0.0003, 16), HOST_NS);
        assert_eq!(host_ns(0.0003, 1), COPIES_NS);
        assert_eq!(host_ns(0.5, 8), 0.5);
    }

    #[test]
    fn smaller_devices_are_slower_and_larger_ones_not_taken_for_faster() {
        let mut device = Properties {
            backend: Backend::Cuda,
            name: String::new(),
            driver: String::new(),
            memory: 8 << 30,
            shared: 48 << 10,
            units: 33,
            lanes: 32,
            max_items: 1024,
            is_processor: false,
            capability: None,
        };
        assert_eq!(on_device(0.5, &device), 2.0);
        device.units = 264;
        assert_eq!(on_device(0.5, &device), 0.5);
    }
}
