use super::*;
use crate::device::inventory;
use crate::matcher::PAD;
use fyke_core::sink::Collect;
use fyke_core::{Block, Matcher, PatternId, Scratch, oracle};

/// Numbers without a pattern.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut x = seed | 1;
    move |below| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 33) as usize % below
    }
}

fn letters(seed: u64, bytes: usize, alphabet: &[u8]) -> Vec<u8> {
    let mut random = random(seed);
    (0..bytes).map(|_| alphabet[random(alphabet.len())]).collect()
}

/// Few positions a work item, so that patterns are longer; little shared memory, so that slots are on the device: in the
/// form `bytes`, and in the form `classes`.
const SHAPES: [&str; 4] =
    ["positions=32", "positions=64,shared=140000", "positions=96,shared=8000", ""];

/// Searches and counts a text on all devices, in all forms that take the set.
fn check(set: &PatternSet, text: &[u8]) {
    let right = oracle::find_all(set, text);
    for (number, device) in inventory().devices.iter().enumerate() {
        for form in ["auto", "bytes", "classes", "linked"] {
            for shape in SHAPES {
                let opt = format!("device={number},form={form},{shape}");
                let opt = Options::with_params(&opt).unwrap();
                let matcher = match ENGINE.compile_for_device(set, &opt) {
                    Ok(matcher) => matcher,
                    Err(_) if form != "auto" && form != "linked" => continue,
                    Err(refused) => panic!("{refused:?}"),
                };
                let mut found = Collect::default();
                let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut found);
                let what = matcher.search().describe();
                assert!(found.sorted() == right, "{device:?}, {form}, {shape}: {what}");
            }
        }
    }
}

/// Patterns cut out of a text, some with a byte changed.
fn cuts(text: &[u8], lengths: impl Iterator<Item = usize>, seed: u64) -> Vec<Vec<u8>> {
    let mut random = random(seed);
    lengths
        .map(|len| {
            let at = random(text.len() - len + 1);
            let mut cut = text[at..at + len].to_vec();
            if random(3) == 0 {
                cut[random(len)] ^= 1;
            }
            cut
        })
        .collect()
}

#[test]
fn every_length_is_found_at_every_start() {
    let all: Vec<u8> = (0..=255).collect();
    for (seed, alphabet) in [&b"ab"[..], b"acgt", b"abcdefghijklmnop", &all].iter().enumerate() {
        let text = letters(seed as u64 + 7, 20_000, alphabet);
        for least in [1, 4] {
            let lengths = (0..400).map(|i| least + i % 60);
            check(&PatternSet::new(cuts(&text, lengths, 5)).unwrap(), &text);
        }
    }
}

#[test]
fn patterns_much_longer_than_a_share_are_followed_behind_it() {
    let text = letters(3, 30_000, b"ab\0\xff");
    let mut patterns = cuts(&text, [1, 2, 3, 500, 5_001, 7_777].into_iter().cycle().take(30), 9);
    patterns.extend([1, 2, 63, 64, 65, 5_001].map(|n| vec![b'c'; n]));
    let text = [&text[..], &[b'c'; 9_000], &text[..100]].concat();
    check(&PatternSet::new(patterns).unwrap(), &text);
}

/// Heads before one tail of many branches: exceptions in the square of the set, which only the linked form takes.
#[test]
fn hostile_sets_are_taken() {
    let tails = (0..256u32).map(|c| [b"aaaaa".as_slice(), &[c as u8], b"zz"].concat());
    let runs = (0..1000u32).map(|i| [&i.to_le_bytes()[..], &[b'a'; 100]].concat());
    let patterns: Vec<Vec<u8>> = tails.chain(runs).collect();
    let set = PatternSet::new(&patterns).unwrap();
    for device in &inventory().devices {
        let about = Dfa::new(&set, &Options::default(), device).unwrap().describe();
        assert!(about.contains("linked"), "{about}");
    }
    let mut text = patterns.concat();
    text.truncate(40_000);
    text.extend([b'a'; 1000]);
    check(&set, &text);
}

#[test]
fn nested_patterns_are_counted_beyond_what_a_word_says() {
    let patterns: Vec<Vec<u8>> = (1..=70).map(|n| vec![b'a'; n]).collect();
    let mut text = vec![b'a'; 3_000];
    text[1_700] = b'b';
    check(&PatternSet::new(&patterns).unwrap(), &text);
    count_all(&PatternSet::new(patterns).unwrap(), &text);
}

/// Heads that share tails, and texts that leave every one of them at every byte for another: paths are left for what a
/// state stores beside them, and for what contexts tell.
#[test]
fn paths_are_left_where_the_text_leaves_them() {
    let mut random = random(21);
    let tails: Vec<Vec<u8>> = (0..40).map(|i| letters(i, 20, b"abcdefgh")).collect();
    let patterns: Vec<Vec<u8>> = (0..400)
        .map(|_| {
            let (head, tail) = (&tails[random(40)][..random(12)], &tails[random(40)]);
            [head, &tail[random(8)..]].concat()
        })
        .collect();
    let set = PatternSet::new(&patterns).unwrap();
    let mut text = Vec::new();
    while text.len() < 30_000 {
        let pattern = &patterns[random(patterns.len())];
        text.extend(&pattern[..1 + random(pattern.len())]);
    }
    check(&set, &text);
    count_all(&set, &text);
    for device in &inventory().devices {
        for (form, shared) in [("bytes", 140_000), ("classes", 8_000)] {
            let opt = Options::with_params(&format!("form={form},shared={shared}")).unwrap();
            let tables = Dfa::new(&set, &opt, device).unwrap().tables;
            assert!(tables.paths > 100, "{form}: {} of {}", tables.paths, tables.slot_count);
        }
    }
}

#[test]
fn case_is_ignored_where_a_pattern_does() {
    let text = letters(11, 12_000, b"aAbBzZ[@`{0\xc1");
    let mut b = PatternSet::builder();
    for (i, cut) in cuts(&text, (1..40).cycle().take(150), 2).iter().enumerate() {
        b.push_with(PatternId(i as u32), cut, i % 3 == 0).unwrap();
    }
    check(&b.build(), &text);
}

/// Counts a text in all forms; a match counts once for each id of its pattern.
fn count_all(set: &PatternSet, text: &[u8]) {
    let right = oracle::find_all(set, text).len() as u64;
    for device in &inventory().devices {
        let queue = device.queue().unwrap();
        let padded = [&[b'x'; PAD][..], text, &[b'x'; 2 * PAD]].concat();
        let buffer = device.upload(&queue, &padded).unwrap();
        let tile = Tile { text: &buffer, at: PAD as u64, bytes: text.len() as u32, overlap: 0 };
        let mut lane = Lane::open(device).unwrap();
        for form in ["auto", "bytes", "classes", "linked"] {
            for shape in SHAPES {
                let opt = Options::with_params(&format!("form={form},{shape}")).unwrap();
                let Ok(dfa) = Dfa::new(set, &opt, device) else { continue };
                assert_eq!(dfa.counted(&mut lane, tile).unwrap(), right, "{form} {shape}");
            }
        }
    }
}

#[test]
fn what_is_counted_is_what_is_found() {
    for (seed, alphabet) in [&b"ab"[..], b"acgt", b"abcdefghijklmnop"].iter().enumerate() {
        let text = letters(seed as u64 + 1, 20_001, alphabet);
        let lengths = (0..300).map(|i| 1 + i % 50);
        count_all(&PatternSet::new(cuts(&text, lengths, 3)).unwrap(), &text);
    }
}

#[test]
fn a_lead_owns_nothing_that_ends_in_it() {
    let text = letters(5, 10_000, b"abc");
    let set = PatternSet::new(cuts(&text, (1..90).cycle().take(120), 8)).unwrap();
    for (number, device) in inventory().devices.iter().enumerate() {
        for overlap in [1, 15, 31, 32, 33, 88, 100, 4_097] {
            for shape in SHAPES {
                let opt = Options::with_params(&format!("device={number},{shape}")).unwrap();
                let matcher = ENGINE.compile_for_device(&set, &opt).unwrap();
                let block = Block { bytes: &text, overlap, offset: 0 };
                let mut found = Collect::default();
                let _ = matcher.scan(block, &mut Scratch::new(), &mut found);
                let mut right = oracle::find_all(&set, &text);
                right.retain(|m| m.end as usize > overlap);
                assert!(found.sorted() == right, "{device:?} {overlap} {shape}");
            }
        }
    }
}

#[test]
fn shares_are_even_and_cover_a_tile() {
    let set = PatternSet::new(["abc"]).unwrap();
    for device in &inventory().devices {
        let dfa = Dfa::new(&set, &Options::default(), device).unwrap();
        let shape = dfa.counting.shape;
        let threads = u64::from(shape.groups * shape.items);
        for bytes in [0, 1, 63, 64, 1_000, 1 << 20, 64 << 20, 2 << 30, (2 << 30) + 17] {
            let (positions, groups) = dfa.cut(shape, bytes);
            assert!(positions % STEP == 0 && positions <= POSITIONS && groups >= 1);
            let at_a_time = u64::from(positions) * u64::from(groups * shape.items);
            assert!(groups == shape.groups || at_a_time >= u64::from(bytes));
            let times = u64::from(bytes).div_ceil(threads * u64::from(positions));
            assert!(times <= u64::from(bytes).div_ceil(threads * u64::from(POSITIONS)).max(1));
        }
    }
}
