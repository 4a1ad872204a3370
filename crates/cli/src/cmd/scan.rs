//! `fyke scan`: the main job.

use crate::args::PatternArgs;
use crate::color::When;
use crate::outcome::Outcome;
use crate::run::output::Output;
use crate::run::{self, Job, Mode, inputs};
use crate::{cmd, patterns, warning};
use anyhow::{anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};
use fyke::{Semantics, registry};
use fyke_io::sink::{MOST_COLUMNS, TextOptions};
use std::num::NonZero;
use std::path::PathBuf;
use std::thread;

/// More threads than this are a slip of the finger.
pub(crate) const MOST_THREADS: i64 = 1024;

/// Width of the context, unless told otherwise.
const COLUMNS: usize = 120;

const NOTES: &str = "\
The unit is the match: every occurrence of every pattern, overlapping ones too, in order of end, start and
pattern. Each is printed as `[PATH:][LINE:][OFFSET:][LABEL: ]CONTEXT`; the context is the line around it, with
bytes that are not printable as \\xNN. With --lines the unit is the line, as it is for grep.

A regular file is scanned up to the length that it had when it was opened. Lines of a pattern file end with
LF or CRLF; an empty line is an error.

Examples:
  fyke scan -e error -e warning -n /var/log          every occurrence, with path and line
  fyke scan -f words.txt -c --lines *.txt            how many lines of each file have a word
  fyke scan -f web.rules --patterns-format snort -b traffic.pcap
  zcat dump.gz | fyke scan -f iocs.hex --patterns-format hex --json

Exit codes: 0 a match, 1 none, 2 an error, 130 interrupted.";

/// Arguments of `fyke scan`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct ScanArgs {
    /// Files, folders (walked, hidden files included), or `-` for standard input, which is also taken if
    /// there is no path and it is not a terminal
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    patterns: PatternArgs,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    output: OutputArgs,
}

/// How to search.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
struct SearchArgs {
    /// Which matches are reported: all, the first of each pattern, non-overlapping ones, one, or only how many
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = semantics())]
    semantics: Semantics,

    /// Threads; 0 takes one for each processor
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(value_parser = value_parser!(u16).range(..=MOST_THREADS))]
    threads: u16,

    /// Look into gzip, zstd and xz, told by their first bytes
    #[arg(short = 'z', long)]
    decompress: bool,

    /// Follow symbolic links in folders
    #[arg(short = 'L', long)]
    follow: bool,

    /// Leave out what .gitignore and .ignore files name
    #[arg(long)]
    gitignore: bool,
}

/// What to print.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Print only how many matches there are, for each file
    #[arg(short, long, conflicts_with_all = ["files_with_matches", "quiet", "json", "only_matching"])]
    count: bool,

    /// Print only the paths of files with a match
    #[arg(short = 'l', long, conflicts_with_all = ["quiet", "json", "only_matching"])]
    files_with_matches: bool,

    /// Print nothing, and stop at the first match unless --stats is given
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,

    /// Print the matched bytes alone, as they are
    #[arg(short, long)]
    only_matching: bool,

    /// Take lines for the unit, as grep does: print or count each line with a match once
    #[arg(long, conflicts_with_all = ["json", "only_matching"])]
    lines: bool,

    /// Print records as NDJSON: begin, match, end, summary
    #[arg(long, conflicts_with = "only_matching")]
    json: bool,

    /// Print totals on standard error: matches, distinct, fingerprint, engine, bytes, seconds
    #[arg(long)]
    stats: bool,

    /// Print line numbers
    #[arg(short = 'n', long)]
    line_number: bool,

    /// Print the position of each match in its file, in bytes from 0
    #[arg(short, long)]
    byte_offset: bool,

    /// Print paths, also if there is one file
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,

    /// Print no paths
    #[arg(short = 'I', long, overrides_with = "with_filename")]
    no_filename: bool,

    /// Print no labels (`pattern 17`, `sid 2012345 (web.rules:12)`), which hex and snort patterns get
    #[arg(long)]
    no_label: bool,

    /// Cut lines to about so many columns around the match [default: 120, with --lines 0]; 0 is no limit
    #[arg(long, value_name = "N")]
    max_columns: Option<usize>,

    /// When to use colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    color: When,
}

fn semantics() -> impl TypedValueParser<Value = Semantics> {
    PossibleValuesParser::new(Semantics::ALL.map(Semantics::name)).try_map(|name| name.parse())
}

pub(crate) fn run(args: &ScanArgs) -> anyhow::Result<Outcome> {
    if args.patterns.engine == "help" {
        cmd::engines::print_table()?;
        return Ok(Outcome::Match);
    }
    let paths = inputs::paths(&args.paths)?;
    if args.patterns.files.iter().any(|f| f == "-") && paths.iter().any(|p| p.as_os_str() == "-") {
        bail!(
            "standard input cannot hold both the patterns and the data: name files for one of them"
        );
    }
    let output = Output::stdout()?;
    run::interrupt::install(&output)?;
    let rules = patterns::load(&args.patterns)?;
    let set = rules.pattern_set(args.patterns.ignore_case)?;
    let options =
        patterns::options(&args.patterns)?.expecting(args.expected_bytes(&paths), args.threads());
    let matcher = registry::compile_with(&args.patterns.engine, &set, &options)
        .map_err(|refusal| anyhow!("engine {}: {refusal}", args.patterns.engine))?;
    warning::print_player(&args.patterns.engine);
    let walk = args.walk();
    let job = Job {
        matcher: &*matcher,
        rules: &rules,
        mode: args.mode(),
        semantics: args.semantics(),
        threads: args.threads(),
        decompress: args.search.decompress,
        lines: args.output.lines,
        stats: args.output.stats,
        text: args.text_options(paths.len() > 1 || paths.iter().any(|p| p.is_dir())),
    };
    run::run(&job, &paths, walk, output)
}

/// The threads that `-j` asks for.
pub(crate) fn threads(asked: u16) -> usize {
    match asked {
        0 => thread::available_parallelism().map_or(1, NonZero::get),
        n => usize::from(n),
    }
}

impl ScanArgs {
    fn mode(&self) -> Mode {
        let o = &self.output;
        match () {
            () if o.quiet => Mode::Quiet,
            () if o.files_with_matches => Mode::Files,
            () if o.json => Mode::Json,
            () if o.count || self.search.semantics == Semantics::Count => Mode::Count,
            () => Mode::Text,
        }
    }

    /// Counting is a mode of printing here, so what is counted are all matches.
    fn semantics(&self) -> Semantics {
        match self.search.semantics {
            Semantics::Count => Semantics::All,
            semantics => semantics,
        }
    }

    fn threads(&self) -> usize {
        threads(self.search.threads)
    }

    /// Bytes that will be scanned, if that is known beforehand.
    fn expected_bytes(&self, paths: &[PathBuf]) -> Option<u64> {
        let may_stop = matches!(self.mode(), Mode::Quiet | Mode::Files) && !self.output.stats;
        if may_stop { None } else { inputs::total(paths, self.search.decompress) }
    }

    fn walk(&self) -> fyke_io::source::walk::Options {
        let SearchArgs { follow, gitignore, .. } = self.search;
        fyke_io::source::walk::Options { follow, gitignore }
    }

    fn text_options(&self, several_files: bool) -> TextOptions {
        let o = &self.output;
        let rules = self.patterns.patterns_format != crate::args::PatternsFormat::Lines;
        TextOptions {
            path: (several_files || o.with_filename) && !o.no_filename,
            line: o.line_number,
            offset: o.byte_offset,
            label: rules && !(o.no_label || o.lines || o.only_matching),
            only_matching: o.only_matching,
            whole_lines: o.lines,
            columns: match o.max_columns.unwrap_or(if o.lines { 0 } else { COLUMNS }) {
                0 => MOST_COLUMNS,
                n => n.min(MOST_COLUMNS),
            },
            colors: o.color.colors(),
        }
    }
}
