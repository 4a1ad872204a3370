//! `fyke compile` and `--database`: the same results as with the patterns, and bad databases.

use crate::common::{Folder, Run};
use std::fs;

const RULES: &[u8] =
    br#"alert tcp any any -> any any (msg:"m"; content:"foo"; content:!"foo"; sid:1;)
alert icmp any any -> any any (itype:8; sid:2;)
alert tcp any any -> any any (base64_data; content:"BAR"; nocase; content:"foo"; sid:3;)
"#;
const YARA: &[u8] =
    br#"rule r { strings: $a = "foo" fullword $b = "oo" wide $c = /x+/ condition: any of them }"#;
const DATA: &[u8] = b"foo bar\nfood Bar o\0o\0\nplain Plain\nneedle\n";

fn folder() -> Folder {
    let files: [(&str, &[u8]); 5] = [
        ("r", RULES),
        ("y", YARA),
        ("w", b"plain\nneedle\nfoo\nplain\n"),
        ("h", b"666f6f\n00\n"),
        ("t", DATA),
    ];
    Folder::new(&files)
}

/// The patterns of the tests, as flags.
const SETS: [&str; 6] = [
    "-f w",
    "-e foo -e Needle -i",
    "-f snort:r",
    "-f yara:y -f snort:r",
    "-f hex:h -f w --engine ac-dfa:form=dense",
    "-f snort:r --patterns-format hex -e 00 --engine naive",
];

/// The lines that do not tell a time.
fn timeless(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("seconds ")).collect()
}

#[test]
fn scans_with_a_database_print_the_same() {
    let f = folder();
    for set in SETS {
        let compiled = f.run(&format!("compile {set} -o db"));
        assert_eq!(compiled.code, Some(0), "{set}: {}", compiled.err);
        assert!(compiled.out.starts_with("db: ") && compiled.out.ends_with(" bytes\n"));
        for how in ["", "-b", "-c", "-o --no-label", "--lines -n", "--json", "--stats -q", "-w -b"]
        {
            let plain = f.run(&format!("scan {set} {how} t"));
            let stored = f.run(&format!("scan --database db {how} t"));
            assert_eq!(stored.code, plain.code, "{set} {how}: {}", stored.err);
            if how == "--json" {
                // The summary has the time.
                let lines = |run: &Run| run.out.lines().rev().skip(1).count();
                assert_eq!(lines(&stored), lines(&plain));
                continue;
            }
            assert_eq!(timeless(&stored.out), timeless(&plain.out), "{set} {how}");
            if !set.contains("snort") {
                assert_eq!(timeless(&stored.err), timeless(&plain.err), "{set} {how}");
            }
        }
    }
}

#[test]
fn rules_and_their_counts_travel_with_the_database() {
    let f = folder();
    f.run("compile snort:r yara:y -o db");
    let run = f.run("scan --database db t");
    for label in ["sid 1 (r:1): foo bar", "sid 1 (r:1, negated): foo bar", "r $a (y:1, fullword)"] {
        assert!(run.out.contains(label), "{}", run.out);
    }
    assert!(run.out.contains("sid 3 (r:3, decoded by base64_data): foo bar"), "{}", run.out);
    let stats = f.run("scan --database db --stats -q t").err;
    for line in ["rules 4\n", "rules-without-content 1\n", "negated 1\n", "fullword 1\n"] {
        assert!(stats.contains(line), "{stats}");
    }
    let explained = f.run("explain --database db");
    assert_eq!(explained.code, Some(0), "{}", explained.err);
    let plain = f.run("explain -f snort:r -f yara:y");
    let head = |run: &Run| run.out.lines().take(4).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(head(&explained), head(&plain));
}

#[test]
fn a_database_names_the_engine_and_another_can_be_asked_for() {
    let f = folder();
    f.run("compile w --engine ac-nfa -o db");
    let engine = |args: &str| {
        let run = f.run(&format!("scan --database db --stats -q {args} t"));
        let line = run.err.lines().find(|line| line.starts_with("engine ")).map(str::to_owned);
        line.unwrap_or_else(|| panic!("{}", run.err))
    };
    assert!(engine("").contains("ac-nfa"));
    assert!(engine("--engine auto").contains("ac-nfa"));
    assert!(engine("--engine naive").contains("naive"));
    f.run("compile --database db --engine naive -o other").expect(
        0,
        &format!(
            "other: 3 patterns for naive, {} bytes\n",
            fs::metadata(f.path().join("other")).unwrap().len()
        ),
    );
}

#[test]
fn output_is_written_whole_or_not_at_all() {
    let f = folder();
    let piped = f.run("compile w -o -");
    assert_eq!(piped.code, Some(0), "{}", piped.err);
    f.run("compile w -o db");
    assert_eq!(piped.raw, fs::read(f.path().join("db")).unwrap(), "the same bytes every time");
    let old = fs::read(f.path().join("db")).unwrap();
    f.run("compile w --memory-limit 1 -o db").expect_error(&["engine auto: needs"]);
    f.run("compile missing -o db").expect_error(&["cannot read the pattern file missing"]);
    assert_eq!(fs::read(f.path().join("db")).unwrap(), old);
    f.run("compile w -o none/db").expect_error(&["cannot write the database none/db: "]);
    f.run("compile w").expect_error(&["--output"]);
    f.run("compile -o db").expect_error(&["no patterns"]);
    let names = fs::read_dir(f.path()).unwrap().map(|e| e.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("part")));
}

#[test]
fn what_was_decided_at_compile_time_is_refused_later() {
    let f = folder();
    f.run("compile w -o db");
    for flags in ["-e x", "-f w", "-i", "-S", "--patterns-format hex", "--skip-bad-rules"] {
        let run = f.run(&format!("scan --database db {flags} t"));
        run.expect_error(&["cannot be used with", "--database"]);
    }
    f.run("compile w --database db -o other").expect_error(&["cannot be used with"]);
}

#[test]
fn bad_databases_end_with_an_error_that_says_which() {
    let f = folder();
    f.run("compile snort:r -o db");
    let good = fs::read(f.path().join("db")).unwrap();
    let bad = |change: &dyn Fn(&mut Vec<u8>), parts: &[&str]| {
        let mut bytes = good.clone();
        change(&mut bytes);
        f.write("bad", &bytes);
        for verb in
            ["scan --database bad t", "explain --database bad", "compile --database bad -o o"]
        {
            let run = f.run(verb);
            run.expect_error(&["fyke: cannot use the database bad: "]);
            run.expect_error(parts);
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
    };
    let truncated = format!("truncated: it has 100 bytes of {}", good.len());
    bad(&|b| b.truncate(100), &[&truncated]);
    bad(&|b| b.truncate(40), &["truncated: it has 40 bytes of 64"]);
    bad(&|b| b.truncate(0), &["not a fyke database"]);
    bad(&|b| b[0] ^= 1, &["not a fyke database", "`fyke compile` writes one"]);
    bad(&|b| b[12] = 9, &["format version 9, this build reads version 1: use a newer fyke"]);
    bad(&|b| b[8..12].reverse(), &["other endianness: compile the patterns again"]);
    bad(&|b| b[40] ^= 1, &["damaged: header: the checksum differs"]);
    bad(&|b| b[64 + 24] ^= 1, &["damaged: header: the checksum differs"]);
    let last = good.len() - 1;
    bad(&|b| b[last] ^= 1, &["damaged: attachment 1: the checksum differs"]);
    bad(&|b| b.push(0), &["damaged: file: there are bytes after its end"]);
    f.run("scan --database nowhere t").expect_error(&["cannot use the database nowhere: "]);
    f.run("scan --database . t").expect_error(&["cannot use the database .: "]);
    // Databases of programs have no origins.
    bad(&|b| *b = b"alert ip any any".to_vec(), &["not a fyke database"]);
}
