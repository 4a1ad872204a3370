//! GNU grep as a process: `grep -F -f`, in the C locale.
//!
//! It finds leftmost-longest matches that do not overlap. With `-c` it skips the rest of a line
//! after the first match.

use std::process::Command;

use crate::program::{self, Call, Output, Program};
use crate::rival::Refusal;

/// GNU grep.
pub static PROGRAM: GnuGrep = GnuGrep;

/// See [`PROGRAM`].
#[derive(Debug)]
pub struct GnuGrep;

impl Program for GnuGrep {
    fn name(&self) -> &'static str {
        "gnu-grep"
    }

    fn about(&self) -> &'static str {
        "grep -F -f as a process: lines; leftmost-longest matches that do not overlap"
    }

    fn version(&self) -> Result<String, Refusal> {
        let version = program::first_line("grep")?;
        if version.contains("GNU grep") {
            return Ok(version);
        }
        Err(Refusal(format!("the grep of this machine is {version}, not GNU grep")))
    }

    fn command(&self, call: &Call<'_>) -> Command {
        let mut command = Command::new("grep");
        command.env("LC_ALL", "C").env_remove("GREP_COLORS").env_remove("GREP_OPTIONS");
        command.args(["--text", "--no-filename", "--color=never"]);
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
