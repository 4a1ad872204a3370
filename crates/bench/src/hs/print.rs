//! The table of a run.

use std::collections::BTreeSet;
use std::io::{self, Write};

use fyke_core::PatternSet;
use fyke_rivals::libhs::Mode;

use super::columns::HsRow;
use super::haystacks::Haystacks;
use super::libraries::Libraries;
use crate::number::rounded;
use crate::record::row::Status;
use crate::size::Size;

/// One line about the patterns and the haystacks.
pub(super) fn set_and_haystacks(set: &PatternSet, haystacks: &Haystacks) -> String {
    let lens = || set.iter().map(|p| p.bytes.len());
    format!(
        "{} patterns of {}-{} bytes, {} of which ignore case, in {} of {}, {} B per packet",
        set.len(),
        lens().min().unwrap_or(0),
        lens().max().unwrap_or(0),
        set.nocase_count(),
        Size(haystacks.bytes()),
        haystacks.names,
        haystacks.call,
    )
}

/// The libraries and the head of the table.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn head(out: &mut dyn Write, libraries: &Libraries) -> io::Result<()> {
    let [ours, theirs] = &libraries.0;
    writeln!(
        out,
        "\n{:<24}{:>12}{:>9}{:>12}{:>9}{:>9}",
        "", ours.name, "mad", theirs.name, "mad", "ratio"
    )
}

/// A figure of one library, with the median distance of its samples in percent.
type Figure = (f64, Option<f64>);

/// The lines of a mode: compiling and memory, then each way.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn mode(out: &mut dyn Write, mode: Mode, rows: &[HsRow]) -> io::Result<()> {
    // By the last way the libraries have allocated what they allocate late.
    let Some(last) = rows.last_chunk::<2>() else { return Ok(()) };
    let name = if mode == Mode::Block { "block mode" } else { "streaming mode" };
    writeln!(out, "{name}")?;
    compiled(out, last)?;
    for pair in rows.chunks(2) {
        way(out, pair)?;
    }
    let refused = rows.iter().filter(|r| r.status == Status::Refused);
    let reasons: BTreeSet<(&str, &str)> = refused.map(|r| (&*r.contender, &*r.reason)).collect();
    for (name, why) in reasons {
        writeln!(out, "  {name} refused: {why}")?;
    }
    out.flush()
}

fn compiled(out: &mut dyn Write, pair: &[HsRow]) -> io::Result<()> {
    let compile = |r: &HsRow| {
        let extra = &r.extra;
        let spread = 100.0 * extra.compile_mad_ns / extra.compile_ns;
        (extra.compile_ns > 0.0).then_some((extra.compile_ns / 1e6, Some(spread)))
    };
    line(out, "compile, ms", pair, compile)?;
    let memory = |bytes: u64| (bytes > 0).then_some((bytes as f64 / 1024.0, None));
    line(out, "database, KiB", pair, |r| memory(r.extra.database_bytes))?;
    line(out, "scratch, KiB", pair, |r| memory(r.extra.scratch_bytes))?;
    if pair.iter().any(|r| r.extra.stream_bytes.is_some()) {
        line(out, "state of a stream, B", pair, |r| {
            r.extra.stream_bytes.map(|b| (b as f64, None))
        })?;
    }
    Ok(())
}

fn way(out: &mut dyn Write, pair: &[HsRow]) -> io::Result<()> {
    let name = &pair[0].extra.way;
    let spread = |r: &HsRow| r.mad_ns.map(|mad| 100.0 * mad / r.median_ns);
    let timed = |r: &HsRow, time: f64| r.is_timed().then(|| (time, spread(r)));
    line(out, &format!("{name}, ns/B"), pair, |r| timed(r, r.ns_per_byte()))?;
    line(out, "  ns/call", pair, |r| timed(r, r.extra.call_ns))?;
    if let Some(row) = pair.iter().find(|r| r.matches.is_some()) {
        let (calls, matches) = (row.extra.calls, row.matches.unwrap_or(0));
        writeln!(out, "  calls {calls}, matches {matches}, fingerprint {}", row.fingerprint)?;
    }
    Ok(())
}

/// A line of figures with their ratio; nothing if there is no figure.
fn line(
    out: &mut dyn Write,
    name: &str,
    pair: &[HsRow],
    figure: impl Fn(&HsRow) -> Option<Figure>,
) -> io::Result<()> {
    let figures: Vec<Option<Figure>> = pair.iter().map(figure).collect();
    if figures.iter().all(Option::is_none) {
        return Ok(());
    }
    let mut text = format!("  {name:<22}");
    for figure in &figures {
        let value = figure.map_or("-".into(), |(value, _)| rounded(value));
        let spread = figure.and_then(|(_, s)| s).map_or(String::new(), |s| format!("{s:.1} %"));
        text += &format!("{value:>12}{spread:>9}");
    }
    if let [Some((ours, _)), Some((theirs, _))] = figures[..] {
        text += &format!("{:>8}x", rounded(theirs / ours));
    }
    writeln!(out, "{}", text.trim_end())
}
