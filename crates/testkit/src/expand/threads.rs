//! The facade's parallel scan, on one segment and across the boundaries of several.

use super::{Run, at, moved};
use crate::audit::Audit;
use fyke_core::StreamMatch;

/// Numbers of threads, fewer and more than a machine has cores.
const THREADS: [usize; 4] = [1, 2, 3, 8];
/// Segments have a power of two bytes, at least this many, so each starts at a multiple of it.
const SEGMENT: usize = 64 << 10;
const BOUNDARIES: usize = 9;

/// The haystack alone, which is one segment for any number of threads, then across boundaries.
pub(super) fn threads(run: &Run<'_>) -> Result<(), String> {
    for threads in THREADS {
        expect_parallel(run, run.haystack(), &run.case.expected, threads)?;
    }
    let Some(filler) = run.case.filler().filter(|_| run.haystack().len() < SEGMENT / 2) else {
        (run.skipped)(
            "threads across boundaries: every byte is in a pattern, or the haystack is long",
        );
        return Ok(());
    };
    let (haystack, expected) = across_boundaries(run, filler);
    expect_parallel(run, &haystack, &expected, 3)
}

fn expect_parallel(
    run: &Run<'_>,
    haystack: &[u8],
    expected: &[StreamMatch],
    threads: usize,
) -> Result<(), String> {
    let mut audit = Audit::of_haystack(&run.case.set, haystack.len());
    (run.parallel)(&*run.matcher, haystack, threads, &mut audit);
    at(format_args!("{threads} over {} bytes", haystack.len()), audit.finish_ordered(expected))
}

/// Filler with a copy of the haystack across each multiple of [`SEGMENT`], each copy at another
/// offset.
fn across_boundaries(run: &Run<'_>, filler: u8) -> (Vec<u8>, Vec<StreamMatch>) {
    let n = run.haystack().len();
    let mut all = vec![filler; (BOUNDARIES + 2) * SEGMENT];
    let mut expected = Vec::new();
    for i in 1..=BOUNDARIES {
        let start = i * SEGMENT - n * i / (BOUNDARIES + 1);
        all[start..start + n].copy_from_slice(run.haystack());
        expected.extend(run.case.expected.iter().map(|m| moved(m, start as u64)));
    }
    (all, expected)
}
