//! The flags of ripgrep and grep beside those of `fyke scan`.
//!
//! docs/coming-from-ripgrep.md is generated from this table, and an unknown flag gets its reason
//! from it. A test compares the table with the definition of the command.

use clap::Error;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use strsim::levenshtein;

/// What a flag of ripgrep or grep is in fyke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    /// It means the same.
    Same,
    /// It exists, and something differs.
    Differs(&'static str),
    /// It is accepted and has no effect, because fyke does what it asks for.
    NoEffect(&'static str),
    /// It does not exist: why, or what to use.
    Absent(&'static str),
}

/// A flag of ripgrep or grep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flag {
    /// The short and the long name, as in `-w, --word-regexp`.
    pub(super) names: &'static str,
    /// The programs that have it: `rg`, `grep` or `both`.
    pub(super) of: &'static str,
    pub(super) here: Here,
}

use Here::{Absent, Differs, NoEffect, Same};

const fn flag(of: &'static str, names: &'static str, here: Here) -> Flag {
    Flag { names, of, here }
}

/// The reason of flags that choose or tune a regular expression engine.
const LITERAL: Here = Absent("patterns are literal bytes");
const IGNORES: Here = Absent("ignore files count only with --gitignore");

/// All flags, by what they are for.
pub(super) const FLAGS: &[Flag] = &[
    // Patterns.
    flag(
        "both",
        "-e, --regexp",
        Differs(
            "literal; needed unless -f or --database is given; a line feed divides two patterns",
        ),
    ),
    flag("both", "-f, --file", Differs("an empty line is an error; `snort:FILE` names a format")),
    flag("both", "-i, --ignore-case", Differs("ASCII letters only")),
    flag("both", "-F, --fixed-strings", NoEffect("patterns are always literal")),
    flag("both", "-w, --word-regexp", Differs("word bytes are ASCII letters, digits and `_`")),
    flag("both", "-x, --line-regexp", Same),
    flag("rg", "-S, --smart-case", Differs("ASCII letters only")),
    flag("rg", "--case-sensitive", Differs("-s is --no-messages, as in grep")),
    flag("grep", "--no-ignore-case", Same),
    flag("grep", "-E, --extended-regexp", LITERAL),
    flag("rg", "-E, --encoding", Differs("`auto` or `none`; `auto` converts UTF-16 only")),
    flag("grep", "-G, --basic-regexp", LITERAL),
    flag("both", "-P, --perl-regexp, --pcre2", LITERAL),
    flag("rg", "--multiline-dotall", LITERAL),
    flag("rg", "--no-unicode", LITERAL),
    flag("rg", "--regex-size-limit", Absent("--memory-limit limits the compiled patterns")),
    flag("rg", "--dfa-size-limit", Absent("--memory-limit limits the compiled patterns")),
    flag("rg", "--auto-hybrid-regex", LITERAL),
    flag("rg", "--engine", Differs("chooses an algorithm; `fyke engines` lists them")),
    // Lines.
    flag("both", "-v, --invert-match", Differs("implies --lines")),
    flag("both", "-m, --max-count", Differs("counts lines, without --lines too")),
    flag("both", "-A, --after-context", Differs("implies --lines")),
    flag("both", "-B, --before-context", Differs("implies --lines")),
    flag("both", "-C, --context", Differs("implies --lines")),
    flag("grep", "-NUM", Absent("write -C NUM")),
    flag("rg", "--passthru", Absent("write -C with a large number")),
    flag("rg", "--context-separator", Absent("it is always `--`")),
    flag("rg", "--no-context-separator", Absent("it is always `--`")),
    flag("grep", "--group-separator", Absent("it is always `--`")),
    flag("grep", "--no-group-separator", Absent("it is always `--`")),
    flag("rg", "--field-context-separator", Absent("it is always `-`")),
    flag("rg", "--field-match-separator", Absent("it is always `:`")),
    flag(
        "both",
        "-U, --multiline",
        NoEffect("hex and rule patterns may span lines; -e and -f divide at a line feed"),
    ),
    flag("both", "--null-data", Absent("lines end with a line feed; -z decompresses, as in rg")),
    flag("rg", "--crlf", Absent("a CR is part of its line, as in grep")),
    // What is printed.
    flag("both", "-c, --count", Differs("counts matches, and with --lines lines; 0 is printed")),
    flag("rg", "--count-matches", Same),
    flag("rg", "--include-zero", NoEffect("counts of 0 are always printed")),
    flag("both", "-l, --files-with-matches", Same),
    flag("both", "--files-without-match", Differs("-L follows links, as in rg; exits as rg does")),
    flag("both", "-o, --only-matching", Differs("overlapping matches too, unless --semantics")),
    flag("both", "-q, --quiet, --silent", Same),
    flag("both", "-n, --line-number", Same),
    flag("rg", "-N, --no-line-number", Same),
    flag("both", "-b, --byte-offset", Differs("of the match; with --lines of the line")),
    flag("rg", "--column", Same),
    flag("both", "-H, --with-filename", Same),
    flag("both", "-I, --no-filename", Differs("-h is help, as in rg")),
    flag("rg", "--heading", Differs("off unless it is given")),
    flag("rg", "--no-heading", NoEffect("it is the default")),
    flag("both", "-0, -Z, --null", Same),
    flag("rg", "--vimgrep", Same),
    flag("rg", "--json", Differs("other records: docs/json.md")),
    flag("rg", "--stats", Differs("six lines for scripts, on standard error")),
    flag("rg", "-M, --max-columns", Differs("cuts a line around the match, and does not omit it")),
    flag("rg", "--max-columns-preview", Absent("-M always shows the match")),
    flag("both", "--color, --colour", Differs("auto, always or never")),
    flag("rg", "--colors", Absent("the colors are those of grep")),
    flag("rg", "-p, --pretty", Absent("write --color always --heading -n")),
    flag("rg", "--trim", Absent("lines are printed as they are")),
    flag("rg", "--replace", Differs("copies the whole input; -r has no effect, as -r in grep")),
    flag("grep", "-T, --initial-tab", Absent("-T is --type-not, as in rg")),
    flag("grep", "--label", Absent("standard input is `<stdin>`")),
    flag("rg", "--path-separator", Absent("paths are those of the system")),
    flag("both", "-s, --no-messages", Differs("-s is not --case-sensitive, as it is in rg")),
    flag("rg", "--no-ignore-messages", IGNORES),
    flag("both", "--line-buffered", NoEffect("matches of a pipe are printed as they arrive")),
    flag("rg", "--block-buffered", Absent("files are always written in blocks")),
    flag("rg", "--debug", Absent("`fyke explain` prints the plan")),
    // Which files.
    flag("grep", "-r, --recursive", NoEffect("folders are always walked")),
    flag("grep", "-R, --dereference-recursive", Same),
    flag("rg", "-L, --follow", Differs("-L is not --files-without-match, as it is in grep")),
    flag("both", "-a, --text", NoEffect("binary files are searched like text")),
    flag("both", "--binary", NoEffect("binary files are searched like text")),
    flag("grep", "--binary-files", Absent("binary files are searched like text")),
    flag("rg", "-u, --unrestricted", NoEffect("nothing is skipped unless a flag says so")),
    flag("rg", "--no-ignore", NoEffect("ignore files count only with --gitignore")),
    flag("rg", "--no-ignore-vcs, --no-ignore-dot, --no-ignore-parent", IGNORES),
    flag("rg", "--no-ignore-exclude, --no-ignore-files, --no-ignore-global", IGNORES),
    flag("rg", "--ignore-file, --ignore-file-case-insensitive", Absent("write -g '!GLOB'")),
    flag("rg", "--no-require-git", IGNORES),
    flag("rg", "-., --hidden", NoEffect("hidden files are searched, unless --no-hidden is given")),
    flag("rg", "-g, --glob", Same),
    flag("rg", "--iglob, --glob-case-insensitive", Absent("write both cases: -g '*.[lL][oO][gG]'")),
    flag("grep", "--include", Differs("the same as -g; not for files that are given as PATH")),
    flag("grep", "--exclude", Differs("for folders too; not for files that are given as PATH")),
    flag("grep", "--exclude-dir", Same),
    flag("grep", "--exclude-from", Absent("write --exclude for each line")),
    flag("rg", "-t, --type", Same),
    flag("rg", "--type-not", Same),
    flag("rg", "--type-list", Same),
    flag("rg", "--type-add, --type-clear", Absent("write -g GLOB")),
    flag("rg", "--files", Absent("use find")),
    flag("rg", "--max-depth", Absent("use find -maxdepth")),
    flag("rg", "--max-filesize", Absent("use find -size")),
    flag("rg", "--one-file-system", Absent("use find -xdev")),
    flag("grep", "-d, --directories", Absent("folders are always walked")),
    flag("grep", "-D, --devices", Absent("those of folders are skipped, and those given are read")),
    flag("rg", "--pre, --pre-glob", Absent("pipe the output of the command into fyke")),
    flag("rg", "-z, --search-zip", Differs("in the program itself: no other program is started")),
    // Speed and the rest.
    flag("rg", "-j, --threads", Same),
    flag("rg", "--mmap, --no-mmap", Absent("files are read: a mapped file that shrinks is fatal")),
    flag("rg", "--no-config", NoEffect("there is no configuration file")),
    flag("both", "-V, --version", Differs("`fyke --version`")),
    flag("both", "-h, --help", Same),
];

/// Gives an unknown flag the reason from the table, and removes tips that mislead.
pub(super) fn explain(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let name = given.split(['=', ' ']).next().unwrap_or(given).to_owned();
    // It proposes to give the flag as a path.
    error.remove(ContextKind::Suggested);
    let is_close = |value: &ContextValue| match value {
        ContextValue::String(other) => other.starts_with(&name) || levenshtein(other, &name) <= 2,
        _ => false,
    };
    if !error.get(ContextKind::SuggestedArg).is_some_and(is_close) {
        error.remove(ContextKind::SuggestedArg);
    }
    if let Some(reason) = reason(&name) {
        let tip = format!("fyke has no {name}: {reason}").into();
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
}

/// Why fyke does not have a flag of ripgrep or grep.
fn reason(name: &str) -> Option<&'static str> {
    FLAGS.iter().find_map(|flag| match flag.here {
        Absent(reason) if flag.names.split(", ").any(|n| n == name) => Some(reason),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, Command, CommandFactory};

    fn scan() -> Command {
        let mut command = super::super::Cli::command();
        command.build();
        command.find_subcommand("scan").cloned().unwrap()
    }

    fn names(arg: &Arg) -> Vec<String> {
        let short = arg.get_short_and_visible_aliases().unwrap_or_default();
        let hidden = arg.get_all_short_aliases().unwrap_or_default();
        let long = arg.get_long().into_iter().chain(arg.get_all_aliases().unwrap_or_default());
        let short = short.into_iter().chain(hidden).map(|c| format!("-{c}"));
        short.chain(long.map(|l| format!("--{l}"))).collect()
    }

    #[test]
    fn the_table_says_what_the_command_has() {
        let scan = scan();
        let all: Vec<String> = scan.get_arguments().flat_map(names).collect();
        for flag in FLAGS {
            for name in flag.names.split(", ") {
                // Some short names are taken by another flag, and the table says by which.
                let taken = ["-E", "-T", "-d", "-D", "-V", "--version"].contains(&name);
                let absent = matches!(flag.here, Absent(_));
                assert!(taken || all.iter().any(|n| n == name) != absent, "{name}: {flag:?}");
            }
        }
    }

    #[test]
    fn flags_for_habits_are_in_the_table() {
        for arg in scan().get_arguments().filter(|a| a.is_hide_set()) {
            let names = names(arg);
            let is_row = |flag: &Flag| {
                let mut of_row = flag.names.split(", ");
                matches!(flag.here, NoEffect(_)) && of_row.any(|n| names.iter().any(|m| m == n))
            };
            assert!(FLAGS.iter().any(is_row), "{names:?}");
        }
    }
}
