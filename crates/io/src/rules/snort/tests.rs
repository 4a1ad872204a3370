use super::*;
use crate::rules::RulePattern;

fn parse_default(text: &str) -> Parsed {
    parse("r", text.as_bytes(), &Options::default())
}

fn contents(text: &str) -> Vec<(String, bool, bool)> {
    let parsed = parse_default(text);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let show =
        |p: RulePattern<'_>| (p.bytes.escape_ascii().to_string(), p.nocase, p.origin.negated);
    parsed.patterns.iter().map(show).collect()
}

fn error(options: &str) -> String {
    let parsed = parse_default(&format!("alert tcp any any -> any any ({options} sid:1;)"));
    assert!(parsed.patterns.is_empty());
    parsed.errors[0].to_string()
}

#[test]
fn snort_2_modifiers_belong_to_the_content_before_them() {
    let rule = r#"alert tcp a any -> b any (msg:"x"; content:"GET"; depth:3; content: !"Aa|20 0d0A|" ; nocase; uricontent:"/x"; sid:3;)"#;
    let expected = [("GET", false, false), (r"Aa \r\n", true, true), ("/x", false, false)];
    assert_eq!(contents(rule), expected.map(|(s, n, neg)| (s.to_owned(), n, neg)));
}

#[test]
fn snort_3_modifiers_stand_inside() {
    let rule = r#"alert http ( content:"USER",nocase; content:"w0rm",distance 1, nocase ,fast_pattern; content:"x",depth 9; )"#;
    let flags: Vec<bool> = contents(rule).iter().map(|c| c.1).collect();
    assert_eq!(flags, [true, true, false]);
}

#[test]
fn escapes_and_delimiters_inside_strings() {
    let rule = r#"alert ip any any -> any any (msg:"a\;(b; c)"; content:"q\"\\\;\:,;)("; sid:1;)"#;
    assert_eq!(contents(rule)[0].0, r#"q\"\\;:,;)("#);
}

#[test]
fn a_stray_quote_in_another_option_does_no_harm() {
    let rule = r#"alert ip any any -> any any (content:"a"; pcre:/J\d/Vi"; reference:url,x(y); content:"b"; sid:5;)"#;
    let parsed = parse_default(rule);
    assert_eq!((parsed.patterns.len(), parsed.errors.len()), (2, 0));
    assert_eq!(parsed.patterns.iter().nth(1).unwrap().origin.to_string(), "sid 5 (r:1)");
}

#[test]
fn rules_over_several_lines_keep_their_positions() {
    let text = "alert tcp any any -> any any (msg:\"m\"; \\\n  content:\"ab\"; \\\r\n content:\"cd\"; sid:9;)\n";
    let parsed = parse_default(text);
    let at: Vec<_> = parsed.patterns.iter().map(|p| (p.origin.line, p.origin.column)).collect();
    assert_eq!(at, [(2, 11), (3, 10)]);
    assert_eq!(parsed.patterns.iter().nth(1).unwrap().origin.to_string(), "sid 9 (r:3)");

    let text = "alert http\n(\n content:\"ab\";\n sid:9;\n)\nalert ip (content:\"c\"; )";
    assert_eq!(contents(text).len(), 2);
    let text = "alert http (\n content:\"ab\";\n reference:url,a(b);\n sid:9;\n)\nalert ip (content:\"c\"; )";
    assert_eq!(contents(text).len(), 2);
}

#[test]
fn comments_are_skipped_unless_asked_for() {
    let text = "# alert tcp any any -> any any (content:\"a\"; sid:1;)\n#alert us (all) \\x\n#\n\nvar X any\n";
    assert!(contents(text).is_empty());
    let parsed = parse("r", text.as_bytes(), &Options { commented: true });
    assert_eq!((parsed.patterns.len(), parsed.errors.len()), (1, 0));
}

#[test]
fn a_repeated_content_counts_once_for_its_rule() {
    let rule =
        r#"alert ip any any -> any any (content:"a"; content:"a"; content:"a"; nocase; sid:1;)"#;
    assert_eq!(contents(rule).len(), 2);
}

#[test]
fn errors_have_a_position_and_a_correction() {
    for (options, expected) in [
        (r#"content:"a|4|";"#, "r:1:42: odd number of hex digits: write each byte as two digits"),
        (r#"content:"a|4g|";"#, "r:1:43: g is not a hex digit"),
        (
            r#"content:"a|41";"#,
            "r:1:41: the hex bytes that start here are not closed: end them with |",
        ),
        (
            r#"content:"a\n";"#,
            r#"r:1:41: unknown escape \n: use \" \; \: or \\, or write the byte in hex as |6e|"#,
        ),
        (r#"content:"";"#, "r:1:39: empty content: it would match everywhere"),
        ("content:abc;", "r:1:39: the content is not in quotes"),
        (r#"content:"abc;"#, "r:1:39: the string that starts here is not closed"),
        (r#"content:"a"b;"#, "r:1:42: expected , or ; after the closing quote"),
        ("nocase;", "r:1:31: nocase before any content"),
        ("sid:x;", "r:1:35: the sid is not a number"),
    ] {
        let message = error(options);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn an_open_rule_does_not_swallow_the_next_one() {
    let text = "alert tcp any any -> any any (content:\"a\"; sid:1;\nalert ip any any -> any any (content:\"b\"; sid:2;)";
    let parsed = parse_default(text);
    assert_eq!(parsed.patterns.len(), 1);
    assert_eq!(
        parsed.errors[0].to_string(),
        "r:1:30: the rule that starts here is not closed: end it with )"
    );
}

#[test]
fn a_line_that_is_no_rule_is_an_error() {
    let parsed = parse_default("allert tcp any any (content:\"a\";)\n;x\n");
    let messages: Vec<_> = parsed.errors.iter().map(ToString::to_string).collect();
    assert!(messages[0].starts_with("r:1:1: \"allert\" starts neither a rule nor"), "{messages:?}");
    assert!(messages[1].starts_with("r:2:1: \";\" starts"), "{messages:?}");
}
