//! docs/coming-from-ripgrep.md: the flags of ripgrep and grep beside those of `fyke scan`.

use super::docs::{NOTE, push};
use crate::cmd::flags::{FLAGS, Here};
use clap::{Arg, Command};

const INTRODUCTION: &str = "\
# Coming from ripgrep or grep

```sh
rg -F -uuu -a -e one -e two DIR       fyke scan --lines -e one -e two DIR
grep -rFn -f WORDS DIR                fyke scan --lines -n -f WORDS DIR
grep -rFc -f WORDS DIR                fyke scan --lines -c -f WORDS DIR
grep -Fo -b -e one FILE               fyke scan -o -b -e one FILE
rg -F -w -C2 -g '*.rs' -e main        fyke scan -w -C2 -g '*.rs' -e main .
rg -F -l -e one                       fyke scan -l -e one .
```

Patterns are literal, and come with `-e` or `-f`. Without `--lines` fyke reports matches, not lines:
each occurrence of each pattern is a record, and overlapping occurrences are too. With `--lines` a
line with several matches is one record, as in grep, and its bytes are printed as they are; they
are escaped on a terminal only. A match that spans lines selects each of them.

Without a path, fyke searches standard input unless that is a terminal. In scripts, give the folder:
if standard input is /dev/null, ripgrep searches the current folder, and fyke the empty input.

fyke reads every file of a folder: hidden ones, ignored ones and binary ones. Exit codes are those
of grep: 0 match, 1 none, 2 error. If a flag that takes one value is repeated, the last one counts;
`-e`, `-f`, `-g`, `--exclude`, `--exclude-dir`, `-t` and `-T` add up.

";

const OWN: &str = "
## Flags that only fyke has

| flag | effect |
|---|---|
";

/// The page.
pub(super) fn page(command: &Command) -> String {
    let mut text = format!("{NOTE}{INTRODUCTION}## Flags\n\n| flag | rg | grep | fyke |\n");
    text += "|---|---|---|---|\n";
    for flag in FLAGS {
        let names: Vec<String> = flag.names.split(", ").map(|n| format!("`{n}`")).collect();
        let mark = |program| if flag.of == program || flag.of == "both" { "yes" } else { "" };
        let here = match flag.here {
            Here::Same => "yes".to_owned(),
            Here::Differs(how) => format!("yes: {how}"),
            Here::NoEffect(why) => format!("no effect: {why}"),
            Here::Absent(why) => format!("no: {why}"),
        };
        let (rg, grep) = (mark("rg"), mark("grep"));
        push(&mut text, format_args!("| {} | {rg} | {grep} | {here} |\n", names.join(", ")));
    }
    text += OWN;
    let scan = command.find_subcommand("scan");
    for arg in scan.into_iter().flat_map(Command::get_arguments).filter(|a| is_own(a)) {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        push(&mut text, format_args!("| `--{}` | {help} |\n", arg.get_long().unwrap_or_default()));
    }
    text
}

/// Whether a flag is shown and in none of the other programs.
fn is_own(arg: &Arg) -> bool {
    let Some(long) = arg.get_long().filter(|_| !arg.is_hide_set()) else { return false };
    let of_fyke = |name: &str| name.strip_prefix("--") == Some(long);
    let short = arg.get_short().map(|c| format!("-{c}")).unwrap_or_default();
    !FLAGS.iter().any(|flag| {
        let there = !matches!(flag.here, Here::Absent(_));
        there && flag.names.split(", ").any(|name| of_fyke(name) || name == short)
    })
}
