//! `cargo xtask emulate`: tests on CPUs that this machine is not: one without AVX-512, one without
//! AVX2, one of AArch64, and WebAssembly.
//!
//! A program that executes an instruction that its CPU lacks is killed, but only on such a CPU,
//! and those that test a change tend to be new. So this runs tests in emulators whose CPUs are
//! older:
//!
//! * valgrind knows no AVX-512, and has AVX2 if the machine has it. (QEMU 7.2 would emulate AVX2,
//!   but its gathers are wrong.)
//! * QEMU's Nehalem has no AVX.
//! * QEMU's AArch64 has NEON, for which the tests are built.
//! * Wasmtime runs WebAssembly, for which the tests are built with simd128. It has no threads, and a
//!   panic ends the program, so unit tests of both are left out. The page of examples/web has a
//!   test of its own.
//!
//! Emulation is slow, so these run: the unit tests of the CPU engines, product and papers; of some
//! suites, the engines that have forms for the CPU, in their default variants, without the slowest
//! files of vectors; and the README's main job, where the command is at hand. Whether the other
//! variants find the right matches is not a question of the CPU, and `cargo test` answers it.
//! `--full` adds what takes longest.
//!
//! A CPU of this architecture is left out, and that is printed, if this machine has the same best
//! instruction set: then `cargo test` runs on such a CPU already. Named, it is emulated all the
//! same. The tests are built first, because the example that prints the detection is among them.
//! All machines are emulated side by side, and so are the engines of a suite, because valgrind uses a
//! single core.

use crate::aarch64;
use anyhow::{Context, Result, ensure};
use cargo_metadata::{Artifact, Message};
use clap::Parser;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::time::Instant;

/// An emulator with a CPU.
struct Machine {
    what: &'static str,
    /// The program and its arguments, before those of what it runs.
    runner: &'static [&'static str],
    /// What builds for its architecture, if it is another one: arguments of cargo.
    target: &'static [&'static str],
    /// The best instruction set that detection must find: see the example `isa` of fyke-cpu.
    best: &'static str,
    /// The packages whose unit tests run there.
    packages: &'static [&'static str],
    /// Parts of the names of unit tests that cannot run there.
    without: &'static [&'static str],
    /// The engines that the suites run with.
    engines: &'static [&'static str],
    /// The suites, test programs of fyke.
    suites: &'static [&'static str],
    /// Suites that run only with `--full`.
    more_suites: &'static [&'static str],
    /// Whether the command can run there.
    has_command: bool,
}

const MACHINES: [Machine; 4] = [
    Machine {
        what: "a CPU without AVX-512",
        runner: &["valgrind", "--quiet", "--tool=none"],
        target: &[],
        best: "avx2",
        packages: &["fyke-cpu", "fyke-papers"],
        without: &STOPS,
        engines: &WITH_FORMS,
        suites: &["conformance"],
        more_suites: &[],
        has_command: true,
    },
    Machine {
        what: "a CPU without AVX2",
        runner: &["qemu-x86_64", "-cpu", "Nehalem"],
        target: &[],
        best: "scalar",
        packages: &["fyke-cpu", "fyke-papers"],
        without: &STOPS,
        engines: &WITH_FORMS,
        suites: &["conformance"],
        more_suites: &[],
        has_command: true,
    },
    Machine {
        what: "a CPU of AArch64",
        runner: &aarch64::RUNNER,
        target: &aarch64::BUILD,
        best: "neon",
        packages: &["fyke-core", "fyke-automata", "fyke-cpu"],
        without: &STOPS,
        engines: &WITH_FORMS,
        suites: &["conformance", "hostile"],
        more_suites: &["properties", "golden"],
        has_command: true,
    },
    Machine {
        what: "WebAssembly",
        runner: &["python3", "xtask/wasm/run.py"],
        target: &[
            "--target",
            "wasm32-wasip1",
            "--config",
            "target.wasm32-wasip1.rustflags=[\"-Ctarget-feature=+simd128\"]",
        ],
        best: "simd128",
        packages: &["fyke-core", "fyke-automata", "fyke-cpu"],
        without: &["channel::", "parallel::", "an_absent_form_is_printed_or_fails"],
        engines: &["auto", "teddy", "qgram-filter"],
        suites: &["conformance", "hostile", "properties"],
        more_suites: &[],
        has_command: false,
    },
];

/// The package that has the suites.
const SUITES_OF: &str = "fyke";

/// The engines that have forms for instruction sets, and the one that chooses from them.
const WITH_FORMS: [&str; 5] = ["auto", "teddy", "qgram-filter", "qgram-sampling", "ac-simd"];

/// Unit tests of how threads stop, which take long and do not depend on the CPU.
const STOPS: [&str; 1] = ["parallel::tests::stops"];

/// Files of vectors that take most of the conformance suite's time.
const SLOW: [&str; 3] = ["boundaries", "long", "overlaps"];

/// How many tests of a suite ran, and how many did not.
struct Ran {
    passed: usize,
    left_out: usize,
}

#[derive(Parser)]
pub(crate) struct Args {
    /// Only machines whose names contain this: `AVX2`, `AArch64`, `WebAssembly`
    machine: Option<String>,
    /// Add what takes longest: the other suites and the main job on AArch64
    #[arg(long)]
    full: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let job = main_job()?;
    let asked = |machine: &&Machine| args.machine.as_ref().is_none_or(|a| machine.what.contains(a));
    let machines: Vec<_> = MACHINES.iter().filter(asked).collect();
    ensure!(!machines.is_empty(), "no machine has this name: {:?}", MACHINES.map(|m| m.what));
    // For another architecture the command must be built, which takes minutes.
    let runs_job =
        |machine: &Machine| machine.has_command && (machine.target.is_empty() || args.full);
    // A release build, which takes long.
    let expected = if machines.iter().any(|machine| runs_job(machine)) {
        output(&mut cargo(&[], &job))?.stdout
    } else {
        Vec::new()
    };
    let failed = std::thread::scope(|scope| {
        let emulate = |machine: &'static Machine| {
            let expected = runs_job(machine).then_some((&job[..], &expected[..]));
            scope.spawn(move || machine.emulate(args, expected))
        };
        let runs: Vec<_> = machines.iter().map(|&machine| (machine, emulate(machine))).collect();
        let mut failed = 0;
        for (machine, run) in runs {
            let (report, outcome) = run.join().expect("an emulation panicked");
            print!("{report}");
            if let Err(error) = outcome {
                println!("{}: failed: {error:#}", machine.what);
                failed += 1;
            }
        }
        failed
    });
    ensure!(failed == 0, "{failed} of {} machines failed: see above", machines.len());
    Ok(ExitCode::SUCCESS)
}

impl Machine {
    /// Builds what runs there, and runs it. Returns what is to be printed, even of a run that fails.
    fn emulate(&self, args: &Args, job: Option<(&[String], &[u8])>) -> (String, Result<()>) {
        eprintln!("{}: started", self.what);
        let mut report = String::new();
        let outcome = self.report(args, job, &mut report);
        (report, outcome)
    }

    /// As [`emulate`](Self::emulate). `job` is the main job and what it prints here, if it is to run.
    fn report(
        &self,
        args: &Args,
        job: Option<(&[String], &[u8])>,
        report: &mut String,
    ) -> Result<()> {
        let more_suites = if args.full { self.more_suites } else { &[] };
        let programs = self.build(more_suites)?;
        let start = Instant::now();
        let here = if self.target.is_empty() { programs.detected(&[])? } else { String::new() };
        if args.machine.is_none() && self.best == here {
            writeln!(
                report,
                "{}: left out, because this CPU is one: detection finds {here}",
                self.what
            )?;
            return Ok(());
        }
        self.check_detection(&programs, report)?;
        for package in self.packages {
            let skipped = self.without.iter().flat_map(|name| ["--skip", name]);
            let tests = programs.test(&self.runner(), package, "lib", skipped)?;
            writeln!(report, "  unit tests of {package}: {}", summary(&tests)?)?;
        }
        for suite in self.suites.iter().chain(more_suites) {
            let Ran { passed, left_out } = self.suite(suite, &programs)?;
            writeln!(
                report,
                "  {suite}: {passed} tests passed, of {} in their default variants, without the \
                 vectors of {}; {left_out} left out",
                self.engines.join(", "),
                SLOW.join(", ")
            )?;
        }
        if let Some((job, expected)) = job {
            let found = output(&mut self.cargo(job))?.stdout;
            let name = job.join(" ");
            ensure!(found == expected, "{name} prints something else");
            writeln!(report, "  {name}: as on this machine, {} bytes", found.len())?;
        }
        writeln!(report, "  {} s", start.elapsed().as_secs())?;
        Ok(())
    }

    /// `cargo ARGS`, of which the first is the verb.
    fn cargo(&self, args: &[impl AsRef<str>]) -> Command {
        let (verb, args) = args.split_at(1);
        let args = args.iter().map(AsRef::as_ref);
        let args = [verb[0].as_ref()].into_iter().chain(self.target.iter().copied()).chain(args);
        cargo(self.runner, &args.collect::<Vec<_>>())
    }

    /// The emulator and its arguments, in any folder.
    fn runner(&self) -> Vec<String> {
        absolute(self.runner)
    }

    /// Fails if the emulator's CPU has more than it should, or less: then it would test nothing.
    fn check_detection(&self, programs: &Programs, report: &mut String) -> Result<()> {
        let found = programs.detected(&self.runner())?;
        let runner = self.runner.join(" ");
        writeln!(report, "{}, by {runner}: detection finds {found}", self.what)?;
        ensure!(found == self.best, "detection finds {found} there, and must find {}", self.best);
        Ok(())
    }

    /// Builds what runs. Programs of this architecture are those of `cargo test --workspace`, which
    /// may exist already; for another one no more than needed is built.
    fn build(&self, more_suites: &[&str]) -> Result<Programs> {
        if self.target.is_empty() {
            return Ok(Programs(self.built(&["test", "--no-run", "--workspace"])?));
        }
        // The same packages for both, because they decide the features.
        let packages = self.packages.iter().chain([&SUITES_OF]).flat_map(|package| ["-p", package]);
        let packages: Vec<_> = packages.collect();
        let suites = self.suites.iter().chain(more_suites).flat_map(|suite| ["--test", suite]);
        let suites: Vec<_> = suites.collect();
        let mut programs =
            self.built(&[&["test", "--no-run", "--lib"], &packages[..], &suites].concat())?;
        programs.extend(self.built(&[&["build", "--example", "isa"], &packages[..]].concat())?);
        Ok(Programs(programs))
    }

    /// The programs that `cargo ARGS` builds.
    fn built(&self, args: &[&str]) -> Result<Vec<Artifact>> {
        let args = [args, &["--quiet", "--message-format", "json"]].concat();
        let printed = output(&mut self.cargo(&args))?.stdout;
        let mut built = Vec::new();
        for message in Message::parse_stream(&printed[..]) {
            let message = message.context("reading cargo's messages")?;
            if let Message::CompilerArtifact(artifact) = message
                && artifact.executable.is_some()
            {
                built.push(artifact);
            }
        }
        Ok(built)
    }

    /// Runs a suite with each engine, all at once, because valgrind uses a single core.
    fn suite(&self, suite: &str, programs: &Programs) -> Result<Ran> {
        let of_engine = |engine: &str| -> Result<[usize; 2]> {
            // The slash leaves out the variants with options.
            let filter = format!("{engine}/");
            let skipped = SLOW.iter().flat_map(|file| ["--skip", file]);
            let args = [filter.as_str()].into_iter().chain(skipped);
            let summary = summary(&programs.test(&self.runner(), SUITES_OF, suite, args)?)?;
            let passed = number_before(&summary, " passed").context("no tests are counted")?;
            ensure!(passed > 0, "no test of {engine} ran");
            Ok([passed, number_before(&summary, " filtered out").unwrap_or(0)])
        };
        let ended: Vec<Result<[usize; 2]>> = std::thread::scope(|scope| {
            let run = |&engine| scope.spawn(move || of_engine(engine));
            let runs: Vec<_> = self.engines.iter().map(run).collect();
            runs.into_iter().map(|run| run.join().expect("a run panicked")).collect()
        });
        let errors = ended.iter().filter_map(|ran| ran.as_ref().err());
        let errors: Vec<_> = errors.map(|error| format!("{error:#}")).collect();
        ensure!(errors.is_empty(), "{}", errors.join("\n"));
        let ran: Vec<[usize; 2]> = ended.into_iter().flatten().collect();
        let passed = ran.iter().map(|[passed, _]| passed).sum();
        // What one engine's run leaves out, the others' may run.
        let all = ran.last().map_or(0, |engine| engine.iter().sum());
        Ok(Ran { passed, left_out: all - passed })
    }
}

/// Programs that cargo built.
struct Programs(Vec<Artifact>);

impl Programs {
    /// Runs a package's unit tests (`lib`) or one of its suites as cargo does: in the package's
    /// folder.
    fn test<'a>(
        &self,
        runner: &[String],
        package: &str,
        name: &str,
        args: impl Iterator<Item = &'a str>,
    ) -> Result<Output> {
        // crates/cpu is fyke-cpu.
        let folder = Path::new("crates").join(package.strip_prefix("fyke-").unwrap_or(package));
        let manifest = folder.join("Cargo.toml");
        let program = self.find(&format!("{package} {name}"), |built| {
            let named =
                if name == "lib" { built.target.is_lib() } else { built.target.name == name };
            named && built.profile.test && built.manifest_path.ends_with(&manifest)
        })?;
        let mut command = through(runner, program);
        // So few engines run here that their shares would not add up to the suite.
        output(command.arg("--quiet").args(args).env("FYKE_SHARE", "all").current_dir(folder))
    }

    /// The best instruction set that detection finds, in an emulator or, without one, here.
    fn detected(&self, runner: &[String]) -> Result<String> {
        let example = |built: &Artifact| built.target.name == "isa" && !built.profile.test;
        let found = output(&mut through(runner, self.find("example isa", example)?))?.stdout;
        Ok(String::from_utf8_lossy(&found).trim().to_owned())
    }

    fn find(&self, what: &str, is_it: impl Fn(&Artifact) -> bool) -> Result<&Path> {
        let artifact = self.0.iter().find(|built| is_it(built));
        let path = artifact.and_then(|built| built.executable.as_ref());
        Ok(path.with_context(|| format!("cargo built no {what}"))?.as_std_path())
    }
}

/// A program in an emulator or, without one, by itself.
fn through(runner: &[String], program: &Path) -> Command {
    let Some((emulator, args)) = runner.split_first() else { return Command::new(program) };
    let mut command = Command::new(emulator);
    command.args(args).arg(program);
    command
}

/// `cargo ARGS`, of which the first is the verb, with an emulator for what it runs.
fn cargo(runner: &[&str], args: &[impl AsRef<str>]) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let (verb, args) = args.split_at(1);
    cargo.arg(verb[0].as_ref());
    if !runner.is_empty() {
        // Behind the verb: cargo forgets settings before it if there are others behind it.
        cargo.args(["--config", &format!("target.'cfg(all())'.runner = {runner:?}")]);
    }
    cargo.args(args.iter().map(AsRef::as_ref));
    cargo
}

/// A runner whose paths hold in every folder, because tests run in the folders of their packages.
fn absolute(runner: &[&str]) -> Vec<String> {
    let absolute = |part: &&str| match std::fs::canonicalize(part) {
        Ok(path) if part.starts_with("xtask/") => path.display().to_string(),
        _ => part.to_string(),
    };
    runner.iter().map(absolute).collect()
}

/// Runs to the end. A failure says what was printed.
fn output(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    let printed = [&output.stdout[..], &output.stderr].concat();
    let status = output.status;
    ensure!(status.success(), "{command:?}: {status}\n{}", String::from_utf8_lossy(&printed));
    Ok(output)
}

/// The line that sums up a test program's run.
fn summary(output: &Output) -> Result<String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let line = stdout.lines().find_map(|line| line.strip_prefix("test result: "));
    Ok(line.context("a test program printed no result")?.to_owned())
}

/// The number before a word: 3 of "3 passed".
fn number_before(summary: &str, word: &str) -> Option<usize> {
    summary.split(word).next()?.rsplit(' ').next()?.parse().ok()
}

/// The arguments for cargo of the first command in the README.
fn main_job() -> Result<Vec<String>> {
    let readme = std::fs::read_to_string(Path::new("README.md")).context("README.md")?;
    let command = readme.lines().find_map(|line| line.strip_prefix("cargo run "));
    let command = command.context("README.md has no line that begins with `cargo run`")?;
    Ok(["run", "--quiet"].into_iter().chain(command.split(' ')).map(String::from).collect())
}
