//! Ways to search that must not matter.
//!
//! A vector says what is in a haystack. That stays so when the haystack starts elsewhere, arrives in
//! pieces, is saved half-way, or is cut among threads; each function here is one such way, and
//! [`WAYS`] names them. Some ways cost the product of two lengths: where that passes a named limit,
//! fewer points are tried, and the tally says so.

use crate::audit::{Audit, same};
use crate::case::Case;
use crate::random::SplitMix;
use crate::subject::Parallel;
use fyke_core::{
    Batch, Block, Filter, Match, Matcher, Scratch, Semantics, Sink, SliceSource, Sorter, Stream,
};
use std::ops::ControlFlow;
use std::sync::Arc;

/// A compiled case on the bench.
pub struct Run<'a> {
    /// The engine's matcher for the case's set.
    pub matcher: Arc<dyn Matcher>,
    /// What to search and what to find.
    pub case: &'a Case,
    /// The facade's threads.
    pub parallel: Parallel,
    /// Seed for what is random.
    pub seed: u64,
    /// Told of what is left out, and why.
    pub skipped: &'a dyn Fn(&str),
}

/// One way: an error says what differs.
pub type Way = fn(&Run<'_>) -> Result<(), String>;

/// All ways, by name.
pub const WAYS: &[(&str, Way)] = &[
    ("whole", whole),
    ("embedded", embedded),
    ("far", far),
    ("shifted", shifted),
    ("repeated", repeated),
    ("chunks", chunks),
    ("random-chunks", random_chunks),
    ("restored", restored),
    ("ranges", ranges),
    ("source", source),
    ("threads", threads),
    ("semantics", semantics),
    ("stopped", stopped),
    ("footprint", footprint),
];

/// The ways for cases derived from a vector, whose point is not where things lie.
pub const BRIEF_WAYS: &[(&str, Way)] =
    &[("whole", whole), ("chunks", chunks), ("ranges", ranges), ("semantics", semantics)];

/// Most bytes of filler a vector is shifted by: past 256, and past four 64-byte registers.
const MAX_SHIFT: usize = 261;
/// Bytes scanned for all shifts of one vector; above it, only [`TELLING_SHIFTS`] are tried.
const SHIFT_BYTES: usize = 2 << 20;
/// Around the widths of registers, words and cache lines.
const TELLING_SHIFTS: [usize; 14] = [0, 1, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 128, MAX_SHIFT];
/// Bytes of a repeated haystack: three tiles of the widest engine, whose tiles have 32 KiB.
const REPEATED: usize = 96 << 10;
/// Sizes of chunks and of the parts that ranges own.
const CHUNKS: [usize; 6] = [1, 2, 3, 7, 64, 4096];
const RANGES: [usize; 7] = [1, 2, 3, 5, 7, 64, 1000];
/// Bytes of history walked again for all cuts of one way; above it, the way is skipped or sampled.
const CUT_BYTES: usize = 4 << 20;
/// Cuts tried where every one would be too many.
const SAMPLED_CUTS: usize = 8;
/// Threads for the parallel scan: fewer and more than the machine has.
const THREADS: [usize; 4] = [1, 2, 3, 8];
/// Every segment that threads take begins at a multiple of this, if it has 2^n bytes and not too few.
const SEAM: usize = 64 << 10;
const SEAMS: usize = 9;

impl Run<'_> {
    fn haystack(&self) -> &[u8] {
        &self.case.haystack
    }

    fn lead(&self) -> usize {
        self.case.set.lead()
    }

    fn scan(&self, block: Block<'_>, scratch: &mut Scratch) -> Result<Vec<Match>, String> {
        let mut audit = Audit::of_block(&self.case.set, &block);
        let flow = self.matcher.scan(block, scratch, &mut audit);
        let found = audit.checked_matches()?;
        if flow.is_break() {
            Err("says the sink stopped it, which it did not".into())
        } else {
            Ok(found)
        }
    }

    /// Scans a block that holds the whole haystack, moved by `offset`.
    fn expect_moved(
        &self,
        block: Block<'_>,
        offset: u64,
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        let expected: Vec<Match> = self.case.expected.iter().map(|m| moved(m, offset)).collect();
        same(&expected, &self.scan(block, scratch)?)
    }

    /// Whether cutting in parts of `size` walks more history than is worth it.
    fn too_many_cuts(&self, size: usize) -> bool {
        let cuts = self.haystack().len() / size;
        let costly = cuts * self.lead() > CUT_BYTES;
        if costly {
            (self.skipped)("a size of parts, the patterns are too long for so many cuts");
        }
        costly
    }
}

fn at<T>(what: std::fmt::Arguments<'_>, result: Result<T, String>) -> Result<T, String> {
    result.map_err(|e| format!("{what}: {e}"))
}

fn moved(m: &Match, by: u64) -> Match {
    Match { start: m.start + by, end: m.end + by, ..*m }
}

/// One block, nothing around it; twice with one scratch, which must leave nothing behind.
fn whole(run: &Run<'_>) -> Result<(), String> {
    let mut scratch = Scratch::new();
    run.expect_moved(Block::whole(run.haystack()), 0, &mut scratch)?;
    at(format_args!("again"), run.expect_moved(Block::whole(run.haystack()), 0, &mut scratch))
}

/// The haystack between two copies of itself: bytes beyond the block are there and must not be read.
fn embedded(run: &Run<'_>) -> Result<(), String> {
    let n = run.haystack().len();
    let copies = run.haystack().repeat(3);
    run.expect_moved(Block::whole(&copies[n..2 * n]), 0, &mut Scratch::new())
}

/// Around 4 GiB and beyond, where 32-bit positions end.
fn far(run: &Run<'_>) -> Result<(), String> {
    let limit = u64::from(u32::MAX);
    let mut scratch = Scratch::new();
    for offset in [limit - 20, limit + 1, 1 << 40] {
        let block = Block { bytes: run.haystack(), lead: 0, offset };
        at(format_args!("offset {offset}"), run.expect_moved(block, offset, &mut scratch))?;
    }
    Ok(())
}

/// Behind 0 to 261 bytes that are in no pattern.
fn shifted(run: &Run<'_>) -> Result<(), String> {
    let Some(filler) = run.case.filler() else {
        (run.skipped)("no byte is left to shift by");
        return Ok(());
    };
    let mut padded = vec![filler; MAX_SHIFT];
    padded.extend_from_slice(run.haystack());
    let all = padded.len() * MAX_SHIFT <= SHIFT_BYTES;
    if !all {
        (run.skipped)("all but a few shifts, the haystack is long");
    }
    let mut scratch = Scratch::new();
    for by in (0..=MAX_SHIFT).filter(|by| all || TELLING_SHIFTS.contains(by)) {
        let block = Block::whole(&padded[MAX_SHIFT - by..]);
        let result = run.expect_moved(block, by as u64, &mut scratch);
        at(format_args!("by {by} bytes {filler:#04x}"), result)?;
    }
    Ok(())
}

/// Over and over with one byte of filler between: wherever an engine cuts a long haystack for itself, into
/// registers, lanes or tiles, some copy lies across.
fn repeated(run: &Run<'_>) -> Result<(), String> {
    let Some(filler) = run.case.filler() else {
        (run.skipped)("no byte is left to repeat with");
        return Ok(());
    };
    let one = [run.haystack(), &[filler]].concat();
    let copies = REPEATED.div_ceil(one.len()).max(2);
    let starts = (0..copies).map(|i| (i * one.len()) as u64);
    let expected: Vec<Match> =
        starts.flat_map(|start| run.case.expected.iter().map(move |m| moved(m, start))).collect();
    same(&expected, &run.scan(Block::whole(&one.repeat(copies)), &mut Scratch::new())?)
}

/// Feeds pieces to a stream; before each one, it may be saved and restored.
fn stream<'a>(
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

fn expect_stream<'a>(
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
        Err(format!("Stream::matches says {matches}, not {expected}"))
    }
}

fn chunks(run: &Run<'_>) -> Result<(), String> {
    for size in CHUNKS.into_iter().filter(|&size| !run.too_many_cuts(size)) {
        at(format_args!("of {size}"), expect_stream(run, run.haystack().chunks(size), false))?;
    }
    Ok(())
}

/// Chunks of any size, empty ones too, some longer than the history.
fn random_pieces(haystack: &[u8], lead: usize, seed: u64) -> Vec<&[u8]> {
    let mut random = SplitMix::new(seed);
    let mut rest = haystack;
    let mut pieces = vec![];
    while !rest.is_empty() {
        let bound = [3, 20, lead + 2, 2 * lead + 600][random.below(4) as usize];
        let size = random.below(bound as u64) as usize;
        let (piece, tail) = rest.split_at(size.min(rest.len()));
        pieces.push(piece);
        rest = tail;
    }
    pieces
}

fn random_chunks(run: &Run<'_>) -> Result<(), String> {
    for seed in [run.seed, !run.seed] {
        let pieces = random_pieces(run.haystack(), run.lead(), seed);
        if pieces.len() * run.lead() > CUT_BYTES {
            (run.skipped)("random chunks, the patterns are too long for so many cuts");
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

/// Saved and restored at every cut: in one stream after each byte, and in a stream for each cut.
fn restored(run: &Run<'_>) -> Result<(), String> {
    let n = run.haystack().len();
    if !run.too_many_cuts(1) {
        at(format_args!("after each byte"), expect_stream(run, run.haystack().chunks(1), true))?;
    }
    let all = n * (n + run.lead()) <= CUT_BYTES;
    if !all {
        (run.skipped)("all but a few cuts to restore at, the haystack is long");
    }
    let step = if all { 1 } else { n.div_ceil(SAMPLED_CUTS) };
    for cut in (0..=n).step_by(step) {
        let (a, b) = run.haystack().split_at(cut);
        at(format_args!("at {cut}"), expect_stream(run, [a, b].into_iter(), true))?;
    }
    Ok(())
}

/// Every part scanned for itself, the last one first: what each owns, together, is everything.
fn ranges(run: &Run<'_>) -> Result<(), String> {
    let whole = Block::whole(run.haystack());
    for size in RANGES.into_iter().filter(|&size| !run.too_many_cuts(size)) {
        for history in [run.lead(), run.lead() + 13] {
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

/// Blocks in order through the matcher's own loop, where automata carry their state along.
fn source(run: &Run<'_>) -> Result<(), String> {
    for size in RANGES.into_iter().filter(|&size| !run.too_many_cuts(size)) {
        let mut source = SliceSource::new(run.haystack(), size, run.lead());
        let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
        let flow = run.matcher.drive(&mut source, &mut audit).map_err(|e| e.to_string())?;
        let result = audit.finish(&run.case.expected);
        at(format_args!("blocks of {size}"), result)?;
        if flow.is_break() {
            return Err("drive says the sink stopped it, which it did not".into());
        }
    }
    Ok(())
}

/// The haystack alone, which is one segment for any number of threads; then over the seams of segments.
fn threads(run: &Run<'_>) -> Result<(), String> {
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

/// All semantics, over one block and in streams that are cut and restored.
fn semantics(run: &Run<'_>) -> Result<(), String> {
    for semantics in Semantics::ALL {
        let expected = run.case.under(semantics);
        at(format_args!("{semantics}"), filtered(run, semantics, &expected))?;
        for size in [1, 7].into_iter().filter(|&size| !run.too_many_cuts(size)) {
            let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
            let matches =
                stream(run, semantics, run.haystack().chunks(size), size == 7, &mut audit)?;
            let result = accept(run, semantics, audit, &expected, matches);
            at(format_args!("{semantics}, stream in chunks of {size}"), result)?;
        }
    }
    Ok(())
}

fn filtered(run: &Run<'_>, semantics: Semantics, expected: &[Match]) -> Result<(), String> {
    let mut audit = Audit::of_haystack(&run.case.set, run.haystack().len());
    let mut filter = Filter::new(semantics, &run.case.set);
    let mut through = filter.sink(&mut audit);
    let mut sorter = Sorter::new(&mut through);
    let flow = run.matcher.scan(Block::whole(run.haystack()), &mut Scratch::new(), &mut sorter);
    let flow = if flow.is_continue() { sorter.finish() } else { flow };
    drop(through);
    let finished = filter.matches();
    let _ = if flow.is_continue() { filter.finish(&mut audit) } else { flow };
    accept(run, semantics, audit, expected, finished)
}

/// Whether what came through is what the semantics mean. `matches` is the filter's own count, taken
/// before the end of the haystack: that of leftmost semantics is not complete there.
fn accept(
    run: &Run<'_>,
    semantics: Semantics,
    audit: Audit<'_>,
    expected: &[Match],
    matches: u64,
) -> Result<(), String> {
    let all = run.case.expected.len() as u64;
    let (right_count, result) = match semantics {
        Semantics::Exists => {
            (matches == all.min(1), is_one_of(expected, &audit.checked_matches()?))
        }
        Semantics::Count => (matches == all, audit.finish(expected)),
        Semantics::LeftmostFirst | Semantics::LeftmostLongest => {
            (matches <= expected.len() as u64, audit.finish_ordered(expected))
        }
        _ => (matches == expected.len() as u64, audit.finish_ordered(expected)),
    };
    result?;
    if right_count { Ok(()) } else { Err(format!("the filter counts {matches}")) }
}

fn is_one_of(candidates: &[Match], got: &[Match]) -> Result<(), String> {
    match got {
        [] if candidates.is_empty() => Ok(()),
        [m] if candidates.contains(m) => Ok(()),
        _ => Err(format!(
            "{} matches passed on, there are {} to take one of",
            got.len(),
            candidates.len()
        )),
    }
}

/// Breaks at a given batch and counts the calls.
struct Stopper {
    calls: usize,
    stop_at: usize,
}

impl Sink for Stopper {
    fn on_batch(&mut self, _: &Batch<'_>) -> ControlFlow<()> {
        self.calls += 1;
        if self.calls >= self.stop_at { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// A sink that breaks is not called again, and the scan says that it was stopped.
fn stopped(run: &Run<'_>) -> Result<(), String> {
    for stop_at in [1, 2] {
        let mut sink = Stopper { calls: 0, stop_at };
        let flow = run.matcher.scan(Block::whole(run.haystack()), &mut Scratch::new(), &mut sink);
        if sink.calls > stop_at {
            return Err(format!("{} calls of a sink that broke at call {stop_at}", sink.calls));
        }
        if flow.is_break() != (sink.calls == stop_at) {
            return Err(format!("returns {flow:?} after {} calls, break at {stop_at}", sink.calls));
        }
    }
    Ok(())
}

/// What holds patterns takes memory, and says so.
fn footprint(run: &Run<'_>) -> Result<(), String> {
    let f = run.matcher.footprint();
    let claims_nothing = f.host + f.device == 0 && !run.case.set.is_empty();
    if claims_nothing { Err("claims to take no memory".into()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_pieces_make_up_the_haystack() {
        let haystack: Vec<u8> = (0..=255).cycle().take(5000).collect();
        let pieces = random_pieces(&haystack, 10, 7);
        assert_eq!(pieces.concat(), haystack);
        assert!(pieces.iter().any(|p| p.is_empty()) && pieces.iter().any(|p| p.len() > 300));
    }
}
