//! Match semantics: which matches they report, on one block and in streams.

use super::cuts::stream;
use super::{Run, at};
use crate::audit::Audit;
use fyke_core::{Block, Scratch, Semantics, SemanticsFilter, SortBuffer, Sorter, StreamMatch};
use std::ops::ControlFlow;

/// Every semantics, on one block and in streams, of which one is saved and restored.
pub(super) fn semantics(run: &Run<'_>) -> Result<(), String> {
    let all = Semantics::ALL.len();
    let sizes: Vec<usize> = [1, 7].into_iter().filter(|&s| !run.too_many_cuts(s, all)).collect();
    Semantics::ALL.into_iter().try_for_each(|semantics| under(run, semantics, &sizes))
}

/// One semantics, on one block and in streams of chunks of these sizes. The stream of chunks of
/// seven is saved and restored after each chunk.
pub(super) fn under(run: &Run<'_>, semantics: Semantics, sizes: &[usize]) -> Result<(), String> {
    let expected = run.case.under(semantics);
    at(format_args!("{semantics}"), filtered(run, semantics, &expected))?;
    for &size in sizes {
        let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
        let chunks = run.haystack().chunks(size);
        let matches = stream(run, semantics, chunks, size == 7, &mut audit)?;
        let result = accept(semantics, audit, &expected, matches);
        at(format_args!("{semantics}, stream in chunks of {size}"), result)?;
    }
    Ok(())
}

fn filtered(run: &Run<'_>, semantics: Semantics, expected: &[StreamMatch]) -> Result<(), String> {
    let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
    let mut filter = SemanticsFilter::new(semantics, &run.case.set);
    let mut buffer = SortBuffer::default();
    let flow = {
        let mut through = filter.sink(&mut audit);
        let mut sorter = Sorter::new(&run.case.set, 0, &mut buffer, &mut through);
        match run.matcher.scan(Block::whole(run.haystack()), &mut Scratch::new(), &mut sorter) {
            ControlFlow::Continue(()) => sorter.finish(),
            stop => stop,
        }
    };
    let finished = filter.matches();
    let _ = if flow.is_continue() { filter.finish(&run.case.set, &mut audit) } else { flow };
    accept(semantics, audit, expected, finished)
}

/// Whether the sink got the matches of the semantics. `matches` is the filter's own count before
/// the end of the haystack; leftmost semantics may still hold matches back there.
fn accept(
    semantics: Semantics,
    audit: Audit<'_>,
    expected: &[StreamMatch],
    matches: u64,
) -> Result<(), String> {
    let (right_count, result) = match semantics {
        Semantics::LeftmostFirst | Semantics::LeftmostLongest => {
            (matches <= expected.len() as u64, audit.finish_ordered(expected))
        }
        _ => (matches == expected.len() as u64, audit.finish_ordered(expected)),
    };
    result?;
    if right_count { Ok(()) } else { Err(format!("the filter counts {matches}")) }
}
