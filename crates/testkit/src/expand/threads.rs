//! The facade's threads, over one segment and over the seams of several.

use super::{Run, at, moved};
use crate::audit::Audit;
use fyke_core::Match;

/// Threads for the parallel scan: fewer and more than the machine has.
const THREADS: [usize; 4] = [1, 2, 3, 8];
/// Every segment that threads take begins at a multiple of this, if it has 2^n bytes and not too few.
const SEAM: usize = 64 << 10;
const SEAMS: usize = 9;

/// The haystack alone, which is one segment for any number of threads; then over the seams of segments.
pub(super) fn threads(run: &Run<'_>) -> Result<(), String> {
    for threads in THREADS {
        expect_parallel(run, run.haystack(), &run.case.expected, threads)?;
    }
    let Some(filler) = run.case.filler().filter(|_| run.haystack().len() < SEAM / 2) else {
        (run.skipped)("threads over seams: no byte to fill with, or too long");
        return Ok(());
    };
    let (sea, expected) = archipelago(run, filler);
    expect_parallel(run, &sea, &expected, 3)
}

fn expect_parallel(
    run: &Run<'_>,
    haystack: &[u8],
    expected: &[Match],
    threads: usize,
) -> Result<(), String> {
    let mut audit = Audit::of_haystack(&run.case.set, haystack.len());
    (run.parallel)(&*run.matcher, haystack, threads, &mut audit);
    at(format_args!("{threads} over {} bytes", haystack.len()), audit.finish_ordered(expected))
}

/// Copies of the haystack in a sea of filler, one over each multiple of [`SEAM`], each a bit further left.
fn archipelago(run: &Run<'_>, filler: u8) -> (Vec<u8>, Vec<Match>) {
    let n = run.haystack().len();
    let mut sea = vec![filler; (SEAMS + 2) * SEAM];
    let mut expected = Vec::new();
    for i in 1..=SEAMS {
        let start = i * SEAM - n * i / (SEAMS + 1);
        sea[start..start + n].copy_from_slice(run.haystack());
        expected.extend(run.case.expected.iter().map(|m| moved(m, start as u64)));
    }
    (sea, expected)
}
