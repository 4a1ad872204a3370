use super::*;
use crate::device::inventory;
use fyke_core::sink::Collect;
use fyke_core::{Block, Matcher, Scratch, oracle};

/// A text that is full of beginnings of patterns, and patterns that are cut out of it.
fn random(seed: u64, bytes: usize, letters: u8) -> Vec<u8> {
    let mut x = seed | 1;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..bytes).map(|_| b'a' + (next() >> 33) as u8 % letters).collect()
}

fn check(set: &PatternSet, text: &[u8], options: &str) {
    for (number, device) in inventory().devices.iter().enumerate() {
        let opt = Options::with_params(&format!("device={number},{options}")).unwrap();
        let matcher = ENGINE.compile_for_device(set, &opt).unwrap();
        let mut found = Collect::default();
        let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut found);
        assert!(found.sorted() == oracle::find_all(set, text), "{device:?}, {options}");
    }
}

#[test]
fn every_length_is_found_at_every_start() {
    let text = random(7, 20_000, 4);
    for (stride, least) in
        [("stride=2", 1), ("stride=4", 7), ("stride=4-wide", 11), ("stride=auto", 1)]
    {
        let cuts = (least..60).map(|len| text[len * 131..len * 132].to_vec());
        check(&PatternSet::new(cuts).unwrap(), &text, stride);
    }
}

#[test]
fn more_records_than_there_was_room_for_are_all_found() {
    let text = vec![b'a'; 10_000];
    check(
        &PatternSet::new(["aaaa", "aaaaa", "aaaaaaaaaaaaaaaaaaaaaaa"]).unwrap(),
        &text,
        "stride=auto",
    );
    check(&PatternSet::new(["a", "aa", "aaa", "aaaa"]).unwrap(), &text, "");
}

#[test]
fn runs_are_found_at_every_length_and_place() {
    let lengths = [4, 5, 6, 7, 9, 16, 33, 64, 100, 3000];
    for least in [4, 6] {
        let of =
            |byte: u8| lengths.iter().filter(move |l| **l >= least).map(move |&l| vec![byte; l]);
        let others = ["\0\0\0\0A", "A\0\0\0\0\0", "\0\0\0\0B\0\0\0", "\u{1}\u{1}\0\0\0\0\0\0"];
        let set = of(0).chain(of(255)).chain(others.map(|o| o.as_bytes().to_vec()));
        let set = PatternSet::new(set).unwrap();
        let mut text = Vec::new();
        for n in 0..140 {
            text.extend(vec![0; n]);
            text.extend([b'A', b'B', 1, 16, 255][..1 + n % 5].iter());
            text.extend(vec![255; n / 2]);
        }
        text.extend(vec![0; 4000]);
        for cut in [0, 1, 2, 3, 4, 5, 6, 7, 64, 500, 2047, 2048, 3999] {
            check(&set, &text[cut..], "stride=2");
            check(&set, &text[..text.len() - cut], "stride=2");
        }
    }
}

#[test]
fn runs_of_letters_that_ignore_case_are_found_beside_those_that_do_not() {
    let mut b = PatternSet::builder();
    for (bytes, nocase) in
        [("aaaaa", true), ("aaaa", false), ("AAAAAAA", false), ("bbbb", false), ("0000", true)]
    {
        b.push_with(fyke_core::PatternId(1), bytes, nocase).unwrap();
    }
    let text = b"aaaaaaaaAAAAAAAaaaaaAaAaAaaaaaaaaabbbbbbbbBBBBBB0000000000000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    check(&b.build(), text, "stride=2");
}
