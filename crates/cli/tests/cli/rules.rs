//! Patterns as a user gives them: rules, YARA strings, encodings, formats side by side.

use crate::common::{Folder, Run};

fn lines(text: &str) -> Vec<&str> {
    text.lines().collect()
}

#[test]
fn a_pattern_may_start_with_a_dash() {
    let f = Folder::new(&[("t", b"a -foo\n--bar b\n")]);
    f.run("scan -e -foo t").expect(0, "a -foo\n");
    f.run("scan -e --bar -e -foo -c t").expect(0, "2\n");
    f.run("scan --pattern=-foo -c t").expect(0, "1\n");
}

#[test]
fn a_repeated_flag_counts_once_and_the_last_value_wins() {
    let f = Folder::new(&[("t", b"a foo\n"), ("h", b"61\n")]);
    f.run("scan -i -i -e FOO -e A -c -c -j1 -j2 t").expect(0, "2\n");
    f.run("scan -f h --patterns-format snort --patterns-format hex -c t").expect(0, "1\n");
}

const RULES: &[u8] =
    br#"alert tcp any any -> any any (msg:"m"; content:"foo"; content:!"foo"; sid:1;)
alert icmp any any -> any any (itype:8; sid:2;)
alert tcp any any -> any any (base64_data; content:"bar"; contnet:"x"; sid:3;)
include more.rules
"#;

#[test]
fn formats_stand_side_by_side() {
    let f = Folder::new(&[
        ("r", RULES),
        ("h", b"7a7a\n"),
        ("snort:x", b"plain\n"),
        ("t", b"foo zz -e\nplain\n"),
    ]);
    let run = f.run("scan -e -e -f hex:h -f snort:r -f lines:./snort:x -o -b t");
    run.expect(0, "0:foo\n0:foo\n4:zz\n7:-e\n10:plain\n");
    let run = f.run("scan -e plain -f snort:r -f hex:h t");
    let expected = "sid 1 (r:1): foo zz -e\nsid 1 (r:1, negated): foo zz -e\n\
                    pattern 5: foo zz -e\npattern 1: plain\n";
    run.expect(0, expected);
    f.run("scan -f ./snort:x t").expect(0, "plain\n");
    f.run("scan -f snort:missing t").expect_error(&["cannot read the pattern file missing"]);
    f.run_with_input("scan -f hex:- -c t", b"7a\n").expect(0, "2\n");
    f.run("scan -f hex:- -").expect_error(&["standard input cannot be both"]);
}

#[test]
fn what_rules_lose_is_said_and_counted() {
    let f = Folder::new(&[("r", RULES), ("t", b"foo bar\n")]);
    let run = f.run("scan -f snort:r --stats t");
    assert_eq!(run.code, Some(0));
    assert!(run.out.contains("sid 3 (r:3, decoded by base64_data): foo bar\n"), "{}", run.out);
    for part in [
        "fyke: warning: r:3:59: unknown option contnet: did you mean content?\n",
        "fyke: warning: r:4:1: included files are not read",
        "\nrules 3\nrules-without-content 1\ncontents 3\nnegated 1\ndecoded-buffer 1\n\
         unknown-options 1\n",
    ] {
        assert!(run.err.contains(part), "{part:?} is not in {:?}", run.err);
    }
    let run = f.run("explain -f snort:r");
    let expected = [
        "rules      3 rules, 1 without content; 3 contents, 1 negated, 1 in decoded buffers; \
         1 unknown options",
        "read       3 patterns, 0 left out as repeats",
    ];
    assert_eq!(lines(&run.out)[..2], expected);
}

#[test]
fn a_rule_without_a_parenthesis_is_not_lost() {
    let rule = "alert tcp any any -> any any (content:\"foo\"; sid:1;";
    let good = "alert tcp any any -> any any (content:\"bar\"; sid:2;)";
    let f = Folder::new(&[("r", format!("{rule}\n{good}\n").as_bytes()), ("t", b"foo bar\n")]);
    f.run("scan -f snort:r t").expect_error(&["r:1:30: the rule that starts here is not closed"]);
    let run = f.run("scan -f snort:r --skip-bad-rules --stats t");
    run.expect(0, "sid 2 (r:2): foo bar\n");
    assert!(run.err.contains("\nskipped-bad-rule 1\n"), "{}", run.err);
}

#[test]
fn rules_as_plain_lines_draw_a_warning() {
    let f = Folder::new(&[("r", RULES), ("t", b"foo\n")]);
    let run = f.run("scan -f r t");
    run.expect(1, "");
    assert!(run.err.contains("warning: r:1:1: from here, 3 lines are written as snort rules"));
    assert!(run.err.contains("give the file as snort:FILE"));
}

#[test]
fn equal_patterns_keep_their_numbers_and_files() {
    let f = Folder::new(&[("a", b"66\n6f6f\n"), ("b", b"6f6f\n66\n"), ("t", b"foo\n")]);
    f.run("scan -f hex:a -f hex:b t").expect(0, "pattern 1, 4: foo\npattern 2, 3: foo\n");
    let run = f.run("scan -f hex:a -f hex:b --json t");
    let also = r#""source":"a:2:1","also":[{"pattern":3,"source":"b:1:1"}]}"#;
    assert!(run.out.contains(also), "{}", run.out);
    let run = f.run("explain -f hex:a -f hex:b");
    assert_eq!(lines(&run.out)[0], "read       4 patterns, 2 left out as repeats");
}

#[test]
fn pattern_files_with_a_byte_order_mark() {
    let utf_16: Vec<u8> = "\u{feff}f\u{f6}\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let f = Folder::new(&[
        ("8", "\u{feff}foo\n".as_bytes()),
        ("16", &utf_16),
        ("broken", b"\xff\xfea"),
        ("t", "foo f\u{f6}\n".as_bytes()),
    ]);
    f.run("scan -f 8 -o t").expect(0, "foo\n");
    f.run("scan -f 16 -o t").expect(0, "f\u{f6}\n");
    f.run("scan -f broken t").expect_error(&[
        "broken:1:1: the file has a UTF-16 byte order mark but is not valid UTF-16",
    ]);
    let mark = f.command(["scan", "-c", "-e", "\u{feff}", "8"]).output().map(Run::from).unwrap();
    mark.expect(0, "1\n");
}

#[test]
fn yara_strings_are_searched_and_the_rest_is_counted() {
    let rules = br#"rule Shell : demo {
    strings:
        $cmd = "CMD.exe" nocase
        $w = "ab" wide ascii fullword
        $mz = { 4D 5A }
        $re = /x+/
        $jump = { 41 [2] 42 }
    condition: any of them
}
rule Empty { condition: true }
"#;
    let f = Folder::new(&[("r.yar", rules), ("t", b"cmd.EXE MZ\nab\nxab\na\0b\0\n")]);
    let run = f.run("scan -f yara:r.yar --stats t");
    run.expect(
        0,
        "Shell $cmd (r.yar:3): cmd.EXE MZ\nShell $mz (r.yar:5): cmd.EXE MZ\n\
         Shell $w (r.yar:4, fullword): ab\n\
         Shell $w (r.yar:4, wide, fullword): a\\x00b\\x00\n",
    );
    for part in [
        "fyke: warning: r.yar:6:9: not searched (regular expression): this string is skipped\n",
        "\nrules 2\nrules-without-content 1\ncontents 4\nnegated 0\nfullword 2\n\
         skipped-hex-jump 1\nskipped-regular-expression 1\n",
    ] {
        assert!(run.err.contains(part), "{part:?} is not in {:?}", run.err);
    }
    let json = f.run("scan -f yara:r.yar --json t").out;
    assert!(json.contains(r#""name":"Shell $cmd","source":"r.yar:3:9""#), "{json}");
}

#[test]
fn full_words_of_yara_rules_are_checked_in_every_mode() {
    let rules = br#"rule R { strings: $f = "needle" fullword $w = "key" wide fullword $any = "hay"
        condition: any of them }"#;
    let part = b"needle needles _needle_ 9needle hay k\0e\0y\0 k\0e\0y\0s\0\nxhayx\n";
    // Blocks and segments cut the text at other places each time.
    let text = part.repeat(40_000);
    let f = Folder::new(&[("r", rules), ("p", b"needle\nhay\n"), ("part", part), ("t", &text)]);
    let found = "R $f (r:1, fullword)\nR $f (r:1, fullword)\nR $any (r:1)\n\
                 R $w (r:1, wide, fullword)\nR $any (r:1)\n";
    let labels = |run: &Run| -> String {
        let label = |l: &str| format!("{})\n", l.split("): ").next().unwrap());
        run.out.lines().map(label).collect()
    };
    assert_eq!(labels(&f.run("scan -f yara:r -M 30 part")), found);
    for threads in ["-j1", "-j2"] {
        f.run(&format!("scan -f yara:r -c {threads} t")).expect(0, "200000\n");
        f.run(&format!("scan -f yara:r -c --lines {threads} t")).expect(0, "80000\n");
        f.run(&format!("scan -f yara:r -c -w {threads} t")).expect(0, "120000\n");
        let all = f.run(&format!("scan -f yara:r -M 30 {threads} t"));
        assert!(labels(&all) == found.repeat(40_000), "{threads}");
        f.run(&format!("scan -f yara:r -l {threads} t part p")).expect(0, "t\npart\np\n");
    }
    assert_eq!(f.run_with_input("scan -f yara:r -c", &text).out, "200000\n");
    f.run("scan -f yara:r -c --semantics once part").expect(0, "3\n");
    // The same text in a file without rules is found everywhere.
    f.run("scan -f yara:r -f lines:p -c part").expect(0, "11\n");
    let run = f.run("scan -f yara:r -f lines:p --json part");
    assert_eq!(run.out.matches(r#""remark":"fullword""#).count(), 2, "{}", run.out);
    assert_eq!(run.out.matches(r#""source":"p:1:1""#).count(), 4, "{}", run.out);
    f.run_with_input("scan -f yara:r --replace *", part)
        .expect(0, "* needles _*_ 9needle * * k\0e\0y\0s\0\nx*x\n");
}

#[test]
fn haystacks_in_utf_16_are_decoded_for_text_patterns() {
    let text = "one\nn\u{f6}\u{1f41f} two\n";
    let utf_16: Vec<u8> =
        format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let f = Folder::new(&[("t", &utf_16), ("plain", text.as_bytes())]);
    f.run("scan -b -n -e two t").expect(0, "2:12:n\u{f6}\u{1f41f} two\n");
    f.run("scan -b -n -e two plain").expect(0, "2:12:n\u{f6}\u{1f41f} two\n");
    f.run_with_input("scan -c -e two", &utf_16).expect(0, "1\n");
    f.run("scan -c --encoding none -e two t").expect(1, "0\n");
    f.run("scan -c --patterns-format hex -e 740077006f00 t").expect(0, "1\n");
}
