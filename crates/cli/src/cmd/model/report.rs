//! The output of `fyke model`: a table with explanations, or one JSON object.

use fyke_papers::gpu::strategy::Strategy;
use fyke_papers::model::{Channels, Completion, Load, Path, WhyB, simulate};
use fyke_papers::model::{lower_bound, strategy_a, strategy_b, why_b};
use serde::Serialize;
use std::io::{self, Write};

/// Units of time, longest first, and their number per second.
pub(super) const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)];

/// The prediction for a number of channels.
pub(super) struct Prediction {
    bound: f64,
    a: Completion,
    b: f64,
    why_b: WhyB,
    /// Number of buffers and completion time.
    ring: Option<(u64, f64)>,
}

impl Prediction {
    pub(super) fn of(load: &Load, channels: Channels, ring: Option<u64>) -> Self {
        let simulated = |k: u64| {
            let events = simulate::ring(load, channels, k.min(load.segments()) as usize);
            (k, simulate::completion(&events))
        };
        Prediction {
            bound: lower_bound(load, channels),
            a: strategy_a(load, channels),
            b: strategy_b(load, channels),
            why_b: why_b(load, channels),
            ring: ring.map(simulated),
        }
    }

    /// The predicted time of a strategy, if the model covers it.
    pub(super) fn seconds(&self, strategy: Strategy) -> Option<f64> {
        match strategy {
            Strategy::A => Some(self.a.seconds),
            Strategy::B => Some(self.b),
            Strategy::Ring(_) => self.ring.map(|(_, seconds)| seconds),
            Strategy::ZeroCopy => None,
        }
    }

    /// The fastest strategy; of equally fast ones, the one that needs less memory.
    fn choice(&self) -> &'static str {
        if self.why_b == WhyB::Later { "A" } else { "B" }
    }

    /// Time as a multiple of the time of strategy A.
    fn ratio(&self, seconds: f64) -> f64 {
        if self.a.seconds > 0.0 { seconds / self.a.seconds } else { 1.0 }
    }
}

pub(super) fn print(
    out: &mut impl Write,
    load: &Load,
    predicted: &[Prediction; 2],
) -> io::Result<()> {
    let [w, p, r] = [load.write(), load.process(), load.read()].map(time);
    let s = load.segments();
    writeln!(out, "segments: {s}, each {w} to write, {p} to process, {r} to read back\n")?;
    writeln!(out, "{:<13}{:<20}two channels", "", "one channel")?;
    let [one, two] = predicted;
    row(out, "lower bound", [one, two].map(|p| time(p.bound)))?;
    row(out, "strategy A", [one, two].map(|p| time(p.a.seconds)))?;
    let beside = |p: &Prediction, t: f64| format!("{:<10} {:.4}x", time(t), p.ratio(t));
    row(out, "strategy B", [one, two].map(|p| beside(p, p.b)))?;
    if let (Some((k, of_one)), Some((_, of_two))) = (one.ring, two.ring) {
        row(out, &format!("ring of {k}"), [beside(one, of_one), beside(two, of_two)])?;
    }
    row(out, "choice", [one, two].map(|p| p.choice().to_owned()))?;
    for (name, p, why_slower) in [
        ("one channel", one, "the channel is idle in the first or last round"),
        ("two channels", two, "results wait for the next segment's write"),
    ] {
        writeln!(out, "\n{name}")?;
        writeln!(out, "  A  {}", why_a(&p.a))?;
        writeln!(out, "  B  {}", why_b_is(p, why_slower))?;
    }
    let saved = 100.0 * (1.0 - one.ratio(two.a.seconds));
    writeln!(out, "\nA second channel reduces the time of strategy A by {saved:.1} %.")?;
    let of_b = s.min(2);
    writeln!(out, "Device memory: A holds {s} segments with their results, B holds {of_b}.")
}

fn row(out: &mut impl Write, name: &str, [one, two]: [String; 2]) -> io::Result<()> {
    writeln!(out, "{name:<13}{one:<20}{two}")
}

/// Why strategy A takes its time: the stages on its critical path.
fn why_a(a: &Completion) -> String {
    let words = match a.path {
        _ if a.case.is_empty() => "one segment: write, processing and read one after the other",
        Path::Transfers => "the channel is never idle",
        Path::Writes => "writes run without a pause, then the last segment is processed and read",
        Path::Processing => {
            "the device runs without a pause between the first write and the last read"
        }
        Path::Reads => "reads run without a pause once the first segment is written and processed",
    };
    match a.case {
        "" => format!("{}: {words}", a.path.formula()),
        case => format!("{}: {words} (theorem {}, case {case})", a.path.formula(), a.theorem),
    }
}

/// Why strategy B is as fast as A, or how much slower it is.
fn why_b_is(p: &Prediction, why_slower: &str) -> String {
    let difference = time(p.b - p.a.seconds);
    match p.why_b {
        WhyB::Fits => "as fast as A: its buffers hold all segments".to_owned(),
        WhyB::Covered => "as fast as A: processing hides the transfers".to_owned(),
        WhyB::Saturated => "as fast as A: the channel is never idle".to_owned(),
        WhyB::OneWay => "as fast as A: transfers in one direction take no time".to_owned(),
        WhyB::Later => format!("{difference} slower than A: {why_slower}"),
    }
}

/// The object that `--json` prints. Times are in seconds.
#[derive(Serialize)]
struct Record<M> {
    segments: u64,
    write: f64,
    process: f64,
    read: f64,
    one_channel: Part,
    two_channels: Part,
    /// Only with `--measure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<M>,
}

#[derive(Serialize)]
struct Part {
    lower_bound: f64,
    strategy_a: f64,
    strategy_b: f64,
    b_over_a: f64,
    /// Only with `--ring`.
    #[serde(skip_serializing_if = "Option::is_none")]
    ring: Option<f64>,
    theorem: Option<&'static str>,
    case: Option<&'static str>,
    formula: &'static str,
    b_is_slower: bool,
    choice: &'static str,
}

/// The object, on one line.
pub(super) fn json(
    load: &Load,
    predicted: &[Prediction; 2],
    measured: Option<impl Serialize>,
) -> serde_json::Result<String> {
    let [one, two] = predicted;
    serde_json::to_string(&Record {
        segments: load.segments(),
        write: load.write(),
        process: load.process(),
        read: load.read(),
        one_channel: Part::of(one),
        two_channels: Part::of(two),
        measured,
    })
}

impl Part {
    fn of(p: &Prediction) -> Self {
        let named = !p.a.case.is_empty();
        Part {
            lower_bound: p.bound,
            strategy_a: p.a.seconds,
            strategy_b: p.b,
            b_over_a: p.ratio(p.b),
            ring: p.ring.map(|(_, seconds)| seconds),
            theorem: named.then_some(p.a.theorem),
            case: named.then_some(p.a.case),
            formula: p.a.path.formula(),
            b_is_slower: p.why_b == WhyB::Later,
            choice: p.choice(),
        }
    }
}

/// A time in the largest unit in which it is at least 1, with about four digits.
pub(super) fn time(seconds: f64) -> String {
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    let in_second = |(unit, per_second)| (unit, seconds * per_second);
    let mut values = UNITS.into_iter().map(in_second);
    let (unit, value) = values.find(|(_, value)| *value >= 1.0).unwrap_or(in_second(UNITS[3]));
    let digits = if value >= 100.0 {
        1
    } else if value >= 10.0 {
        2
    } else {
        3
    };
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (2.0, "2.000 s"),
            (0.4972, "497.2 ms"),
            (1.87e-5, "18.70 us"),
            (5e-10, "0.500 ns"),
        ] {
            assert_eq!(time(seconds), text);
        }
    }
}
