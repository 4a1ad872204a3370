//! Loading patterns: `-e` and `-f` in their order, errors with file, line and column.

use crate::args::PatternArgs;
use anyhow::{Context, bail};
use fyke_io::rules::{self, Parsed, RuleError, Rules};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};

/// How many bad rules are named before the rest is only counted.
const NAMED_ERRORS: usize = 20;

/// Reads all patterns. They are numbered from 1: those of `-e` first, then those of the files.
pub(crate) fn load(args: &PatternArgs) -> anyhow::Result<Rules> {
    if args.patterns.is_empty() && args.files.is_empty() {
        bail!("no patterns: give one with -e PATTERN, or a file of them with -f FILE");
    }
    let mut rules = Rules::new();
    let mut errors = Vec::new();
    let mut take = |name: &str, bytes: &[u8]| {
        let options = rules::Options { commented: args.commented_rules };
        let Parsed { patterns, errors: bad } =
            rules::parse(args.patterns_format.into(), name, bytes, &options);
        rules.extend(patterns);
        errors.extend(bad);
    };
    for (i, pattern) in args.patterns.iter().enumerate() {
        take(&format!("-e #{}", i + 1), own_line(pattern.as_encoded_bytes()));
    }
    for file in &args.files {
        let (name, bytes) = read(file)?;
        take(&name, &bytes);
    }
    report(&errors, args.skip_bad_rules)?;
    if rules.is_empty() {
        eprintln!("fyke: warning: there are no patterns, so there will be no matches");
    }
    Ok(rules)
}

/// An empty argument is an empty line, which has to be refused, and not an empty file.
fn own_line(pattern: &[u8]) -> &[u8] {
    if pattern.is_empty() { b"\n" } else { pattern }
}

fn read(file: &OsStr) -> anyhow::Result<(String, Vec<u8>)> {
    if file == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).context("patterns from standard input")?;
        return Ok(("<stdin>".to_owned(), bytes));
    }
    let name = file.to_string_lossy().into_owned();
    let bytes = fs::read(file).with_context(|| format!("pattern file {name}"))?;
    Ok((name, bytes))
}

/// Names bad rules; fails unless they are to be skipped.
fn report(errors: &[RuleError], skip: bool) -> anyhow::Result<()> {
    for error in errors.iter().take(NAMED_ERRORS) {
        eprintln!("fyke: {error}");
    }
    if errors.len() > NAMED_ERRORS {
        eprintln!("fyke: ... and {} more", errors.len() - NAMED_ERRORS);
    }
    match errors.len() {
        0 => Ok(()),
        n if skip => {
            eprintln!("fyke: {n} bad {} skipped", rules_word(n));
            Ok(())
        }
        n => bail!("{n} bad {}; --skip-bad-rules goes on without", rules_word(n)),
    }
}

fn rules_word(n: usize) -> &'static str {
    if n == 1 { "rule" } else { "rules" }
}
