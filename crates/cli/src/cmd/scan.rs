//! `fyke scan`: searches files, folders and standard input.

use super::engines;
use crate::color::When;
use crate::outcome::Outcome;
use crate::patterns::{self, PatternArgs};
use crate::run::job::{Job, Mode};
use crate::run::output::Output;
use crate::run::{self, inputs, interrupt};
use crate::{number, warning};
use anyhow::{anyhow, bail};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fyke::{Semantics, registry};
use fyke_io::sink::{MAX_COLUMNS, TextOptions};
use fyke_io::source::walk;
use std::path::PathBuf;

/// Default width of the context, as wide as most terminals.
const COLUMNS: usize = 120;

const NOTES: &str = "\
Every occurrence of every pattern is a match, and matches may overlap. They are sorted by end, \
start and pattern. Each is printed as `[PATH:][LINE:][OFFSET:][LABEL: ]CONTEXT`. The context is \
the line around the match; bytes that are not printable are written as \\xNN. With --lines, \
fyke prints and counts matching lines instead, as grep does.

A regular file is scanned up to the length that it had when it was opened. Lines of a pattern \
file end with LF or CRLF; an empty line is an error.

Examples:
  fyke scan -e error -e warning -n /var/log          every occurrence, with path and line
  fyke scan -f words.txt -c --lines *.txt            number of matching lines of each file
  fyke scan -f web.rules --patterns-format snort -b traffic.pcap
  zcat dump.gz | fyke scan -f iocs.hex --patterns-format hex --json

Exit codes: 0 match found, 1 no match, 2 error. An interrupt ends fyke by its signal, which \
a shell shows as 130.";

/// Arguments of `fyke scan`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct ScanArgs {
    /// Files, folders, or `-` for standard input. Folders are walked, hidden files included.
    /// Without a path, standard input is scanned unless it is a terminal
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
    /// Which matches to report: all, the first of each pattern, or non-overlapping ones
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = semantics())]
    semantics: Semantics,

    /// Number of threads; 0 means one per CPU
    #[arg(short = 'j', long, value_name = "N", default_value = "0", hide_default_value = true)]
    #[arg(value_parser = number::threads, allow_negative_numbers = true)]
    threads: usize,

    /// Decompress bzip2, gzip, lz4, lzma, xz and zstd files and the members of zip archives, all
    /// recognized by their first bytes
    #[arg(short = 'z', long)]
    decompress: bool,

    /// Encoding of the data. `auto` converts UTF-16 with a byte order mark to UTF-8, to which
    /// offsets then refer, if all patterns are plain text
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = Encoding::Auto)]
    encoding: Encoding,

    /// Follow symbolic links in folders
    #[arg(short = 'L', long)]
    follow: bool,

    /// Skip what .gitignore and .ignore files exclude
    #[arg(long)]
    gitignore: bool,

    /// Order of the files of a folder: `path` sorts them, and the output is the same for any number
    /// of threads; with `none` a file is printed as soon as it is scanned
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Sort::Path)]
    sort: Sort,
}

/// Order of the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Sort {
    Path,
    None,
}

/// Encoding of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Encoding {
    /// As a byte order mark says
    Auto,
    /// The bytes as they are
    None,
}

/// What to print.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
struct OutputArgs {
    /// Print only the number of matches of each file
    #[arg(short, long, conflicts_with_all = ["files_with_matches", "quiet", "json", "only_matching"])]
    count: bool,

    /// Print only the paths of files that have a match
    #[arg(short = 'l', long, conflicts_with_all = ["quiet", "json", "only_matching"])]
    files_with_matches: bool,

    /// Print nothing, and stop at the first match unless --stats is given
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,

    /// Print only the matched bytes, without escapes
    #[arg(short, long)]
    only_matching: bool,

    /// Print or count matching lines instead of matches, each line once, as grep does
    #[arg(long, conflicts_with_all = ["json", "only_matching"])]
    lines: bool,

    /// Print records as NDJSON: begin, match, end, summary
    #[arg(long, conflicts_with = "only_matching")]
    json: bool,

    /// Print totals to standard error: matches, distinct, fingerprint, engine, bytes, seconds; and
    /// of rules: how many were read, without content, contents, negated, skipped
    #[arg(long)]
    stats: bool,

    /// Print line numbers
    #[arg(short = 'n', long)]
    line_number: bool,

    /// Print the byte offset of each match in its file, from 0
    #[arg(short, long)]
    byte_offset: bool,

    /// Print paths, even if there is only one file
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    with_filename: bool,

    /// Do not print paths
    #[arg(short = 'I', long, overrides_with = "with_filename")]
    no_filename: bool,

    /// Do not print labels. Matches of hex and snort patterns have one, such as `pattern 17` or
    /// `sid 2012345 (web.rules:12)`
    #[arg(long)]
    no_label: bool,

    /// Cut the context to about N columns around the match; 0 means the maximum, 65536 [default:
    /// 120, with --lines 0]
    #[arg(long, value_name = "N", value_parser = number::within(0..=MAX_COLUMNS))]
    #[arg(allow_negative_numbers = true)]
    max_columns: Option<usize>,

    /// When to use colors
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = When::Auto)]
    color: When,
}

fn semantics() -> impl TypedValueParser<Value = Semantics> {
    PossibleValuesParser::new(Semantics::ALL.map(Semantics::name)).try_map(|name| name.parse())
}

pub(crate) fn run(args: &ScanArgs) -> anyhow::Result<Outcome> {
    if args.patterns.engine == "help" {
        engines::print_table()?;
        return Ok(Outcome::Match);
    }
    let paths = inputs::paths(&args.paths)?;
    if args.patterns.use_stdin() && paths.iter().any(|p| p.as_os_str() == "-") {
        bail!(
            "standard input cannot be both the patterns and the data: give files for one of them"
        );
    }
    let output = Output::stdout()?;
    interrupt::install(&output)?;
    let patterns = patterns::load(&args.patterns)?;
    let set = patterns.rules.pattern_set(args.patterns.ignore_case)?;
    let threads = args.search.threads;
    let options =
        patterns::options(&args.patterns)?.expecting(args.expected_bytes(&paths), threads);
    let matcher = registry::compile_with(&args.patterns.engine, &set, &options)
        .map_err(|refusal| anyhow!("engine {}: {refusal}", args.patterns.engine))?;
    warning::print_opencl_on_cpu(&args.patterns.engine);
    let walk = args.walk();
    let job = Job {
        matcher: &*matcher,
        rules: &patterns.rules,
        mode: args.mode(),
        semantics: args.search.semantics,
        threads,
        decompress: args.search.decompress,
        transcode: args.search.encoding == Encoding::Auto && args.patterns.are_plain(),
        lines: args.output.lines,
        stats: args.output.stats,
        text: args.text_options(inputs::are_several(&paths, args.search.decompress)),
    };
    let outcome = run::run(&job, &paths, walk, output)?;
    if args.output.stats {
        patterns.print_counts();
    }
    Ok(outcome)
}

impl ScanArgs {
    fn mode(&self) -> Mode {
        let o = &self.output;
        match () {
            () if o.quiet => Mode::Quiet,
            () if o.files_with_matches => Mode::Files,
            () if o.json => Mode::Json,
            () if o.count => Mode::Count,
            () => Mode::Text,
        }
    }

    /// Number of bytes that will be scanned, if it is known before the scan.
    fn expected_bytes(&self, paths: &[PathBuf]) -> Option<u64> {
        let may_stop = matches!(self.mode(), Mode::Quiet | Mode::Files) && !self.output.stats;
        if may_stop { None } else { inputs::total(paths, self.search.decompress) }
    }

    fn walk(&self) -> walk::Options {
        let SearchArgs { follow, gitignore, sort, .. } = self.search;
        let order = match sort {
            Sort::Path => walk::Order::Path,
            Sort::None => walk::Order::Unsorted,
        };
        walk::Options { follow, gitignore, order }
    }

    fn text_options(&self, several_files: bool) -> TextOptions {
        let o = &self.output;
        TextOptions {
            path: (several_files || o.with_filename) && !o.no_filename,
            line: o.line_number,
            offset: o.byte_offset,
            label: !(self.patterns.are_plain() || o.no_label || o.lines || o.only_matching),
            only_matching: o.only_matching,
            whole_lines: o.lines,
            columns: match o.max_columns.unwrap_or(if o.lines { 0 } else { COLUMNS }) {
                0 => MAX_COLUMNS,
                n => n,
            },
            colors: o.color.colors(),
        }
    }
}
