//! The devices of this machine, and the choice among them by options.

use super::api::Api;
use super::{Backend, Device, cuda, opencl};
use fyke_core::{Options, Refusal};
use std::sync::OnceLock;

/// A backend that has no device here.
#[derive(Clone, Debug)]
pub struct Missing {
    /// The backend.
    pub backend: Backend,
    /// Why: the driver's error, or that there is no driver.
    pub why: String,
    /// How to install it.
    pub hint: &'static str,
}

/// The devices of this machine.
pub struct Inventory {
    /// CUDA devices, then GPUs of OpenCL, then CPUs of OpenCL. `device=N` is an index into this
    /// list.
    pub devices: Vec<Device>,
    /// Backends without a device.
    pub missing: Vec<Missing>,
}

/// The devices of this machine. Drivers are asked once per process.
pub fn inventory() -> &'static Inventory {
    static INVENTORY: OnceLock<Inventory> = OnceLock::new();
    INVENTORY.get_or_init(|| {
        let mut inventory = Inventory { devices: Vec::new(), missing: Vec::new() };
        for (backend, hint) in [(Backend::Cuda, cuda::HINT), (Backend::OpenCl, opencl::HINT)] {
            match devices_of(backend) {
                Ok(devices) => inventory.devices.extend_from_slice(devices),
                Err(why) => {
                    inventory.missing.push(Missing { backend, why: why.clone(), hint });
                }
            }
        }
        inventory
            .devices
            .sort_by_key(|d| (d.properties().backend != Backend::Cuda, d.properties().is_cpu));
        inventory
    })
}

/// The devices of a backend. The driver is asked once per process.
fn devices_of(backend: Backend) -> &'static Result<Vec<Device>, String> {
    type Asked = OnceLock<Result<Vec<Device>, String>>;
    static CUDA: Asked = OnceLock::new();
    static OPENCL: Asked = OnceLock::new();
    let devices = |apis: Vec<Box<dyn Api>>| apis.into_iter().map(Device::new).collect();
    match backend {
        Backend::Cuda => CUDA.get_or_init(|| cuda::devices().map(devices)),
        Backend::OpenCl => OPENCL.get_or_init(|| opencl::devices().map(devices)),
    }
}

/// The first devices of the [`inventory`]: the CUDA devices, or all devices if there are none.
///
/// With a CUDA device the OpenCL driver is not loaded: that takes about as long as loading CUDA and
/// creating a context.
pub fn first_devices() -> &'static [Device] {
    match devices_of(Backend::Cuda) {
        Ok(devices) if !devices.is_empty() => devices,
        _ => &inventory().devices,
    }
}

/// The options that [`open`] and [`open_all`] read.
pub const OPTIONS: [&str; 3] = ["backend", "device", "devices"];

/// The device that the options ask for: `backend=cuda|opencl`, or `device=N` as an index into the
/// [`inventory`]; by default the first. If they ask for several, the first of these.
///
/// # Errors
/// There is no such device (the refusal says what is missing and how to get it), or an option is
/// malformed.
pub fn open(opt: &Options) -> Result<Device, Refusal> {
    open_all(opt).map(|mut devices| devices.swap_remove(0))
}

/// The devices that the options ask for, at least one: `devices=0+1` as indexes into the
/// [`inventory`], or `devices=all` for all of the first one's backend and kind; else the one that
/// [`open`] gives.
///
/// # Errors
/// As [`open`].
pub fn open_all(opt: &Options) -> Result<Vec<Device>, Refusal> {
    // The first devices come first in the inventory, in the same order, so the choice is the same.
    choose(first_devices(), opt).or_else(|_| choose(&inventory().devices, opt))
}

/// The devices of a list that the options ask for.
pub(super) fn choose(all: &[Device], opt: &Options) -> Result<Vec<Device>, Refusal> {
    let wanted = match opt.choice("backend", &["auto", "cuda", "opencl"])? {
        "cuda" => Some(Backend::Cuda),
        "opencl" => Some(Backend::OpenCl),
        _ => None,
    };
    let fits = |d: &&Device| wanted.is_none_or(|b| d.properties().backend == b);
    let kind = |d: &Device| (d.properties().backend, d.properties().is_cpu);
    let first = all.iter().find(fits);
    let found: Option<Vec<&Device>> = match (opt.param("device"), opt.param("devices")) {
        (None, None) => first.map(|d| vec![d]),
        (None, Some("all")) => {
            first.map(|first| all.iter().filter(|d| kind(d) == kind(first)).collect())
        }
        (None, Some(list)) => by_numbers("devices", list, all)?,
        (Some(number), None) if !number.contains('+') => by_numbers("device", number, all)?,
        (Some(number), _) => {
            return Err(Refusal::BadOption(format!(
                "device={}: `device` takes one number; for several write devices=0+1 alone",
                number.escape_debug()
            )));
        }
    };
    let found = found.filter(|devices| devices.iter().all(fits));
    found.map(|devices| devices.into_iter().cloned().collect()).ok_or_else(|| {
        Refusal::NoDevice(if all.iter().any(|d| fits(&d)) {
            format!(
                "this machine has {} devices, and the requested one is not among them; `fyke devices` \
                 lists them",
                all.len()
            )
        } else {
            absence(wanted)
        })
    })
}

/// The devices of a list of numbers with `+` between them, in ascending order and without repeats.
/// `None` if one does not exist.
fn by_numbers<'a>(
    option: &str,
    list: &str,
    all: &'a [Device],
) -> Result<Option<Vec<&'a Device>>, Refusal> {
    let number = |part: &str| {
        part.parse().map_err(|_| {
            Refusal::BadOption(format!(
                "{option}={}: take a number from 0, as `fyke devices` lists them",
                list.escape_debug()
            ))
        })
    };
    let mut numbers = list.split('+').map(number).collect::<Result<Vec<usize>, _>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers.into_iter().map(|n| all.get(n)).collect())
}

/// Why a backend, or any, has no device.
fn absence(wanted: Option<Backend>) -> String {
    let missing = inventory().missing.iter().filter(|m| wanted.is_none_or(|b| m.backend == b));
    let reasons: Vec<String> =
        missing.map(|m| format!("{}: {} ({})", m.backend.name(), m.why, m.hint)).collect();
    reasons.join("; ")
}
