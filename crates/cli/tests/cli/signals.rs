//! Interrupts: the output ends after a whole record, and the process dies of the signal.

use super::common::{Folder, Run};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

pub(crate) const SIGINT: i32 = 2;

/// The same command with the default action for SIGINT. A test that a shell runs in the background
/// ignores SIGINT, and its children inherit that.
fn heeding(command: &Command) -> Command {
    let mut heeding = Command::new("env");
    heeding.arg("--default-signal=INT").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => heeding.env(name, value),
            None => heeding.env_remove(name),
        };
    }
    heeding.current_dir(command.get_current_dir().expect("the folder of the test"));
    heeding
}

/// Whether this process ignores SIGINT.
fn ignores_interrupts() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (SIGINT - 1) & 1 == 1)
}

pub(crate) fn interruptible(command: Command) -> Command {
    if ignores_interrupts() { heeding(&command) } else { command }
}

pub(crate) fn interrupt(child: &Child) {
    let status = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn an_interrupt_ends_a_full_pipe_at_a_whole_record() {
    let text = b"needle in the hay\n".repeat(1_000_000);
    let f = Folder::new(&[("t", &text), ("u", &text[..300_000]), ("v", &text[..300_000])]);
    let modes = ["-b", "--json", "-j3", "--lines", "-v", "--replace="];
    let runs = modes.map(|mode| (mode, "t")).into_iter().chain([("-j3", "."), ("-v", ".")]);
    for (mode, path) in runs {
        let pattern = if mode == "-v" { "zz" } else { "needle" };
        let mut command = interruptible(f.command(["scan", "-e", pattern, mode, path]));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut String::new()).unwrap();
        thread::sleep(Duration::from_millis(100));
        interrupt(&child);
        thread::sleep(Duration::from_millis(100));
        let mut rest = Vec::new();
        out.read_to_end(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(SIGINT), "{mode}");
        assert!(rest.ends_with(b"\n"), "{mode}");
        assert!(rest.len() < 18_000_000, "{mode}: the scan went on to its end");
        if mode == "--json" {
            let last = rest.split(|&b| b == b'\n').rev().nth(1).unwrap();
            assert!(serde_json::from_slice::<serde_json::Value>(last).is_ok());
        }
    }
}

#[test]
fn an_interrupt_ends_a_wait_for_input() {
    let f = Folder::new(&[]);
    let mut command = interruptible(f.command(["scan", "-e", "needle"]));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"one needle\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    // Matches of a pipe are printed as they arrive.
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "one needle\n");
    interrupt(&child);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGINT));
}

#[test]
fn an_interrupt_ends_threads_that_wait_for_their_turn() {
    let f = Folder::new(&[]);
    let text = b"needle\n".repeat(100_000);
    for i in 0..40 {
        f.write(&format!("d/{i}"), &text);
    }
    let mut command = interruptible(f.command(["scan", "-j4", "-e", "needle", "-", "d"]));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"one needle\n").unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "<stdin>:one needle\n");
    thread::sleep(Duration::from_millis(100));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().signal(), Some(SIGINT));
}

#[test]
fn an_interrupt_that_the_parent_ignores_stays_ignored() {
    let f = Folder::new(&[]);
    let script = format!("trap '' INT; exec {} scan -e needle", env!("CARGO_BIN_EXE_fyke"));
    let mut command = Command::new("sh");
    command.arg("-c").arg(script).current_dir(f.path());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdin.write_all(b"one needle\n").unwrap();
    out.read_line(&mut line).unwrap();
    interrupt(&child);
    thread::sleep(Duration::from_millis(100));
    stdin.write_all(b"a second needle\n").unwrap();
    drop(stdin);
    out.read_to_string(&mut line).unwrap();
    assert_eq!(line, "one needle\na second needle\n");
    let run = Run::from(child.wait_with_output().unwrap());
    assert_eq!(run.code, Some(0));
}

/// Bash stops its loop if its command died of the signal that the shell got too.
#[test]
fn an_interrupt_stops_the_loop_of_a_shell() {
    let f = Folder::new(&[]);
    let fyke = env!("CARGO_BIN_EXE_fyke");
    let script = format!("for i in 1 2 3; do {fyke} scan -e x; echo loop goes on; done; exit 7");
    let mut command = Command::new("bash");
    command.arg("-c").arg(script).current_dir(f.path());
    let mut command = interruptible(command);
    CommandExt::process_group(&mut command, 0).stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        eprintln!("skipped: there is no bash");
        return;
    };
    let mut stdin = child.stdin.take().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut text = String::new();
    stdin.write_all(b"x\n").unwrap();
    out.read_line(&mut text).unwrap();
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    out.read_to_string(&mut text).unwrap();
    assert_eq!(text, "x\n");
    assert_eq!(child.wait().unwrap().signal(), Some(SIGINT));
}
