//! `fyke carve`: finds files in disk images by their headers and footers.

mod scan;

use crate::outcome::Outcome;
use clap::{Args, Subcommand};

/// Arguments of `fyke carve`.
#[derive(Args, Debug)]
pub(crate) struct CarveArgs {
    #[command(subcommand)]
    verb: CarveVerb,
}

#[derive(Subcommand, Debug)]
enum CarveVerb {
    /// Find files in images, and write a database of them and no file
    Scan(scan::ScanArgs),
}

pub(crate) fn run(args: &CarveArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        CarveVerb::Scan(args) => scan::run(args),
    }
}
