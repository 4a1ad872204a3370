//! Loading patterns: `-e` and `-f` in their order, errors with file, line and column.

use crate::args::PatternArgs;
use anyhow::{Context, bail};
use fyke::Options;
use fyke_io::rules::{self, Parsed, RuleError, Rules};
use fyke_io::source::{self, Opened};
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

/// How many bad rules are named before the rest is only counted.
const NAMED_ERRORS: usize = 20;

/// Spans of a sample file that are read, and bytes of each: as much as the statistics are made of.
const SAMPLE_SPANS: u64 = 32;
const SAMPLE_SPAN: u64 = 64 << 10;

/// What the command line says to every engine.
pub(crate) fn options(args: &PatternArgs) -> anyhow::Result<Options> {
    let mut options = Options::default();
    options.memory_limit = args.memory_limit;
    if let Some(path) = &args.sample {
        let bytes = sample(path).with_context(|| format!("sample {}", path.display()))?;
        options = options.sampled(bytes);
    }
    Ok(options)
}

/// Bytes from all over a file, or from the front of what has no length.
fn sample(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    match source::open(path)? {
        Opened::Stream(stream) => {
            stream.take(SAMPLE_SPANS * SAMPLE_SPAN).read_to_end(&mut bytes)?;
        }
        Opened::File(file) if file.len() <= SAMPLE_SPANS * SAMPLE_SPAN => {
            bytes.resize(file.len() as usize, 0);
            file.read_at(0, &mut bytes)?;
        }
        Opened::File(file) => {
            bytes.resize((SAMPLE_SPANS * SAMPLE_SPAN) as usize, 0);
            let gap = (file.len() - SAMPLE_SPAN) / (SAMPLE_SPANS - 1);
            for (i, span) in (0..).zip(bytes.chunks_mut(SAMPLE_SPAN as usize)) {
                file.read_at(i * gap, span)?;
            }
        }
    }
    Ok(bytes)
}

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
