//! Hostile sets and haystacks, built from the patterns and from the weaknesses of engines.
//!
//! A filter is slowest where windows of patterns occur without the patterns; an automaton, where
//! many patterns share prefixes or suffixes. Each set here targets one such weakness. Each
//! haystack is built from the set: its patterns in sequence, the patterns without their first or
//! last bytes, one window repeated. Every variant of every product engine must find what the naive
//! search finds.

use crate::audit::Audit;
use crate::case::{Case, Entry};
use crate::conformance::{Scope, run_program};
use crate::random::{SplitMix, text};
use crate::subject::{Subject, Suite};
use fyke_core::{Block, Count, Family, Matcher, Scratch};
use libtest_mimic::Trial;
use std::process::ExitCode;

/// Maximum bytes of a haystack: the naive search compares every pattern at every position.
const HAYSTACK: usize = 4000;

/// Owned bytes of the blocks of a cut haystack: about one register, and many registers.
const CUTS: [usize; 2] = [61, 1009];

/// The patterns of a set. [`entries`] adds case flags and ids.
type Patterns = Vec<Vec<u8>>;

/// A set with the haystacks built from it.
struct Group {
    name: &'static str,
    /// The name of each haystack, and the case.
    cases: Vec<(&'static str, Case)>,
}

/// Runs every hostile case on every product engine of a registry: the `main` of a test program
/// without harness.
pub fn main(suite: Suite) -> ExitCode {
    let suite: &'static Suite = Box::leak(Box::new(suite));
    let groups: &'static [Group] = Box::leak(groups().into_boxed_slice());
    let mut trials = Vec::new();
    for subject in suite.subjects() {
        if subject.engine.info().family == Family::Product {
            trials.push(Trial::test(format!("{}/hostile", subject.label()), move || {
                groups.iter().try_for_each(|group| check(suite, subject, group)).map_err(Into::into)
            }));
        }
    }
    run_program(suite, trials, Scope::Chosen)
}

/// Compiles a set once and scans all of its haystacks, whole and in blocks, with a sink that
/// collects and one that counts.
fn check(suite: &Suite, subject: Subject, group: &Group) -> Result<(), String> {
    let Some((_, first)) = group.cases.first() else { return Ok(()) };
    let Some(matcher) = suite.compile(&subject, &first.set)? else { return Ok(()) };
    for (name, case) in &group.cases {
        suite.tally.checked(&subject.label());
        let failed = |what: String, e: String| format!("{}, {name}, {what}: {e}", group.name);
        scan(&*matcher, case, usize::MAX).map_err(|e| failed("whole".into(), e))?;
        for cut in CUTS {
            scan(&*matcher, case, cut).map_err(|e| failed(format!("blocks of {cut}"), e))?;
        }
        count(&*matcher, case).map_err(|e| failed("counted".into(), e))?;
    }
    Ok(())
}

fn scan(matcher: &dyn Matcher, case: &Case, cut: usize) -> Result<(), String> {
    let mut scratch = Scratch::new();
    let mut found = Vec::new();
    for block in Block::whole(&case.haystack).pieces(cut, case.set.overlap()) {
        let mut audit = Audit::of_block(&case.set, &block);
        if matcher.scan(block, &mut scratch, &mut audit).is_break() {
            return Err(audit.finish(&[]).err().unwrap_or_else(|| "the scan stopped early".into()));
        }
        let mut matches = audit.checked_matches()?;
        matches.sort_unstable();
        found.append(&mut matches);
    }
    crate::audit::same(&case.expected, &found)
}

fn count(matcher: &dyn Matcher, case: &Case) -> Result<(), String> {
    let mut count = Count::default();
    let flow = matcher.scan(Block::whole(&case.haystack), &mut Scratch::new(), &mut count);
    match (flow.is_continue(), case.expected.len() as u64) {
        (true, expected) if expected == count.matches => Ok(()),
        (_, expected) => Err(format!("{} of {expected} matches, {flow:?}", count.matches)),
    }
}

fn groups() -> Vec<Group> {
    let sets: &[(&str, Patterns)] = &[
        ("runs", runs(1)),
        ("runs of eight and more", runs(8)),
        ("runs of one length with one other byte", broken_runs()),
        ("short runs, and long runs with another byte at an end", ended_runs()),
        ("one prefix", shared(b"http://www.example.com/", b"", 60)),
        ("one suffix", shared(b"", b".example.com/index.html", 60)),
        ("one infix", shared(b"a", b"Content-Length: ", 60)),
        ("one window at every offset", sliding()),
        ("frequent grams", frequent()),
        ("all words of eight of two letters", all_words(8)),
        ("all words of four of two letters", all_words(4)),
        ("DNA at distance one", dna_neighbors()),
        ("prefixes of each other", nested(1, |text, len| text[..len].to_vec())),
        ("suffixes of each other", nested(1, |text, len| text[text.len() - len..].to_vec())),
        ("long suffixes of each other", nested(12, |text, len| text[text.len() - len..].to_vec())),
        ("long patterns that differ in one byte", long_neighbors()),
        ("many short and long patterns", mixed()),
    ];
    let group = |(name, patterns): &(&'static str, Patterns)| Group {
        name,
        cases: haystacks(patterns)
            .into_iter()
            .map(|(haystack, mut bytes)| {
                bytes.truncate(HAYSTACK);
                let case = Case::new(entries(patterns), bytes);
                (haystack, case.expect("generated patterns are neither empty nor too long"))
            })
            .collect(),
    };
    sets.iter().map(group).collect()
}

/// One pattern of five ignores case, and one of seven has a second id.
fn entries(patterns: &Patterns) -> Vec<Entry> {
    let mut all = Vec::new();
    for (i, bytes) in patterns.iter().enumerate() {
        let id = i as u32;
        all.push(Entry { bytes: bytes.clone(), nocase: i % 5 == 4, id });
        if i % 7 == 6 {
            all.push(Entry { bytes: bytes.clone(), nocase: i % 5 == 4, id: id + 100_000 });
        }
    }
    all
}

/// The haystacks that an attacker builds from a set.
fn haystacks(patterns: &Patterns) -> Vec<(&'static str, Vec<u8>)> {
    let joined =
        |part: &dyn Fn(&[u8]) -> Vec<u8>| -> Vec<u8> { spread(patterns).flat_map(part).collect() };
    let window = |p: &[u8], at: usize| p[at.min(p.len() - 1)..p.len().min(at + 8)].to_vec();
    let changed = |p: &[u8], at: usize| {
        let mut p = p.to_vec();
        p[at] ^= 1;
        p
    };
    let longest = patterns.iter().max_by_key(|p| p.len()).map_or(&b""[..], Vec::as_slice);
    vec![
        ("patterns", joined(&<[u8]>::to_vec)),
        ("patterns without their last bytes", joined(&|p| p[..p.len() - 1].to_vec())),
        ("patterns without their first bytes", joined(&|p| p[1..].to_vec())),
        ("patterns with one byte changed in the middle", joined(&|p| changed(p, p.len() / 2))),
        ("patterns with the last byte changed", joined(&|p| changed(p, p.len() - 1))),
        ("patterns in the other case", joined(&<[u8]>::to_ascii_uppercase)),
        ("first windows", joined(&|p| window(p, 0))),
        ("last windows", joined(&|p| window(p, p.len().saturating_sub(8)))),
        ("a first window repeated", window(longest, 0).repeat(HAYSTACK / 8)),
        ("the longest pattern repeated", longest.repeat(HAYSTACK / longest.len().max(1) + 1)),
        ("a run", vec![longest.first().copied().unwrap_or(0); HAYSTACK]),
        ("patterns overlapping each other", overlapped(patterns)),
        ("nothing", Vec::new()),
    ]
}

/// Patterns in an order that separates neighbors of the list, so that a truncated haystack has
/// some of every kind.
fn spread(patterns: &Patterns) -> impl Iterator<Item = &[u8]> {
    let step = (patterns.len() / 2 + 1..).find(|step| gcd(*step, patterns.len()) == 1).unwrap_or(1);
    (0..patterns.len()).map(move |i| patterns[i * step % patterns.len()].as_slice())
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Joins patterns with the longest possible overlap between neighbors.
fn overlapped(patterns: &Patterns) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::new();
    for pattern in spread(patterns) {
        let shared = (0..=pattern.len().min(all.len())).rev();
        let shared = shared.into_iter().find(|&n| all.ends_with(&pattern[..n])).unwrap_or(0);
        all.extend_from_slice(&pattern[shared..]);
        if all.len() >= HAYSTACK {
            break;
        }
    }
    all
}

fn runs(from: usize) -> Patterns {
    (from..=40).chain([64, 65, 127, 300]).map(|len| vec![b'a'; len]).collect()
}

fn broken_runs() -> Patterns {
    let changed = |(at, byte): (usize, u8)| {
        let mut run = vec![0; 20];
        run[at] = byte;
        run
    };
    (0..20).flat_map(|at| [(at, 1), (at, 0xff)]).map(changed).collect()
}

/// Runs, and patterns that are a run except for their first or last byte.
fn ended_runs() -> Patterns {
    let ended = |len: usize| [&vec![0; len][..], b"A"].concat();
    let begun = |len: usize| [b"A", &vec![0; len][..]].concat();
    let long = [3, 5, 62, 66, 67, 68, 100, 600].into_iter();
    long.flat_map(|len| [ended(len), begun(len)])
        .chain([4, 5, 70].map(|len| vec![0; len]))
        .collect()
}

fn shared(before: &[u8], after: &[u8], count: usize) -> Patterns {
    let own = |i: usize| format!("{:03}", i * 7 % 1000).into_bytes();
    (0..count).map(|i| [before, &own(i), after].concat()).collect()
}

/// One window of twelve bytes at every offset, between bytes that all differ.
fn sliding() -> Patterns {
    let noise = text(26, 2000, 5);
    let around = |i: usize| (&noise[40 * i..40 * i + i], &noise[40 * i + 20..40 * i + 40 - i]);
    (0..20).map(|i| [around(i).0, b"WINDOW of 12", around(i).1].concat()).collect()
}

fn frequent() -> Patterns {
    let parts: [&[u8]; 6] = [b"    ", b"\0\0\0\0", b" the ", b"http", b"eeee", b"\xff\xff\xff"];
    let pair = |i: usize| [parts[i / 6], parts[i % 6]].concat();
    (0..36).map(pair).chain(parts.iter().map(|p| p.to_vec())).collect()
}

fn all_words(len: usize) -> Patterns {
    (0..1_usize << len).map(|n| (0..len).map(|i| b'a' + (n >> i & 1) as u8).collect()).collect()
}

fn dna_neighbors() -> Patterns {
    let base = text(4, 24, 11);
    let other = |(at, letter): (usize, u8)| {
        let mut word = base.clone();
        word[at] = letter;
        word
    };
    (0..24).flat_map(|at| b"ACGT".map(|letter| (at, letter))).map(other).collect()
}

fn nested(from: usize, part: impl Fn(&[u8], usize) -> Vec<u8>) -> Patterns {
    let whole = text(10, 70, 17);
    (from..=70).map(|len| part(&whole, len)).collect()
}

fn long_neighbors() -> Patterns {
    let base = text(256, 700, 23);
    let other = |at: usize| {
        let mut word = base.clone();
        word[at] ^= 0x20;
        word
    };
    [0, 1, 7, 8, 63, 64, 350, 691, 698, 699].into_iter().map(other).collect()
}

fn mixed() -> Patterns {
    let mut random = SplitMix::new(29);
    let letters = text(4, 4000, 31);
    let piece = |random: &mut SplitMix, longest: u64| {
        let len = 1 + random.below(longest) as usize;
        let at = random.below(letters.len() as u64 - len as u64) as usize;
        letters[at..at + len].to_vec()
    };
    (0..200).map(|i| piece(&mut random, if i % 4 == 0 { 6 } else { 30 })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_haystacks_with_and_without_matches() {
        for group in groups() {
            assert!(group.cases.len() == 13, "{}", group.name);
            let with = group.cases.iter().filter(|(_, c)| !c.expected.is_empty()).count();
            assert!((1..13).contains(&with), "{}: {with}", group.name);
            assert!(!group.cases[0].1.expected.is_empty(), "{}", group.name);
        }
    }

    #[test]
    fn patterns_overlap_each_other() {
        // `spread` may put the second of two patterns first.
        let patterns = vec![b"bcd".to_vec(), b"abc".to_vec()];
        assert_eq!(spread(&patterns).count(), 2);
        assert!(["abcd", "bcdabc"].map(str::as_bytes).contains(&&*overlapped(&patterns)));
    }
}
