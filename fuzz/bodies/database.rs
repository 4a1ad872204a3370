//! Body of the target `database`, also included by `crates/fyke/tests/regressions.rs`.
//!
//! The first byte of an input says what the rest is. With bit 7 it is a whole file. Otherwise bits
//! 0 to 3 choose a database that was saved, and bit 6 asks for sound checksums after the changes: a
//! fuzzer would not guess them. The second byte is the number of changes, each of five bytes: how,
//! where (three bytes), and a value. What remains is the haystack.

use fyke::database::{Database, seal};
use fyke::{Collect, PatternId, PatternSet, Searcher};
use std::sync::LazyLock;

/// A database and what its searcher finds.
struct Scene {
    file: Vec<u8>,
    searcher: Searcher,
}

static SCENES: LazyLock<Vec<Scene>> = LazyLock::new(|| SPECS.iter().map(scene).collect());

/// Engines with the number of patterns, and every which of them ignores case (0 for none).
const SPECS: [(&str, u32, u32); 10] = [
    ("auto", 5, 0),
    ("auto", 300, 3),
    ("qgram-filter:stride=1", 40, 0),
    ("qgram-filter:stride=2,joined=yes", 40, 1),
    ("qgram-filter:stride=4", 200, 2),
    ("qgram-filter", 1200, 0),
    ("auto:engine=qgram-filter", 60, 4),
    ("qgram-sampling", 100, 0),
    ("ac-simd", 60, 3),
    ("teddy", 30, 0),
];

fn scene(&(spec, count, nocase): &(&str, u32, u32)) -> Scene {
    let searcher = Searcher::builder().engine(spec).build(&patterns(spec, count, nocase));
    let searcher = searcher.expect("the engine takes the set");
    let mut file = Vec::new();
    searcher.save(&mut file).expect("memory can be written to");
    Scene { file, searcher }
}

/// Patterns of many lengths; many share windows, so that tables have runs.
fn patterns(spec: &str, count: u32, nocase: u32) -> PatternSet {
    let mut builder = PatternSet::builder();
    for i in 0..count {
        let ignores_case = nocase > 0 && i % nocase == 0;
        let tail = "x".repeat(i as usize % 50);
        let text = match i % 3 {
            0 => format!("{i:03}pattern{tail}"),
            1 => format!("samebeginning{i:03}{tail}"),
            _ => format!("Key{i:05}=value"),
        };
        builder.push_with(PatternId(i / 2), text, ignores_case).expect("not empty and not long");
    }
    // The planner cuts such a set in two.
    if spec.contains("engine=") {
        builder.push("ab").expect("not empty");
        builder.push("c").expect("not empty");
    }
    builder.build()
}

/// Loads a database: an error, or a searcher that scans; without forged checksums it finds what the
/// searcher found that was saved.
pub(crate) fn database(data: &[u8]) {
    let (&how, rest) = data.split_first().unwrap_or((&0, &[]));
    if how & 0x80 != 0 {
        check(Searcher::load(rest), b"some haystack with samebeginning001", None);
        return;
    }
    let scene = &SCENES[usize::from(how & 15) % SCENES.len()];
    let (&count, mut rest) = rest.split_first().unwrap_or((&0, &[]));
    let mut file = scene.file.clone();
    for _ in 0..count {
        let Some((&change, after)) = rest.split_first_chunk() else { break };
        rest = after;
        apply(&mut file, change);
    }
    let forged = how & 0x40 != 0;
    if forged {
        seal(&mut file);
    }
    let expected = (!forged).then_some(&scene.searcher);
    // Inside of other bytes, with parts of patterns, so that every table is used.
    let haystack = [rest, b"samebeginning001xKEY00002=VALUE000pattern", rest, b"abc"].concat();
    check(Searcher::load(&file[..]), &haystack, expected);
}

/// Changes some bytes of a file: one of them, a number, or its length.
fn apply(file: &mut Vec<u8>, change: [u8; 5]) {
    let [how, a, b, c, value] = change;
    let at = u32::from_le_bytes([a, b, c, 0]) as usize;
    if file.is_empty() {
        return;
    }
    let at = at % file.len();
    match how % 5 {
        0 => file[at] = value,
        1 => file[at] ^= 1 << (value % 8),
        2 => file[at] = file[at].wrapping_add(value),
        3 => {
            let at = at & !3;
            let number = i32::from(value as i8).to_le_bytes();
            let end = file.len().min(at + 4);
            file[at..end].copy_from_slice(&number[..end - at]);
        }
        _ => file.truncate(at + 1),
    }
}

fn check<E: ToString>(loaded: Result<Searcher, E>, haystack: &[u8], expected: Option<&Searcher>) {
    let searcher = match loaded {
        Ok(searcher) => searcher,
        Err(error) => {
            assert!(!error.to_string().contains('\n'), "{}", error.to_string());
            return;
        }
    };
    let found = found(&searcher, haystack);
    let long = haystack.repeat(1 + 40_000 / haystack.len().max(1));
    let _ = searcher.count(&long);
    let _ = searcher.find(haystack);
    if let Some(expected) = expected {
        assert_eq!(found, self::found(expected, haystack));
        return;
    }
    let mut again = Vec::new();
    searcher.save(&mut again).expect("memory can be written to");
    let again = Database::read(&again[..]).expect("just saved");
    assert!(again.set().iter().eq(searcher.set().iter()));
}

fn found(searcher: &Searcher, haystack: &[u8]) -> Vec<fyke::StreamMatch> {
    let mut found = Collect::default();
    let _ = searcher.scan_into(haystack, &mut found);
    found.matches
}
