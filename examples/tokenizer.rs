//! A tokenizer: replaces a text by the numbers of the words of a vocabulary, the longest word that
//! begins at each position.
//!
//! `cargo run --release -p fyke-examples --example tokenizer`

use aho_corasick::AhoCorasick;
use fyke::{MatchKind, PatternSet, Searcher};
use fyke_examples::{bible, median};
use std::collections::BTreeSet;
use std::error::Error;

/// Where a word of the vocabulary stands, and its number.
#[derive(Debug, PartialEq, Eq)]
struct Token {
    word: u32,
    start: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = bible()?;
    let words = vocabulary(&text);

    let set = PatternSet::new(&words)?;
    let searcher = Searcher::builder().match_kind(MatchKind::LeftmostLongest).build(&set)?;
    let (time, tokens) = median(|| tokenize(&searcher, &text));

    let theirs = AhoCorasick::builder()
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .build(&words)?;
    let (their_time, their_tokens) = median(|| tokenize_aho_corasick(&theirs, &text));
    assert!(tokens == their_tokens, "the same tokens");

    for token in &tokens[..10] {
        let word = words[token.word as usize];
        println!("{:>6} {:>5} {}", token.start, token.word, String::from_utf8_lossy(word));
    }
    println!("... {} words, {} tokens in {} bytes", words.len(), tokens.len(), text.len());
    println!("fyke          {:8.2} ms", time.as_secs_f64() * 1e3);
    println!("aho-corasick  {:8.2} ms", their_time.as_secs_f64() * 1e3);
    Ok(())
}

/// The distinct words of a text.
fn vocabulary(text: &[u8]) -> Vec<&[u8]> {
    let words = text.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    words.collect::<BTreeSet<_>>().into_iter().collect()
}

fn tokenize(searcher: &Searcher, text: &[u8]) -> Vec<Token> {
    searcher.find_iter(text).map(|m| Token { word: m.pattern.0, start: m.start }).collect()
}

fn tokenize_aho_corasick(searcher: &AhoCorasick, text: &[u8]) -> Vec<Token> {
    let token = |m: aho_corasick::Match| Token { word: m.pattern().as_u32(), start: m.start() };
    searcher.find_iter(text).map(token).collect()
}
