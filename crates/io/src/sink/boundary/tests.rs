use super::*;
use crate::rules::{self, Format};

/// The ends of all matches of a set in a text, in order, as a block up to each of `windows` gives
/// them, with the ids that are kept.
fn kept_of(
    boundaries: &Boundaries,
    set: &PatternSet,
    text: &[u8],
    windows: &[usize],
) -> Vec<(u64, Vec<u32>)> {
    let mut filter = BoundaryFilter::new(boundaries);
    let (mut kept, mut known) = (Vec::new(), 0);
    for &to in windows {
        let window = Window::new(&text[..to], 0);
        let mut add = |batch: Batch<'_>| kept.extend(ids_of(boundaries, &window, &batch));
        filter.release(&window, false, set).unwrap().into_iter().for_each(&mut add);
        let records: Vec<_> = (known + 1..=to).flat_map(|end| ending(set, &text[..end])).collect();
        let batch = Batch { base: 0, records: &records, ordered: true, single: false, set };
        add(filter.select(&window, &batch).unwrap());
        known = to;
    }
    let window = Window::new(text, 0);
    let last = filter.release(&window, true, set).unwrap();
    last.into_iter().for_each(|batch| kept.extend(ids_of(boundaries, &window, &batch)));
    kept
}

fn ending(set: &PatternSet, text: &[u8]) -> Vec<Record> {
    let here = |p: &fyke_core::Pattern<'_>| {
        text.len().checked_sub(p.bytes.len()).is_some_and(|start| p.is_match(&text[start..]))
    };
    let mut found: Vec<_> = set.iter().filter(here).collect();
    found.sort_by_key(|p| (std::cmp::Reverse(p.bytes.len()), p.index));
    found.iter().map(|p| Record { end: text.len() as u32, pattern: p.index }).collect()
}

fn ids_of(boundaries: &Boundaries, window: &Window<'_>, batch: &Batch<'_>) -> Vec<(u64, Vec<u32>)> {
    let batches = boundaries.with_their_ids(window, batch).unwrap();
    let each = |b: &Batch<'_>| {
        let ids = |r: &Record| b.set.ids(r.pattern).iter().map(|id| id.0).collect();
        b.records.iter().map(|r| (b.end(*r), ids(r))).collect::<Vec<_>>()
    };
    batches.iter().flat_map(each).collect()
}

/// The ends of the matches that are kept if the haystack comes in windows of these ends.
fn kept(boundary: Boundary, text: &[u8], pattern: &str, windows: &[usize]) -> Vec<u64> {
    let set = PatternSet::new([pattern]).unwrap();
    let kept = kept_of(&Boundaries::of_all(boundary), &set, text, windows);
    kept.into_iter().map(|(end, _)| end).collect()
}

#[test]
fn words_and_lines_over_the_seams_of_windows() {
    let text = b"ab ab_ xab -ab\nab\nab";
    let all: Vec<usize> = (1..=text.len()).collect();
    for windows in [&[text.len()][..], &[2, 5, 14, 17, 20], &all] {
        assert_eq!(kept(Boundary::Word, text, "ab", windows), [2, 14, 17, 20], "{windows:?}");
        assert_eq!(kept(Boundary::Line, text, "ab", windows), [17, 20], "{windows:?}");
        assert_eq!(kept(Boundary::Line, b"ab\r\n", "ab", &[4]), [0; 0]);
    }
}

/// What is kept of a text, whole and byte by byte, with the strings of a YARA rule.
fn of_yara(strings: &str, all: Option<Boundary>, text: &[u8]) -> Vec<(u64, Vec<u32>)> {
    let rule = format!("rule R {{ strings: {strings} condition: any of them }}");
    let parsed = rules::parse(Format::Yara, "r", rule.as_bytes(), &Default::default());
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let set = parsed.patterns.pattern_set(false).unwrap();
    let boundaries = Boundaries::new(all, &parsed.patterns, &set).unwrap();
    let whole = kept_of(&boundaries, &set, text, &[text.len()]);
    let bytes: Vec<usize> = (1..=text.len()).collect();
    assert_eq!(kept_of(&boundaries, &set, text, &bytes), whole);
    whole
}

#[test]
fn a_full_word_has_no_letter_or_digit_beside_it() {
    let text = b"ab ab_ _ab xab ab9 \xe9ab\xe9 AB (ab)ab";
    let ends = |strings: &str, all| -> Vec<u64> {
        of_yara(strings, all, text).into_iter().map(|(end, _)| end).collect()
    };
    assert_eq!(ends(r#"$a = "ab" fullword"#, None), [2, 5, 10, 22, 30, 33]);
    assert_eq!(ends(r#"$a = "ab" fullword nocase"#, None), [2, 5, 10, 22, 26, 30, 33]);
    // Both must be there.
    assert_eq!(ends(r#"$a = "ab" fullword"#, Some(Boundary::Word)), [2, 22, 30, 33]);
    assert_eq!(ends(r#"$a = "ab" fullword $b = "AB""#, Some(Boundary::Line)), [0; 0]);
    assert_eq!(of_yara(r#"$a = "ab" fullword"#, None, b"ab"), [(2, vec![1])]);
}

#[test]
fn a_wide_full_word_has_no_wide_letter_or_digit_beside_it() {
    let wide = |text: &str| -> Vec<u8> { text.bytes().flat_map(|b| [b, 0]).collect() };
    let ends = |text: &[u8]| -> Vec<u64> {
        of_yara(r#"$a = "ab" wide fullword"#, None, text).into_iter().map(|(end, _)| end).collect()
    };
    assert_eq!(ends(&wide("ab xab abx -ab ab")), [4, 28, 34]);
    // Letters that are not wide, or cut off, do not count.
    assert_eq!(ends(b"xa\0b\0x"), [5]);
    assert_eq!(ends(b"\0xa\0b\0xy"), [6]);
    assert_eq!(ends(b"x\0a\0b\0"), [0; 0]);
    assert_eq!(ends(b"a\0b\0x\0"), [0; 0]);
}

/// A string that is wide and one that has zeros are the same bytes and ask for different words.
#[test]
fn equal_strings_are_reported_for_those_that_get_what_they_ask_for() {
    let strings = r#"$a = "ab" $b = "ab" fullword $c = "c" fullword"#;
    let expected = [(2, vec![1, 2]), (6, vec![1]), (8, vec![3]), (11, vec![1, 2]), (14, vec![1])];
    assert_eq!(of_yara(strings, None, b"ab xab c ab,abc"), expected);
    let strings = r#"$a = "a\x00" fullword $b = "a" wide fullword $c = "a\x00" nocase"#;
    let kept = of_yara(strings, None, b"xa\0,x\0a\0,a\0x,x\0a\0x\0");
    let all: Vec<_> = kept.iter().filter(|(_, ids)| ids != &[3]).collect();
    assert_eq!(all, [&(3, vec![2]), &(8, vec![1]), &(11, vec![2])]);
    assert_eq!(kept.iter().filter(|(_, ids)| ids == &[3]).count(), 4);
}

#[test]
fn nothing_is_checked_if_nothing_is_asked_for() {
    let rules = rules::parse(Format::Lines, "l", b"ab\n", &Default::default()).patterns;
    let set = rules.pattern_set(false).unwrap();
    assert!(Boundaries::new(None, &rules, &set).is_none());
    assert_eq!(Boundaries::new(Some(Boundary::Word), &rules, &set).unwrap().look_ahead(), 1);
}
