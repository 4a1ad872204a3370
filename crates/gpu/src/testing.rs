//! Tests on the devices of this machine: counted, and failed if `FYKE_REQUIRE` names an engine of
//! a backend that is missing.

use crate::device::{Device, inventory};
use crate::matcher::{GpuEngine, GpuMatcher};
use fyke_core::{Options, PatternSet};
use fyke_testkit::devices::{AbsentBackend, DeviceTests};
use fyke_testkit::require::REQUIRE;

/// The backends that this machine lacks.
pub(crate) fn absent() -> Vec<AbsentBackend> {
    let absent = inventory().missing.iter();
    absent.map(|m| AbsentBackend { name: m.backend.name(), why: m.why.clone() }).collect()
}

/// The tests of the calling function.
#[track_caller]
pub(crate) fn tests() -> DeviceTests {
    DeviceTests::new(REQUIRE, absent())
}

/// Runs a check on every device of this machine.
#[track_caller]
pub(crate) fn each_device(mut check: impl FnMut(&Device)) {
    let mut tests = tests();
    for device in &inventory().devices {
        check(device);
        tests.checked(format!("{device:?}"));
    }
}

/// Options that select a device, followed by more options.
pub(crate) fn options(device: &Device, more: &str) -> Options {
    let number = inventory().devices.iter().position(|d| d.is(device)).expect("a listed device");
    Options::with_params(&format!("device={number},{more}")).unwrap()
}

/// A set compiled for a device, which must not refuse it.
#[track_caller]
pub(crate) fn compile(
    engine: &GpuEngine,
    set: &PatternSet,
    device: &Device,
    more: &str,
) -> GpuMatcher {
    let name = engine.info.name;
    let matcher = engine.compile_for_device(set, &options(device, more));
    matcher.unwrap_or_else(|why| panic!("{name} on {device:?} refused {more:?}: {why}"))
}

/// Runs a check on the first device of this machine.
#[track_caller]
pub(crate) fn first_device(check: impl FnOnce(&Device)) {
    let mut tests = tests();
    if let Some(device) = inventory().devices.first() {
        check(device);
        tests.checked(format!("{device:?}"));
    }
}
