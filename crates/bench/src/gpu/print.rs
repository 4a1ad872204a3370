//! Lines and records of rows.

use std::io::Write;

use anyhow::Result;

use super::rows::Row;
use super::run::Measured;
use super::stream::Streams;

/// The columns of the record.
pub(super) const COLUMNS: &str = "row,engine,backend,device,patterns,bytes,matches,fingerprint,records,counted,candidates,\
                                  seconds,spread,gb_per_s,read_gb_per_s,share,must,aim";

impl Measured {
    /// Bytes a second, in units of 10^9.
    pub(super) fn rate(&self) -> f64 {
        self.bytes as f64 / self.seconds / 1e9
    }

    fn read_rate(&self) -> f64 {
        self.bytes as f64 / self.read_seconds / 1e9
    }

    /// Its share of the read rate.
    pub(super) fn share(&self) -> f64 {
        self.rate() / self.read_rate()
    }

    /// A line of the record.
    pub(super) fn csv(&self, row: &Row) -> String {
        let limit = |share: Option<f64>| share.map_or(String::new(), |s| s.to_string());
        format!(
            "{},{},{},{},{},{},{},{:016x},{},{},{},{:.9},{:.3},{:.1},{:.1},{:.4},{},{}",
            row.name,
            self.engine.replace(',', ";"),
            self.backend,
            self.device.replace(',', " "),
            self.patterns,
            self.bytes,
            self.matches,
            self.fingerprint,
            self.records,
            self.counted,
            self.candidates,
            self.seconds,
            self.spread,
            self.rate(),
            self.read_rate(),
            self.share(),
            limit(row.must),
            limit(row.aim)
        )
    }

    /// A line for people.
    pub(super) fn line(&self, row: &Row, out: &mut dyn Write) -> Result<()> {
        let verdict = match row.must {
            Some(must) if self.share() < must => format!("must {:.0} %: short", must * 100.0),
            Some(must) => format!("must {:.0} %", must * 100.0),
            None => String::new(),
        };
        let what = if self.counted { "counted" } else { "records" };
        writeln!(
            out,
            "{:24} {:20} {:7} {:8.1} GB/s {:5.1} % of {:.0} ±{:.1} %  {} patterns, {:.4} candidates/B, {:.4} {what}/B, \
             {:.2e} {what}/s, {} matches {:016x} {verdict}",
            row.name,
            self.engine,
            self.backend,
            self.rate(),
            self.share() * 100.0,
            self.read_rate(),
            self.spread * 50.0,
            self.patterns,
            self.candidates as f64 / self.bytes as f64,
            self.records as f64 / self.bytes as f64,
            self.records as f64 / self.seconds,
            self.matches,
            self.fingerprint,
        )?;
        Ok(())
    }
}

/// The columns of the record of `--stream`.
pub(super) const STREAM_COLUMNS: &str = "row,engine,backend,device,way,patterns,bytes,matches,seconds,spread,gb_per_s,copy_gb_per_s,share";

impl Streams {
    /// A line of the record for each way.
    pub(super) fn csv(&self, row: &Row) -> Vec<String> {
        let line = |way: &super::stream::Streamed| {
            format!(
                "{},{},{},{},{},{},{},{},{:.9},{:.3},{:.2},{:.2},{:.4}",
                row.name,
                self.engine.replace(',', ";"),
                self.backend,
                self.device.replace(',', " "),
                way.way,
                self.patterns,
                self.bytes,
                way.matches,
                way.seconds,
                way.spread,
                self.rate(way.seconds),
                self.copy_rate / 1e9,
                self.rate(way.seconds) * 1e9 / self.copy_rate,
            )
        };
        self.ways.iter().map(line).collect()
    }

    /// Lines for people.
    pub(super) fn lines(&self, row: &Row, out: &mut dyn Write) -> Result<()> {
        writeln!(
            out,
            "{} {} on {} ({}): {} patterns, {} matches, copies to the device {:.1} GB/s",
            row.name,
            self.engine,
            self.device,
            self.backend,
            self.patterns,
            self.ways.first().map_or(0, |w| w.matches),
            self.copy_rate / 1e9
        )?;
        for way in &self.ways {
            let rate = self.rate(way.seconds);
            writeln!(
                out,
                "  {:10} {rate:8.2} GB/s {:6.1} % of copies ±{:.1} %",
                way.way,
                rate * 1e11 / self.copy_rate,
                way.spread * 50.0
            )?;
        }
        Ok(())
    }

    /// 10^9 bytes a second.
    fn rate(&self, seconds: f64) -> f64 {
        self.bytes as f64 / seconds / 1e9
    }
}
