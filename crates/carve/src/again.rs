//! Pairing again: the hits of an earlier search under other rules, without reading the image.

use crate::{Hits, Needle, RuleSet};
use std::collections::HashMap;
use std::fmt;

/// Rules that need a search: some of their needles were not searched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotSearched {
    /// The needles, each with the line of the first rule that needs it.
    pub needles: Vec<(usize, Needle)>,
}

/// Gives the hits of an earlier search the numbers that the needles have in other rules.
///
/// # Errors
///
/// If a needle was not searched.
pub fn hits_for(rules: &RuleSet, searched: &RuleSet, hits: &Hits) -> Result<Hits, NotSearched> {
    let known: HashMap<Needle, usize> =
        searched.needles.iter().enumerate().map(|(index, needle)| (plain(needle), index)).collect();
    let indexes: Vec<Option<usize>> =
        rules.needles.iter().map(|needle| known.get(&plain(needle)).copied()).collect();
    let missing = (0..indexes.len()).filter(|&i| indexes[i].is_none());
    let needles: Vec<_> = missing.map(|i| (line_of(rules, i), rules.needles[i].clone())).collect();
    if !needles.is_empty() {
        return Err(NotSearched { needles });
    }
    let needles = indexes.into_iter().flatten().map(|index| hits.needles[index].clone()).collect();
    Ok(Hits { image_len: hits.image_len, needles })
}

/// The same needle, case-sensitive if it has no letters: `nocase` has no effect on it then.
fn plain(needle: &Needle) -> Needle {
    match needle {
        Needle::Bytes { bytes, .. } if !bytes.iter().flatten().any(u8::is_ascii_alphabetic) => {
            Needle::Bytes { bytes: bytes.clone(), nocase: false }
        }
        other => other.clone(),
    }
}

/// The line of the first rule that has the needle.
fn line_of(rules: &RuleSet, needle: usize) -> usize {
    let has = |id: crate::NeedleId| id.0 as usize == needle;
    let rule = rules.rules.iter().find(|r| has(r.header) || r.footer.is_some_and(has));
    rule.map_or(0, |rule| rule.line)
}

impl fmt::Display for NotSearched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these headers and footers were not searched: ")?;
        for (i, (line, needle)) in self.needles.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}{} (line {line})", Shown(needle))?;
        }
        f.write_str("; scan the image with the new configuration")
    }
}

impl std::error::Error for NotSearched {}

/// A needle as a configuration has it. A wildcard is `?`.
struct Shown<'a>(&'a Needle);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Needle::Regex { pattern, .. } => write!(f, "/{pattern}/"),
            Needle::Bytes { bytes, .. } => bytes.iter().try_for_each(|byte| match byte {
                None => f.write_str("?"),
                Some(byte @ (b'?' | b'\\')) => write!(f, "\\x{byte:02x}"),
                Some(byte @ b'!'..=b'~') => write!(f, "{}", *byte as char),
                Some(byte) => write!(f, "\\x{byte:02x}"),
            }),
        }?;
        let (Needle::Bytes { nocase, .. } | Needle::Regex { nocase, .. }) = self.0;
        f.write_str(if *nocase { " without case" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{conf, naive};

    fn rules(text: &str) -> RuleSet {
        conf::parse(text.as_bytes(), "test", conf::Options::default()).unwrap()
    }

    const IMAGE: &[u8] = b"aXbaaXbb XAbX";

    #[test]
    fn hits_are_those_of_a_new_search() {
        let searched = rules("a y 9 a b\nb n 9 x\nc y 9 /a+/ \\x20\n");
        let hits = naive::find(IMAGE, &searched);
        for text in
            ["z y 1:3 b a REVERSE\n", "b n 9 \\x20 x\n", "c y 5 /a+/ a\nb n 2 x a\n", "a y 3 a\n"]
        {
            // A needle without case is another needle.
            let other = rules(text);
            match hits_for(&other, &searched, &hits) {
                Ok(again) => assert_eq!(again, naive::find(IMAGE, &other), "{text}"),
                Err(missing) => assert!(text.contains(" n "), "{text}: {missing}"),
            }
        }
    }

    #[test]
    fn needles_that_were_not_searched_are_named() {
        let searched = rules("a y 9 a b\n");
        let hits = naive::find(IMAGE, &searched);
        let other = rules("a y 9 a b\n\nb y 9 \\xff? /q+/\nc n 9 \\x3f\\x20z a\n");
        let error = hits_for(&other, &searched, &hits).unwrap_err();
        assert_eq!(error.needles[0].0, 3);
        let text = error.to_string();
        for part in ["\\xff? (line 3)", "/q+/ (line 3)", "\\x3f\\x20z without case (line 4)"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        assert!(text.contains("a without case (line 4)"), "{text}");
        assert_eq!(error.needles.len(), 4);
    }
}
