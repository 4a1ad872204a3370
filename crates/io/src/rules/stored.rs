//! Tables of patterns as bytes, which a database file keeps beside the set.
//!
//! Numbers and texts follow each other ([`fyke_core::wire`]). Files and rules are stored once, and
//! runs of patterns refer to them by number. Everything is checked when it is read, because the
//! bytes may come from anywhere.

use super::counts::Counts;
use super::table::{Remark, Repeats, Rule, Rules, Run};
use fyke_core::PatternId;
use fyke_core::pattern::MAX_LEN;
use fyke_core::wire::{Reader, Writer};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The version of this layout.
const LAYOUT: u64 = 1;

/// Lines and columns are below this, so that sums cannot overflow.
const MAX_LINES: u64 = 1 << 48;

/// Remarks as numbers.
const NO_REMARK: u64 = 0;
const DECODED: u64 = 1;
const WIDE: u64 = 2;
const FULLWORD: u64 = 3;
const WIDE_FULLWORD: u64 = 4;

/// The maximum length of a name (of a buffer or a reason), and the maximum number of names in the
/// process.
const MAX_NAME_LEN: usize = 64;
const MAX_NAMES: usize = 1 << 10;

impl Rules {
    /// The table as bytes, for [`decode`](Self::decode). What [`repeats`](Self::repeats) gives is
    /// part of it, so call [`pattern_set`](Self::pattern_set) first.
    pub fn encode(&self) -> Vec<u8> {
        let (mut files, mut rules) = (Interned::default(), Interned::default());
        let mut runs = Writer::default();
        for run in &self.runs {
            let file = files.number_of(&run.file);
            let rule = run.rule.as_ref().map(|rule| rules.number_of(rule) as u64);
            runs.number(run.first as u64).number(file as u64).number(run.line).number(run.column);
            runs.optional(rule).number(u64::from(run.negated)).number(u64::from(run.nocase));
            encode_remark(&mut runs, run.remark);
        }
        let mut to = Writer::default();
        to.number(LAYOUT).number(files.all.len() as u64);
        files.all.iter().for_each(|file| _ = to.text(file));
        to.number(rules.all.len() as u64);
        for rule in &rules.all {
            to.optional(rule.sid).text(&rule.msg);
            to.number(u64::from(rule.name.is_some())).text(rule.name.as_deref().unwrap_or(""));
        }
        to.number(self.runs.len() as u64).bytes(&runs.finish());
        to.number(self.repeats_in_rule.len() as u64);
        for (index, first) in &self.repeats_in_rule {
            to.number(*index as u64).number(*first as u64);
        }
        encode_repeats(&mut to, self.repeats.get());
        let mut len = Vec::with_capacity(2 * self.ends.len());
        let mut start = 0;
        for end in &self.ends {
            len.extend(((end - start) as u16).to_ne_bytes());
            start = *end;
        }
        to.bytes(&len).bytes(&self.bytes);
        to.finish()
    }

    /// The table that [`encode`](Self::encode) wrote. `None` if the bytes are no such table.
    pub fn decode(bytes: &[u8]) -> Option<Rules> {
        let mut from = Reader::new(bytes);
        if from.number()? != LAYOUT {
            return None;
        }
        let files: Vec<Arc<str>> =
            (0..from.count(8)?).map(|_| from.text().map(Arc::from)).collect::<Option<_>>()?;
        let rules: Vec<Arc<Rule>> = (0..from.count(40)?)
            .map(|_| {
                let (sid, msg) = (from.optional()?, from.text()?.to_owned());
                let (named, name) = (from.flag()?, from.text()?);
                Some(Arc::new(Rule { sid, msg, name: named.then(|| name.to_owned()) }))
            })
            .collect::<Option<_>>()?;
        let run_count = usize::try_from(from.number()?).ok()?;
        let mut of_runs = Reader::new(from.bytes()?);
        let mut runs = Vec::new();
        for _ in 0..run_count {
            runs.push(run(&mut of_runs, &files, &rules)?);
        }
        let repeats_in_rule: Vec<(usize, usize)> = (0..from.count(16)?)
            .map(|_| Some((index(from.number()?)?, index(from.number()?)?)))
            .collect::<Option<_>>()?;
        let repeats = decode_repeats(&mut from)?.map_or_else(OnceLock::new, OnceLock::from);
        let ends = ends(from.bytes()?)?;
        let bytes = from.bytes()?.to_vec();
        let table = Rules { bytes, ends, runs, repeats_in_rule, repeats };
        (of_runs.is_empty() && from.is_empty() && table.is_sound()).then_some(table)
    }

    /// Whether the runs cover the patterns, and the lists refer to patterns that exist.
    fn is_sound(&self) -> bool {
        let count = self.len();
        let covers = match self.runs.first() {
            None => count == 0,
            Some(run) => run.first == 0,
        };
        let mut repeats = self.repeats_in_rule.iter();
        covers
            && self.ends.last().copied().unwrap_or(0) == self.bytes.len()
            && self.runs.is_sorted_by(|a, b| a.first < b.first)
            && self.runs.last().is_none_or(|run| run.first < count)
            && self.repeats_in_rule.is_sorted_by(|a, b| a.0 < b.0)
            && repeats.all(|&(index, first)| first < index && index < count)
    }
}

impl Counts {
    /// The counts as bytes, for [`decode`](Self::decode).
    pub fn encode(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.number(self.rules).number(self.without_content).number(self.contents);
        to.number(self.negated).number(self.decoded).number(self.fullword);
        to.number(self.unknown_options).number(self.skipped.len() as u64);
        for (reason, count) in &self.skipped {
            to.text(reason).number(*count);
        }
        to.finish()
    }

    /// The counts that [`encode`](Self::encode) wrote. `None` if the bytes are no counts.
    pub fn decode(bytes: &[u8]) -> Option<Counts> {
        let mut from = Reader::new(bytes);
        let mut counts = Counts {
            rules: from.number()?,
            without_content: from.number()?,
            contents: from.number()?,
            negated: from.number()?,
            decoded: from.number()?,
            fullword: from.number()?,
            unknown_options: from.number()?,
            ..Counts::default()
        };
        for _ in 0..from.count(16)? {
            counts.skipped.insert(name(from.text()?)?, from.number()?);
        }
        from.is_empty().then_some(counts)
    }
}

/// Shared values (files or rules) and their numbers. The address identifies a value.
struct Interned<'a, T: ?Sized> {
    all: Vec<&'a Arc<T>>,
    numbers: HashMap<*const u8, usize>,
}

impl<T: ?Sized> Default for Interned<'_, T> {
    fn default() -> Self {
        Interned { all: Vec::new(), numbers: HashMap::new() }
    }
}

impl<'a, T: ?Sized> Interned<'a, T> {
    fn number_of(&mut self, value: &'a Arc<T>) -> usize {
        let next = self.all.len();
        let number = *self.numbers.entry(Arc::as_ptr(value).cast()).or_insert(next);
        if number == next {
            self.all.push(value);
        }
        number
    }
}

fn encode_remark(to: &mut Writer, remark: Option<Remark>) {
    let (kind, buffer) = match remark {
        None => (NO_REMARK, ""),
        Some(Remark::Decoded(buffer)) => (DECODED, buffer),
        Some(Remark::Wide) => (WIDE, ""),
        Some(Remark::Fullword) => (FULLWORD, ""),
        Some(Remark::WideFullword) => (WIDE_FULLWORD, ""),
    };
    to.number(kind).text(buffer);
}

fn decode_remark(from: &mut Reader<'_>) -> Option<Option<Remark>> {
    let (kind, buffer) = (from.number()?, from.text()?);
    Some(match kind {
        NO_REMARK => None,
        DECODED => Some(Remark::Decoded(name(buffer)?)),
        WIDE => Some(Remark::Wide),
        FULLWORD => Some(Remark::Fullword),
        WIDE_FULLWORD => Some(Remark::WideFullword),
        _ => return None,
    })
}

/// An index or a number of a pattern.
fn index(number: u64) -> Option<usize> {
    u32::try_from(number).ok().map(|number| number as usize)
}

fn run(from: &mut Reader<'_>, files: &[Arc<str>], rules: &[Arc<Rule>]) -> Option<Run> {
    let (first, file) = (index(from.number()?)?, index(from.number()?)?);
    let (line, column) = (from.number()?, from.number()?);
    let rule = match from.optional()? {
        None => None,
        Some(number) => Some(Arc::clone(rules.get(index(number)?)?)),
    };
    let (negated, nocase) = (from.flag()?, from.flag()?);
    let remark = decode_remark(from)?;
    let file = Arc::clone(files.get(file)?);
    let run = Run { first, file, line, column, rule, negated, remark, nocase };
    (line < MAX_LINES && column < MAX_LINES).then_some(run)
}

fn encode_repeats(to: &mut Writer, repeats: Option<&Repeats>) {
    let mut all: Vec<_> = repeats.into_iter().flatten().collect();
    all.sort_unstable_by_key(|(first, _)| **first);
    to.number(u64::from(repeats.is_some())).number(all.len() as u64);
    for (first, numbers) in all {
        to.number(u64::from(*first)).number(numbers.len() as u64);
        numbers.iter().for_each(|id| _ = to.number(u64::from(id.0)));
    }
}

fn decode_repeats(from: &mut Reader<'_>) -> Option<Option<Repeats>> {
    let given = from.flag()?;
    let mut repeats = Repeats::new();
    for _ in 0..from.count(16)? {
        let first = index(from.number()?)? as u32;
        let number = |from: &mut Reader<'_>| Some(PatternId(index(from.number()?)? as u32));
        let numbers: Option<Vec<_>> = (0..from.count(8)?).map(|_| number(from)).collect();
        repeats.insert(first, numbers?);
    }
    Some(given.then_some(repeats))
}

/// The ends of patterns of these lengths.
fn ends(lengths: &[u8]) -> Option<Vec<usize>> {
    let (pairs, []) = lengths.as_chunks::<2>() else { return None };
    let mut end = 0;
    let next = |pair: &[u8; 2]| {
        let len = usize::from(u16::from_ne_bytes(*pair));
        end += len;
        (1..=MAX_LEN).contains(&len).then_some(end)
    };
    pairs.iter().map(next).collect()
}

/// A name that lives as long as the process. There are few names, and hostile bytes cannot leak
/// many: their length and number are limited.
fn name(text: &str) -> Option<&'static str> {
    static ALL: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text) {
        return Some(known);
    }
    if text.len() > MAX_NAME_LEN || all.len() >= MAX_NAMES {
        return None;
    }
    let new: &'static str = Box::leak(text.into());
    all.insert(new);
    Some(new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Format, Options, Parsed, parse};

    const SNORT: &str = "alert tcp any any -> any any (msg:\"m\"; content:\"foo\"; content:!\"foo\"; \
        content:\"foo\"; sid:1;)\nalert icmp any any -> any any (itype:8; sid:2;)\n\
        alert tcp any any -> any any (base64_data; content:\"bar\"; nocase; contnet:\"x\"; sid:3;)\n";
    const YARA: &str = "rule r { strings: $a = \"ab\" wide fullword $b = \"cd\" fullword $c = \"ef\" wide \
        $d = /x+/ condition: any of them }";

    fn parsed() -> Parsed {
        let mut all = Parsed::default();
        for (format, file, text) in [
            (Format::Lines, "words", "one\ntwo\none\n"),
            (Format::Snort, "web.rules", SNORT),
            (Format::Yara, "bad.yar", YARA),
            (Format::Hex, "h", "00ff\n# no\n61\n"),
        ] {
            let one = parse(format, file, text.as_bytes(), &Options::default());
            all.patterns.extend(one.patterns);
            all.counts.add(&one.counts);
        }
        let _ = all.patterns.pattern_set(false).unwrap();
        all
    }

    fn shown(rules: &Rules) -> Vec<String> {
        let numbers = (1..=rules.len() as u32).map(PatternId);
        let mut shown: Vec<_> = rules.iter().map(|p| format!("{p:?}")).collect();
        shown.extend(numbers.map(|id| format!("{:?} {:?}", rules.get(id), rules.repeats(id))));
        shown
    }

    #[test]
    fn tables_and_counts_come_back() {
        let Parsed { patterns, counts, .. } = parsed();
        assert!(patterns.len() > 8 && patterns.have_boundaries() && !counts.skipped.is_empty());
        let again = Rules::decode(&patterns.encode()).unwrap();
        assert_eq!(shown(&again), shown(&patterns));
        assert!(!again.repeats(PatternId(1)).is_empty());
        assert_eq!(again.encode(), patterns.encode());
        assert_eq!(Counts::decode(&counts.encode()), Some(counts));
        assert!(Rules::decode(&Rules::new().encode()).unwrap().is_empty());
    }

    /// Any change gives nothing, or a table of which every pattern can be shown.
    #[test]
    fn changed_bytes_are_refused_or_usable() {
        let Parsed { patterns, counts, .. } = parsed();
        let (table, counts) = (patterns.encode(), counts.encode());
        let mut refused = 0;
        for at in 0..table.len() {
            for value in [0, 1, 0x7f, 0xff, table[at].wrapping_add(1)] {
                let mut changed = table.clone();
                changed[at] = value;
                match Rules::decode(&changed) {
                    Some(rules) => drop(shown(&rules)),
                    None => refused += 1,
                }
            }
            assert!(Rules::decode(&table[..at]).is_none());
        }
        assert!(refused > table.len() / 2);
        assert!((0..counts.len()).all(|len| Counts::decode(&counts[..len]).is_none()));
    }
}
