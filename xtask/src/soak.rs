//! `cargo xtask soak`: random sets and haystacks through every public call of the library, compared
//! with a naive search, for some time.

use crate::cargo;
use anyhow::Result;
use std::process::ExitCode;

/// How long, and how.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Seconds to run
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// First seed, to repeat a run; by default it comes from the clock
    #[arg(long)]
    seed: Option<u64>,
    /// Build with debug assertions and overflow checks, which is slower
    #[arg(long)]
    checked: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let (seconds, seed) = (args.seconds.to_string(), args.seed.map(|seed| seed.to_string()));
    let mut env = vec![("FYKE_SOAK_SECONDS", &*seconds)];
    env.extend(seed.as_deref().map(|seed| ("FYKE_SOAK_SEED", seed)));
    let mut cargo_args = vec!["test", "-p", "fyke", "--test", "soak"];
    if !args.checked {
        cargo_args.push("--release");
    }
    cargo_args.extend(["--", "--ignored", "--nocapture"]);
    cargo::run(&cargo_args, &env)?;
    Ok(ExitCode::SUCCESS)
}
