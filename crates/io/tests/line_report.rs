//! [`LineReport`] against a naive grep, on random texts cut into random windows.

use fyke_core::{Batch, PatternSet, Record};
use fyke_io::sink::{Colors, LineOptions, LineReport, Step, TextOptions, Window};
use fyke_testkit::random::SplitMix as Rng;
use std::fmt::Write;
use std::path::Path;

fn text_options() -> TextOptions {
    TextOptions {
        path: false,
        heading: false,
        null: false,
        line: true,
        column: false,
        offset: true,
        label: false,
        only_matching: false,
        columns: None,
        escape: false,
        colors: Colors::NONE,
    }
}

/// All matches in canonical order, as end and index.
fn matches(text: &[u8], set: &PatternSet) -> Vec<Record> {
    let mut all = Vec::new();
    for end in 1..=text.len() {
        let mut here: Vec<_> = (0..).zip(set.iter()).collect();
        here.retain(|(_, p)| text[..end].ends_with(p.bytes));
        here.sort_by_key(|(_, p)| std::cmp::Reverse(p.bytes.len()));
        all.extend(here.iter().map(|&(pattern, _)| Record { end: end as u32, pattern }));
    }
    all
}

/// The lines of a text, each with its start and with its line feed.
fn lines(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut at = 0;
    let with_start = text.split_inclusive(|&b| b == b'\n').map(|line| {
        at += line.len();
        (at - line.len(), line)
    });
    with_start.collect()
}

/// What grep prints, line by line, without any cleverness.
fn grep(text: &[u8], set: &PatternSet, options: LineOptions) -> (u64, String) {
    let found = matches(text, set);
    let touches = |start: usize, line: &[u8]| {
        found.iter().any(|m| {
            let (end, len) = (m.end as usize, set.pattern_len(m.pattern));
            end > start && end - len < start + line.len()
        })
    };
    let lines = lines(text);
    let limit = options.limit.unwrap_or(u64::MAX) as usize;
    let wanted = |i: &usize| touches(lines[*i].0, lines[*i].1) != options.invert;
    let selected: Vec<usize> = (0..lines.len()).filter(wanted).take(limit).collect();
    let (mut out, mut last) = (String::new(), None);
    for (i, (start, line)) in lines.iter().enumerate() {
        let is_near = |&s: &usize| {
            i + options.before as usize >= s && i <= s || i >= s && i <= s + options.after as usize
        };
        if !selected.iter().any(is_near) {
            continue;
        }
        if last.is_some_and(|last| last + 1 < i) && options.before + options.after > 0 {
            out += "--\n";
        }
        let mark = if selected.contains(&i) { ':' } else { '-' };
        let shown = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
        writeln!(out, "{}{mark}{start}{mark}{shown}", i + 1).unwrap();
        last = Some(i);
    }
    (selected.len() as u64, out)
}

/// The same by [`LineReport`], which sees the text in windows that end at random positions.
fn report(
    rng: &mut Rng,
    text: &[u8],
    set: &PatternSet,
    options: LineOptions,
    print: bool,
) -> (u64, String) {
    let found = matches(text, set);
    let mut report = match print {
        true => LineReport::printing(options, &text_options(), set, 0),
        false => LineReport::counting(options, set, 0),
    };
    report.begin(Path::new("t"));
    let (mut out, mut known, mut from) = (Vec::new(), 0, 0);
    loop {
        let at_end = known == text.len();
        let to = (known + 1 + rng.below(9) as usize).min(text.len());
        let window = Window::new(&text[from..to], from as u64);
        let records: Vec<_> = found
            .iter()
            .copied()
            .filter(|m| m.end as usize > known && m.end as usize <= to)
            .collect();
        report.add(&Batch { base: 0, records: &records, ordered: true, single: false, set });
        report.advance(to as u64);
        if at_end {
            report.finish(to as u64);
        }
        while report.step(&mut out, &window).unwrap() == Step::Again {}
        report.count_lines(&window).unwrap();
        // As a stream does, keep what is needed and the bytes of two patterns.
        let history = to.saturating_sub(2 * set.max_len());
        let needed = report.needed_from(&window).unwrap();
        from = needed.map_or(history, |needed| history.min(needed as usize));
        known = to;
        if at_end {
            return (report.selected(), String::from_utf8_lossy(&out).into_owned());
        }
    }
}

fn random_text(rng: &mut Rng) -> Vec<u8> {
    let len = rng.below(60);
    (0..len).map(|_| b"ab\n\nc\r\0"[rng.below(7) as usize]).collect()
}

fn random_patterns(rng: &mut Rng) -> PatternSet {
    let alphabet = if rng.below(2) == 0 { &b"abc"[..] } else { b"ab\n" };
    let mut pattern = |_| -> Vec<u8> {
        let len = 1 + rng.below(4);
        (0..len).map(|_| alphabet[rng.below(3) as usize]).collect()
    };
    PatternSet::new((0..2).map(&mut pattern).collect::<Vec<_>>()).unwrap()
}

#[test]
fn lines_are_those_of_a_naive_grep() {
    let mut rng = Rng::new(16);
    for round in 0..20_000 {
        let (text, set) = (random_text(&mut rng), random_patterns(&mut rng));
        let mut number = |most| rng.below(most);
        let options = LineOptions {
            invert: number(2) == 0,
            before: number(3),
            after: number(3),
            limit: (number(2) == 0).then(|| number(4)),
        };
        let (count, printed) = grep(&text, &set, options);
        let got = report(&mut rng, &text, &set, options, true);
        let patterns: Vec<_> = set.iter().map(|p| p.bytes.to_vec()).collect();
        let case = format!("round {round}: {options:?} {} {patterns:?}", text.escape_ascii());
        assert_eq!(got, (count, printed), "{case}");
        assert_eq!(report(&mut rng, &text, &set, options, false).0, count, "{case}");
    }
}
