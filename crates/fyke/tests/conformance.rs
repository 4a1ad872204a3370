//! Runs every vector of `vectors/` on every engine, in all the ways that must give the same matches.

use fyke::parallel::{Haystack, scan};
use fyke::{Matcher, Sink, registry};
use fyke_testkit::{Suite, conformance};
use std::process::ExitCode;

fn main() -> ExitCode {
    conformance::main(Suite::new(registry::engines(), parallel))
}

fn parallel(matcher: &dyn Matcher, haystack: &[u8], threads: usize, sink: &mut dyn Sink) {
    let mut pass = |s: fyke::parallel::Segment<'_>| sink.on_batch(&s.batch);
    let _ =
        scan(matcher, Haystack::Slice(haystack), threads, &mut pass).expect("memory can be read");
}
