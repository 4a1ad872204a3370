//! A prefilter for regular expressions: fyke finds the literal that each expression requires, and
//! `regex` confirms it in that line only.
//!
//! `cargo run --release -p fyke-examples --example prefilter`

use aho_corasick::AhoCorasick;
use fyke::Searcher;
use fyke_examples::{bible, dictionary, median};
use regex::bytes::{Regex, RegexSet, RegexSetBuilder};
use std::error::Error;
use std::time::Duration;

/// A line and the number of an expression that matches in it.
type Hit = (usize, usize);

fn main() -> Result<(), Box<dyn Error>> {
    let (text, words) = (bible()?, dictionary(1000)?);
    let lines = Lines::new(&text);
    let sources: Vec<_> = words.iter().map(|word| expression(word)).collect();
    let regexes = sources.iter().map(|s| Regex::new(s)).collect::<Result<Vec<_>, _>>()?;

    let searcher = Searcher::new(&words)?;
    let (time, hits) = median(|| {
        let mut confirm = Confirm::new(&lines, &regexes);
        searcher.scan(&text, |m| confirm.literal(m.pattern.0 as usize, m.start));
        confirm.hits
    });

    let theirs = AhoCorasick::new(&words)?;
    let (their_time, their_hits) = median(|| {
        let mut confirm = Confirm::new(&lines, &regexes);
        for m in theirs.find_overlapping_iter(&text) {
            confirm.literal(m.pattern().as_usize(), m.start());
        }
        confirm.hits
    });
    assert!(hits == their_hits, "the same hits");

    let all =
        RegexSetBuilder::new(&sources).size_limit(1 << 30).dfa_size_limit(64 << 20).build()?;
    let (set_time, set_hits) = median(|| regex_set(&all, &lines));
    let mut sorted = hits.clone();
    sorted.sort_unstable();
    assert!(sorted == set_hits, "the same hits");

    println!("{} expressions, {} hits in {} lines", sources.len(), hits.len(), lines.ends.len());
    let report = |name: &str, t: Duration| println!("{name:22} {:9.2} ms", t.as_secs_f64() * 1e3);
    report("fyke, regex", time);
    report("aho-corasick, regex", their_time);
    report("RegexSet alone", set_time);
    Ok(())
}

/// A word in one of its other forms, near a king.
fn expression(word: &[u8]) -> String {
    let word = regex::escape(&String::from_utf8_lossy(word));
    format!(r"(?-u)\b{word}(?:s|es|ed|ing)\b.*\b[Kk]ings?\b")
}

/// The lines of a text.
struct Lines<'a> {
    text: &'a [u8],
    /// Where each line ends.
    ends: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8]) -> Self {
        let ends = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i);
        Self { text, ends: ends.collect() }
    }

    fn get(&self, line: usize) -> &'a [u8] {
        let start = if line == 0 { 0 } else { self.ends[line - 1] + 1 };
        &self.text[start..self.ends[line]]
    }
}

/// Runs an expression on each line that has its literal, once.
struct Confirm<'a> {
    lines: &'a Lines<'a>,
    regexes: &'a [Regex],
    /// For each expression, the last line that it ran on.
    last: Vec<usize>,
    hits: Vec<Hit>,
}

impl<'a> Confirm<'a> {
    fn new(lines: &'a Lines<'a>, regexes: &'a [Regex]) -> Self {
        Self { lines, regexes, last: vec![usize::MAX; regexes.len()], hits: Vec::new() }
    }

    fn literal(&mut self, number: usize, at: usize) {
        let line = self.lines.ends.partition_point(|&end| end < at);
        let last = std::mem::replace(&mut self.last[number], line);
        if last != line && self.regexes[number].is_match(self.lines.get(line)) {
            self.hits.push((line, number));
        }
    }
}

fn regex_set(all: &RegexSet, lines: &Lines<'_>) -> Vec<Hit> {
    let hits = |line| all.matches(lines.get(line)).into_iter().map(move |number| (line, number));
    (0..lines.ends.len()).flat_map(hits).collect()
}
