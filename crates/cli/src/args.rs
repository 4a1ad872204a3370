//! The arguments. Help, man page, completions and `docs/cli.md` are made from these definitions.

use crate::cmd;
use clap::{Args, Parser, Subcommand, ValueEnum};
use fyke_io::rules::Format;
use std::ffi::OsString;
use std::path::PathBuf;

/// Finds every occurrence of every pattern of a set, in any amount of data
#[derive(Parser, Debug)]
#[command(name = "fyke", version, arg_required_else_help = true, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "Exit codes: 0 a match, 1 none, 2 an error, 130 interrupted.";

/// The verbs.
#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Print every match of a pattern set in files, folders or standard input
    Scan(Box<cmd::scan::ScanArgs>),
    /// List the engines, and which of them run on this machine
    Engines(cmd::engines::EnginesArgs),
    /// List the graphics processors that engines can use, and what is missing
    Devices(cmd::devices::DevicesArgs),
    /// Say which engine a pattern set gets and why, and what it takes
    Explain(cmd::explain::ExplainArgs),
    /// Measure engines and rivals on the same data, after verifying them
    Bench(Box<cmd::bench::BenchArgs>),
    /// Predict how long data take from the host through a GPU and back, and measure it
    #[cfg(feature = "papers")]
    Model(Box<cmd::model::ModelArgs>),
    /// Write the man page, shell completions or generated documents
    Generate(cmd::generate::GenerateArgs),
}

/// Where patterns come from, and what compiles them.
#[derive(Args, Debug)]
pub(crate) struct PatternArgs {
    /// A pattern; may be given several times
    #[arg(short = 'e', long = "pattern", value_name = "PATTERN", help_heading = "Patterns")]
    pub(crate) patterns: Vec<OsString>,

    /// Take patterns from a file, or from standard input if it is `-`; may be given several times
    #[arg(short = 'f', long = "file", value_name = "FILE", help_heading = "Patterns")]
    pub(crate) files: Vec<OsString>,

    /// How patterns are written, those of `-e` and those of `-f`
    #[arg(long, value_enum, default_value_t = PatternsFormat::Lines, value_name = "FORMAT", help_heading = "Patterns")]
    pub(crate) patterns_format: PatternsFormat,

    /// Ignore the case of ASCII letters, whatever the rules say
    #[arg(short = 'i', long, help_heading = "Patterns")]
    pub(crate) ignore_case: bool,

    /// Go on without bad rules; each is named on standard error
    #[arg(long, help_heading = "Patterns")]
    pub(crate) skip_bad_rules: bool,

    /// Also take rules that are commented out (snort format)
    #[arg(long, help_heading = "Patterns")]
    pub(crate) commented_rules: bool,

    /// The engine, with its own options behind a colon: `ac-dfa:walks=4`. `help` lists all
    #[arg(long, value_name = "NAME[:K=V,...]", default_value = "auto", help_heading = "Engine")]
    pub(crate) engine: String,

    /// Most memory that the compiled patterns may take, with suffix K, M, G or T; more is refused beforehand
    #[arg(long, value_name = "SIZE", value_parser = parse_size, help_heading = "Engine")]
    pub(crate) memory_limit: Option<u64>,

    /// A file like those to be scanned: engines are chosen, and patterns known, by what is rare in it
    #[arg(long, value_name = "FILE", help_heading = "Engine")]
    pub(crate) sample: Option<PathBuf>,
}

/// How patterns are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PatternsFormat {
    /// One literal pattern a line
    Lines,
    /// One pattern a line in hexadecimal digits, `#` begins a comment
    Hex,
    /// Snort 2, Snort 3 or Suricata rules: every `content` string
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

/// Reads `64M` and the like: a number of bytes, in powers of 1024.
pub(crate) fn parse_size(text: &str) -> Result<u64, String> {
    let bad =
        || format!("{text:?} is not a size: write a number of bytes, or one with K, M, G or T");
    let upper = text.trim().to_ascii_uppercase();
    let digits = upper.trim_end_matches('B').trim_end_matches('I');
    let (number, shift) = match digits.strip_suffix(['K', 'M', 'G', 'T']) {
        Some(number) => (number, 10 * (1 + "KMGT".find(&digits[number.len()..]).unwrap_or(0))),
        None => (digits, 0),
    };
    let number: u64 = number.trim().parse().map_err(|_| bad())?;
    number.checked_mul(1 << shift).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("12", 12),
            ("4k", 4096),
            ("1M", 1 << 20),
            ("2GiB", 2 << 30),
            ("1T", 1 << 40),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "1.5G", "-1", "99999999999T", "12X"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn definitions_are_sound() {
        <Cli as clap::CommandFactory>::command().debug_assert();
    }
}
