//! The cases of foreign suites as they are stored: JSON lines, described in
//! `vectors/foreign/README.md`.

use crate::case::{Case, Entry};
use crate::naive;
use crate::text::hex;
use fyke_core::{Semantics, StreamMatch};
use serde::Deserialize;

/// One line of the file.
#[derive(Deserialize)]
struct Line {
    suite: String,
    group: String,
    name: String,
    sem: String,
    pats: Vec<Pattern>,
    hay: String,
    #[serde(flatten)]
    fact: Fact,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Pattern {
    b: String,
    nc: bool,
}

/// What a case states about its matches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", content = "v", rename_all = "lowercase")]
enum Fact {
    /// Every match as (pattern, start, end).
    Spans(Vec<(u32, u64, u64)>),
    /// The end of every match.
    Ends(Vec<u64>),
    /// Every match as (pattern, end).
    IdEnds(Vec<(u32, u64)>),
    /// The number of matches of each pattern.
    IdCounts(Vec<u64>),
    /// The number of matches.
    Count(u64),
}

/// The suite whose single-match cases list every end and accept any one of them.
const COLLIDER: &str = "hscollider";

/// In a regex in UTF-8 mode the Kelvin sign is a `k`, the long s is an `s`, and `\xff` is a code
/// point of two bytes.
const UNICODE: &str = "the pattern is Unicode text; fyke matches bytes";
/// The pattern has Suricata's flag `ENDSWITH`, which the transcription does not hold.
const AT_THE_END: &str = "the pattern must end where the haystack ends; fyke has no anchors";

/// Cases whose statement is not about the pattern's bytes, by suite and name, with the reason.
const BEYOND: [(&str, &str, &str); 6] = [
    (COLLIDER, "utf8.txt/800218", UNICODE),
    (COLLIDER, "utf8.txt/840018i", UNICODE),
    (COLLIDER, "utf8.txt/840028i", UNICODE),
    (COLLIDER, "utf8.txt/840048i", UNICODE),
    (COLLIDER, "utf8.txt/840058i", UNICODE),
    ("suricata", "mpm-ac.c/SCACTest30", AT_THE_END),
];

/// Which matches a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Those of a semantics that fyke has.
    Of(Semantics),
    /// Those of a semantics that adjoin, from the start of the haystack on.
    Anchored(Semantics),
    /// Any one of the stated ones. Engines are asked for the first of each pattern.
    Single,
    /// The first of all. Engines are asked for all matches.
    Exists,
}

/// A case that fyke can run.
pub struct ForeignCase {
    /// The name in its suite.
    pub name: String,
    /// Patterns, haystack, and what the naive search finds.
    pub case: Case,
    choice: Choice,
    fact: Fact,
}

/// What a line holds: the suite, and the case or the reason why fyke cannot run it.
pub(super) struct Read {
    pub(super) suite: String,
    pub(super) case: Result<ForeignCase, String>,
}

/// Reads one line.
///
/// # Errors
/// The line does not have the documented form.
pub(super) fn read(line: &str) -> Result<Read, String> {
    let line: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let name = format!("{}/{}", line.group, line.name);
    let in_case = |e: String| format!("{} {name}: {e}", line.suite);
    let entries = line.pats.iter().zip(0..).map(|(p, id)| entry(p, id));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>().map_err(in_case)?;
    let haystack = hex(&line.hay).map_err(in_case)?;
    let choice = choice(&line.suite, &line.sem).map_err(in_case)?;
    let case = match Case::new(entries, haystack) {
        Ok(case) => ForeignCase { name, case, choice, fact: line.fact }.unless_beyond(&line.suite),
        Err(e) if e.is_empty_pattern() => Err("a pattern is empty; fyke refuses it".into()),
        Err(e) => return Err(in_case(e.to_string())),
    };
    Ok(Read { suite: line.suite, case })
}

fn entry(pattern: &Pattern, id: u32) -> Result<Entry, String> {
    Ok(Entry { bytes: hex(&pattern.b)?, nocase: pattern.nc, id })
}

/// The choice that `sem` names.
fn choice(suite: &str, sem: &str) -> Result<Choice, String> {
    match sem.strip_prefix("anchored-") {
        None if sem == "once" && suite == COLLIDER => Ok(Choice::Single),
        None if sem == "exists" => Ok(Choice::Exists),
        None => sem.parse().map(Choice::Of),
        Some(semantics) => semantics.parse().map(Choice::Anchored),
    }
}

impl ForeignCase {
    /// The semantics to run the case under.
    pub fn semantics(&self) -> Semantics {
        match self.choice {
            Choice::Of(semantics) | Choice::Anchored(semantics) => semantics,
            Choice::Single => Semantics::Once,
            Choice::Exists => Semantics::All,
        }
    }

    /// Whether the case is about anchored matches, which only the `find` calls have.
    pub fn is_anchored(&self) -> bool {
        matches!(self.choice, Choice::Anchored(_))
    }

    /// The matches that a search for this case must find. They fulfil what the case states, as
    /// [`check_fact`](Self::check_fact) tests.
    pub fn expected(&self) -> Vec<StreamMatch> {
        match self.choice {
            Choice::Single => self.case.expected.clone(),
            Choice::Exists => self.case.expected.iter().take(1).copied().collect(),
            Choice::Of(semantics) => self.case.under(semantics),
            Choice::Anchored(semantics) => naive::anchored(&self.case.found, 0, semantics),
        }
    }

    /// The case, or the reason if it is beyond fyke.
    fn unless_beyond(self, suite: &str) -> Result<Self, String> {
        let listed = BEYOND.iter().find(|(of, name, _)| *of == suite && *name == self.name);
        // A listed case that holds for bytes is run: the list is not a way to lose cases.
        match listed {
            Some((_, _, reason)) if self.check_fact().is_err() => Err((*reason).to_owned()),
            _ => Ok(self),
        }
    }

    /// Compares what the case states with what the naive search finds.
    ///
    /// # Errors
    /// They differ.
    pub fn check_fact(&self) -> Result<(), String> {
        let found = self.expected();
        if self.fact.holds(&found, self.case.entries.len()) {
            return Ok(());
        }
        Err(format!(
            "{}: the suite states {:?}, the naive search finds {found:?}\n{:?}",
            self.name, self.fact, self.case
        ))
    }
}

impl Fact {
    fn holds(&self, found: &[StreamMatch], patterns: usize) -> bool {
        match self {
            Fact::Spans(stated) => {
                *stated == sorted_like(stated, found, |m| (m.pattern.0, m.start, m.end))
            }
            Fact::Ends(stated) => *stated == sorted_like(stated, found, |m| m.end),
            Fact::IdEnds(stated) => *stated == sorted_like(stated, found, |m| (m.pattern.0, m.end)),
            Fact::IdCounts(stated) => {
                let of = |id: usize| found.iter().filter(|m| m.pattern.0 as usize == id).count();
                *stated == (0..patterns).map(|id| of(id) as u64).collect::<Vec<_>>()
            }
            Fact::Count(stated) => *stated == found.len() as u64,
        }
    }
}

/// The matches in the form of a statement. Suites differ in the order of matches with equal ends,
/// so both sides are compared in the statement's order if that is a permutation of the matches.
fn sorted_like<T: Ord + Clone>(
    stated: &[T],
    found: &[StreamMatch],
    form: impl Fn(&StreamMatch) -> T,
) -> Vec<T> {
    let mut got: Vec<T> = found.iter().map(form).collect();
    let mut wanted = stated.to_vec();
    got.sort();
    wanted.sort();
    if got == wanted { stated.to_vec() } else { got }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"suite": "s", "group": "g", "name": "n", "sem": "all", "pats":
        [{"b": "6162", "nc": false}, {"b": "42", "nc": true}], "hay": "6162",
        "kind": "spans", "v": [[1, 1, 2], [0, 0, 2]]}"#;

    fn run(line: &str) -> Result<(), String> {
        read(line)?.case?.check_fact()
    }

    #[test]
    fn a_line_is_read_and_its_fact_holds_in_any_order() {
        let read = read(LINE).unwrap();
        let case = read.case.unwrap();
        assert_eq!((read.suite.as_str(), case.name.as_str()), ("s", "g/n"));
        assert_eq!(case.case.entries[1], Entry { bytes: b"B".to_vec(), nocase: true, id: 1 });
        assert_eq!(case.check_fact(), Ok(()));
    }

    #[test]
    fn every_kind_of_fact_is_checked() {
        for (kind, right, wrong) in [
            ("spans", "[[0, 0, 2], [1, 1, 2]]", "[[0, 0, 2], [1, 0, 2]]"),
            ("spans", "[[1, 1, 2], [0, 0, 2]]", "[[1, 1, 2], [1, 1, 2]]"),
            ("ends", "[2, 2]", "[2]"),
            ("idends", "[[0, 2], [1, 2]]", "[[0, 2], [0, 2]]"),
            ("idcounts", "[1, 1]", "[2, 0]"),
            ("count", "2", "3"),
        ] {
            let with = |v: &str| {
                let line = LINE.replace(r#""spans""#, &format!("{kind:?}"));
                line.replace("[[1, 1, 2], [0, 0, 2]]", v)
            };
            assert_eq!(run(&with(right)), Ok(()), "{kind}");
            assert!(run(&with(wrong)).unwrap_err().contains("the suite states"), "{kind}");
        }
    }

    #[test]
    fn an_anchored_case_states_adjoining_matches() {
        let line = LINE.replace(r#""all""#, r#""anchored-standard""#);
        let read = read(&line.replace("[[1, 1, 2], [0, 0, 2]]", "[[0, 0, 2]]")).unwrap();
        let case = read.case.unwrap();
        assert!(case.is_anchored() && case.semantics() == Semantics::Standard);
        assert_eq!(case.check_fact(), Ok(()));
        assert!(run(&line).unwrap_err().contains("the suite states"));
    }

    #[test]
    fn what_fyke_does_not_have_is_a_reason_and_mistakes_are_errors() {
        let empty = LINE.replace("6162\", \"nc", "\", \"nc");
        assert!(run(&empty).unwrap_err().contains("empty"));
        for (from, to) in [
            (r#""all""#, r#""some""#),
            (r#""all""#, r#""anchored-some""#),
            (r#""spans""#, r#""span""#),
            (r#""group""#, r#""groups""#),
            ("\"42\"", "\"4\""),
        ] {
            let bad = LINE.replace(from, to);
            assert!(bad != LINE && read(&bad).is_err(), "{to}");
        }
    }
}
