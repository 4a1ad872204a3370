//! Bodies of the fuzz targets: plain functions over bytes, which ordinary tests replay.
//!
//! A fuzzer gives bytes; a decoder makes patterns and a haystack of any of them, so that no input is
//! wasted. Everything that is found wrong is a panic, since that is what a fuzzer looks for.

use crate::audit::Audit;
use crate::case::{Case, Entry};
use crate::strategies::cut;
use crate::subject::variants;
use fyke_core::{Block, Engine, Matcher, Scratch, Semantics, Stream};
use std::path::Path;
use std::sync::Arc;

/// Most patterns and longest pattern of an input: small, so that hundreds of inputs run in a second.
const PATTERNS: u8 = 12;
const LONGEST: u8 = 24;
/// Bytes of a repeated haystack, about: engines that walk in several lanes do so from some length on.
const LONG: usize = 20 << 10;
/// What bytes are folded to if an input asks for it: random bytes would hardly ever match.
const SMALL: &[u8] = b"abAB\x00\xff[z";

/// Every variant of every engine finds what the naive search finds.
///
/// # Panics
/// One does not.
pub fn differential(data: &[u8], engines: &[&'static dyn Engine]) {
    let (case, _) = decode(data);
    each_matcher(&case, engines, &mut |label, matcher| {
        let block = Block::whole(&case.haystack);
        let mut audit = Audit::of_block(&case.set, &block);
        let _ = matcher.scan(block, &mut Scratch::new(), &mut audit);
        audit.finish(&case.expected).unwrap_or_else(|e| panic!("{label}: {e}\n{case:?}"));
    });
}

/// Every variant of every engine finds the same in a stream, under all semantics, for any chunking, with
/// the state saved and restored.
///
/// # Panics
/// One does not.
pub fn stream(data: &[u8], engines: &[&'static dyn Engine]) {
    let (case, plan) = decode(data);
    let semantics = Semantics::ALL[usize::from(plan.flags >> 4) % 4];
    let expected = case.under(semantics);
    each_matcher(&case, engines, &mut |label, matcher| {
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

/// Runs every file of `folder/<target>` through a body. Returns how many there were.
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

/// Where the project keeps inputs that once failed, and some to start from.
pub fn regressions() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions")
}

fn each_matcher(
    case: &Case,
    engines: &[&'static dyn Engine],
    check: &mut dyn FnMut(&str, Arc<dyn Matcher>),
) {
    for subject in engines.iter().filter(|e| e.available().is_ok()).flat_map(|e| variants(*e)) {
        // A refusal is an answer: some engines do not take short patterns.
        if let Ok(matcher) = subject.compile(&case.set) {
            check(&subject.label(), matcher);
        }
    }
}

/// What an input says about the search apart from patterns and haystack.
struct Plan {
    flags: u8,
    chunks: Vec<usize>,
}

/// Reads an input: flags, four chunk sizes, a number of patterns, each as length, flag and id, bytes; the
/// rest is the haystack. Bit 0 of the flags folds all bytes to a small alphabet; bit 1 makes all patterns
/// insensitive; bit 2 repeats the haystack, with bits 6 and 7 up to [`LONG`]; bit 3 restores a stream after
/// each chunk; bits 4 and 5 choose semantics.
fn decode(data: &[u8]) -> (Case, Plan) {
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
