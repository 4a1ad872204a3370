//! What the examples share: texts and words of the repository, and the time of a call.

use fyke::container;
use fyke::rules::{Format, Options};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Runs of which the median is taken.
const RUNS: usize = 9;

/// A path below `data/` of the repository.
pub fn data(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../data", path].iter().collect()
}

/// The King James Bible: 4 MB of text.
///
/// # Errors
/// The file cannot be read or decompressed.
pub fn bible() -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let file = File::open(data("text/kjv.txt.xz"))?;
    container::decompress(Box::new(file))?.read_to_end(&mut text)?;
    Ok(text)
}

/// `count` American English words: 1,000, 3,000 or 6,000.
///
/// # Errors
/// The file cannot be read.
pub fn dictionary(count: u32) -> io::Result<Vec<Vec<u8>>> {
    let file = format!("golden/dict{count}.hex");
    let bytes = fs::read(data(&file))?;
    let parsed = fyke::rules::parse(Format::Hex, &file, &bytes, &Options::default());
    Ok(parsed.patterns.iter().map(|pattern| pattern.bytes.to_vec()).collect())
}

/// The median time of several calls, with what the last one returned.
pub fn median<T>(mut call: impl FnMut() -> T) -> (Duration, T) {
    let mut last = call();
    let mut times = [Duration::ZERO; RUNS];
    for time in &mut times {
        let start = Instant::now();
        last = call();
        *time = start.elapsed();
    }
    times.sort_unstable();
    (times[RUNS / 2], last)
}

/// The examples of docs/coming-from-aho-corasick.md, compiled so that they stay true.
#[cfg(doctest)]
#[doc = include_str!("../../docs/coming-from-aho-corasick.md")]
struct ComingFromAhoCorasick;

/// The examples of README.md.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
