//! Completion times of host-to-host strategies: the data begin in host memory, and the results end
//! there.
//!
//! The haystack is cut into `s` segments. Each is written to the device in `tw` seconds, processed
//! there in `tp`, and its results are read back in `tr` (see [`Load`]). The segments in flight
//! share two or three workers: the device's kernels, and one channel for both directions or one
//! for each ([`Channels`]). `Tw`, `Tp` and `Tr` are `s` times `tw`, `tp` and `tr`. Two strategies
//! order the tasks:
//!
//! * **A**: all writes are queued, then all segments are processed, then all results are read. The
//!   device needs memory for every segment and its results.
//! * **B**: two buffers for segments, two for results. While a segment is processed the next one
//!   is written and the results of the previous one are read; then the host waits for all three.
//!
//! Four segments with tw = tr = 3 and tp = 4, one channel (`w0` is the write of segment 0), one
//! character per second:
//!
//! ```text
//! A: channel     w0-w1-w2-w3-r0-r1-r2-r3-
//! A: kernels        p0--p1--p2--p3--
//! B: channel     w0-w1- r0-w2-r1-w3-r2- r3-
//! B: kernels        p0--p1--  p2--  p3--
//! ```
//!
//! A ends after 24 seconds, in which its channel is never idle. B's channel is idle twice, in the
//! first round and in the last. With a channel for each direction B loses if processing is short;
//! here with tw = tr = 3 and tp = 1, which leaves room for the number only:
//!
//! ```text
//! A: writes      w0-w1-w2-w3-
//! A: kernels        0  1  2  3
//! A: reads           r0-r1-r2-r3-
//! B: writes      w0-w1-w2-w3-
//! B: kernels        0  1  2  3
//! B: reads             r0-r1-r2-r3-
//! ```
//!
//! # When to use which
//! A is never later than any other strategy, with one channel (theorem 6.3) or two (6.7):
//! [`lower_bound`] is the time that no order of the tasks can beat, and A meets it. The question
//! is what B's smaller memory costs ([`why_b`]):
//!
//! * One channel: nothing if `tp >= tw + tr` (the kernels never wait), if `tp` is no longer than
//!   either transfer (the channel is never idle), or with two segments, where A has no more
//!   buffers than B. Between the two B has its idle times: with `tp <= tw + tr`, theorem 6.4 is
//!   `TB = Tw + Tr + max(tp - tw, 0) + max(tp - tr, 0)`.
//! * Two channels: nothing if `tp` is at least the shorter of the two transfers.
//!
//! # Corrections of the source
//! The theorems hold. One line of the summary does not: "the completion time when strategy B is
//! used is at most 13.33% more than when strategy A is used and this bound is tight". It is at
//! most `(s - 2) / s²` more, so 12.5 % with four segments, and that is tight ([`worst_b`]). Let `u
//! = tw + tr` and `d = TB - TA`. `d` is 0 if `tp >= u`, or if `tp` is no longer than either
//! transfer. Otherwise two paths of A bound it:
//!
//! * `tp` longer than both transfers: `TA >= s u` and `TA >= u + s tp` give `d <= 2 tp - u` and
//!   `d <= (s - 2) (u - tp)`.
//! * `tp` longer than one only, of `t` seconds: `d <= tp - t` and `d <= (s - 2) t`.
//!
//! `(s - 2) / s` times the first bound plus `2 / s` times the second is at most `u (s - 2) / s`,
//! and `TA >= s u`. With two channels the summary is right: at most `1 / (s + 1)` more, a third
//! with two segments. In table 6-6 a speedup of 0.82 should be 319.23 / 412.55 = 0.77; and the
//! measured times of several segments are those of one, as if nothing had overlapped.
//!
//! The source only mentions a hybrid: "We could, of course, couple strategies A and B to obtain a
//! hybrid strategy". [`simulate::ring`] is ours: `k` buffers of each kind, and tasks wait only for
//! a free buffer or for data. With two channels a ring of two meets the lower bound, so B loses
//! there by waiting for all tasks. With one channel a ring of `k` is at most `(s - k) / s²` above
//! it, and so at most `1 / 4k`, in every case that the tests try; that is not proved.
//!
//! Source: X. Zha, *Multi-pattern string matching algorithms*, dissertation, 2010, section 6.4,
//! theorems 6.2 to 6.9; X. Zha and S. Sahni, *Multipattern string matching on a GPU*, 2011,
//! section V, which summarizes them. [`closed`] has the closed forms; [`simulate`] runs the
//! strategies event by event, and property tests compare the two.

pub mod closed;
#[cfg(test)]
mod paper;
pub mod simulate;
#[cfg(test)]
mod tests;

pub use closed::{Completion, Path, WhyB, lower_bound, strategy_a, strategy_b, why_b, worst_b};

use std::fmt;

/// How host and device are connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One transfer at a time, to the device or from it.
    One,
    /// One each way, at the same time.
    Two,
}

/// The input of the model: a number of equal segments, and the seconds of each stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    segments: u64,
    write: f64,
    process: f64,
    read: f64,
}

impl Load {
    /// `segments` segments that take `write` seconds to the device, `process` there and `read`
    /// back.
    ///
    /// # Errors
    /// There are no segments, or a time is negative or not finite.
    pub fn new(segments: u64, write: f64, process: f64, read: f64) -> Result<Self, BadLoad> {
        if segments == 0 {
            return Err(BadLoad::NoSegments);
        }
        for (what, seconds) in [("write", write), ("process", process), ("read", read)] {
            if !(seconds >= 0.0 && seconds.is_finite()) {
                return Err(BadLoad::Time { what, seconds });
            }
        }
        Ok(Self { segments, write, process, read })
    }

    /// The number of segments, s.
    pub fn segments(&self) -> u64 {
        self.segments
    }

    /// Seconds to write a segment to the device, tw.
    pub fn write(&self) -> f64 {
        self.write
    }

    /// Seconds to process a segment, tp.
    pub fn process(&self) -> f64 {
        self.process
    }

    /// Seconds to read the results of a segment back, tr.
    pub fn read(&self) -> f64 {
        self.read
    }

    /// s as a floating-point number.
    fn s(&self) -> f64 {
        self.segments as f64
    }
}

/// Why a [`Load`] is invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BadLoad {
    /// There is nothing to do.
    NoSegments,
    /// A time is negative or not finite.
    Time {
        /// The stage: `write`, `process` or `read`.
        what: &'static str,
        /// The time that was given.
        seconds: f64,
    },
}

impl fmt::Display for BadLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BadLoad::NoSegments => f.write_str("there are 0 segments: give 1 or more"),
            BadLoad::Time { what, seconds } => {
                write!(f, "{seconds} s is no time to {what} a segment: give 0 or more seconds")
            }
        }
    }
}

impl std::error::Error for BadLoad {}
