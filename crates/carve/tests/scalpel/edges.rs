//! Edge cases: one for each sentence about pairing, and for each bug.

use crate::case::{Case, Row};
use crate::predicted::{Seen, assert_differs_by_bugs};
use crate::reference::{assert_equal, scalpel};
use crate::refused;
use fyke_carve::compat::SCALPEL_BUFFER;
use fyke_carve::pair::PairOptions;
use fyke_carve::{Compat, hit_list};

const EDGE: usize = SCALPEL_BUFFER as usize;

/// An image of dots with texts in it.
fn image(len: usize, texts: &[(usize, &[u8])]) -> Vec<u8> {
    let mut image = vec![b'.'; len];
    for (at, text) in texts {
        image[*at..at + text.len()].copy_from_slice(text);
    }
    image
}

/// Carves in small images, with all combinations of `-b` and `-r`.
#[test]
fn pairing() {
    if refused("pairing") {
        return;
    }
    let mut rows = 0;
    for (conf, text) in [
        // Without a footer.
        ("a y 4 H", &b"..H..H"[..]),
        // The first footer after the start; it may overlap the header; it may be too far.
        ("a y 6 HH FF", b".HHHFF.FF.HH...FF..HH"),
        ("a y 9 ABA BA", b".ABA.BA"),
        ("a y 9 AB AB", b".AB.AB"),
        ("a y 3 AA AA", b".AAAAA.AAA"),
        ("a y 4 H F NEXT", b".H..F.H...F.H....F.H"),
        ("a y 4 H FF REVERSE", b".HFF.FF.FF.H....FF.HH.FF.FF"),
        ("a y 9 H H NEXT", b".H.H.H"),
        // Modes are words that the token begins with.
        (
            "a y 4 H F nextfoo\nb y 4 H F Reverse\nc y 4 H F forward_next\nd y 9 H F x y z",
            b".H..F.F",
        ),
        // A word where the footer is.
        ("a y 4 H NEXT", b".HNEXT"),
        // Case and wildcards.
        ("a n 9 h?H f", b".HxH..F.hhh.f.H\xc8H.[{.f"),
        ("wildcard x\na y 2 HxF\nb y 2 H?", b".H?F.H.F"),
        ("wildcard \\x46\na y 2 HF\n", b".H?F.HF"),
        ("a y 2 H\\x3fF", b".H?F.HxF"),
        // Escapes, good and bad.
        ("a y 2 \\x41\\102\\s\\\\", b".AB \\"),
        (
            "a y 2 A\\xg\\q\nb y 2 A\\089\nc y 2 A\\\nd y 2 A\\x4\ne y 2 A\\3ff",
            b".Axg\\q.A089.A\\.Ax4.A3ff",
        ),
        // Sizes are read up to what is no digit.
        ("a y 3k H\nb y 2:9 H\nc y +4 H", b".H......"),
        // Extensions.
        ("abcdefgh y 3 H\nabcdefghijk y 3 H\nNONE y 3 H\nnonesuch y 3 H", b".H......"),
        // Lines.
        ("\r\n  # x\r\n\ta\ty  2\t\tH F \r\n", b".H......HF"),
        ("a y 2 H\r", b".H.H\r"),
        // Expressions are of Scalpel 2.
        ("a y 3 /H/", b".H./H/.."),
    ] {
        for flags in 0..4 {
            let padded = [text, &b"."[..]].concat();
            let case = Case {
                missing_footer: flags & 1 != 0,
                no_overlap: flags & 2 != 0,
                ..Case::new(conf, padded)
            };
            rows += assert_equal(conf, &case).1.rows.len();
        }
    }
    assert!(rows > 150, "only {rows} rows");
}

#[test]
fn clusters() {
    if refused("clusters") {
        return;
    }
    let case = Case { cluster: Some(4), ..Case::new("a y 3 H", b"HHHHHHHHHHHH...".to_vec()) };
    assert_eq!(assert_equal("-q 4", &case).1.rows.len(), 3);
}

/// B1: at the image's end the length is one too large.
#[test]
fn b1_the_end_of_the_image() {
    compare("B1", "a y 9 HH\nb y 9 HH FF NEXT", image(50, &[(45, b"HH")]), |seen| seen.b1 == 2);
    compare("no B1", "a y 5 HH", image(50, &[(45, b"HH")]), |seen| seen.b1 == 0);
}

/// B2: what lies wholly inside the overlap of two buffers is found twice.
#[test]
fn b2_overlaps_of_buffers() {
    // The overlap has 4 bytes.
    let conf = "a y 20 HH FF\nb y 9 ABCDE";
    for (at, doubled) in [(EDGE - 5, 0), (EDGE - 4, 1), (EDGE - 2, 1), (EDGE - 1, 0)] {
        let texts = image(EDGE + 100, &[(at, b"HH"), (EDGE + 10, b"FF")]);
        compare("B2", conf, texts, |seen| seen.b2 == doubled);
    }
    // Headers and footers in the overlap: the second time pairing begins after some footers.
    let conf = "a y 20 H F\nb y 9 ABCDEFGHIJKLM";
    let text = image(EDGE + 100, &[(EDGE - 12, b"HFFHFH.F")]);
    compare("B2, disordered", conf, text, |seen| seen.b2 == 3);
}

/// B4: the chop flag is missing where no footer was seen.
#[test]
fn b4_the_chop_flag() {
    compare("B4", "a y 9 HH FF NEXT", image(50, &[(5, b"HH")]), |seen| seen.b4 == 1);
    compare("no B4", "a y 9 HH FF NEXT", image(50, &[(5, b"HH"), (40, b"FF")]), |seen| {
        seen.b4 == 0
    });
    // Scalpel does not look for footers in a buffer that no header reaches.
    let far = image(EDGE + 100, &[(5, b"HH"), (EDGE + 40, b"FF")]);
    compare("B4 by distance", "a y 9 HH FF NEXT", far.clone(), |seen| seen.b4 == 1);
    if refused("b4_the_chop_flag") {
        return;
    }
    let all = Case { all_footers: true, ..Case::new("a y 9 HH FF NEXT", far) };
    assert!(assert_equal("B4 with -d", &all).1.rows[0].chopped);
}

/// B5: an escaped wildcard is a wildcard.
#[test]
fn b5_escaped_wildcards() {
    if refused("b5_escaped_wildcards") {
        return;
    }
    let case = Case::new("a y 2 H\\x3fF", b".H?F.HxF..".to_vec());
    assert_eq!(assert_equal("B5", &case).1.rows.len(), 2);
    assert_eq!(case.carve(Compat::None).files.len(), 1);
}

/// B7: extensions are cut.
#[test]
fn b7_long_extensions() {
    if refused("b7_long_extensions") {
        return;
    }
    let case = Case::new("abcdefghij y 2 HH", image(20, &[(5, b"HH")]));
    assert_eq!(assert_equal("B7", &case).1.rows[0].name, "00000000.abcdefgh");
    assert_eq!(case.carve(Compat::None).rows()[0].name, "00000000.abcdefghij");
}

/// B8: an image that is shorter than the longest needle is not searched.
#[test]
fn b8_short_images() {
    compare("B8", "a y 2 HH\nb y 9 ABCDEFGHI", image(8, &[(5, b"HH")]), |seen| seen.b8 == 1);
    compare("no B8", "a y 2 HH\nb y 9 ABCDEFGHI", image(9, &[(5, b"HH")]), |seen| seen.b8 == 0);
}

/// B9: a footer that begins a buffer, exactly `max` bytes after the last header, is lost.
#[test]
fn b9_footers_at_the_beginning_of_a_buffer() {
    let texts = |footer| image(EDGE + 100, &[(EDGE - 50, b"HH"), (footer, b"FF")]);
    // The second buffer begins one byte before the end of the first.
    let conf = "a y 49 HH FF REVERSE";
    compare("B9", conf, texts(EDGE - 1), |seen| seen.b9 == 1);
    compare("no B9", "a y 50 HH FF REVERSE", texts(EDGE - 1), |seen| seen.b9 == 0);
}

/// B10: a file of one byte at the image's beginning is not carved.
#[test]
fn b10_one_byte_at_the_beginning() {
    compare("B10", "a y 1 HH", image(20, &[(0, b"HH")]), |seen| seen.b10 == 1);
    compare("B10, NEXT", "a y 9 HH H NEXT", image(20, &[(0, b"HH")]), |seen| seen.b10 == 1);
}

/// Compares under compatibility, and the bugs that the default lacks.
fn compare(what: &str, conf: &str, image: Vec<u8>, expected: impl Fn(&Seen) -> bool) {
    if refused(what) {
        return;
    }
    let case = Case::new(conf, image);
    let (ours, theirs) = assert_equal(what, &case);
    let mut seen = Seen::default();
    assert_differs_by_bugs(what, &case, &ours, &theirs, &mut seen);
    assert!(expected(&seen), "{what}: {seen:?}");
}

/// A thousand files of a rule begin another folder.
#[test]
fn folders_of_a_thousand_files() {
    if refused("folders_of_a_thousand_files") {
        return;
    }
    let case = Case::new("a y 2 H\nb y 1 HHH", [&[b'H'; 2100][..], b"..."].concat());
    let (ours, _) = assert_equal("folders", &case);
    assert!(ours.paths.iter().any(|path| path.starts_with("a-0-2")));
}

/// `-d` lists hits, doubled ones too.
#[test]
fn lists_of_hits() {
    if refused("lists_of_hits") {
        return;
    }
    let conf = "a y 20 HH FF\nNONE y 9 ABCDE\nb n 9 ff";
    let texts = image(EDGE + 100, &[(EDGE - 3, b"HH"), (50, b"FFF"), (EDGE + 50, b"FF")]);
    let case = Case { all_footers: true, ..Case::new(conf, texts) };
    let (ours, theirs) = assert_equal("-d", &case);
    let mut out = Vec::new();
    let options: PairOptions = case.options(Compat::Scalpel160);
    hit_list::write(&mut out, &ours.rules, &ours.hits, &options).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), theirs.hit_list.unwrap());
}

/// `-p` has the same rows. Scalpel's crashes if its last buffer has a file (B3): this one has none.
#[test]
fn previews() {
    if refused("previews") {
        return;
    }
    let case = Case::new("a y 20 HH FF", image(EDGE * 2 + 5, &[(50, b"HHFF"), (90, b"HH.FF")]));
    let preview = Case { preview: true, ..case.clone() };
    let rows = assert_equal("-p", &preview).1.rows;
    assert_eq!(rows, assert_equal("without -p", &case).1.rows);
    assert_eq!(rows.len(), 2);
}

/// `-s` moves the buffers. Scalpel takes the image for shorter by what it skips, which it must not:
/// files near the image's end are not compared.
#[test]
fn skipped_bytes() {
    if refused("skipped_bytes") {
        return;
    }
    let conf = "a y 20 HH FF\nb y 9 ABCDE";
    let texts: &[(usize, &[u8])] = &[(5, b"HHFF"), (999, b"HHFF"), (EDGE + 998, b"HHFF")];
    let case = Case { skip: 1000, ..Case::new(conf, image(EDGE + 5000, texts)) };
    let rows = assert_equal("-s", &case).1.rows;
    let doubled = |n: u64| Row {
        name: format!("0000000{n}.a"),
        start: EDGE as u64 + 998,
        chopped: false,
        len: 4,
    };
    assert_eq!(rows, [doubled(0), doubled(1)]);
}

/// A file that ends at the end of an image of full buffers has no row: Scalpel waits for a buffer
/// that does not come (B11). fyke has it, under compatibility too.
#[test]
fn b11_full_buffers() {
    if refused("b11_full_buffers") {
        return;
    }
    let case = Case::new("a y 20 HH", image(EDGE, &[(EDGE - 5, b"HH"), (50, b"HH")]));
    assert_eq!(scalpel(&case).rows.len(), 1);
    assert_eq!(case.carve(Compat::Scalpel160).files.len(), 2);
    assert_eq!(case.carve(Compat::None).files.len(), 2);
}
