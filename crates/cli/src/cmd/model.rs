//! `fyke model`: the time to send a haystack to a GPU, scan it and read the results back.
//!
//! It compares the strategies of the completion-time model by prediction, and by measurement with
//! `--measure`.

use crate::number;
use crate::outcome::Outcome;
use anyhow::bail;
use clap::Args;
use fyke_papers::model::{Channels, Load};
use measure::MeasureArgs;
use report::{Prediction, UNITS};
use std::io::{self, Write};
use std::ops::RangeInclusive;

mod measure;
mod report;

/// Maximum of `--segments`: a larger number is a typing error.
const MAX_SEGMENTS: u64 = 1_000_000_000;

/// Maximum of segments with `--ring`, whose prediction simulates every event.
const MAX_SIMULATED: u64 = 100_000;

/// Maximum time of a segment in seconds, about 30 years: times of all segments stay finite.
const MAX_SECONDS: f64 = 1e9;

/// Range of rates in GB/s, from one byte per second.
const RATES: RangeInclusive<f64> = 1e-9..=1e9;

/// Bytes per GB, the decimal unit that data sheets of links and memories use.
const GIGABYTE: f64 = 1e9;

const NOTES: &str = "\
The haystack is split into equal segments. Each segment is written to the device and processed, \
and its results are read back. Strategy A queues all segments at once and needs device memory \
for all of them. Strategy B has two buffers for segments and two for results; each round waits \
for its write, its processing and its read. A is never slower than B (Zha 2010, theorems 6.2 to \
6.9). With one channel between host and device, a write and a read cannot overlap.

--measure sends a file through a device. It times the stages of a segment for the prediction, \
then runs each strategy and zero-copy, where kernels read host memory. It takes the engines \
that write a state for each byte, gpu-ac0 to gpu-ac4.

In the output tw, tp and tr are the times of one segment; Tw, Tp and Tr are the times of all \
segments. `choice` is B if it is as fast as A, because it needs less memory.

Examples:
  fyke model --segments 90 --write 1.87ms --process 2.73ms --read 3.63ms
  fyke model --segments 64 --bytes 4G --results 8G \\
    --write-rate 55.5 --process-rate 600 --read-rate 55.3
  fyke model --segments 10 --ring 3 --measure FILE -f PATTERNS --repeat 900M";

/// Arguments of `fyke model`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(crate) struct ModelArgs {
    /// Number of segments of the haystack
    #[arg(long, value_name = "N", value_parser = number::within(1..=MAX_SEGMENTS))]
    #[arg(allow_negative_numbers = true)]
    segments: u64,

    /// Also predict a ring of K buffers for segments and K for results, in which a stage waits
    /// only for a free buffer or for its data
    #[arg(long, value_name = "K", value_parser = number::within(1..=MAX_SEGMENTS))]
    #[arg(allow_negative_numbers = true)]
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

/// A load, given by the times of a segment.
#[derive(Args, Debug)]
#[command(next_help_heading = "Times of one segment: seconds, or a number with s, ms, us or ns")]
struct TimeArgs {
    /// Time to write it to the device
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["bytes", "measure"], conflicts_with = "bytes")]
    write: Option<f64>,

    /// Time to process it
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["bytes", "measure"], conflicts_with = "bytes")]
    process: Option<f64>,

    /// Time to read its results back
    #[arg(long, value_name = "TIME", value_parser = parse_time, allow_negative_numbers = true)]
    #[arg(required_unless_present_any = ["bytes", "measure"], conflicts_with = "bytes")]
    read: Option<f64>,
}

/// A load, given by sizes and rates.
#[derive(Args, Debug)]
#[command(
    next_help_heading = "Or sizes, with suffix K, M, G or T, and rates in 10^9 bytes per second"
)]
struct RateArgs {
    /// Size of the whole haystack
    #[arg(long, value_name = "SIZE", value_parser = number::size, allow_negative_numbers = true)]
    #[arg(requires_all = ["results", "write_rate", "process_rate", "read_rate"])]
    bytes: Option<u64>,

    /// Size of all results
    #[arg(long, value_name = "SIZE", value_parser = number::size, requires = "bytes")]
    #[arg(allow_negative_numbers = true)]
    results: Option<u64>,

    /// Rate of writing the haystack to the device
    #[arg(long, value_name = "GB/S", value_parser = parse_rate, requires = "bytes")]
    #[arg(allow_negative_numbers = true)]
    write_rate: Option<f64>,

    /// Rate of processing the haystack
    #[arg(long, value_name = "GB/S", value_parser = parse_rate, requires = "bytes")]
    #[arg(allow_negative_numbers = true)]
    process_rate: Option<f64>,

    /// Rate of reading the results back
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
    if args.ring.is_some() && args.segments > MAX_SIMULATED {
        let n = args.segments;
        bail!("--segments {n}: with --ring the limit is {MAX_SIMULATED}; give fewer, or no --ring");
    }
    let predicted = [Channels::One, Channels::Two].map(|c| Prediction::of(&load, c, args.ring));
    let mut out = io::stdout().lock();
    if args.json {
        writeln!(out, "{}", report::json(&load, &predicted, measured.as_ref().map(|m| m.json()))?)?;
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
        bail!("no load: give --write, --process and --read, or --bytes, --results and three rates");
    };
    Ok(Load::new(args.segments, write, process, read)?)
}

/// Parses a time such as `1.87ms`.
fn parse_time(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end();
    let unit = match text[number.len()..].trim_start() {
        "" => Some(1.0),
        name => UNITS.into_iter().find(|unit| unit.0 == name).map(|unit| unit.1),
    };
    let seconds = number.trim().parse::<f64>().ok().zip(unit).map(|(number, unit)| number / unit);
    seconds.filter(|s| (0.0..=MAX_SECONDS).contains(s)).ok_or_else(|| {
        format!("give a number from 0 to {MAX_SECONDS} seconds, or with unit s, ms, us or ns")
    })
}

/// Parses a rate in GB/s.
fn parse_rate(text: &str) -> Result<f64, String> {
    let rate = text.trim().parse::<f64>().ok().filter(|r| RATES.contains(r));
    rate.ok_or_else(|| {
        let (min, max) = (RATES.start(), RATES.end());
        format!("give a number from {min:e} to {max}, in 10^9 bytes per second")
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
        for text in ["", "ms", "-1", "1h", "1e300", "1e400", "inf", "NaN", "1 2", "1m s"] {
            assert!(parse_time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates() {
        assert_eq!(parse_rate("55.5"), Ok(55.5));
        for text in ["", "0", "-1", "inf", "5G", "1e-300", "1e300"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
    }
}
