//! Random configurations and images with small alphabets, and hits around the ends of buffers.

use crate::case::Case;
use crate::predicted::{Seen, assert_differs_by_bugs};
use crate::reference::assert_equal;
use crate::refused;
use fyke_carve::Compat;
use fyke_carve::compat::SCALPEL_BUFFER;
use fyke_testkit::random::SplitMix;

/// How many cases are compared, unless `FYKE_SCALPEL_CASES` says otherwise.
const CASES: u64 = 60;
/// Scalpel writes every file: cases that would write more are passed over.
const MOST_BYTES: u64 = 64 << 20;
/// What lies between the islands of an image.
const SEA: u8 = b'.';

#[test]
fn random_carves() {
    if refused("random_carves") {
        return;
    }
    let cases = std::env::var("FYKE_SCALPEL_CASES");
    let cases = cases.map_or(CASES, |n| n.parse().expect("FYKE_SCALPEL_CASES is a number"));
    let (mut seen, mut rows, mut seed) = (Seen::default(), 0, 0);
    let mut done = 0;
    while done < cases {
        seed += 1;
        let Some(case) = random_case(seed) else { continue };
        let what = format!("seed {seed}");
        let (ours, theirs) = assert_equal(&what, &case);
        rows += theirs.rows.len();
        let means_the_same = !String::from_utf8_lossy(&case.conf).contains("\\x3f");
        if means_the_same && !case.no_overlap {
            assert_differs_by_bugs(&what, &case, &ours, &theirs, &mut seen);
        }
        done += 1;
    }
    println!("{cases} cases, {rows} rows, bugs seen: {seen:?}");
    assert!(rows > 10 * cases as usize, "only {rows} rows");
    assert!(seen.b1 > 0 && seen.b2 > 0 && seen.b4 > 0, "{seen:?}");
}

/// A case, unless it would write too much.
fn random_case(seed: u64) -> Option<Case> {
    let mut random = SplitMix::new(seed);
    let r = &mut random;
    let rules = 1 + r.below(5);
    let conf: String = (0..rules).map(|_| rule(r)).collect();
    let longest = 12;
    let case = Case {
        conf: conf.into_bytes(),
        image: image(r, longest),
        missing_footer: r.below(2) == 0,
        cluster: [None, None, None, Some(2), Some(512)][r.below(5) as usize],
        no_overlap: r.below(5) == 0,
        all_footers: r.below(5) == 0,
        ..Case::default()
    };
    let carved = case.carve(Compat::Scalpel160);
    let bytes: u64 = carved.files.iter().map(|file| file.len).sum();
    let cut_at_a_multiple = (case.image.len() as u64).is_multiple_of(SCALPEL_BUFFER);
    (bytes <= MOST_BYTES && carved.files.len() < 5000 && !cut_at_a_multiple).then_some(case)
}

fn rule(r: &mut SplitMix) -> String {
    let extension = ["a", "NONE", "abcdefg", "b"][r.below(4) as usize];
    let case = ["y", "n"][r.below(2) as usize];
    let size = match r.below(20) {
        0..8 => 1 + r.below(12),
        8..15 => 1 + r.below(100),
        15..18 => 1 + r.below(100_000),
        _ => SCALPEL_BUFFER - 100 + r.below(200),
    };
    let header = needle(r);
    let footer = match r.below(4) {
        0 => String::new(),
        1 => header.clone(),
        _ => needle(r),
    };
    let mode = ["", "FORWARD", "NEXT", "REVERSE"][r.below(4) as usize];
    match footer.is_empty() {
        true => format!("{extension} {case} {size} {header}\n"),
        false => format!("{extension} {case} {size} {header} {footer} {mode}\n"),
    }
}

/// A needle that is not found in the sea.
fn needle(r: &mut SplitMix) -> String {
    let letters = ["A", "A", "B", "B", "a", "?", "\\x41", "\\102", "\\x3f"];
    let len = match r.below(8) {
        0 => 1 + r.below(12),
        _ => 1 + r.below(4),
    };
    let mut needle: Vec<_> = (0..len).map(|_| letters[r.below(9) as usize]).collect();
    let solid = r.below(len) as usize;
    needle[solid] = ["A", "B"][r.below(2) as usize];
    needle.concat()
}

fn image(r: &mut SplitMix, longest: u64) -> Vec<u8> {
    let len = match r.below(8) {
        0 => 1 + r.below(20),
        1 => 1 + r.below(5000),
        2..5 => SCALPEL_BUFFER + 1 + r.below(40),
        _ => SCALPEL_BUFFER + r.below(SCALPEL_BUFFER + 2000),
    };
    let mut image = vec![SEA; len as usize];
    let mut island = |r: &mut SplitMix, middle: u64, size: u64| {
        let from = middle.saturating_sub(size / 2).min(len);
        for at in from..(from + size).min(len) {
            image[at as usize] = b"AABBab."[r.below(7) as usize];
        }
    };
    let size = 4 + r.below(40);
    for middle in [0, len, SCALPEL_BUFFER, 2 * SCALPEL_BUFFER] {
        island(r, middle, size);
    }
    for _ in 0..r.below(4) {
        let middle = r.below(len);
        island(r, middle, 20);
    }
    // A second buffer begins before the first one ends.
    let middle = 2 * SCALPEL_BUFFER - r.below(longest);
    island(r, middle, 10);
    image
}
