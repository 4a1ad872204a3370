//! The probability that a window of a pattern occurs in the haystack.
//!
//! The rarity model knows the probabilities of pairs of bytes, in data in general or in a sample of
//! the haystack. The probability of a window is that of its pairs in sequence.
//!
//! At stride 2 a sample says more: how often it contains each window of three bytes with the
//! nibbles beside it, which is what the filter's table tells apart. A window that the sample lacks
//! is rarer than one that it has once; the model says how much rarer.
//!
//! Without a sample the patterns are evidence: what many of them contain, such as the headers of
//! HTTP in rules for HTTP, the haystack is likely to contain. A window is at least as likely as its
//! frequency in the other patterns, scaled by the part of the haystack that resembles patterns.

use super::anchor::{Stride, count_spellings, spellings};
use fyke_automata::PairModel;
use fyke_automata::model::sample_spans;
use fyke_core::{Options, Pattern, PatternSet};

/// Fewest patterns for which the windows of a sample, or of the patterns, are counted: counting
/// takes milliseconds. Not measured: a guess.
const WORTH_COUNTING: usize = 256;

/// The maximum number of patterns whose windows are counted: more fill the table whatever is
/// chosen, and counting doubled the time to compile 340,000 words. Not measured between: a guess.
const MOST_COUNTED: usize = 50_000;

/// Bytes of a sample whose windows are counted. Not measured: a guess.
const SAMPLED: usize = 1 << 20;

/// Bytes at the front of a pattern whose windows are counted. Not measured: a guess.
const COUNTED_BYTES: usize = 256;

/// Prior that the haystack resembles the patterns, in bits, for the choice among windows of one
/// pattern. Swept over 1 and 4 on ET Open, Snort 2.2.0 and words on an H200; strings cut out of
/// the text, which lose with 4, are rarer than rules. The choice of the stride uses the model's
/// own prior.
const LIKE_PATTERNS_BITS: u32 = 4;

/// The part of the haystack that resembles the patterns. Swept over 0, 0.03, 0.1 and 0.3 on ET
/// Open and Snort 2.2.0 over `zeek`, and on strings cut out of the text, which lose with 0.3.
const LIKE_PATTERNS: f32 = 0.1;

/// What is known about the haystack's windows.
pub(super) struct WindowStatistics {
    pub(super) model: PairModel,
    /// The model for the choice among the windows of a pattern, or its pairs.
    pub(super) ranking: PairModel,
    counted: CountedWindows,
}

/// Windows that were counted.
enum CountedWindows {
    Nothing,
    Sample(WindowCounts),
    Patterns(WindowCounts),
}

impl WindowStatistics {
    /// From the sample in the options, or from data in general and the patterns.
    pub(super) fn of(set: &PatternSet, opt: &Options) -> WindowStatistics {
        let counted = match &opt.sample {
            _ if set.len() < WORTH_COUNTING => CountedWindows::Nothing,
            Some(sample) => CountedWindows::Sample(WindowCounts::count(sample)),
            None if set.len() > MOST_COUNTED => CountedWindows::Nothing,
            None => CountedWindows::Patterns(WindowCounts::count_patterns(set)),
        };
        WindowStatistics { counted, ..WindowStatistics::quick(set, opt) }
    }

    /// From the model alone, for forecasts.
    pub(super) fn quick(set: &PatternSet, opt: &Options) -> WindowStatistics {
        let model = PairModel::for_set(set, opt);
        let ranking = model.clone().with_pattern_prior(LIKE_PATTERNS_BITS);
        WindowStatistics { model, ranking, counted: CountedWindows::Nothing }
    }

    /// The probability that the filter passes a position because of a pattern's window at `k`.
    /// `bytes` are the pattern's bytes that are considered, and `model` is one of the two here.
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
        // 16 byte values share a nibble; the model knows the probability of one of them.
        let nibble = |bits: f32| (16.0 * (-bits).exp2()).clamp(1.0 / 64.0, 1.0);
        let follow = |a: u8, b: u8| nibble(model.bits_after(a, b));
        let expected = alone
            * before.map_or(1.0, |b| follow(b, window[0]))
            * after.map_or(1.0, |a| follow(window[2], a));
        let times = |seen: &WindowCounts| -> u32 {
            spellings(window, pattern.nocase).map(|w| seen.times(w, before, after)).sum()
        };
        match &self.counted {
            CountedWindows::Nothing => expected,
            CountedWindows::Sample(seen) => {
                let expected = expected * seen.positions;
                (times(seen) as f32 + expected / (1.0 + expected)) / seen.positions
            }
            CountedWindows::Patterns(seen) => {
                let others = times(seen).saturating_sub(1) as f32;
                expected.max(LIKE_PATTERNS * others / seen.positions)
            }
        }
    }
}

/// Windows of a sample, or of patterns, sorted.
struct WindowCounts {
    /// Three bytes, the low nibble of the byte before them, and that of the byte after.
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

impl WindowCounts {
    fn count(sample: &[u8]) -> WindowCounts {
        WindowCounts::new(sample_spans(sample, SAMPLED).flat_map(keys).collect())
    }

    /// The windows of patterns, each once per pattern.
    fn count_patterns(set: &PatternSet) -> WindowCounts {
        let of_pattern = |pattern: Pattern<'_>| {
            let counted = pattern.bytes.len().min(COUNTED_BYTES);
            let mut keys: Vec<u32> = keys(&pattern.bytes[..counted]).collect();
            keys.sort_unstable();
            keys.dedup();
            keys
        };
        WindowCounts::new(set.iter().flat_map(of_pattern).collect())
    }

    fn new(mut keys: Vec<u32>) -> WindowCounts {
        keys.sort_unstable();
        WindowCounts { positions: keys.len().max(1) as f32, keys }
    }

    /// How often a window occurs, first byte lowest, between two nibbles; an unknown byte has any
    /// nibble.
    fn times(&self, window: u64, before: Option<u8>, after: Option<u8>) -> u32 {
        let [a, b, c, ..] = window.to_le_bytes();
        let window = [a, b, c];
        let (first, last) = after.map_or((0, 15), |a| (a & 15, a & 15));
        let between = |from: u32, to: u32| {
            self.keys.partition_point(|k| *k <= to) - self.keys.partition_point(|k| *k < from)
        };
        let (low, high) = before.map_or((0, 15), |b| (b & 15, b & 15));
        // With any nibble after it, the nibbles before it are one range, too.
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
        let seen = WindowCounts::count(b"xabcy_qabcz_aabcA");
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
            assert_eq!(WindowCounts::count(sample).times(window(b"abc"), None, None), 0);
        }
        let long = b"_abc_".repeat(SAMPLED);
        let seen = WindowCounts::count(&long);
        let share = seen.times(window(b"abc"), None, None) as f32 / seen.positions;
        assert!((0.19..0.21).contains(&share), "{share}");
    }

    #[test]
    fn a_window_that_a_sample_lacks_is_rarer_than_one_that_it_has_once() {
        let patterns: Vec<String> =
            (0..WORTH_COUNTING).map(|i| format!("pattern {i:05}")).collect();
        let set = PatternSet::new(&patterns).unwrap();
        let sample = b"zqxj ".repeat(9);
        let opt = Options::default().sampled(sample.as_slice());
        let statistics = WindowStatistics::of(&set, &opt);
        let passing = |bytes: &[u8]| {
            let set = PatternSet::new([bytes]).unwrap();
            statistics.passing(&statistics.model, &set.get(0), bytes, 1, Stride::Two)
        };
        assert!(passing(b"zqxj ") > 0.1);
        assert!(passing(b"kvwp ") < passing(b"zqxj ") / 8.0);
    }

    #[test]
    fn a_window_of_many_patterns_is_likelier_than_one_of_one_pattern() {
        let many = (0..WORTH_COUNTING).map(|i| format!("zqxj {i:05}"));
        let set = PatternSet::new(many.chain(["kvwp jqzx".to_owned()])).unwrap();
        let model = PairModel::built_in();
        let of_set = WindowStatistics { model, ..WindowStatistics::of(&set, &Options::default()) };
        let model = PairModel::built_in();
        let alone =
            WindowStatistics { model, ..WindowStatistics::quick(&set, &Options::default()) };
        let passing = |statistics: &WindowStatistics, front: &[u8]| {
            let pattern = set.iter().find(|p| p.bytes.starts_with(front)).unwrap();
            statistics.passing(&statistics.model, &pattern, pattern.bytes, 1, Stride::Two)
        };
        assert!(passing(&of_set, b"zqxj") > 10.0 * passing(&alone, b"zqxj"));
        // The pattern itself is no evidence.
        assert_eq!(passing(&of_set, b"kvwp"), passing(&alone, b"kvwp"));
    }
}
