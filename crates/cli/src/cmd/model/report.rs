//! What `fyke model` says: a table with reasons, or one JSON object.

use super::UNITS;
use super::measure::{self, Measured};
use fyke_papers::gpu::strategy::Strategy;
use fyke_papers::model::{Channels, Completion, Load, Path, WhyB, simulate};
use fyke_papers::model::{lower_bound, strategy_a, strategy_b, why_b};
use serde::Serialize;
use std::io::{self, Write};

/// What is predicted for a number of channels.
pub(super) struct Prediction {
    bound: f64,
    a: Completion,
    b: f64,
    why_b: WhyB,
    /// Buffers and completion time.
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

    /// What is predicted of a strategy, if anything is.
    pub(super) fn seconds(&self, strategy: Strategy) -> Option<f64> {
        match strategy {
            Strategy::A => Some(self.a.seconds),
            Strategy::B => Some(self.b),
            Strategy::Ring(_) => self.ring.map(|(_, seconds)| seconds),
            Strategy::ZeroCopy => None,
        }
    }

    /// The strategy with the smaller memory among the earliest.
    fn take(&self) -> &'static str {
        if self.why_b == WhyB::Later { "A" } else { "B" }
    }

    /// How much longer than A.
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
    row(out, "take", [one, two].map(|p| p.take().to_owned()))?;
    for (name, p, losing) in [
        ("one channel", one, "its channel rests in the first round or the last"),
        ("two channels", two, "results wait for the next segment's write"),
    ] {
        writeln!(out, "\n{name}")?;
        writeln!(out, "  A  {}", why_a(&p.a))?;
        writeln!(out, "  B  {}", because(p, losing))?;
    }
    let less = 100.0 * (1.0 - one.ratio(two.a.seconds));
    writeln!(out, "\nThe second channel takes {less:.1} % off strategy A.")?;
    let of_b = s.min(2);
    writeln!(out, "Room in the device, in segments with their results: {s} for A, {of_b} for B.")
}

fn row(out: &mut impl Write, name: &str, [one, two]: [String; 2]) -> io::Result<()> {
    writeln!(out, "{name:<13}{one:<20}{two}")
}

/// The case that strategy A is, in words.
fn why_a(a: &Completion) -> String {
    let words = match a.path {
        _ if a.case.is_empty() => "one segment: its write, processing and read in turn",
        Path::Transfers => "the channel never rests",
        Path::Writes => "writes never rest, then the last segment is processed and read",
        Path::Processing => "the device never rests between the first write and the last read",
        Path::Reads => "reads never rest once the first segment is written and processed",
    };
    match a.case {
        "" => format!("{}: {words}", a.path.formula()),
        case => format!("{}: {words} (theorem {}, case {case})", a.path.formula(), a.theorem),
    }
}

/// Why strategy B is as early as A, or how much later.
fn because(p: &Prediction, losing: &str) -> String {
    let later = time(p.b - p.a.seconds);
    match p.why_b {
        WhyB::Fits => "as early: its buffers hold all segments".to_owned(),
        WhyB::Covered => "as early: processing covers the transfers made meanwhile".to_owned(),
        WhyB::Saturated => "as early: the channel never rests".to_owned(),
        WhyB::OneWay => "as early: transfers in one direction take no time".to_owned(),
        WhyB::Later => format!("{later} later: {losing}"),
    }
}

/// The object that `--json` prints. Times are in seconds.
#[derive(Serialize)]
struct Record<'a> {
    segments: u64,
    write: f64,
    process: f64,
    read: f64,
    one_channel: Part,
    two_channels: Part,
    /// Only with `--measure`.
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<measure::Json<'a>>,
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
    b_is_later: bool,
    take: &'static str,
}

/// The object, on one line.
pub(super) fn json(
    load: &Load,
    predicted: &[Prediction; 2],
    measured: Option<&Measured>,
) -> serde_json::Result<String> {
    let mut record = Record::of(load, predicted);
    record.measured = measured.map(Measured::json);
    serde_json::to_string(&record)
}

impl Record<'_> {
    fn of(load: &Load, [one, two]: &[Prediction; 2]) -> Self {
        Record {
            segments: load.segments(),
            write: load.write(),
            process: load.process(),
            read: load.read(),
            one_channel: Part::of(one),
            two_channels: Part::of(two),
            measured: None,
        }
    }
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
            b_is_later: p.why_b == WhyB::Later,
            take: p.take(),
        }
    }
}

/// A time in the longest unit of which it is at least one, with four digits or so.
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
