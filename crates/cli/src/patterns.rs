//! Patterns: the arguments that name them, and loading them in order.
//!
//! Patterns are numbered from 1: those of `-e` first, then those of the files of `-f`. An error
//! names file, line and column.

use crate::{engine, number, warning};
use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use fyke::Options;
use fyke_io::rules::{self, Format, Parsed, RuleError, Rules};
use fyke_io::source::{self, Opened};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bad rules that are printed one by one; the rest is only counted.
const PRINTED_ERRORS: usize = 20;

/// Parts of a sample file that are read, and the bytes of each: as much as the statistics use.
const SAMPLE_PARTS: u64 = 32;
const SAMPLE_PART: u64 = 64 << 10;

/// Which patterns to search for, and how to compile them.
#[derive(Args, Debug)]
pub(crate) struct PatternArgs {
    /// A pattern; may be repeated
    #[arg(short = 'e', long = "pattern", visible_alias = "regexp", value_name = "PATTERN")]
    #[arg(help_heading = "Patterns")]
    patterns: Vec<OsString>,

    /// Read patterns from FILE, or from standard input if FILE is `-`; may be repeated
    #[arg(short = 'f', long = "file", value_name = "FILE", help_heading = "Patterns")]
    files: Vec<OsString>,

    /// Format of the patterns given with -e and -f
    #[arg(long, value_enum, default_value_t = PatternsFormat::Lines)]
    #[arg(value_name = "FORMAT", help_heading = "Patterns")]
    patterns_format: PatternsFormat,

    /// Ignore the case of ASCII letters in all patterns, whatever the rules say
    #[arg(short = 'i', long, help_heading = "Patterns")]
    pub(crate) ignore_case: bool,

    /// Report bad rules on standard error, and continue without them
    #[arg(long, help_heading = "Patterns")]
    skip_bad_rules: bool,

    /// Also read rules that are commented out (snort format only)
    #[arg(long, help_heading = "Patterns")]
    commented_rules: bool,

    /// Engine, with its options after a colon, as in `ac-dfa:walks=4`; `help` lists all engines
    #[arg(long, value_name = "NAME[:K=V,...]", default_value = "auto", help_heading = "Engine")]
    #[arg(value_parser = engine::Specification, hide_possible_values = true)]
    pub(crate) engine: String,

    /// Maximum memory of the compiled patterns, with optional suffix K, M, G or T; a set that
    /// needs more is refused before it is compiled
    #[arg(long, value_name = "SIZE", value_parser = number::size, help_heading = "Engine")]
    #[arg(allow_negative_numbers = true)]
    memory_limit: Option<u64>,

    /// A file similar to those to be scanned. Its statistics choose the engine and the rarest
    /// window of each pattern
    #[arg(long, value_name = "FILE", help_heading = "Engine")]
    sample: Option<PathBuf>,
}

/// Format of the patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PatternsFormat {
    /// One literal pattern per line
    Lines,
    /// One pattern per line in hexadecimal digits; `#` starts a comment
    Hex,
    /// Snort 2, Snort 3 or Suricata rules; each `content` string is a pattern
    Snort,
}

impl From<PatternsFormat> for Format {
    fn from(format: PatternsFormat) -> Self {
        match format {
            PatternsFormat::Lines => Format::Lines,
            PatternsFormat::Hex => Format::Hex,
            PatternsFormat::Snort => Format::Snort,
        }
    }
}

impl PatternArgs {
    /// Whether patterns are read from standard input.
    pub(crate) fn use_stdin(&self) -> bool {
        self.files.iter().any(|file| file == "-")
    }

    /// Whether the patterns are plain text, which identifies itself in the output without a label.
    pub(crate) fn are_plain(&self) -> bool {
        self.patterns_format == PatternsFormat::Lines
    }
}

/// The options that apply to every engine.
pub(crate) fn options(args: &PatternArgs) -> anyhow::Result<Options> {
    let mut options = Options::default();
    options.memory_limit = args.memory_limit;
    if let Some(path) = &args.sample {
        let bytes = sample(path)
            .with_context(|| format!("cannot read the sample file {}", path.display()))?;
        options = options.sampled(bytes);
    }
    Ok(options)
}

/// Reads evenly spaced parts of a file, or the start of a stream.
fn sample(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match source::open(path)? {
        Opened::Stream(stream) => {
            stream.take(SAMPLE_PARTS * SAMPLE_PART).read_to_end(&mut bytes)?;
        }
        Opened::File(file) if file.len() <= SAMPLE_PARTS * SAMPLE_PART => {
            bytes.resize(file.len() as usize, 0);
            file.read_at(0, &mut bytes)?;
        }
        Opened::File(file) => {
            bytes.resize((SAMPLE_PARTS * SAMPLE_PART) as usize, 0);
            let gap = (file.len() - SAMPLE_PART) / (SAMPLE_PARTS - 1);
            for (i, part) in (0..).zip(bytes.chunks_mut(SAMPLE_PART as usize)) {
                file.read_at(i * gap, part)?;
            }
        }
    }
    Ok(bytes)
}

/// Reads all patterns.
pub(crate) fn load(args: &PatternArgs) -> anyhow::Result<Rules> {
    if args.patterns.is_empty() && args.files.is_empty() {
        bail!("no patterns: give one with -e PATTERN, or a file of patterns with -f FILE");
    }
    let mut rules = Rules::new();
    let mut errors = Vec::new();
    let mut parse = |name: &str, bytes: &[u8]| {
        let options = rules::Options { commented: args.commented_rules };
        let Parsed { patterns, errors: bad } =
            rules::parse(args.patterns_format.into(), name, bytes, &options);
        rules.extend(patterns);
        errors.extend(bad);
    };
    for (i, pattern) in args.patterns.iter().enumerate() {
        parse(&format!("-e #{}", i + 1), as_line(pattern.as_encoded_bytes()));
    }
    for file in &args.files {
        let (name, bytes) = read(file)?;
        parse(&name, &bytes);
    }
    report(&errors, args.skip_bad_rules)?;
    if rules.is_empty() {
        warning::print(format_args!(
            "warning: the pattern files contain no patterns: nothing can match"
        ));
    }
    Ok(rules)
}

/// An empty argument as an empty line: the parser refuses that, but accepts an empty file.
fn as_line(pattern: &[u8]) -> &[u8] {
    if pattern.is_empty() { b"\n" } else { pattern }
}

fn read(file: &OsStr) -> anyhow::Result<(String, Vec<u8>)> {
    if file == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut bytes);
        read.context("cannot read patterns from standard input")?;
        return Ok(("<stdin>".to_owned(), bytes));
    }
    let name = file.to_string_lossy().into_owned();
    let bytes = fs::read(file).with_context(|| format!("cannot read the pattern file {name}"))?;
    Ok((name, bytes))
}

/// Prints the bad rules; an error unless they are to be skipped.
fn report(errors: &[RuleError], skip: bool) -> anyhow::Result<()> {
    for error in errors.iter().take(PRINTED_ERRORS) {
        warning::print(format_args!("{error}"));
    }
    if errors.len() > PRINTED_ERRORS {
        warning::print(format_args!("... and {} more", errors.len() - PRINTED_ERRORS));
    }
    let bad = |n| if n == 1 { "1 bad rule".to_owned() } else { format!("{n} bad rules") };
    match errors.len() {
        0 => Ok(()),
        n if skip => {
            warning::print(format_args!("warning: skipped {}", bad(n)));
            Ok(())
        }
        n => bail!("{}: correct them, or skip them with --skip-bad-rules", bad(n)),
    }
}
