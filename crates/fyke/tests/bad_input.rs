//! Input that is wrong, damaged or empty, and what the types promise.

use fyke::{
    Collect, Count, FindIter, GroupSearcher, Input, MatchKind, PatternSet, Searcher, Semantics,
    Stream, StreamFindIter,
};
use fyke_core::sink::{FNV_BASIS, fnv1a};
use fyke_testkit::random::text;
use std::fmt::Debug;
use std::io::{self, Read};
use std::ops::Bound;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe, catch_unwind};

/// The message that a call panics with.
fn message(call: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).expect_err("a panic");
    match panic.downcast::<String>() {
        Ok(message) => *message,
        Err(other) => (*other.downcast_ref::<&str>().expect("a message")).to_owned(),
    }
}

#[test]
fn spans_outside_of_the_haystack() {
    let of = |span: (Bound<usize>, Bound<usize>)| {
        message(|| {
            let _ = Input::new("12345").span(span);
        })
    };
    let range = |start, end| of((Bound::Included(start), Bound::Excluded(end)));
    assert_eq!(range(3, 2), "span 3..2 of a haystack of 5 bytes");
    assert_eq!(range(3, 6), "span 3..6 of a haystack of 5 bytes");
    assert_eq!(range(6, 6), "span 6..6 of a haystack of 5 bytes");
    assert!(of((Bound::Included(6), Bound::Unbounded)).starts_with("span 6..5 of a haystack"));
    // One past the largest position is none.
    for span in [
        (Bound::Unbounded, Bound::Included(usize::MAX)),
        (Bound::Excluded(usize::MAX), Bound::Unbounded),
        (Bound::Excluded(usize::MAX), Bound::Included(usize::MAX)),
    ] {
        assert!(of(span).contains("of a haystack of 5 bytes"), "{span:?}");
    }
}

#[test]
fn spans_at_the_edges() {
    let searcher = Searcher::new(["ab"]).unwrap();
    let found = |span: (Bound<usize>, Bound<usize>)| searcher.is_match(Input::new("ab").span(span));
    assert!(found((Bound::Included(0), Bound::Included(1))));
    assert!(!found((Bound::Excluded(0), Bound::Unbounded)));
    assert!(!found((Bound::Included(2), Bound::Excluded(2))));
    let input = Input::new("ab").span(1..).anchored(true);
    assert_eq!((input.get_span(), input.is_anchored(), input.haystack()), (1..2, true, &b"ab"[..]));
}

#[test]
fn a_replacement_is_missing() {
    let searcher = Searcher::new(["a", "b"]).unwrap();
    let expected = "no replacement for the pattern with id 1: there are 1";
    assert_eq!(message(|| drop(searcher.replace_all("ab", &["x"]))), expected);
    assert_eq!(message(|| drop(searcher.replace_all_bytes(b"ab", &["x"]))), expected);
    let stream = || drop(searcher.stream_replace_all(&b"ab"[..], io::sink(), &["x"]));
    assert_eq!(message(stream), expected);
    assert_eq!(searcher.replace_all("aa", &["x"]), "xx", "what has no match needs no replacement");
}

#[test]
fn a_match_within_a_character_cannot_be_replaced_in_a_string() {
    let searcher = Searcher::new([&[0xbc_u8][..]]).unwrap();
    assert!(message(|| drop(searcher.replace_all("ü", &["x"]))).contains("char boundary"));
    assert_eq!(searcher.replace_all_bytes("ü".as_bytes(), &["x"]), b"\xc3x");
}

/// Every call finds nothing and ends.
fn finds_nothing(searcher: &Searcher, haystack: &str) {
    for input in [Input::new(haystack), Input::new(haystack).anchored(true)] {
        assert!(!searcher.is_match(input.clone()) && searcher.find(input.clone()).is_none());
        assert_eq!(searcher.earliest(input.clone()), None);
        assert_eq!(searcher.find_iter(input.clone()).count(), 0);
        assert_eq!(searcher.find_overlapping_iter(input).count(), 0);
    }
    let (mut sink, mut counts) = (Collect::default(), Vec::new());
    assert!(searcher.scan_into(haystack, &mut sink).is_continue());
    assert!(searcher.scan_read(haystack.as_bytes(), &mut sink).unwrap().is_continue());
    searcher.once(haystack, |m| assert_eq!(m.end, 0, "a match"));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), haystack).unwrap();
    assert!(searcher.scan_file(file.path(), &mut sink).unwrap().is_continue());
    let mut stream = searcher.stream();
    let _ = stream.feed(haystack.as_bytes(), &mut sink);
    let mut stream = searcher.restore(&stream.save()).unwrap();
    let _ = stream.feed(haystack.as_bytes(), &mut sink);
    let _ = stream.finish(&mut sink);
    assert_eq!((sink.matches.len(), searcher.count(haystack)), (0, 0));
    searcher.count_batch([haystack, haystack], &mut counts);
    assert_eq!(counts, [0, 0]);
    let none: [&str; 0] = [];
    assert_eq!(searcher.replace_all(haystack, &none), haystack);
    assert_eq!(searcher.stream_find_iter(haystack.as_bytes()).count(), 0);
    let mut copied = Vec::new();
    searcher.stream_replace_all(haystack.as_bytes(), &mut copied, &none).unwrap();
    assert_eq!(copied, haystack.as_bytes());
}

#[test]
fn no_patterns_and_empty_haystacks() {
    let (empty, some) = (PatternSet::new([""; 0]).unwrap(), PatternSet::new(["a"]).unwrap());
    for semantics in Semantics::ALL {
        for threads in [1, 3] {
            let builder = Searcher::builder().semantics(semantics).threads(threads);
            let builder = builder.match_kind(MatchKind::LeftmostFirst);
            let searcher = builder.build(&empty).unwrap();
            finds_nothing(&searcher, "");
            finds_nothing(&searcher, "abc");
            finds_nothing(&searcher, &"abc".repeat(300_000));
            finds_nothing(&builder.build(&some).unwrap(), "");
        }
    }
}

#[test]
fn patterns_that_are_refused() {
    assert!(Searcher::new(["a", ""]).unwrap_err().to_string().contains("empty"));
    assert!(Searcher::new([vec![b'a'; 70_000]]).unwrap_err().to_string().contains("70000"));
    let longest = vec![b'a'; 65_535];
    let searcher = Searcher::new([&longest]).unwrap();
    assert!(searcher.is_match(&longest) && !searcher.is_match(&longest[1..]));
}

#[test]
fn errors_about_engines_have_one_line() {
    let set = PatternSet::new(["a pattern"]).unwrap();
    for engine in ["\nuto", "auto:\nx", "teddy:\n=1", "teddy:isa=avx\n2", "ac-dfa:walks=1\n2"] {
        let error = Searcher::builder().engine(engine).build(&set).unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
    }
}

/// States of streams under every semantics, with and without matches that are held back.
fn states() -> Vec<(Searcher, Vec<u8>)> {
    let patterns = ["ab", "abcabcabc", "b", "ca", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"];
    let mut states = Vec::new();
    for semantics in Semantics::ALL {
        let builder = Searcher::builder().semantics(semantics);
        let searcher = builder.build(&PatternSet::new(patterns).unwrap()).unwrap();
        for fed in [&b""[..], b"a", b"xxabcabca", &text(3, 500, 1)] {
            let mut stream = searcher.stream();
            // Once ends when every pattern was found, which these bytes do not do.
            let flow = stream.feed(fed, &mut Count::default());
            assert!(flow.is_continue());
            states.push((searcher.clone(), stream.save()));
        }
    }
    states
}

/// The state with a checksum that fits.
fn sealed(mut state: Vec<u8>) -> Vec<u8> {
    let body = state.len() - 8;
    let checksum = fnv1a(&state[..body], FNV_BASIS);
    state[body..].copy_from_slice(&checksum.to_le_bytes());
    state
}

/// The largest number of bytes or matches that a state may hold.
const MAX_COUNT: u64 = 1 << 62;

/// Restores a state and goes on with it if it is taken. Returns whether it was.
fn goes_on(searcher: &Searcher, state: &[u8], haystack: &[u8]) -> bool {
    let Ok(mut stream) = searcher.restore(state) else { return false };
    let mut found = Collect::default();
    for chunk in haystack.chunks(3000) {
        if stream.feed(chunk, &mut found).is_break() {
            return true;
        }
    }
    // A state with larger numbers is refused, because no stream gets this far.
    if stream.offset().max(stream.matches()) <= MAX_COUNT {
        let again = searcher.restore(&stream.save()).expect("a state of its own");
        let _ = again.finish(&mut found);
    }
    let _ = stream.finish(&mut found);
    true
}

#[test]
fn damaged_states_with_checksums_that_fit() {
    let haystack = text(3, 10 << 10, 5);
    let (mut taken, mut tried) = (0, 0);
    let mut attempt = |searcher: &Searcher, state: Vec<u8>| {
        tried += 1;
        taken += usize::from(goes_on(searcher, &sealed(state), &haystack));
    };
    for (searcher, state) in states() {
        for at in 0..state.len() - 8 {
            for flip in [1, 0x40, 0x80, 0xff] {
                let mut damaged = state.clone();
                damaged[at] ^= flip;
                attempt(&searcher, damaged);
            }
            for number in [0, 1, u64::MAX, MAX_COUNT, MAX_COUNT + 1, u64::from(u32::MAX), 1 << 32] {
                let mut damaged = state.clone();
                let to = (at + 8).min(state.len() - 8);
                damaged[at..to].copy_from_slice(&number.to_le_bytes()[..to - at]);
                attempt(&searcher, damaged);
            }
        }
        for len in 8..state.len() {
            attempt(&searcher, state[..len].to_vec());
        }
        attempt(&searcher, [&state[..], &[0; 20]].concat());
    }
    assert!(taken > 100 && tried > 10 * taken / 9, "{taken} of {tried} states were taken");
}

/// Gives bytes, then an error, then more bytes.
struct Broken<'a>(&'a [u8], u32);

impl Read for Broken<'_> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        match self.1 {
            2 => Err(io::Error::other("disk on fire")),
            _ => self.0.read(&mut to[..10]),
        }
    }
}

#[test]
fn errors_of_readers_come_through_once() {
    let text = b"a needle, a needle, a needle";
    for kind in [MatchKind::Standard, MatchKind::LeftmostLongest] {
        let set = PatternSet::new(["needle", "a n"]).unwrap();
        let searcher =
            Searcher::builder().semantics(kind.semantics()).match_kind(kind).build(&set).unwrap();
        let mut found = Collect::default();
        let error = searcher.scan_read(Broken(text, 0), &mut found).unwrap_err();
        assert_eq!((error.to_string(), found.matches.len()), ("disk on fire".to_owned(), 1));
        let mut found = searcher.stream_find_iter(Broken(text, 0));
        assert_eq!(found.next().unwrap().unwrap().range(), 0..3);
        assert_eq!(found.next().unwrap().unwrap_err().to_string(), "disk on fire");
        assert!(found.next().is_none() && found.next().is_none());
        let mut copied = Vec::new();
        let copy = searcher.stream_replace_all(Broken(text, 0), &mut copied, &["1", "2"]);
        assert_eq!(copy.unwrap_err().to_string(), "disk on fire");
        assert!(copied.starts_with(b"2"), "{copied:?}");
        // The next call is not disturbed.
        assert_eq!(searcher.find_iter(text).count(), 3);
    }
}

#[test]
fn errors_of_writers_and_functions_come_through() {
    let searcher = Searcher::new(["needle"]).unwrap();
    let mut full: &mut [u8] = &mut [0; 5];
    let copy = searcher.stream_replace_all(&b"a needle in hay"[..], &mut full, &["pin"]);
    assert_eq!(copy.unwrap_err().kind(), io::ErrorKind::WriteZero);
    let fails = |_: &_, _: &[u8], _: &mut _| Err(io::Error::other("no"));
    let copy = searcher.stream_replace_all_with(&b"a needle"[..], io::sink(), fails);
    assert_eq!(copy.unwrap_err().to_string(), "no");
    let missing = searcher.scan_file("no/such/file", &mut Count::default());
    assert_eq!(missing.unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn types_keep_their_promises() {
    fn is_shared<T: Clone + Send + Sync + UnwindSafe + RefUnwindSafe + Debug>() {}
    fn is_sent<T: Send + Debug>() {}
    is_shared::<Searcher>();
    is_shared::<GroupSearcher>();
    is_shared::<Input<'_>>();
    is_sent::<FindIter<'_>>();
    is_sent::<StreamFindIter<'_, io::Empty>>();
    is_sent::<Stream>();
    let searcher = Searcher::new(["ab"]).unwrap();
    assert!(format!("{searcher:?}").contains("patterns: 1"));
    assert!(format!("{:?}", searcher.find_iter("abc")).contains("haystack_len: 3"));
    let mut stream = searcher.stream();
    let _ = stream.feed(b"abc", &mut Count::default());
    assert!(format!("{stream:?}").contains("offset: 3"));
    assert!(format!("{:?}", searcher.stream_find_iter(io::empty())).contains("ended: false"));
}
