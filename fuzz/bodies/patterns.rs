//! Body of the target `patterns`, also included by `crates/fyke/tests/regressions.rs`.
//!
//! The first byte of an input selects the format; the rest is the file. For any file, a parser
//! must not panic, must give the position of each mistake, and must return patterns that a set
//! accepts and that can be written and read back.

use fyke_io::rules::{Format, Options, Parsed, RuleError, RulePattern, Rules, parse};

const FILE: &str = "fuzz.rules";

/// Parses an input and checks the result.
pub(crate) fn patterns(data: &[u8]) {
    let (choice, file) = data.split_first().unwrap_or((&0, &[]));
    // The fourth format came later: the numbers of the first three stay, for recorded inputs.
    let format = match choice & 0x7f {
        0x40.. => Format::Yara,
        choice => [Format::Lines, Format::Hex, Format::Snort][usize::from(choice % 3)],
    };
    let commented = choice & 0x80 != 0;
    // Positions refer to the decoded file, which is the file itself without a byte order mark.
    parse(format, FILE, file, &Options { commented, keep_bom: false });
    let parsed = parse(format, FILE, file, &Options { commented, keep_bom: true });
    check_messages(&parsed.errors, file);
    check_messages(&parsed.warnings, file);
    check_counts(&parsed, format);
    parsed.patterns.iter().for_each(|p| check_origin(&p, format, file));
    check_set(&parsed);
    check_written_again(&parsed.patterns, Format::Hex, &|p| hex(p.bytes));
    check_written_again(&parsed.patterns, Format::Snort, &snort_rule);
    check_written_again(&parsed.patterns, Format::Yara, &yara_rule);
}

fn check_messages(messages: &[RuleError], file: &[u8]) {
    for error in messages {
        let (line, column) = (error.line(), error.column());
        assert_place(line, column, file);
        let message = error.to_string();
        assert!(message.starts_with(&format!("{FILE}:{line}:{column}: ")), "{message}");
        assert!(!message.contains('\n'), "{message}");
    }
    assert!(messages.is_sorted_by_key(RuleError::line), "messages are not in file order");
}

fn check_counts(parsed: &Parsed, format: Format) {
    let counts = &parsed.counts;
    if matches!(format, Format::Lines | Format::Hex) {
        assert!(counts.is_empty());
        return;
    }
    assert_eq!(counts.contents, parsed.patterns.len() as u64);
    assert_eq!(counts.skipped.get("bad rule").copied().unwrap_or(0), parsed.errors.len() as u64);
    assert!(counts.without_content <= counts.rules);
    let negated = parsed.patterns.iter().filter(|p| p.origin.negated).count();
    assert_eq!(counts.negated, negated as u64);
}

fn check_origin(pattern: &RulePattern<'_>, format: Format, file: &[u8]) {
    let origin = &pattern.origin;
    assert_place(origin.line, origin.column, file);
    assert!((1..=65_535).contains(&pattern.bytes.len()));
    let has_rules = matches!(format, Format::Snort | Format::Yara);
    assert_eq!(origin.rule.is_some(), has_rules);
    assert!(has_rules || !pattern.nocase && !origin.negated);
}

/// A position is in the file, or one past the end of a line.
fn assert_place(line: u64, column: u64, file: &[u8]) {
    let text = file.split(|&b| b == b'\n').nth(line as usize - 1);
    let text = text.unwrap_or_else(|| panic!("there is no line {line}"));
    assert!((1..=text.len() as u64 + 1).contains(&column), "line {line} has no column {column}");
}

/// Every pattern is in the set or a repeat of one that is, and every id refers to its pattern.
fn check_set(parsed: &Parsed) {
    let rules = &parsed.patterns;
    let set = rules.pattern_set(false).expect("patterns of one small file fit a set");
    let mut seen = std::collections::BTreeSet::new();
    for pattern in set.iter() {
        for id in pattern.ids {
            let rule = rules.get(*id).expect("an id of the set is one of the table");
            assert!(pattern.is_match(rule.bytes));
            assert!(seen.insert(id.0));
            for repeat in rules.repeats(*id) {
                let other = rules.get(*repeat).expect("a repeat is in the table");
                assert_eq!((other.bytes, other.nocase), (rule.bytes, rule.nocase));
                assert!(seen.insert(repeat.0));
            }
        }
    }
    assert_eq!(seen.len(), rules.len());
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
            .all(|(a, p)| !matches!(format, Format::Snort | Format::Yara) || a.nocase == p.nocase)
    );
}

fn snort_rule(p: &RulePattern<'_>) -> String {
    let nocase = if p.nocase { " nocase;" } else { "" };
    format!("alert tcp any any -> any any (content:\"|{}|\";{nocase} sid:1;)", hex(p.bytes))
}

fn yara_rule(p: &RulePattern<'_>) -> String {
    let nocase = if p.nocase { "nocase" } else { "" };
    let text: String = p.bytes.iter().map(|b| format!("\\x{b:02x}")).collect();
    format!("rule r {{ strings: $a = \"{text}\" {nocase} condition: $a }}")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
