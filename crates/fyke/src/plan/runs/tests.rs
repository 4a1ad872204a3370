use super::*;
use fyke_core::{Collect, Count, PatternId, StreamMatch, oracle};

/// Sets with patterns of one byte, beginnings and ends like them, and letters of both cases.
fn sets() -> Vec<PatternSet> {
    let nul = |len: usize| vec![0; len];
    let ended = |len: usize, with: &[u8]| [&nul(len)[..], with].concat();
    let begun = |len: usize, with: &[u8]| [with, &nul(len)[..]].concat();
    let zeros = vec![nul(4), nul(9), nul(1), ended(7, b"ab"), begun(6, b"x"), begun(30, b"\x01")];
    let mut cases = PatternSet::builder();
    for (id, bytes, nocase) in [
        (1, "aaaa", true),
        (2, "AAAA", false),
        (3, "aaa", false),
        (3, "aaa", false),
        (4, "aaaaaaab", true),
        (5, "baaaaa", false),
        (6, "Aaaaa", false),
        (9, "aaa", false),
    ] {
        cases.push_with(PatternId(id), bytes, nocase).unwrap();
    }
    vec![
        PatternSet::new(zeros).unwrap(),
        PatternSet::new([ended(5, b"a"), b"abc".to_vec()]).unwrap(),
        PatternSet::new((1..80).map(|len| vec![b'a'; len])).unwrap(),
        cases.build(),
        // Whole runs of the haystacks lie within matches.
        PatternSet::new(
            [LEAST + 2, LEAST + 5].map(|len| [b"x", &vec![b'a'; len][..], b"x"].concat()),
        )
        .unwrap(),
        PatternSet::new([[b"b", &nul(LEAST + 90)[..], b"ab"].concat(), nul(3)]).unwrap(),
    ]
}

/// Haystacks of runs of all lengths near the least one, with other bytes between them.
fn haystacks() -> Vec<Vec<u8>> {
    let between: [&[u8]; 6] = [b"", b"ab", b"x", b"A", b"baaaa", b"\x01"];
    let lengths = [0, 1, STEP, 2 * STEP - 1, LEAST - 1, LEAST, LEAST + 3, LEAST + 90, 700];
    let mut all = Vec::new();
    for (i, between) in between.into_iter().enumerate() {
        for bytes in [[0, b'a'], [b'A', b'a'], [b'a', b'a']] {
            let mut haystack = vec![b'x'; i];
            for (k, len) in lengths.into_iter().enumerate() {
                haystack.extend(vec![bytes[k % 2]; len + i]);
                haystack.extend(between);
            }
            all.push(haystack);
        }
    }
    all
}

/// Finds matches by the oracle outside of the runs that are cut out, and by the runs inside.
fn find(set: &PatternSet, block: Block<'_>) -> (Vec<StreamMatch>, usize) {
    let (runs, mut records) = (Runs::new(set), RunRecords::default());
    let (mut from, mut history, mut cut) = (block.overlap, block.overlap, 0);
    let mut found = Vec::new();
    while let Some(run) = runs.next(block.bytes, from) {
        assert!(from <= run.settled && run.settled + LEAST <= run.end);
        found.extend(oracle::find_owned(set, block.part(from, run.settled, history)));
        let (mut inside, mut count) = (Collect::default(), Count::default());
        assert!(runs.emit(run, &block, set, &mut records, &mut inside).is_continue());
        assert!(runs.emit(run, &block, set, &mut records, &mut count).is_continue());
        assert_eq!(inside.matches.len() as u64, count.matches);
        found.append(&mut inside.matches);
        (from, history, cut) = (run.end, run.history, cut + run.end - run.settled);
    }
    found.extend(oracle::find_owned(set, block.part(from, block.bytes.len(), history)));
    (found, cut)
}

#[test]
fn what_is_cut_out_and_what_is_left_have_all_matches_in_order() {
    for set in sets() {
        for haystack in haystacks() {
            let (found, cut) = find(&set, Block::whole(&haystack));
            assert!(cut > haystack.len() / 8, "{cut} of {}", haystack.len());
            assert_eq!(found, oracle::find_all(&set, &haystack));
        }
    }
}

#[test]
fn pieces_may_be_cut_within_runs() {
    for set in sets() {
        let haystack: Vec<u8> = haystacks().concat();
        let haystack = &haystack[..haystack.len().min(6000)];
        let wanted = oracle::find_all(&set, haystack);
        for size in [131, 257, 1024] {
            let pieces = Block::whole(haystack).pieces(size, set.overlap());
            let found: Vec<_> = pieces.flat_map(|piece| find(&set, piece).0).collect();
            assert!(found == wanted, "{size}");
        }
    }
}

#[test]
fn a_run_is_cut_out_from_the_least_length_on() {
    let set = PatternSet::new(["aaaa"]).unwrap();
    let runs = Runs::new(&set);
    let haystack = |len| [vec![b'-'; 5], vec![b'a'; len], vec![b'-'; 100]].concat();
    assert_eq!(runs.next(&haystack(LEAST + 2), 0), None);
    let run = Run { byte: b'a', settled: 8, end: 8 + LEAST, history: 3 };
    assert_eq!(runs.next(&haystack(LEAST + 3), 0), Some(run));
    assert_eq!(runs.next(&haystack(LEAST + 3), run.end), None);
    assert_eq!(runs.next(b"", 0), None);
}

#[test]
fn a_sink_that_breaks_gets_no_more() {
    struct Once(usize);
    impl Sink for Once {
        fn on_batch(&mut self, _: &Batch<'_>) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Break(())
        }
    }
    let set = PatternSet::new(["aaaa", "aaa"]).unwrap();
    let (runs, haystack) = (Runs::new(&set), [b'a'; 10_000]);
    let run = runs.next(&haystack, 0).unwrap();
    let (mut records, mut sink) = (RunRecords::default(), Once(0));
    let block = Block::whole(&haystack);
    assert!(runs.emit(run, &block, &set, &mut records, &mut sink).is_break());
    assert_eq!(sink.0, 1);
}
