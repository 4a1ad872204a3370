//! One cell of the user's own patterns and data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fyke_io::rules::{self, Format};

use crate::data::store::Prepared;
use crate::data::sum::sha256;
use crate::data::{packed, patterns};
use crate::definition::{Cell, Haystack, Patterns, Source, WorkName};
use crate::size::Size;

/// Reads the name of the format of a pattern file. `--help` describes each.
pub(crate) fn formats() -> impl TypedValueParser<Value = Format> {
    let about = |format| match format {
        Format::Lines => "One literal pattern a line",
        Format::Hex => "One pattern a line in hexadecimal digits, `#` begins a comment",
        Format::Snort => "Snort 2, Snort 3 or Suricata rules: every `content` string",
        Format::Yara => "YARA rules: every text string, and every hex string without wildcards",
    };
    let values = Format::ALL.map(|format| PossibleValue::new(format.name()).help(about(format)));
    PossibleValuesParser::new(values)
        .map(|name| Format::named(&name).expect("one of the possible values"))
}

/// The user's own files.
#[derive(Clone, Debug, clap::Args)]
pub struct OwnFiles {
    /// Measure the patterns of FILE instead of the matrix
    #[arg(long, value_name = "FILE", requires = "haystack", help_heading = "Own data")]
    pub patterns: Option<PathBuf>,

    /// The format of the pattern file
    #[arg(
        long,
        value_parser = formats(),
        default_value = Format::Lines.name(),
        value_name = "FORMAT",
        requires = "patterns",
        help_heading = "Own data"
    )]
    pub patterns_format: Format,

    /// Ignore the case of ASCII letters in all patterns, even where rules do not
    #[arg(short, long, requires = "patterns", help_heading = "Own data")]
    pub ignore_case: bool,

    /// Search this file
    #[arg(long, value_name = "FILE", requires = "patterns", help_heading = "Own data")]
    pub haystack: Option<PathBuf>,

    /// Cut the haystack into pieces of this size, each searched by its own call
    #[arg(long, value_name = "SIZE", requires = "patterns", help_heading = "Own data")]
    pub call: Option<Size>,
}

/// Most bad patterns that an error names.
const NAMED: usize = 5;

impl OwnFiles {
    /// The cell of the files, ready to be scanned; `None` without files.
    ///
    /// # Errors
    /// A file cannot be read, or has bad patterns or none.
    pub fn cell(&self) -> Result<Option<(Cell, Prepared)>> {
        let (Some(patterns), Some(haystack)) = (&self.patterns, &self.haystack) else {
            return Ok(None);
        };
        let read = read_patterns(patterns, self.patterns_format)?;
        let set = patterns::build(&read, self.ignore_case)
            .with_context(|| format!("pattern file {}", patterns.display()))?;
        let bytes =
            packed::read(haystack).with_context(|| format!("haystack {}", haystack.display()))?;
        ensure!(!bytes.is_empty(), "haystack {} is empty", haystack.display());
        ensure!(self.call.is_none_or(|c| c.0 > 0), "--call 0: give at least 1 byte");
        let prepared = Prepared {
            set,
            sha256: sha256(&bytes),
            call: self.call.map_or(bytes.len(), |c| c.0),
            batch: self.call.is_some(),
            golden: None,
            haystack: Arc::new(bytes),
        };
        Ok(Some((self.describe(patterns, haystack), prepared)))
    }

    fn describe(&self, patterns: &Path, haystack: &Path) -> Cell {
        let name =
            |file: &Path| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Cell {
            group: "own".into(),
            name: format!("own/{}", name(patterns)),
            patterns: Patterns {
                source: Source::Lines(name(patterns)),
                count: None,
                min_len: 1,
                max_len: None,
                seed: 0,
                nocase: self.ignore_case,
                cut: false,
                also: None,
            },
            haystack: Haystack {
                corpus: Some(name(haystack)),
                planted: None,
                hostile: None,
                alphabet: 256,
                size: None,
                quick: None,
                call: self.call,
                pieces: None,
                quick_pieces: None,
            },
            threads: 1,
            work: WorkName::Touch,
            process: None,
            question: None,
            replay: None,
            call_cost: false,
            batch: self.call.is_some(),
            slow: false,
            huge: false,
        }
    }
}

/// The patterns of a file.
///
/// # Errors
/// It cannot be read, or has bad patterns or none.
pub(crate) fn read_patterns(file: &Path, format: Format) -> Result<Vec<patterns::Flagged>> {
    let name = file.display().to_string();
    let bytes = packed::read(file).with_context(|| format!("pattern file {name}"))?;
    let parsed = rules::parse(format, &name, &bytes, &rules::Options::default());
    if !parsed.errors.is_empty() {
        let named = parsed.errors.iter().take(NAMED).map(|e| format!("\n  {e}"));
        let named: String = named.collect();
        bail!("pattern file {name} has {} bad patterns, such as{named}", parsed.errors.len());
    }
    ensure!(
        !parsed.patterns.is_empty(),
        "pattern file {name} has no patterns; check --patterns-format"
    );
    Ok(parsed.patterns.iter().map(|p| (p.bytes.to_vec(), p.nocase)).collect())
}
