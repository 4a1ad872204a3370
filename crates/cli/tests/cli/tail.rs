//! `--tail`: files that grow, are truncated and replaced, until an interrupt.

use crate::common::Folder;
use crate::signals::{SIGINT, interrupt, interruptible};
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Nothing takes longer, unless it never comes.
const DEADLINE: Duration = Duration::from_secs(20);

/// Longer than fyke takes to look at a file again.
const A_WHILE: Duration = Duration::from_millis(400);

/// A scan that goes on.
struct Scan {
    child: Child,
    stdin: Option<ChildStdin>,
    out: Receiver<String>,
    err: Receiver<String>,
}

impl Scan {
    fn start(f: &Folder, line: &str) -> Self {
        let mut command = interruptible(f.command(line.split_whitespace()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = lines(child.stdout.take().unwrap());
        let err = lines(child.stderr.take().unwrap());
        Scan { stdin: child.stdin.take(), child, out, err }
    }

    #[track_caller]
    fn expect(&self, line: &str) {
        assert_eq!(self.out.recv_timeout(DEADLINE).as_deref(), Ok(line));
    }

    #[track_caller]
    fn expect_message(&self, line: &str) {
        assert_eq!(self.err.recv_timeout(DEADLINE).as_deref(), Ok(line));
    }

    #[track_caller]
    fn expect_nothing(&self) {
        assert_eq!(self.out.recv_timeout(A_WHILE), Err(mpsc::RecvTimeoutError::Timeout));
    }

    #[track_caller]
    fn expect_no_message(&self) {
        assert_eq!(self.err.recv_timeout(A_WHILE), Err(mpsc::RecvTimeoutError::Timeout));
    }

    /// Waits for the end. Returns the status and the lines that come until then.
    fn end(mut self) -> (ExitStatus, Vec<String>, Vec<String>) {
        drop(self.stdin.take());
        let (out, err) = (self.out.iter().collect(), self.err.iter().collect());
        (self.child.wait().unwrap(), out, err)
    }

    /// Interrupts the scan and returns what comes until its end.
    #[track_caller]
    fn interrupt(self) -> (Vec<String>, Vec<String>) {
        interrupt(&self.child);
        let (status, out, err) = self.end();
        assert_eq!(status.signal(), Some(SIGINT), "{err:?}");
        (out, err)
    }
}

/// A test that fails leaves no scan running.
impl Drop for Scan {
    fn drop(&mut self) {
        let killed = self.child.kill();
        killed.and_then(|()| self.child.wait()).map(drop).unwrap_or_default();
    }
}

fn lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (to, lines) = mpsc::channel();
    thread::spawn(move || {
        let sent = BufReader::new(from).lines().map_while(Result::ok).try_for_each(|l| to.send(l));
        sent.unwrap_or_default();
    });
    lines
}

fn append(f: &Folder, name: &str, bytes: &[u8]) {
    let file = OpenOptions::new().append(true).create(true).open(f.path().join(name));
    file.unwrap().write_all(bytes).unwrap();
}

#[test]
fn what_is_appended_is_found_with_its_place_in_the_file() {
    let f = Folder::new(&[("log", b"a needle\n")]);
    let scan = Scan::start(&f, "scan --tail -n -b -e needle -e dle\\x --stats log");
    scan.expect("1:2:a needle");
    scan.expect_nothing();
    append(&f, "log", b"hay\nnee");
    scan.expect_nothing();
    append(&f, "log", b"dle in two pieces\n");
    scan.expect("3:13:needle in two pieces");
    append(&f, "log", b"needle needle\n");
    scan.expect("4:34:needle needle");
    scan.expect("4:41:needle needle");
    scan.expect_nothing();
    let (out, err) = scan.interrupt();
    assert!(out.is_empty(), "{out:?}");
    assert!(
        err.contains(&"matches 4".to_owned()) && err.contains(&"bytes 48".to_owned()),
        "{err:?}"
    );
}

/// A piece of a match is kept however the appends cut it.
#[test]
fn a_match_in_many_appends_is_found_once() {
    let f = Folder::new(&[("log", b"")]);
    for mode in ["-o", "-o -w", "-o --semantics leftmost-longest"] {
        f.write("log", b"");
        let scan = Scan::start(&f, &format!("scan --tail {mode} -b -e needle log"));
        for byte in b"hay needle" {
            append(&f, "log", &[*byte]);
            thread::sleep(Duration::from_millis(30));
        }
        append(&f, "log", b"\n");
        scan.expect("4:needle");
        let (out, _) = scan.interrupt();
        assert!(out.is_empty(), "{mode}: {out:?}");
    }
}

#[test]
fn counts_come_at_the_end() {
    for (mode, expected) in [
        ("-c", &["log:3", "other:1"][..]),
        ("-c --lines", &["log:2", "other:1"]),
        ("-v -c", &["log:1", "other:0"]),
        ("--files-without-match -x", &["log", "other"]),
    ] {
        let f = Folder::new(&[("log", b"needle needle\n"), ("other", b"a needle\n")]);
        let scan = Scan::start(&f, &format!("scan --tail {mode} -e needle log other"));
        scan.expect_nothing();
        append(&f, "log", b"hay\nneedle \n");
        scan.expect_nothing();
        let (mut out, _) = scan.interrupt();
        out.sort();
        assert_eq!(out, expected, "{mode}");
    }
}

#[test]
fn a_truncated_file_is_read_again_from_its_start() {
    let f = Folder::new(&[("log", b"one needle\nmore\n")]);
    let scan = Scan::start(&f, "scan --tail -n -b -e needle log");
    scan.expect("1:4:one needle");
    thread::sleep(A_WHILE);
    f.write("log", b"");
    let message = "fyke: warning: log: the file was truncated: reading it again from its start";
    scan.expect_message(message);
    append(&f, "log", b"a needle\n");
    scan.expect("1:2:a needle");
    thread::sleep(A_WHILE);
    f.write("log", b"needle\n");
    scan.expect_message(message);
    scan.expect("1:0:needle");
    scan.interrupt();
}

#[test]
fn a_replaced_file_is_read_to_its_end_and_the_new_one_from_its_start() {
    let f = Folder::new(&[("log", b"one needle\n")]);
    let scan = Scan::start(&f, "scan --tail --json -n -e needle log");
    let starts = |scan: &Scan| {
        scan.out.recv_timeout(DEADLINE).unwrap().split(",\"pattern\"").next().unwrap().to_owned()
    };
    assert_eq!(starts(&scan), r#"{"type":"begin","path":{"text":"log"}}"#);
    assert!(starts(&scan).contains(r#""start":4,"end":10"#));
    std::fs::rename(f.path().join("log"), f.path().join("log.1")).unwrap();
    append(&f, "log.1", b"the last needle\n");
    // A file that is missing for a time is not another file.
    scan.expect_no_message();
    assert!(starts(&scan).contains(r#""start":20,"end":26"#));
    f.write("log", b"new needle\n");
    scan.expect_message(
        "fyke: warning: log: the file was replaced: reading the new one from its start",
    );
    assert_eq!(starts(&scan), r#"{"type":"end","path":{"text":"log"},"matches":2,"bytes":27}"#);
    assert_eq!(starts(&scan), r#"{"type":"begin","path":{"text":"log"}}"#);
    assert!(starts(&scan).contains(r#""start":4,"end":10"#));
    let (out, _) = scan.interrupt();
    assert_eq!(out[0], r#"{"type":"end","path":{"text":"log"},"matches":1,"bytes":11}"#);
    let totals = r#""files":2,"files_with_matches":2,"matches":3,"bytes":38,"errors":0"#;
    assert!(out[1].contains(totals) && out.len() == 2, "{out:?}");
}

#[test]
fn a_file_that_does_not_exist_yet_is_waited_for() {
    let f = Folder::new(&[("other", b"needle\n")]);
    let scan = Scan::start(&f, "scan --tail -e needle other log");
    scan.expect("other:needle");
    scan.expect_message("fyke: warning: log: there is no such file: waiting for it");
    f.write("log", b"a needle\n");
    scan.expect("log:a needle");
    append(&f, "other", b"another needle\n");
    scan.expect("other:another needle");
    let (out, err) = scan.interrupt();
    assert_eq!((out.len(), err.len()), (0, 0), "{out:?} {err:?}");
}

#[test]
fn standard_input_and_pipes_are_read_to_their_end() {
    let f = Folder::new(&[("log", b"")]);
    f.run_with_input("scan --tail -e needle -c", b"needle\nneedle").expect(0, "2\n");
    let mut scan = Scan::start(&f, "scan --tail -e needle log -");
    let mut stdin = scan.stdin.take().unwrap();
    stdin.write_all(b"a needle\n").unwrap();
    scan.expect("<stdin>:a needle");
    append(&f, "log", b"needle\n");
    scan.expect("log:needle");
    stdin.write_all(b"the last needle").unwrap();
    drop(stdin);
    scan.expect("<stdin>:the last needle");
    append(&f, "log", b"more needles\n");
    scan.expect("log:more needles");
    scan.interrupt();
}

#[test]
fn an_interrupt_does_not_wait_for_a_pipe() {
    let f = Folder::new(&[("log", b"needle\n")]);
    let mut scan = Scan::start(&f, "scan --tail -c -e needle log -");
    let stdin = scan.stdin.take();
    thread::sleep(A_WHILE);
    let (mut out, _) = scan.interrupt();
    out.sort();
    assert_eq!(out, ["<stdin>:0", "log:1"]);
    drop(stdin);
}

#[test]
fn a_scan_that_needs_no_more_ends() {
    let f = Folder::new(&[("log", b"hay\n"), ("other", b"hay\n")]);
    for (mode, out) in
        [("-q", &[][..]), ("-l", &["log", "other"]), ("-m1 -I", &["needle", "needle"])]
    {
        f.write("log", b"hay\n");
        f.write("other", b"hay\n");
        let scan = Scan::start(&f, &format!("scan --tail {mode} -e needle log other"));
        scan.expect_nothing();
        append(&f, "log", b"needle\n");
        if mode != "-q" {
            scan.expect(out[0]);
            append(&f, "other", b"needle\nneedle\n");
            scan.expect(out[1]);
        }
        let (status, rest, err) = scan.end();
        assert_eq!((status.code(), rest.len(), err.len()), (Some(0), 0, 0), "{mode} {rest:?}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_and_the_rest_goes_on() {
    let f = Folder::new(&[("d/a", b"needle\n"), ("log", b"needle\n")]);
    f.run("scan --tail -e needle d").expect_error(&["d: this is a folder", "name its files"]);
    let scan = Scan::start(&f, "scan --tail -e needle d log");
    scan.expect("log:needle");
    append(&f, "log", b"needle 2\n");
    scan.expect("log:needle 2");
    scan.interrupt();
    f.run("scan --tail -z -e needle log").expect_error(&["cannot be used with"]);
    f.run("scan --tail --heading -e needle log").expect_error(&["cannot be used with"]);
}

#[test]
fn the_report_is_written_at_the_end() {
    let f = Folder::new(&[("log", b"needle\n")]);
    let scan = Scan::start(&f, "scan --tail -o --report out.html -e needle log");
    scan.expect("needle");
    append(&f, "log", b"needle\n");
    scan.expect("needle");
    scan.interrupt();
    let page = std::fs::read_to_string(f.path().join("out.html")).unwrap();
    assert!(page.contains("2 matches of 1 pattern in 1 file"), "{page}");
}

/// A full pipe holds the first interrupt, and the second one ends the process.
#[test]
fn a_second_interrupt_ends_a_scan_that_cannot_write() {
    let f = Folder::new(&[("log", &b"needle in the hay\n".repeat(500_000))]);
    let mut command = interruptible(f.command(["scan", "--tail", "-e", "needle", "log"]));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    for _ in 0..3 {
        interrupt(&child);
        thread::sleep(A_WHILE);
    }
    assert_eq!(child.wait().unwrap().signal(), Some(SIGINT));
}
