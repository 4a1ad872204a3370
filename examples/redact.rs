//! Log redaction: copies standard input to standard output, with every secret of a file, one per
//! line, replaced by its number.
//!
//! `cargo run --release -p fyke-examples --example redact -- secrets.txt < in.log > out.log`
//!
//! Without a file it hides the hosts of a capture of HTTP requests and compares times.

use aho_corasick::AhoCorasick;
use fyke::{MatchKind, PatternSet, Searcher};
use fyke_examples::{data, median};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, BufWriter};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let Some(file) = env::args_os().nth(1) else { return compare() };
    let secrets = fs::read_to_string(file)?;
    let secrets: BTreeSet<_> = secrets.lines().filter(|line| !line.is_empty()).collect();
    let redaction = Redaction::new(&secrets.into_iter().collect::<Vec<_>>())?;
    redaction.copy(io::stdin().lock(), BufWriter::new(io::stdout().lock()))?;
    Ok(())
}

struct Redaction {
    searcher: Searcher,
    /// What stands in place of each secret.
    marks: Vec<String>,
}

impl Redaction {
    /// The longest of several secrets that begin at one position is replaced. Otherwise the end of
    /// `example.com` would stay if `example.co` is secret, too.
    fn new<S: AsRef<[u8]>>(secrets: &[S]) -> Result<Self, fyke::BuildError> {
        let set = PatternSet::new(secrets)?;
        let kind = MatchKind::LeftmostLongest;
        let searcher = Searcher::builder().match_kind(kind).nocase(true).build(&set)?;
        Ok(Self { searcher, marks: (0..secrets.len()).map(|i| format!("[secret {i}]")).collect() })
    }

    fn copy(&self, from: impl io::Read, to: impl io::Write) -> io::Result<()> {
        self.searcher.stream_replace_all(from, to, &self.marks)
    }
}

/// Times a redaction by both crates.
fn compare() -> Result<(), Box<dyn Error>> {
    let log = fs::read(data("traffic/4KHttpRequests.pcap"))?;
    let hosts = hosts(&log)?;
    let redaction = Redaction::new(&hosts)?;
    let (time, redacted) = median(|| {
        let mut to = Vec::with_capacity(log.len());
        redaction.copy(&log[..], &mut to).map(|()| to)
    });

    // Its streams are for match kind `Standard`, so the same result needs the log in memory.
    let theirs = AhoCorasick::builder()
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .ascii_case_insensitive(true)
        .build(&hosts)?;
    let (their_time, in_memory) = median(|| theirs.replace_all_bytes(&log, &redaction.marks));
    assert!(redacted? == in_memory, "the same text");
    let standard = AhoCorasick::builder().ascii_case_insensitive(true).build(&hosts)?;
    let (stream_time, streamed) = median(|| {
        let mut to = Vec::with_capacity(log.len());
        standard.try_stream_replace_all(&log[..], &mut to, &redaction.marks)
    });
    streamed?;

    println!("{} hosts hidden in {} bytes", hosts.len(), log.len());
    println!("fyke, stream, longest secret           {:8.3} ms", time.as_secs_f64() * 1e3);
    println!("aho-corasick, memory, longest secret   {:8.3} ms", their_time.as_secs_f64() * 1e3);
    println!("aho-corasick, stream, first to end     {:8.3} ms", stream_time.as_secs_f64() * 1e3);
    Ok(())
}

/// The hosts that HTTP requests name.
fn hosts(log: &[u8]) -> Result<Vec<Vec<u8>>, Box<dyn Error>> {
    let mut hosts = BTreeSet::new();
    for header in Searcher::new(["\r\nHost: "])?.find_iter(log) {
        let rest = &log[header.end..];
        let host = rest.split(|&byte| byte == b'\r').next().unwrap_or_default();
        if !host.is_empty() {
            hosts.insert(host.to_ascii_lowercase());
        }
    }
    Ok(hosts.into_iter().collect())
}
