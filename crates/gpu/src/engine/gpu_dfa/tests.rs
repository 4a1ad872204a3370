use super::kernels::STAGED;
use super::*;
use crate::device::inventory;
use crate::matcher::PAD;
use crate::testing;
use fyke_core::sink::{Collect, Count};
use fyke_core::{Block, Matcher, PatternId, Scratch, oracle};
use fyke_testkit::devices::DeviceTests;

/// Random numbers below a bound, from a seed.
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

/// Few positions per work item, so that patterns are longer; little shared memory, so that slots
/// are in device memory, in the form `bytes` and in the form `classes`, with the text loaded and
/// with it staged.
const SHAPES: [&str; 5] = [
    "positions=32",
    "positions=64,shared=140000",
    "positions=64,shared=173000,staged=yes",
    "positions=96,shared=8000",
    "",
];

/// The forms, and the default.
const FORMS: [&str; 4] = ["auto", "bytes", "classes", "linked"];

/// The shapes that a device takes.
fn shapes(device: &Device) -> impl Iterator<Item = &'static str> {
    let copies_blocks = device.properties().copies_blocks();
    SHAPES.into_iter().filter(move |shape| copies_blocks || !shape.contains("staged"))
}

/// Whether a form may refuse a set: forms with contexts in shared memory have limits, and `auto`
/// and `linked` take every set here.
fn may_refuse(form: &str, refusal: &Refusal) -> bool {
    let is_limited = form == "bytes" || form == "classes";
    is_limited
        && matches!(refusal, Refusal::BadOption(why) if why.contains(tables::TOO_MANY_TRANSITIONS))
}

#[test]
fn text_is_staged_only_where_it_can_be() {
    let set = PatternSet::new(["abc"]).unwrap();
    let long = PatternSet::new([vec![b'a'; PAD + 1]]).unwrap();
    testing::each_device(|device| {
        let compile = |set| ENGINE.compile_for_device(set, &testing::options(device, "staged=yes"));
        assert_eq!(compile(&set).is_ok(), device.properties().copies_blocks(), "{device:?}");
        let refusal = compile(&long).err();
        assert_eq!(refusal, Some(Refusal::BadOption(CANNOT_STAGE.to_owned())), "{device:?}");
    });
}

/// Searches a text on all devices, in all forms that take the set.
fn check(tests: &mut DeviceTests, set: &PatternSet, text: &[u8]) {
    let right = oracle::find_all(set, text);
    for device in &inventory().devices {
        for (form, shape) in FORMS.iter().flat_map(|f| shapes(device).map(move |s| (f, s))) {
            let opt = testing::options(device, &format!("form={form},{shape}"));
            let what = format!("form={form},{shape} on {device:?}");
            let compiled = ENGINE.compile_for_device(set, &opt);
            let compiled = tests.accepted(&what, compiled, |why| may_refuse(form, why));
            let Some(matcher) = compiled else { continue };
            let mut found = Collect::default();
            let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut found);
            assert!(found.sorted() == right, "{what}: {}", matcher.search().describe());
            tests.checked(format!("{device:?}"));
        }
    }
}

#[test]
fn blocks_of_text_take_no_room_that_hostile_text_needs() {
    let fit = |slots: usize| move |room: usize| (room > 100).then(|| slots.min(room - 100));
    let staged = |staging, slots| Room { loaded: 200, staging }.staged(slots, fit(slots));
    for (slots, expected) in [(60, Some(60)), (61, None), (100, None), (200, None), (201, Some(60))]
    {
        assert_eq!(staged(Staging::IfItPays(160), slots), expected, "{slots} slots");
    }
    assert_eq!(staged(Staging::Always(160), 100), Some(60));
    assert_eq!(staged(Staging::Always(100), 201), None, "no room for contexts");
    assert_eq!(staged(Staging::Never, 201), None);
}

#[test]
fn kernels_for_staged_text_are_in_their_ptx() {
    let mut entries: Vec<&str> = STAGED.entries().collect();
    let mut listed = STAGED.kernels.to_vec();
    entries.sort_unstable();
    listed.sort_unstable();
    assert_eq!(entries, listed);
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
    let mut tests = testing::tests();
    let all: Vec<u8> = (0..=255).collect();
    for (seed, alphabet) in [&b"ab"[..], b"acgt", b"abcdefghijklmnop", &all].iter().enumerate() {
        let text = letters(seed as u64 + 7, 20_000, alphabet);
        for least in [1, 4] {
            let lengths = (0..400).map(|i| least + i % 60);
            check(&mut tests, &PatternSet::new(cuts(&text, lengths, 5)).unwrap(), &text);
        }
    }
}

#[test]
fn patterns_much_longer_than_a_share_are_followed_behind_it() {
    let mut tests = testing::tests();
    let text = letters(3, 30_000, b"ab\0\xff");
    let mut patterns = cuts(&text, [1, 2, 3, 500, 5_001, 7_777].into_iter().cycle().take(30), 9);
    patterns.extend([1, 2, 63, 64, 65, 5_001].map(|n| vec![b'c'; n]));
    let text = [&text[..], &[b'c'; 9_000], &text[..100]].concat();
    check(&mut tests, &PatternSet::new(patterns).unwrap(), &text);
}

/// Many heads before one tail with many branches: the number of stored transitions grows with the
/// square of the set's size, which only the linked form takes.
#[test]
fn hostile_sets_are_taken() {
    let mut tests = testing::tests();
    let tails = (0..256u32).map(|c| [b"aaaaa".as_slice(), &[c as u8], b"zz"].concat());
    let runs = (0..1000u32).map(|i| [&i.to_le_bytes()[..], &[b'a'; 100]].concat());
    let patterns: Vec<Vec<u8>> = tails.chain(runs).collect();
    let set = PatternSet::new(&patterns).unwrap();
    for device in &inventory().devices {
        let about = DfaSearch::new(&set, &Options::default(), device).unwrap().describe();
        assert!(about.contains("linked"), "{about}");
        tests.checked(format!("{device:?}"));
    }
    let mut text = patterns.concat();
    text.truncate(40_000);
    text.extend([b'a'; 1000]);
    check(&mut tests, &set, &text);
}

#[test]
fn nested_patterns_are_counted_beyond_what_a_word_can_count() {
    let mut tests = testing::tests();
    let patterns: Vec<Vec<u8>> = (1..=70).map(|n| vec![b'a'; n]).collect();
    let mut text = vec![b'a'; 3_000];
    text[1_700] = b'b';
    check(&mut tests, &PatternSet::new(&patterns).unwrap(), &text);
    count_all(&mut tests, &PatternSet::new(patterns).unwrap(), &text);
}

/// Heads that share tails, and texts that leave each tail at every byte for another one. Paths are
/// left for a transition that their state stores beside them, and for the default of the context.
#[test]
fn paths_are_left_where_the_text_leaves_them() {
    let mut tests = testing::tests();
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
    check(&mut tests, &set, &text);
    count_all(&mut tests, &set, &text);
    for device in &inventory().devices {
        for (form, shared) in [("bytes", 140_000), ("classes", 8_000)] {
            let opt = Options::with_params(&format!("form={form},shared={shared}")).unwrap();
            let what = format!("form={form}, on {device:?}");
            let search = DfaSearch::new(&set, &opt, device);
            let search = tests.accepted(&what, search, |why| may_refuse(form, why));
            let Some(DfaSearch { tables, .. }) = search else { continue };
            assert!(tables.paths > 100, "{form}: {} of {}", tables.paths, tables.slot_count);
        }
        tests.checked(format!("{device:?}"));
    }
}

#[test]
fn case_is_ignored_where_a_pattern_does() {
    let mut tests = testing::tests();
    let text = letters(11, 12_000, b"aAbBzZ[@`{0\xc1");
    let mut b = PatternSet::builder();
    for (i, cut) in cuts(&text, (1..40).cycle().take(150), 2).iter().enumerate() {
        b.push_with(PatternId(i as u32), cut, i % 3 == 0).unwrap();
    }
    check(&mut tests, &b.build(), &text);
}

/// Counts a text in all forms that take the set; a match counts once for each id of its pattern.
fn count_all(tests: &mut DeviceTests, set: &PatternSet, text: &[u8]) {
    let right = oracle::find_all(set, text).len() as u64;
    for device in &inventory().devices {
        let queue = device.queue().unwrap();
        let padded = [&[b'x'; PAD][..], text, &[b'x'; 2 * PAD]].concat();
        let buffer = device.upload(&queue, &padded).unwrap();
        let tile = Tile::new(&buffer, PAD, text.len(), 0);
        let mut workspace = Workspace::open(device).unwrap();
        for (form, shape) in FORMS.iter().flat_map(|f| shapes(device).map(move |s| (f, s))) {
            let opt = Options::with_params(&format!("form={form},{shape}")).unwrap();
            let what = format!("form={form},{shape} on {device:?}");
            let compiled = DfaSearch::new(set, &opt, device);
            let compiled = tests.accepted(&what, compiled, |why| may_refuse(form, why));
            let Some(dfa) = compiled else { continue };
            assert_eq!(dfa.counted(&mut workspace, tile).unwrap(), right, "{what}");
            tests.checked(format!("{device:?}"));
        }
    }
}

#[test]
fn what_is_counted_is_what_is_found() {
    let mut tests = testing::tests();
    for (seed, alphabet) in [&b"ab"[..], b"acgt", b"abcdefghijklmnop"].iter().enumerate() {
        let text = letters(seed as u64 + 1, 20_001, alphabet);
        let lengths = (0..300).map(|i| 1 + i % 50);
        count_all(&mut tests, &PatternSet::new(cuts(&text, lengths, 3)).unwrap(), &text);
    }
}

#[test]
fn an_overlap_owns_nothing_that_ends_in_it() {
    let text = letters(5, 10_000, b"abc");
    let set = PatternSet::new(cuts(&text, (1..90).cycle().take(120), 8)).unwrap();
    testing::each_device(|device| {
        for overlap in [1, 15, 31, 32, 33, 88, 100, 4_097] {
            for shape in shapes(device) {
                let matcher = testing::compile(&ENGINE, &set, device, shape);
                let block = Block { bytes: &text, overlap, offset: 0 };
                let mut found = Collect::default();
                let _ = matcher.scan(block, &mut Scratch::new(), &mut found);
                let mut right = oracle::find_all(&set, &text);
                right.retain(|m| m.end as usize > overlap);
                let mut count = Count::default();
                let _ = matcher.scan(block, &mut Scratch::new(), &mut count);
                assert_eq!(count.matches, right.len() as u64, "{device:?} {overlap} {shape}");
                assert!(found.sorted() == right, "{device:?} {overlap} {shape}");
            }
        }
    });
}

#[test]
fn positions_are_even_and_cover_a_tile() {
    let set = PatternSet::new(["abc"]).unwrap();
    testing::each_device(|device| {
        let dfa = DfaSearch::new(&set, &Options::default(), device).unwrap();
        let shape = dfa.counting.shape;
        let threads = u64::from(shape.groups * shape.items);
        for bytes in [0, 1, 63, 64, 1_000, 1 << 20, 64 << 20, 2 << 30, (2 << 30) + 17] {
            let (positions, groups) = dfa.divide(shape, bytes);
            assert!(positions % STEP == 0 && positions <= POSITIONS && groups >= 1);
            let at_a_time = u64::from(positions) * u64::from(groups * shape.items);
            assert!(groups == shape.groups || at_a_time >= u64::from(bytes));
            let times = u64::from(bytes).div_ceil(threads * u64::from(positions));
            assert!(times <= u64::from(bytes).div_ceil(threads * u64::from(POSITIONS)).max(1));
        }
    });
}
