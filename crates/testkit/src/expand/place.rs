//! The haystack in other places: at other addresses, at other positions, after and between other
//! bytes.

use super::{Run, at, moved};
use crate::audit::same;
use fyke_core::{Block, Scratch, StreamMatch};

/// Maximum shift of a vector: more than 256 bytes, and more than four 64-byte registers.
const MAX_SHIFT: usize = 261;
/// Bytes scanned for all shifts of one vector. Above it, or above [`COMPARED`], only
/// [`TELLING_SHIFTS`] are tried.
const SHIFT_BYTES: usize = 2 << 20;
/// Shifts around the widths of words, registers and cache lines.
const TELLING_SHIFTS: [usize; 14] = [0, 1, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 128, MAX_SHIFT];
/// Bytes of a repeated haystack: three of the largest tiles of any engine, 32 KiB.
const REPEATED: usize = 96 << 10;
/// Limit of bytes scanned times bytes of history in one way, because an engine may compare that
/// many bytes. Without it, `long-65535` and `long-ff-run` take several times as long on such
/// engines.
const COMPARED: usize = 32 << 20;

/// The haystack as one block, twice with one scratch: the first scan must not affect the second.
pub(super) fn whole(run: &Run<'_>) -> Result<(), String> {
    let mut scratch = Scratch::new();
    run.expect_moved(Block::whole(run.haystack()), 0, &mut scratch)?;
    at(format_args!("again"), run.expect_moved(Block::whole(run.haystack()), 0, &mut scratch))
}

/// The haystack between two copies of itself: an engine that reads past the block finds more
/// matches.
pub(super) fn embedded(run: &Run<'_>) -> Result<(), String> {
    let n = run.haystack().len();
    let copies = run.haystack().repeat(3);
    run.expect_moved(Block::whole(&copies[n..2 * n]), 0, &mut Scratch::new())
}

/// Offsets around 4 GiB, where 32-bit positions end, and beyond.
pub(super) fn far(run: &Run<'_>) -> Result<(), String> {
    let limit = u64::from(u32::MAX);
    let mut scratch = Scratch::new();
    for offset in [limit - 20, limit + 1, 1 << 40] {
        let block = Block { bytes: run.haystack(), overlap: 0, offset };
        at(format_args!("offset {offset}"), run.expect_moved(block, offset, &mut scratch))?;
    }
    Ok(())
}

/// The haystack after 0 to [`MAX_SHIFT`] bytes that are in no pattern.
pub(super) fn shifted(run: &Run<'_>) -> Result<(), String> {
    let Some(filler) = run.case.filler() else {
        (run.skipped)("shifts: every byte is in a pattern");
        return Ok(());
    };
    let mut padded = vec![filler; MAX_SHIFT];
    padded.extend_from_slice(run.haystack());
    let scanned = padded.len() * MAX_SHIFT;
    let all = scanned <= SHIFT_BYTES && scanned * run.overlap() <= COMPARED;
    if !all {
        (run.skipped)("all but a few shifts: they cost too much");
    }
    let mut scratch = Scratch::new();
    for by in (0..=MAX_SHIFT).filter(|by| all || TELLING_SHIFTS.contains(by)) {
        let block = Block::whole(&padded[MAX_SHIFT - by..]);
        let result = run.expect_moved(block, by as u64, &mut scratch);
        at(format_args!("by {by} bytes {filler:#04x}"), result)?;
    }
    Ok(())
}

/// The haystack repeated, with one byte of filler between copies: wherever an engine splits a long
/// haystack into registers, lanes or tiles, some copy lies across the boundary.
pub(super) fn repeated(run: &Run<'_>) -> Result<(), String> {
    let Some((haystack, expected)) = repeat(run) else {
        (run.skipped)("repeating: every byte is in a pattern, or the haystack is long");
        return Ok(());
    };
    same(&expected, &run.scan(Block::whole(&haystack), &mut Scratch::new())?)
}

/// Copies of the haystack, separated by a byte that is in no pattern, and their matches. `None` if
/// no byte is left or the haystack has half of [`REPEATED`] bytes.
pub(super) fn repeat(run: &Run<'_>) -> Option<(Vec<u8>, Vec<StreamMatch>)> {
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
