//! Every rival finds what the oracle finds, or says why it takes no part.

use fyke_core::{Block, PatternId, PatternSet};
use fyke_rivals::hyperscan;
use fyke_rivals::libhs::Mode;
use fyke_rivals::{Job, RIVALS, Rival, SetCall, Tally, Work};

/// (name, patterns with their nocase flags, haystack)
type Case = (&'static str, &'static [(&'static [u8], bool)], &'static [u8]);

const CASES: &[Case] = &[
    ("overlaps", &[(b"a", false), (b"aa", false), (b"aba", false)], b"aaabababaaa"),
    (
        "bytes",
        &[(b"\x00\xff", false), (b"\x00", false), (b"\xff\x00.", false)],
        b"\0\xff\0.\xff\0\0",
    ),
    ("special", &[(b"a.c", false), (b"[x]\\", false), (b"$^", false)], b"abc a.c [x]\\ $^"),
    ("nocase", &[(b"he", true), (b"She", true), (b"hers", true)], b"uSHErs HE sheHeRS"),
    (
        "mixed",
        &[(b"Ab", false), (b"AB", true), (b"aB", false), (b"c\xe9", true)],
        b"abAbaBABC\xe9c\xe9",
    ),
    ("none", &[(b"zz", false)], b"abcabc"),
];

fn set(patterns: &[(&[u8], bool)]) -> PatternSet {
    let mut builder = PatternSet::builder();
    for (id, (bytes, nocase)) in patterns.iter().enumerate() {
        builder.push_with(PatternId(id as u32), bytes, *nocase).unwrap();
    }
    builder.build()
}

/// The tally of what ends after `overlap`, from the definition of a match.
fn expected(set: &PatternSet, haystack: &[u8], overlap: usize) -> Tally {
    let mut tally = Tally::default();
    for end in overlap + 1..=haystack.len() {
        for p in set.iter().filter(|p| p.bytes.len() <= end) {
            if p.is_match(&haystack[end - p.bytes.len()..end]) {
                tally.count += 1;
                let hash = fyke_core::sink::fingerprint_of(end as u64, u64::from(p.index));
                tally.sum = tally.sum.wrapping_add(hash);
            }
        }
    }
    tally
}

fn check(rival: &dyn Rival, (name, patterns, haystack): &Case) {
    let set = set(patterns);
    let job =
        Job { set: &set, sample: haystack, threads: 1, expected_call: None, memory_limit: 1 << 30 };
    let built = rival.build(&job).unwrap_or_else(|e| panic!("{}: {name}: {e}", rival.name()));
    let mut scanner = built.scanner().unwrap();
    for overlap in [0, 3] {
        let block = Block { bytes: haystack, overlap, offset: 0 };
        let want = expected(&set, haystack, overlap);
        let got = scanner.scan(block, Work::Fingerprint).unwrap();
        assert_eq!(got, want, "{}: {name}, overlap {overlap}", rival.name());
        let count = scanner.scan(block, Work::Count).unwrap().count;
        let touched = scanner.scan(block, Work::Touch).unwrap().count;
        assert_eq!((count, touched), (want.count, want.count));
    }
    let split = built.scan_threads(haystack, set.overlap(), 3, Work::Fingerprint).unwrap();
    assert_eq!(split, expected(&set, haystack, 0), "{}: {name}, three threads", rival.name());
    assert!(built.memory().is_some_and(|m| m.bytes > 0));
}

/// All sets together, each scanning every haystack: a scratch has to serve all of them.
fn check_sets(rival: &dyn Rival) {
    let sets: Vec<PatternSet> = CASES.iter().map(|(_, patterns, _)| set(patterns)).collect();
    let job = |set| Job {
        set,
        sample: b"" as &[u8],
        threads: 1,
        expected_call: None,
        memory_limit: 1 << 30,
    };
    let jobs: Vec<Job<'_>> = sets.iter().map(job).collect();
    let built = rival.build_sets(&jobs).unwrap_or_else(|e| panic!("{}: {e}", rival.name()));
    let mut scanner = built.scanner().unwrap();
    let mut all = Tally::default();
    let mut calls = Vec::new();
    for (_, _, haystack) in CASES {
        for (i, set) in sets.iter().enumerate() {
            let call = SetCall { set: i, haystack };
            let want = expected(set, haystack, 0);
            let got = scanner.scan_calls(&[call], Work::Fingerprint).unwrap();
            assert_eq!(got, want, "{}: set {i} in {haystack:?}", rival.name());
            all = all.plus(want);
            calls.push(call);
        }
    }
    assert_eq!(scanner.scan_calls(&calls, Work::Fingerprint), Ok(all), "{}", rival.name());
    assert_eq!(scanner.scan_calls(&calls, Work::Touch).unwrap().count, all.count);
    let separate: u64 = jobs.iter().map(|j| rival.build(j).unwrap().memory().unwrap().bytes).sum();
    let together = built.memory().unwrap().bytes;
    assert!(together > 0 && together <= separate, "{}: {together} of {separate}", rival.name());
}

#[test]
fn rivals_agree_with_the_definition() {
    for rival in RIVALS.iter().filter(|r| r.finds_all()) {
        match rival.version() {
            Ok(_) => {
                CASES.iter().for_each(|case| check(*rival, case));
                check_sets(*rival);
            }
            Err(why) => println!("refused: {}: {why}", rival.name()),
        }
    }
}

/// Streams in chunks of any size have the matches of the whole haystack.
#[test]
fn streams_of_hyperscan_agree_with_the_definition() {
    let library = match hyperscan::open() {
        Ok(library) => library,
        Err(why) => return println!("refused: {why}"),
    };
    for (name, patterns, haystack) in CASES {
        let set = set(patterns);
        let database = library.compile(&set, Mode::Stream).unwrap();
        let want = expected(&set, haystack, 0);
        for chunk in [1, 2, 5, 100] {
            let mut scanner = database.stream_scanner(chunk).unwrap();
            let got = scanner.scan(Block::whole(haystack), Work::Fingerprint);
            assert_eq!(got, Ok(want), "{name}, chunks of {chunk}");
        }
        assert!(database.stream_size().unwrap() > 0);
        assert!(database.scratch_size(haystack).unwrap() > 0);
    }
    let block = library.compile(&set(CASES[0].1), Mode::Block).unwrap();
    assert!(block.stream_size().is_err());
    let scanned = block.stream_scanner(1).unwrap().scan(Block::whole(b"a"), Work::Count);
    assert!(scanned.is_err(), "a stream of a block database");
}

#[test]
fn a_dfa_over_the_limit_is_refused_before_it_is_built() {
    let set = PatternSet::new(["abcdefgh"]).unwrap();
    let job = Job { set: &set, sample: b"", threads: 1, expected_call: None, memory_limit: 100 };
    let refusal = fyke_rivals::aho_corasick::DFA.build(&job).err().expect("9 states of 64 bytes");
    assert!(refusal.to_string().contains("limit"), "{refusal}");
}
