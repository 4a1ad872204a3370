//! The arguments of `fyke scan`, other than the patterns.

use crate::color::When;
use crate::number;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use fyke::Semantics;
use fyke_io::sink::MAX_COLUMNS;
use std::ffi::OsString;
use std::path::PathBuf;

/// The arguments that `--replace` excludes, because it copies the input.
const NO_COPY: [&str; 14] = [
    "json",
    "lines",
    "vimgrep",
    "only_matching",
    "count",
    "files_with_matches",
    "files_without_match",
    "quiet",
    "invert_match",
    "max_count",
    "after_context",
    "before_context",
    "context",
    "heading",
];

/// How to search.
#[derive(Args, Debug)]
#[command(next_help_heading = "Search")]
pub(super) struct SearchArgs {
    /// Which matches to report: all, the first of each pattern, or non-overlapping ones
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = semantics())]
    pub(super) semantics: Semantics,

    /// Number of threads; 0 means one per CPU
    #[arg(short = 'j', long, value_name = "N", default_value = "0")]
    #[arg(value_parser = number::threads, allow_negative_numbers = true)]
    pub(super) threads: usize,

    /// Ignore the case of ASCII letters, unless a pattern has an upper case letter
    #[arg(short = 'S', long, overrides_with_all = ["ignore_case", "case_sensitive"])]
    #[arg(conflicts_with = "database")]
    pub(super) smart_case: bool,

    /// Undo an earlier -i or -S
    #[arg(long, visible_alias = "no-ignore-case")]
    #[arg(overrides_with_all = ["ignore_case", "smart_case"])]
    pub(super) case_sensitive: bool,

    /// Report only matches that are whole words: no ASCII letter, digit or `_` is before or after
    /// them
    #[arg(short = 'w', long)]
    pub(super) word_regexp: bool,

    /// Report only matches that are whole lines
    #[arg(short = 'x', long)]
    pub(super) line_regexp: bool,

    /// Print or count the lines without a match; implies --lines
    #[arg(short = 'v', long, conflicts_with_all = ["json", "only_matching", "vimgrep"])]
    pub(super) invert_match: bool,

    /// Stop after N lines with a match of each file; with -v, after N lines without one
    #[arg(short = 'm', long, value_name = "N")]
    #[arg(value_parser = number::within(0..=u64::MAX), allow_negative_numbers = true)]
    pub(super) max_count: Option<u64>,

    /// Decompress bzip2, gzip, lz4, lzma, xz and zstd files and the members of zip archives, all
    /// recognized by their first bytes
    #[arg(short = 'z', long, visible_alias = "search-zip")]
    pub(super) decompress: bool,

    /// Scan files as they grow, from their start until an interrupt, as `tail -F` reads them. A
    /// file that is truncated or replaced is read again from its start. Counts, totals and the
    /// report come at the end; pipes are read to theirs
    #[arg(long, conflicts_with_all = ["decompress", "heading", "replace", "replace_with"])]
    pub(super) tail: bool,

    /// Encoding of the data. `auto` converts UTF-16 with a byte order mark to UTF-8, to which
    /// offsets then refer, if all patterns are plain text
    #[arg(short = 'E', long, value_enum, value_name = "WHICH", default_value_t = Encoding::Auto)]
    pub(super) encoding: Encoding,
}

/// Which files of folders to search. Files that are given as PATH are always searched.
#[derive(Args, Debug)]
#[command(next_help_heading = "Files of folders")]
pub(super) struct FileArgs {
    /// Follow symbolic links
    #[arg(short = 'L', visible_short_alias = 'R', long)]
    #[arg(visible_alias = "dereference-recursive")]
    pub(super) follow: bool,

    /// Skip what .gitignore and .ignore files exclude
    #[arg(long)]
    pub(super) gitignore: bool,

    /// Skip hidden files and folders
    #[arg(long, overrides_with = "hidden")]
    pub(super) no_hidden: bool,

    /// Search only files whose path matches GLOB, or with a `!` before it all others; may be
    /// repeated, and the last one that matches decides
    #[arg(short = 'g', long = "glob", visible_alias = "include", value_name = "GLOB")]
    pub(super) globs: Vec<String>,

    /// Skip files and folders whose name matches GLOB; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude: Vec<String>,

    /// Skip folders whose name matches GLOB; may be repeated
    #[arg(long, value_name = "GLOB")]
    pub(super) exclude_dir: Vec<String>,

    /// Search only files of a type, such as `rust` or `log`; may be repeated
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub(super) types: Vec<String>,

    /// Skip files of a type; may be repeated
    #[arg(short = 'T', long = "type-not", value_name = "TYPE")]
    pub(super) types_not: Vec<String>,

    /// Print all types and their globs
    #[arg(long)]
    pub(super) type_list: bool,

    /// Order of the files of a folder: `path` sorts them, and the output is the same for any number
    /// of threads; with `none` a file is printed as soon as it is scanned
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Sort::Path)]
    pub(super) sort: Sort,
}

/// Order of the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Sort {
    Path,
    None,
}

/// Encoding of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Encoding {
    /// As a byte order mark says
    Auto,
    /// The bytes as they are
    None,
}

/// What to print.
#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
pub(super) struct OutputArgs {
    /// Print only the number of matches of each file
    #[arg(short, long, visible_alias = "count-matches", conflicts_with = "json")]
    pub(super) count: bool,

    /// Print only the paths of files that have a match; instead of counts if -c is given too
    #[arg(short = 'l', long, conflicts_with_all = ["json", "files_without_match"])]
    pub(super) files_with_matches: bool,

    /// Print only the paths of files that have no match
    #[arg(long, conflicts_with = "json")]
    pub(super) files_without_match: bool,

    /// Print nothing, whatever else is given, and stop at the first match unless --stats is given
    #[arg(short, long, visible_alias = "silent", conflicts_with = "json")]
    pub(super) quiet: bool,

    /// Print only the matched bytes, without escapes
    #[arg(short, long)]
    pub(super) only_matching: bool,

    /// Print or count matching lines instead of matches, each line once, as grep does. A match
    /// that spans lines selects each of them
    #[arg(long, conflicts_with_all = ["json", "only_matching"])]
    pub(super) lines: bool,

    /// Print N lines after each matching line; implies --lines
    #[arg(short = 'A', long, value_name = "N", value_parser = number::within(0..=u64::MAX))]
    #[arg(conflicts_with_all = ["json", "only_matching", "vimgrep"])]
    pub(super) after_context: Option<u64>,

    /// Print N lines before each matching line; implies --lines
    #[arg(short = 'B', long, value_name = "N", value_parser = number::within(0..=u64::MAX))]
    #[arg(conflicts_with_all = ["json", "only_matching", "vimgrep"])]
    pub(super) before_context: Option<u64>,

    /// Print N lines before and after each matching line; implies --lines
    #[arg(short = 'C', long, value_name = "N", value_parser = number::within(0..=u64::MAX))]
    #[arg(conflicts_with_all = ["json", "only_matching", "vimgrep"])]
    pub(super) context: Option<u64>,

    /// Print records as NDJSON: begin, match, end, summary
    #[arg(long, conflicts_with = "only_matching")]
    pub(super) json: bool,

    /// Print each match as PATH:LINE:COLUMN:TEXT, for editors
    #[arg(long, conflicts_with_all = ["json", "only_matching", "lines"])]
    pub(super) vimgrep: bool,

    /// Copy the input with every match replaced by TEXT. Matches that overlap are replaced
    /// together, so that no byte of a match is copied, unless --semantics says otherwise
    #[arg(long, value_name = "TEXT", conflicts_with_all = NO_COPY)]
    pub(super) replace: Option<OsString>,

    /// As --replace, by a line of FILE: that of the number of the pattern, or the only one
    #[arg(long, value_name = "FILE", conflicts_with_all = NO_COPY, conflicts_with = "replace")]
    pub(super) replace_with: Option<PathBuf>,

    /// Also write a page to FILE: matches of each pattern and file, with a map of each file as SVG.
    /// It is one HTML file that needs no other
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,

    /// Print totals to standard error: matches, distinct, fingerprint, engine, bytes, seconds; and
    /// of rules: how many were read, without content, contents, negated, skipped
    #[arg(long)]
    pub(super) stats: bool,

    /// Print line numbers
    #[arg(short = 'n', long, overrides_with = "no_line_number")]
    pub(super) line_number: bool,

    /// Do not print line numbers
    #[arg(short = 'N', long, overrides_with = "line_number")]
    pub(super) no_line_number: bool,

    /// Print the column of each match, in bytes from 1; with --lines, of the first one of the line
    #[arg(long)]
    pub(super) column: bool,

    /// Print the byte offset of each match in its file, from 0; with --lines, of the line
    #[arg(short, long)]
    pub(super) byte_offset: bool,

    /// Print paths, even if there is only one file
    #[arg(short = 'H', long, overrides_with = "no_filename")]
    pub(super) with_filename: bool,

    /// Do not print paths
    #[arg(short = 'I', long, overrides_with = "with_filename")]
    pub(super) no_filename: bool,

    /// Print each path once, on a line before its matches
    #[arg(long, overrides_with = "no_heading")]
    pub(super) heading: bool,

    /// Print a zero byte after each path, instead of a colon or line feed
    #[arg(short = '0', visible_short_alias = 'Z', long)]
    pub(super) null: bool,

    /// Do not print labels. Matches of hex and snort patterns have one, such as `pattern 17` or
    /// `sid 2012345 (web.rules:12)`
    #[arg(long)]
    pub(super) no_label: bool,

    /// Cut the context or line to about N columns around the match; 0 means no limit [default:
    /// 120, with --lines or --vimgrep 0]
    #[arg(short = 'M', long, value_name = "N", value_parser = number::within(0..=MAX_COLUMNS))]
    #[arg(allow_negative_numbers = true)]
    pub(super) max_columns: Option<usize>,

    /// Print no message for a file that cannot be read; the exit code is still 2
    #[arg(short = 's', long)]
    pub(super) no_messages: bool,

    /// When to use colors
    #[arg(long, visible_alias = "colour", value_enum, value_name = "WHEN")]
    #[arg(default_value_t = When::Auto)]
    pub(super) color: When,
}

/// Flags of grep and ripgrep that ask for what fyke does anyway. They have no effect.
#[derive(Args, Debug)]
pub(super) struct HabitArgs {
    /// Folders are always walked
    #[arg(short = 'r', long, hide = true)]
    recursive: bool,

    /// Patterns are always literal
    #[arg(short = 'F', long, hide = true)]
    fixed_strings: bool,

    /// Binary files are always searched like text
    #[arg(short = 'a', long, alias = "binary", hide = true)]
    text: bool,

    /// A match may always span lines
    #[arg(short = 'U', long, hide = true)]
    multiline: bool,

    /// Hidden, ignored and binary files are searched
    #[arg(short = 'u', long, alias = "no-ignore", hide = true, action = clap::ArgAction::Count)]
    unrestricted: u8,

    /// Hidden files are searched unless --no-hidden is given
    #[arg(short = '.', long, hide = true, overrides_with = "no_hidden")]
    hidden: bool,

    /// Paths are in each record unless --heading is given
    #[arg(long, hide = true, overrides_with = "heading")]
    no_heading: bool,

    /// Matches of a pipe are always printed as they arrive
    #[arg(long, hide = true)]
    line_buffered: bool,

    /// Counts of 0 are always printed
    #[arg(long, hide = true)]
    include_zero: bool,

    /// There is no configuration file
    #[arg(long, hide = true)]
    no_config: bool,
}

fn semantics() -> impl TypedValueParser<Value = Semantics> {
    PossibleValuesParser::new(Semantics::ALL.map(Semantics::name)).try_map(|name| name.parse())
}
