//! Every form of output of `fyke scan`.

use crate::common::{Folder, Run};
use serde_json::Value;

const RULES: &[u8] =
    br#"alert tcp any any -> any any (msg:"first"; content:"al|70|ha"; nocase; sid:11;)
alert tcp any any -> any any (msg:"second"; content:!"beta"; sid:12;)
"#;

fn folder() -> Folder {
    Folder::new(&[
        ("a.txt", b"one alpha two\nbeta beta\n\nend alpha"),
        ("b.bin", b"\0\x01ALPHA\xff\n"),
        ("sub/.hidden", b"beta\n"),
        ("none", b"nothing here\n"),
        ("hex", b"616c7068 # alph\n00\n"),
        ("web.rules", RULES),
    ])
}

#[test]
fn a_match_a_line_as_grep_prints_it() {
    let f = folder();
    f.run("scan -e alpha -e beta a.txt")
        .expect(0, "one alpha two\nbeta beta\nbeta beta\nend alpha\n");
    f.run("scan -e alpha -n a.txt").expect(0, "1:one alpha two\n4:end alpha\n");
    f.run("scan -e alpha -nbH a.txt").expect(0, "a.txt:1:4:one alpha two\na.txt:4:29:end alpha\n");
    f.run("scan -e alpha a.txt none b.bin").expect(0, "a.txt:one alpha two\na.txt:end alpha\n");
    f.run("scan -e alpha -I -i a.txt b.bin")
        .expect(0, "one alpha two\nend alpha\n\\x00\\x01ALPHA\\xff\n");
    f.run("scan -e zzz a.txt").expect(1, "");
}

#[test]
fn overlapping_matches_come_in_canonical_order() {
    let f = Folder::new(&[("t", b"ushers")]);
    let out = "1:ushers\n2:ushers\n2:ushers\n";
    f.run("scan -b -e hers -e she -e he t").expect(0, out);
    f.run("scan -bo -e hers -e she -e he t").expect(0, "1:she\n2:he\n2:hers\n");
}

#[test]
fn labels_name_the_pattern_or_the_rule() {
    let f = folder();
    f.run("scan --patterns-format hex -f hex -b a.txt")
        .expect(0, "4:pattern 1: one alpha two\n29:pattern 1: end alpha\n");
    f.run("scan --patterns-format snort -f web.rules b.bin")
        .expect(0, "sid 11 (web.rules:1): \\x00\\x01ALPHA\\xff\n");
    f.run("scan --patterns-format snort -f web.rules -H sub/.hidden")
        .expect(0, "sub/.hidden:sid 12 (web.rules:2, negated): beta\n");
    f.run("scan --patterns-format hex -f hex --no-label a.txt")
        .expect(0, "one alpha two\nend alpha\n");
}

#[test]
fn only_matching_prints_raw_bytes() {
    let f = folder();
    let run = f.run("scan --patterns-format hex -e 00014100 -e 0001 -o b.bin");
    assert_eq!(run.raw, b"\0\x01\n");
}

#[test]
fn counts_paths_and_quiet() {
    let f = folder();
    f.run("scan -c -e beta a.txt").expect(0, "2\n");
    f.run("scan -c -e beta a.txt none sub").expect(0, "a.txt:2\nnone:0\nsub/.hidden:1\n");
    f.run("scan -l -e beta a.txt none sub").expect(0, "a.txt\nsub/.hidden\n");
    f.run("scan -q -e beta a.txt").expect(0, "");
    f.run("scan -q -c -e beta a.txt").expect(0, "");
    f.run("scan -c -l -e beta a.txt").expect(0, "a.txt\n");
    f.run("scan -q -e zzz a.txt").expect(1, "");
    f.run("scan -c -e zzz a.txt").expect(1, "0\n");
}

#[test]
fn lines_are_greps_unit() {
    let f = folder();
    f.run("scan --lines -e beta -e e -n a.txt")
        .expect(0, "1:one alpha two\n2:beta beta\n4:end alpha\n");
    f.run("scan --lines -c -e beta -e e a.txt").expect(0, "3\n");
}

#[test]
fn folders_are_walked_with_hidden_files() {
    let f = folder();
    f.run("scan -e beta sub").expect(0, "sub/.hidden:beta\n");
    f.write("sub/.gitignore", b".hidden\n");
    f.run("scan -e beta sub").expect(0, "sub/.hidden:beta\n");
    f.run("scan -e beta --gitignore sub").expect(1, "");
}

#[test]
fn standard_input() {
    let f = folder();
    f.run_with_input("scan -e b -n", b"a\nb").expect(0, "2:b\n");
    f.run_with_input("scan -e b -nH - none", b"a\nb").expect(0, "<stdin>:2:b\n");
    f.run_with_input("scan -f - a.txt -c", b"beta\nalpha\n").expect(0, "4\n");
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let line = [b"x".repeat(500), b"needle".to_vec(), b"y".repeat(500)].concat();
    let f = Folder::new(&[("t", &line)]);
    let side = |c: &str| c.repeat(57);
    f.run("scan -e needle t").expect(0, &format!("...{}needle{}...\n", side("x"), side("y")));
    f.run("scan -e needle --max-columns 10 t").expect(0, "...xxneedleyy...\n");
    let whole = format!("{}\n", String::from_utf8_lossy(&line));
    f.run("scan -e needle --max-columns 0 t").expect(0, &whole);
    f.run("scan -e needle --lines t").expect(0, &whole);
}

#[test]
fn colors() {
    let f = folder();
    let colored = "\x1b[35ma.txt\x1b[0m:\x1b[32m1\x1b[0m:one \x1b[1;31malpha\x1b[0m two\n";
    let run = f.run("scan -e alpha --semantics once -nH --color always a.txt");
    run.expect(0, colored);
    let force = |args: &str| {
        let mut command = f.command(args.split_whitespace());
        Run::from(command.env("CLICOLOR_FORCE", "1").output().unwrap())
    };
    force("scan -e alpha --semantics once -nH a.txt").expect(0, colored);
    force("scan -e alpha --semantics once -nH --color never a.txt")
        .expect(0, "a.txt:1:one alpha two\n");
}

#[test]
fn semantics_choose_what_is_reported() {
    let f = Folder::new(&[("t", b"abcabcd abc")]);
    let run = |s: &str| f.run(&format!("scan -e abc -e abcd -e bc -bo --semantics {s} t"));
    run("once").expect(0, "0:abc\n1:bc\n3:abcd\n");
    run("leftmost-first").expect(0, "0:abc\n3:abc\n8:abc\n");
    run("leftmost-longest").expect(0, "0:abc\n3:abcd\n8:abc\n");
    run("standard").expect(0, "0:abc\n3:abc\n8:abc\n");
    run("most").expect_error(&["leftmost-longest"]);
}

#[test]
fn semantics_of_large_files_and_streams_agree() {
    let text = [b"abcd ".repeat(200_000), b"the end of abc".to_vec()].concat();
    let f = Folder::new(&[("t", &text)]);
    for semantics in ["all", "once", "leftmost-longest"] {
        let line = format!("scan -e abc -e abcd -e bc -n -b --semantics {semantics}");
        let one = f.run(&format!("{line} -j1 t"));
        assert!(one.code == Some(0) && one.out.lines().count() >= 3);
        assert_eq!(f.run(&format!("{line} -j3 t")).out, one.out, "{semantics}");
        assert_eq!(f.run_with_input(&line, &text).out, one.out, "{semantics}");
    }
}

#[test]
fn context_reaches_over_the_seams_of_blocks() {
    let line = b"0123456789 needle 0123456789 line\n";
    let text = line.repeat(100_000);
    let f = Folder::new(&[("t", &text)]);
    for args in ["scan -e needle -j1 t", "scan -e needle -j2 t", "scan -e needle t"] {
        assert_eq!(f.run(args).raw, text);
    }
    assert_eq!(f.run_with_input("scan -e needle", &text).raw, text);
    assert_eq!(f.run_with_input("scan --lines -e needle", &text).raw, text);
}

#[test]
fn long_lines_are_whole_over_the_seams_of_blocks() {
    let line =
        [&b"0123456789".repeat(300)[..], b" needle ", &b"9876543210".repeat(300), b"\n"].concat();
    let text = line.repeat(300);
    let f = Folder::new(&[("t", &text)]);
    assert!(f.run("scan --lines -e needle -j1 t").raw == text);
    assert!(f.run("scan --lines -e needle -j2 t").raw == text);
    assert!(f.run_with_input("scan --lines -e needle", &text).raw == text);
}

fn records(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn json_records() {
    let f = folder();
    let run = f.run("scan --json -n --patterns-format snort -f web.rules a.txt none b.bin");
    let all = records(&run.out);
    let kinds: Vec<_> = all.iter().map(|r| r["type"].as_str().unwrap()).collect();
    let expected =
        ["begin", "match", "match", "match", "match", "end", "begin", "match", "end", "summary"];
    assert_eq!(kinds, expected);
    let first = &all[1];
    assert_eq!(first["path"]["text"], "a.txt");
    assert_eq!((first["start"].as_u64(), first["end"].as_u64()), (Some(4), Some(9)));
    assert_eq!((first["sid"].as_u64(), first["msg"].as_str()), (Some(11), Some("first")));
    assert_eq!(first["source"], "web.rules:1:52");
    assert_eq!(all[4]["line"], 4);
    let summary = all.last().unwrap();
    assert_eq!((summary["files"].as_u64(), summary["matches"].as_u64()), (Some(3), Some(5)));
}

#[test]
fn json_bytes_that_are_not_text() {
    let f = Folder::new(&[("t", b"x\xff\xfey")]);
    let run = f.run("scan --json --patterns-format hex -e fffe t");
    assert_eq!(records(&run.out)[1]["matched"]["bytes"], "//4=");
}

/// Checks the lines that scripts rely on.
#[track_caller]
fn check_stats(err: &str, matches: u64, distinct: u64, bytes: u64) {
    let lines: Vec<Vec<&str>> = err.lines().map(|l| l.split(' ').collect()).collect();
    let names: Vec<&str> = lines.iter().map(|l| l[0]).collect();
    assert_eq!(names, ["matches", "distinct", "fingerprint", "engine", "bytes", "seconds"]);
    assert!(lines.iter().all(|l| l.len() == 2), "{err}");
    assert_eq!(lines[0][1], matches.to_string());
    assert_eq!(lines[1][1], distinct.to_string());
    assert!(lines[2][1].len() == 16 && u64::from_str_radix(lines[2][1], 16).is_ok(), "{err}");
    assert_eq!(lines[4][1], bytes.to_string());
    assert!(lines[5][1].parse::<f64>().is_ok_and(|s| s < 600.0), "{err}");
}

#[test]
fn stats_are_six_lines_in_every_mode() {
    let f = folder();
    let mut fingerprints = Vec::new();
    for mode in ["", "-q", "-c", "-l", "--json", "-j3", "--lines"] {
        let run = f.run(&format!("scan --stats {mode} -e alpha -e beta a.txt sub"));
        let lines = mode == "--lines";
        check_stats(&run.err, if lines { 4 } else { 5 }, 2, 39);
        fingerprints.push(run.err.lines().nth(2).unwrap().to_owned());
    }
    assert!(fingerprints.iter().all(|f| *f == fingerprints[0]));
}

#[test]
fn every_engine_gives_the_same_stats() {
    let f = folder();
    for engine in ["naive", "ac-nfa", "ac-dfa", "ac-dfa:form=dense", "auto"] {
        let run = f.run(&format!(
            "scan --engine {engine} --stats -q --patterns-format hex -f hex a.txt b.bin"
        ));
        check_stats(&run.err, 3, 2, 43);
        assert!(run.err.contains("\nengine "));
    }
}
