//! `fyke carve`: finds files in disk images by their headers and footers.

mod check_conf;
mod one_shot;
mod scan;

use crate::outcome::Outcome;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use fyke_carve::Compat;

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
    /// Check files of rules, and warn about what their author would regret
    CheckConf(check_conf::CheckConfArgs),
}

pub(crate) fn run(args: &CarveArgs) -> anyhow::Result<Outcome> {
    match &args.verb {
        Some(CarveVerb::Scan(args)) => scan::run(args),
        Some(CarveVerb::CheckConf(args)) => check_conf::run(args),
        None => one_shot::run(&args.one_shot),
    }
}

/// Whose bugs to reproduce, by the version of Scalpel.
fn compat() -> impl TypedValueParser<Value = Compat> {
    PossibleValuesParser::new(["1.60"]).map(|_| Compat::Scalpel160)
}
