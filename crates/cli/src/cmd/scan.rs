//! `fyke scan`: searches files, folders and standard input.

mod args;

use self::args::{Encoding, FileArgs, HabitArgs, OutputArgs, SearchArgs, Sort};
use super::engines;
use crate::outcome::Outcome;
use crate::patterns::{self, PatternArgs};
use crate::run::job::{Job, Mode};
use crate::run::output::Output;
use crate::run::{self, inputs, interrupt};
use crate::warning;
use anyhow::{Context, anyhow, bail};
use clap::Args;
use fyke_io::rules::Rules;
use fyke_io::sink::{Boundaries, Boundary, LineOptions, Replacements, ScanReport, TextOptions};
use fyke_io::source::walk::{self, Selection};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Default width of the context, as wide as most terminals.
const COLUMNS: usize = 120;

const NOTES: &str = "\
Every occurrence of every pattern is a match, and matches may overlap. They are sorted by end, \
start and pattern. Each is printed as `[PATH:][LINE:][COLUMN:][OFFSET:][LABEL: ]CONTEXT`. The \
context is the line around the match; bytes that are not printable are written as \\xNN. With \
--lines, fyke prints and counts matching lines instead, as grep does: their own bytes, escaped \
only on a terminal.

A regular file is scanned up to the length that it had when it was opened; with --tail, up to an \
interrupt. Lines of a pattern \
file end with LF or CRLF; an empty line is an error.

If a flag that takes one value is repeated, the last one counts. Flags of grep and ripgrep that ask for what fyke does \
anyway are accepted: -r, -F, -a, -U, -u, --hidden, --no-ignore. docs/coming-from-ripgrep.md \
compares all flags.

Examples:
  fyke scan -e error -e warning -n /var/log          every occurrence, with path and line
  fyke scan -f words.txt -c --lines *.txt            number of matching lines of each file
  fyke scan -w -e main -C2 -g '*.rs' src             whole words, with two lines around them
  fyke scan -f web.rules --patterns-format snort -b traffic.pcap
  fyke scan -f secrets.txt --replace '***' < log     the log, without the secrets
  fyke scan --tail -i -e error /var/log/app.log      errors as they are logged
  zcat dump.gz | fyke scan -f iocs.hex --patterns-format hex --json

Exit codes: 0 match found, 1 no match, 2 error. With --files-without-match, 0 means that a path \
was printed. An interrupt ends fyke by its signal, which a shell shows as 130; with --tail after \
counts and totals.";

/// Arguments of `fyke scan`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct ScanArgs {
    /// Files, folders, or `-` for standard input. Folders are walked, hidden files included.
    /// Without a path, standard input is scanned, or the current folder if it is a terminal
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    patterns: PatternArgs,

    #[command(flatten)]
    search: SearchArgs,

    #[command(flatten)]
    files: FileArgs,

    #[command(flatten)]
    output: OutputArgs,

    #[command(flatten)]
    habits: HabitArgs,
}

pub(crate) fn run(args: &ScanArgs) -> anyhow::Result<Outcome> {
    if prints_list(args)? {
        return Ok(Outcome::Match);
    }
    let paths = inputs::paths(&args.paths);
    if args.patterns.use_stdin() && paths.iter().any(|p| p.as_os_str() == "-") {
        bail!(
            "standard input cannot be both the patterns and the data: give files for one of them"
        );
    }
    let walk = args.walk()?;
    let output = Output::stdout()?;
    interrupt::install(&output)?;
    let patterns = patterns::load(&args.patterns)?;
    if args.search.max_count == Some(0) {
        return Ok(Outcome::NoMatch);
    }
    let set = patterns.pattern_set(args.ignores_case(&patterns.rules))?;
    let threads = args.search.threads;
    let options =
        patterns::options(&args.patterns)?.expecting(args.expected_bytes(&paths), threads);
    let (matcher, _) = patterns.compile(&args.patterns.engine, &set, &options)?;
    warning::print_opencl_on_cpu(&args.patterns.engine);
    let report = Mutex::new(ScanReport::default());
    let job = Job {
        matcher: &*matcher,
        rules: &patterns.rules,
        mode: args.mode(),
        semantics: args.search.semantics,
        threads,
        decompress: args.search.decompress,
        tail: args.search.tail && paths.iter().any(|path| path.as_os_str() != "-"),
        transcode: args.search.encoding == Encoding::Auto && patterns.are_plain,
        boundaries: Boundaries::new(args.boundary(), &patterns.rules, &set),
        lines: args.lines(),
        max_lines: args.search.max_count,
        replacements: args.replacements(patterns.rules.len())?,
        stats: args.output.stats,
        report: args.output.report.as_ref().map(|_| &report),
        messages: !args.output.no_messages,
        text: args
            .text_options(inputs::are_several(&paths, args.search.decompress), patterns.are_plain),
    };
    let outcome = run::run(&job, &paths, walk, output)?;
    if args.output.stats {
        patterns.print_counts();
    }
    if let Some(path) = &args.output.report {
        write_report(path, report, &patterns.rules)?;
    }
    if interrupt::ended_inputs() {
        warning::print_faults();
        interrupt::die();
    }
    Ok(outcome)
}

/// Whether a list is printed instead of a scan.
fn prints_list(args: &ScanArgs) -> io::Result<bool> {
    match () {
        () if args.patterns.engine == "help" => engines::print_table()?,
        () if args.files.type_list => print_types()?,
        () => return Ok(false),
    }
    Ok(true)
}

fn write_report(path: &Path, report: Mutex<ScanReport>, rules: &Rules) -> anyhow::Result<()> {
    let mut page = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    fs::write(path, page.page(rules))
        .with_context(|| format!("cannot write the report {}", path.display()))
}

fn print_types() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (name, globs) in walk::types() {
        writeln!(out, "{name}: {}", globs.join(", "))?;
    }
    out.flush()
}

impl ScanArgs {
    /// What to print. Of several modes the one that prints least counts, as in grep.
    fn mode(&self) -> Mode {
        let o = &self.output;
        match () {
            () if o.quiet => Mode::Quiet,
            () if o.files_without_match => Mode::FilesWithout,
            () if o.files_with_matches => Mode::Files,
            () if o.json => Mode::Json,
            () if o.replace.is_some() || o.replace_with.is_some() => Mode::Replace,
            () if o.count => Mode::Count,
            () => Mode::Text,
        }
    }

    fn boundary(&self) -> Option<Boundary> {
        let s = &self.search;
        match () {
            () if s.line_regexp => Some(Boundary::Line),
            () if s.word_regexp => Some(Boundary::Word),
            () => None,
        }
    }

    /// How to report lines; `None` to report matches.
    fn lines(&self) -> Option<LineOptions> {
        let (o, s) = (&self.output, &self.search);
        let around = o.after_context.or(o.before_context).or(o.context);
        let lines = o.lines || s.invert_match || around.is_some();
        lines.then(|| LineOptions {
            invert: s.invert_match,
            before: o.before_context.or(o.context).unwrap_or(0),
            after: o.after_context.or(o.context).unwrap_or(0),
            limit: s.max_count,
        })
    }

    fn replacements(&self, patterns: usize) -> anyhow::Result<Option<Replacements>> {
        let o = &self.output;
        if let Some(text) = &o.replace {
            return Ok(Some(Replacements::all(text.as_encoded_bytes())));
        }
        let Some(path) = &o.replace_with else { return Ok(None) };
        let file = fs::read(path)
            .with_context(|| format!("cannot read the file of replacements {}", path.display()))?;
        let texts = Replacements::lines(&file, patterns).map_err(|lines| {
            let path = path.display();
            anyhow!(
                "{path} has {lines} lines for {patterns} patterns: give one line for each, or one"
            )
        })?;
        Ok(Some(texts))
    }

    fn ignores_case(&self, rules: &Rules) -> bool {
        let is_lower = || rules.iter().all(|p| !p.bytes.iter().any(u8::is_ascii_uppercase));
        self.patterns.ignore_case || self.search.smart_case && is_lower()
    }

    /// Number of bytes that will be scanned, if it is known before the scan.
    fn expected_bytes(&self, paths: &[PathBuf]) -> Option<u64> {
        let may_stop = matches!(self.mode(), Mode::Quiet | Mode::Files | Mode::FilesWithout);
        let may_stop = may_stop && !self.output.stats && self.output.report.is_none()
            || self.search.max_count.is_some()
            || self.search.tail;
        if may_stop { None } else { inputs::total(paths, self.search.decompress) }
    }

    fn walk(&self) -> anyhow::Result<walk::Options> {
        let FileArgs { follow, gitignore, no_hidden, sort, .. } = self.files;
        let order = match sort {
            Sort::Path => walk::Order::Path,
            Sort::None => walk::Order::Unsorted,
        };
        let mut selection = Selection::default();
        let f = &self.files;
        let excluded = f.exclude.iter().map(|glob| format!("!{glob}"));
        let folders = f.exclude_dir.iter().map(|glob| format!("!{}/", glob.trim_end_matches('/')));
        let globs: Vec<String> = f.globs.iter().cloned().chain(excluded).chain(folders).collect();
        selection.globs(&globs).map_err(|error| anyhow!("-g: {error}"))?;
        selection
            .types(&f.types, &f.types_not)
            .map_err(|error| anyhow!("-t: {error}: `fyke scan --type-list` prints all types"))?;
        Ok(walk::Options { follow, gitignore, no_hidden, order, selection })
    }

    fn text_options(&self, several_files: bool, are_plain: bool) -> TextOptions {
        let o = &self.output;
        let lines = self.lines().is_some();
        let whole = lines || o.vimgrep;
        TextOptions {
            path: (several_files || o.with_filename || o.vimgrep) && !o.no_filename,
            heading: o.heading && !o.vimgrep,
            null: o.null,
            line: (o.line_number || o.vimgrep) && !o.no_line_number,
            column: o.column || o.vimgrep,
            offset: o.byte_offset,
            label: !(are_plain || o.no_label || whole || o.only_matching),
            only_matching: o.only_matching,
            columns: match o.max_columns {
                Some(0) => None,
                None if whole => None,
                columns => columns.or(Some(COLUMNS)),
            },
            escape: io::stdout().is_terminal(),
            colors: o.color.colors(),
        }
    }
}
