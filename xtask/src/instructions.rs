//! `cargo xtask instructions`: instructions per byte of haystack, compared with the record.
//!
//! Times vary on a shared machine, instruction counts do not, so this check sees when a hot loop
//! grows. Valgrind counts. It does not know AVX-512, so engines run in their AVX2 and scalar
//! forms. A count is the difference between two haystacks, one three times as long as the other;
//! that leaves out the start of the process and the compilation of the set.

use anyhow::{Context, Result, bail, ensure};
use fyke_testkit::random::{self, SplitMix};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// The record, from the root of the workspace.
const NOTED: &str = "benchmarks/instructions.toml";

/// The relative difference to the record that passes, because compilers differ by a few percent.
const TOLERANCE: f64 = 0.15;

/// Bytes of the smaller haystack; the other one has three times as many. The command reads both as
/// large files: a small one goes into a buffer of its size, which is zeroed once.
const BYTES: usize = 1_200_000;

const HEAD: &str = "\
# Instructions per byte of haystack, counted by `cargo xtask instructions`, written by `--write`.
# A difference of more than 15 % fails: more is a loop that grew, less is a gain to record.
";

/// Pattern sets, and the engines that are counted with each.
const CELLS: [(&str, &[&str]); 3] = [
    ("words-20", &["teddy", "teddy:isa=scalar"]),
    (
        "words-1000",
        &[
            "qgram-filter",
            "qgram-filter:isa=scalar",
            "ac-simd",
            "ac-simd:isa=scalar",
            "ac-dfa",
            "ac-nfa",
        ],
    ),
    ("dna-1000", &["qgram-sampling", "qgram-sampling:isa=scalar", "qgram-filter"]),
];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Write the record instead of comparing with it
    #[arg(long)]
    write: bool,
}

/// A set and its haystack.
struct Data {
    patterns: Vec<Vec<u8>>,
    haystack: Vec<u8>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    crate::cargo::run(&["build", "--release", "--quiet", "--bin", "fyke"], &[])?;
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let noted = fs::read_to_string(NOTED).unwrap_or_default();
    let noted: toml::Table = noted.parse().with_context(|| NOTED.to_owned())?;
    let mut counted = HEAD.to_owned();
    let mut off = Vec::new();
    for (name, engines) in CELLS {
        data(name).write(folder.path())?;
        counted += &format!("\n[{name}]\n");
        for engine in engines {
            let per_byte = per_byte(engine, folder.path())?;
            println!("{name:<12} {engine:<32} {per_byte:>8.2} instructions/B");
            counted += &format!("\"{engine}\" = {per_byte:.2}\n");
            let before = noted.get(name).and_then(|set| set.get(engine)?.as_float());
            match before {
                Some(before) if (per_byte / before - 1.0).abs() <= TOLERANCE => {}
                _ => off.push(format!("{name} {engine}: {per_byte:.2}, the record has {before:?}")),
            }
        }
    }
    if args.write {
        fs::write(NOTED, counted).with_context(|| NOTED.to_owned())?;
    } else if !off.is_empty() {
        let off = off.join("\n  ");
        bail!(
            "instructions per byte differ from the record:\n  {off}\nIf that is intended: cargo xtask instructions --write"
        );
    }
    Ok(ExitCode::SUCCESS)
}

fn data(name: &str) -> Data {
    if name == "dna-1000" {
        let haystack = random::text(4, 3 * BYTES, 1);
        let patterns =
            (0..1000).map(|i| haystack[i * (3 * BYTES / 1_000)..][..20].to_vec()).collect();
        return Data { patterns, haystack };
    }
    let mut random = SplitMix::new(2);
    let words: Vec<_> = (0..4_000).map(|i| random::text(26, 3 + i % 8, i as u64)).collect();
    let mut haystack = Vec::new();
    while haystack.len() < 3 * BYTES {
        // The first words are the most frequent ones; the patterns are among the others.
        let most = 1 + random.below(words.len() as u64);
        haystack.extend_from_slice(&words[random.below(most) as usize]);
        haystack.push(b' ');
    }
    haystack.truncate(3 * BYTES);
    let long = words.into_iter().rev().filter(|w| w.len() > 4);
    let patterns = long.take(if name == "words-20" { 20 } else { 1_000 }).collect();
    Data { patterns, haystack }
}

impl Data {
    fn write(&self, folder: &Path) -> Result<()> {
        let mut lines = self.patterns.join(&b'\n');
        lines.push(b'\n');
        fs::write(folder.join("patterns"), lines)?;
        fs::write(folder.join("small"), &self.haystack[..BYTES])?;
        fs::write(folder.join("large"), &self.haystack)?;
        Ok(())
    }
}

fn per_byte(engine: &str, folder: &Path) -> Result<f64> {
    let (small, large) = (count(engine, folder, "small")?, count(engine, folder, "large")?);
    let more = large.checked_sub(small).context("a longer haystack took fewer instructions")?;
    Ok(more as f64 / (2 * BYTES) as f64)
}

/// Instructions of a whole process.
fn count(engine: &str, folder: &Path, haystack: &str) -> Result<u64> {
    let engine = format!("--engine={engine}");
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "target/release/fyke"])
        .args(["scan", "--threads=1", "--count", &engine, "-f"])
        .args([folder.join("patterns"), folder.join(haystack)])
        .output()
        .context("cannot start valgrind, which counts instructions: install it")?;
    let said = String::from_utf8_lossy(&out.stderr);
    ensure!(out.status.success(), "{engine} under valgrind: {said}");
    let refs = said.lines().find_map(|line| line.split_once("refs:"));
    let (_, refs) = refs.with_context(|| format!("valgrind printed no count: {said}"))?;
    let digits: String = refs.chars().filter(char::is_ascii_digit).collect();
    digits.parse().with_context(|| said.into_owned())
}
