//! The closed forms, theorem by theorem. The conditions are those of the proofs; times are in
//! seconds.

use super::{Channels, Load};

/// The critical path of a schedule: the tasks whose times add up to the completion time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// `Tw + Tr`: the one channel is never idle.
    Transfers,
    /// `Tw + tp + tr`: all writes, then processing and reading the last segment.
    Writes,
    /// `tw + Tp + tr`: the first write, then all processing, then the last read.
    Processing,
    /// `tw + tp + Tr`: writing and processing the first segment, then all reads.
    Reads,
}

impl Path {
    /// The sum as the source writes it.
    pub fn formula(self) -> &'static str {
        match self {
            Path::Transfers => "Tw + Tr",
            Path::Writes => "Tw + tp + tr",
            Path::Processing => "tw + Tp + tr",
            Path::Reads => "tw + tp + Tr",
        }
    }

    /// Its length.
    pub fn seconds(self, load: &Load) -> f64 {
        let (s, tw, tp, tr) = (load.s(), load.write, load.process, load.read);
        match self {
            Path::Transfers => s * tw + s * tr,
            Path::Writes => s * tw + tp + tr,
            Path::Processing => tw + s * tp + tr,
            Path::Reads => tw + tp + s * tr,
        }
    }

    /// The paths that no strategy can shorten.
    fn all(channels: Channels) -> &'static [Path] {
        match channels {
            Channels::One => &[Path::Transfers, Path::Writes, Path::Processing, Path::Reads],
            Channels::Two => &[Path::Writes, Path::Processing, Path::Reads],
        }
    }
}

/// The completion time of strategy A, and the case of the theorem that gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Completion {
    /// The time.
    pub seconds: f64,
    /// Its critical path.
    pub path: Path,
    /// The theorem's number.
    pub theorem: &'static str,
    /// The case of the theorem; those of theorem 6.6 have no names in the source and are numbered
    /// here.
    pub case: &'static str,
}

/// The completion time of strategy A, T_A: theorem 6.2 with one channel, theorem 6.6 with two. A
/// single segment is written, processed and read by any strategy (section 6.4.2, before theorem
/// 6.2).
pub fn strategy_a(load: &Load, channels: Channels) -> Completion {
    let (theorem, (case, path)) = match channels {
        _ if load.segments == 1 => ("of one segment", ("", Path::Writes)),
        Channels::One => ("6.2", theorem_6_2(load)),
        Channels::Two => ("6.6", theorem_6_6(load)),
    };
    Completion { seconds: path.seconds(load), path, theorem, case }
}

/// Theorem 6.2. The cases are whether the last read waits for the previous read or for its
/// segment, and whether the first read waits for the last write.
fn theorem_6_2(load: &Load) -> (&'static str, Path) {
    let (tw, tp, tr) = (load.write, load.process, load.read);
    let later = load.s() - 1.0;
    if tw >= tp {
        return if tp <= later * tr { ("1a", Path::Transfers) } else { ("2", Path::Writes) };
    }
    match (tp > later * tw, tr > tp) {
        (true, true) => ("3", Path::Reads),
        (true, false) => ("4a", Path::Processing),
        (false, true) => ("1b", Path::Transfers),
        // The channel waits for some segment to be processed; if for any, then for the last.
        (false, false) if tw + load.s() * tp > load.s() * tw + later * tr => {
            ("4b", Path::Processing)
        }
        (false, false) => ("1c", Path::Transfers),
    }
}

/// Theorem 6.6: the longest of the three tasks counts s times, the others once.
fn theorem_6_6(load: &Load) -> (&'static str, Path) {
    let (tw, tp, tr) = (load.write, load.process, load.read);
    if tw >= tp && tw >= tr {
        ("1", Path::Writes)
    } else if tp > tw && tp >= tr {
        ("2", Path::Processing)
    } else {
        ("3", Path::Reads)
    }
}

/// The completion time of strategy B, T_B: theorem 6.4 with one channel, theorem 6.8 with two.
///
/// The first round writes and processes, the `s - 2` middle rounds write, process and read, the
/// last one processes and reads; the first segment is written before the rounds, and the last
/// results are read after them. Only in the middle rounds it matters whether a write and a read
/// share a channel.
pub fn strategy_b(load: &Load, channels: Channels) -> f64 {
    let (tw, tp, tr) = (load.write, load.process, load.read);
    if load.segments == 1 {
        return tw + tp + tr;
    }
    let transfers = match channels {
        Channels::One => tw + tr,
        Channels::Two => tw.max(tr),
    };
    tw + tw.max(tp) + (load.s() - 2.0) * transfers.max(tp) + tp.max(tr) + tr
}

/// The time that no strategy can beat, L: theorem 6.3 with one channel, theorem 6.7 with two.
/// Segments are written, processed and read in order, each task without interruption (assumptions
/// of section 6.4.2).
pub fn lower_bound(load: &Load, channels: Channels) -> f64 {
    Path::all(channels).iter().map(|p| p.seconds(load)).fold(0.0, f64::max)
}

/// How strategy B compares with strategy A, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyB {
    /// B's buffers hold all segments: there is one, or there are two and one channel.
    Fits,
    /// Processing takes at least as long as the transfers meanwhile: `tw + tr` on one channel, the
    /// shorter of the two on two.
    Covered,
    /// One channel, and processing takes no longer than either transfer: the channel is never
    /// idle.
    Saturated,
    /// One channel, and transfers in one direction take no time.
    OneWay,
    /// B is later (theorems 6.5 and 6.9 show one example each).
    Later,
}

/// Whether and why strategy B is as early as strategy A. [`WhyB::Later`] exactly if T_B > T_A.
pub fn why_b(load: &Load, channels: Channels) -> WhyB {
    let (tw, tp, tr) = (load.write, load.process, load.read);
    let shorter = tw.min(tr);
    match channels {
        _ if load.segments == 1 => WhyB::Fits,
        Channels::Two if tp >= shorter => WhyB::Covered,
        Channels::Two => WhyB::Later,
        Channels::One if load.segments == 2 => WhyB::Fits,
        Channels::One if tp >= tw + tr => WhyB::Covered,
        Channels::One if tp <= shorter => WhyB::Saturated,
        Channels::One if shorter == 0.0 => WhyB::OneWay,
        Channels::One => WhyB::Later,
    }
}

/// The largest T_B / T_A over all times, for a number of segments: `1 + (s - 2) / s²` with one
/// channel, met with `tp = tr = (s - 1) tw`; `1 + 1 / (s + 1)` with two, met with `tp = 0` and `tw
/// = tr`. The [module's page](super) has the proof.
pub fn worst_b(segments: u64, channels: Channels) -> f64 {
    let s = segments as f64;
    match (segments, channels) {
        (0 | 1, _) => 1.0,
        (_, Channels::One) => 1.0 + (s - 2.0) / (s * s),
        (_, Channels::Two) => 1.0 + 1.0 / (s + 1.0),
    }
}
