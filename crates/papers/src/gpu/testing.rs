//! Tests on the devices of this machine: counted, and failed if `FYKE_REQUIRE_PAPERS` names an
//! engine of a backend that is missing.

use fyke_gpu::device::inventory;
use fyke_testkit::devices::{AbsentBackend, DeviceTests};

/// The variable that requires engines of this crate, as in its conformance suite.
const REQUIRE: &str = "FYKE_REQUIRE_PAPERS";

/// The tests of the calling function.
#[track_caller]
pub(crate) fn tests() -> DeviceTests {
    let absent = inventory().missing.iter();
    let absent = absent.map(|m| AbsentBackend { name: m.backend.name(), why: m.why.clone() });
    DeviceTests::new(REQUIRE, absent.collect())
}

/// Runs a check with each backend; it compiles by [`DeviceTests::on_backend`] and counts what it
/// checked.
#[track_caller]
pub(crate) fn each_backend(mut check: impl FnMut(&'static str, &mut DeviceTests)) {
    let mut tests = tests();
    for backend in ["opencl", "cuda"] {
        check(backend, &mut tests);
    }
}
