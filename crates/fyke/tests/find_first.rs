//! `Matcher::find_first` and `Matcher::find_several` answer what the oracle does, for every engine
//! that answers.

#[path = "support/random_case.rs"]
mod random_case;

use fyke::{Device, Match, Matcher, registry};
use fyke_core::{First, Info};
use fyke_testkit::Case;
use std::ops::Range;
use std::sync::Arc;

const FIRSTS: [First; 4] =
    [First::Any, First::Standard, First::LeftmostFirst, First::LeftmostLongest];

/// Lengths of haystacks: below, at and above the words, the overlapping halves and the blocks that
/// engines search at once.
const LENGTHS: [usize; 36] = [
    0, 1, 3, 6, 7, 8, 10, 11, 12, 15, 16, 18, 19, 20, 21, 31, 34, 35, 36, 61, 64, 65, 66, 67, 68,
    69, 70, 74, 79, 80, 128, 130, 133, 147, 1000, 5000,
];

/// The forms of the engines on the CPU that this CPU can run for a set.
fn matchers(case: &Case) -> Vec<Arc<dyn Matcher>> {
    let on_cpu = registry::engines().into_iter().filter(|e| e.info().device == Device::Cpu);
    let specs = on_cpu.flat_map(|engine| {
        let Info { name, variants, .. } = *engine.info();
        let named = move |params: &&str| match params.is_empty() {
            true => name.to_owned(),
            false => format!("{name}:{params}"),
        };
        variants.iter().map(named)
    });
    specs.filter_map(|spec| registry::compile(&spec, &case.set, None).ok()).collect()
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

/// The answers of a matcher for spans of the case's haystack: how many, and the wrong ones.
fn check(case: &Case, matcher: &dyn Matcher) -> (usize, Vec<String>) {
    let (mut answers, mut wrong) = (0, Vec::new());
    let starts = 0..case.haystack.len().min(2000);
    for (from, len) in starts.zip(LENGTHS.into_iter().cycle()) {
        let span = from..case.haystack.len().min(from + len);
        for first in FIRSTS {
            let Some(found) = matcher.find_first(&case.haystack[span.clone()], first) else {
                continue;
            };
            answers += 1;
            let best = expected(case, &span, first);
            let is_right = match first {
                First::Any => found.is_some() == best.is_some(),
                _ => found == best,
            };
            if !is_right {
                let name = format!("{}:{}", matcher.info().name, matcher.options());
                wrong.push(format!("{name} {span:?} {first:?}: {found:?}, not {best:?}"));
            }
        }
    }
    (answers, wrong)
}

/// The matches of a span that do not overlap, from `from` on, as `find_several` is documented.
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

#[test]
fn several_matches_are_those_of_the_oracle() {
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for seed in 0..60 {
        let case = random_case::case(seed);
        for matcher in matchers(&case) {
            let (some, bad) = check_several(&case, &*matcher);
            answers += some;
            wrong.extend(bad.into_iter().map(|what| format!("{seed} {what}")));
        }
    }
    let shown = wrong[..wrong.len().min(6)].join("\n");
    assert!(wrong.is_empty(), "{} of {answers} wrong\n{shown}", wrong.len());
    assert!(answers > 500, "only {answers} answers");
}

#[test]
fn the_first_match_is_that_of_the_oracle() {
    let (mut wrong, mut answers) = (Vec::new(), 0);
    for seed in 0..60 {
        let case = random_case::case(seed);
        for matcher in matchers(&case) {
            let (some, bad) = check(&case, &*matcher);
            answers += some;
            wrong.extend(bad.into_iter().map(|what| format!("{seed} {what}")));
        }
    }
    let shown = wrong[..wrong.len().min(6)].join("\n");
    assert!(wrong.is_empty(), "{} of {answers} wrong\n{shown}", wrong.len());
    assert!(answers > 10_000, "only {answers} answers");
}
