//! Cases with matches across the boundaries of pieces.

use fyke_testkit::random::{SplitMix, text};
use fyke_testkit::{Case, Entry};

/// Bytes of the first piece of a haystack in memory, unless the overlap is longer.
const FIRST: usize = 64;
/// Bytes of the largest pieces.
const PIECE: usize = 256 << 10;

/// Where the pieces of a haystack end, if the first begins at 0: each has four times as many bytes
/// as the one before.
fn piece_ends(max_len: usize, haystack: usize) -> Vec<usize> {
    let most = PIECE.max(16 * (max_len - 1));
    let (mut ends, mut size, mut end) = (Vec::new(), FIRST.max(max_len - 1), 0);
    while end + size < haystack {
        end += size;
        ends.push(end);
        size = most.min(4 * size);
    }
    ends
}

fn entry(bytes: &[u8], id: usize) -> Entry {
    Entry { bytes: bytes.to_vec(), nocase: id % 4 == 3, id: id as u32 }
}

/// Patterns of up to `max_len` bytes, cut out of the text so that they cover each of the positions
/// with different numbers of bytes before and after it; and one that occurs all over, so that
/// pieces adjoin.
fn cut(text: &[u8], at: &[usize], max_len: usize, seed: u64) -> Vec<Entry> {
    let mut numbers = SplitMix::new(seed);
    let mut entries = vec![entry(&text[..max_len], 0), entry(&text[7..11], 1)];
    for &at in at {
        for round in 0..6 {
            let len =
                if round == 0 { max_len } else { 4 + numbers.below(max_len as u64 - 3) as usize };
            let before = [1, len - 1, numbers.below(len as u64) as usize][round % 3].min(at);
            let end = text.len().min(at - before + len);
            entries.push(entry(&text[at - before..end], entries.len()));
        }
    }
    entries
}

/// Haystacks of some kilobytes, for patterns of up to 8, 40, 300 and 2,000 bytes.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    [8, 40, 300, 2000].into_iter().flat_map(|max_len| {
        (0..2).map(move |seed| {
            let text = text(4, 24_000.max(12 * max_len), seed);
            let entries = cut(&text, &piece_ends(max_len, text.len()), max_len, seed);
            Case::new(entries, text).expect("patterns of 4 bytes or more")
        })
    })
}

/// A haystack of several pieces of the largest size.
pub(crate) fn long(max_len: usize) -> Case {
    let text = text(20, 1_200_000.max(50 * max_len), max_len as u64);
    let mut ends = piece_ends(max_len, text.len());
    let most = PIECE.max(16 * (max_len - 1));
    ends.extend((1..).map(|i| i * most).take_while(|&end| end < text.len()));
    let entries = cut(&text, &ends, max_len, 9);
    Case::new(entries, text).expect("patterns of 4 bytes or more")
}
