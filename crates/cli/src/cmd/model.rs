//! `fyke model`: how long a haystack takes from the host through a GPU and back, predicted, and measured beside it.

use crate::args::{PatternArgs, parse_size};
use crate::outcome::Outcome;
use anyhow::bail;
use clap::{Args, value_parser};
use fyke_papers::model::{Channels, Load};
use report::Prediction;
use std::io::{self, Write};
use std::path::PathBuf;

mod measure;
mod report;

/// More segments than this are a slip of the finger.
const MOST_SEGMENTS: u64 = 1_000_000_000;

/// More are not simulated: a ring is predicted by going through all of its events.
const MOST_SIMULATED: u64 = 100_000;

/// Bytes in the unit of rates, as makers of links and memories count.
const GIGABYTE: f64 = 1e9;

const NOTES: &str = "\
The haystack is cut into equal segments. Each is written to the device and processed there, and its
results are read back. Strategy A queues all of that at once and needs room for all segments in the
device. Strategy B has two buffers for segments and two for results, and ends each round by waiting
for its write, its processing and its read. A is never later than B (Zha 2010, theorems 6.2 to 6.9).
With one channel between host and device a write and a read exclude each other.

With --measure a file goes through a device: the stages of a segment are timed for the prediction,
then every strategy runs beside it, and zero-copy, where kernels read the host's memory. Engines are
those that write a state for each byte, gpu-ac0 to gpu-ac4.

In the output tw, tp and tr are the times of one segment, Tw, Tp and Tr those of all. `take` names B
where it is as early as A, because it needs less room.

Examples:
  fyke model --segments 90 --write 1.87ms --process 2.73ms --read 3.63ms
  fyke model --segments 64 --bytes 4G --results 8G \\
    --write-rate 55.5 --process-rate 600 --read-rate 55.3
  fyke model --segments 10 --ring 3 --measure FILE -f PATTERNS --repeat 900M";

/// Arguments of `fyke model`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct ModelArgs {
    /// Into how many segments the haystack is cut
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..=MOST_SEGMENTS))]
    segments: u64,

    /// Also predict a ring of K buffers for segments and K for results, where nothing waits but for a
    /// buffer or for data
    #[arg(long, value_name = "K", value_parser = value_parser!(u64).range(1..))]
    ring: Option<u64>,

    /// Print one JSON object
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    times: TimeArgs,

    #[command(flatten)]
    rates: RateArgs,

    #[command(flatten)]
    measured: MeasureArgs,
}

/// What is measured on a device.
#[derive(Args, Debug)]
#[command(next_help_heading = "Or measured on a device")]
struct MeasureArgs {
    /// A file that goes through a device
    #[arg(long, value_name = "FILE", conflicts_with_all = ["bytes", "write", "process", "read"])]
    measure: Option<PathBuf>,

    /// Repeat the file until there are so many bytes
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "measure")]
    repeat: Option<u64>,

    #[command(flatten)]
    patterns: PatternArgs,
}

/// A load by the times of a segment.
#[derive(Args, Debug)]
#[command(next_help_heading = "Times of one segment: seconds, or a number with s, ms, us or ns")]
struct TimeArgs {
    /// To write it to the device
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["bytes", "measure"], conflicts_with = "bytes")]
    write: Option<f64>,

    /// To process it
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["bytes", "measure"], conflicts_with = "bytes")]
    process: Option<f64>,

    /// To read its results back
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["bytes", "measure"], conflicts_with = "bytes")]
    read: Option<f64>,
}

/// A load by what there is of bytes, and how many a second are done.
#[derive(Args, Debug)]
#[command(
    next_help_heading = "Or sizes, with suffix K, M, G or T, and rates in 10^9 bytes a second"
)]
struct RateArgs {
    /// Size of the whole haystack
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    #[arg(requires_all = ["results", "write_rate", "process_rate", "read_rate"])]
    bytes: Option<u64>,

    /// Size of all results
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "bytes")]
    results: Option<u64>,

    /// Haystack to the device
    #[arg(long, value_name = "GB/S", value_parser = parse_rate, requires = "bytes")]
    #[arg(allow_negative_numbers = true)]
    write_rate: Option<f64>,

    /// Haystack processed
    #[arg(long, value_name = "GB/S", value_parser = parse_rate, requires = "bytes")]
    #[arg(allow_negative_numbers = true)]
    process_rate: Option<f64>,

    /// Results to the host
    #[arg(long, value_name = "GB/S", value_parser = parse_rate, requires = "bytes")]
    #[arg(allow_negative_numbers = true)]
    read_rate: Option<f64>,
}

pub(crate) fn run(args: &ModelArgs) -> anyhow::Result<Outcome> {
    let measured = match &args.measured.measure {
        None => None,
        Some(file) => Some(measure::measure(file, &args.measured, args.segments, args.ring)?),
    };
    let load = match &measured {
        Some(measured) => measured.load,
        None => load(args)?,
    };
    if args.ring.is_some() && args.segments > MOST_SIMULATED {
        bail!("--ring goes through all events: give at most {MOST_SIMULATED} segments, or no ring");
    }
    let predicted = [Channels::One, Channels::Two].map(|c| Prediction::of(&load, c, args.ring));
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", report::json(&load, &predicted, measured.as_ref())?)?;
    } else {
        report::print(&mut out, &load, &predicted)?;
        measured.map_or(Ok(()), |m| m.print(&mut out, &predicted))?;
    }
    out.flush()?;
    Ok(Outcome::Match)
}

fn load(args: &ModelArgs) -> anyhow::Result<Load> {
    let (times, rates) = (&args.times, &args.rates);
    let segment = |bytes: Option<u64>, rate: Option<f64>| {
        Some(bytes? as f64 / args.segments as f64 / (rate? * GIGABYTE))
    };
    let write = times.write.or(segment(rates.bytes, rates.write_rate));
    let process = times.process.or(segment(rates.bytes, rates.process_rate));
    let read = times.read.or(segment(rates.results, rates.read_rate));
    let (Some(write), Some(process), Some(read)) = (write, process, read) else {
        bail!("give --write, --process and --read, or --bytes, --results and three rates");
    };
    Ok(Load::new(args.segments, write, process, read)?)
}

/// Units of time, longest first, and how many there are in a second.
const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)];

/// Reads `1.87ms` and the like.
fn parse_time(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = match text[number.len()..].trim_start() {
        "" => Some(1.0),
        name => UNITS.into_iter().find(|unit| unit.0 == name).map(|unit| unit.1),
    };
    let seconds = number.trim().parse::<f64>().ok().zip(unit).map(|(number, unit)| number / unit);
    seconds.filter(|s| *s >= 0.0 && s.is_finite()).ok_or_else(|| {
        format!("{text:?} is not a time: write a number of seconds, or one with s, ms, us or ns")
    })
}

/// Reads a rate.
fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.trim().parse::<f64>().ok().filter(|r| *r > 0.0 && r.is_finite());
    rate.ok_or_else(|| {
        format!("{text:?} is not a rate: write a number above 0, in 10^9 bytes a second")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (text, seconds) in
            [("0", 0.0), ("2", 2.0), ("1.5ms", 1.5e-3), ("3 us", 3e-6), (".5s", 0.5), ("7ns", 7e-9)]
        {
            assert_eq!(parse_time(text), Ok(seconds), "{text}");
        }
        for text in ["", "ms", "-1", "1h", "1e400", "inf", "NaN", "1 2", "1m s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(parse_rate("55.5"), Ok(55.5));
        for text in ["", "0", "-1", "inf", "5G"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
