//! Body of the target `patterns`, also included by `crates/fyke/tests/regressions.rs`.
//!
//! The first byte of an input selects the format; the rest is the file. For any file, a parser
//! must not panic, must give the position of each mistake, and must return patterns that a set
//! accepts and that can be written and read back.

use fyke_io::rules::{Format, Options, Parsed, RulePattern, Rules, parse};

const FILE: &str = "fuzz.rules";

/// Parses an input and checks the result.
pub(crate) fn patterns(data: &[u8]) {
    let (choice, file) = data.split_first().unwrap_or((&0, &[]));
    let format = [Format::Lines, Format::Hex, Format::Snort][usize::from(choice % 3)];
    let parsed = parse(format, FILE, file, &Options { commented: choice & 0x80 != 0 });
    check_errors(&parsed, file);
    parsed.patterns.iter().for_each(|p| check_origin(&p, format, file));
    check_set(&parsed);
    check_written_again(&parsed.patterns, Format::Hex, &|p| hex(p.bytes));
    check_written_again(&parsed.patterns, Format::Snort, &snort_rule);
}

fn check_errors(parsed: &Parsed, file: &[u8]) {
    for error in &parsed.errors {
        let (line, column) = (error.line(), error.column());
        assert_place(line, column, file);
        let message = error.to_string();
        assert!(message.starts_with(&format!("{FILE}:{line}:{column}: ")), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
    assert!(parsed.errors.is_sorted_by_key(|e| e.line()), "errors are not in file order");
}

fn check_origin(pattern: &RulePattern<'_>, format: Format, file: &[u8]) {
    let origin = &pattern.origin;
    assert_place(origin.line, origin.column, file);
    assert!((1..=65_535).contains(&pattern.bytes.len()));
    let is_snort = format == Format::Snort;
    assert_eq!(origin.rule.is_some(), is_snort);
    assert!(is_snort || !pattern.nocase && !origin.negated);
}

/// A position is in the file, or one past the end of a line.
fn assert_place(line: u64, column: u64, file: &[u8]) {
    let text = file.split(|&b| b == b'\n').nth(line as usize - 1);
    let text = text.unwrap_or_else(|| panic!("there is no line {line}"));
    assert!((1..=text.len() as u64 + 1).contains(&column), "line {line} has no column {column}");
}

/// Every id refers to its pattern, and only repeated plain patterns have no id of their own.
fn check_set(parsed: &Parsed) {
    let rules = &parsed.patterns;
    let set = rules.pattern_set(false).expect("patterns of one small file fit a set");
    let (ruled, plain): (Vec<_>, Vec<_>) =
        parsed.patterns.iter().partition(|p| p.origin.rule.is_some());
    let plain: std::collections::BTreeSet<_> = plain.iter().map(|p| p.bytes).collect();
    assert_eq!(set.id_count(), ruled.len() + plain.len());
    for pattern in set.iter() {
        for id in pattern.ids {
            let rule = rules.get(*id).expect("an id of the set is one of the table");
            assert!(pattern.is_match(rule.bytes));
        }
    }
}

/// Patterns written in a format that can hold any bytes are read back unchanged.
fn check_written_again(
    patterns: &Rules,
    format: Format,
    write: &dyn Fn(&RulePattern<'_>) -> String,
) {
    let file: String = patterns.iter().map(|p| write(&p) + "\n").collect();
    let again = parse(format, FILE, file.as_bytes(), &Options::default());
    assert!(again.errors.is_empty(), "{}", again.errors[0]);
    let bytes = |all: &Rules| all.iter().map(|p| p.bytes.to_vec()).collect::<Vec<_>>();
    assert_eq!(bytes(&again.patterns), bytes(patterns));
    assert!(
        again
            .patterns
            .iter()
            .zip(patterns.iter())
            .all(|(a, p)| format != Format::Snort || a.nocase == p.nocase)
    );
}

fn snort_rule(p: &RulePattern<'_>) -> String {
    let nocase = if p.nocase { " nocase;" } else { "" };
    format!("alert tcp any any -> any any (content:\"|{}|\";{nocase} sid:1;)", hex(p.bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
