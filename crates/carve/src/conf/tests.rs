use super::*;
use crate::needle::Needle;
use crate::rule::Mode;

const PLAIN: Options = Options { compat: Compat::None };
const SCALPEL: Options = Options { compat: Compat::Scalpel160 };

fn rules(text: &str) -> RuleSet {
    parse(text.as_bytes(), "x.conf", PLAIN).unwrap()
}

fn error(text: &str) -> String {
    parse(text.as_bytes(), "x.conf", PLAIN).unwrap_err().to_string()
}

fn warnings(text: &str, options: Options) -> Vec<String> {
    lint(text.as_bytes(), "c", options).iter().map(ToString::to_string).collect()
}

fn bytes(text: &[u8]) -> Needle {
    Needle::Bytes { bytes: text.iter().copied().map(Some).collect(), nocase: false }
}

#[test]
fn a_rule() {
    let set = rules("\n  # comment\r\n jpg y 5:200 \\xff\\xd8 \\xff\\xd9 reverse\r\n");
    let rule = &set.rules[0];
    assert_eq!((rule.line, rule.extension.as_deref()), (3, Some("jpg")));
    assert_eq!((rule.min_len, rule.max_len, rule.mode), (5, 200, Mode::Reverse));
    assert_eq!(set.needle(rule.header), &bytes(b"\xff\xd8"));
    assert_eq!(set.needle(rule.footer.unwrap()), &bytes(b"\xff\xd9"));
}

#[test]
fn needles_are_shared_by_rules_with_the_same_case() {
    let set = rules("a y 9 ABC\nb Y 9 DEF ABC\nc n 9 ABC\n");
    assert_eq!(set.needles.len(), 3);
    assert_eq!(set.rules[1].footer, Some(set.rules[0].header));
    assert_ne!(set.rules[2].header, set.rules[0].header);
}

#[test]
fn modes_are_prefixes() {
    let text = "a y 9 ABC DEF NEXTfoo\nb y 9 ABC DEF Reverse\nc y 9 ABC DEF FORWARD_NEXT\n\
                d y 9 ABC DEF REV\n";
    let modes: Vec<_> = rules(text).rules.iter().map(|r| r.mode).collect();
    assert_eq!(modes, [Mode::Next, Mode::Reverse, Mode::Forward, Mode::Forward]);
}

#[test]
fn the_last_wildcard_holds_for_the_whole_file() {
    let set = rules("wildcard x\na y 9 A?B*\nwildcard\nWildCard *\n");
    let wild = vec![Some(b'A'), Some(b'?'), Some(b'B'), None];
    assert_eq!(set.needles, [Needle::Bytes { bytes: wild, nocase: false }]);
    let set = rules("wildcard \\x00\na y 9 A\\x00\n");
    assert_eq!(set.needles, [bytes(b"A\0")]);
}

#[test]
fn errors_say_where_and_what_to_do() {
    assert_eq!(
        error("\n  gif y 100"),
        "x.conf:2:3: a rule has at least 4 words, and this line has 3; \
         write: extension case size header [footer [mode]]"
    );
    assert_eq!(
        error("gif y 10M GIF8"),
        "x.conf:1:7: the size 10M is no number; write bytes as decimal digits: max, or min:max"
    );
    assert_eq!(
        error("# a\n"),
        "x.conf:1:1: there is no rule; remove the # before the rules that \
         you want: in Scalpel's own file it is before all of them"
    );
    assert!(error("gif y 0 GIF8").contains("x.conf:1:7: the largest size, 0, is 0"));
    assert!(error("gif y 9 G\0").contains("1:10: the line contains a NUL byte"));
    assert!(parse(b"\xff y 9 abc", "c", PLAIN).unwrap_err().what.contains("is not UTF-8"));
    let all = errors(b"a\nb y 1 abc\nc y x abc\n", "c", PLAIN);
    assert_eq!(all.iter().map(|e| e.line).collect::<Vec<_>>(), [1, 3]);
}

#[test]
fn byte_order_marks_and_returns_at_the_end() {
    assert_eq!(rules("\u{feff}# a\na y 9 ABC\r").needles, [bytes(b"ABC")]);
    let set = parse(b"a y 9 ABC\r", "c", SCALPEL).unwrap();
    assert_eq!(set.needles, [bytes(b"ABC\r")]);
}

#[test]
fn ten_thousand_rules() {
    let text: String = (0..10_000).map(|i| format!("e{i} y 100 HEAD{i} FOOT{i}\n")).collect();
    let start = std::time::Instant::now();
    let set = rules(&text);
    assert_eq!((set.rules.len(), set.needles.len()), (10_000, 20_000));
    assert_eq!(warnings(&text, PLAIN), [] as [&str; 0]);
    assert!(start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
}

#[test]
fn warnings_of_each_kind() {
    for (text, part) in [
        ("a y 9 AB\\q", "1:9: \\q is no escape, and is read as the text \\q"),
        ("a y 9 ABC\\xg", "1:10: \\xg is no escape, and is read as the text xg"),
        ("a y 9 AB", "1:7: the header has fewer than 3 bytes"),
        ("a y 9 AB??", "1:7: the header has fewer than 3 bytes"),
        ("a y 9 ???", "1:7: the header consists of wildcards"),
        ("a y 9 ABC ??", "1:11: the footer consists of wildcards"),
        ("a y 9 ABC ABC", "1:11: the footer is equal to the header"),
        ("a y 9:5 ABC", "1:5: the smallest size, 9, is above the largest, 5"),
        ("a/b y 9 ABC", "1:1: the extension a/b contains /"),
        ("abcdefgh y 9 ABC", "1:1: the extension abcdefgh has more than the 7 bytes"),
        ("nonesuch y 9 ABC", "1:1: the extension nonesuch means none"),
        ("a maybe 9 ABC", "1:3: the case maybe is read as n"),
        ("png y 9 PNG? \\xff\\xfc\\xfd\\xfe", "1:14: no PNG ends so"),
        ("zip y 9 PK\\x03\\x04 \\x3c\\xac", "1:20: no ZIP ends so"),
        ("a y 9 ABC\n\na y 9 ABC", "3:1: the rule is the same as that of line 1"),
        ("a y 9 ABC DEF NEXT x", "1:20: x is not read"),
        ("a y 9 ABC DEF REV", "1:15: the mode REV is read as FORWARD"),
        ("a y 9 ABC NEXT", "1:11: NEXT stands where the footer is"),
        ("a y 9 ABC # x", "1:11: # begins a comment only"),
        ("a y 9 /ABC", "1:7: /ABC begins with / and is read as text"),
        ("wildcard\na y 9 ABC", "1:1: the wildcard line names no byte"),
        ("wildcard ab\na y 9 ABC", "1:10: ab is more than one byte"),
        ("wildcard a c\na y 9 ABC", "1:12: c is not read"),
        ("a y 9 ABC\nwildcard a", "2:1: the wildcard holds for the rules above it too"),
        ("wildcard b\nwildcard c\na y 9 ABC", "1:1: another wildcard line follows"),
    ] {
        let found = warnings(text, PLAIN);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert!(found[0].starts_with(&format!("c:{part}")), "{text}: {found:?}");
    }
}

#[test]
fn sound_rules_have_no_warnings() {
    for text in [
        "jpg y 5:200 \\xff\\xd8\\xff /\\xff\\xd9|x/ REVERSE",
        "htm n 50000 <html </html>",
        "pst y 9 !BDN !BDN NEXT",
        "a y 9 /AB/",
    ] {
        assert_eq!(warnings(text, PLAIN), [] as [&str; 0], "{text}");
    }
}

#[test]
fn warnings_under_compatibility() {
    let found = warnings("a y 5:9 /AB/", SCALPEL);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("1:5: Scalpel 1.60 reads the size 5:9 as a number only"));
    assert!(found[1].contains("regular expressions are of Scalpel 2"));
}
