use super::*;
use crate::device::inventory;
use crate::matcher::PAD;
use crate::testing;
use fyke_core::sink::{Collect, Count};
use fyke_core::{
    Block, Fingerprint, Matcher, PackedHaystacks, PatternId, Scratch, StreamMatch, oracle,
};
use fyke_testkit::devices::DeviceTests;
use std::ops::Range;

/// A text of few letters, from which patterns are cut.
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

fn check(tests: &mut DeviceTests, set: &PatternSet, text: &[u8], options: &str) {
    check_with(tests, set, text, options, |opt| opt);
}

/// Whether the tables that an option asks for, of 64 KiB, exceed the shared memory of a device.
/// NVIDIA's OpenCL gives a group 48 KiB.
fn may_refuse(options: &str, why: &Refusal) -> bool {
    let (what, need) = ("bytes of shared memory", 64 << 10);
    options == "pairs=near"
        && matches!(*why, Refusal::TooBig { what: w, need: n, have } if (w, n) == (what, need) && have < need)
}

fn check_with(
    tests: &mut DeviceTests,
    set: &PatternSet,
    text: &[u8],
    options: &str,
    more: impl Fn(Options) -> Options,
) {
    for device in &inventory().devices {
        let opt = more(testing::options(device, options));
        let what = format!("{options}, on {device:?}");
        let compiled = ENGINE.compile_for_device(set, &opt);
        let compiled = tests.accepted(&what, compiled, |why| may_refuse(options, why));
        let Some(matcher) = compiled else { continue };
        let mut found = Collect::default();
        let _ = matcher.scan(Block::whole(text), &mut Scratch::new(), &mut found);
        let expected = oracle::find_all(set, text);
        assert!(found.sorted() == expected, "{device:?}, {options}");
        // In one block, and in two blocks of which the second has an overlap.
        for cut in [0, text.len() / 3] {
            let mut count = Count::default();
            let (whole, overlap) = (Block::whole(text), set.overlap());
            let _ = matcher.scan(whole.part(0, cut, overlap), &mut Scratch::new(), &mut count);
            let _ =
                matcher.scan(whole.part(cut, text.len(), overlap), &mut Scratch::new(), &mut count);
            let want = expected.len() as u64;
            assert_eq!(count.matches, want, "{device:?}, {options}, cut at {cut}");
        }
        tests.checked(format!("{device:?}"));
    }
}

#[test]
fn slots_of_many_patterns_are_split_and_none_is_lost() {
    let mut tests = testing::tests();
    // All have the window `-key-` or nothing else, so the bytes beside it distinguish them.
    let mut b = PatternSet::builder();
    let mut text = random(4, 9_000, 5);
    for i in 0..90usize {
        let (before, after) = (random(i as u64, i % 7, 26), random(77 + i as u64, i / 11, 26));
        let pattern = [&before[..], b"-key-", &after].concat();
        if b.push_with(PatternId(i as u32), &pattern, i % 4 == 1).is_ok() {
            text.extend(&pattern);
            text.extend(pattern.to_ascii_uppercase());
            text.extend(&pattern[1..]);
        }
    }
    let set = b.build();
    for device in &inventory().devices {
        let tables = FilterTables::build(&set, &Options::default(), "2", device.properties());
        let tables = tables.unwrap().unwrap();
        assert!(tables.slots.len() > 4 << tables.slot_log, "there are parts after the slots");
        tests.checked(format!("{device:?}"));
    }
    for stride in ["auto", "2"] {
        check(&mut tests, &set, &text, &format!("stride={stride}"));
    }
}

#[test]
fn a_sample_of_any_text_changes_no_match() {
    let mut tests = testing::tests();
    let text = random(8, 40_000, 3);
    let mut b = PatternSet::builder();
    for i in 0..300usize {
        let pattern = &text[131 * i..][..4 + i % 23];
        b.push_with(PatternId(i as u32), pattern, i % 3 == 0).unwrap();
    }
    let set = b.build();
    for sample in [&b""[..], b"ab", &text, &random(9, 5_000, 26)] {
        for stride in ["auto", "2"] {
            let sampled = |opt: Options| opt.sampled(sample);
            check_with(&mut tests, &set, &text, &format!("stride={stride}"), sampled);
        }
    }
}

/// Bytes of shared memory with which every set of these tests can be counted.
const COUNTING: u64 = 64 << 10;

/// What a search counts in a tile with an overlap, if it counts, on every device.
fn check_count(
    tests: &mut DeviceTests,
    set: &PatternSet,
    text: &[u8],
    overlap: u32,
    wanted: Option<u64>,
    about: &str,
) {
    for device in &inventory().devices {
        let matcher = testing::compile(&ENGINE, set, device, "");
        let mut workspace = Workspace::open(device).unwrap();
        let padded = [&[0; PAD][..], text, &[0; 2 * PAD]].concat();
        let buffer = device.upload(workspace.queue(), &padded).unwrap();
        let tile = Tile::new(&buffer, PAD, text.len(), overlap as usize);
        let counted = matcher.search().count(&mut workspace, tile).transpose().unwrap();
        if wanted.is_some() && counted.is_none() {
            // NVIDIA's OpenCL offers 48 KiB of shared memory, too little for the counting kernel.
            let have = u64::from(device.properties().shared);
            let small = Refusal::TooBig { what: "bytes of shared memory", need: COUNTING, have };
            let enough = |_: &Refusal| have < COUNTING;
            tests.accepted::<()>(&format!("counting on {device:?}"), Err(small), enough);
            continue;
        }
        assert_eq!(counted, wanted, "{device:?}, {about}");
        tests.checked(format!("{device:?}"));
    }
}

#[test]
fn every_overlap_leaves_out_what_ends_in_it() {
    let mut tests = testing::tests();
    let mut b = PatternSet::builder();
    let patterns =
        ["0", "00", "000", "0000", "00000000", "1", "01", "001", "0011", "110", "1111111"];
    for (i, bytes) in patterns.iter().enumerate() {
        for id in 0..1 + i % 3 {
            b.push_with(PatternId((10 * i + id) as u32), bytes, false).unwrap();
        }
    }
    let set = b.build();
    let text = b"0000000000000000000000000000000000000000110000000000011111111111111100000011010000000000000000000";
    let all = oracle::find_all(&set, text);
    for overlap in 0..text.len() {
        let wanted = all.iter().filter(|m| m.end > overlap as u64).count() as u64;
        check_count(
            &mut tests,
            &set,
            text,
            overlap as u32,
            Some(wanted),
            &format!("overlap {overlap}"),
        );
    }
    for bytes in 0..text.len() {
        let wanted = all.iter().filter(|m| m.end <= bytes as u64).count() as u64;
        check_count(&mut tests, &set, &text[..bytes], 0, Some(wanted), &format!("{bytes} bytes"));
    }
}

#[test]
fn patterns_of_all_lengths_and_cases_are_counted_by_their_ids() {
    let mut tests = testing::tests();
    for (seed, letters) in [(3, 2), (4, 3), (5, 20)] {
        let text: Vec<u8> = random(seed, 30_000, letters)
            .iter()
            .enumerate()
            .map(|(i, b)| if i % 7 < 2 { b.to_ascii_uppercase() } else { *b })
            .collect();
        for least in [1, 3, 4, 11] {
            let mut b = PatternSet::builder();
            for i in 0..60 {
                let (len, at) = (least + i % 13, 131 * i);
                let id = PatternId((i / 2) as u32);
                b.push_with(id, &text[at..at + len], i % 3 == 0).unwrap();
                b.push_with(PatternId(1000 + i as u32), &text[at..at + len], i % 3 == 0).unwrap();
            }
            let set = b.build();
            let want = Some(oracle::find_all(&set, &text).len() as u64);
            check_count(
                &mut tests,
                &set,
                &text,
                0,
                want,
                &format!("{letters} letters, from {least}"),
            );
        }
    }
}

#[test]
fn sets_of_short_patterns_alone_are_counted() {
    let mut tests = testing::tests();
    for (seed, letters) in [(11, 2), (12, 9), (13, 26)] {
        let text = random(seed, 20_000, letters);
        let mut b = PatternSet::builder();
        for i in 0..40 {
            let at = 17 * i;
            b.push_with(PatternId(i as u32), &text[at..=at + i % 3], i % 4 == 0).unwrap();
        }
        let set = b.build();
        for (bytes, overlap) in [(20_000, 0), (20_000, 5), (18_432, 2_047), (18_433, 2_049), (3, 0)]
        {
            let found = oracle::find_all(&set, &text[..bytes]);
            let want = found.iter().filter(|m| m.end > overlap.into()).count() as u64;
            let about = format!("{letters} letters, {bytes} bytes, overlap {overlap}");
            check_count(&mut tests, &set, &text[..bytes], overlap, Some(want), &about);
        }
    }
}

#[test]
fn more_ids_than_a_number_has_room_for_are_counted() {
    let mut tests = testing::tests();
    for (pattern, most) in [("b", 127), ("ab", 127), ("abc", 63), ("abcabc", 65_535)] {
        for ids in [most, most + 1, 3 * most] {
            let mut b = PatternSet::builder();
            for id in 0..ids {
                b.push_with(PatternId(id), pattern, id % 5 == 1 && pattern != "abcabc").unwrap();
            }
            // Neighbors in the table of what is marked.
            let others = ["a", "ab", "bc", "xab", "bca", "cab", "abcdef"];
            for (i, other) in others.iter().enumerate() {
                b.push_with(PatternId(ids + i as u32), other, i % 2 == 0).unwrap();
            }
            let (set, text) = (b.build(), b"abcabcabcABCabcxab");
            let all = oracle::find_all(&set, text);
            for overlap in 0..=text.len() as u32 {
                let wanted = all.iter().filter(|m| m.end > overlap.into()).count() as u64;
                let about = format!("{ids} ids of {pattern}, overlap {overlap}");
                check_count(&mut tests, &set, text, overlap, Some(wanted), &about);
            }
            check(&mut tests, &set, text, "");
        }
    }
}

#[test]
fn long_patterns_are_counted_up_to_a_limit_that_is_said() {
    let mut tests = testing::tests();
    let text = random(5, 30_000, 3);
    let set = |bytes: usize| {
        PatternSet::new([&text[77..77 + bytes], &text[100..105], &text[5..8], &text[9..10]])
            .unwrap()
    };
    for bytes in [513, 4095, 4096, 4097] {
        let set = set(bytes);
        check(&mut tests, &set, &text, "");
        for device in &inventory().devices {
            let matcher = testing::compile(&ENGINE, &set, device, "");
            let has_room = u64::from(device.properties().shared) >= COUNTING;
            if bytes > 4096 {
                let why = matcher.why_uncounted();
                assert!(why.contains("more than 4096 bytes, of which it has 1"), "{why}");
            } else if has_room {
                assert_eq!(matcher.search().why_uncounted(), None);
                let want = oracle::find_all(&set, &text).len() as u64;
                check_count(&mut tests, &set, &text, 0, Some(want), &format!("{bytes} bytes"));
            }
            tests.checked(format!("{device:?}"));
        }
    }
}

#[test]
fn short_patterns_are_found_wherever_the_table_of_pairs_is() {
    let mut tests = testing::tests();
    for (seed, letters, bytes) in [(21, 2, 5_000), (22, 9, 20_000), (23, 26, 4_097), (24, 3, 2)] {
        let text = random(seed, bytes, letters);
        let mut b = PatternSet::builder();
        for i in 0..60usize {
            let at = 17 * i % bytes.saturating_sub(4).max(1);
            let cut = &text[at..(at + 1 + i % 4).min(bytes)];
            b.push_with(PatternId(i as u32), cut, i % 4 == 0).unwrap();
        }
        let set = b.build();
        for pairs in ["pairs=auto", "pairs=near", "pairs=far"] {
            check(&mut tests, &set, &text, pairs);
        }
        for log in ["table=8", "table=15"] {
            check(&mut tests, &set, &text, log);
        }
    }
}

#[test]
fn every_length_is_found_at_every_start() {
    let mut tests = testing::tests();
    let text = random(7, 20_000, 4);
    for (stride, least) in
        [("stride=2", 1), ("stride=4", 7), ("stride=4-wide", 11), ("stride=auto", 1)]
    {
        let cuts = (least..60).map(|len| text[len * 131..len * 132].to_vec());
        check(&mut tests, &PatternSet::new(cuts).unwrap(), &text, stride);
    }
}

#[test]
fn more_records_than_there_was_room_for_are_all_found() {
    let mut tests = testing::tests();
    let text = vec![b'a'; 10_000];
    check(
        &mut tests,
        &PatternSet::new(["aaaa", "aaaaa", "aaaaaaaaaaaaaaaaaaaaaaa"]).unwrap(),
        &text,
        "stride=auto",
    );
    check(&mut tests, &PatternSet::new(["a", "aa", "aaa", "aaaa"]).unwrap(), &text, "");
}

/// From this many entries on, a slot keeps their number in an entry of its own.
#[test]
fn patterns_that_differ_late_are_all_found() {
    let mut tests = testing::tests();
    let front = "these bytes are the same in all, as far as windows are looked for in a pattern: ";
    let patterns: Vec<_> = (0..6000).map(|i| format!("{front}{i:04}")).collect();
    let set = PatternSet::new(&patterns).unwrap();
    for device in &inventory().devices {
        let tables = FilterTables::build(&set, &Options::default(), "2", device.properties());
        let tables = tables.unwrap().unwrap();
        assert!(tables.slots.chunks(4).any(|slot| slot[0] & 63 == 63), "no slot has 63 entries");
        tests.checked(format!("{device:?}"));
    }
    let text: Vec<u8> = (0..6000).step_by(331).flat_map(|i| patterns[i].bytes()).collect();
    for stride in ["2", "4", "4-wide"] {
        check(&mut tests, &set, &text, &format!("stride={stride}"));
    }
}

#[test]
fn runs_are_found_at_every_length_and_place() {
    let mut tests = testing::tests();
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
            check(&mut tests, &set, &text[cut..], "stride=2");
            check(&mut tests, &set, &text[..text.len() - cut], "stride=2");
            // With a history that begins or ends in a run.
            let all = oracle::find_all(&set, &text);
            let wanted = all.iter().filter(|m| m.end > 2 * cut as u64).count() as u64;
            check_count(
                &mut tests,
                &set,
                &text,
                2 * cut as u32,
                Some(wanted),
                &format!("overlap {}", 2 * cut),
            );
        }
    }
}

/// Haystacks of one size. Every third pattern of each is not sought.
struct Cut(u64);

impl Cut {
    fn is_sought(haystack: usize, pattern: u32) -> bool {
        !(haystack + pattern as usize).is_multiple_of(3)
    }
}

impl PackedHaystacks for Cut {
    fn haystack(&self, at: u64) -> (usize, Range<u64>) {
        let first = at / self.0 * self.0;
        ((at / self.0) as usize, first..first + self.0)
    }

    fn take(&self, haystack: usize, pattern: u32, _: u64) -> bool {
        Cut::is_sought(haystack, pattern)
    }
}

#[test]
fn runs_end_where_packed_haystacks_do() {
    // Sorted, so that ids are dense indices.
    let zeros = |n| vec![0; n];
    let set = [zeros(4), zeros(5), zeros(9), zeros(40), b"\0\0\0A".to_vec(), vec![255; 6]];
    let set = PatternSet::new(set).unwrap();
    let mut text = Vec::new();
    for n in 0..80 {
        text.extend([zeros(n), b"Ax".to_vec(), vec![255; n / 3]].concat());
    }
    let all = oracle::find_all(&set, &text);
    testing::each_device(|device| {
        let matcher = testing::compile(&ENGINE, &set, device, "");
        for size in [7, 64, 100, 5000] {
            let cut = Cut(size);
            let is_wanted = |m: &&StreamMatch| {
                let (haystack, span) = cut.haystack(m.end - 1);
                m.start >= span.start && Cut::is_sought(haystack, m.pattern.0)
            };
            let expected: Vec<_> = all.iter().filter(is_wanted).copied().collect();
            let (mut found, scratch) = (Collect::default(), &mut Scratch::new());
            let block = Block::whole(&text);
            assert!(matcher.scan_packed(block, &cut, scratch, &mut found).is_continue());
            assert!(found.sorted() == expected && !expected.is_empty(), "haystacks of {size}");
        }
    });
}

#[test]
fn patterns_that_begin_with_a_long_run_are_found_beside_runs() {
    let mut tests = testing::tests();
    for zeros in [3, 5, 62, 66, 67, 68, 100, 600] {
        let long = [&vec![0; zeros][..], b"A"].concat();
        let set = PatternSet::new([&[0; 4][..], &long[..], &[b' '; 70][..], b"   !"]).unwrap();
        let mut text = vec![b'x'; 33];
        for n in [zeros - 1, zeros, zeros + 1, zeros + 2, 2 * zeros + 50] {
            text.extend(vec![0; n]);
            text.extend(b"A");
            text.extend(vec![b' '; n]);
            text.extend(b"!");
        }
        for cut in 0..4 {
            check(&mut tests, &set, &text[cut..], "stride=2");
        }
    }
}

#[test]
fn letters_inside_of_runs_of_both_cases_are_found() {
    let mut tests = testing::tests();
    let mut b = PatternSet::builder();
    let long = [&[b'a'; 80][..], b"Z"].concat();
    b.push_with(PatternId(1), "aaaa", false).unwrap();
    b.push_with(PatternId(2), &long, true).unwrap();
    b.push_with(PatternId(3), "bbbbb", true).unwrap();
    b.push_with(PatternId(4), "ccccd", true).unwrap();
    let mut text = Vec::new();
    for n in 70..90 {
        text.extend(vec![b'a'; n]);
        text.extend(b"zBbbBBbbbbbbbbbbbbbbbbbbbbbbbb");
        text.extend(vec![b'C'; n]);
        text.push(b'D');
    }
    check(&mut tests, &b.build(), &text, "stride=2");
}

/// More than a million candidates, at which a tile is given up.
#[test]
fn a_tile_that_is_all_candidates_is_left_to_the_automaton() {
    let text = random(11, 6 << 20, 2);
    let cuts = (0..40).map(|i| text[i * 131..i * 131 + 9 + i % 5].to_vec());
    let plain = PatternSet::new(cuts.clone()).unwrap();
    let mut mixed = PatternSet::builder();
    for (i, cut) in cuts.enumerate() {
        mixed.push_with(PatternId(i as u32), &cut, i % 2 == 0).unwrap();
    }
    for (set, gives_up) in [(plain, true), (mixed.build(), false)] {
        let expected = {
            let matcher = fyke_automata::nfa::Nfa::compile(ENGINE.info, &set, &Options::default());
            let mut sum = Fingerprint::default();
            let _ = matcher.unwrap().scan(Block::whole(&text), &mut Scratch::new(), &mut sum);
            sum
        };
        testing::each_device(|device| {
            for counts_first in [false, true] {
                let matcher = testing::compile(&ENGINE, &set, device, "stride=2");
                let (mut sum, mut count) = (Fingerprint::default(), Count::default());
                for counts in [counts_first, !counts_first] {
                    let sink: &mut dyn fyke_core::Sink = if counts { &mut count } else { &mut sum };
                    let _ = matcher.scan(Block::whole(&text), &mut Scratch::new(), sink);
                }
                assert_eq!((sum.matches, sum.sum), (expected.matches, expected.sum));
                assert_eq!(count.matches, expected.matches);
                assert_eq!(matcher.describe().contains("are left to"), gives_up);
            }
        });
    }
}

#[test]
fn runs_of_letters_that_ignore_case_are_found_beside_those_that_do_not() {
    let mut tests = testing::tests();
    let mut b = PatternSet::builder();
    for (bytes, nocase) in
        [("aaaaa", true), ("aaaa", false), ("AAAAAAA", false), ("bbbb", false), ("0000", true)]
    {
        b.push_with(fyke_core::PatternId(1), bytes, nocase).unwrap();
    }
    let text = b"aaaaaaaaAAAAAAAaaaaaAaAaAaaaaaaaaabbbbbbbbBBBBBB0000000000000000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    check(&mut tests, &b.build(), text, "stride=2");
}
