//! The search of one file: patterns, a stream, and a report on what it found.

use crate::tally::Tally;
use fyke::rules::{self, Format, Options, RuleError, Rules};
use fyke::{PatternId, Searcher, Stream};
use serde::Serialize;

/// Most characters of a pattern that a report shows.
const SHOWN: usize = 80;

/// Most warnings that a report shows.
const WARNINGS: usize = 5;

/// How much a report has, whatever the number of matches.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Parts of equal size that the file is divided into.
    pub columns: usize,
    /// First matches.
    pub hits: usize,
    /// Patterns with the most matches.
    pub patterns: usize,
    /// Memory of the compiled set, in bytes.
    pub memory: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { columns: 1024, hits: 200, patterns: 100, memory: u64::MAX }
    }
}

/// The search of a file that arrives in chunks.
///
/// ```
/// let mut search = fyke_web::Search::new(b"needle\nhay", 0, false, 10, Default::default())?;
/// search.feed(b"hay ne");
/// search.feed(b"edle");
/// assert!(search.report().contains(r#""total":2"#));
/// # Ok::<(), String>(())
/// ```
pub struct Search {
    rules: Rules,
    searcher: Searcher,
    stream: Stream,
    tally: Tally,
    limits: Limits,
    warnings: Vec<String>,
}

impl Search {
    /// Compiles a list of patterns for a file of `size` bytes. Formats: 0 lines, 1 hexadecimal
    /// lines, 2 Snort rules.
    ///
    /// # Errors
    /// No pattern, a bad pattern (the first few are named), an unknown format, or the set needs
    /// more memory than the limit.
    pub fn new(
        patterns: &[u8],
        format: u32,
        nocase: bool,
        size: u64,
        limits: Limits,
    ) -> Result<Search, String> {
        let formats = [Format::Lines, Format::Hex, Format::Snort];
        let format = formats.get(format as usize).ok_or("an unknown format of patterns")?;
        let parsed = rules::parse(*format, "patterns", patterns, &Options::default());
        if !parsed.errors.is_empty() {
            return Err(first(&parsed.errors).join("\n"));
        }
        let rules = parsed.patterns;
        if rules.is_empty() {
            return Err("there are no patterns: give one in each line".to_owned());
        }
        let set = rules.pattern_set(nocase).map_err(|error| error.to_string())?;
        let builder = Searcher::builder().memory_limit(limits.memory).expected_bytes(size);
        let searcher = builder.build(&set).map_err(|error| error.to_string())?;
        Ok(Search {
            stream: searcher.stream(),
            tally: Tally::new(size, rules.len(), limits),
            warnings: first(&parsed.warnings),
            rules,
            searcher,
            limits,
        })
    }

    /// Searches the next bytes of the file. Matches that began in earlier chunks are found too.
    pub fn feed(&mut self, chunk: &[u8]) {
        // The tally never stops a search.
        let _ = self.stream.feed(chunk, &mut self.tally);
    }

    /// What was found so far, as JSON: see the fields of `Report`.
    pub fn report(&self) -> String {
        let tally = &self.tally;
        let mut found: Vec<_> =
            tally.counts.iter().enumerate().filter(|(_, count)| count.matches > 0).collect();
        let distinct = found.len();
        found.sort_by_key(|(id, count)| (std::cmp::Reverse(count.matches), *id));
        let patterns = found.iter().take(self.limits.patterns).map(|(id, count)| {
            let (text, origin) = self.name(PatternId(*id as u32));
            Found { text, origin, matches: count.matches, first: count.first }
        });
        let hits = tally.first.iter().map(|hit| {
            let (text, _) = self.name(hit.pattern);
            Hit { start: hit.start, end: hit.end, text }
        });
        let report = Report {
            engine: self.searcher.matcher().describe(),
            of: self.rules.len(),
            warnings: &self.warnings,
            bytes: self.stream.offset(),
            total: tally.total,
            distinct,
            columns: &tally.columns,
            patterns: patterns.collect(),
            hits: hits.collect(),
        };
        serde_json::to_string(&report).unwrap_or_else(|error| format!(r#"{{"error":"{error}"}}"#))
    }

    /// A pattern and where it comes from, for people.
    fn name(&self, id: PatternId) -> (String, String) {
        let Some(pattern) = self.rules.get(id) else { return (id.0.to_string(), String::new()) };
        let text = match std::str::from_utf8(pattern.bytes) {
            Ok(text) if !text.contains(char::is_control) => text.to_owned(),
            _ => pattern.bytes.escape_ascii().to_string(),
        };
        let end = text.char_indices().nth(SHOWN).map_or(text.len(), |(at, _)| at);
        let more = if end < text.len() { "…" } else { "" };
        (format!("{}{more}", &text[..end]), pattern.origin.to_string())
    }
}

/// The first few errors or warnings, and how many more there are.
fn first(errors: &[RuleError]) -> Vec<String> {
    let mut lines: Vec<_> = errors.iter().take(WARNINGS).map(RuleError::to_string).collect();
    if errors.len() > WARNINGS {
        lines.push(format!("and {} more", errors.len() - WARNINGS));
    }
    lines
}

/// What the page shows. Positions are bytes from the start of the file.
#[derive(Serialize)]
struct Report<'a> {
    /// The engine that searches, in one line.
    engine: String,
    /// Patterns in the list.
    of: usize,
    warnings: &'a [String],
    /// Bytes searched so far.
    bytes: u64,
    /// Matches so far.
    total: u64,
    /// Patterns that have matches.
    distinct: usize,
    /// Matches that begin in each part of the file.
    columns: &'a [u64],
    /// Those with the most matches first.
    patterns: Vec<Found>,
    /// The first matches, by their end.
    hits: Vec<Hit>,
}

/// A pattern that has matches.
#[derive(Serialize)]
struct Found {
    text: String,
    origin: String,
    matches: u64,
    /// Where the first match begins.
    first: u64,
}

/// A match.
#[derive(Serialize)]
struct Hit {
    start: u64,
    end: u64,
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn report(patterns: &str, chunks: &[&[u8]]) -> Value {
        let size = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        let limits = Limits { columns: 4, hits: 3, patterns: 2, ..Limits::default() };
        let mut search = Search::new(patterns.as_bytes(), 0, false, size, limits).unwrap();
        chunks.iter().for_each(|chunk| search.feed(chunk));
        serde_json::from_str(&search.report()).unwrap()
    }

    #[test]
    fn reports_do_not_depend_on_the_chunks() {
        let text = b"abcabcab--------abc-------------";
        let whole = report("abc\ncab\nb\nzz", &[text]);
        assert_eq!((&whole["total"], &whole["distinct"]), (&9.into(), &3.into()));
        assert_eq!(whole["columns"], serde_json::json!([7, 0, 2, 0]));
        assert_eq!(whole["patterns"][0]["text"], "b");
        assert_eq!(whole["patterns"][0]["matches"], 4);
        assert_eq!(whole["patterns"][1]["first"], 0, "abc before cab: more matches");
        assert_eq!(whole["patterns"].as_array().unwrap().len(), 2);
        assert_eq!(whole["hits"].as_array().unwrap().len(), 3);
        for size in [1, 2, 3, 5, 31] {
            let chunks: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(report("abc\ncab\nb\nzz", &chunks), whole, "chunks of {size}");
        }
    }

    #[test]
    fn bad_lists_are_refused() {
        let open = |patterns: &[u8], format| {
            Search::new(patterns, format, false, 1, Limits { memory: 1 << 30, ..Limits::default() })
                .err()
                .unwrap_or_default()
        };
        assert_eq!(open(b"a", 0), "");
        assert!(open(b"", 0).contains("no patterns"));
        assert!(open(b"6g", 1).contains("patterns:1"), "{}", open(b"6g", 1));
        assert!(open(b"6g\n".repeat(9).as_slice(), 1).ends_with("and 4 more"));
        assert!(open(b"a", 7).contains("format"));
    }

    #[test]
    fn empty_and_growing_files_are_searched() {
        let mut search = Search::new(b"a", 0, false, 0, Limits::default()).unwrap();
        assert!(search.report().contains(r#""total":0"#));
        search.feed(b"aaa");
        assert!(search.report().contains(r#""total":3"#));
    }

    #[test]
    fn names_are_text_or_escaped_and_short() {
        let found = report("größe", &["größe".as_bytes()]);
        assert_eq!(found["patterns"][0]["text"], "größe");
        let long = "x".repeat(500);
        let found = report(&long, &[long.as_bytes()]);
        assert_eq!(found["patterns"][0]["text"], "x".repeat(SHOWN) + "…");
        assert_eq!(found["patterns"][0]["origin"], "patterns:1");
    }
}
