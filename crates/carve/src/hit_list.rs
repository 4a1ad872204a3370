//! Lists of hits as text: what Scalpel writes with `-d`.
//!
//! For each rule with an extension: the extension, the number of headers, the offset of each, the
//! number of footers, the offset of each; one per line.

use crate::hit::Hits;
use crate::pair::{PairOptions, lists};
use crate::rule::RuleSet;
use std::io::{self, Write};

/// Writes the hits of all rules.
///
/// # Errors
///
/// If writing fails.
pub fn write(
    out: &mut impl Write,
    rules: &RuleSet,
    hits: &Hits,
    options: &PairOptions,
) -> io::Result<()> {
    for rule in &rules.rules {
        let Some(extension) = &rule.extension else { continue };
        writeln!(out, "{extension}")?;
        let (headers, footers) = lists(rules, rule, hits, options);
        for list in [headers, footers] {
            writeln!(out, "{}", list.starts.len())?;
            for start in list.starts.iter() {
                writeln!(out, "{start}")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{conf, naive};

    #[test]
    fn rules_with_extensions_are_listed() {
        let text = b"a y 9 AB CD\nNONE y 9 AB\nb y 9 CD\n";
        let rules = conf::parse(text, "c", conf::Options::default()).unwrap();
        let hits = naive::find(b"ABABCD", &rules);
        let mut out = Vec::new();
        write(&mut out, &rules, &hits, &PairOptions::default()).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a\n2\n0\n2\n1\n4\nb\n1\n4\n0\n");
    }
}
