//! Rivals that are programs: starting them and reading what they print.
//!
//! A program reads the patterns from one file and the haystack from another, and prints to a pipe
//! that is read to its end: GNU grep stops at the first match if its output is `/dev/null`.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use fyke_core::PatternSet;

use crate::rival::Refusal;

/// What a program prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// The number of lines with a match: `-c`.
    CountLines,
    /// Every matched part on a line of its own, leftmost and not overlapping: `-o`.
    OnlyMatching,
}

/// One run of a program.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// File with one pattern a line.
    pub patterns: &'a Path,
    /// File to search.
    pub haystack: &'a Path,
    /// Whether letters match in either case.
    pub nocase: bool,
    /// What to print.
    pub output: Output,
}

/// A program that searches a file for the patterns of another.
pub trait Program: Sync {
    /// The name in tables and on the command line.
    fn name(&self) -> &'static str;

    /// What it is and what it computes.
    fn about(&self) -> &'static str;

    /// Its version, or why it is absent.
    ///
    /// # Errors
    /// It is not installed.
    fn version(&self) -> Result<String, Refusal>;

    /// The command line of a call.
    fn command(&self, call: &Call<'_>) -> Command;
}

/// Checks that programs can read `set` from a file with one pattern per line.
///
/// # Errors
/// A pattern has a byte that such a file cannot hold; or only some patterns ignore case; or
/// patterns with letters beyond ASCII do, which programs handle differently.
pub fn check_lines(set: &PatternSet) -> Result<(), Refusal> {
    let letters = |p: &[u8]| p.iter().any(u8::is_ascii_alphabetic);
    let nocase = set.nocase_count() > 0;
    if nocase && set.iter().any(|p| !p.nocase && letters(p.bytes)) {
        return Err(Refusal(
            "programs have one case flag for all patterns, and only some of these ignore case"
                .into(),
        ));
    }
    let plain = |text: &str| !text.chars().any(char::is_control) && (text.is_ascii() || !nocase);
    match set.iter().find(|p| !std::str::from_utf8(p.bytes).is_ok_and(plain)) {
        Some(p) => Err(Refusal(format!(
            "patterns have to be lines of text, and {:?} is not",
            String::from_utf8_lossy(p.bytes)
        ))),
        None => Ok(()),
    }
}

/// What a run printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// [`Output::CountLines`]: the number printed. [`Output::OnlyMatching`]: lines printed.
    pub count: u64,
    /// Bytes printed.
    pub bytes: u64,
}

/// Runs a command to its end and reads all it prints.
///
/// # Errors
/// It cannot be started, or ends with a status over 1 (0 is a match, 1 none).
pub fn run(mut command: Command, output: Output) -> Result<Printed, Refusal> {
    let failed = |e: std::io::Error| Refusal(e.to_string());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    let mut pipe = child.stdout.take().expect("stdout is piped");
    let printed = drain(&mut pipe, output).map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    match status.code() {
        Some(0 | 1) => Ok(printed),
        _ => Err(Refusal(format!("ended with {status}"))),
    }
}

fn drain(pipe: &mut impl Read, output: Output) -> std::io::Result<Printed> {
    let mut buffer = vec![0; 1 << 16];
    let mut printed = Printed::default();
    let mut number = 0;
    loop {
        let n = pipe.read(&mut buffer)?;
        let text = &buffer[..n];
        if n == 0 {
            break;
        }
        printed.bytes += n as u64;
        match output {
            Output::OnlyMatching => printed.count += newlines(text),
            Output::CountLines => number = digits(number, text),
        }
    }
    printed.count += number;
    Ok(printed)
}

fn newlines(text: &[u8]) -> u64 {
    text.iter().filter(|&&b| b == b'\n').count() as u64
}

fn digits(number: u64, text: &[u8]) -> u64 {
    let digits = text.iter().filter(|b| b.is_ascii_digit());
    digits.fold(number, |n, b| n * 10 + u64::from(b - b'0'))
}

/// The first line that `name --version` prints.
///
/// # Errors
/// It is not installed.
pub(crate) fn first_line(name: &str) -> Result<String, Refusal> {
    let result = Command::new(name).arg("--version").stdin(Stdio::null()).output();
    let output = result
        .map_err(|e| Refusal(format!("no {name}: {e} (install the package {})", package(name))))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or("unknown").to_string())
}

fn package(name: &str) -> &str {
    if name == "rg" { "ripgrep" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lines_are_read_over_cuts() {
        assert_eq!(digits(digits(0, b"12"), b"3\n"), 123);
        assert_eq!(drain(&mut &b"a\nb\n"[..], Output::OnlyMatching).unwrap().count, 2);
        assert_eq!(drain(&mut &b"42\n"[..], Output::CountLines).unwrap().count, 42);
    }

    #[test]
    fn sets_that_lines_cannot_carry_are_refused() {
        let set = PatternSet::new([&b"ab"[..], b"\n"]).unwrap();
        assert!(check_lines(&set).is_err());
        assert!(check_lines(&PatternSet::new(["ab", "c d"]).unwrap()).is_ok());
    }
}
