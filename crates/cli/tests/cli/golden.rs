//! Golden rows through the command line: hex patterns, xz text, and the totals of `--stats`.

use crate::common::Folder;
use std::fs;
use std::path::{Path, PathBuf};

/// `dict1000.hex x kjv.txt cs | pats ... | text ... | matches N distinct N sum H`
struct Row<'a> {
    patterns: &'a str,
    text: &'a str,
    matches: &'a str,
    distinct: &'a str,
    sum: &'a str,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [patterns, "x", text, "cs", .., "matches", matches, "distinct", distinct, "sum", sum] =
            words[..]
        else {
            return None;
        };
        Some(Row { patterns, text, matches, distinct, sum })
    }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").canonicalize().unwrap()
}

#[test]
fn rows_whose_data_the_repository_carries() {
    let (data, f) = (data(), Folder::new(&[]));
    let golden = fs::read_to_string(data.join("golden/golden.txt")).unwrap();
    let mut checked = 0;
    for row in golden.lines().filter_map(Row::parse) {
        let patterns = data.join("golden").join(row.patterns);
        let text = data.join("text").join(row.text).with_added_extension("xz");
        if !patterns.is_file() || !text.is_file() {
            continue;
        }
        let mut command =
            f.command(["scan", "--stats", "-q", "-z", "--patterns-format", "hex", "-f"]);
        let run = command.arg(&patterns).arg(&text).output().unwrap();
        let stats = String::from_utf8(run.stderr).unwrap();
        let start = format!(
            "matches {}\ndistinct {}\nfingerprint {}\n",
            row.matches, row.distinct, row.sum
        );
        assert!(stats.starts_with(&start), "{} x {}: {stats}", row.patterns, row.text);
        checked += 1;
    }
    assert!(checked >= 4, "{checked} rows");
}

/// Contents of published rules in captured traffic, as text.
#[test]
fn rules_in_captures() {
    let data = data();
    let f = Folder::new(&[]);
    let mut command =
        f.command(["scan", "--patterns-format", "snort", "--semantics", "once", "-b", "-f"]);
    let rules = data.join("rules/emerging-user_agents.rules");
    let run = command.arg(rules).arg(data.join("traffic")).output().unwrap();
    let out = String::from_utf8(run.stdout).unwrap();
    assert_eq!(run.status.code(), Some(0));
    assert!(out.lines().count() > 20);
    assert!(out.lines().all(|l| l.contains(":sid ") && l.contains("emerging-user_agents.rules:")));
}
