//! Bodies of the fuzz targets: plain functions over bytes, which ordinary tests replay.
//!
//! A fuzzer provides bytes. A decoder turns any bytes into patterns and a haystack, so no input is
//! wasted. Every mistake found is a panic, because that is what a fuzzer detects.

use crate::audit::{Audit, same};
use crate::case::{Case, Entry};
use crate::strategies::cut;
use crate::subject::Suite;
use fyke_core::sink::{FNV_BASIS, fnv1a};
use fyke_core::{
    Block, Collect, Matcher, PatternSet, Scratch, Semantics, Stream, StreamMatch, oracle,
};
use std::path::Path;
use std::sync::Arc;

/// Limits of the patterns of an input, low so that one input takes little time.
const PATTERNS: u8 = 12;
const LONGEST: u8 = 24;
/// Approximate bytes of a repeated haystack: some engines interleave several walks above a minimum
/// length.
const LONG: usize = 20 << 10;
/// The alphabet that an input can ask for. Random bytes would almost never match.
const SMALL: &[u8] = b"abAB\x00\xff[z";
/// Bytes of a saved state before and after the part that `restore` takes from its input: magic,
/// version and set digest before, checksum after.
const STATE_HEAD: usize = 16;
const STATE_TAIL: usize = 8;
/// A state whose offset or number of matches is above this is damaged. No real stream gets there,
/// but a crafted state at the limit can.
const COUNT_LIMIT: u64 = 1 << 62;

/// Every variant of every engine finds what the naive search finds.
///
/// # Panics
/// A variant does not, or refuses what it must not refuse.
pub fn differential(data: &[u8], suite: &Suite) {
    let (case, _) = decode(data);
    each_matcher(&case, suite, &mut |label, matcher| {
        let block = Block::whole(&case.haystack);
        let mut audit = Audit::of_block(&case.set, &block);
        let _ = matcher.scan(block, &mut Scratch::new(), &mut audit);
        audit.finish(&case.expected).unwrap_or_else(|e| panic!("{label}: {e}\n{case:?}"));
    });
}

/// Every variant of every engine finds the same matches in a stream, under all semantics, for any
/// chunk sizes, with the state saved and restored.
///
/// # Panics
/// A variant does not, or refuses what it must not refuse.
pub fn stream(data: &[u8], suite: &Suite) {
    let (case, plan) = decode(data);
    let semantics = Semantics::ALL[usize::from(plan.flags >> 4) % 4];
    let expected = case.under(semantics);
    each_matcher(&case, suite, &mut |label, matcher| {
        let mut audit = Audit::of_haystack(&case.set, case.haystack.len());
        let mut stream = Stream::new(matcher.clone(), semantics);
        for chunk in cut(&case.haystack, &plan.chunks) {
            if stream.feed(chunk, &mut audit).is_break() {
                break;
            }
            if plan.flags & 8 != 0 {
                stream = Stream::restore(matcher.clone(), semantics, &stream.save())
                    .expect("just saved");
            }
        }
        let _ = stream.finish(&mut audit);
        let result = audit.finish_ordered(&expected);
        result.unwrap_or_else(|e| {
            panic!("{label}, {semantics}, chunks {:?}: {e}\n{case:?}", plan.chunks)
        });
    });
}

/// [`Stream::restore`] returns an error or a usable stream for any bytes.
///
/// The first byte of the input chooses the semantics and the form of the rest: a whole state, or
/// the part between the set's digest and the checksum, so that the fuzzer need not guess the
/// checksum. The second byte is the number of bytes, from the end of the input, to feed to what
/// was restored.
///
/// # Panics
/// `restore` or the restored stream panics, the stream reports a match outside of what was fed, or
/// its own state cannot be restored.
pub fn restore(data: &[u8], suite: &Suite) {
    let mut input = data;
    let (how, fed) = (byte(&mut input), usize::from(byte(&mut input)));
    let semantics = Semantics::ALL[usize::from(how >> 1) % Semantics::ALL.len()];
    let (rest, haystack) = input.split_at(input.len() - fed.min(input.len()));
    let set = restored_set();
    let matcher = suite.compile(&suite.oracle(), &set).expect("the oracle takes every set");
    let Some(matcher) = matcher else { return };
    let state = if how & 1 == 0 { rest.to_vec() } else { sealed(rest, &matcher, semantics) };
    let restored = Stream::restore(matcher.clone(), semantics, &state);
    suite.tally.checked(&suite.oracle().label());
    if let Ok(stream) = restored {
        check_restored(stream, &matcher, semantics, &state, haystack);
    }
}

/// The set of every restored stream: overlapping patterns, one that ignores case, and one that is
/// longer than a word of the filter's bit sets.
fn restored_set() -> PatternSet {
    let patterns: [&[u8]; 6] = [b"a", b"ab", b"bab", b"b\0", b"abababababab", &[b'a'; 70]];
    PatternSet::new(patterns).expect("the patterns are neither empty nor too long")
}

/// A state with the header and the checksum that [`Stream::save`] would give it.
fn sealed(body: &[u8], matcher: &Arc<dyn Matcher>, semantics: Semantics) -> Vec<u8> {
    let mut state = Stream::new(matcher.clone(), semantics).save();
    state.truncate(STATE_HEAD);
    state.extend(body);
    let checksum = fnv1a(&state, FNV_BASIS);
    state.extend(checksum.to_le_bytes());
    state
}

/// Saves, feeds and finishes a restored stream.
fn check_restored(
    mut stream: Stream,
    matcher: &Arc<dyn Matcher>,
    semantics: Semantics,
    state: &[u8],
    haystack: &[u8],
) {
    assert_eq!(stream.save(), state, "a restored stream saves what it was restored from");
    let start = stream.offset();
    let mut found = Collect::default();
    let (head, tail) = haystack.split_at(haystack.len() / 2);
    if stream.feed(head, &mut found).is_continue() && stream.feed(tail, &mut found).is_continue() {
        assert_eq!(stream.offset(), start + haystack.len() as u64);
        let counts = stream.offset().max(stream.matches());
        match Stream::restore(matcher.clone(), semantics, &stream.save()) {
            Ok(again) => {
                let _ = again.finish(&mut found);
            }
            Err(e) => assert!(counts > COUNT_LIMIT, "just saved, but {e}"),
        }
    }
    let end = start + haystack.len() as u64;
    assert!(found.matches.iter().all(|m| m.start < m.end && m.end <= end), "{found:?} up to {end}");
    assert!(found.matches.is_sorted(), "{found:?}");
    if semantics == Semantics::All {
        let history = history_of(state);
        let expected = after_history(matcher.set(), history, haystack, start);
        same(&expected, &found.matches).unwrap_or_else(|e| panic!("{e}\n{history:?} {haystack:?}"));
    }
}

/// The history in a state: after the header and the offset, a length and that many bytes.
fn history_of(state: &[u8]) -> &[u8] {
    let (_, rest) = state[STATE_HEAD + 8..state.len() - STATE_TAIL].split_at(4);
    let len = u32::from_le_bytes(state[STATE_HEAD + 8..STATE_HEAD + 12].try_into().expect("four"));
    &rest[..len as usize]
}

/// All matches that end in `haystack`, which follows `history` and starts at position `start`.
fn after_history(
    set: &PatternSet,
    history: &[u8],
    haystack: &[u8],
    start: u64,
) -> Vec<StreamMatch> {
    let len = history.len() as u64;
    let all = oracle::find_all(set, &[history, haystack].concat());
    let moved = |m: StreamMatch| StreamMatch {
        start: start + m.start - len,
        end: start + m.end - len,
        ..m
    };
    all.into_iter().filter(|m| m.end > len).map(moved).collect()
}

/// Runs every file of `folder/<target>` through a body. Returns the number of files.
///
/// # Errors
/// The folder or a file cannot be read.
pub fn replay(folder: &Path, target: &str, body: &mut dyn FnMut(&[u8])) -> std::io::Result<usize> {
    let mut paths: Vec<_> = std::fs::read_dir(folder.join(target))?
        .map(|e| e.map(|e| e.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in &paths {
        println!("replaying {}", path.display());
        body(&std::fs::read(path)?);
    }
    Ok(paths.len())
}

/// The folder of the inputs that once failed, and of the seeds.
pub fn regressions() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions")
}

/// Compiles the case's set with every subject. A refusal is counted: some engines need longer
/// patterns.
fn each_matcher(case: &Case, suite: &Suite, check: &mut dyn FnMut(&str, Arc<dyn Matcher>)) {
    for subject in suite.subjects() {
        let label = subject.label();
        let compiled =
            suite.compile(&subject, &case.set).unwrap_or_else(|e| panic!("{e}\n{case:?}"));
        if let Some(matcher) = compiled {
            suite.tally.checked(&label);
            check(&label, matcher);
        }
    }
}

/// The parts of an input besides patterns and haystack.
pub(crate) struct Plan {
    pub(crate) flags: u8,
    pub(crate) chunks: Vec<usize>,
}

/// Reads an input: flags, four chunk sizes, the number of patterns, then each pattern as length,
/// flag with id, and bytes. The rest is the haystack.
///
/// Bit 0 of the flags maps all bytes to a small alphabet; bit 1 makes all patterns ignore case;
/// bit 2 repeats the haystack, with bits 6 and 7 up to [`LONG`]; bit 3 restores a stream after
/// each chunk; bits 4 and 5 choose the semantics.
pub(crate) fn decode(data: &[u8]) -> (Case, Plan) {
    let mut input = data;
    let flags = byte(&mut input);
    let mut chunks: Vec<usize> = (0..4).map(|_| usize::from(byte(&mut input))).collect();
    chunks.push(1);
    let count = byte(&mut input) % (PATTERNS + 1);
    let entries = (0..count).filter_map(|i| entry(&mut input, i, flags)).collect();
    let haystack = folded(input, flags);
    let copies = match flags & 0b1100_0100 {
        0b1100_0100 => LONG / haystack.len().max(LONG / 256),
        0b0000_0100 => 2,
        _ => 0,
    };
    let haystack = haystack.repeat(1 + copies);
    (Case::new(entries, haystack).expect("not empty and not long"), Plan { flags, chunks })
}

fn entry(input: &mut &[u8], position: u8, flags: u8) -> Option<Entry> {
    let len = 1 + usize::from(byte(input) % LONGEST);
    let how = byte(input);
    let (bytes, rest) = input.split_at(len.min(input.len()));
    *input = rest;
    let id = if how & 2 != 0 { u32::from(how >> 2) } else { u32::from(position) };
    let entry = Entry { bytes: folded(bytes, flags), nocase: flags & 2 != 0 || how & 1 != 0, id };
    (!bytes.is_empty()).then_some(entry)
}

fn byte(input: &mut &[u8]) -> u8 {
    let (first, rest) = input.split_first().unwrap_or((&0, &[]));
    *input = rest;
    *first
}

fn folded(bytes: &[u8], flags: u8) -> Vec<u8> {
    let small = |b: &u8| SMALL[usize::from(*b) % SMALL.len()];
    if flags & 1 != 0 { bytes.iter().map(small).collect() } else { bytes.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_input_is_a_case() {
        assert!(decode(b"").0.set.is_empty());
        let input = b"\x00\x01\x02\x03\x04\x02\x01\x00he\x02\x03sheushers";
        let (case, plan) = decode(input);
        assert_eq!(case.haystack, b"ushers");
        let read: Vec<_> = case.entries.iter().map(|e| (&e.bytes[..], e.nocase, e.id)).collect();
        assert_eq!(read, [(&b"he"[..], false, 0), (b"she", true, 0)]);
        assert_eq!(plan.chunks, [1, 2, 3, 4, 1]);
        assert_eq!(case.expected.len(), 2);
    }
}
