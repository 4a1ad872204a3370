//! Keeps the matches that are whole words, and selects those of them that do not overlap.

use super::found::{Columns, FoundRows};
use super::rows::Rows;
use fyke::{MatchKind, PatternId, StreamMatch};
use std::cmp::Reverse;
use std::ops::Range;

/// Keeps the whole words of a block of rows. With a kind, they do not overlap.
///
/// `found` has all matches of the block. A match that is not a word must not hide one that is, so
/// the kind selects among words only.
pub(super) fn keep(
    rows: &Rows<'_>,
    block: Range<usize>,
    kind: Option<MatchKind>,
    found: &FoundRows,
) -> FoundRows {
    let mut kept = FoundRows::default();
    for (row, matches) in block.zip(found.ranges()) {
        let bytes = rows.get(row);
        let mut words: Vec<_> = matches
            .filter(|&at| is_word(bytes, found.columns.range(at), rows.text))
            .map(|at| found.columns.tuple(at))
            .collect();
        if let Some(kind) = kind {
            select(kind, &mut words);
        }
        kept.counts.push(words.len());
        push(&words, &mut kept.columns);
    }
    kept
}

fn push(words: &[(u32, i64, i64)], to: &mut Columns) {
    for &(pattern, start, end) in words {
        let pattern = PatternId(pattern);
        to.push(StreamMatch { pattern, start: start as u64, end: end as u64 });
    }
}

/// Keeps the matches that do not overlap and that the kind selects, in the order of the haystack.
fn select(kind: MatchKind, matches: &mut Vec<(u32, i64, i64)>) {
    match kind {
        MatchKind::LeftmostFirst => matches.sort_by_key(|&(pattern, start, _)| (start, pattern)),
        MatchKind::LeftmostLongest => {
            matches.sort_by_key(|&(pattern, start, end)| (start, Reverse(end), pattern));
        }
        // The canonical order: by end, the longest first, then by pattern.
        _ => matches.sort_by_key(|&(pattern, start, end)| (end, start, pattern)),
    }
    let mut free = 0;
    matches.retain(|&(_, start, end)| {
        let selected = start >= free;
        if selected {
            free = end;
        }
        selected
    });
}

/// Whether no letter, digit or `_` is before or after a match.
fn is_word(bytes: &[u8], found: Range<usize>, text: bool) -> bool {
    let (before, after) = (&bytes[..found.start], &bytes[found.end..]);
    if text {
        return !last_char(before).is_some_and(is_word_char)
            && !first_char(after).is_some_and(is_word_char);
    }
    let is_word_byte = |byte: &u8| is_word_char(char::from(*byte)) && byte.is_ascii();
    !before.last().is_some_and(is_word_byte) && !after.first().is_some_and(is_word_byte)
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// The maximum number of bytes of a character.
const CHAR: usize = 4;

/// The last character of a text, or of what is before a match that cuts a character.
fn last_char(text: &[u8]) -> Option<char> {
    let tail = &text[text.len().saturating_sub(CHAR)..];
    tail.utf8_chunks().last().filter(|chunk| chunk.invalid().is_empty())?.valid().chars().last()
}

fn first_char(text: &[u8]) -> Option<char> {
    text[..text.len().min(CHAR)].utf8_chunks().next()?.valid().chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_no_letter_beside_them() {
        let is = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            is_word(text.as_bytes(), start..start + word.len(), true)
        };
        assert!(is("he", "he") && is("a he, b", "he") && is("é he é", "he") && is("「he」", "he"));
        assert!(!is("she", "he") && !is("hé", "h") && !is("éh", "h") && !is("_h", "h"));
        assert!(!is("h9", "h") && !is("漢h", "h") && !is("h漢", "h"));
        // Bytes beyond ASCII are no letters of binary values.
        assert!(is_word("éh".as_bytes(), 2..3, false) && !is_word(b"ah", 1..2, false));
        // A match that cuts a character.
        assert!(is_word("é".as_bytes(), 1..2, true) && is_word("é".as_bytes(), 0..1, true));
    }

    #[test]
    fn each_kind_selects_as_a_searcher_does() {
        let (patterns, text) = (["abcd", "bc", "a", "ab", "abc", "d"], "abcdbcabcxabd");
        let all = fyke::Searcher::new(patterns).unwrap();
        for kind in [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            let mut matches = Vec::new();
            all.scan(text, |m| matches.push((m.pattern.0, m.start as i64, m.end as i64)));
            select(kind, &mut matches);
            let set = fyke::PatternSet::new(patterns).unwrap();
            let searcher = fyke::Searcher::builder().match_kind(kind).build(&set).unwrap();
            let wanted =
                searcher.find_iter(text).map(|m| (m.pattern.0, m.start as i64, m.end as i64));
            assert_eq!(matches, wanted.collect::<Vec<_>>(), "{kind:?}");
        }
    }
}
