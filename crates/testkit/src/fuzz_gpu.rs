//! Body of the fuzz target for GPU engines: they find what the naive search finds, in one block,
//! in blocks of any sizes, and from a source, and no device reports a fault.

use crate::audit::Audit;
use crate::case::Case;
use crate::fuzz::{Plan, decode};
use crate::subject::Suite;
use fyke_core::{Block, Count, Matcher, Scratch, SliceSource};

/// The maximum number of blocks that a haystack is cut into: every block is a launch.
const BLOCKS: usize = 12;

/// Every variant of a suite with an option of a backend, as `backend=opencl`, finds what the naive
/// search finds. `faults` takes the faults since its last call: after a fault the CPU scans
/// instead, and the result would be right whatever the device did.
///
/// # Panics
/// A variant does not, refuses a set, or its device fails.
pub fn gpu(data: &[u8], suite: &Suite, backend: &str, faults: &dyn Fn() -> Vec<String>) {
    let (case, plan) = decode(data);
    let subjects = suite.subjects();
    let of_backend = subjects.iter().filter(|s| s.params.split(',').any(|p| p == backend));
    let mut checked = 0;
    for subject in of_backend {
        let label = subject.label();
        let matcher = match suite.compile(subject, &case.set) {
            Ok(Some(matcher)) => matcher,
            Ok(None) => panic!("{label} refuses a small set\n{case:?}"),
            Err(why) => panic!("{label}: {why}\n{case:?}"),
        };
        let blocks = blocks(case.haystack.len(), &plan);
        check(&*matcher, &case, &blocks).unwrap_or_else(|e| {
            panic!("{label}, blocks {blocks:?}: {e}\n{case:?}");
        });
        assert_eq!(faults(), [""; 0], "{label}, blocks {blocks:?}\n{case:?}");
        suite.tally.checked(&label);
        checked += 1;
    }
    assert!(checked > 0, "no engine with {backend}");
}

/// Sizes of blocks from an input's chunk sizes, for a haystack of that length.
fn blocks(len: usize, plan: &Plan) -> Vec<usize> {
    let least = len.div_ceil(BLOCKS);
    let mut sizes = Vec::new();
    let mut left = len;
    for size in plan.chunks.iter().cycle() {
        if left == 0 {
            break;
        }
        sizes.push((least + size).clamp(1, left));
        left -= sizes[sizes.len() - 1];
    }
    sizes
}

/// Scans a case in one block, in blocks and from a source.
fn check(matcher: &dyn Matcher, case: &Case, blocks: &[usize]) -> Result<(), String> {
    let (set, whole) = (&case.set, Block::whole(&case.haystack));
    let mut scratch = Scratch::new();
    let mut audit = Audit::of_block(set, &whole);
    let _ = matcher.scan(whole, &mut scratch, &mut audit);
    audit.finish(&case.expected).map_err(|e| format!("in one block: {e}"))?;

    let mut audit = Audit::of_haystack(set, case.haystack.len());
    let mut counted = Count::default();
    let mut at = 0;
    for size in blocks {
        let block = whole.part(at, at + size, set.overlap());
        let _ = matcher.scan(block, &mut scratch, &mut audit);
        let _ = matcher.scan(block, &mut scratch, &mut counted);
        at += size;
    }
    audit.finish(&case.expected).map_err(|e| format!("in blocks: {e}"))?;
    let expected = case.expected.len() as u64;
    if counted.matches != expected {
        return Err(format!("counted {} in blocks, expected {expected}", counted.matches));
    }

    let size = blocks.first().copied().unwrap_or(1);
    let mut audit = Audit::of_haystack(set, case.haystack.len());
    let mut source = SliceSource::new(&case.haystack, size, set.overlap());
    let _ = matcher.drive(&mut source, &mut audit).map_err(|e| e.to_string())?;
    audit.finish(&case.expected).map_err(|e| format!("from a source: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_a_haystack_and_are_few() {
        for len in [0, 1, 7, 12, 13, 100, 20_000] {
            for chunks in [vec![1], vec![0, 255, 3], vec![200, 1]] {
                let sizes = blocks(len, &Plan { flags: 0, chunks });
                assert_eq!(sizes.iter().sum::<usize>(), len);
                assert!(sizes.len() <= BLOCKS && !sizes.contains(&0));
            }
        }
    }
}
