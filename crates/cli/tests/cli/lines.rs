//! `--lines` and the flags that people bring from grep and ripgrep.

use crate::common::Folder;

#[test]
fn lines_are_their_own_bytes() {
    let f = Folder::new(&[("t", b"one\r\nab\0c\xff\r\nx\nend o")]);
    f.run("scan --lines -e o t").expect(0, "one\r\nend o\n");
    assert_eq!(f.run("scan --lines -b -e c -e b t").raw, b"5:ab\0c\xff\r\n");
    assert_eq!(
        f.run("scan --lines -b -n -e x -C1 t").raw,
        b"2-5-ab\0c\xff\r\n3:12:x\n4-14-end o\n"
    );
}

#[test]
fn a_match_over_lines_selects_each_of_them() {
    let f = Folder::new(&[("t", b"a\nb1\n2c\nd\n1\n2\n"), ("hex", b"310a32\n")]);
    let run = |args: &str| f.run(&format!("scan --patterns-format hex -f hex {args} t"));
    run("--lines -n").expect(0, "2:b1\n3:2c\n5:1\n6:2\n");
    run("--lines -c").expect(0, "4\n");
    run("-v -n").expect(0, "1:a\n4:d\n");
    run("--lines -n --column").expect(0, "2:2:b1\n3:1:2c\n5:1:1\n6:1:2\n");
    run("--lines -m 1").expect(0, "b1\n");
    run("-n -b --no-label").expect(0, "2:3:b1\\x0a2c\n5:10:1\\x0a2\n");
}

#[test]
fn every_match_of_a_line_is_colored() {
    let f = Folder::new(&[("t", b"ab cab b\n")]);
    let hit = |s: &str| format!("\x1b[1;31m{s}\x1b[0m");
    let line = format!("{} c{} {}\n", hit("ab"), hit("ab"), hit("b"));
    f.run("scan --lines --color always -e ab -e b t").expect(0, &line);
    let cut = format!("a{} {}...\n", hit("b"), hit("cab"));
    f.run("scan --lines --color always -M 6 -e cab -e b t").expect(0, &cut);
}

#[test]
fn no_limit_of_columns_means_none() {
    let line = [b"x".repeat(3_000_000), b"needle".to_vec(), b"y".repeat(3_000_000)].concat();
    let text = [&b"first\n"[..], &line, b"\nlast\n"].concat();
    let f = Folder::new(&[("t", &text)]);
    let expected = [&line[..], b"\n"].concat();
    for args in [
        "scan --max-columns 0 -e needle",
        "scan --lines -e needle",
        "scan --vimgrep -I -N -e needle",
    ] {
        let column = if args.contains("vimgrep") { &b"3000001:"[..] } else { b"" };
        let expected = [column, &expected].concat();
        assert!(f.run(&format!("{args} t")).raw == expected, "{args}");
        assert!(f.run_with_input(args, &text).raw == expected, "{args} of a pipe");
    }
    let context = f.run_with_input("scan -C1 -n -e needle", &text);
    assert!(context.out.starts_with("1-first\n2:xx") && context.out.ends_with("y\n3-last\n"));
}

#[test]
fn the_last_of_repeated_flags_counts() {
    let f = Folder::new(&[("t", b"A\na\n")]);
    f.run("scan -e a -n -n -c -c --engine naive --engine auto -j1 -j 2 -m1 -m9 t").expect(0, "1\n");
    f.run("scan -e a -n -N t").expect(0, "a\n");
    f.run("scan -e a -N -n t").expect(0, "2:a\n");
    f.run("scan -e a -i --case-sensitive t").expect(0, "a\n");
    f.run("scan -e a --case-sensitive -S t").expect(0, "A\na\n");
    f.run("scan -e A -S t").expect(0, "A\n");
    f.run("scan -e a -H -I t").expect(0, "a\n");
}

#[test]
fn flags_for_what_fyke_does_anyway_have_no_effect() {
    let f = Folder::new(&[("t", b"a\0\n")]);
    f.run("scan -rFaU -uuu -. --no-ignore --hidden --text --binary --line-buffered -e a -c t")
        .expect(0, "1\n");
}

#[test]
fn files_are_selected_by_glob_type_and_name() {
    let f = Folder::new(&[
        ("d/a.rs", b"x\n"),
        ("d/b.log", b"x\n"),
        ("d/.h/c.rs", b"x\n"),
        ("d/target/e.rs", b"x\n"),
    ]);
    let run = |args: &str, out: &str| f.run(&format!("scan -l -e x {args} d")).expect(0, out);
    run("-g *.rs", "d/.h/c.rs\nd/a.rs\nd/target/e.rs\n");
    run("--include *.rs --exclude-dir target", "d/.h/c.rs\nd/a.rs\n");
    run("-t rust --no-hidden", "d/a.rs\nd/target/e.rs\n");
    run("-T rust", "d/b.log\n");
    run("--exclude *.rs", "d/b.log\n");
    f.run("scan -l -e x -g *.log d/a.rs").expect(0, "d/a.rs\n");
    f.run("scan -e x -t nothing d").expect_error(&["nothing", "--type-list"]);
    f.run("scan -e x -g { d").expect_error(&["-g: "]);
    assert!(f.run("scan --type-list").out.contains("\nrust: *.rs\n"));
}

#[test]
fn headings_zero_bytes_and_editors() {
    let f = Folder::new(&[("a", b"x\nyx\n"), ("b", b"x")]);
    f.run("scan -e x --heading -n a b").expect(0, "a\n1:x\n2:yx\n\nb\n1:x\n");
    f.run("scan -e x --heading --no-heading a b").expect(0, "a:x\na:yx\nb:x\n");
    f.run("scan -e x --vimgrep a").expect(0, "a:1:1:x\na:2:2:yx\n");
    f.run("scan -e x -l -0 a b").expect(0, "a\0b\0");
    f.run("scan -e x -c --null a b").expect(0, "a\x002\nb\x001\n");
    f.run("scan -e x -A1 a b").expect(0, "a:x\na:yx\n--\nb:x\n");
}

#[test]
fn matches_stop_after_some_lines() {
    let f = Folder::new(&[("t", b"x x\nx\ny\nx\n")]);
    f.run("scan -e x -m 2 -b -o t").expect(0, "0:x\n2:x\n4:x\n");
    f.run("scan -e x -m 2 -c t").expect(0, "3\n");
    f.run("scan -e x -m 2 -c --lines t").expect(0, "2\n");
    f.run("scan -e x -m 0 t").expect(1, "");
    let records = f.run("scan -e x -m 1 --json t").out;
    assert_eq!(records.matches("\"type\":\"match\"").count(), 2);
    f.run("scan -v -e x -m 1 -n t").expect(0, "3:y\n");
    // The rest of the lines is wanted although the semantics select no further match.
    f.run("scan -e x --lines --semantics once -A1 t").expect(0, "x x\nx\n");
    f.run("scan -v -e x -n --semantics once t").expect(0, "2:x\n3:y\n4:x\n");
    f.run_with_input("scan -v -e x -n --semantics once", b"x\ny\nz").expect(0, "2:y\n3:z\n");
}

#[test]
fn missing_files_are_not_counted_and_messages_can_be_left_out() {
    let f = Folder::new(&[("a", b"x\n")]);
    let run = f.run("scan -e x --json missing a");
    let summary: serde_json::Value = serde_json::from_str(run.out.lines().last().unwrap()).unwrap();
    assert_eq!((summary["files"].as_u64(), summary["errors"].as_u64()), (Some(1), Some(1)));
    let run = f.run("scan -s -e x missing a");
    run.expect(2, "a:x\n");
    assert_eq!(run.err, "");
}

#[test]
fn matches_are_replaced_in_a_copy_of_the_input() {
    let text = b"pass=abc, pass=abcd\0pass\n".repeat(50_000);
    let f = Folder::new(&[
        ("t", &text),
        ("short", b"xabcdx abcdef"),
        ("each", b"1\n2\n"),
        ("one", b"?\n"),
        ("three", b"1\n2\n3\n"),
    ]);
    let expected = b"pass=*, pass=*\0pass\n".repeat(50_000);
    let line = "scan --replace * -e abc -e bcd";
    assert!(f.run(&format!("{line} t")).raw == expected);
    assert!(f.run(&format!("{line} -j3 t")).raw == expected);
    assert!(f.run_with_input(line, &text).raw == expected);
    f.run("scan --replace-with each -e bcd -e abc short").expect(0, "x2x 2ef");
    f.run("scan --replace-with one -e zz short").expect(1, "xabcdx abcdef");
    f.run("scan --replace= -w -e abcdef -e abcd short").expect(0, "xabcdx ");
    f.run("scan --replace - --semantics leftmost-first -e abc -e bcd short").expect(0, "x-dx -def");
    f.run("scan --replace - --semantics once -e abc short").expect(0, "x-dx abcdef");
    f.run("scan --replace-with three -e a -e b short").expect_error(&["three has 3 lines for 2"]);
    f.run("scan --replace-with nowhere -e a short").expect_error(&["nowhere"]);
    f.run("scan --replace x -c -e a short").expect_error(&["cannot be used with"]);
}

#[test]
fn a_report_is_one_page() {
    let f = Folder::new(&[("d/a<b", &b"x needle\n".repeat(90_000)), ("d/none", b"hay\n")]);
    for mode in ["-q", "-c", "--lines", "-j2 -l", "-w --json"] {
        f.run(&format!("scan {mode} -e needle -e zz --report out.html d"));
        let page = std::fs::read_to_string(f.path().join("out.html")).unwrap();
        let total =
            "<p>90,000 matches of 1 pattern in 1 file. Searched for 2 patterns in 2 files, 810,004";
        assert!(page.contains(total), "{mode}");
        assert!(page.contains("<code>d/a&lt;b</code>") && page.matches("<rect").count() > 100);
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert!(!page.contains("http") && !page.contains("<script"), "needs nothing else");
    }
    f.run("scan -q -e needle --report no/where.html d").expect_error(&["cannot write the report"]);
}

#[cfg(unix)]
mod unix {
    use crate::common::{Folder, Run};
    use std::fs::OpenOptions;
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Command, Stdio};

    /// Runs the program on a terminal; `None` if the program `script` cannot do that here.
    fn on_terminal(f: &Folder, args: &str) -> Option<String> {
        let line = format!("{} {args}", env!("CARGO_BIN_EXE_fyke"));
        let mut command = Command::new("script");
        command.args(["-qec", &line, "/dev/null"]).current_dir(f.path());
        command.env("NO_COLOR", "1").stdin(Stdio::null());
        match command.output() {
            Ok(output) => Some(String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n")),
            Err(error) => {
                eprintln!("skipped: 1 test on a terminal, script cannot be run: {error}");
                None
            }
        }
    }

    #[test]
    fn a_terminal_is_safe_from_paths_and_lines() {
        let f = Folder::new(&[("bad\x1b[2Jname", b"x\x1b[2J\r\n")]);
        let escaped = "bad\\x1b[2Jname:x\\x1b[2J\n";
        for args in ["scan -H --lines -e x .", "scan -H --heading -l -e x ."] {
            let Some(out) = on_terminal(&f, args) else { return };
            let expected = if args.contains("-l -e") { "bad\\x1b[2Jname\n" } else { escaped };
            assert_eq!(out.trim_start_matches("./"), expected, "{args}");
        }
        f.run("scan -H --lines -e x .").expect(0, "./bad\x1b[2Jname:x\x1b[2J\r\n");
    }

    #[test]
    fn standard_error_may_be_full() {
        let Ok(full) = OpenOptions::new().write(true).open("/dev/full") else {
            eprintln!("skipped: 1 test, there is no /dev/full");
            return;
        };
        let f = Folder::new(&[("a", b"x\n")]);
        for args in
            ["scan -e x missing a", "scan --nonsense", "scan -f nothing a", "scan -e x --stats a"]
        {
            let mut command = f.command(args.split(' '));
            let run = Run::from(command.stderr(full.try_clone().unwrap()).output().unwrap());
            assert_eq!(run.code, Some(2), "{args}");
        }
    }

    #[test]
    fn a_match_of_a_pipe_is_printed_before_the_next_line_ends() {
        let f = Folder::new(&[]);
        for (args, input, expected) in [
            ("scan -e needle", "a needle\nand a part", "a needle\n"),
            ("scan --lines -e needle", "a needle\nand a part", "a needle\n"),
            ("scan -A1 -e needle", "a needle\nand a part", "a needle\n"),
            ("scan -w -e needle", "a needle\nand a part", "a needle\n"),
            ("scan -o -e needle", "a needle and", "needle\n"),
            ("scan -o -w -e needle", "a needle and", "needle\n"),
        ] {
            let mut command = f.command(args.split(' '));
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            stdin.write_all(input.as_bytes()).unwrap();
            let mut line = String::new();
            BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
            assert_eq!(line, expected, "{args}");
            drop(stdin);
            child.wait().unwrap();
        }
    }
}
