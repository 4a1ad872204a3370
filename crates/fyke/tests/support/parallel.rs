//! The parallel scan of the library, as suites call it.

use fyke::{Matcher, Sink};
use fyke_cpu::parallel::{Haystack, Segment, scan};

pub(crate) fn parallel(
    matcher: &dyn Matcher,
    haystack: &[u8],
    threads: usize,
    sink: &mut dyn Sink,
) {
    let mut pass = |s: Segment<'_>| sink.on_batch(&s.batch);
    let _ =
        scan(matcher, Haystack::Slice(haystack), threads, &mut pass).expect("memory can be read");
}
