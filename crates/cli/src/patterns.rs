//! Patterns: the arguments that name them, and the options of engines.

mod database;
mod load;

use crate::{engine, number};
use anyhow::Context;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fyke::Options;
use fyke_io::rules::Format;
use fyke_io::source::{self, Opened};
pub(crate) use load::{Loaded, load};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The number of parts of a sample file that are read, and the bytes of each: as much as the
/// statistics use.
const SAMPLE_PARTS: u64 = 32;
const SAMPLE_PART: u64 = 64 << 10;

/// The arguments that `--database` excludes: what they set is fixed when the database is compiled.
const NOT_OF_DATABASES: [&str; 6] =
    ["patterns", "files", "patterns_format", "ignore_case", "skip_bad_rules", "commented_rules"];

/// Which patterns to search for, and how to compile them.
#[derive(Args, Debug)]
pub(crate) struct PatternArgs {
    /// A pattern, which may start with a dash; may be repeated
    #[arg(short = 'e', long = "pattern", visible_alias = "regexp", value_name = "PATTERN")]
    #[arg(help_heading = "Patterns", allow_hyphen_values = true)]
    patterns: Vec<OsString>,

    /// Read patterns from FILE, or from standard input if FILE is `-`; may be repeated. A format
    /// before the name holds for this file: `-f snort:web.rules`. A file whose name starts like
    /// that is given as `./snort:web.rules`
    #[arg(short = 'f', long = "file", value_name = "[FORMAT:]FILE", help_heading = "Patterns")]
    files: Vec<OsString>,

    /// Format of the patterns given with -e, and of the files given without a format
    #[arg(long, value_parser = formats(), default_value = Format::Lines.name())]
    #[arg(value_name = "FORMAT", help_heading = "Patterns")]
    patterns_format: Format,

    /// Ignore the case of ASCII letters in all patterns, whatever the rules say
    #[arg(short = 'i', long, help_heading = "Patterns")]
    pub(crate) ignore_case: bool,

    /// Report bad rules on standard error, and continue without them
    #[arg(long, help_heading = "Patterns")]
    skip_bad_rules: bool,

    /// Also read rules that are commented out (snort format only)
    #[arg(long, help_heading = "Patterns")]
    commented_rules: bool,

    /// Read patterns from a database that `fyke compile` wrote, with where they come from
    #[arg(long, value_name = "DB", help_heading = "Patterns", conflicts_with_all = NOT_OF_DATABASES)]
    database: Option<PathBuf>,

    /// Engine, with its options after a colon, as in `ac-dfa:walks=4`; `help` lists all engines.
    /// With --database, `auto` is the engine that the database was compiled for
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

/// Reads the name of a format. `--help` describes each.
fn formats() -> impl TypedValueParser<Value = Format> {
    let about = |format| match format {
        Format::Lines => "One literal pattern per line",
        Format::Hex => "One pattern per line in hexadecimal digits; `#` starts a comment",
        Format::Snort => "Snort 2, Snort 3 or Suricata rules; each `content` string is a pattern",
        Format::Yara => {
            "YARA rules; each text string and each hex string without wildcards is a pattern"
        }
    };
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(about(format)));
    PossibleValuesParser::new(values)
        .map(|name| Format::named(&name).expect("one of the possible values"))
}

impl PatternArgs {
    /// Whether patterns are read from standard input.
    pub(crate) fn use_stdin(&self) -> bool {
        self.files().any(|(_, file)| file == "-")
    }

    /// Adds files to those of `-f`.
    pub(crate) fn add_files(&mut self, files: impl IntoIterator<Item = OsString>) {
        self.files.extend(files);
    }

    /// Whether the patterns are plain text, which identifies itself in the output without a label.
    fn are_plain(&self) -> bool {
        let of_texts = (!self.patterns.is_empty()).then_some(self.patterns_format);
        let mut formats = self.files().map(|(format, _)| format).chain(of_texts);
        formats.all(|format| format == Format::Lines)
    }

    /// The files with their formats.
    fn files(&self) -> impl Iterator<Item = (Format, &OsStr)> {
        self.files.iter().map(|file| {
            let prefixed = Format::ALL
                .into_iter()
                .find_map(|format| Some((format, after_prefix(file, format.name())?)));
            prefixed.unwrap_or((self.patterns_format, file))
        })
    }
}

/// The name after `FORMAT:`.
fn after_prefix<'a>(file: &'a OsStr, format: &str) -> Option<&'a OsStr> {
    let bytes = file.as_encoded_bytes();
    let rest = bytes.strip_prefix(format.as_bytes())?.strip_prefix(b":")?;
    #[cfg(unix)]
    return Some(std::os::unix::ffi::OsStrExt::from_bytes(rest));
    #[cfg(not(unix))]
    return std::str::from_utf8(rest).ok().map(OsStr::new);
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
