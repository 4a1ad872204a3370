//! All forms against the oracle, on small alphabets, where candidates abound.

use super::*;
use crate::testing::isas;
use fyke_core::{Collect, PatternId, oracle};

/// Deterministic pseudorandom numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % n
    }

    fn letters(&mut self, alphabet: &[u8], len: usize) -> Vec<u8> {
        (0..len).map(|_| alphabet[self.below(alphabet.len())]).collect()
    }
}

/// Substrings of a text, some of them ignoring case.
fn pieces_of(text: &[u8], count: usize, min: usize, random: &mut Random) -> PatternSet {
    let mut builder = PatternSet::builder();
    for i in 0..count {
        let len = (min + random.below(3) * random.below(20)).min(text.len());
        let at = random.below(text.len() + 1 - len);
        builder.push_with(PatternId(i as u32), &text[at..at + len], i % 5 == 4).unwrap();
    }
    builder.build()
}

fn forms() -> impl Iterator<Item = String> {
    let isas = isas(&ENGINE).into_iter().map(Isa::name);
    let shapes = ["", ",stride=1", ",gram=3", ",gram=8", ",gram=9", ",gram=16", ",stride=16"];
    isas.flat_map(move |isa| shapes.map(|shape| format!("isa={isa}{shape}")))
}

fn matches(matcher: &dyn Matcher, block: Block<'_>) -> Vec<fyke_core::StreamMatch> {
    let mut got = Collect::default();
    assert!(matcher.scan(block, &mut Scratch::new(), &mut got).is_continue());
    got.sorted()
}

#[test]
fn all_forms_find_what_there_is() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut compiled = 0;
    for (round, min) in [4, 5, 8, 9, 12, 16, 17, 20, 24, 31, 40].into_iter().enumerate() {
        let alphabet: &[u8] = [&b"acgtACGT"[..], b"acgt", b"\x00a\xff", b"aB"][round % 4];
        let mut text = random.letters(alphabet, 700);
        let set = pieces_of(&text, 20, min, &mut random);
        text.extend_from_slice(set.bytes(set.len() as u32 - 1));
        let expected = oracle::find_all(&set, &text);
        for form in forms() {
            let matcher = match ENGINE.compile(&set, &Options::with_params(&form).unwrap()) {
                Ok(matcher) => matcher,
                Err(Refusal::TooShort { .. }) => continue,
                Err(other) => panic!("{form}: {other}"),
            };
            compiled += 1;
            for len in (0..text.len()).step_by(41).chain([text.len()]) {
                let want: Vec<_> =
                    expected.iter().copied().filter(|m| m.end <= len as u64).collect();
                assert_eq!(matches(&*matcher, Block::whole(&text[..len])), want, "{form} {len}");
            }
        }
    }
    let isas = isas(&ENGINE).len();
    assert!(compiled > 50 * isas, "{compiled} for {isas} instruction sets");
}

#[test]
fn a_sink_that_counts_gets_no_records() {
    let mut random = Random(7);
    let text = random.letters(b"acgt", 5000);
    let set = pieces_of(&text, 50, 12, &mut random);
    let matcher = ENGINE.compile(&set, &Options::default()).unwrap();
    let mut count = fyke_core::Count::default();
    let mut scratch = Scratch::new();
    assert!(matcher.scan(Block::whole(&text), &mut scratch, &mut count).is_continue());
    assert_eq!(count.matches, oracle::find_all(&set, &text).len() as u64);
    assert!(scratch.spent() >= count.matches);
}

#[test]
fn grams_that_too_many_share_make_the_stride_shorter_and_then_the_set_is_refused() {
    let set = |head: &str, tail: usize| {
        let tails = (0..600).map(|i| format!("{i:0tail$}"));
        PatternSet::new(tails.map(|tail| format!("{head}{tail}"))).unwrap()
    };
    let shared = set("http://www.example.", 12);
    let matcher = ENGINE.compile(&shared, &Options::default()).unwrap();
    let text = "http://www.example.000000000599 http://www.example.000000000600";
    assert_eq!(matches(&*matcher, Block::whole(text.as_bytes())).len(), 1);
    let runs = PatternSet::new((8..600).map(|len| vec![b'a'; len])).unwrap();
    assert!(matches!(ENGINE.compile(&runs, &Options::default()), Err(Refusal::TooBig { .. })));
    let runs = PatternSet::new([vec![b'a'; 65_535]]).unwrap();
    assert!(matches!(ENGINE.compile(&runs, &Options::default()), Err(Refusal::TooBig { .. })));
    let text = Random(3).letters(b"acgt", 65_600);
    let long = PatternSet::new([&text[50..50 + 65_535]]).unwrap();
    let matcher = ENGINE.compile(&long, &Options::default()).unwrap();
    assert_eq!(matches(&*matcher, Block::whole(&text)).len(), 1);
}

#[test]
fn the_forecast_is_what_is_built() {
    let mut random = Random(99);
    for (count, min) in [(1, 8), (100, 20), (5000, 16)] {
        let patterns: Vec<_> = (0..count).map(|_| random.letters(b"acgt", min)).collect();
        let set = PatternSet::new(patterns).unwrap();
        let draft = ENGINE.draft(&set, &Options::default()).unwrap();
        let forecast = draft.cost().unwrap();
        let matcher = ENGINE.compile(&set, &Options::default()).unwrap();
        assert_eq!(matcher.footprint().host, forecast.memory);
        let tight = Options::default().limited_to(forecast.memory - 1);
        assert!(ENGINE.compile(&set, &tight).is_ok_and(|m| m.footprint().host < forecast.memory));
    }
    let empty = PatternSet::new([""; 0]).unwrap();
    assert!(ENGINE.draft(&empty, &Options::default()).is_ok());
    let short = PatternSet::new(["abc"]).unwrap();
    let refused = ENGINE.draft(&short, &Options::default());
    assert_eq!(refused.unwrap_err(), Refusal::TooShort { min: 4, have: 3 });
    assert!(ENGINE.compile(&empty, &Options::default().limited_to(100)).is_err());
}
