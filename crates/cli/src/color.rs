//! Whether to color the output: `--color`, `NO_COLOR` and `CLICOLOR_FORCE`.

use clap::ValueEnum;
use fyke_io::sink::Colors;
use std::env;
use std::io::{self, IsTerminal};

/// When to use colors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal unless NO_COLOR is set, and everywhere if CLICOLOR_FORCE is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl When {
    pub(crate) fn colors(self) -> Colors {
        let yes = match self {
            When::Always => true,
            When::Never => false,
            When::Auto if is_set("NO_COLOR") => false,
            When::Auto if is_set("CLICOLOR_FORCE") => true,
            When::Auto => {
                io::stdout().is_terminal() && env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        };
        // Asked for always, they are written, whatever the console takes.
        if yes && (console_takes_colors() || self == When::Always) {
            Colors::ANSI
        } else {
            Colors::NONE
        }
    }
}

/// Whether a console, if there is one, takes escape sequences: that of Windows must be told to.
fn console_takes_colors() -> bool {
    #[cfg(windows)]
    return anstyle_query::windows::enable_ansi_colors().unwrap_or(true);
    #[cfg(not(windows))]
    true
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty() && value != "0")
}
