//! The haystack in parts: streams of chunks, saved and restored streams, ranges, blocks of a
//! source.

use super::{Run, at};
use crate::audit::{Audit, same};
use crate::random::SplitMix;
use fyke_core::{Block, Scratch, Semantics, Sink, SliceSource, Stream, StreamMatch};

/// Sizes of chunks, and of the owned parts of ranges.
const CHUNKS: [usize; 6] = [1, 2, 3, 7, 64, 4096];
const RANGES: [usize; 7] = [1, 2, 3, 5, 7, 64, 1000];
/// Cuts tried where trying all of them costs too much.
const SAMPLED_CUTS: usize = 8;

/// Feeds pieces to a stream. With `restore`, it is saved and restored after each piece.
pub(super) fn stream<'a>(
    run: &Run<'_>,
    semantics: Semantics,
    pieces: impl Iterator<Item = &'a [u8]>,
    restore: bool,
    sink: &mut dyn Sink,
) -> Result<u64, String> {
    let mut stream = Stream::new(run.matcher.clone(), semantics);
    for piece in pieces {
        if stream.feed(piece, sink).is_break() {
            return Ok(stream.matches());
        }
        if restore {
            stream = Stream::restore(run.matcher.clone(), semantics, &stream.save())
                .map_err(|e| e.to_string())?;
        }
    }
    let matches = stream.matches();
    let _ = stream.finish(sink);
    Ok(matches)
}

pub(super) fn expect_stream<'a>(
    run: &Run<'_>,
    pieces: impl Iterator<Item = &'a [u8]>,
    restore: bool,
) -> Result<(), String> {
    let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
    let matches = stream(run, Semantics::All, pieces, restore, &mut audit)?;
    audit.finish_ordered(&run.case.expected)?;
    let expected = run.case.expected.len() as u64;
    if matches == expected {
        Ok(())
    } else {
        Err(format!("Stream::matches is {matches}, expected {expected}"))
    }
}

pub(super) fn chunks(run: &Run<'_>) -> Result<(), String> {
    for size in CHUNKS.into_iter().filter(|&size| !run.too_many_cuts(size, 1)) {
        at(format_args!("of {size}"), expect_stream(run, run.haystack().chunks(size), false))?;
    }
    Ok(())
}

/// Chunks of random sizes: empty ones, short ones, and some longer than the history.
pub(super) fn random_pieces(haystack: &[u8], overlap: usize, seed: u64) -> Vec<&[u8]> {
    let mut random = SplitMix::new(seed);
    let mut rest = haystack;
    let mut pieces = vec![];
    while !rest.is_empty() {
        let bound = [3, 20, overlap + 2, 2 * overlap + 600][random.below(4) as usize];
        let size = random.below(bound as u64) as usize;
        let (piece, tail) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

pub(super) fn random_chunks(run: &Run<'_>) -> Result<(), String> {
    for seed in [run.seed, !run.seed] {
        let pieces = random_pieces(run.haystack(), run.overlap(), seed);
        if run.is_costly(pieces.len(), run.overlap()) {
            (run.skipped)("random chunks: so many cuts cost too much");
            continue;
        }
        let sizes: Vec<usize> = pieces.iter().take(20).map(|p| p.len()).collect();
        for restore in [false, true] {
            let result = expect_stream(run, pieces.iter().copied(), restore);
            at(format_args!("of {sizes:?}, restored {restore}"), result)?;
        }
    }
    Ok(())
}

/// Saved and restored at every cut: one stream with a restore after each byte, and one stream per
/// cut.
pub(super) fn restored(run: &Run<'_>) -> Result<(), String> {
    let n = run.haystack().len();
    if !run.too_many_cuts(1, 1) {
        at(format_args!("after each byte"), expect_stream(run, run.haystack().chunks(1), true))?;
    }
    let all = !run.is_costly(n, n + run.overlap());
    if !all {
        (run.skipped)("all but a few cuts of a restored stream: the haystack is long");
    }
    let step = if all { 1 } else { n.div_ceil(SAMPLED_CUTS) };
    for cut in (0..=n).step_by(step) {
        let (a, b) = run.haystack().split_at(cut);
        at(format_args!("at {cut}"), expect_stream(run, [a, b].into_iter(), true))?;
    }
    Ok(())
}

/// Every part scanned separately, the last one first. Together the parts own every match.
pub(super) fn ranges(run: &Run<'_>) -> Result<(), String> {
    let whole = Block::whole(run.haystack());
    let histories = [run.overlap(), run.overlap() + 13];
    for size in RANGES.into_iter().filter(|&size| !run.too_many_cuts(size, histories.len())) {
        for history in histories {
            let blocks: Vec<Block<'_>> = whole.pieces(size, history).collect();
            let mut scratch = Scratch::new();
            let mut found = Vec::new();
            for block in blocks.iter().rev() {
                let owned = run.scan(*block, &mut scratch);
                found.extend(at(
                    format_args!("{} after {}", block.owned().len(), block.owned_offset()),
                    owned,
                )?);
            }
            found.sort_unstable();
            at(format_args!("of {size}, history {history}"), same(&run.case.expected, &found))?;
        }
    }
    Ok(())
}

/// Every other part, with a scratch in which automata keep their state. They must not continue
/// from it at another position.
pub(super) fn gaps(run: &Run<'_>) -> Result<(), String> {
    for size in RANGES.into_iter().filter(|&size| !run.too_many_cuts(size, 1)) {
        let mut scratch = Scratch::following();
        for block in Block::whole(run.haystack()).pieces(size, run.overlap()).step_by(2) {
            let end = block.offset + block.bytes.len() as u64;
            let is_owned = |m: &&StreamMatch| block.owned_offset() < m.end && m.end <= end;
            let expected: Vec<StreamMatch> =
                run.case.expected.iter().filter(is_owned).copied().collect();
            let found = run.scan(block, &mut scratch).and_then(|found| same(&expected, &found));
            at(format_args!("{size} after {}", block.owned_offset()), found)?;
        }
    }
    Ok(())
}

/// Blocks in order through the matcher's own loop, in which automata keep their state.
pub(super) fn source(run: &Run<'_>) -> Result<(), String> {
    for size in RANGES.into_iter().filter(|&size| !run.too_many_cuts(size, 1)) {
        let mut source = SliceSource::new(run.haystack(), size, run.overlap());
        let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
        let flow = run.matcher.drive(&mut source, &mut audit).map_err(|e| e.to_string())?;
        let result = audit.finish(&run.case.expected);
        at(format_args!("blocks of {size}"), result)?;
        if flow.is_break() {
            return Err("drive returns a break, but the sink did not break".into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::random_pieces;

    #[test]
    fn random_pieces_add_up_to_the_haystack() {
        let haystack: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let pieces = random_pieces(&haystack, 10, 7);
        assert_eq!(pieces.concat(), haystack);
        assert!(pieces.iter().any(|p| p.is_empty()) && pieces.iter().any(|p| p.len() > 300));
    }
}
