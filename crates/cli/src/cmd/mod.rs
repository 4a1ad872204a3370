//! The verbs, one file each.

pub(crate) mod bench;
pub(crate) mod devices;
pub(crate) mod engines;
pub(crate) mod explain;
pub(crate) mod generate;
#[cfg(feature = "papers")]
pub(crate) mod model;
pub(crate) mod scan;

use crate::args::Command;
use std::process::ExitCode;

/// Does what a command says.
pub(crate) fn run(command: Command) -> anyhow::Result<ExitCode> {
    let outcome = match command {
        Command::Bench(args) => return bench::run(&args),
        Command::Scan(args) => scan::run(&args),
        Command::Engines(args) => engines::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Explain(args) => explain::run(&args),
        #[cfg(feature = "papers")]
        Command::Model(args) => model::run(&args),
        Command::Generate(args) => generate::run(&args),
    };
    outcome.map(ExitCode::from)
}
