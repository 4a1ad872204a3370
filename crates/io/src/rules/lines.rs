//! Literal patterns, one per line, as `grep -F -f` reads them.
//!
//! * A line ends with LF or CRLF; the last line may end with the file. As in ripgrep, a CR before
//!   the LF is not part of the pattern. Use the hex format for a pattern that ends with CR.
//! * There are no escapes and no comments: every other byte is part of the pattern, also spaces.
//! * An empty line is an error, because an empty pattern would match everywhere.
//! * Lines that look like rules draw a warning, because their format may have been forgotten.

use super::error::{Kind, RuleError};
use super::parsed::Parsed;
use super::table::{Origin, check_len};
use super::{snort, yara};
use memchr::memmem;
use std::sync::Arc;

/// Parses a file of literal patterns.
///
/// ```
/// let parsed = fyke_io::rules::lines::parse("words", b"foo\r\nbar baz");
/// let second = parsed.patterns.iter().nth(1).unwrap();
/// assert_eq!((second.bytes, &*second.origin.to_string()), (&b"bar baz"[..], "words:2"));
///
/// let parsed = fyke_io::rules::lines::parse("words", b"foo\n\n");
/// assert!(parsed.errors[0].to_string().starts_with("words:2:1: empty pattern"));
/// ```
pub fn parse(file: &str, bytes: &[u8]) -> Parsed {
    let file = Arc::from(file);
    let mut parsed = Parsed::default();
    let lines = memchr::memchr_iter(b'\n', bytes).count() + 1;
    parsed.patterns.reserve(lines, bytes.len().saturating_sub(lines));
    for (line, bytes) in numbered(bytes) {
        let origin = Origin::plain(&file, line, 1);
        match check_len(bytes.len(), Kind::EmptyLine) {
            Ok(()) => parsed.patterns.push(bytes, false, &origin),
            Err(kind) => parsed.errors.push(RuleError::new(&file, (line, 1), kind)),
        }
    }
    parsed.warnings.extend(looks_like_rules(&file, bytes));
    parsed
}

/// A warning if lines look like rules of another format.
fn looks_like_rules(file: &Arc<str>, bytes: &[u8]) -> Option<RuleError> {
    let is_snort = |line: &[u8]| {
        let has = |part| memmem::find(line, part).is_some();
        snort::is_rule(line) && (has(b"content:") || has(b"sid:")) && has(b"(")
    };
    let warn = |format, is_rule: &dyn Fn(&[u8]) -> bool| {
        let mut found = numbered(bytes).filter(|(_, line)| is_rule(line.trim_ascii_start()));
        let (line, _) = found.next()?;
        let kind = Kind::LooksLike(1 + found.count() as u64, format);
        Some(RuleError::new(file, (line, 1), kind))
    };
    // Searches the whole file for a word of such rules first, because a file may have millions of
    // lines.
    if memmem::find(bytes, b"sid:").is_some() {
        return warn("snort", &is_snort);
    }
    let (strings, condition) =
        (memmem::find(bytes, b"strings:"), memmem::find(bytes, b"condition:"));
    if strings.or(condition).is_some() { warn("yara", &yara::starts_rule) } else { None }
}

/// The lines of a file with their numbers, from 1, without LF or CRLF.
pub(super) fn numbered(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let mut rest = bytes;
    (1..).map_while(move |number| {
        let end = memchr::memchr(b'\n', rest);
        let line = &rest[..end.unwrap_or(rest.len())];
        let begun = !rest.is_empty();
        rest = end.map_or(&[], |end| &rest[end + 1..]);
        begun.then(|| (number, line.strip_suffix(b"\r").unwrap_or(line)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(bytes: &[u8]) -> Vec<Vec<u8>> {
        parse("f", bytes).patterns.iter().map(|p| p.bytes.to_vec()).collect()
    }

    #[test]
    fn line_ends_are_not_part_of_a_pattern() {
        assert_eq!(texts(b"a\nb"), [b"a", b"b"]);
        assert_eq!(texts(b"a\nb\n"), [b"a", b"b"]);
        assert_eq!(texts(b"a\r\nb\r\n"), [b"a", b"b"]);
        assert_eq!(texts(b"a\\n \xff\0\r#"), [b"a\\n \xff\0\r#"]);
        assert!(texts(b"").is_empty());
    }

    #[test]
    fn an_empty_line_is_named_and_the_rest_is_read() {
        let parsed = parse("f", b"a\n\nb\n\r\n");
        assert_eq!(parsed.patterns.len(), 2);
        let at: Vec<_> = parsed.errors.iter().map(|e| (e.line(), e.column())).collect();
        assert_eq!(at, [(2, 1), (4, 1)]);
    }

    #[test]
    fn lines_that_look_like_rules_draw_a_warning() {
        let warnings = |text: &str| {
            let parsed = parse("f", text.as_bytes());
            assert!(parsed.errors.is_empty());
            parsed.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let rule = "alert tcp any any -> any any (content:\"a\"; sid:1;)\n";
        let expected = "f:2:1: from here, 2 lines are written as snort rules but searched as plain \
                        text: give the file as snort:FILE, or set its format";
        assert_eq!(warnings(&format!("# x\n{rule}{rule}")), [expected]);
        let rule = "rule a : b {\nstrings:\n$a = \"x\"\ncondition:\nany of them\n}\n";
        assert!(warnings(rule)[0].starts_with("f:1:1: from here, 1 line is written as yara rules"));
        assert_eq!(warnings("alert me\nrule the world\nsid: 7\nconditions\n"), [""; 0]);
    }

    #[test]
    fn length_limit() {
        assert!(parse("f", &[b'x'; 65_535]).errors.is_empty());
        let parsed = parse("f", &[b'x'; 65_536]);
        assert_eq!(
            parsed.errors[0].to_string(),
            "f:1:1: the pattern has 65536 bytes, the limit is 65535 bytes: shorten it"
        );
    }
}
