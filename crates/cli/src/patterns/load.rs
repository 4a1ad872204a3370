//! Loads patterns in order, and reports what is wrong with them.
//!
//! Patterns are numbered from 1: those of `-e` first, then those of the files of `-f`. Errors and
//! warnings name file, line and column.

use super::{PatternArgs, database};
use crate::warning;
use anyhow::{Context, anyhow, bail};
use fyke::database::{Database, MadeFrom};
use fyke::{Matcher, Options, PatternSet, registry};
use fyke_io::rules::{self, Counts, Parsed, RuleError, Rules};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::sync::Arc;

/// The maximum number of bad rules, and of warnings, to print; the rest is only counted.
const PRINTED: usize = 20;

/// All patterns, and what was read of their rules.
#[derive(Default)]
pub(crate) struct Loaded {
    pub(crate) rules: Rules,
    pub(crate) counts: Counts,
    /// Whether the patterns are plain text, which identifies itself in the output without a label.
    pub(crate) are_plain: bool,
    /// The database that they come from, if they do.
    pub(super) database: Option<Database>,
    errors: Vec<RuleError>,
    warnings: Vec<RuleError>,
}

/// Reads all patterns.
pub(crate) fn load(args: &PatternArgs) -> anyhow::Result<Loaded> {
    if let Some(path) = &args.database {
        return database::load(path);
    }
    if args.patterns.is_empty() && args.files.is_empty() {
        bail!("no patterns: give one with -e PATTERN, or a file of patterns with -f FILE");
    }
    let mut loaded = Loaded { are_plain: args.are_plain(), ..Loaded::default() };
    let of_files = rules::Options { commented: args.commented_rules, keep_bom: false };
    let of_texts = rules::Options { keep_bom: true, ..of_files };
    for (i, pattern) in args.patterns.iter().enumerate() {
        let (name, text) = (format!("-e #{}", i + 1), as_line(pattern.as_encoded_bytes()));
        loaded.add(rules::parse(args.patterns_format, &name, text, &of_texts));
    }
    for (format, file) in args.files() {
        let (name, bytes) = read(file)?;
        loaded.add(rules::parse(format, &name, &bytes, &of_files));
    }
    report(&loaded, args.skip_bad_rules)?;
    if loaded.rules.is_empty() {
        warning::print(format_args!(
            "warning: the pattern files contain no patterns: nothing can match"
        ));
    }
    Ok(loaded)
}

impl Loaded {
    /// The set to search for. With `nocase`, which a database ignores, all patterns ignore case.
    pub(crate) fn pattern_set(&self, nocase: bool) -> anyhow::Result<PatternSet> {
        match &self.database {
            Some(database) => Ok(database.set().clone()),
            None => Ok(self.rules.pattern_set(nocase)?),
        }
    }

    /// The engine to compile for: that of the database in place of `auto`.
    pub(crate) fn engine<'a>(&'a self, asked: &'a str) -> &'a str {
        let stored = self.database.as_ref().map(Database::engine);
        stored.filter(|_| asked == "auto").unwrap_or(asked)
    }

    /// Compiles the set for an engine. Of a database, also says what the matcher was made from.
    pub(crate) fn compile(
        &self,
        engine: &str,
        set: &PatternSet,
        options: &Options,
    ) -> anyhow::Result<(Arc<dyn Matcher>, Option<MadeFrom>)> {
        let engine = self.engine(engine);
        if let Some(database) = &self.database {
            let (matcher, from) = database.compile(engine, options)?;
            return Ok((matcher, Some(from)));
        }
        let matcher = registry::compile_with(engine, set, options)
            .map_err(|refusal| anyhow!("engine {engine}: {refusal}"))?;
        Ok((matcher, None))
    }

    fn add(&mut self, parsed: Parsed) {
        self.rules.extend(parsed.patterns);
        self.counts.add(&parsed.counts);
        self.errors.extend(parsed.errors);
        self.warnings.extend(parsed.warnings);
    }

    /// Prints the lines of `--stats` about rules; nothing for patterns without rules.
    pub(crate) fn print_counts(&self) {
        if !self.counts.is_empty() {
            let mut to = io::stderr().lock();
            // If standard error is closed, nobody can be told.
            let print = |(name, count): &_| writeln!(to, "{name} {count}").unwrap_or_default();
            self.counts.lines().iter().for_each(print);
        }
    }
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

/// Prints warnings and bad rules; an error if there are bad rules, unless they are to be skipped.
fn report(loaded: &Loaded, skip: bool) -> anyhow::Result<()> {
    print("warning: ", &loaded.warnings);
    print("", &loaded.errors);
    let bad = |n| if n == 1 { "1 bad rule".to_owned() } else { format!("{n} bad rules") };
    match loaded.errors.len() {
        0 => Ok(()),
        n if skip => {
            warning::print(format_args!("warning: skipped {}", bad(n)));
            Ok(())
        }
        n => bail!("{}: correct them, or skip them with --skip-bad-rules", bad(n)),
    }
}

fn print(start: &str, all: &[RuleError]) {
    all.iter().take(PRINTED).for_each(|one| warning::print(format_args!("{start}{one}")));
    if all.len() > PRINTED {
        warning::print(format_args!("{start}... and {} more", all.len() - PRINTED));
    }
}
