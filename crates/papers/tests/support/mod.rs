//! The suite that the tests with a main of their own run.

#[path = "../../../fyke/tests/support/parallel.rs"]
mod parallel;

use fyke_core::Engine;
use fyke_testkit::Suite;

/// The engines of the papers, with the requirements of `FYKE_REQUIRE_PAPERS`. The oracle comes
/// first, because the suite compares the engines with it.
pub(crate) fn suite() -> Suite {
    let oracle: &dyn Engine = &fyke_cpu::engine::naive::ENGINE;
    let engines = std::iter::once(oracle).chain(fyke_papers::engines()).collect();
    Suite::requiring_by("FYKE_REQUIRE_PAPERS", engines, parallel::parallel)
}
