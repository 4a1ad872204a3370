//! `fyke carve` without a verb, and `check-conf`: Scalpel's letters, folders, bad input.

use super::common::Folder;
use std::fs;

const RULES: &[u8] = b"gif y 50 GIF8 END\nNONE y 9 ABC\n";

fn folder() -> Folder {
    let image = b"..GIF8.END..ABC...GIF8......ABC...".to_vec();
    Folder::new(&[("rules", RULES), ("disk.raw", &image), ("none.raw", b"....")])
}

/// The rows of an audit file.
fn rows(f: &Folder, output: &str) -> Vec<String> {
    let audit = fs::read_to_string(f.path().join(output).join("audit.txt")).unwrap();
    audit.lines().filter(|line| line.starts_with("0000")).map(String::from).collect()
}

#[test]
fn files_are_carved_and_listed() {
    let f = folder();
    let run = f.run("carve -c rules -o out disk.raw");
    assert_eq!((run.code, run.out.as_str()), (Some(0), "disk.raw: 3 files\n"), "{}", run.err);
    let read = |path: &str| fs::read(f.path().join("out").join(path)).unwrap();
    assert_eq!(read("gif-0-0/00000000.gif"), b"GIF8.END");
    assert_eq!(read("NONE-1-0/00000001"), b"ABC...GIF");
    assert_eq!(read("NONE-1-0/00000002"), b"ABC...");
    assert_eq!(
        rows(&f, "out"),
        [
            "00000000.gif            2\t\tNO                8\t\tdisk.raw",
            "00000001           12\t\tYES               9\t\tdisk.raw",
            "00000002           28\t\tYES               6\t\tdisk.raw",
        ]
    );
}

#[test]
fn compatibility_changes_rows() {
    let f = folder();
    assert_eq!(f.run("carve --compat 1.60 -c rules -o out disk.raw").code, Some(0));
    assert!(rows(&f, "out")[2].contains("YES               7\t"));
    let audit = fs::read_to_string(f.path().join("out/audit.txt")).unwrap();
    assert!(audit.starts_with("\nScalpel version 1.60 audit file\n"), "{audit}");
}

#[test]
fn letters_of_scalpel() {
    let f = folder();
    assert_eq!(f.run("carve -c rules -o p -p disk.raw").code, Some(0));
    assert_eq!(fs::read_dir(f.path().join("p")).unwrap().count(), 1, "audit.txt only");
    assert_eq!(rows(&f, "p").len(), 3);
    let run = f.run("carve -c rules -o b -b -O -n -v -d disk.raw");
    assert_eq!(run.code, Some(0));
    assert!(run.err.contains("00000000: 8 bytes at offset 2 of disk.raw"), "{}", run.err);
    assert_eq!(rows(&f, "b").len(), 4, "with -b the second GIF too");
    assert!(f.path().join("b/00000003").exists());
    let list = fs::read_to_string(f.path().join("b/disk.raw.hfd")).unwrap();
    assert_eq!(list, "gif\n2\n2\n18\n1\n7\n");
    assert_eq!(f.run("carve -c rules -o s -s 5 -q 4 disk.raw").code, Some(0));
    assert_eq!(rows(&f, "s").len(), 2);
    fs::write(f.path().join("list"), "disk.raw\nnone.raw\ndisk.raw\n").unwrap();
    assert_eq!(f.run("carve -c rules -o i -i list").code, Some(0));
    assert!(rows(&f, "i")[5].starts_with("00000005"));
}

#[test]
fn nothing_found_is_1() {
    let f = folder();
    let run = f.run("carve -c rules -o out none.raw");
    assert_eq!((run.code, run.out.as_str()), (Some(1), "none.raw: 0 files\n"));
}

#[test]
fn a_folder_that_is_not_empty_is_refused() {
    let f = folder();
    assert_eq!(f.run("carve -c rules -o out disk.raw").code, Some(0));
    let audit = fs::read(f.path().join("out/audit.txt")).unwrap();
    let run = f.run("carve -c rules -o out none.raw");
    assert_eq!(run.code, Some(2));
    assert!(run.err.contains("not empty") && run.err.contains("--force"), "{}", run.err);
    assert_eq!(fs::read(f.path().join("out/audit.txt")).unwrap(), audit, "nothing is written");
    assert_eq!(f.run("carve -c rules -o out --force disk.raw").code, Some(0));
    fs::remove_file(f.path().join("out/NONE-1-0/00000001")).unwrap();
    assert_eq!(f.run("carve -c rules -o out --resume disk.raw").code, Some(0));
    assert!(f.path().join("out/NONE-1-0/00000001").exists());
}

#[test]
fn bad_input_is_an_error_before_anything_is_written() {
    let f = folder();
    fs::write(f.path().join("bad"), "\ngif y 10M GIF8\n").unwrap();
    for (command, part) in [
        ("carve -c rules -o out nosuch.raw", "cannot open the image nosuch.raw"),
        ("carve -c rules -o out disk.raw nosuch.raw", "cannot open the image nosuch.raw"),
        ("carve -c rules -o out .", "is a folder"),
        ("carve -c nosuch -o out disk.raw", "cannot read the rules nosuch"),
        ("carve -c bad -o out disk.raw", "bad:2:7: the size 10M is no number"),
        ("carve -c rules -o out -s 1000 disk.raw", "-s 1000 is after the end of disk.raw"),
        ("carve -c rules -o out -", "give -p to list files only"),
        ("carve -c rules -o out", "IMAGE"),
    ] {
        let run = f.run(command);
        assert_eq!(run.code, Some(2), "{command}");
        assert!(run.err.contains(part), "{command}: {}", run.err);
        assert!(run.err.matches("os error").count() <= 1, "the cause is told once: {}", run.err);
        assert!(!f.path().join("out").exists(), "{command}");
    }
}

#[test]
fn rules_are_checked() {
    let f = folder();
    let run = f.run("carve check-conf rules");
    assert_eq!(run.code, Some(0), "{}", run.out);
    assert_eq!(run.out, "rules: 2 rules, 3 different headers and footers\n");
    fs::write(f.path().join("warn"), "gif y 10 G8\n").unwrap();
    let run = f.run("carve check-conf warn");
    assert_eq!(run.code, Some(1));
    assert!(run.out.starts_with("warn:1:10: warning: the header has fewer than 3 bytes"));
    fs::write(f.path().join("bad"), "gif y x GIF8\ngif\n").unwrap();
    let run = f.run("carve check-conf bad");
    assert_eq!(run.code, Some(2));
    assert_eq!(run.out.lines().filter(|line| line.contains(": error: ")).count(), 2);
    let run = f.run("carve -c warn -o out disk.raw");
    assert!(run.err.contains("warning: warn:1:10:"), "{}", run.err);
}

#[test]
fn standard_input_can_be_listed() {
    let f = folder();
    assert_eq!(f.run("carve -c rules -o p -p -s 3 disk.raw").code, Some(0));
    let image = fs::read(f.path().join("disk.raw")).unwrap();
    let run = f.run_with_input("carve -c rules -o q -p -s 3 -", &image);
    assert_eq!((run.code, run.out.as_str()), (Some(0), "-: 2 files\n"), "{}", run.err);
    let expected: Vec<String> = rows(&f, "p").iter().map(|r| r.replace("disk.raw", "-")).collect();
    assert_eq!(rows(&f, "q"), expected);
    f.run("carve -c rules -o r -p - -").expect_error(&["once"]);
    f.run("carve -c rules -o r -p --validate -").expect_error(&["validate", "-p"]);
}

#[test]
fn validity_is_a_column_and_no_row_is_left_out() {
    let f = folder();
    let gif = b"GIF89a\x01\x00\x01\x00\x00\x00\x00\x2c\0\0\0\0\x01\0\x01\0\0\x02\x01\x44\x00\x3b";
    f.write("gifs.raw", &[&gif[..], b"..GIF89abad\x00\x3b", b"..ABC......"].concat());
    f.write("gifs", b"gif y 500 GIF89a \\x00\\x3b\nNONE y 9 ABC\n");
    let run = f.run("carve -c gifs -o out --validate gifs.raw");
    assert_eq!(run.out, "gifs.raw: 3 files (1 valid, 1 not valid, 1 unknown)\n", "{}", run.err);
    let rows = rows(&f, "out");
    let words: Vec<&str> = rows.iter().map(|row| row.rsplit('\t').next().unwrap()).collect();
    assert_eq!(words, ["yes", "no", "unknown"]);
    assert_eq!(fs::read(f.path().join("out/gif-0-0/00000000.gif")).unwrap(), gif);
    let run = f.run("carve --compat 1.60 -c gifs -o other --validate gifs.raw");
    assert_eq!(run.code, Some(2));
}
