//! The definition of a hit, as slow code: every needle is compared at every offset.
//!
//! It is the oracle of the finder, and what tests use to get hits from small images.

use crate::hit::{Hits, Lengths, NeedleHits};
use crate::needle::Needle;
use crate::regex;
use crate::rule::RuleSet;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::{Anchored, Input, MatchKind};

/// Finds all hits of all needles of `rules` in `image`, overlapping ones too.
///
/// # Panics
///
/// If a regular expression of the rules does not compile: reading a configuration checks that.
#[must_use]
pub fn find(image: &[u8], rules: &RuleSet) -> Hits {
    let needles = rules.needles.iter().map(|needle| find_needle(image, needle)).collect();
    Hits { image_len: image.len() as u64, needles }
}

fn find_needle(image: &[u8], needle: &Needle) -> NeedleHits {
    match needle {
        Needle::Bytes { bytes, nocase } => NeedleHits {
            starts: find_bytes(image, bytes, *nocase),
            lengths: Lengths::Fixed(bytes.len() as u32),
        },
        Needle::Regex { pattern, nocase } => find_regex(image, pattern, *nocase),
    }
}

fn find_bytes(image: &[u8], bytes: &[Option<u8>], nocase: bool) -> Vec<u64> {
    let is_hit = |window: &[u8]| {
        window.iter().zip(bytes).all(|(&byte, wanted)| match wanted {
            None => true,
            Some(wanted) if nocase => byte.eq_ignore_ascii_case(wanted),
            Some(wanted) => byte == *wanted,
        })
    };
    let windows = image.windows(bytes.len()).enumerate();
    windows.filter(|(_, window)| is_hit(window)).map(|(at, _)| at as u64).collect()
}

fn find_regex(image: &[u8], pattern: &str, nocase: bool) -> NeedleHits {
    // With `All`, an automaton runs on to the longest match.
    let config = dense::Config::new().match_kind(MatchKind::All).start_kind(StartKind::Anchored);
    let dfa = dense::Builder::new()
        .configure(config)
        .syntax(regex::config(nocase))
        .thompson(regex_automata::nfa::thompson::Config::new().utf8(false))
        .build(pattern)
        .expect("the expressions of a rule set compile");
    let (mut starts, mut lengths) = (Vec::new(), Vec::new());
    for at in 0..image.len() {
        let end = image.len().min(at + Needle::MAX_REGEX_LEN);
        let input = Input::new(image).range(at..end).anchored(Anchored::Yes);
        let found = dfa.try_search_fwd(&input).expect("a dense automaton never gives up");
        if let Some(found) = found.filter(|found| found.offset() > at) {
            starts.push(at as u64);
            lengths.push((found.offset() - at) as u32);
        }
    }
    NeedleHits { starts, lengths: Lengths::Each(lengths) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(image: &[u8], needle: Needle) -> NeedleHits {
        let rules = RuleSet { rules: Vec::new(), needles: vec![needle] };
        find(image, &rules).needles.remove(0)
    }

    fn string(text: &str, nocase: bool) -> Needle {
        let bytes = text.bytes().map(|b| (b != b'?').then_some(b)).collect();
        Needle::Bytes { bytes, nocase }
    }

    #[test]
    fn strings_overlap_and_have_wildcards_and_case() {
        assert_eq!(hits(b"aaaa", string("aa", false)).starts, [0, 1, 2]);
        assert_eq!(hits(b"axbabb", string("a?b", false)).starts, [0, 3]);
        assert_eq!(hits(b"aAbB\xc1", string("ab", true)).starts, [1]);
        assert_eq!(hits(b"aAbB", string("ab", false)).starts, [] as [u64; 0]);
        assert_eq!(hits(b"a", string("ab", false)).starts, [] as [u64; 0]);
    }

    #[test]
    fn expressions_match_the_longest_from_each_offset() {
        let regex = |pattern: &str| Needle::Regex { pattern: pattern.into(), nocase: false };
        let found = hits(b"xaab", regex("a+b?"));
        assert_eq!(found.starts, [1, 2]);
        assert_eq!(found.lengths, Lengths::Each(vec![3, 2]));
        let found = hits(b"ab", regex("a|ab"));
        assert_eq!(found.lengths, Lengths::Each(vec![2]));
        let found = hits(b"\xff\n", regex(r"\xff."));
        assert_eq!(found.starts, [0]);
    }

    #[test]
    fn a_match_of_an_expression_has_a_longest_length() {
        let needle = Needle::Regex { pattern: "a+".into(), nocase: false };
        let found = hits(&[b'a'; Needle::MAX_REGEX_LEN + 2], needle);
        assert_eq!(found.len_of(0), Needle::MAX_REGEX_LEN as u64);
        assert_eq!(found.len_of(3), Needle::MAX_REGEX_LEN as u64 - 1);
    }
}
