//! Golden rows: pattern sets in real texts, with results that another library computed.
//!
//! A row names a list of patterns and a text. It states the number of matches, the number of
//! distinct patterns among them, and the sum of their fingerprints (see
//! `fyke_core::sink::fingerprint_of`).
//!
//! Rows whose data is in the repository need nothing else. The others are refused on a machine
//! without the outside data: printed, counted for each engine, and a failure under
//! `FYKE_REQUIRE=data`.
//!
//! Each variant runs its [share](crate::share) of the rows. The slowest combinations are skipped
//! unless `FYKE_GOLDEN=full`. What is skipped is listed as ignored tests.

mod data;

pub use data::Data;

use crate::conformance::{Scope, run_program};
use crate::require;
use crate::share::Share;
use crate::subject::{Subject, Suite};
use fyke_core::{
    Block, Device, Family, Fingerprint, Growth, Matcher, PatternId, PatternSet, Scratch,
};
use libtest_mimic::{Failed, Trial};
use std::process::ExitCode;

/// The environment variable that asks for every row on every variant when it is `full`.
pub const EFFORT: &str = "FYKE_GOLDEN";
/// Text bytes times patterns above which an engine whose cost grows with each pattern is skipped.
const PER_PATTERN_COST: u64 = 1_000_000_000;
/// Text bytes above which only the first variant of an engine runs, and no GPU engine of a paper:
/// on a CPU that emulates the GPU these would take nearly half of the table's time.
const VARIANT_COST: u64 = 5_000_000;
/// Each variant runs one part in this many of the rows.
const ROW_PARTS: usize = 3;
/// Threads of the parallel scan.
const THREADS: usize = 3;

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    patterns: String,
    text: String,
    /// Whether ASCII case is ignored in the whole row.
    nocase: bool,
    pattern_count: u64,
    pattern_bytes: u64,
    text_bytes: u64,
    result: Expected,
}

/// The result of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Expected {
    matches: u64,
    distinct: u64,
    sum: u64,
}

/// Runs the golden rows of a registry: the `main` of a test program without harness.
pub fn main(suite: Suite) -> ExitCode {
    let suite: &'static Suite = Box::leak(Box::new(suite));
    let trials = Data::open().and_then(|data| trials(suite, Box::leak(Box::new(data))));
    match trials {
        Ok(trials) => run_program(suite, trials, Scope::Chosen),
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn trials(suite: &'static Suite, data: &'static Data) -> Result<Vec<Trial>, String> {
    let table = data.rows()?;
    let rows: Vec<Row> =
        table.lines().filter(|l| !l.starts_with('#')).map(parse).collect::<Result<_, _>>()?;
    let full = std::env::var(EFFORT).is_ok_and(|v| v == "full");
    let subjects = suite.subjects();
    let of_row = |(i, row): (usize, &Row)| match data.refusal(&row.patterns, &row.text) {
        Some(why) => vec![refused(suite, row, &subjects, why)],
        None => {
            let one = |s: &Subject| {
                let in_share = Share::of(suite, *s, ROW_PARTS).has(i);
                let skip = if full { None } else { row.left_out(*s, in_share) };
                trial(suite, data, row.clone(), *s, skip)
            };
            subjects.iter().map(one).collect()
        }
    };
    Ok(rows.iter().enumerate().flat_map(of_row).collect())
}

/// One test for a row without its data, and a count for each subject.
fn refused(suite: &Suite, row: &Row, subjects: &[Subject], why: &str) -> Trial {
    subjects.iter().for_each(|s| suite.tally.refused(&s.label(), format_args!("a row: {why}")));
    require::refused_trial(format!("golden/{}", row.name()), why)
}

fn trial(
    suite: &'static Suite,
    data: &'static Data,
    row: Row,
    subject: Subject,
    skip: Option<&'static str>,
) -> Trial {
    let name = format!("{}/{}", subject.label(), row.name());
    if let Some(why) = skip {
        suite.tally.skipped(&subject.label(), why);
    }
    Trial::test(name, move || check(suite, data, &row, subject)).with_ignored_flag(skip.is_some())
}

fn check(suite: &Suite, data: &Data, row: &Row, subject: Subject) -> Result<(), Failed> {
    let text = data.text(&row.text)?;
    let set = row.set(data)?;
    row.check_input(&set, text.len())?;
    let Some(matcher) = suite.compile(&subject, &set)? else { return Ok(()) };
    suite.tally.checked(&subject.label());
    row.compare("one block", &whole(&*matcher, &text))?;
    // The library divides a haystack among threads. The conformance suite tests that with papers'
    // engines too.
    if subject.is_first_variant() && subject.engine.info().family != Family::Paper {
        let mut seen = Fingerprint::default();
        (suite.parallel)(&*matcher, &text, THREADS, &mut seen);
        row.compare("threads", &seen)?;
    }
    Ok(())
}

fn whole(matcher: &dyn Matcher, text: &[u8]) -> Fingerprint {
    let mut seen = Fingerprint::default();
    let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut seen);
    seen
}

impl Row {
    fn name(&self) -> String {
        let case = if self.nocase { "ci" } else { "cs" };
        format!("{}:{}:{case}", self.patterns, self.text)
    }

    /// Why a variant does not run the row, if it does not.
    fn left_out(&self, subject: Subject, in_share: bool) -> Option<&'static str> {
        let info = subject.engine.info();
        let per_pattern = info.growth == Growth::PerPattern;
        let is_gpu_paper = info.device == Device::Gpu && info.family == Family::Paper;
        if per_pattern && self.text_bytes * self.pattern_count > PER_PATTERN_COST {
            Some("patterns times bytes exceeds the limit; FYKE_GOLDEN=full runs it")
        } else if !subject.is_first_variant() && self.text_bytes > VARIANT_COST {
            Some("long text, not the first variant; FYKE_GOLDEN=full runs it")
        } else if is_gpu_paper && self.text_bytes > VARIANT_COST {
            Some("long text, a paper's GPU engine; FYKE_GOLDEN=full runs it")
        } else if !in_share {
            Some("not in the variant's share of the rows; FYKE_SHARE=all runs it")
        } else {
            None
        }
    }

    /// The set of a row. The table counts distinct patterns, folded first in a row that ignores
    /// case; one list of random patterns holds seven of them twice.
    fn set(&self, data: &Data) -> Result<PatternSet, String> {
        let mut patterns = data.patterns(&self.patterns)?;
        if self.nocase {
            patterns.iter_mut().for_each(|p| p.make_ascii_lowercase());
        }
        patterns.sort();
        patterns.dedup();
        let mut builder = PatternSet::builder();
        for (id, pattern) in patterns.iter().enumerate() {
            builder
                .push_with(PatternId(id as u32), pattern, self.nocase)
                .map_err(|e| e.to_string())?;
        }
        Ok(builder.build())
    }

    /// Whether the input is the one for which the row was computed.
    fn check_input(&self, set: &PatternSet, text_len: usize) -> Result<(), String> {
        let is = (set.len() as u64, set.total_bytes() as u64, text_len as u64);
        let should = (self.pattern_count, self.pattern_bytes, self.text_bytes);
        if is == should {
            Ok(())
        } else {
            Err(format!(
                "patterns, pattern bytes, text bytes are {is:?}, the row states {should:?}"
            ))
        }
    }

    fn compare(&self, way: &str, seen: &Fingerprint) -> Result<(), String> {
        let got = Expected { matches: seen.matches, distinct: seen.distinct(), sum: seen.sum };
        if got == self.result {
            Ok(())
        } else {
            Err(format!("{way}: expected {:x?}\n     got {got:x?}", self.result))
        }
    }
}

/// Reads `P.hex x TEXT cs | pats N bytes N | text N | matches N distinct N sum H`.
fn parse(line: &str) -> Result<Row, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [
        patterns,
        "x",
        text,
        case,
        "|",
        "pats",
        count,
        "bytes",
        bytes,
        "|",
        "text",
        len,
        "|",
        "matches",
        matches,
        "distinct",
        distinct,
        "sum",
        sum,
    ] = words[..]
    else {
        return Err(format!("not a golden row: {line}"));
    };
    let number = |s: &str| s.parse::<u64>().map_err(|e| format!("{s}: {e} in {line}"));
    let result = Expected {
        matches: number(matches)?,
        distinct: number(distinct)?,
        sum: u64::from_str_radix(sum, 16).map_err(|e| format!("{sum}: {e} in {line}"))?,
    };
    Ok(Row {
        patterns: patterns.into(),
        text: text.into(),
        nocase: case == "ci",
        pattern_count: number(count)?,
        pattern_bytes: number(bytes)?,
        text_bytes: number(len)?,
        result,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        "a.hex x b.bin ci | pats 3 bytes 9 | text 100 | matches 7 distinct 2 sum 00ff";

    #[test]
    fn a_row_is_read() {
        let row = parse(LINE).unwrap();
        assert_eq!(
            (row.name().as_str(), row.nocase, row.text_bytes),
            ("a.hex:b.bin:ci", true, 100)
        );
        assert_eq!(row.result, Expected { matches: 7, distinct: 2, sum: 255 });
        assert!(parse("a.hex x b.bin ci | pats 3").is_err());
        assert!(parse(&LINE.replace("00ff", "0x")).is_err());
    }

    #[test]
    fn a_wrong_fingerprint_is_an_error() {
        let row = parse(LINE).unwrap();
        let seen = Fingerprint::default();
        assert!(row.compare("x", &seen).is_err());
    }
}
