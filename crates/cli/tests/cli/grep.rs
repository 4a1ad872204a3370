//! Lines as grep and ripgrep select and print them, on random texts.
//!
//! A program that is not installed is skipped, which is counted and printed. `io`'s test
//! `line_report` compares with a naive grep and always runs.

use crate::common::{Folder, Run};
use fyke_testkit::random::SplitMix;
use std::process::{Command, Stdio};

const ROUNDS: usize = 250;

/// One program to compare with, and how often it was.
struct Program {
    name: &'static str,
    always: &'static [&'static str],
    is_there: bool,
    compared: usize,
}

impl Program {
    fn new(name: &'static str, always: &'static [&'static str]) -> Self {
        let mut command = Command::new(name);
        let there = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        Self { name, always, is_there: there.is_ok_and(|s| s.success()), compared: 0 }
    }

    /// Exit code and output, if the program is there.
    fn run(&mut self, f: &Folder, args: &[String]) -> Option<(Option<i32>, Vec<u8>)> {
        if !self.is_there {
            return None;
        }
        self.compared += 1;
        let mut command = Command::new(self.name);
        command.args(self.always).args(args).arg("t").current_dir(f.path());
        command.env("LC_ALL", "C").env_remove("GREP_COLORS").env_remove("RIPGREP_CONFIG_PATH");
        let output = command.stdin(Stdio::null()).output().unwrap();
        Some((output.status.code(), output.stdout))
    }

    fn report(&self) {
        match self.is_there {
            true => assert!(self.compared > 0, "{}", self.name),
            false => eprintln!("skipped: {} is not installed, {ROUNDS} comparisons", self.name),
        }
    }
}

fn pick<'a, T>(rng: &mut SplitMix, from: &'a [T]) -> &'a T {
    &from[rng.below(from.len() as u64) as usize]
}

fn text(rng: &mut SplitMix) -> Vec<u8> {
    let words = ["ab", "a", "b", "_", " ", " ", "\n", "\n", "\r\n", "\0", "AB", "-", "\u{e9}"];
    (0..rng.below(40)).flat_map(|_| pick(rng, &words).bytes()).collect()
}

/// Flags that the programs share, and whether ripgrep means the same by all of them.
fn flags(rng: &mut SplitMix) -> (Vec<String>, bool) {
    let mut flags = Vec::new();
    for pattern in ["a", "ab", "b -", "_", "AB", "ba", "b_"] {
        if rng.below(4) == 0 || pattern == "ab" {
            flags.extend(["-e".to_owned(), pattern.to_owned()]);
        }
    }
    for flag in ["-n", "-b", "-v", "-w", "-x", "-i", "-H", "-c"] {
        if rng.below(5) == 0 {
            flags.push(flag.to_owned());
        }
    }
    let (mut limited, mut around) = (false, false);
    for flag in ["-m", "-A", "-B", "-C"] {
        if rng.below(5) == 0 {
            flags.extend([flag.to_owned(), (1 + rng.below(2)).to_string()]);
            limited |= flag == "-m";
            around |= flag != "-m";
        }
    }
    // ripgrep goes on to mark lines as matches after the limit.
    (flags, !(limited && around))
}

/// Two outputs that differ, from the line where they do.
fn both(ours: &[u8], theirs: &[u8]) -> String {
    let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let from = ours[..same].iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
    let shown = |out: &[u8]| out[from..].iter().take(200).copied().collect::<Vec<_>>();
    let [ours, theirs] = [ours, theirs].map(|out| shown(out).escape_ascii().to_string());
    format!("from {from}\nfyke   {ours}\nother  {theirs}")
}

/// ripgrep prints no count of 0.
fn without_zero_count(flags: &[String], out: Vec<u8>) -> Vec<u8> {
    let is_zero = flags.iter().any(|f| f == "-c") && (out == b"0\n" || out == b"t:0\n");
    if is_zero { Vec::new() } else { out }
}

#[test]
fn lines_are_those_of_grep_and_ripgrep() {
    let mut rng = SplitMix::new(160);
    let mut grep = Program::new("grep", &["-a", "-F"]);
    let mut rg = Program::new("rg", &["-a", "-F", "-N", "--no-heading", "-j1", "--no-unicode"]);
    for round in 0..ROUNDS {
        let mut bytes = text(&mut rng);
        if round % 10 == 0 {
            bytes = bytes.repeat(20_000);
        }
        let f = Folder::new(&[("t", &bytes)]);
        let (flags, same_in_rg) = flags(&mut rng);
        let fyke = |more: &[&str]| {
            let args = ["scan", "--lines"].iter().chain(more).map(|a| (*a).to_owned());
            f.command(args.chain(flags.iter().cloned()))
        };
        let run = Run::from(fyke(&["t"]).output().unwrap());
        let shown =
            if bytes.len() < 500 { bytes.escape_ascii().to_string() } else { "long".into() };
        let case = format!("round {round}: {flags:?} on {shown}");
        if let Some((code, out)) = grep.run(&f, &flags) {
            assert!(run.code == code && run.raw == out, "{case}\n{}", both(&run.raw, &out));
        }
        if let Some((code, out)) = same_in_rg.then(|| rg.run(&f, &flags)).flatten() {
            let own = without_zero_count(&flags, run.raw.clone());
            assert!(run.code == code && own == out, "{case}\n{}", both(&own, &out));
        }
        let threads = Run::from(fyke(&["-j3", "t"]).output().unwrap());
        assert!(threads.raw == run.raw, "{case}");
        let file = std::fs::File::open(f.path().join("t")).unwrap();
        let stream = Run::from(fyke(&[]).stdin(file).output().unwrap());
        let out = String::from_utf8_lossy(&stream.raw).replace("<stdin>", "t");
        assert!(out == String::from_utf8_lossy(&run.raw), "{case}");
    }
    grep.report();
    rg.report();
}

/// The leftmost-first matches among those with a boundary, as `-o -b` prints them.
fn bounded(text: &[u8], patterns: &[&str], whole_lines: bool) -> Vec<u8> {
    let admits = |neighbor: Option<&u8>| match whole_lines {
        true => neighbor.is_none_or(|&b| b == b'\n'),
        false => !neighbor.is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'_'),
    };
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let before = at.checked_sub(1).map(|i| &text[i]);
        let fits =
            |p: &&&str| text[at..].starts_with(p.as_bytes()) && admits(text.get(at + p.len()));
        match patterns.iter().find(fits).filter(|_| admits(before)) {
            Some(pattern) => {
                out.extend(format!("{at}:{pattern}\n").bytes());
                at += pattern.len();
            }
            None => at += 1,
        }
    }
    out
}

#[test]
fn words_and_lines_are_selected_before_the_semantics() {
    let mut rng = SplitMix::new(161);
    let patterns = ["a", "ab", "abab", "b", "_", "b a"];
    for round in 0..ROUNDS {
        let bytes = text(&mut rng);
        let f = Folder::new(&[("t", &bytes)]);
        for (flag, whole_lines) in [("-w", false), ("-x", true)] {
            let fixed = ["scan", "-o", "-b", "--semantics", "leftmost-first", flag, "t"];
            let patterned = patterns.iter().flat_map(|p| ["-e", p]);
            let run =
                f.command(fixed.into_iter().chain(patterned)).output().map(Run::from).unwrap();
            let expected = bounded(&bytes, &patterns, whole_lines);
            let case = format!("round {round}: {flag} on {}", bytes.escape_ascii());
            assert!(run.raw == expected, "{case}\n{}", both(&run.raw, &expected));
        }
    }
}

#[test]
fn lists_of_paths_are_those_of_ripgrep() {
    let mut rg = Program::new("rg", &["-a", "-F", "--sort", "path"]);
    let f = Folder::new(&[("t", b"ab\n"), ("u", b"x\n"), ("v", b"")]);
    for flags in [
        "-l -e ab u",
        "--files-without-match -e ab u",
        "--files-without-match -e zz",
        "--files-without-match -e ab",
        "-l -v -e ab u",
        "-l -w -e a u",
        "-l -x -e ab u v",
        "-l -0 -e ab",
        "-q -c -e ab",
        "-q -v -e ab",
        "-c -0 -H -e ab",
    ] {
        let args: Vec<String> = flags.split(' ').map(str::to_owned).collect();
        let own = ["scan".to_owned()].into_iter().chain(args.clone()).chain(["t".to_owned()]);
        let run = Run::from(f.command(own).output().unwrap());
        if let Some((code, out)) = rg.run(&f, &args) {
            let mut lines: Vec<&[u8]> = run.raw.split_inclusive(|&b| b == b'\n').collect();
            lines.sort_unstable();
            assert!(run.code == code && lines.concat() == out, "{flags}: {:?} {out:?}", run.raw);
        }
    }
    rg.report();
}
