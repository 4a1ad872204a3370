//! Bad input gives a clear error, and no match is lost.

use crate::common::{Folder, Run};
use std::io::Write;

#[test]
fn unreadable_files_are_named_and_the_others_scanned() {
    let f = Folder::new(&[("a", b"x\n"), ("b", b"x\n")]);
    let run = f.run("scan -e x a missing b");
    run.expect(2, "a:x\nb:x\n");
    assert!(run.err.contains("fyke: missing: "), "{}", run.err);
    assert!(run.err.lines().count() == 1);
}

#[test]
fn bad_patterns_have_a_position_and_a_correction() {
    let f = Folder::new(&[
        ("empty", b"a\n\nb\n"),
        ("odd", b"41\n414\n"),
        ("digit", b"4x\n"),
        ("rules", b"alert tcp any any -> any any (content:\"a\\n\"; sid:1;)\nalert ip any any -> any any (content:\"x\"; sid:2;)\n"),
        ("long", &[b'x'; 70_000]),
        ("t", b"x\n"),
    ]);
    let bad = |args: &str, parts: &[&str]| f.run(&format!("scan {args} t")).expect_error(parts);
    bad("-f empty", &["empty:2:1: empty pattern: it would match everywhere, remove the line"]);
    bad(
        "-f odd --patterns-format hex",
        &["odd:2:3: odd number of hex digits: write each byte as two digits"],
    );
    bad("-f digit --patterns-format hex", &["digit:1:2: x is not a hex digit: use 0-9, a-f, A-F"]);
    bad(
        "-f rules --patterns-format snort",
        &[
            "rules:1:41: unknown escape \\n: use",
            "1 bad rule: correct them, or skip them with --skip-bad-rules",
        ],
    );
    bad(
        "-f long",
        &["long:1:1: the pattern has 70000 bytes, the limit is 65535 bytes: shorten it"],
    );
    bad("-f nowhere", &["cannot read the pattern file nowhere: "]);
    bad("", &["no patterns", "-e PATTERN"]);
    bad("-e x --engine ac-dfx", &["ac-dfx"]);
    bad("-e x --memory-limit 1K", &["engine auto: needs", "bytes of memory, the limit is 1024"]);
    bad("-e x --sample nowhere", &["cannot read the sample file nowhere: "]);
    bad("-f - -e x -", &["standard input cannot be both the patterns and the data"]);
    let skipped = f.run("scan -f rules --patterns-format snort --skip-bad-rules t");
    skipped.expect(0, "sid 2 (rules:2): x\n");
    assert!(skipped.err.contains("fyke: warning: skipped 1 bad rule"), "{}", skipped.err);
    let empty = f.command(["scan", "-e", "", "t"]).output().map(Run::from).unwrap();
    empty.expect_error(&["-e #1:1:1: empty pattern"]);
}

/// Huge, zero, negative and empty values are either honored or refused with the allowed range.
#[test]
fn numbers_out_of_range_are_refused_with_the_range() {
    let f = Folder::new(&[("t", b"a needle\n")]);
    let run = |verb: &str, option: &str, value: &str| {
        let args = [verb, "-e", "needle", "-e", "ne", option, value];
        let paths = if verb == "scan" { &["t"][..] } else { &[] };
        f.command(args.iter().chain(paths)).output().map(Run::from).unwrap()
    };
    let wrong = ["-1", "", "x", "1.5", "18446744073709551616", "99999999999999999999"];
    let with = |more: &[&'static str]| wrong.iter().copied().chain(more.iter().copied()).collect();
    let sizes = ["-1", "", "x", "1.5", "1KK", "1X"];
    let too_large = ["18446744073709551616", "99999999999T"];
    let number = "give a number from 0 to";
    let cases: [(&str, &str, Vec<&str>, &str); 8] = [
        (
            "scan",
            "--threads",
            with(&["1025", "18446744073709551615"]),
            "give a number from 0 to 1024",
        ),
        ("explain", "--threads", with(&["1025"]), number),
        ("scan", "--max-columns", with(&["65537", "18446744073709551615"]), "from 0 to 65536"),
        ("scan", "--memory-limit", sizes.into(), "give a number of bytes, optionally with suffix"),
        ("scan", "--memory-limit", too_large.into(), "the limit is 18446744073709551615 bytes"),
        ("explain", "--input-size", sizes.into(), "give a number of bytes, optionally with suffix"),
        ("explain", "--input-size", too_large.into(), "the limit is 18446744073709551615 bytes"),
        ("scan", "--memory-limit", vec!["0", "1"], "bytes of memory, the limit is"),
    ];
    for (verb, option, values, message) in cases {
        for value in values {
            run(verb, option, value).expect_error(&[message]);
        }
    }
    for (option, value) in
        [("-j", "1024"), ("--memory-limit", "18446744073709551615"), ("--max-columns", "65536")]
    {
        run("scan", option, value).expect(0, "a needle\na needle\n");
    }
    assert_eq!(run("explain", "--input-size", "18446744073709551615").code, Some(0));
}

#[test]
fn options_of_auto_out_of_range_are_refused_with_the_range() {
    let f = Folder::new(&[("t", b"a needle\n")]);
    let run = |engine: &str| f.run(&format!("scan -e needle -e ne --engine {engine} t"));
    for wrong in ["0", "-1", "", "x", "1073741825", "18446744073709551615"] {
        for engine in [format!("auto:piece={wrong}"), format!("auto:engine=teddy,piece={wrong}")] {
            run(&engine).expect_error(&["piece=", "give auto or a number from 1 to 1073741824"]);
        }
    }
    for wrong in ["0", "1", "-1", "", "x", "65536", "18446744073709551615"] {
        let range = "give auto or a number from 2 to 65535";
        run(&format!("auto:cut={wrong}")).expect_error(&["cut=", range]);
    }
    for engine in ["auto:piece=1", "auto:piece=1073741824", "auto:cut=2", "auto:cut=65535"] {
        run(engine).expect(0, "a needle\na needle\n");
    }
}

#[test]
fn a_benchmark_outside_the_source_tree_says_what_it_needs() {
    let f = Folder::new(&[]);
    let paper = cfg!(feature = "papers").then_some("bench paper all");
    for args in ["bench", "bench --list", "bench cpu --quick"].into_iter().chain(paper) {
        let run = f.run(args);
        run.expect_error(&["fyke: `fyke bench` needs", "benchmarks/definitions", "--benchmarks"]);
        assert_eq!(run.err.lines().count(), 1, "{args}: {}", run.err);
    }
    for seconds in ["-1", "nan", "1e20", "1e300"] {
        let run = f.run(&format!("bench --list --seconds={seconds}"));
        run.expect_error(&["--seconds", "give a number from 0 to 86400"]);
    }
}

#[test]
fn a_comparison_of_libhs_says_what_it_lacks() {
    let f = Folder::new(&[("words", b"he\n"), ("t", b"she\n"), ("bad", b"a\n\nb\n")]);
    f.run("bench hs").expect_error(&["<RULES>"]);
    f.run("bench hs nowhere t").expect_error(&["nowhere"]);
    f.run("bench hs bad t").expect_error(&["bad:2:1: empty pattern", "1 bad patterns"]);
    f.run("bench hs words nowhere").expect_error(&["haystack nowhere"]);
    f.run("bench hs words").expect_error(&["no HAYSTACK is named", "--benchmarks DIR"]);
    f.run("bench hs words t --ours no.so").expect_error(&["--ours no.so: there is no such file"]);
    let help = f.run("bench hs --help");
    for part in ["compile time, memory", "--ours", "--theirs", "the exit code is 2"] {
        assert!(help.out.contains(part), "{part}: {}", help.out);
    }
    // A copy of the program has no library beside it.
    let copy = f.path().join("fyke");
    std::fs::copy(env!("CARGO_BIN_EXE_fyke"), &copy).unwrap();
    let mut command = std::process::Command::new(copy);
    command.args(["bench", "hs", "words", "t"]).current_dir(f.path());
    let run = loop {
        match command.output() {
            // A process that another test started has inherited the file as one being written.
            Err(error) if error.kind() == std::io::ErrorKind::ExecutableFileBusy => {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            run => break run.unwrap(),
        }
    };
    Run::from(run).expect_error(&["cargo build --release -p fyke-hs", "--ours FILE"]);
}

#[test]
fn no_patterns_match_nothing() {
    let f = Folder::new(&[("none", b""), ("t", b"x\n")]);
    let run = f.run("scan -f none t");
    run.expect(1, "");
    assert!(run.err.contains("the pattern files contain no patterns"), "{}", run.err);
}

#[test]
fn truncated_containers_are_errors_after_what_was_readable() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"needle in the hay\n").unwrap();
    let gzip = gzip.finish().unwrap();
    let f = Folder::new(&[
        ("whole.gz", &gzip),
        ("cut.gz", &gzip[..gzip.len() - 6]),
        ("plain", b"needle\n"),
    ]);
    f.run("scan -z -e needle whole.gz plain")
        .expect(0, "whole.gz:needle in the hay\nplain:needle\n");
    f.run("scan -e needle whole.gz").expect(1, "");
    let run = f.run("scan -z -e needle -n cut.gz plain");
    assert_eq!(run.code, Some(2));
    assert!(run.out.ends_with("plain:1:needle\n"), "{}", run.out);
    assert!(
        run.err
            .contains("cut.gz: the gzip data is truncated: only the first 18 decompressed bytes"),
        "{}",
        run.err
    );
    f.run_with_input("scan -z -e needle", &gzip).expect(0, "needle in the hay\n");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs::{File, OpenOptions};
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};

    fn shell(f: &Folder, script: &str) -> Run {
        let script = script.replace("fyke", env!("CARGO_BIN_EXE_fyke"));
        let mut command = Command::new("sh");
        command.arg("-c").arg(script).current_dir(f.path()).stdin(Stdio::null());
        command.output().map(Run::from).unwrap()
    }

    #[test]
    fn files_without_permission() {
        let f = Folder::new(&[("a", b"x\n")]);
        let path = f.write("secret", b"x\n");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o000);
        std::fs::set_permissions(&path, mode).unwrap();
        if File::open(&path).is_ok() {
            eprintln!("skipped: this user may read everything");
            return;
        }
        let run = f.run("scan -e x secret a");
        run.expect(2, "a:x\n");
        assert!(run.err.contains("secret: Permission denied"));
    }

    #[test]
    fn a_fifo_is_read_as_a_stream() {
        let f = Folder::new(&[]);
        shell(&f, "mkfifo pipe; (printf 'one\\nneedle\\n' > pipe) & fyke scan -n -e needle pipe")
            .expect(0, "2:needle\n");
    }

    #[test]
    fn folders_skip_fifos_and_circles() {
        let f = Folder::new(&[("d/a", b"needle\n")]);
        let run = shell(&f, "mkfifo d/pipe; ln -s . d/loop; fyke scan -e needle d");
        run.expect(0, "d/a:needle\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_that_do_not_know_their_length() {
        let f = Folder::new(&[]);
        assert_eq!(f.run("scan -c -e Linux /proc/version").code, Some(0));
        assert_eq!(f.run("scan -z -q -e Linux /proc/version").code, Some(0));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error() {
        let f = Folder::new(&[("t", b"x\n")]);
        for mode in ["", "-c", "-l", "--json"] {
            let run = shell(&f, &format!("fyke scan {mode} -e x t > /dev/full"));
            run.expect_error(&["fyke: cannot write the output: No space left on device"]);
        }
    }

    #[test]
    fn a_closed_pipe_is_quiet() {
        let f = Folder::new(&[("t", &b"needle\n".repeat(500_000))]);
        for mode in ["", "--json", "-o", "-j3"] {
            let run =
                shell(&f, &format!("(fyke scan -e needle {mode} t; echo code $? >&2) | head -1"));
            assert_eq!((run.out.lines().count(), &*run.err), (1, "code 0\n"), "{mode}");
        }
    }

    #[test]
    fn the_output_is_not_scanned() {
        let f = Folder::new(&[("d/a", b"needle\n")]);
        let run = shell(&f, "fyke scan -e needle d > d/out; echo $?; cat d/out");
        run.expect(0, "2\nd/a:needle\n");
        assert!(
            run.err.contains("d/out: this file is also the output, so it is not scanned"),
            "{}",
            run.err
        );
    }

    /// The full pipe holds the scan in the middle of the file while the test shrinks it.
    #[test]
    fn a_file_that_shrinks_is_an_error_and_not_a_crash() {
        let f = Folder::new(&[]);
        let path = f.write("t", &b"needle in the hay and some more\n".repeat(400_000));
        let mut command = f.command("scan -e needle -e e -b -j2 t".split(' '));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        // The pipe is full, so the scan waits in the middle of the file.
        OpenOptions::new().write(true).open(&path).unwrap().set_len(1000).unwrap();
        let mut rest = Vec::new();
        out.read_to_end(&mut rest).unwrap();
        let run = Run::from(child.wait_with_output().unwrap());
        assert_eq!(run.code, Some(2), "{}", run.err);
        let shrank = "t: the file shrank during the scan, from 12800000 to ";
        assert!(run.err.contains(shrank), "{}", run.err);
        assert!(rest.ends_with(b"\n"));
    }
}
