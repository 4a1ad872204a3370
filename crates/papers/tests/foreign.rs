//! The test cases of other matchers, on every engine of a paper.

use fyke::parallel::{Haystack, scan};
use fyke::{Matcher, Sink};
use fyke_testkit::{Suite, foreign};
use std::process::ExitCode;

/// The engines of the papers, and the oracle that they are compared with.
fn engines() -> Vec<&'static dyn fyke::Engine> {
    let oracle: &dyn fyke::Engine = &fyke_cpu::engine::naive::ENGINE;
    std::iter::once(oracle).chain(fyke_papers::engines()).collect()
}

fn main() -> ExitCode {
    foreign::main(Suite::requiring_by("FYKE_REQUIRE_PAPERS", engines(), parallel))
}

fn parallel(matcher: &dyn Matcher, haystack: &[u8], threads: usize, sink: &mut dyn Sink) {
    let mut pass = |s: fyke::parallel::Segment<'_>| sink.on_batch(&s.batch);
    let _ =
        scan(matcher, Haystack::Slice(haystack), threads, &mut pass).expect("memory can be read");
}
