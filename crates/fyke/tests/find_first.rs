//! `Matcher::find_first`, `find_next` and `find_several` answer what the oracle does, for every
//! engine that answers.

#[path = "support/random_case.rs"]
mod random_case;

use fyke::{Device, Match, Matcher, PatternId, PatternSet, Searcher, registry};
use fyke_core::{First, FirstMatch, Info, NextFirst};
use fyke_testkit::share::{self, Share};
use fyke_testkit::{Case, Entry};
use std::io::Write as _;
use std::ops::Range;
use std::sync::Arc;

/// Of the random cases, a form of an engine runs one in this many with each change.
const PARTS: usize = 3;

const FIRSTS: [First; 4] =
    [First::Any, First::Standard, First::LeftmostFirst, First::LeftmostLongest];

/// Lengths of haystacks: below, at and above the words, the overlapping halves and the blocks that
/// engines search at once.
const LENGTHS: [usize; 36] = [
    0, 1, 3, 6, 7, 8, 10, 11, 12, 15, 16, 18, 19, 20, 21, 31, 34, 35, 36, 61, 64, 65, 66, 67, 68,
    69, 70, 74, 79, 80, 128, 130, 133, 147, 1000, 5000,
];

/// The forms of the engines on the CPU that this CPU can run for a set.
fn matchers(set: &PatternSet) -> Vec<Arc<dyn Matcher>> {
    matchers_at(set, |_| true)
}

/// As [`matchers`], but only forms whose place among all is chosen.
fn matchers_at(set: &PatternSet, is_chosen: impl Fn(usize) -> bool) -> Vec<Arc<dyn Matcher>> {
    let on_cpu = registry::engines().into_iter().filter(|e| e.info().device == Device::Cpu);
    let specs = on_cpu.flat_map(|engine| {
        let Info { name, variants, .. } = *engine.info();
        let named = move |params: &&str| match params.is_empty() {
            true => name.to_owned(),
            false => format!("{name}:{params}"),
        };
        variants.iter().map(named)
    });
    let specs = specs.enumerate().filter(|(place, _)| is_chosen(*place)).map(|(_, spec)| spec);
    specs.filter_map(|spec| registry::compile(&spec, set, None).ok()).collect()
}

/// The forms of the engines that have the random case of this seed in their share.
fn sharing(set: &PatternSet, seed: u64) -> Vec<Arc<dyn Matcher>> {
    matchers_at(set, |place| Share::new(place, PARTS).has(seed as usize))
}

/// Says that only a share runs, if so.
fn print_share() {
    if !share::is_whole() {
        // The harness does not capture standard error that is written directly.
        let _ = writeln!(
            std::io::stderr(),
            "find_first: each form runs one random case in {PARTS}; FYKE_SHARE=all runs all"
        );
    }
}

/// The first match within a span of the case's haystack, counted from the span's start.
fn expected(case: &Case, span: &Range<usize>, first: First) -> Option<Match> {
    let inside = case.found.iter().map(|o| o.at).filter_map(|m| {
        let (start, end) = (m.start as usize, m.end as usize);
        let (pattern, is_in) = (m.pattern, span.start <= start && end <= span.end);
        is_in.then(|| Match { pattern, start: start - span.start, end: end - span.start })
    });
    inside.reduce(|best, new| if first.is_better(new, best) { new } else { best })
}

/// Whether a matcher answers for a span of the case's haystack, and what is wrong with the answer.
fn check_span(
    case: &Case,
    matcher: &dyn Matcher,
    span: Range<usize>,
    first: First,
) -> (bool, Option<String>) {
    let found = matcher.find_first(&case.haystack[span.clone()], first);
    let best = expected(case, &span, first);
    let is_right = match found {
        FirstMatch::Found(_) if first == First::Any => best.is_some(),
        FirstMatch::Found(found) => best == Some(found),
        FirstMatch::NotFound => best.is_none(),
        FirstMatch::Unknown { from } => {
            let best = match first {
                First::Any => expected(case, &span, First::LeftmostFirst),
                _ => best,
            };
            from <= span.len() && best.is_none_or(|best| best.start >= from)
        }
    };
    let wrong = (!is_right).then(|| {
        let name = format!("{}:{}", matcher.info().name, matcher.options());
        format!("{name} {span:?} {first:?}: {found:?}, not {best:?}")
    });
    (!matches!(found, FirstMatch::Unknown { .. }), wrong)
}

/// The answers of a matcher for spans of the case's haystack: how many, and the wrong ones.
fn check(case: &Case, matcher: &dyn Matcher) -> (usize, Vec<String>) {
    let (mut answers, mut wrong) = (0, Vec::new());
    let starts = 0..case.haystack.len().min(2000);
    for (from, len) in starts.zip(LENGTHS.into_iter().cycle()) {
        let span = from..case.haystack.len().min(from + len);
        for first in FIRSTS {
            let (answered, bad) = check_span(case, matcher, span.clone(), first);
            answers += usize::from(answered);
            wrong.extend(bad);
        }
    }
    (answers, wrong)
}

/// The matches of a span that do not overlap, as `find_next` and `find_several` are documented.
fn in_turn(case: &Case, span: &Range<usize>, first: First) -> Vec<Match> {
    let (mut all, mut at) = (Vec::new(), 0);
    while let Some(m) = expected(case, &(span.start + at..span.end), first) {
        all.push(Match { start: m.start + at, end: m.end + at, ..m });
        at += m.end;
    }
    all
}

/// As [`check`], for several matches at once.
fn check_several(case: &Case, matcher: &dyn Matcher) -> (usize, Vec<String>) {
    let (mut answers, mut wrong) = (0, Vec::new());
    let starts = (0..case.haystack.len().min(2000)).step_by(37);
    for (from, len) in starts.zip(LENGTHS.into_iter().cycle()) {
        let span = from..case.haystack.len().min(from + len);
        for first in &FIRSTS[1..] {
            let (mut found, haystack) = (Vec::new(), &case.haystack[span.clone()]);
            let Some(all) = matcher.find_several(haystack, *first, &mut found) else { continue };
            answers += 1;
            let right = in_turn(case, &span, *first);
            let is_right = match all {
                true => found == right,
                false => !found.is_empty() && right.starts_with(&found),
            };
            if !is_right {
                let name = format!("{}:{}", matcher.info().name, matcher.options());
                wrong.push(format!("{name} {span:?} {first:?}: {found:?} {all}, not {right:?}"));
            }
        }
    }
    (answers, wrong)
}

/// Whether a matcher finds all matches of a span, one after another, and what is wrong. Where it
/// tests short haystacks at once, also after that test.
fn check_next_in(
    case: &Case,
    matcher: &dyn Matcher,
    span: Range<usize>,
    first: First,
) -> (bool, Option<String>) {
    let haystack = &case.haystack[span.clone()];
    let candidates = match haystack.len() {
        ..=64 => matcher.candidates_in_short(haystack),
        _ => None,
    };
    let tested = candidates.map(|bits| NextFirst::after_test(bits, haystack.len()));
    let (answered, wrong) = check_from(case, matcher, span.clone(), first, NextFirst::default());
    let after_test = tested.and_then(|next| check_from(case, matcher, span, first, next).1);
    (answered, wrong.or(after_test))
}

/// The same from the beginning or after the test.
fn check_from(
    case: &Case,
    matcher: &dyn Matcher,
    span: Range<usize>,
    first: First,
    mut next: NextFirst,
) -> (bool, Option<String>) {
    let (mut found, haystack) = (Vec::new(), &case.haystack[span.clone()]);
    let last = loop {
        match matcher.find_next(haystack, first, &mut next) {
            FirstMatch::Found(m) => found.push(m),
            last => break last,
        }
        assert_eq!(found.last().map(|m| m.end), Some(next.from));
    };
    let right = in_turn(case, &span, first);
    let is_right = right.starts_with(&found)
        && match last {
            FirstMatch::Unknown { from } => {
                right.get(found.len()).is_none_or(|next| next.start >= from)
            }
            _ => found.len() == right.len(),
        };
    let wrong = (!is_right).then(|| {
        let name = format!("{}:{}", matcher.info().name, matcher.options());
        format!("{name} {span:?} {first:?}: {found:?} {last:?}, not {right:?}")
    });
    (last == FirstMatch::NotFound, wrong)
}

/// As [`check`], for one match after another.
fn check_next(case: &Case, matcher: &dyn Matcher) -> (usize, Vec<String>) {
    let (mut answers, mut wrong) = (0, Vec::new());
    let starts = (0..case.haystack.len().min(2000)).step_by(37);
    for (from, len) in starts.zip(LENGTHS.into_iter().cycle()) {
        let span = from..case.haystack.len().min(from + len);
        for first in &FIRSTS[1..] {
            let (answered, bad) = check_next_in(case, matcher, span.clone(), *first);
            answers += usize::from(answered);
            wrong.extend(bad);
        }
    }
    (answers, wrong)
}

/// Runs a check for random cases. Each has a share of all engines.
fn check_random(least: usize, check: impl Fn(&Case, &dyn Matcher) -> (usize, Vec<String>)) {
    print_share();
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for seed in 0..60 {
        let case = random_case::case(seed);
        for matcher in sharing(&case.set, seed) {
            let (some, bad) = check(&case, &*matcher);
            answers += some;
            wrong.extend(bad.into_iter().map(|what| format!("{seed} {what}")));
        }
    }
    let shown = wrong[..wrong.len().min(6)].join("\n");
    assert!(wrong.is_empty(), "{} of {answers} wrong\n{shown}", wrong.len());
    assert!(answers > least, "only {answers} answers");
}

#[test]
fn several_matches_are_those_of_the_oracle() {
    check_random(500, check_several);
}

#[test]
fn the_next_matches_are_those_of_the_oracle() {
    check_random(500, check_next);
}

#[test]
fn the_first_match_is_that_of_the_oracle() {
    check_random(10_000, check);
}

/// The window of a long pattern is far from its start, and short patterns match before it.
#[test]
fn candidates_after_a_match_are_not_lost() {
    let late = format!("{}zqxjk", "e".repeat(24));
    let patterns = ["aeio", "eeaa", late.as_str(), "kzqw"];
    let entry =
        |(id, p): (usize, &&str)| Entry { id: id as u32, bytes: (*p).into(), nocase: false };
    let entries: Vec<_> = patterns.iter().enumerate().map(entry).collect();
    let haystack = format!("{}{late}{late}aeio{late}zq", "eaeiokzqw-".repeat(9));
    for from in 0..70 {
        let case = Case::new(entries.clone(), haystack[from..].into()).unwrap();
        for matcher in matchers(&case.set) {
            for first in &FIRSTS[1..] {
                let all = 0..case.haystack.len();
                assert_eq!(check_next_in(&case, &*matcher, all, *first).1, None);
            }
        }
    }
}

/// Each position is a candidate, and no match: an engine may give up, and the scan goes on.
#[test]
fn hostile_haystacks_are_searched_by_a_scan() {
    let long = [&[0xf1; 200][..], b"eeee"].concat();
    let others = (0..20).map(|n| format!("q{n:03}z").into_bytes());
    let patterns: Vec<Vec<u8>> = others.chain([long.clone()]).collect();
    let entry =
        |(id, p): (usize, &Vec<u8>)| Entry { id: id as u32, bytes: p.clone(), nocase: false };
    let entries: Vec<_> = patterns.iter().enumerate().map(entry).collect();
    let haystack = [b"q003z--q007z", &[0xf1; 600][..], &long, b"q019z"].concat();
    let case = Case::new(entries, haystack.clone()).unwrap();
    let mut gave_up = Vec::new();
    for matcher in matchers(&case.set) {
        for first in &FIRSTS[1..] {
            let all = 0..case.haystack.len();
            let (answered, wrong) = check_next_in(&case, &*matcher, all, *first);
            assert_eq!(wrong, None);
            if !answered {
                gave_up.push(matcher.info().name);
            }
        }
    }
    assert!(gave_up.contains(&"teddy"), "{gave_up:?}");
    let searcher = Searcher::new(&patterns).unwrap();
    for from in 0..40 {
        let span = from..haystack.len();
        let found: Vec<_> = searcher.find_iter(&haystack[span.clone()]).collect();
        assert_eq!(found, in_turn(&case, &span, First::Standard));
        assert_eq!(searcher.find(&haystack[span]), found.first().copied());
    }
}

/// An engine may give up after some kilobytes, but not skip a match.
#[test]
fn a_distant_match_is_not_skipped() {
    let late_window = format!("{}zqxjk", "e".repeat(50));
    let patterns = ["needle", &late_window, "four"];
    let set = PatternSet::new(patterns).unwrap();
    let matchers = matchers(&set);
    let searcher = Searcher::builder().engine("qgram-filter").build(&set).unwrap();
    let starts = [0, 100, 1000, 5000].into_iter().chain(16_300..16_420).chain([40_000]);
    for (i, start) in starts.enumerate() {
        let pattern = patterns[i % patterns.len()];
        let mut haystack = vec![b'.'; 50_000];
        haystack[start..start + pattern.len()].copy_from_slice(pattern.as_bytes());
        let right = Match { pattern: PatternId((i % 3) as u32), start, end: start + pattern.len() };
        for matcher in &matchers {
            for first in FIRSTS {
                let ok = match matcher.find_first(&haystack, first) {
                    FirstMatch::Found(found) => found == right,
                    FirstMatch::NotFound => false,
                    FirstMatch::Unknown { from } => from <= start,
                };
                assert!(ok, "{}:{} {first:?} {start}", matcher.info().name, matcher.options());
            }
        }
        assert!(searcher.is_match(&haystack));
        assert_eq!(searcher.find(&haystack), Some(right));
        assert_eq!(searcher.find_iter(&haystack).collect::<Vec<_>>(), [right]);
        haystack[start] = b'.';
        assert!(!searcher.is_match(&haystack) && searcher.find(&haystack).is_none());
    }
}

/// The leftmost match may have the last window.
#[test]
fn a_match_with_a_late_window_is_not_lost() {
    let few = ["tha", "the", "tho"].map(|end| format!("zqxjkvqz{end}"));
    let letters = b"abcdefghijklmnopqrstuvwxyz".map(char::from);
    let many = letters.iter().flat_map(|a| letters.map(|b| format!("zqxjkvqz{a}{b}s")));
    let many = few.iter().cloned().chain(many).collect::<Vec<_>>();
    let late = format!("eeezqxjkvqzthee{}jqxzvkwqp", "e".repeat(80));
    let mut answers = 0;
    for patterns in [&few[..], &many[..]] {
        let all = patterns.iter().cloned().chain([late.clone()]).enumerate();
        let entry =
            |(id, p): (usize, String)| Entry { id: id as u32, bytes: p.into(), nocase: false };
        for before in 0..70 {
            let haystack = format!("{}{late}{}", "-".repeat(before), "-".repeat(before % 7));
            let case = Case::new(all.clone().map(entry).collect(), haystack.into()).unwrap();
            for matcher in matchers(&case.set) {
                for first in FIRSTS {
                    let (answered, wrong) =
                        check_span(&case, &*matcher, 0..case.haystack.len(), first);
                    answers += usize::from(answered);
                    assert_eq!(wrong, None);
                }
            }
        }
    }
    assert!(answers > 500, "only {answers} answers");
}

/// Two matches overlap where an engine may give up.
#[test]
fn overlapping_distant_matches_are_not_lost() {
    let patterns = ["xxneedlexxzqxjkvq", "needle", "zqxjkabcdefgh", "abcd"];
    let entry =
        |(id, p): (usize, &&str)| Entry { id: id as u32, bytes: (*p).into(), nocase: false };
    let entries: Vec<_> = patterns.iter().enumerate().map(entry).collect();
    for start in 16_350..16_400 {
        for text in [patterns[0], patterns[2]] {
            let mut haystack = vec![b'.'; 16_600];
            haystack[start..start + text.len()].copy_from_slice(text.as_bytes());
            let case = Case::new(entries.clone(), haystack).unwrap();
            for matcher in matchers(&case.set) {
                for first in FIRSTS {
                    let all = 0..case.haystack.len();
                    assert_eq!(check_span(&case, &*matcher, all, first).1, None);
                }
            }
        }
    }
}
