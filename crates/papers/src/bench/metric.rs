//! What a cell of a table measures: a time, a size of what was compiled, a count of steps.
//!
//! ```text
//! metric = sum [ " / " sum ]        sum = term { " + " term }
//! ```

use crate::cost::ACCESS_WIDTHS;
use crate::cost::Cost;
use serde::{Deserialize, Deserializer, de};

/// A figure made of terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// These are added.
    above: Vec<Term>,
    /// And divided by the sum of these, if there are any.
    below: Vec<Term>,
}

/// A number that can be taken of one engine on one set and haystack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// The time of a scan, the median of samples.
    Time(Unit),
    /// The time of a search on a device: on the device's clock if the haystack is in its memory,
    /// on the host's clock if it is copied there and results back.
    Device(Unit),
    /// Seconds that compiling takes.
    BuildSeconds,
    /// A number that [`stats`](fyke_core::Matcher::stats) names.
    Stats(String),
    /// The same; 0 if there is no such name.
    StatsOrZero(String),
    /// The sum of the numbers whose name is this one followed by a number above the given one.
    StatsAbove(String, u64),
    /// A count of [`cost`](crate::cost::CostOf::cost).
    Cost(Count),
    /// Bytes of the compiled set, as `footprint()` says.
    Footprint,
    /// Bytes of the haystack.
    HaystackBytes,
    /// The number of patterns.
    Patterns,
    /// Bytes of all patterns.
    PatternBytes,
    /// The number of matches.
    Matches,
    /// A number.
    Constant(u64),
}

/// The unit of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds for the haystack.
    Seconds,
    /// Milliseconds for the haystack.
    Milliseconds,
    /// Nanoseconds per byte.
    NanosecondsPerByte,
    /// Cycles per byte, at the clock rate that the system reports.
    CyclesPerByte,
    /// 10^9 bytes a second.
    GigabytesPerSecond,
    /// 10^9 bits a second.
    GigabitsPerSecond,
}

/// A count of [`Cost`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Moves of an automaton.
    Transitions,
    /// Comparisons of bytes or blocks.
    Comparisons,
    /// Additions to find the rank of a bit.
    PopcountAdditions,
    /// Memory accesses of the model, by the bits of an access: an index in [`ACCESS_WIDTHS`].
    Accesses(usize),
}

/// The measurements that terms are computed from.
#[derive(Clone, Debug, Default)]
pub struct CellFacts {
    /// Nanoseconds of a scan.
    pub nanoseconds: Option<f64>,
    /// Nanoseconds of a search on the device, and the bytes that it held.
    pub on_device: Option<(f64, u64)>,
    /// Seconds of compiling.
    pub build_seconds: f64,
    /// What was built.
    pub stats: Vec<(String, u64)>,
    /// What a scan did.
    pub cost: Option<Cost>,
    /// Bytes of the compiled set.
    pub footprint: u64,
    /// Bytes of the haystack.
    pub haystack_bytes: usize,
    /// The number of patterns.
    pub patterns: usize,
    /// Bytes of all patterns.
    pub pattern_bytes: u64,
    /// The number of matches.
    pub matches: Option<u64>,
    /// Clock rate of the CPU in GHz; 0 if the system does not report it.
    pub gigahertz: f64,
}

impl Metric {
    /// Whether a scan has to be timed for it.
    pub fn is_timed(&self) -> bool {
        self.terms().any(|t| matches!(t, Term::Time(_)))
    }

    /// Whether a search on a device has to be timed for it.
    pub fn is_on_device(&self) -> bool {
        self.terms().any(|t| matches!(t, Term::Device(_)))
    }

    /// Whether the steps of a scan have to be counted for it.
    pub fn is_counted(&self) -> bool {
        self.terms().any(|t| matches!(t, Term::Cost(_)))
    }

    /// Whether it includes the number of matches.
    pub fn has_matches(&self) -> bool {
        self.terms().any(|t| matches!(t, Term::Matches))
    }

    /// Whether there has to be a haystack.
    pub fn reads_a_haystack(&self) -> bool {
        let bytes = self.terms().any(|t| matches!(t, Term::HaystackBytes));
        bytes || self.is_timed() || self.is_on_device() || self.is_counted() || self.has_matches()
    }

    /// The figure.
    ///
    /// # Errors
    /// A term has no value, and why.
    pub fn of(&self, facts: &CellFacts) -> Result<f64, String> {
        let sum = |terms: &[Term]| terms.iter().map(|t| t.of(facts)).sum::<Result<f64, String>>();
        if self.below.is_empty() {
            return sum(&self.above);
        }
        match sum(&self.below)? {
            0.0 => Err("division by zero".into()),
            below => Ok(sum(&self.above)? / below),
        }
    }

    fn terms(&self) -> impl Iterator<Item = &Term> {
        self.above.iter().chain(&self.below)
    }
}

impl Term {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(key) = text.strip_prefix("stats:") {
            return Some(Term::Stats(key.into()));
        }
        if let Some(key) = text.strip_prefix("stats-or-0:") {
            return Some(Term::StatsOrZero(key.into()));
        }
        if let Some(key) = text.strip_prefix("stats-above:") {
            let (name, number) = key.rsplit_once(' ')?;
            return Some(Term::StatsAbove(format!("{name} "), number.parse().ok()?));
        }
        if let Some(key) = text.strip_prefix("cost:") {
            return Count::parse(key).map(Term::Cost);
        }
        if let Some(unit) = text.strip_prefix("device:") {
            // Cycles are counted at the clock rate of the CPU.
            let unit = Unit::parse(unit).filter(|u| *u != Unit::CyclesPerByte);
            return unit.map(Term::Device);
        }
        let plain = match text {
            "build-seconds" => Term::BuildSeconds,
            "footprint" => Term::Footprint,
            "haystack-bytes" => Term::HaystackBytes,
            "patterns" => Term::Patterns,
            "pattern-bytes" => Term::PatternBytes,
            "matches" => Term::Matches,
            _ => {
                return Unit::parse(text).map(Term::Time).or(text.parse().ok().map(Term::Constant));
            }
        };
        Some(plain)
    }

    fn of(&self, facts: &CellFacts) -> Result<f64, String> {
        let stats = |key: &str| facts.stats.iter().find(|(k, _)| k == key).map(|(_, n)| *n);
        Ok(match self {
            Term::Time(unit) => {
                let ns = facts.nanoseconds.ok_or("it was not timed")?;
                unit.of(ns, facts.haystack_bytes as u64, facts.gigahertz)?
            }
            Term::Device(unit) => {
                let (ns, bytes) = facts.on_device.ok_or("it was not timed on a device")?;
                unit.of(ns, bytes, facts.gigahertz)?
            }
            Term::BuildSeconds => facts.build_seconds,
            Term::Stats(key) => {
                stats(key).ok_or_else(|| format!("the engine's stats have no {key:?}"))? as f64
            }
            Term::StatsOrZero(key) => stats(key).unwrap_or(0) as f64,
            Term::StatsAbove(name, least) => {
                let above =
                    |k: &str| k.strip_prefix(name)?.parse().ok().filter(|n: &u64| n > least);
                let counts = facts.stats.iter().filter(|(k, _)| above(k).is_some());
                counts.map(|(_, n)| *n).sum::<u64>() as f64
            }
            Term::Cost(count) => {
                let cost = facts.cost.as_ref().ok_or("this engine does not count its steps")?;
                count.of(cost) as f64
            }
            Term::Footprint => facts.footprint as f64,
            Term::HaystackBytes => facts.haystack_bytes as f64,
            Term::Patterns => facts.patterns as f64,
            Term::PatternBytes => facts.pattern_bytes as f64,
            Term::Matches => facts.matches.ok_or("the matches were not counted")? as f64,
            Term::Constant(n) => *n as f64,
        })
    }
}

impl Unit {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "seconds" => Unit::Seconds,
            "ms" => Unit::Milliseconds,
            "ns-per-byte" => Unit::NanosecondsPerByte,
            "cycles-per-byte" => Unit::CyclesPerByte,
            "GB/s" => Unit::GigabytesPerSecond,
            "Gb/s" => Unit::GigabitsPerSecond,
            _ => return None,
        })
    }

    fn of(self, ns: f64, bytes: u64, gigahertz: f64) -> Result<f64, String> {
        let bytes = bytes.max(1) as f64;
        Ok(match self {
            Unit::Seconds => ns / 1e9,
            Unit::Milliseconds => ns / 1e6,
            Unit::NanosecondsPerByte => ns / bytes,
            Unit::GigabytesPerSecond => bytes / ns,
            Unit::GigabitsPerSecond => 8.0 * bytes / ns,
            Unit::CyclesPerByte if gigahertz > 0.0 => gigahertz * ns / bytes,
            Unit::CyclesPerByte => return Err("the system does not report its clock rate".into()),
        })
    }
}

impl Count {
    fn parse(key: &str) -> Option<Self> {
        let width = || key.strip_prefix("accesses-")?.parse::<u32>().ok();
        Some(match key {
            "transitions" => Count::Transitions,
            "comparisons" => Count::Comparisons,
            "popcount_additions" => Count::PopcountAdditions,
            _ => Count::Accesses(ACCESS_WIDTHS.iter().position(|w| Some(*w) == width())?),
        })
    }

    fn of(self, cost: &Cost) -> u64 {
        match self {
            Count::Transitions => cost.transitions,
            Count::Comparisons => cost.comparisons,
            Count::PopcountAdditions => cost.popcount_additions,
            Count::Accesses(width) => cost.accesses[width],
        }
    }
}

impl std::str::FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = |term: &str| format!("{term:?} is not a term of a metric");
        let sum = |text: &str| {
            text.split(" + ")
                .map(|t| Term::parse(t).ok_or_else(|| bad(t)))
                .collect::<Result<_, _>>()
        };
        match text.split_once(" / ") {
            None => Ok(Self { above: sum(text)?, below: Vec::new() }),
            Some((above, below)) => Ok(Self { above: sum(above)?, below: sum(below)? }),
        }
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(metric: &str) -> Result<f64, String> {
        let facts = CellFacts {
            nanoseconds: Some(4e9),
            on_device: Some((1e6, 8_000_000)),
            stats: vec![("states".into(), 10), ("degree 1".into(), 4)],
            cost: Some(Cost { transitions: 7, accesses: [1, 2, 3, 4], ..Cost::default() }),
            haystack_bytes: 2_000_000_000,
            gigahertz: 3.0,
            ..CellFacts::default()
        };
        metric.parse::<Metric>()?.of(&facts)
    }

    #[test]
    fn figures_are_computed_from_facts() {
        for (metric, expected) in [
            ("seconds", 4.0),
            ("ms", 4000.0),
            ("ns-per-byte", 2.0),
            ("cycles-per-byte", 6.0),
            ("GB/s", 0.5),
            ("Gb/s", 4.0),
            ("device:ms", 1.0),
            ("device:ns-per-byte", 0.125),
            ("device:Gb/s", 64.0),
            ("stats:degree 1 / stats:states", 0.4),
            ("stats:states + stats-or-0:degree 9", 10.0),
            ("stats-above:degree 0", 4.0),
            ("stats-above:degree 1", 0.0),
            ("cost:accesses-1024", 4.0),
            ("cost:transitions / haystack-bytes", 3.5e-9),
            ("stats:states + 2", 12.0),
        ] {
            assert_eq!(figure(metric), Ok(expected), "{metric}");
        }
    }

    #[test]
    fn what_cannot_be_told_says_why() {
        assert!(figure("stats:degree 9").unwrap_err().contains("degree 9"));
        assert!(figure("matches").unwrap_err().contains("not counted"));
        assert!(figure("patterns / patterns").unwrap_err().contains("zero"));
        for bad in [
            "second",
            "device:",
            "device:cycles-per-byte",
            "cost:accesses-33",
            "cost:",
            "",
            "ms + ",
        ] {
            assert!(bad.parse::<Metric>().is_err(), "{bad}");
        }
    }
}
