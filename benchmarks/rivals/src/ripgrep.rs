//! ripgrep as a process: `rg -F -f`.
//!
//! It finds leftmost matches that do not overlap. With `-c` it skips the rest of a line after the
//! first match. It runs in one thread on one file, without the user's configuration, and reads
//! every file as text.

use std::process::Command;

use crate::program::{self, Call, Output, Program};
use crate::rival::Refusal;

/// ripgrep.
pub static PROGRAM: Ripgrep = Ripgrep;

/// See [`PROGRAM`].
#[derive(Debug)]
pub struct Ripgrep;

impl Program for Ripgrep {
    fn name(&self) -> &'static str {
        "ripgrep"
    }

    fn about(&self) -> &'static str {
        "rg -F -f as a process: lines; leftmost matches that do not overlap"
    }

    fn version(&self) -> Result<String, Refusal> {
        program::first_line("rg")
    }

    fn command(&self, call: &Call<'_>) -> Command {
        let mut command = Command::new("rg");
        command.args([
            "--no-config",
            "--text",
            "--encoding=none",
            "--no-filename",
            "--no-line-number",
            "--color=never",
        ]);
        command.arg(match call.output {
            Output::CountLines => "-c",
            Output::OnlyMatching => "-o",
        });
        if call.nocase {
            command.arg("-i");
        }
        command.args(["-F", "-f"]).arg(call.patterns).arg("--").arg(call.haystack);
        command
    }
}
