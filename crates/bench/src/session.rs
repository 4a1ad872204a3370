//! What every run on the CPU prints before and after it measures.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Result, bail};
use fyke_rivals::PROGRAMS;

use crate::contender::choose::Contender;
use crate::machine::Facts;
use crate::print;
use crate::record::cpu::CpuRecord;
use crate::record::row::Status;

/// Prints the facts and the contenders, and checks that required ones are there.
///
/// # Errors
/// A required contender or program is absent, or `out` cannot be written.
pub fn start(
    out: &mut dyn Write,
    facts: &Facts,
    contenders: &[Contender],
    required: &[String],
    verify_only: bool,
) -> Result<()> {
    print::facts(out, facts)?;
    print::contenders(out, contenders)?;
    for name in required {
        require(name, contenders)?;
    }
    if !verify_only && facts.get("profile") != "release" {
        writeln!(out, "warning: this is not a release build; its times mean nothing")?;
    }
    Ok(())
}

fn require(name: &str, contenders: &[Contender]) -> Result<()> {
    let library = contenders.iter().find(|c| c.name == name).map(|c| c.rival.version());
    let program = || PROGRAMS.iter().find(|p| p.name() == name).map(|p| p.version());
    match library.or_else(program) {
        None => bail!("--require {name}: this run has no such contender"),
        Some(Err(why)) => bail!("--require {name}: {why}"),
        Some(Ok(_)) => Ok(()),
    }
}

/// The exit code of a run: 1 if a contender found wrong matches.
pub fn exit_code(record: &CpuRecord) -> ExitCode {
    let wrong = record.rows.iter().any(|r| r.status == Status::Wrong);
    if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
