//! A graphics processor or the processor: by what both are expected to take for so many bytes.
//!
//! A device is taken if opening it, copying and searching take less time than the processor's engines on all threads,
//! by a margin. So the size of the input has to be known. What is asked comes in the order of what asking
//! costs: the size, a forecast, and only then a driver, which is opened if it may well be used. A
//! processor that plays a device is never chosen; who wants it names it (`gpu`, `gpu:device=1`).

use super::{Answer, Considered, Patterns};
use fyke_core::Forecast;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use fyke_gpu::device::{self, Properties};
use fyke_gpu::forecast::{OPEN_SECONDS, PRODUCTS, host_ns, on_device};
use std::sync::Arc;

/// The entry of the registry.
pub static GPU: Gpu = Gpu;

static INFO: Info = Info {
    name: "gpu",
    device: Device::Gpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "chooses the engine for a graphics processor, or refuses; a processor that plays one is taken if there is no other",
    source: "-",
    variants: &["backend=opencl"],
};

/// How many times as long the processor has to take: forecasts are that uncertain. Not swept.
const MARGIN: f64 = 1.5;

/// A set may take this share of a device's memory: haystack and matches need the rest. Not swept.
const MEMORY_SHARE: u64 = 2;

/// Chooses an engine for a graphics processor.
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

/// What the engines of graphics processors say about a set, with what they take for haystacks on the host. No device is
/// opened for that.
pub fn gpu_considered(set: &PatternSet, opt: &Options) -> Vec<Considered> {
    let threads = Load::of(opt).threads;
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
pub(super) struct Offer {
    /// Its place among [`PRODUCTS`].
    product: usize,
    /// On data in device memory.
    kernel_ns: f32,
    /// Bytes on the device.
    memory: u64,
}

/// The engines that take the set, fastest first.
///
/// # Errors
/// None does: why the first one refuses.
pub(super) fn offers(set: &PatternSet, opt: &Options) -> Result<Vec<Offer>, Refusal> {
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

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// The engine at that place of [`PRODUCTS`], on the device of that number.
    Taken { product: usize, device: usize, why: String },
    /// The processor's engines.
    Not(String),
}

/// A scan that is to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Load {
    bytes: Option<u64>,
    threads: usize,
}

impl Load {
    pub(super) fn of(opt: &Options) -> Load {
        Load { bytes: opt.expected_bytes, threads: opt.threads.unwrap_or(1).max(1) }
    }

    /// Nanoseconds a byte on all threads.
    fn cpu_ns(&self, ns: f32) -> f64 {
        f64::from(ns) / self.threads as f64
    }

    /// The fewest bytes for which a device pays, if any are enough.
    fn least(&self, cpu_ns: f32, kernel_ns: f32) -> Option<f64> {
        let gained = self.cpu_ns(cpu_ns) / MARGIN - host_ns(kernel_ns, self.threads);
        (gained > 0.0).then(|| 1e9 * OPEN_SECONDS / gained)
    }

    /// Both times for so many bytes, or the margin that a device does not win by.
    fn weigh(&self, bytes: u64, cpu_ns: f32, kernel_ns: f32) -> Result<String, String> {
        let gpu = OPEN_SECONDS + bytes as f64 * host_ns(kernel_ns, self.threads) * 1e-9;
        let cpu = bytes as f64 * self.cpu_ns(cpu_ns) * 1e-9;
        let both = format!(
            "{gpu:.2} s expected, {OPEN_SECONDS} of them to open it; the processor {cpu:.2} s on {}",
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

    /// From which size on a device would pay.
    fn advice(&self, cpu_ns: f32, kernel_ns: f32) -> String {
        match self.least(cpu_ns, kernel_ns) {
            Some(bytes) => {
                format!("it pays from {:.1} GB on, against {}", bytes / 1e9, self.threads())
            }
            None => format!("it pays at no size, against {}", self.threads()),
        }
    }

    /// Decides. `offers` and `devices` are asked only if the answer may matter.
    pub(super) fn decide<'d>(
        &self,
        cpu_ns: f32,
        offers: impl FnOnce() -> Result<Vec<Offer>, Refusal>,
        devices: impl FnOnce() -> Vec<&'d Properties>,
    ) -> Verdict {
        let decided = || -> Result<Verdict, String> {
            let bytes = self.bytes.ok_or_else(|| {
                let advice = self.advice(cpu_ns, 0.0);
                format!("the size of the input is not known; {advice}")
            })?;
            self.weigh(bytes, cpu_ns, 0.0)?;
            let offers = offers().map_err(|refusal| refusal.to_string())?;
            let fastest = offers.iter().map(|o| o.kernel_ns).fold(f32::INFINITY, f32::min);
            self.weigh(bytes, cpu_ns, fastest)?;
            let devices = devices();
            let place = devices.iter().position(|d| !d.is_cpu);
            let device = place.ok_or("`fyke devices` finds no graphics processor")?;
            let properties = devices[device];
            let fits = |o: &&Offer| o.memory <= properties.memory / MEMORY_SHARE;
            let offer = offers.iter().find(fits).ok_or_else(|| {
                format!("the tables take more than half the memory of {}", properties.name)
            })?;
            let times = self.weigh(bytes, cpu_ns, on_device(offer.kernel_ns, properties))?;
            let why = format!("device={device}, {}: {times}", properties.name);
            Ok(Verdict::Taken { product: offer.product, device, why })
        };
        decided().unwrap_or_else(Verdict::Not)
    }
}

/// The name of an engine by its place among [`PRODUCTS`].
pub(super) fn name_of(product: usize) -> &'static str {
    PRODUCTS[product].engine.info.name
}

/// The devices of this machine that are chosen from; opens their driver.
pub(super) fn devices() -> Vec<&'static Properties> {
    device::first_devices().iter().map(|d| d.properties()).collect()
}

/// Compiles a set for what a verdict took.
pub(super) fn compile(
    product: usize,
    device: usize,
    set: &PatternSet,
    opt: &Options,
) -> Result<Arc<dyn Matcher>, Refusal> {
    let opt = opt.clone().params(&format!("device={device}"))?;
    PRODUCTS[product].engine.compile(set, &opt)
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
    fn the_processor_and_a_device_each_win_where_they_should() {
        let (gpu, played) = (fake(false, 132), fake(true, 16));
        // Bytes, threads, the processor's nanoseconds and the kernel's, and whether a device is taken.
        for (bytes, threads, cpu_ns, kernel_ns, taken) in [
            // Measured: 0.067 s on 16 cores and 0.8 s on one; 0.77 s on an H200, when files came to it at 29 GB/s.
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
            let load = Load { bytes: Some(bytes), threads };
            let verdict = load.decide(cpu_ns, || offer(kernel_ns, 0), || vec![&played, &gpu]);
            assert_eq!(matches!(verdict, Verdict::Taken { .. }), taken, "{load:?}: {verdict:?}");
            if let Verdict::Taken { device, .. } = verdict {
                assert_eq!(device, 1, "the one that is no processor");
            }
        }
    }

    #[test]
    fn no_driver_is_asked_for_what_cannot_pay() {
        let never = || -> Vec<&Properties> { panic!("asked for devices") };
        for (bytes, cpu_ns, kernel_ns) in
            [(None, 10.0, 0.1), (Some(1 << 20), 10.0, 0.1), (Some(100 * GB), 2.0, 100.0)]
        {
            let load = Load { bytes, threads: 1 };
            let verdict = load.decide(cpu_ns, || offer(kernel_ns, 0), never);
            assert!(matches!(verdict, Verdict::Not(_)), "{verdict:?}");
        }
        let load = Load { bytes: Some(1 << 20), threads: 1 };
        load.decide(10.0, || panic!("asked for a forecast"), never);
    }

    #[test]
    fn what_is_missing_is_said() {
        let load = Load { bytes: Some(100 * GB), threads: 2 };
        let why = |offers: Result<Vec<Offer>, Refusal>, devices: Vec<&Properties>| match load
            .decide(5.0, || offers, || devices)
        {
            Verdict::Not(why) => why,
            taken => panic!("{taken:?}"),
        };
        let (gpu, small, played) = (fake(false, 132), fake(false, 1), fake(true, 16));
        assert!(why(offer(0.001, 0), vec![]).contains("no graphics processor"));
        assert!(why(offer(0.001, 0), vec![&played]).contains("no graphics processor"));
        assert!(why(offer(0.001, 1 << 30), vec![&gpu]).contains("half the memory of a fake"));
        assert!(why(offer(0.02, 0), vec![&small]).contains("the processor 250.00 s on 2 threads"));
        let refusal = Refusal::TooShort { min: 4, have: 1 };
        assert!(why(Err(refusal), vec![&gpu]).contains("shortest pattern"));
        let unknown = Load { bytes: None, threads: 2 };
        let said = unknown.decide(5.0, || offer(0.001, 0), || vec![&gpu]);
        assert_eq!(
            said,
            Verdict::Not(
                "the size of the input is not known; it pays from 0.3 GB on, against 2 threads"
                    .into()
            )
        );
    }
}
