//! `fyke carve`: finds files in disk images by their headers and footers.

mod check_conf;
mod database;
mod export;
mod extract;
mod input;
mod list;
mod one_shot;
mod pair;
mod pair_flags;
mod scan;
mod select;

use crate::outcome::Outcome;
use anyhow::Context;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use fyke_carve::{Compat, DEFAULT_CONF, DEFAULT_CONF_NAME};
use std::fs;
use std::path::Path;

/// Arguments of `fyke carve`.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = one_shot::NOTES, subcommand_value_name = "VERB")]
pub(crate) struct CarveArgs {
    #[command(subcommand)]
    verb: Option<CarveVerb>,

    #[command(flatten)]
    one_shot: one_shot::OneShotArgs,
}

#[derive(Subcommand, Debug)]
enum CarveVerb {
    /// Find files in images, and write a database of them and no file
    Scan(scan::ScanArgs),
    /// List the files that a scan found
    List(Box<list::ListArgs>),
    /// Write the list of files as an audit file, JSON lines, CSV, DFXML or SQLite database
    Export(Box<export::ExportArgs>),
    /// Copy files out of the image
    Extract(Box<extract::ExtractArgs>),
    /// Pair the hits of a scan again under other rules, without reading the image
    Pair(Box<pair::PairArgs>),
    /// Check files of rules, and warn about what their author would regret
    CheckConf(check_conf::CheckConfArgs),
}

pub(crate) fn run(args: &CarveArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        Some(CarveVerb::Scan(args)) => scan::run(args),
        Some(CarveVerb::List(args)) => list::run(args),
        Some(CarveVerb::Export(args)) => export::run(args),
        Some(CarveVerb::Extract(args)) => extract::run(args),
        Some(CarveVerb::Pair(args)) => pair::run(args),
        Some(CarveVerb::CheckConf(args)) => check_conf::run(args),
        None => one_shot::run(&args.one_shot),
    }
}

/// The name and the text of the rules, which are the default ones if there is no path.
fn read_conf(path: Option<&Path>) -> anyhow::Result<(String, Vec<u8>)> {
    let Some(path) = path else {
        return Ok((DEFAULT_CONF_NAME.to_owned(), DEFAULT_CONF.as_bytes().to_vec()));
    };
    let shown = path.display().to_string();
    let text = fs::read(path).with_context(|| format!("cannot read the rules {shown}"))?;
    Ok((shown, text))
}

/// Whose bugs to reproduce, by the version of Scalpel.
fn compat() -> impl TypedValueParser<Value = Compat> {
    PossibleValuesParser::new(["1.60"]).map(|_| Compat::Scalpel160)
}
