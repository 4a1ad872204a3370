//! The haystack elsewhere: at other addresses, at other positions, behind and between other bytes.

use super::{Run, at, moved};
use crate::audit::same;
use fyke_core::{Block, Match, Scratch};

/// Most bytes of filler a vector is shifted by: past 256, and past four 64-byte registers.
const MAX_SHIFT: usize = 261;
/// Bytes scanned for all shifts of one vector; above it, or above [`COMPARED`], only [`TELLING_SHIFTS`] are tried.
const SHIFT_BYTES: usize = 2 << 20;
/// Around the widths of registers, words and cache lines.
const TELLING_SHIFTS: [usize; 14] = [0, 1, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 128, MAX_SHIFT];
/// Bytes of a repeated haystack: three tiles of the widest engine, whose tiles have 32 KiB.
const REPEATED: usize = 96 << 10;
/// Bytes scanned times bytes of history, in one way: a naive engine may compare that many. More of them took 14 of the 17 s of
/// `long-65535` for `pfac:nodes=array`, and 19 of the 20 s of `long-ff-run` for `gpu-mbm0` played by a processor.
const COMPARED: usize = 32 << 20;

/// One block, nothing around it; twice with one scratch, which must leave nothing behind.
pub(super) fn whole(run: &Run<'_>) -> Result<(), String> {
    let mut scratch = Scratch::new();
    run.expect_moved(Block::whole(run.haystack()), 0, &mut scratch)?;
    at(format_args!("again"), run.expect_moved(Block::whole(run.haystack()), 0, &mut scratch))
}

/// The haystack between two copies of itself: bytes beyond the block are there and must not be read.
pub(super) fn embedded(run: &Run<'_>) -> Result<(), String> {
    let n = run.haystack().len();
    let copies = run.haystack().repeat(3);
    run.expect_moved(Block::whole(&copies[n..2 * n]), 0, &mut Scratch::new())
}

/// Around 4 GiB and beyond, where 32-bit positions end.
pub(super) fn far(run: &Run<'_>) -> Result<(), String> {
    let limit = u64::from(u32::MAX);
    let mut scratch = Scratch::new();
    for offset in [limit - 20, limit + 1, 1 << 40] {
        let block = Block { bytes: run.haystack(), overlap: 0, offset };
        at(format_args!("offset {offset}"), run.expect_moved(block, offset, &mut scratch))?;
    }
    Ok(())
}

/// Behind 0 to 261 bytes that are in no pattern.
pub(super) fn shifted(run: &Run<'_>) -> Result<(), String> {
    let Some(filler) = run.case.filler() else {
        (run.skipped)("no byte is left to shift by");
        return Ok(());
    };
    let mut padded = vec![filler; MAX_SHIFT];
    padded.extend_from_slice(run.haystack());
    let scanned = padded.len() * MAX_SHIFT;
    let all = scanned <= SHIFT_BYTES && scanned * run.overlap() <= COMPARED;
    if !all {
        (run.skipped)("all but a few shifts, they cost too much");
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
pub(super) fn repeated(run: &Run<'_>) -> Result<(), String> {
    let Some((haystack, expected)) = repeat(run) else {
        (run.skipped)("repeating: no byte to do it with, or the haystack is long as it is");
        return Ok(());
    };
    same(&expected, &run.scan(Block::whole(&haystack), &mut Scratch::new())?)
}

/// Copies of the haystack with a byte between that is in no pattern, and their matches. A haystack that is half as long as
/// what they would make is not repeated.
pub(super) fn repeat(run: &Run<'_>) -> Option<(Vec<u8>, Vec<Match>)> {
    if run.haystack().len() >= REPEATED / 2 {
        return None;
    }
    let one = [run.haystack(), &[run.case.filler()?]].concat();
    let bytes = REPEATED.min(COMPARED / run.overlap().max(1));
    let copies = bytes.div_ceil(one.len()).max(2);
    let starts = (0..copies).map(|i| (i * one.len()) as u64);
    let expected =
        starts.flat_map(|start| run.case.expected.iter().map(move |m| moved(m, start))).collect();
    Some((one.repeat(copies), expected))
}
