//! `fyke devices`: the GPUs that engines can use, and what to install if there is none.

use crate::outcome::Outcome;
use clap::Args;
use fyke_gpu::device::{Inventory, Missing, Properties, inventory};
use serde::Serialize;
use std::io::{self, Write};

const NOTES: &str = "\
The option device=N of an engine selects a device by its number, as in `--engine \
gpu-filter:device=1`. By default an engine uses the first device. devices=0+1 uses several; \
devices=all uses all devices of the same kind as the first. OpenCL can run on the CPU (PoCL): \
correct but slow.

Exit code: 0, even if there is no device.";

/// Arguments of `fyke devices`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct DevicesArgs {
    /// Print one JSON object per device, and one per missing backend
    #[arg(long)]
    json: bool,
}

/// A device, as `--json` prints it.
#[derive(Serialize)]
struct DeviceRecord<'a> {
    r#type: &'static str,
    number: usize,
    backend: &'static str,
    name: &'a str,
    driver: &'a str,
    memory: u64,
    shared_memory_per_group: u32,
    compute_units: u32,
    /// Whether it is OpenCL on the CPU.
    is_cpu: bool,
    capability: Option<String>,
}

/// A backend without a device, as `--json` prints it.
#[derive(Serialize)]
struct MissingRecord<'a> {
    r#type: &'static str,
    backend: &'static str,
    reason: &'a str,
    hint: &'static str,
}

pub(crate) fn run(args: &DevicesArgs) -> anyhow::Result<Outcome> {
    let mut out = io::stdout().lock();
    if args.json {
        print_json(&mut out, inventory())?;
    } else {
        print_table(&mut out, inventory())?;
    }
    out.flush()?;
    Ok(Outcome::Match)
}

fn print_table(out: &mut impl Write, inventory: &Inventory) -> io::Result<()> {
    for (number, device) in inventory.devices.iter().enumerate() {
        print_device(out, number, device.properties())?;
    }
    for Missing { backend, why, hint } in &inventory.missing {
        writeln!(out, "no {}: {why}\n    {hint}", backend.name())?;
    }
    Ok(())
}

fn print_device(out: &mut impl Write, number: usize, p: &Properties) -> io::Result<()> {
    let on_cpu = if p.is_cpu { " on the CPU" } else { "" };
    let capability = capability(p).map_or(String::new(), |c| format!(", capability {c}"));
    writeln!(out, "device={number}  {}", p.name)?;
    writeln!(out, "    backend {}{on_cpu}, driver {}{capability}", p.backend.name(), p.driver)?;
    writeln!(
        out,
        "    {} memory, {} shared memory per group, {} compute units",
        size(p.memory),
        size(p.shared.into()),
        p.units
    )
}

fn print_json(out: &mut impl Write, inventory: &Inventory) -> io::Result<()> {
    for (number, device) in inventory.devices.iter().enumerate() {
        let p = device.properties();
        let record = DeviceRecord {
            r#type: "device",
            number,
            backend: p.backend.name(),
            name: &p.name,
            driver: &p.driver,
            memory: p.memory,
            shared_memory_per_group: p.shared,
            compute_units: p.units,
            is_cpu: p.is_cpu,
            capability: capability(p),
        };
        writeln!(out, "{}", serde_json::to_string(&record)?)?;
    }
    for Missing { backend, why, hint } in &inventory.missing {
        let record =
            MissingRecord { r#type: "missing", backend: backend.name(), reason: why, hint };
        writeln!(out, "{}", serde_json::to_string(&record)?)?;
    }
    Ok(())
}

fn capability(p: &Properties) -> Option<String> {
    p.capability.map(|(major, minor)| format!("{major}.{minor}"))
}

/// A number of bytes in the largest binary unit of which there is at least one.
fn size(bytes: u64) -> String {
    let (shift, unit) = match bytes {
        0..0x400 => return format!("{bytes} bytes"),
        0x400..0x10_0000 => (10, "KiB"),
        0x10_0000..0x4000_0000 => (20, "MiB"),
        _ => (30, "GiB"),
    };
    let number = format!("{:.1}", bytes as f64 / (1u64 << shift) as f64);
    format!("{} {unit}", number.strip_suffix(".0").unwrap_or(&number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_gpu::device::Backend;

    #[test]
    fn sizes() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (48 << 10, "48 KiB"),
            (3 << 19, "1.5 MiB"),
            (140 << 30, "140 GiB"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }

    #[test]
    fn a_device_and_a_missing_backend() {
        let properties = Properties {
            backend: Backend::Cuda,
            name: "Some Device".into(),
            driver: "CUDA 12.4".into(),
            memory: 8 << 30,
            shared: 227 << 10,
            units: 132,
            lanes: 32,
            max_items: 1024,
            is_cpu: false,
            capability: Some((9, 0)),
        };
        let mut out = Vec::new();
        print_device(&mut out, 1, &properties).unwrap();
        let missing = Missing { backend: Backend::OpenCl, why: "no loader".into(), hint: "get it" };
        let inventory = Inventory { devices: Vec::new(), missing: vec![missing] };
        print_table(&mut out, &inventory).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "device=1  Some Device
    backend cuda, driver CUDA 12.4, capability 9.0
    8 GiB memory, 227 KiB shared memory per group, 132 compute units
no opencl: no loader
    get it
"
        );
    }
}
