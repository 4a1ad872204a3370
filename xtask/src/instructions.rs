//! `cargo xtask instructions`: instructions per byte of haystack, compared with the record.
//!
//! Times vary on a shared machine, instruction counts do not, so this check sees when a hot loop
//! grows. Valgrind counts those of x86-64. It does not know AVX-512, so engines run in their AVX2
//! and scalar forms; a gather is one instruction. A plugin of QEMU counts those of AArch64. A count
//! is the difference between two haystacks, one three times as long as the other; that leaves out
//! the start of the process and the compilation of the set.

use crate::aarch64;
use anyhow::{Context, Result, bail, ensure};
use fyke_testkit::random::{self, SplitMix};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The record, from the root of the workspace.
const NOTED: &str = "benchmarks/instructions.toml";

/// The plugin that counts in QEMU.
const PLUGIN: &str = "xtask/qemu/count.rs";

/// The relative difference to the record that passes, because compilers differ by a few percent.
const TOLERANCE: f64 = 0.15;

/// Bytes of the smaller haystack; the other one has three times as many.
const BYTES: usize = 1_200_000;

const HEAD: &str = "\
# Instructions per byte of haystack, counted by `cargo xtask instructions`, written by `--write`.
# A difference of more than 15 % fails: more is a loop that grew, less is a gain to record.
# Engines run in their best forms unless an option says otherwise: AVX2 and NEON.
";

/// What builds the program to count, an example of fyke-cpu.
const BUILD: [&str; 7] = ["build", "--release", "--quiet", "-p", "fyke-cpu", "--example", "count"];

/// Pattern sets, and the engines that are counted with each. Gathers are chosen here, because
/// engines choose by how long a gather takes, and that varies on a shared machine.
const CELLS: [(&str, &[&str]); 3] = [
    ("words-20", &["teddy", "teddy:isa=scalar"]),
    (
        "words-1000",
        &[
            "qgram-filter:gathers=vector",
            "qgram-filter:gathers=scalar",
            "qgram-filter:isa=scalar",
            "ac-simd:gathers=vector",
            "ac-simd:gathers=scalar",
            "ac-simd:isa=scalar",
            "ac-dfa",
            "ac-nfa",
        ],
    ),
    ("dna-1000", &["qgram-sampling", "qgram-sampling:isa=scalar", "qgram-filter:gathers=vector"]),
];

/// How instructions of an architecture are counted.
struct Counter {
    /// The architecture, as in the record.
    name: &'static str,
    /// The program to count.
    program: PathBuf,
    /// What runs it, with its arguments.
    runner: Vec<OsString>,
    /// What stands before the count, in what the runner prints.
    label: &'static str,
}

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
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let counters = [Counter::x86_64()?, Counter::aarch64(folder.path())?];
    let noted = fs::read_to_string(NOTED).unwrap_or_default();
    let noted: toml::Table = noted.parse().with_context(|| NOTED.to_owned())?;
    let mut counted = HEAD.to_owned();
    let mut off = Vec::new();
    for (name, engines) in CELLS {
        data(name).write(folder.path())?;
        counted += &format!("\n[{name}]\n");
        for engine in engines {
            let mut row = Vec::new();
            for counter in &counters {
                let per_byte = counter.per_byte(engine, folder.path())?;
                let machine = counter.name;
                println!("{name:<12} {engine:<32} {machine:<8} {per_byte:>8.2} instructions/B");
                row.push(format!("{machine} = {per_byte:.2}"));
                let before =
                    noted.get(name).and_then(|set| set.get(engine)?.get(machine)?.as_float());
                if !before.is_some_and(|before| (per_byte / before - 1.0).abs() <= TOLERANCE) {
                    let record = format!("the record has {before:?}");
                    off.push(format!("{name} {engine} {machine}: {per_byte:.2}, {record}"));
                }
            }
            counted += &format!("\"{engine}\" = {{ {} }}\n", row.join(", "));
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

impl Counter {
    /// Valgrind.
    fn x86_64() -> Result<Counter> {
        crate::cargo::run(&BUILD, &[])?;
        let runner = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];
        Ok(Counter {
            name: "x86_64",
            program: "target/release/examples/count".into(),
            runner: runner.map(OsString::from).into(),
            label: "refs:",
        })
    }

    /// QEMU with a plugin, which is compiled first.
    fn aarch64(folder: &Path) -> Result<Counter> {
        crate::cargo::run(&[&BUILD[..], &aarch64::BUILD].concat(), &[])?;
        let plugin = folder.join("count.so");
        let compiled = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
            .args(["--edition=2024", "-O", "--crate-type=cdylib", PLUGIN, "-o"])
            .arg(&plugin)
            .status()
            .context("cannot start rustc")?;
        ensure!(compiled.success(), "rustc {PLUGIN}: {compiled}");
        let [program, options @ ..] = aarch64::RUNNER;
        let mut runner = vec![program.into(), "-plugin".into(), plugin.into_os_string()];
        runner.extend(options.map(OsString::from));
        Ok(Counter {
            name: "aarch64",
            program: Path::new("target").join(aarch64::TARGET).join("release/examples/count"),
            runner,
            label: "instructions:",
        })
    }

    fn per_byte(&self, engine: &str, folder: &Path) -> Result<f64> {
        let [small, large] =
            ["small", "large"].map(|haystack| self.count(engine, folder, haystack));
        let more = large?.checked_sub(small?);
        let more = more.context("a longer haystack took fewer instructions")?;
        Ok(more as f64 / (2 * BYTES) as f64)
    }

    /// Instructions of a whole process.
    fn count(&self, engine: &str, folder: &Path, haystack: &str) -> Result<u64> {
        let name = self.runner[0].to_string_lossy();
        let out = Command::new(&self.runner[0])
            .args(&self.runner[1..])
            .arg(&self.program)
            .arg(engine)
            .args([folder.join("patterns"), folder.join(haystack)])
            .output()
            .with_context(|| {
                format!("cannot start {name}, which counts instructions: install it")
            })?;
        let said = String::from_utf8_lossy(&out.stderr);
        ensure!(out.status.success(), "{engine} under {name}: {said}");
        let count = said.lines().find_map(|line| line.split_once(self.label));
        let (_, count) = count.with_context(|| format!("{name} printed no count: {said}"))?;
        let digits: String = count.chars().filter(char::is_ascii_digit).collect();
        digits.parse().with_context(|| said.into_owned())
    }
}
