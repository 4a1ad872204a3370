//! The pattern set of a cell.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};
use fyke_core::{PatternId, PatternSet};
use fyke_io::rules;
use fyke_rivals::Refusal;

use super::generate;
use super::sources::Sources;
use crate::definition::{Patterns, Source};

/// A pattern and whether its letters match in either case.
pub type Flagged = (Vec<u8>, bool);

/// The set that a definition asks for.
///
/// # Errors
/// A [`Refusal`] if its data is absent; another error if that is not well formed.
pub fn make(wanted: &Patterns, sources: &mut Sources) -> Result<PatternSet> {
    build(&list(wanted, sources)?, wanted.nocase)
}

/// The patterns that a definition asks for; some may be equal.
///
/// # Errors
/// As [`make`].
pub fn list(wanted: &Patterns, sources: &mut Sources) -> Result<Vec<Flagged>> {
    let mut patterns = read(wanted, sources)?;
    if wanted.cut {
        patterns = substrings(&patterns, wanted.min_len, wanted.max_len.unwrap_or(usize::MAX));
    }
    let fits = |len: usize| len >= wanted.min_len.max(1) && wanted.max_len.is_none_or(|m| len <= m);
    patterns.retain(|(bytes, _)| fits(bytes.len()));
    if let Some(count) = wanted.count {
        patterns = generate::choose(patterns, count, wanted.seed);
    }
    ensure!(
        !patterns.is_empty(),
        "no pattern of {:?} has a length within the limits",
        wanted.source
    );
    if let Some(also) = &wanted.also {
        patterns.extend(list(also, sources)?);
    }
    Ok(patterns)
}

/// The distinct substrings of lengths from `min` to `max`, all of which match their case.
fn substrings(patterns: &[Flagged], min: usize, max: usize) -> Vec<Flagged> {
    let mut all: BTreeSet<&[u8]> = BTreeSet::new();
    for (bytes, _) in patterns {
        for len in min..=max.min(bytes.len()) {
            all.extend(bytes.windows(len));
        }
    }
    all.into_iter().map(|bytes| (bytes.to_vec(), false)).collect()
}

/// The set of some patterns, without duplicates.
///
/// # Errors
/// A pattern is empty or too long.
pub fn build(patterns: &[Flagged], all_nocase: bool) -> Result<PatternSet> {
    let mut builder = PatternSet::builder();
    for (id, (bytes, nocase)) in distinct(patterns, all_nocase).iter().enumerate() {
        builder.push_with(PatternId(id as u32), bytes, *nocase)?;
    }
    Ok(builder.build())
}

/// Distinct patterns: `GET` and `get` are the same if case is ignored.
fn distinct(patterns: &[Flagged], all_nocase: bool) -> BTreeSet<Flagged> {
    let one = |(bytes, nocase): &Flagged| {
        let nocase = (*nocase || all_nocase) && bytes.iter().any(u8::is_ascii_alphabetic);
        (if nocase { bytes.to_ascii_lowercase() } else { bytes.clone() }, nocase)
    };
    patterns.iter().map(one).collect()
}

fn read(wanted: &Patterns, sources: &mut Sources) -> Result<Vec<Flagged>> {
    let plain = |patterns: Vec<Vec<u8>>| patterns.into_iter().map(|p| (p, false)).collect();
    Ok(match &wanted.source {
        Source::Golden(list) => plain(hex_lines(&sources.golden_list(list)?, list)?),
        Source::Lines(corpus) => plain(lines(&sources.corpus(corpus)?)),
        Source::Words(corpus) => plain(words(wanted, &sources.corpus(corpus)?)),
        Source::Rules(corpus) => flagged(&sources.corpus(corpus)?, corpus)?,
        Source::Snort(corpus) => snort(&sources.corpus(corpus)?, corpus)?,
        Source::Random(alphabet) => plain(random(wanted, *alphabet)?),
        Source::Sample(corpus) => plain(sample(wanted, &sources.corpus(corpus)?, corpus)?),
    })
}

/// The distinct lines, in their order, without line ends (LF or CR LF).
fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let lines = text.split(|&b| b == b'\n').map(|l| l.strip_suffix(b"\r").unwrap_or(l));
    lines.filter(|l| !l.is_empty() && seen.insert(*l)).map(<[u8]>::to_vec).collect()
}

/// Distinct words, which are runs of ASCII letters, at equal ratios of their ranks by frequency.
fn words(wanted: &Patterns, text: &[u8]) -> Vec<Vec<u8>> {
    let fits = |w: &&[u8]| w.len() >= wanted.min_len && wanted.max_len.is_none_or(|m| w.len() <= m);
    let mut times: BTreeMap<&[u8], usize> = BTreeMap::new();
    for word in text.split(|b| !b.is_ascii_alphabetic()).filter(fits) {
        *times.entry(word).or_default() += 1;
    }
    let mut ranked: Vec<&[u8]> = times.keys().copied().collect();
    ranked.sort_by_key(|w| std::cmp::Reverse(times[w]));
    let count = wanted.count.unwrap_or(ranked.len());
    spread_ranks(ranked.len(), count).map(|rank| ranked[rank].to_vec()).collect()
}

/// `count` different ranks below `len`, at equal ratios as far as rounding leaves them different.
fn spread_ranks(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let mut next = 0;
    let count = count.min(len);
    (0..count).map(move |i| {
        let part = (i as f64 + 0.5) / count as f64;
        let rank = ((len as f64).powf(part) as usize).min(len - (count - i));
        let rank = rank.max(next);
        next = rank + 1;
        rank
    })
}

fn hex_lines(text: &[u8], name: &str) -> Result<Vec<Vec<u8>>> {
    let text = std::str::from_utf8(text).with_context(|| name.to_string())?;
    let line = |(n, l)| hex(l).with_context(|| format!("{name}: line {}: not hexadecimal", n + 1));
    text.lines().enumerate().map(line).collect()
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    if digits.len().is_multiple_of(2) { digits.chunks(2).map(byte).collect() } else { None }
}

/// Lines `sid TAB flags TAB hex`; the flag `n` is nocase.
fn flagged(text: &[u8], name: &str) -> Result<Vec<Flagged>> {
    let text = std::str::from_utf8(text).with_context(|| name.to_string())?;
    let line = |l: &str| {
        let [_, flags, digits] = l.split('\t').collect::<Vec<_>>()[..] else { return None };
        Some((hex(digits)?, flags.contains('n')))
    };
    let lines = text.lines().enumerate();
    lines
        .map(|(n, l)| line(l).with_context(|| format!("{name}: line {}: not a rule", n + 1)))
        .collect()
}

fn snort(text: &[u8], name: &str) -> Result<Vec<Flagged>> {
    let parsed = rules::parse(rules::Format::Snort, name, text, &rules::Options::default());
    if let Some(error) = parsed.errors.into_iter().next() {
        return Err(error.into());
    }
    Ok(parsed.patterns.iter().map(|p| (p.bytes.to_vec(), p.nocase)).collect())
}

fn random(wanted: &Patterns, alphabet: u16) -> Result<Vec<Vec<u8>>> {
    let Some(count) = wanted.count else { bail!("random patterns need a count") };
    let max = wanted.max_len.unwrap_or(wanted.min_len);
    ensure!(max >= wanted.min_len, "max_len {max} is below min_len {}", wanted.min_len);
    Ok(generate::patterns(alphabet, count, wanted.min_len, max, wanted.seed))
}

fn sample(wanted: &Patterns, text: &[u8], name: &str) -> Result<Vec<Vec<u8>>> {
    let Some(count) = wanted.count else { bail!("sampled patterns need a count") };
    let max = wanted.max_len.unwrap_or(wanted.min_len);
    ensure!(max >= wanted.min_len, "max_len {max} is below min_len {}", wanted.min_len);
    let cut = generate::sample(text, count, wanted.min_len, max, wanted.seed);
    if cut.len() < count {
        let have = cut.len();
        let why = format!("corpus {name} has {have} such patterns, {count} are needed");
        return Err(Refusal(why).into());
    }
    Ok(cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_rules_are_read() {
        assert_eq!(lines(b"ab\r\ncd\n\nab\n"), [b"ab", b"cd"]);
        let read = flagged(b"1\tnF\t6162\n2\t\tff\n", "r").unwrap();
        assert_eq!(read, [(b"ab".to_vec(), true), (b"\xff".to_vec(), false)]);
        assert!(flagged(b"1\tnF\t616\n", "r").is_err());
        assert!(hex_lines(b"6g\n", "r").is_err());
    }

    #[test]
    fn words_are_rare_and_frequent() {
        let ranks = |len, count| spread_ranks(len, count).collect::<Vec<_>>();
        assert_eq!(ranks(10_000, 1), [100]);
        assert_eq!(ranks(10_000, 2), [10, 1000]);
        assert_eq!(ranks(10, 4), [1, 2, 4, 7]);
        assert_eq!(ranks(3, 9), [0, 1, 2]);
        let wanted: Patterns =
            toml::from_str("source.words = 'x'\nmin_len = 2\ncount = 1").unwrap();
        let text = b"he, she; he, the. A he; it? it! A A A A A A A";
        assert_eq!(words(&wanted, text), [b"she"], "the third of he, it, she, the");
    }

    #[test]
    fn substrings_are_distinct() {
        let given = [(b"abab".to_vec(), true), (b"ab".to_vec(), false), (b"x".to_vec(), false)];
        let cut: Vec<Vec<u8>> = substrings(&given, 2, 3).into_iter().map(|(b, _)| b).collect();
        assert_eq!(cut, [&b"ab"[..], b"aba", b"ba", b"bab"]);
    }

    #[test]
    fn equal_patterns_become_one() {
        let given = [(b"Ab".to_vec(), true), (b"aB".to_vec(), true), (b"Ab".to_vec(), false)];
        assert_eq!(build(&given, false).unwrap().len(), 2);
        assert_eq!(build(&given, true).unwrap().len(), 1);
    }
}
