//! The linter: finds rules that Scalpel accepts but that are probably mistakes.

use super::Lines;
use super::diagnostic::{Remark, Warning};
use super::escape::{self, BadEscape};
use super::rule::{NO_EXTENSION, RuleTokens, read_size};
use super::token::Token;
use crate::compat::Compat;
use crate::needle::Needle;
use crate::rule::Mode;
use std::collections::HashMap;

/// A shorter header is hit by chance once in some 64 KiB of random bytes.
const SHORT_HEADER: usize = 3;
/// Scalpel 1.60 cuts longer extensions.
const LONG_EXTENSION: usize = 7;

const MODES: [&str; 3] = ["FORWARD", "NEXT", "REVERSE"];

pub(super) fn lint(lines: &Lines<'_>, path: &str) -> Vec<Warning> {
    let mut warnings = lint_wildcards(lines);
    let mut seen = HashMap::new();
    for (line, rule) in &lines.rules {
        let (Ok(needles), Ok(size)) =
            (rule.read_needles(lines.syntax), read_size(rule.size, lines.options.compat))
        else {
            continue;
        };
        let mut remarks = Vec::new();
        lint_extension(rule, &mut remarks);
        lint_words(rule, lines.options.compat, &mut remarks);
        lint_escapes(rule, lines, &mut remarks);
        lint_needles(rule, &needles.0, needles.1.as_ref(), &mut remarks);
        lint_size(rule, size, &mut remarks);
        lint_stock(rule, &needles.0, needles.1.as_ref(), &mut remarks);
        let key = (rule.extension.bytes, size, needles, rule.read_mode());
        if let Some(first) = seen.get(&key) {
            let what = format!("the rule is the same as that of line {first}");
            remarks.push(Remark::new(rule.extension.column, what, "remove one of them"));
        } else {
            seen.insert(key, *line);
        }
        remarks.sort_by_key(|remark| remark.column);
        warnings.extend(remarks.into_iter().map(|remark| (*line, remark)));
    }
    warnings.sort_by_key(|(line, _)| *line);
    warnings.into_iter().map(|(line, remark)| remark.at(path, line)).collect()
}

fn lint_wildcards(lines: &Lines<'_>) -> Vec<(usize, Remark)> {
    let mut found = Vec::new();
    let first_rule = lines.rules.first().map_or(usize::MAX, |(line, _)| *line);
    let last = lines.wildcards.iter().rposition(|(_, _, words)| !words.is_empty());
    for (index, (line, keyword, words)) in lines.wildcards.iter().enumerate() {
        let mut push = |column, what: String, help: &str| {
            found.push((*line, Remark::new(column, what, help)));
        };
        let Some(word) = words.first() else {
            push(
                keyword.column,
                "the wildcard line names no byte and is ignored".into(),
                "write: wildcard X",
            );
            continue;
        };
        if escape::decode(word.bytes).0.len() > 1 {
            let what = format!("{} is more than one byte; the first is taken", word.text());
            push(word.column, what, "write one byte or one escape");
        }
        if let Some(extra) = words.get(1) {
            push(extra.column, format!("{} is not read", extra.text()), "remove it");
        }
        if last.is_some_and(|last| index < last) {
            let what = "another wildcard line follows, and holds for the whole file".into();
            push(keyword.column, what, "keep one of them");
        } else if *line > first_rule {
            let what = "the wildcard holds for the rules above it too".into();
            push(keyword.column, what, "move the line before the first rule");
        }
    }
    found
}

fn lint_extension(rule: &RuleTokens<'_>, remarks: &mut Vec<Remark>) {
    let token = rule.extension;
    let text = token.text();
    let mut push = |what: String, help: &str| remarks.push(Remark::new(token.column, what, help));
    if token.starts_with(NO_EXTENSION) && !token.is(NO_EXTENSION) {
        push(format!("the extension {text} means none, because it begins with NONE"), "write NONE");
    } else if token.bytes.len() > LONG_EXTENSION {
        push(
            format!(
                "the extension {text} has more than the {LONG_EXTENSION} bytes that Scalpel 1.60 takes"
            ),
            "shorten it if Scalpel must read the file too",
        );
    }
    if token.bytes.contains(&b'/') {
        push(format!("the extension {text} contains /, which becomes _"), "remove it");
    }
}

fn lint_words(rule: &RuleTokens<'_>, compat: Compat, remarks: &mut Vec<Remark>) {
    let mut push = |token: Token<'_>, what: String, help: &str| {
        remarks.push(Remark::new(token.column, what, help));
    };
    if !["y", "n", "yes", "no"].iter().any(|word| rule.case.is(word)) {
        let read = if rule.nocase() { "n" } else { "y" };
        let what = format!("the case {} is read as {read}", rule.case.text());
        push(rule.case, what, "write y if case matters, n if not");
    }
    if compat == Compat::Scalpel160 && !rule.size.bytes.iter().all(u8::is_ascii_digit) {
        let what = format!("Scalpel 1.60 reads the size {} as a number only", rule.size.text());
        push(rule.size, what, "write bytes as decimal digits");
    }
    for token in [rule.footer, rule.mode, rule.extra].into_iter().flatten() {
        if token.bytes.starts_with(b"#") {
            push(
                token,
                "# begins a comment only as the first character of a line".into(),
                "move the comment to its own line, or write the byte as \\x23",
            );
            return;
        }
    }
    if let (Some(footer), None) = (rule.footer, rule.mode)
        && MODES.iter().any(|mode| footer.is(mode))
    {
        let what = format!("{} stands where the footer is, and is taken for it", footer.text());
        push(footer, what, "remove it: without a footer there is no mode");
    }
    if let Some(mode) = rule.mode
        && !MODES.iter().any(|word| mode.is(word))
    {
        let read = format!("{:?}", rule.read_mode()).to_uppercase();
        let what = format!("the mode {} is read as {read}", mode.text());
        push(mode, what, "write FORWARD, NEXT or REVERSE");
    }
    if let Some(extra) = rule.extra {
        push(extra, format!("{} is not read", extra.text()), "nothing follows the mode; remove it");
    }
}

fn lint_escapes(rule: &RuleTokens<'_>, lines: &Lines<'_>, remarks: &mut Vec<Remark>) {
    for token in [Some(rule.header), rule.footer].into_iter().flatten() {
        let slashed = |bytes: &[u8]| bytes.starts_with(b"/") && bytes.len() > 1;
        if lines.syntax.expression(token).is_some() {
            continue;
        }
        for BadEscape { at, text, read_as } in escape::decode(token.bytes).1 {
            let what = format!("{text} is no escape, and is read as the text {read_as}");
            let help = "write a backslash as \\\\, a byte as \\x and two hexadecimal digits";
            remarks.push(Remark::new(token.column + at, what, help));
        }
        if slashed(token.bytes) {
            let what = format!("{} begins with / and is read as text", token.text());
            let help = match lines.options.compat {
                Compat::Scalpel160 => "regular expressions are of Scalpel 2: read without --compat",
                Compat::None => "write /.../ for a regular expression, \\x2f for a slash",
            };
            remarks.push(Remark::new(token.column, what, help));
        }
    }
}

fn lint_needles(
    rule: &RuleTokens<'_>,
    header: &Needle,
    footer: Option<&Needle>,
    remarks: &mut Vec<Remark>,
) {
    let known = |needle: &Needle| match needle {
        Needle::Bytes { bytes, .. } => Some(bytes.iter().flatten().count()),
        Needle::Regex { .. } => None,
    };
    let both = [
        (rule.header, Some(header), "header"),
        (rule.footer.unwrap_or(rule.header), footer, "footer"),
    ];
    for (token, needle, name) in both {
        let Some(known) = needle.and_then(known) else { continue };
        let (what, help) = if known == 0 {
            (format!("the {name} consists of wildcards: every byte is a hit"), "write bytes")
        } else if known < SHORT_HEADER && name == "header" {
            let what =
                format!("the header has fewer than {SHORT_HEADER} bytes: chance will hit it");
            (what, "write more bytes that the format begins with")
        } else {
            continue;
        };
        remarks.push(Remark::new(token.column, what, help));
    }
    if let (Some(token), Some(footer)) = (rule.footer, footer)
        && footer == header
        && rule.read_mode() != Mode::Next
    {
        let what = "the footer is equal to the header, so that files end with the next header";
        remarks.push(Remark::new(token.column, what, "use the mode NEXT"));
    }
}

fn lint_size(rule: &RuleTokens<'_>, (min, max): (u64, u64), remarks: &mut Vec<Remark>) {
    if min > max {
        let what =
            format!("the smallest size, {min}, is above the largest, {max}: nothing is carved");
        remarks.push(Remark::new(rule.size.column, what, "write min:max"));
    }
}

/// Warns about the rules of Scalpel 1.60's own file that find no file of their type (B6).
fn lint_stock(
    rule: &RuleTokens<'_>,
    header: &Needle,
    footer: Option<&Needle>,
    remarks: &mut Vec<Remark>,
) {
    let is = |needle: Option<&Needle>, text: &[u8]| match needle {
        Some(Needle::Bytes { bytes, .. }) => {
            bytes.iter().copied().eq(text.iter().copied().map(Some))
        }
        _ => false,
    };
    let Some(token) = rule.footer else { return };
    if is(footer, b"\xff\xfc\xfd\xfe") {
        let what = "no PNG ends so: this is a mistake of Scalpel's own file";
        let help = "write \\x89PNG\\x0d\\x0a\\x1a\\x0a for the header and IEND\\xae\\x42\\x60\\x82 for \
                    the footer";
        remarks.push(Remark::new(token.column, what, help));
    } else if is(Some(header), b"PK\x03\x04") && is(footer, b"\x3c\xac") {
        let what = "no ZIP ends so: this is a mistake of Scalpel's own file";
        let help = "write PK\\x05\\x06 and 18 wildcards for the footer";
        remarks.push(Remark::new(token.column, what, help));
    }
}
