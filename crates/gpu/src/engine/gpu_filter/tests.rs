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
    for stride in ["stride=2", "stride=4", "stride=auto"] {
        let least = if stride == "stride=4" { 7 } else { 1 };
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
