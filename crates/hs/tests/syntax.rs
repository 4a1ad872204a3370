//! Random expressions against a real Hyperscan: what this library takes means the same there, and
//! what it calls wrong is refused there too.
//!
//! `FYKE_HS_CASES` is the number of expressions, in hundreds.

mod common;

use common::expressions::compile;
use common::random::Random;
use common::{Api, Compiled, LIBHS, own_file, real};
use fyke_hs::abi;

/// Pieces of which the expressions consist.
const PIECES: [&str; 32] = [
    "a", "A", "b", "4", "1", "0", "7", "8", "\\", "\\x", "\\x{", "\\o{", "\\Q", "\\E", "{", "}",
    "[", "]", "^", "-", ",", ":", "=", ".", "#", " ", "n", "E", "\\0", "\\1", "[a", "A]",
];

#[test]
fn random_expressions_mean_the_same_to_a_real_hyperscan() {
    let real = match real() {
        Ok(real) => real,
        Err(why) => return fyke_testkit::require::refuse_without(LIBHS, "syntax", &why),
    };
    let own = Api::open(&own_file()).unwrap();
    let hundreds = std::env::var("FYKE_HS_CASES").map_or(100, |n| n.parse().unwrap());
    let r = &mut Random(7);
    let (mut taken, mut wrong, mut left) = (0, 0, 0);
    for _ in 0..100 * hundreds {
        let count = 1 + r.below(7);
        let text: String = (0..count).map(|_| r.element(&PIECES)).collect();
        let flags = if r.once_in(2) { abi::FLAG_CASELESS } else { 0 };
        let compiled = |api| -> Compiled<'_> {
            compile(api, &text, flags | abi::FLAG_DOTALL, abi::MODE_BLOCK)
        };
        match compiled(&own) {
            Ok(database) => {
                let theirs = compiled(&real).unwrap_or_else(|e| panic!("{text:?}: {e:?}"));
                compare(&text, &database, &theirs, r);
                taken += 1;
            }
            Err((message, _)) if message.contains("FYKE_HS_NEXT") => left += 1,
            Err((message, _)) => {
                assert!(compiled(&real).is_err(), "{text:?} is refused: {message}");
                wrong += 1;
            }
        }
    }
    eprintln!("{taken} expressions taken, {wrong} wrong, {left} left to a real Hyperscan");
    assert!(taken > hundreds && wrong > hundreds && left > hundreds);
}

/// Scans haystacks of the bytes that the pieces stand for.
fn compare(text: &str, ours: &common::Database<'_>, theirs: &common::Database<'_>, r: &mut Random) {
    let (mut own, mut real) = (ours.api.scratch(), theirs.api.scratch());
    own.grow(ours);
    real.grow(theirs);
    let all: Vec<u8> = (0..=255).collect();
    let parts: String = text.split(['\\', '[', ']', '{', '}']).collect();
    let mut haystacks = vec![all, text.as_bytes().to_vec(), parts.into_bytes()];
    for _ in 0..4 {
        haystacks
            .push((0..200).map(|_| r.element(b"aAb4107Q8\0\x01\x04\x07n{}[]E,:.#-^= ")).collect());
    }
    for haystack in haystacks {
        let a = ours.scan(&own, &haystack, usize::MAX).sorted();
        let b = theirs.scan(&real, &haystack, usize::MAX).sorted();
        assert_eq!(a, b, "{text:?} in {}", haystack.escape_ascii());
    }
}
