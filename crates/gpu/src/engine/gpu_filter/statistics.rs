//! How rare the windows of patterns are.
//!
//! The model of the data in general, or of a sample of the haystack, knows pairs of bytes: a window is as likely as its pairs
//! one after the other. At stride 2 more is known: how often a sample has each window of three bytes with the
//! nibbles beside it, which is just what the filter's table will let pass. A window that it does not have is rarer than
//! one that it has once; how much rarer the model says.
//!
//! Without a sample the patterns tell something: what many of them have, as rules for HTTP have its headers, the haystack is
//! likely to have, too. A window is at least as likely as the other patterns of the set have it, though the haystack may
//! be like them in a part only.
//!
//! By simulation on Zeek traffic, with a sample of 1 MiB from all over it, ET Open's candidates fall from 92 to 73 in a chunk of
//! 2 KiB and its patterns that are compared with the text from 45 to 39, Snort 3 community's candidates from 40 to 33.

use super::anchor::{Stride, count_spellings, spellings};
use fyke_automata::PairModel;
use fyke_automata::model::sample_spans;
use fyke_core::{Options, Pattern, PatternSet};

/// Fewest patterns for which windows of a sample, or of the patterns, are counted: a sample takes some 20 ms. Not swept.
const WORTH_COUNTING: usize = 256;

/// Most patterns that are asked what windows they have: so many fill the table, and 340,000 words that ignore case took
/// more than twice the time to compile. Not swept.
const MANY: usize = 50_000;

/// Bytes of a sample that are counted. Not swept.
const COUNTED: usize = 1 << 20;

/// Bytes at the front of a pattern that are counted. Not swept.
const ASKED_BYTES: usize = 256;

/// Where windows of one pattern are compared, one haystack in 2^4 is taken to be like the patterns. By simulation on traffic
/// ET Open has 96 candidates in a chunk of 2 KiB with 2^1, 92 with 2^4, Snort 20.8 and 20.0; words in English have 36 and 34.
/// On an H200 ET Open takes 3 per cent less time with 2^4, words, counted, 2.5, Snort the same, and 256 strings that were cut
/// out of the text 9 more. With 2^1 for everything else, since ten genes would get windows of four bytes if they were not
/// taken for likely.
const RARELY: u32 = 4;

/// The part of a haystack that is like the patterns. By simulation on traffic the entries of ET Open that are compared are 60
/// in a chunk of 2 KiB with none, and 48, 45 and 42 with 0.03, 0.1 and 0.3, its candidates 87, 90, 92 and 94; Snort's entries
/// 5.2, 3.5, 3.3 and 3.5. On an H200, before [`RARELY`], ET Open took 4 per cent more time with none and 2 less with 0.3, which
/// cost cut out strings 2 per cent.
const LIKE_PATTERNS: f32 = 0.1;

/// What is known of the haystack.
pub(super) struct Statistics {
    pub(super) model: PairModel,
    /// The same for the choice among the windows of a pattern, or its pairs.
    pub(super) ranking: PairModel,
    counted: Counted,
}

/// Windows that were counted beforehand.
enum Counted {
    Nothing,
    Sample(Seen),
    Patterns(Seen),
}

impl Statistics {
    /// Of the sample that the options have, or of data in general and the patterns.
    pub(super) fn of(set: &PatternSet, opt: &Options) -> Statistics {
        let counted = match &opt.sample {
            _ if set.len() < WORTH_COUNTING => Counted::Nothing,
            Some(sample) => Counted::Sample(Seen::count(sample)),
            None if set.len() > MANY => Counted::Nothing,
            None => Counted::Patterns(Seen::count_patterns(set)),
        };
        Statistics { counted, ..Statistics::quick(set, opt) }
    }

    /// The same by the model alone, for forecasts.
    pub(super) fn quick(set: &PatternSet, opt: &Options) -> Statistics {
        let model = PairModel::for_set(set, opt);
        let ranking = model.clone().with_pattern_prior(RARELY);
        Statistics { model, ranking, counted: Counted::Nothing }
    }

    /// How likely the filter passes a position for the window of a pattern at `k`, where `bytes` are those of the pattern that
    /// count and `model` is one of the two here.
    pub(super) fn passing(
        &self,
        model: &PairModel,
        pattern: &Pattern<'_>,
        bytes: &[u8],
        k: usize,
        stride: Stride,
    ) -> f32 {
        let window = &bytes[k..k + stride.window()];
        let before = k.checked_sub(1).map(|b| bytes[b]);
        let after = bytes.get(k + stride.window()).copied();
        let spelled = count_spellings(window, pattern.nocase) as f32;
        let alone = model.probability(window) * spelled;
        if stride != Stride::Two {
            return alone;
        }
        // A nibble is shared by 16 bytes, of which the model knows how likely the one is.
        let nibble = |bits: f32| (16.0 * (-bits).exp2()).clamp(1.0 / 64.0, 1.0);
        let follow = |a: u8, b: u8| nibble(model.bits_after(a, b));
        let expected = alone
            * before.map_or(1.0, |b| follow(b, window[0]))
            * after.map_or(1.0, |a| follow(window[2], a));
        let times = |seen: &Seen| -> u32 {
            spellings(window, pattern.nocase).map(|w| seen.times(w, before, after)).sum()
        };
        match &self.counted {
            Counted::Nothing => expected,
            Counted::Sample(seen) => {
                let expected = expected * seen.positions;
                (times(seen) as f32 + expected / (1.0 + expected)) / seen.positions
            }
            Counted::Patterns(seen) => {
                let others = times(seen).saturating_sub(1) as f32;
                expected.max(LIKE_PATTERNS * others / seen.positions)
            }
        }
    }
}

/// Windows of a sample, or of patterns, in order.
struct Seen {
    /// Three bytes, the low nibble of the byte before them, and that of the one after.
    keys: Vec<u32>,
    positions: f32,
}

fn key([a, b, c]: [u8; 3], before: u8, after: u8) -> u32 {
    u32::from_be_bytes([a, b, c, before << 4 | after & 15])
}

/// All windows of some bytes that have a byte on either side.
fn keys(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.windows(5).map(|w| key([w[1], w[2], w[3]], w[0] & 15, w[4]))
}

impl Seen {
    fn count(sample: &[u8]) -> Seen {
        Seen::new(sample_spans(sample, COUNTED).flat_map(keys).collect())
    }

    /// What patterns have, each window once a pattern.
    fn count_patterns(set: &PatternSet) -> Seen {
        let of_pattern = |pattern: Pattern<'_>| {
            let asked = pattern.bytes.len().min(ASKED_BYTES);
            let mut keys: Vec<u32> = keys(&pattern.bytes[..asked]).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        Seen::new(set.iter().flat_map(of_pattern).collect())
    }

    fn new(mut keys: Vec<u32>) -> Seen {
        keys.sort_unstable();
        Seen { positions: keys.len().max(1) as f32, keys }
    }

    /// How often it has a window, first byte lowest, between two nibbles, or with any where a byte is not known.
    fn times(&self, window: u64, before: Option<u8>, after: Option<u8>) -> u32 {
        let [a, b, c, ..] = window.to_le_bytes();
        let window = [a, b, c];
        let (first, last) = after.map_or((0, 15), |a| (a & 15, a & 15));
        let between = |from: u32, to: u32| {
            self.keys.partition_point(|k| *k <= to) - self.keys.partition_point(|k| *k < from)
        };
        let (low, high) = before.map_or((0, 15), |b| (b & 15, b & 15));
        // With all nibbles after it, those before it are one range, too.
        if (first, last) == (0, 15) {
            return between(key(window, low, 0), key(window, high, 15)) as u32;
        }
        (low..=high).map(|b| between(key(window, b, first), key(window, b, last)) as u32).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(&[a, b, c]: &[u8; 3]) -> u64 {
        u64::from_le_bytes([a, b, c, 0, 0, 0, 0, 0])
    }

    #[test]
    fn windows_of_a_sample_are_counted_with_their_nibbles() {
        let seen = Seen::count(b"xabcy_qabcz_aabcA");
        let times =
            |before: Option<u8>, after: Option<u8>| seen.times(window(b"abc"), before, after);
        assert_eq!(times(None, None), 3);
        assert_eq!(times(Some(b'x'), Some(b'y')), 1);
        // q and a have the same low nibble.
        assert_eq!(times(Some(b'q'), None), 2);
        assert_eq!(times(Some(b'a'), Some(b'z')), 1);
        assert_eq!(times(None, Some(b'z')), 1);
        assert_eq!(times(None, Some(b'Q')), 1, "A has the nibble of Q");
        assert_eq!(seen.times(window(b"abd"), None, None), 0);
        for sample in [&b""[..], b"abcd"] {
            assert_eq!(Seen::count(sample).times(window(b"abc"), None, None), 0);
        }
        let long = b"_abc_".repeat(COUNTED);
        let seen = Seen::count(&long);
        let share = seen.times(window(b"abc"), None, None) as f32 / seen.positions;
        assert!((0.19..0.21).contains(&share), "{share}");
    }

    #[test]
    fn what_a_sample_has_not_is_rarer_than_what_it_has_once() {
        let patterns: Vec<String> =
            (0..WORTH_COUNTING).map(|i| format!("pattern {i:05}")).collect();
        let set = PatternSet::new(&patterns).unwrap();
        let sample = b"zqxj ".repeat(9);
        let opt = Options::default().sampled(sample.as_slice());
        let statistics = Statistics::of(&set, &opt);
        let passing = |bytes: &[u8]| {
            let set = PatternSet::new([bytes]).unwrap();
            statistics.passing(&statistics.model, &set.get(0), bytes, 1, Stride::Two)
        };
        assert!(passing(b"zqxj ") > 0.1);
        assert!(passing(b"kvwp ") < passing(b"zqxj ") / 8.0);
    }

    #[test]
    fn what_many_patterns_have_is_less_rare_than_what_one_has() {
        let many = (0..WORTH_COUNTING).map(|i| format!("zqxj {i:05}"));
        let set = PatternSet::new(many.chain(["kvwp jqzx".to_owned()])).unwrap();
        let model = PairModel::built_in();
        let of_set = Statistics { model, ..Statistics::of(&set, &Options::default()) };
        let model = PairModel::built_in();
        let alone = Statistics { model, ..Statistics::quick(&set, &Options::default()) };
        let passing = |statistics: &Statistics, front: &[u8]| {
            let pattern = set.iter().find(|p| p.bytes.starts_with(front)).unwrap();
            statistics.passing(&statistics.model, &pattern, pattern.bytes, 1, Stride::Two)
        };
        assert!(passing(&of_set, b"zqxj") > 10.0 * passing(&alone, b"zqxj"));
        // It has its windows itself, which says nothing.
        assert_eq!(passing(&of_set, b"kvwp"), passing(&alone, b"kvwp"));
    }
}
