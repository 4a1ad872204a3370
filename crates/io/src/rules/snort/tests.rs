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
    let parsed = parse("r", text.as_bytes(), &Options { commented: true, ..Options::default() });
    assert_eq!((parsed.patterns.len(), parsed.errors.len()), (1, 0));
}

#[test]
fn a_repeated_content_keeps_its_record_and_is_searched_once() {
    let rule =
        r#"alert ip any any -> any any (content:"a"; content:"a"; content:"a"; nocase; sid:1;)"#;
    assert_eq!(contents(rule).len(), 3);
    let set = parse_default(rule).patterns.pattern_set(false).unwrap();
    assert_eq!(set.id_count(), 2);
}

#[test]
fn misspelled_options_and_includes_are_warnings() {
    let text = "include other.rules\nalert ip any any -> any any (contnet:\"x\"; content:\"y\"; \
                from_the_future:1; sid:1;)\n# include no.rules\n";
    let parsed = parse_default(text);
    let warnings: Vec<_> = parsed.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "r:1:1: included files are not read: give each file with its own -f",
            "r:2:30: unknown option contnet: did you mean content?"
        ]
    );
    assert_eq!((parsed.patterns.len(), parsed.counts.unknown_options), (1, 2));
}

#[test]
fn what_was_read_is_counted() {
    let text = r#"alert ip any any -> any any (content:"a"; content:!"a"; sid:1;)
alert icmp any any -> any any (itype:8; sid:2;)
alert icmp any any -> any any
alert ip any any -> any any (content:"a"
# alert ip any any -> any any (content:"b"; sid:4;)"#;
    let counts = parse_default(text).counts;
    assert_eq!((counts.rules, counts.without_content, counts.contents), (3, 2, 2));
    assert_eq!((counts.negated, &counts.skipped["bad rule"]), (1, &1));
    let shown = "3 rules, 2 without content; 2 contents, 1 negated; skipped 1 (bad rule)";
    assert_eq!(counts.to_string(), shown);
}

#[test]
fn contents_of_decoded_buffers_are_marked() {
    let rule = r#"alert http any any -> any any (content:"a"; base64_decode:relative; base64_data; content:"b"; content:!"b"; pkt_data; content:"c"; dns.query; dotprefix; content:".d"; http.uri; content:"e"; sid:1;)"#;
    let parsed = parse_default(rule);
    let origins: Vec<_> = parsed.patterns.iter().map(|p| p.origin.to_string()).collect();
    assert_eq!(
        origins,
        [
            "sid 1 (r:1)",
            "sid 1 (r:1, decoded by base64_data)",
            "sid 1 (r:1, negated, decoded by base64_data)",
            "sid 1 (r:1)",
            "sid 1 (r:1, decoded by dotprefix)",
            "sid 1 (r:1)"
        ]
    );
    assert_eq!((parsed.counts.decoded, parsed.warnings.len()), (3, 0));
}

#[test]
fn a_rule_without_one_of_its_parentheses_is_an_error() {
    for (rule, expected) in [
        (r#"alert ip any any -> any any content:"a"; sid:1;)"#, "r:1:37: the rule has no opening"),
        (r#"alert ip any any -> any any (content:"a"; sid:1;"#, "r:1:29: the rule that starts"),
        (
            r#"alert ip any any -> any any (reference:url,a(b); content:"a"; sid:1;"#,
            "r:1:48: text after the closing parenthesis",
        ),
        (r#"alert ip any any -> any any (sid:1;) x"#, "r:1:38: text after the closing"),
    ] {
        let parsed = parse_default(rule);
        assert!(parsed.patterns.is_empty());
        assert_eq!(parsed.errors.len(), 1, "{rule}");
        let message = parsed.errors[0].to_string();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_rule() {
    let rule = "alert ip any any -> any any (content:\"\u{e9}\"; sid:1;)";
    let parse = |bytes: &[u8]| {
        crate::rules::parse(crate::rules::Format::Snort, "r", bytes, &Options::default())
    };
    let utf_8 = parse(format!("\u{feff}{rule}").as_bytes());
    let utf_16: Vec<u8> =
        format!("\u{feff}{rule}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for parsed in [utf_8, parse(&utf_16)] {
        assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
        assert_eq!(parsed.patterns.iter().next().unwrap().bytes, "\u{e9}".as_bytes());
    }
    let error = parse(b"\xff\xfea").errors[0].to_string();
    assert_eq!(
        error,
        "r:1:1: the file has a UTF-16 byte order mark but is not valid UTF-16: save it as UTF-8"
    );
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
