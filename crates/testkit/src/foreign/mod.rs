//! Foreign suites: the test cases of other matchers, as data, on every engine.
//!
//! Each case states a fact about the matches of some patterns in a haystack. The authors of the
//! suites know nothing of fyke, so the facts are independent of our vectors and of our oracle. Two
//! kinds of tests run them:
//!
//! * `foreign/<suite>` compares every stated fact with the naive search;
//! * `<engine>/<suite>` compares the engine with the naive search: all matches of the whole
//!   haystack, then the stated semantics on the whole haystack and in streams of small chunks.
//!
//! The permissively licensed suites are in `vectors/foreign`; the GPL suite is only in the data
//! folder, and its absence is a refusal. Cases that fyke cannot run are counted with the reason.
//! Each variant runs its [share] of the sets. On a GPU a stream of small chunks is one launch per
//! chunk, so only a sample of the cases runs as streams there. `FYKE_FOREIGN=full` runs every case
//! in every way.

mod case;

use crate::conformance::{Scope, report, run_program};
use crate::expand::{Run, stated};
use crate::random::SplitMix;
use crate::require;
use crate::share::{self, Share};
use crate::subject::{Subject, Suite};
pub use case::ForeignCase;
use fyke_core::{Device, Matcher};
use libtest_mimic::Trial;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The environment variable that asks for every case in every way when it is `full`.
pub const EFFORT: &str = "FYKE_FOREIGN";

/// Suites and their numbers of cases in the repository's file.
const CARRIED: [(&str, usize); 7] = [
    ("aho-corasick", 1104),
    ("aho-corasick packed", 5022),
    ("daachorse", 302),
    ("hs fdr.cpp", 793),
    ("hs fdr_flood.cpp", 512),
    ("hs noodle.cpp", 480),
    ("hscollider", 77),
];
/// Suites and their numbers of cases that are only in the data folder, because they are GPL-2.0.
const OUTSIDE: [(&str, usize); 1] = [("suricata", 95)];
/// The file in the data folder. It holds the carried suites as well.
const OUTSIDE_FILE: &str = "foreign/tests.jsonl.xz";

/// Chunk sizes of the streams: single bytes, and around the windows and registers of engines.
const CHUNKS: [usize; 3] = [1, 7, 64];
/// On a GPU, one case in this many runs as a stream.
const STREAMED_ON_GPU: u64 = 16;

/// An engine scans a block and knows no start of a search: the tests of calls run these cases.
const ANCHORED: &str = "anchored: for the tests of calls";

/// One suite.
pub struct Collection {
    /// Its name.
    pub name: String,
    /// Cases with equal patterns together, so that a set is compiled once.
    pub groups: Vec<Vec<ForeignCase>>,
    /// Why cases were left out, with their numbers.
    pub left_out: BTreeMap<String, u64>,
}

/// The suites that the repository has.
///
/// # Errors
/// The file cannot be read, or a suite does not have its number of cases.
pub fn carried() -> Result<Vec<Collection>, String> {
    load(&carried_file(), &CARRIED)
}

/// Runs the foreign suites on a registry: the `main` of a test program without harness.
pub fn main(suite: Suite) -> ExitCode {
    let suite: &'static Suite = Box::leak(Box::new(suite));
    match trials(suite) {
        Ok(trials) => run_program(suite, trials, Scope::Everything),
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn trials(suite: &'static Suite) -> Result<Vec<Trial>, String> {
    let mut collections = carried()?;
    let mut trials = Vec::new();
    match require::data_with(OUTSIDE_FILE) {
        Ok(folder) => collections.extend(load(&folder.join(OUTSIDE_FILE), &OUTSIDE)?),
        Err(why) => {
            for (name, cases) in OUTSIDE {
                suite.tally.refused_many(&format!("foreign/{name}"), &why, cases as u64);
                trials.push(require::refused_trial(format!("foreign/{name}"), &why));
            }
        }
    }
    let full = std::env::var(EFFORT).is_ok_and(|v| v == "full");
    let collections: &'static [Collection] = Box::leak(collections.into_boxed_slice());
    trials.extend(collections.iter().map(|c| facts(suite, c)));
    for subject in suite.subjects() {
        trials.extend(collections.iter().map(|c| engine_trial(suite, subject, c, full)));
    }
    Ok(trials)
}

fn carried_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/foreign/tests.jsonl.xz")
}

/// Reads the named suites of a file; the others are left alone.
///
/// # Errors
/// The file or a line cannot be read, or a suite does not have its number of cases.
fn load(path: &Path, suites: &[(&str, usize)]) -> Result<Vec<Collection>, String> {
    let at = |e: String| format!("{}: {e}", path.display());
    let packed = std::fs::read(path).map_err(|e| at(e.to_string()))?;
    let mut lines = String::new();
    let read = lzma_rust2::XzReader::new(&packed[..], true).read_to_string(&mut lines);
    read.map_err(|e| at(e.to_string()))?;
    collect(&lines, suites).map_err(at)
}

fn collect(lines: &str, suites: &[(&str, usize)]) -> Result<Vec<Collection>, String> {
    let mut collections: Vec<(Collection, BTreeMap<_, usize>)> =
        suites.iter().map(|(name, _)| (Collection::new(name), BTreeMap::new())).collect();
    for (number, line) in lines.lines().enumerate() {
        let read = case::read(line).map_err(|e| format!("line {}: {e}", number + 1))?;
        let named = collections.iter_mut().find(|(c, _)| c.name == read.suite);
        let Some((collection, places)) = named else { continue };
        match read.case {
            Err(reason) => *collection.left_out.entry(reason).or_default() += 1,
            Ok(case) => {
                let next = collection.groups.len();
                let place = *places.entry(case.case.entries.clone()).or_insert(next);
                if place == next {
                    collection.groups.push(Vec::new());
                }
                collection.groups[place].push(case);
            }
        }
    }
    let collections: Vec<Collection> = collections.into_iter().map(|(c, _)| c).collect();
    match collections.iter().zip(suites).find(|(c, (_, cases))| c.cases() != *cases) {
        Some((c, (name, cases))) => {
            Err(format!("{name}: {} cases, {cases} are expected", c.cases()))
        }
        None => Ok(collections),
    }
}

impl Collection {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), groups: Vec::new(), left_out: BTreeMap::new() }
    }

    /// The groups that belong to a share. The cases of the others are counted as skipped.
    pub fn share<'a>(
        &'a self,
        share: Share,
        suite: &'a Suite,
        label: &'a str,
    ) -> impl Iterator<Item = &'a Vec<ForeignCase>> {
        self.groups
            .iter()
            .enumerate()
            .filter(move |(i, group)| {
                let has = share.has(*i);
                if !has {
                    let why = "cases of other sets than the share's; FYKE_SHARE=all runs them";
                    suite.tally.skipped_many(label, why, group.len() as u64);
                }
                has
            })
            .map(|(_, group)| group)
    }

    /// The number of cases, with those left out.
    fn cases(&self) -> usize {
        let run: usize = self.groups.iter().map(Vec::len).sum();
        run + self.left_out.values().sum::<u64>() as usize
    }
}

/// Compares every stated fact with the naive search, and counts what is left out.
fn facts(suite: &'static Suite, collection: &'static Collection) -> Trial {
    let name = format!("foreign/{}", collection.name);
    for (reason, n) in &collection.left_out {
        suite.tally.skipped_many(&name, reason, *n);
    }
    let label = name.clone();
    Trial::test(name, move || {
        report(collection.groups.iter().flatten().map(|case| {
            suite.tally.checked(&label);
            case.check_fact()
        }))
    })
}

fn engine_trial(
    suite: &'static Suite,
    subject: Subject,
    collection: &'static Collection,
    full: bool,
) -> Trial {
    Trial::test(format!("{}/{}", subject.label(), collection.name), move || {
        let mut sample = SplitMix::new(0);
        let mut is_streamed = || {
            let in_sample = sample.below(STREAMED_ON_GPU) == 0;
            full || in_sample || subject.engine.info().device == Device::Cpu
        };
        let share = match full {
            true => Share::everything(),
            false => Share::of(suite, subject, share::parts_for(subject)),
        };
        let label = subject.label();
        let groups = collection.share(share, suite, &label);
        report(groups.flat_map(|group| {
            check_group(suite, subject, &collection.name, group, &mut is_streamed)
        }))
    })
}

/// Compiles the set of a group once and runs all its cases.
fn check_group(
    suite: &Suite,
    subject: Subject,
    part: &str,
    group: &[ForeignCase],
    is_streamed: &mut dyn FnMut() -> bool,
) -> Vec<Result<(), String>> {
    let matcher = match suite.compile(&subject, &group[0].case.set) {
        Ok(Some(matcher)) => matcher,
        Ok(None) => return Vec::new(),
        Err(e) => return vec![Err(e)],
    };
    let label = subject.label();
    let check = |case: &ForeignCase| {
        if case.is_anchored() {
            suite.tally.skipped(&label, ANCHORED);
            return Ok(());
        }
        suite.tally.checked_in(&label, part);
        let streamed = is_streamed();
        if !streamed {
            suite.tally.skipped(&label, "streams of a foreign case; FYKE_FOREIGN=full runs it");
        }
        check_case(suite, &label, &matcher, case, if streamed { &CHUNKS } else { &[] })
    };
    group.iter().map(check).collect()
}

fn check_case(
    suite: &Suite,
    label: &str,
    matcher: &Arc<dyn Matcher>,
    case: &ForeignCase,
    chunks: &[usize],
) -> Result<(), String> {
    let skipped = |why: &str| suite.tally.skipped(label, why);
    let run = Run {
        matcher: matcher.clone(),
        case: &case.case,
        parallel: suite.parallel,
        seed: 0,
        skipped: &skipped,
    };
    let result = stated(&run, case.semantics(), chunks);
    result.map_err(|e| format!("{}: {e}\n{:?}", case.name, case.case))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_has_every_permissive_case_and_no_other() {
        let collections = carried().unwrap();
        assert_eq!(collections.iter().map(Collection::cases).sum::<usize>(), 8290);
        let e = load(&carried_file(), &OUTSIDE).err().unwrap();
        assert!(e.ends_with("suricata: 0 cases, 95 are expected"), "{e}");
    }

    #[test]
    fn equal_sets_are_grouped_and_lost_cases_are_noticed() {
        let line = |suite: &str, pattern: &str| {
            format!(
                r#"{{"suite": "{suite}", "group": "g", "name": "n", "sem": "all", "hay": "61",
                "pats": [{{"b": "{pattern}", "nc": false}}], "kind": "count", "v": 1}}"#
            )
            .replace('\n', "")
        };
        let lines = [line("s", "61"), line("t", "61"), line("s", "62"), line("s", "61")];
        let lines = [&lines[..], &[line("s", "")]].concat().join("\n");
        let s = &collect(&lines, &[("s", 4)]).unwrap()[0];
        assert_eq!(s.groups.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(s.left_out.values().collect::<Vec<_>>(), [&1]);
        assert!(collect(&lines, &[("s", 5)]).err().unwrap().contains("4 cases, 5 are expected"));
        assert!(collect("{}", &[("s", 0)]).err().unwrap().starts_with("line 1: "));
    }
}
