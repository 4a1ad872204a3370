//! `fyke carve`: finds files in a disk image by their headers and footers. Each verb is one file.

mod database;
mod export;
mod extract;
mod list;
mod pair;
mod select;

use crate::outcome::Outcome;
use clap::{Args, Subcommand};

/// Arguments of `fyke carve`.
#[derive(Args, Debug)]
pub(crate) struct CarveArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List the files that a scan found
    List(Box<list::ListArgs>),
    /// Write the list of files as an audit file, JSON lines, CSV, DFXML or SQLite database
    Export(Box<export::ExportArgs>),
    /// Copy files out of the image
    Extract(Box<extract::ExtractArgs>),
    /// Pair the hits of a scan again under other rules, without reading the image
    Pair(Box<pair::PairArgs>),
}

pub(crate) fn run(args: &CarveArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        Verb::List(args) => list::run(args),
        Verb::Export(args) => export::run(args),
        Verb::Extract(args) => extract::run(args),
        Verb::Pair(args) => pair::run(args),
    }
}
