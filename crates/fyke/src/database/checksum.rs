//! Checksums of sections, by several threads.

use fyke_core::table::bytes_of;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use twox_hash::XxHash3_64;

/// Bytes of a block. The checksum of a section is that of its blocks' checksums, so that threads
/// can share the work.
const BLOCK: usize = 1 << 20;

/// Fewest bytes for several threads, and most threads: with more, memory bandwidth is the limit.
/// Guesses.
const PARALLEL_FROM: usize = 4 << 20;
const MOST_THREADS: usize = 8;

/// XXH3-64 of some bytes.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    XxHash3_64::oneshot(bytes)
}

/// The checksums of some sections: for each, XXH3-64 of the little-endian XXH3-64 of its blocks.
pub(super) fn all(sections: &[&[u8]]) -> Vec<u64> {
    let blocks: Vec<&[u8]> = sections.iter().flat_map(|section| section.chunks(BLOCK)).collect();
    let mut hashes = hash_each(&blocks).into_iter();
    let of_section = |section: &&[u8]| {
        let count = section.len().div_ceil(BLOCK);
        let list: Vec<u64> = hashes.by_ref().take(count).map(u64::to_le).collect();
        hash(bytes_of(&list))
    };
    sections.iter().map(of_section).collect()
}

fn hash_each(blocks: &[&[u8]]) -> Vec<u64> {
    let total: usize = blocks.iter().map(|block| block.len()).sum();
    let threads = match total {
        ..PARALLEL_FROM => 1,
        _ => thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS),
    };
    if threads == 1 {
        return blocks.iter().map(|block| hash(block)).collect();
    }
    let next = AtomicUsize::new(0);
    let some = || {
        let turns = std::iter::from_fn(|| {
            let i = next.fetch_add(1, Ordering::Relaxed);
            blocks.get(i).map(|block| (i, hash(block)))
        });
        turns.collect::<Vec<_>>()
    };
    let mut hashes = vec![0; blocks.len()];
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(some)).collect();
        let mut done = some();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done.into_iter().for_each(|(i, hash)| hashes[i] = hash);
    });
    hashes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_do_not_change_a_checksum() {
        let bytes: Vec<u8> =
            (0..2 * PARALLEL_FROM as u32 + 99).map(|i| (i.wrapping_mul(i) >> 8) as u8).collect();
        let sections = [&bytes[..], &bytes[..BLOCK], &bytes[..BLOCK + 1], &[], &bytes[7..9]];
        let apart: Vec<u64> = sections.iter().map(|section| all(&[&section[..]])[0]).collect();
        assert_eq!(all(&sections), apart);
        let blocks =
            [hash(&bytes[..BLOCK]).to_le_bytes(), hash(&bytes[BLOCK..=BLOCK]).to_le_bytes()];
        assert_eq!(all(&sections)[2], hash(blocks.as_flattened()));
    }
}
