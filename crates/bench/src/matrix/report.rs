//! A record of the matrix as a document and drawings.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;

use super::Args;
use crate::record::Record;
use crate::table;

/// Prints the document.
///
/// # Errors
/// Something cannot be written.
pub fn run_to(_args: &Args, record: &Record, out: &mut dyn Write) -> Result<ExitCode> {
    write!(out, "{}", table::document(record))?;
    Ok(ExitCode::SUCCESS)
}
