use super::*;
use crate::hit::{Lengths, NeedleHits};
use crate::{conf, naive};

const SCALPEL: PairOptions = PairOptions {
    missing_footer: false,
    cluster: None,
    no_overlap: false,
    skip: 0,
    all_footers: false,
    compat: Compat::Scalpel160,
};

fn rules(text: &str) -> RuleSet {
    conf::parse(text.as_bytes(), "c", conf::Options::default()).unwrap()
}

/// Start, length and flag of each file.
fn carve(text: &str, image: &[u8], options: PairOptions) -> Vec<(u64, u64, bool)> {
    let rules = rules(text);
    let files = pair(&rules, &naive::find(image, &rules), &options, 0);
    files.iter().map(|f| (f.start, f.len, f.chopped)).collect()
}

fn plain(text: &str, image: &[u8]) -> Vec<(u64, u64, bool)> {
    carve(text, image, PairOptions::default())
}

const MISSING: PairOptions = PairOptions { compat: Compat::None, missing_footer: true, ..SCALPEL };

#[test]
fn without_a_footer_files_have_the_largest_size() {
    assert_eq!(plain("a y 4 H", b"H..H.H"), [(0, 4, true), (3, 3, true), (5, 1, true)]);
}

#[test]
fn forward_takes_the_first_footer_with_it() {
    let text = "a y 6 HH FF";
    assert_eq!(plain(text, b"HHHFF.FF"), [(0, 5, false), (1, 4, false)]);
    assert_eq!(plain(text, b"HH..FF"), [(0, 6, false)]);
    assert_eq!(plain(text, b"HH...FF"), []);
    assert_eq!(carve(text, b"HH...FF", MISSING), [(0, 6, true)]);
    assert_eq!(plain(text, b"FFHH."), []);
    assert_eq!(carve(text, b"FFHH.", MISSING), [(2, 3, true)]);
}

#[test]
fn a_footer_may_overlap_its_header_but_not_begin_with_it() {
    assert_eq!(plain("a y 9 ABA BA", b"ABA.BA"), [(0, 3, false)]);
    assert_eq!(plain("a y 9 AB AB", b"AB.AB"), [(0, 5, false)]);
}

#[test]
fn next_ends_before_the_footer() {
    let text = "a y 4 H F next";
    assert_eq!(plain(text, b"H..F"), [(0, 3, false)]);
    assert_eq!(plain(text, b"H...F"), [(0, 4, false)]);
    assert_eq!(plain(text, b"H....F"), [(0, 4, true)]);
    assert_eq!(plain(text, b"..H."), [(2, 2, true)]);
}

#[test]
fn reverse_takes_the_last_footer_that_begins_near_enough() {
    let text = "a y 4 H FF reverse";
    assert_eq!(plain(text, b"HFF.FF.FF"), [(0, 6, false)]);
    assert_eq!(plain(text, b"H....FF"), []);
    assert_eq!(carve(text, b"H....FF", MISSING), []);
    assert_eq!(plain(text, b"HH.FF.FF"), [(0, 5, false), (1, 4, false)]);
}

#[test]
fn too_short_files_are_dropped_before_the_image_cuts_them() {
    assert_eq!(plain("a y 3:9 H F", b"HF.H.F"), [(3, 3, false)]);
    assert_eq!(plain("a y 3:9 H", b"...H"), [(3, 1, true)]);
}

#[test]
fn expressions_end_where_they_end() {
    assert_eq!(plain("a y 9 /H+/ /F+/", b"HH.FFF"), [(0, 6, false), (1, 5, false)]);
    let no_overlap = PairOptions { no_overlap: true, ..PairOptions::default() };
    assert_eq!(carve("a y 9 /H+/ /F+/", b"HH.FFF", no_overlap), [(0, 6, false)]);
}

#[test]
fn clusters_skipped_bytes_and_overlapping_hits() {
    let cluster = PairOptions { cluster: Some(4), ..PairOptions::default() };
    assert_eq!(carve("a y 1 H", b"H.H.H", cluster), [(0, 1, true), (4, 1, true)]);
    let skip = PairOptions { skip: 1, ..PairOptions::default() };
    assert_eq!(carve("a y 9 /H+/ /F+/", b"HHF", skip), [(1, 2, false)]);
    let no_overlap = PairOptions { no_overlap: true, ..PairOptions::default() };
    let starts = |o| carve("a y 1 HH", b"HHHHH", o).iter().map(|f| f.0).collect::<Vec<_>>();
    assert_eq!(starts(no_overlap), [0, 2]);
    assert_eq!(starts(PairOptions { skip: 1, ..no_overlap }), [1, 3]);
}

#[test]
fn files_are_numbered_by_rule() {
    let rules = rules("a y 1 H\nb y 1 G\n");
    let files = pair(&rules, &naive::find(b"GHG", &rules), &PairOptions::default(), 7);
    let numbers: Vec<_> = files.iter().map(|f| (f.number, f.rule, f.start)).collect();
    assert_eq!(numbers, [(7, 0, 1), (8, 1, 0), (9, 1, 2)]);
}

#[test]
fn the_largest_numbers_do_not_overflow() {
    let max = u64::MAX;
    let needle = |starts| NeedleHits { starts, lengths: Lengths::Fixed(1) };
    for (mode, len) in [("FORWARD", 9), ("NEXT", 8), ("REVERSE", 9)] {
        let rules = rules(&format!("a y {max} H F {mode}\nb y {max} H\n"));
        let needles = vec![needle(vec![max - 10]), needle(vec![max - 2])];
        let hits = Hits { image_len: max, needles };
        for options in [PairOptions::default(), MISSING, SCALPEL] {
            let files = pair(&rules, &hits, &options, 0);
            let extra = u64::from(options.compat == Compat::Scalpel160);
            let lens: Vec<_> = files.iter().map(|f| f.len).collect();
            assert_eq!(lens, [len, 10 + extra], "{mode}");
        }
    }
}

#[test]
fn dense_hits_are_not_quadratic() {
    let starts: Vec<u64> = (0..1_000_000).collect();
    let needle = NeedleHits { starts, lengths: Lengths::Fixed(1) };
    let hits = Hits { image_len: 1_000_000, needles: vec![needle.clone(), needle] };
    for mode in ["FORWARD", "NEXT", "REVERSE"] {
        let rules = rules(&format!("a y 500000 H F {mode}"));
        for options in [MISSING, SCALPEL] {
            assert!(pair(&rules, &hits, &options, 0).len() > 900_000);
        }
    }
}

#[test]
fn scalpel_counts_one_byte_after_the_image() {
    assert_eq!(carve("a y 9 H", b".H..", SCALPEL), [(1, 4, true)]);
    assert_eq!(carve("a y 2 H", b"..H.", SCALPEL), [(2, 2, true)]);
    assert_eq!(carve("a y 9 H F NEXT", b".H..", SCALPEL), [(1, 4, false)]);
}

#[test]
fn scalpel_does_not_carve_one_byte_at_the_beginning() {
    assert_eq!(carve("a y 1 H", b"HH", SCALPEL), [(1, 1, true)]);
    assert_eq!(carve("a y 9 H F NEXT", b"HF", SCALPEL), []);
    assert_eq!(plain("a y 9 H F NEXT", b"HF"), [(0, 1, false)]);
}

#[test]
fn scalpel_does_not_search_images_shorter_than_the_longest_needle() {
    let text = "a y 1 H\nb y 9 ABCDE\n";
    assert_eq!(carve(text, b".H..", SCALPEL), []);
    assert_eq!(carve(text, b".H...", SCALPEL), [(1, 1, true)]);
}

#[test]
fn scalpel_doubles_hits_inside_an_overlap() {
    // The overlap has two bytes.
    let text = "a y 2 HH F\nb y 9 ABC\n";
    let edge = crate::compat::SCALPEL_BUFFER as usize;
    let mut image = vec![b'.'; edge + 100];
    for (at, expected) in [(edge - 2, 2), (edge - 3, 1), (edge - 1, 1)] {
        image.fill(b'.');
        image[at..at + 2].copy_from_slice(b"HH");
        let found = carve(text, &image, PairOptions { missing_footer: true, ..SCALPEL });
        assert_eq!(found, vec![(at as u64, 2, false); expected], "{at}");
    }
}
