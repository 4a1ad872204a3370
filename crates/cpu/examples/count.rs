//! Counts matches in a file: `count ENGINE[:OPTIONS] PATTERNS HAYSTACK`. Each line of the file
//! PATTERNS is a pattern.
//!
//! `cargo xtask instructions` runs it to count the instructions of engines.

use fyke_core::sink::Count;
use fyke_core::{Block, Options, PatternSet, Scratch};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [engine, patterns, haystack] = &arguments[..] else {
        return Err("give an engine, a file of patterns, and a haystack".into());
    };
    let (name, params) = engine.split_once(':').unwrap_or((engine, ""));
    let engine = fyke_cpu::ENGINES.iter().find(|e| e.info().name == name);
    let engine = engine.ok_or_else(|| format!("there is no engine {name}"))?;
    let patterns = std::fs::read(patterns)?;
    let set = PatternSet::new(patterns.split(|&b| b == b'\n').filter(|line| !line.is_empty()))?;
    let matcher = engine.compile(&set, &Options::with_params(params)?)?;
    let haystack = std::fs::read(haystack)?;
    let mut count = Count::default();
    let _ = matcher.scan(Block::whole(&haystack), &mut Scratch::new(), &mut count);
    println!("{}", count.matches);
    Ok(())
}
