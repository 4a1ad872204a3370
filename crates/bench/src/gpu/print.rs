//! Text that a run prints: one line per row.

use std::io::{self, Write};

use super::columns::GpuRow;
use crate::record::row::Status;

/// Prints a row.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn row(out: &mut dyn Write, row: &GpuRow) -> io::Result<()> {
    match row.status {
        Status::Timed if row.extra.way != "resident" => stream(out, row),
        Status::Timed if row.extra.devices > 1 => devices(out, row),
        Status::Timed => resident(out, row),
        Status::Verified => {
            let (name, matches) = (&row.cell, row.matches.unwrap_or(0));
            writeln!(out, "{name:24} {:20} verified: {matches} matches", row.contender)
        }
        Status::Refused | Status::Wrong => {
            writeln!(out, "{:24} {:20} {}", row.cell, row.contender, row.reason)
        }
    }
}

fn resident(out: &mut dyn Write, row: &GpuRow) -> io::Result<()> {
    let extra = &row.extra;
    let (bytes, share) = (row.bytes as f64, extra.share.unwrap_or(0.0));
    let records = extra.records.unwrap_or(0) as f64;
    let what = if extra.counted { "counted" } else { "records" };
    let verdict = match extra.must {
        Some(must) if share < must => format!("below its minimum of {:.0} %", must * 100.0),
        Some(must) => format!("minimum {:.0} %", must * 100.0),
        None => String::new(),
    };
    writeln!(
        out,
        "{:24} {:20} {:7} {:8.1} GB/s {:5.1} % of {:.0} ±{:.1} %  {} patterns, {:.4} candidates/B, \
         {:.4} {what}/B, {:.2e} {what}/s, {} matches {} {verdict}",
        row.cell,
        row.contender,
        extra.backend,
        extra.gb_per_s,
        share * 100.0,
        extra.bound_gb_per_s.unwrap_or(0.0),
        row.spread.unwrap_or(0.0) * 50.0,
        row.patterns,
        extra.candidates.unwrap_or(0) as f64 / bytes,
        records / bytes,
        records / row.median_ns * 1e9,
        row.matches.unwrap_or(0),
        row.fingerprint,
    )
}

fn devices(out: &mut dyn Write, row: &GpuRow) -> io::Result<()> {
    writeln!(
        out,
        "    {} on {} devices: {:.1} GB/s, {:.2} times one",
        row.contender,
        row.extra.devices,
        row.extra.gb_per_s,
        row.extra.times_one.unwrap_or(0.0)
    )
}

fn stream(out: &mut dyn Write, row: &GpuRow) -> io::Result<()> {
    let beside = match (row.extra.share, row.extra.bound_gb_per_s) {
        (Some(share), Some(bound)) => format!("{:6.1} % of copies at {bound:.1}", share * 100.0),
        _ => format!("on {} devices", row.extra.devices),
    };
    writeln!(
        out,
        "{:24} {:20} {:10} {:8.2} GB/s {beside} ±{:.1} %",
        row.cell,
        row.contender,
        row.extra.way,
        row.extra.gb_per_s,
        row.spread.unwrap_or(0.0) * 50.0
    )
}
