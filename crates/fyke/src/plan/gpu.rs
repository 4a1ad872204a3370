//! Decides between GPU and CPU by the time that both are expected to take, and holds the engine
//! `gpu`.
//!
//! A GPU is taken if opening it, copying and searching take less time than the CPU engines on all
//! threads, by a margin. So the size of the input must be known. The cheapest questions come
//! first: the size, then the forecasts. A driver is opened last, and only if a GPU may win. OpenCL
//! on the CPU (PoCL) is never chosen; name it to use it (`gpu`, `gpu:device=1`).

use super::{Answer, Considered, Patterns};
use fyke_core::Forecast;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use fyke_gpu::device::{self, Properties};
use fyke_gpu::forecast::{OPEN_SECONDS, PRODUCTS, host_ns, on_device};
use std::fmt;
use std::sync::Arc;

/// The entry of the registry.
pub static GPU: Gpu = Gpu;

static INFO: Info = Info {
    name: "gpu",
    device: Device::Gpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "chooses the engine for a GPU, or refuses; takes OpenCL on the CPU if there is no GPU",
    source: "-",
    variants: &["backend=opencl"],
};

/// The CPU must take this many times as long as the GPU, because forecasts are uncertain. Not
/// measured: a guess.
const MARGIN: f64 = 1.5;

/// A set may take one part in this many of the device memory; haystack and matches need the rest.
/// Not measured: a guess.
const MEMORY_SHARE: u64 = 2;

/// Chooses an engine for a GPU.
#[derive(Debug)]
pub struct Gpu;

impl Engine for Gpu {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn available(&self) -> Result<(), Refusal> {
        device::open(&Options::default()).map(drop)
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&device::OPTIONS)?;
        device::open(opt)?;
        let mut refusal = Refusal::NoEngine(INFO.name.to_owned());
        for offer in offers(set, opt)? {
            match PRODUCTS[offer.product].engine.compile(set, opt) {
                Ok(matcher) => return Ok(matcher),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }
}

/// What the GPU engines forecast for a set and a haystack in host memory. It opens no device.
pub fn gpu_considered(set: &PatternSet, opt: &Options) -> Vec<Considered> {
    let threads = ExpectedScan::of(opt).threads;
    let asked = PRODUCTS.iter().map(|product| {
        let answer = match (product.forecast)(set, opt) {
            Ok(f) => {
                let kernel = format!("; the kernel {:.4} ns/B, the rest copies", f.ns_per_byte);
                let ns_per_byte = host_ns(f.ns_per_byte, threads) as f32;
                Answer::Forecast(Forecast { ns_per_byte, why: f.why + &kernel, ..f })
            }
            Err(refusal) => Answer::Refused(refusal),
        };
        Considered { engine: product.engine.info.name, patterns: Patterns::All, answer }
    });
    asked.collect()
}

/// An engine that takes the set.
#[derive(Clone, Debug)]
struct Offer {
    /// Its index in [`PRODUCTS`].
    product: usize,
    /// Nanoseconds per byte for data in device memory.
    kernel_ns: f32,
    /// Bytes of device memory.
    memory: u64,
}

/// The engines that take the set, fastest first.
///
/// # Errors
/// No engine takes the set. The refusal is that of the first one.
fn offers(set: &PatternSet, opt: &Options) -> Result<Vec<Offer>, Refusal> {
    let (mut offers, mut refused) = (Vec::new(), Refusal::NoEngine(INFO.name.to_owned()));
    for (product, asked) in PRODUCTS.iter().enumerate().rev() {
        match (asked.forecast)(set, opt) {
            Ok(f) => offers.push(Offer { product, kernel_ns: f.ns_per_byte, memory: f.memory }),
            Err(why) => refused = why,
        }
    }
    offers.sort_by(|a, b| a.kernel_ns.total_cmp(&b.kernel_ns));
    if offers.is_empty() { Err(refused) } else { Ok(offers) }
}

/// Whether a GPU takes the set.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The engine at this index of [`PRODUCTS`] takes it, on the device with this number.
    Taken { product: usize, device: usize, why: String },
    /// CPU engines take it: why.
    Not(String),
}

impl Verdict {
    /// Weighs a GPU against CPU engines that take `cpu_ns` nanoseconds per byte on one thread.
    pub(super) fn weigh(cpu_ns: f32, set: &PatternSet, opt: &Options) -> Verdict {
        ExpectedScan::of(opt).decide(cpu_ns, || offers(set, opt), devices)
    }

    pub(super) fn is_taken(&self) -> bool {
        matches!(self, Verdict::Taken { .. })
    }

    /// Compiles a set for the engine and device that take it. `None` if none does, or if the
    /// device refuses after all.
    pub(super) fn compile(&self, set: &PatternSet, opt: &Options) -> Option<Arc<dyn Matcher>> {
        let Verdict::Taken { product, device, .. } = self else { return None };
        let opt = opt.clone().params(&format!("device={device}")).ok()?;
        PRODUCTS[*product].engine.compile(set, &opt).ok()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Taken { product, why, .. } => {
                write!(f, "{} for all on {why}", PRODUCTS[*product].engine.info.name)
            }
            Verdict::Not(why) => write!(f, "not: {why}"),
        }
    }
}

/// The expected scan: its bytes, if known, and its threads.
#[derive(Clone, Copy, Debug)]
struct ExpectedScan {
    bytes: Option<u64>,
    threads: usize,
}

impl ExpectedScan {
    fn of(opt: &Options) -> ExpectedScan {
        ExpectedScan { bytes: opt.expected_bytes, threads: opt.threads.unwrap_or(1).max(1) }
    }

    /// Nanoseconds per byte of all CPU threads together.
    fn cpu_ns(&self, ns: f32) -> f64 {
        f64::from(ns) / self.threads as f64
    }

    /// The fewest bytes for which a GPU is faster by the margin. `None` if it never is.
    fn break_even(&self, cpu_ns: f32, kernel_ns: f32) -> Option<f64> {
        let gained = self.cpu_ns(cpu_ns) / MARGIN - host_ns(kernel_ns, self.threads);
        (gained > 0.0).then(|| 1e9 * OPEN_SECONDS / gained)
    }

    /// The expected times as text: `Ok` if the GPU wins by the margin, `Err` if it does not.
    fn weigh(&self, bytes: u64, cpu_ns: f32, kernel_ns: f32) -> Result<String, String> {
        let gpu = OPEN_SECONDS + bytes as f64 * host_ns(kernel_ns, self.threads) * 1e-9;
        let cpu = bytes as f64 * self.cpu_ns(cpu_ns) * 1e-9;
        let both = format!(
            "{gpu:.2} s expected, {OPEN_SECONDS} s of them to open it; the CPU takes {cpu:.2} s on {}",
            self.threads()
        );
        if gpu * MARGIN < cpu { Ok(both) } else { Err(both) }
    }

    fn threads(&self) -> String {
        match self.threads {
            1 => "1 thread".to_owned(),
            n => format!("{n} threads"),
        }
    }

    /// The size from which a GPU is faster, as text.
    fn advice(&self, cpu_ns: f32, kernel_ns: f32) -> String {
        match self.break_even(cpu_ns, kernel_ns) {
            Some(bytes) => {
                format!("a GPU is faster from {:.1} GB on, against {}", bytes / 1e9, self.threads())
            }
            None => format!("a GPU is faster at no size, against {}", self.threads()),
        }
    }

    /// Decides. It calls `offers` and `devices` only if their answer can matter.
    fn decide<'d>(
        &self,
        cpu_ns: f32,
        offers: impl FnOnce() -> Result<Vec<Offer>, Refusal>,
        devices: impl FnOnce() -> Vec<&'d Properties>,
    ) -> Verdict {
        let decided = || -> Result<Verdict, String> {
            let bytes = self.bytes.ok_or_else(|| {
                let advice = self.advice(cpu_ns, 0.0);
                format!("the size of the input is unknown; {advice}")
            })?;
            self.weigh(bytes, cpu_ns, 0.0)?;
            let offers = offers().map_err(|refusal| refusal.to_string())?;
            let fastest = offers.iter().map(|o| o.kernel_ns).fold(f32::INFINITY, f32::min);
            self.weigh(bytes, cpu_ns, fastest)?;
            let devices = devices();
            let place = devices.iter().position(|d| !d.is_cpu);
            let device = place.ok_or("`fyke devices` finds no GPU")?;
            let properties = devices[device];
            let fits = |o: &&Offer| o.memory <= properties.memory / MEMORY_SHARE;
            let offer = offers.iter().find(fits).ok_or_else(|| {
                format!("the tables need more than half the memory of {}", properties.name)
            })?;
            let times = self.weigh(bytes, cpu_ns, on_device(offer.kernel_ns, properties))?;
            let why = format!("device={device}, {}: {times}", properties.name);
            Ok(Verdict::Taken { product: offer.product, device, why })
        };
        decided().unwrap_or_else(Verdict::Not)
    }
}

/// The devices to choose from. Opens their drivers.
fn devices() -> Vec<&'static Properties> {
    device::first_devices().iter().map(|d| d.properties()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_gpu::device::Backend;

    fn fake(is_cpu: bool, units: u32) -> Properties {
        Properties {
            backend: Backend::OpenCl,
            name: "a fake".into(),
            driver: String::new(),
            memory: 1 << 30,
            shared: 48 << 10,
            units,
            lanes: 1,
            max_items: 256,
            is_cpu,
            capability: None,
        }
    }

    fn offer(kernel_ns: f32, memory: u64) -> Result<Vec<Offer>, Refusal> {
        Ok(vec![Offer { product: 0, kernel_ns, memory }])
    }

    const GB: u64 = 1_000_000_000;

    #[test]
    fn cpu_and_gpu_each_win_where_they_should() {
        let (gpu, pocl) = (fake(false, 132), fake(true, 16));
        // Bytes, threads, nanoseconds of the CPU and of the kernel, and whether a GPU is taken.
        for (bytes, threads, cpu_ns, kernel_ns, taken) in [
            // `resident/32`: the CPU is faster, on 16 cores and on one.
            (4_280_000_000, 16, 0.19, 0.0003, false),
            (4_280_000_000, 1, 0.19, 0.0003, false),
            (100 * GB, 16, 0.19, 0.0003, false),
            // Thousands of patterns.
            (1_000_000, 1, 2.0, 0.0005, false),
            (100_000_000, 1, 2.0, 0.0005, false),
            (GB, 1, 2.0, 0.0005, true),
            (100 * GB, 1, 2.0, 0.0005, true),
            (100 * GB, 4, 2.0, 0.0005, true),
            (100 * GB, 16, 2.0, 0.0005, true),
            (100 * GB, 16, 0.5, 0.0005, false),
            (100 * GB, 16, 10.0, 0.0005, true),
            // A kernel that writes much.
            (100 * GB, 4, 2.0, 0.4, false),
            (0, 1, 2.0, 0.0005, false),
        ] {
            let scan = ExpectedScan { bytes: Some(bytes), threads };
            let verdict = scan.decide(cpu_ns, || offer(kernel_ns, 0), || vec![&pocl, &gpu]);
            assert_eq!(matches!(verdict, Verdict::Taken { .. }), taken, "{scan:?}: {verdict:?}");
            if let Verdict::Taken { device, .. } = verdict {
                assert_eq!(device, 1, "the one that is a GPU");
            }
        }
    }

    #[test]
    fn no_driver_is_asked_if_the_cpu_is_faster() {
        let never = || -> Vec<&Properties> { panic!("asked for devices") };
        for (bytes, cpu_ns, kernel_ns) in
            [(None, 10.0, 0.1), (Some(1 << 20), 10.0, 0.1), (Some(100 * GB), 2.0, 100.0)]
        {
            let scan = ExpectedScan { bytes, threads: 1 };
            let verdict = scan.decide(cpu_ns, || offer(kernel_ns, 0), never);
            assert!(matches!(verdict, Verdict::Not(_)), "{verdict:?}");
        }
        let scan = ExpectedScan { bytes: Some(1 << 20), threads: 1 };
        scan.decide(10.0, || panic!("asked for a forecast"), never);
    }

    #[test]
    fn what_is_missing_is_said() {
        let scan = ExpectedScan { bytes: Some(100 * GB), threads: 2 };
        let why = |offers: Result<Vec<Offer>, Refusal>, devices: Vec<&Properties>| match scan
            .decide(5.0, || offers, || devices)
        {
            Verdict::Not(why) => why,
            taken => panic!("{taken:?}"),
        };
        let (gpu, small, pocl) = (fake(false, 132), fake(false, 1), fake(true, 16));
        assert!(why(offer(0.001, 0), vec![]).contains("finds no GPU"));
        assert!(why(offer(0.001, 0), vec![&pocl]).contains("finds no GPU"));
        assert!(why(offer(0.001, 1 << 30), vec![&gpu]).contains("half the memory of a fake"));
        assert!(why(offer(0.02, 0), vec![&small]).contains("the CPU takes 250.00 s on 2 threads"));
        let refusal = Refusal::TooShort { min: 4, have: 1 };
        assert!(why(Err(refusal), vec![&gpu]).contains("patterns of 4 bytes or more"));
        let unknown = ExpectedScan { bytes: None, threads: 2 };
        let said = unknown.decide(5.0, || offer(0.001, 0), || vec![&gpu]);
        assert_eq!(
            said,
            Verdict::Not(
                "the size of the input is unknown; a GPU is faster from 0.3 GB on, against 2 threads"
                    .into()
            )
        );
    }
}
