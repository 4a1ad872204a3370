//! `fyke carve check-conf`: the linter of rules.

use crate::number::counted;
use crate::outcome::Outcome;
use anyhow::Context;
use clap::Args;
use fyke_carve::{Compat, DEFAULT_CONF, conf};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const NOTES: &str = "\
Prints one line for each error and warning: PATH:LINE:COLUMN, what is wrong, what to do. All \
errors are printed, not only the first.

Examples:
  fyke carve check-conf scalpel.conf
  fyke carve check-conf --compat 1.60 scalpel.conf      what Scalpel 1.60 would make of it
  fyke carve check-conf --print-default > my.conf       rules to start from

Exit codes: 0 nothing to say, 1 warnings, 2 errors.";

/// Arguments of `fyke carve check-conf`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(super) struct CheckConfArgs {
    /// Files of rules, as Scalpel has them
    #[arg(value_name = "CONF", required_unless_present = "print_default")]
    confs: Vec<PathBuf>,

    /// Print the default rules, as a file to start from
    #[arg(long, conflicts_with = "confs")]
    print_default: bool,

    /// Read the files as this version of Scalpel does
    #[arg(long, value_name = "VERSION", value_parser = super::compat())]
    compat: Option<Compat>,
}

pub(super) fn run(args: &CheckConfArgs) -> anyhow::Result<Outcome> {
    let options = conf::Options { compat: args.compat.unwrap_or_default() };
    let mut out = io::stdout().lock();
    if args.print_default {
        out.write_all(DEFAULT_CONF.as_bytes())?;
        out.flush()?;
        return Ok(Outcome::Match);
    }
    let (mut errors, mut warnings) = (0, 0);
    for path in &args.confs {
        let found = check(&mut out, path, options)?;
        errors += found.0;
        warnings += found.1;
    }
    out.flush()?;
    Ok(match (errors, warnings) {
        (0, 0) => Outcome::Match,
        (0, _) => Outcome::NoMatch,
        _ => Outcome::Error,
    })
}

/// Prints what is wrong with a file, and returns the number of errors and warnings.
fn check(
    out: &mut impl Write,
    path: &Path,
    options: conf::Options,
) -> anyhow::Result<(usize, usize)> {
    let shown = path.display().to_string();
    let text = fs::read(path).with_context(|| format!("cannot read the rules {shown}"))?;
    let errors = conf::errors(&text, &shown, options);
    let warnings = conf::lint(&text, &shown, options);
    let kinds = errors.iter().map(|e| (e, "error")).chain(warnings.iter().map(|w| (w, "warning")));
    let mut lines: Vec<_> = kinds.collect();
    lines.sort_by_key(|(diagnostic, _)| (diagnostic.line, diagnostic.column));
    for (diagnostic, kind) in lines {
        let conf::Diagnostic { line, column, what, help, .. } = diagnostic;
        writeln!(out, "{shown}:{line}:{column}: {kind}: {what}; {help}")?;
    }
    if let Ok(rules) = conf::parse(&text, &shown, options) {
        let (needles, rules) = (rules.needles.len(), counted(rules.rules.len(), "rule"));
        writeln!(out, "{shown}: {rules}, {needles} different headers and footers")?;
    }
    Ok((errors.len(), warnings.len()))
}
