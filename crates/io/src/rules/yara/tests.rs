use super::*;

fn shown(text: &str) -> Vec<String> {
    let parsed = parse("r", text.as_bytes());
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let nocase = |nocase| if nocase { " nocase" } else { "" };
    let show = |p: super::super::RulePattern<'_>| {
        format!("{}{}: {}", p.bytes.escape_ascii(), nocase(p.nocase), p.origin)
    };
    parsed.patterns.iter().map(show).collect()
}

/// A rule with these strings.
fn rule(strings: &str) -> String {
    format!("rule R : tag {{ meta: a = \"}}\" b = 3 strings: {strings} condition: $a and 1 }}")
}

fn error(text: &str) -> String {
    let parsed = parse("r", text.as_bytes());
    assert!(parsed.patterns.is_empty());
    parsed.errors[0].to_string()
}

#[test]
fn text_and_hex_strings() {
    let strings = r#"$a = "q\"\\\t\n\r\x0aé" // "no"
        $b = { 4D 5a /* MZ */ 90
        00 } $ = "x;{}/" private"#;
    assert_eq!(
        shown(&rule(strings)),
        [r#"q\"\\\t\n\r\n\xc3\xa9: R $a (r:1)"#, r"MZ\x90\x00: R $b (r:2)", "x;{}/: R $ (r:3)"]
    );
}

#[test]
fn modifiers() {
    assert_eq!(
        shown(&rule(r#"$a = "ab" nocase $b = "c" wide $c = "d" wide ascii $d = "e" fullword"#)),
        [
            "ab nocase: R $a (r:1)",
            r"c\x00: R $b (r:1, wide)",
            "d: R $c (r:1)",
            r"d\x00: R $c (r:1, wide)",
            "e: R $d (r:1, fullword)"
        ]
    );
    let parsed = parse("r", rule(r#"$a = "ab" fullword ascii"#).as_bytes());
    assert_eq!(parsed.counts.fullword, 1);
    assert!(parsed.warnings.is_empty() && parsed.patterns.have_boundaries());
}

#[test]
fn what_is_not_searched_is_a_warning_and_counted() {
    let strings = "$a = /ab+\\/c{2}/is fullword $b = { 41 [2-4] 42 } $c = { 4? 41 } $d = { (41 | 42) 43 }\n\
                   $e = \"ab\" xor(0x01-0xff) $f = \"cd\" base64(\"}a\") wide $g = { ~41 } $h = \"yes\"";
    let parsed = parse("r", rule(strings).as_bytes());
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    assert_eq!((parsed.patterns.len(), parsed.counts.contents), (1, 1));
    let skipped: Vec<_> = parsed.counts.skipped.into_iter().collect();
    let expected = [
        ("base64 modifier", 1),
        ("hex alternative", 1),
        ("hex jump", 1),
        ("hex wildcard", 2),
        ("regular expression", 1),
        ("xor modifier", 1),
    ];
    assert_eq!(skipped, expected);
    let warning = parsed.warnings[4].to_string();
    assert_eq!(warning, "r:2:1: not searched (xor modifier): this string is skipped");
}

#[test]
fn conditions_and_other_items_are_skipped() {
    let text = "import \"pe\"\ninclude \"other.yar\"\n/* rule no { */ private global rule A\n{\n \
                condition: for any i in (1..3) : ( @a[i] ) and pe.x matches /}\\/\"/i }\n\
                rule B { strings: $s = \"b\" condition: all of them }";
    assert_eq!(shown(text), ["b: B $s (r:6)"]);
    let parsed = parse("r", text.as_bytes());
    assert_eq!((parsed.counts.rules, parsed.counts.without_content), (2, 1));
    assert!(parsed.warnings[0].to_string().starts_with("r:2:1: included files are not read"));
}

#[test]
fn errors_have_a_position_and_the_next_rule_is_read() {
    for (strings, expected) in [
        (r#"$a = "b\q""#, r"r:1:52: unknown escape \q: use"),
        (r#"$a = "b"#, "r:1:50: the string that starts here is not closed"),
        ("$a = { 4 }", "r:1:53:  "),
        ("$a = { 4G }", "r:1:53: G is not a hex digit"),
        ("$a = { 41 ", "r:1:"),
        (r#"$a = """#, "r:1:50: empty content"),
        (r#"$a "b""#, "r:1:48: unexpected text: write ="),
        (r#"$a = "b" upper"#, "r:1:54: unexpected text: modifiers are"),
        ("$a = b", "r:1:50: unexpected text: write"),
        ("$a = /b", "r:1:50: the regular expression that starts here is not closed"),
    ] {
        let message = error(&rule(strings));
        assert!(message.starts_with(expected.trim_end()), "{strings}: {message}");
    }
    assert!(
        error("rule R { strings: $a = \"b\"").contains("the rule that starts here is not closed")
    );
    assert!(error("/* rule").contains("the comment that starts here is not closed"));
    assert!(error("rules R { }").contains("a file consists of rules"));
    assert!(error("rule R { string: }").contains("sections are meta, strings and condition"));
    let parsed =
        parse("r", b"rule A { strings: $a = b }\nrule B { strings: $b = \"x\" condition: $b }");
    assert_eq!((parsed.errors.len(), parsed.patterns.len()), (1, 1));
}
