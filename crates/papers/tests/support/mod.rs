//! The suite that the tests with a main of their own run.

use fyke::parallel::{Haystack, Segment, scan};
use fyke::{Engine, Matcher, Sink};
use fyke_testkit::Suite;

/// The engines of the papers, with the requirements of `FYKE_REQUIRE_PAPERS`. The oracle comes
/// first, because the suite compares the engines with it.
pub(crate) fn suite() -> Suite {
    let oracle: &dyn Engine = &fyke_cpu::engine::naive::ENGINE;
    let engines = std::iter::once(oracle).chain(fyke_papers::engines()).collect();
    Suite::requiring_by("FYKE_REQUIRE_PAPERS", engines, parallel)
}

fn parallel(matcher: &dyn Matcher, haystack: &[u8], threads: usize, sink: &mut dyn Sink) {
    let mut pass = |s: Segment<'_>| sink.on_batch(&s.batch);
    let _ =
        scan(matcher, Haystack::Slice(haystack), threads, &mut pass).expect("memory can be read");
}
