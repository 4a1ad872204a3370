//! The engines under test, shared by the targets that run engines.

use fyke_testkit::Suite;
use fyke_testkit::subject::one_thread;
use std::sync::OnceLock;

/// The engines of the CPU. A GPU driver is not built with the sanitizer and stops a fuzzer for
/// reasons of its own.
pub(crate) fn suite() -> &'static Suite {
    static SUITE: OnceLock<Suite> = OnceLock::new();
    SUITE.get_or_init(|| {
        let all = fyke::registry::built_in().into_iter().chain(fyke_papers::engines());
        Suite::new(all.filter(|e| e.info().device == fyke::Device::Cpu).collect(), one_thread)
    })
}
