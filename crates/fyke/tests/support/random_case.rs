//! Random sets and haystacks with many matches, for tests of calls.

use fyke_testkit::random::SplitMix;
use fyke_testkit::{Case, Entry};

/// Alphabets: the smaller, the more matches overlap.
const ALPHABETS: [&[u8]; 7] =
    [b"a", b"ab", b"aA", b"abAB", b"abcd", b"abcdefghijklmnopqrstuvwxyzABCD .", b"\0\xffa\x80"];

/// Bytes at which the pieces of a haystack in memory end, if the first begins at 0 and patterns are
/// short: 64, and then four times as many each.
const PIECE_ENDS: [usize; 4] = [64, 320, 1344, 5440];

/// Most occurrences of a case: above, the naive search takes longer than the test is worth.
const MOST_FOUND: usize = 10_000;

fn below(numbers: &mut SplitMix, n: usize) -> usize {
    numbers.below(n as u64) as usize
}

/// The case of a seed.
pub(crate) fn case(seed: u64) -> Case {
    let numbers = &mut SplitMix::new(seed);
    let alphabet = ALPHABETS[below(numbers, ALPHABETS.len())];
    let haystack = haystack(numbers, alphabet);
    let entries = entries(numbers, alphabet, &haystack);
    let case = Case::new(entries, haystack).expect("patterns are neither empty nor long");
    if case.found.len() <= MOST_FOUND {
        return case;
    }
    let len = case.haystack.len() * MOST_FOUND / case.found.len();
    Case::new(case.entries, case.haystack[..len].to_vec()).expect("the same patterns")
}

fn haystack(numbers: &mut SplitMix, alphabet: &[u8]) -> Vec<u8> {
    let len = match below(numbers, 4) {
        0 => below(numbers, 40),
        1 => below(numbers, 400),
        2 => below(numbers, 5000),
        _ => PIECE_ENDS[below(numbers, 4)] - 20 + below(numbers, 40),
    };
    // Where most bytes occur in no pattern, calls skip far.
    let sparse = below(numbers, 3) == 0;
    let byte = |numbers: &mut SplitMix| match sparse && below(numbers, 50) > 0 {
        true => b'_',
        false => alphabet[below(numbers, alphabet.len())],
    };
    (0..len).map(|_| byte(numbers)).collect()
}

fn entries(numbers: &mut SplitMix, alphabet: &[u8], haystack: &[u8]) -> Vec<Entry> {
    let count = [0, 1, 2, 5, 30, 200][below(numbers, 6)];
    let least = [1, 2, 4][below(numbers, 3)];
    let most = [least, 6, 40][below(numbers, 3)];
    let nocase = below(numbers, 3);
    let (few_ids, all_cut) = (below(numbers, 3) == 0, below(numbers, 2) == 0);
    let entry = |position: usize| {
        let len = least + below(numbers, most + 1 - least.min(most));
        let cut = len <= haystack.len() && (all_cut || below(numbers, 2) == 0);
        let at = below(numbers, (haystack.len() + 1).saturating_sub(len));
        let random = |_| alphabet[below(numbers, alphabet.len())];
        let bytes = match cut {
            true => haystack[at..at + len].to_vec(),
            false => (0..len).map(random).collect(),
        };
        let id = if few_ids { below(numbers, 6) } else { position } as u32;
        let nocase = nocase == 2 || nocase == 1 && below(numbers, 2) == 0;
        Entry { bytes, nocase, id }
    };
    (0..count).map(entry).collect()
}

/// A case whose haystack is large enough for several threads, with matches now and then.
#[allow(dead_code, reason = "only the soak has the time for it")]
pub(crate) fn large(seed: u64) -> Case {
    let numbers = &mut SplitMix::new(seed);
    let len = 200_000 + below(numbers, 1_000_000);
    let haystack = fyke_testkit::random::text(26, len, seed);
    let longest = [8, 40, 3000][below(numbers, 3)];
    let entry = |id| {
        let size = 5 + below(numbers, longest - 4);
        let at = below(numbers, len - size);
        let nocase = below(numbers, 2) == 0;
        Entry { bytes: haystack[at..at + size].to_vec(), nocase, id }
    };
    let entries = (0..20).map(entry).collect();
    Case::new(entries, haystack).expect("patterns are neither empty nor long")
}
