//! Golden rows: match counts and fingerprints that another program computed.
//!
//! ```text
//! words20k.hex x kjv.txt ci | pats 20000 bytes 137905 | text 4137850 | matches 7008088 distinct 7069 sum db5bafa22c1a38ba
//! ```

use anyhow::{Context, Result};
use fyke_rivals::Tally;

/// A golden row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The list of patterns.
    pub patterns: String,
    /// The corpus, by its name in the rows.
    pub haystack: String,
    /// Whether text and patterns were folded to lower case.
    pub nocase: bool,
    /// Count and fingerprint.
    pub tally: Tally,
}

/// Reads the rows; lines that begin with `#` are comments.
///
/// # Errors
/// A line has another form.
pub fn parse(text: &str) -> Result<Vec<Row>> {
    let lines = text.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    lines.map(|(n, l)| row(l).with_context(|| format!("golden line {}: {l:?}", n + 1))).collect()
}

fn row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |name| words.iter().skip_while(|w| **w != name).nth(1);
    let &[patterns, "x", haystack, case, ..] = &words[..] else { return None };
    Some(Row {
        patterns: patterns.trim_end_matches(".hex").into(),
        haystack: haystack.into(),
        nocase: case == "ci",
        tally: Tally {
            count: after("matches")?.parse().ok()?,
            sum: u64::from_str_radix(after("sum")?, 16).ok()?,
            ..Tally::default()
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read() {
        let text = "# comment\nw.hex x k.txt ci | pats 2 bytes 3 | text 4 | matches 70 distinct 6 sum 00ff\n";
        let rows = parse(text).unwrap();
        assert_eq!((rows[0].patterns.as_str(), rows[0].haystack.as_str()), ("w", "k.txt"));
        assert_eq!(
            (rows[0].nocase, rows[0].tally),
            (true, Tally { count: 70, sum: 255, out_of_order: 0 })
        );
        assert!(parse("w.hex on k.txt").is_err());
    }
}
