//! Compatibility: whose bugs a carve reproduces, and how Scalpel 1.60 collects hits.
//!
//! Scalpel 1.60 searches an image in buffers of 10 MiB. Each begins `longest - 1` bytes before the
//! end of the one before, where `longest` is the length of the longest needle of all rules. What
//! follows from that, and is reproduced:
//!
//! * A shorter needle that lies inside such an overlap is hit twice (B2). The second hit comes
//!   after all hits of the earlier buffer, so the list is not in ascending order.
//! * An image that is shorter than the longest needle is not searched (B8).
//! * Footers are searched only in buffers that some header can reach, which changes the chop flag
//!   (B4). A footer of a REVERSE rule is lost if it begins a buffer and is exactly `max` bytes after
//!   its header (B9).
//! * Without overlapping hits (`-r`), each buffer begins anew.

use crate::hit::NeedleHits;
use crate::rule::{Rule, RuleSet};

/// Whose bugs a carve reproduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Compat {
    /// Nobody's.
    #[default]
    None,
    /// Those of Scalpel 1.60, so that rows are equal.
    Scalpel160,
}

/// The bytes that Scalpel 1.60 reads at once.
pub const SCALPEL_BUFFER: u64 = 10 << 20;

/// The buffers in which Scalpel 1.60 searches an image.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    next: u64,
    image_len: u64,
    overlap: u64,
}

impl Buffers {
    /// The buffers of an image whose first `skip` bytes are not searched.
    #[must_use]
    pub fn new(rules: &RuleSet, image_len: u64, skip: u64) -> Self {
        let needles = rules.rules.iter().flat_map(|rule| [Some(rule.header), rule.footer]);
        let lengths = needles.flatten().map(|id| rules.needle(id).max_len() as u64);
        Self { next: skip, image_len, overlap: lengths.max().unwrap_or(0).saturating_sub(1) }
    }

    /// Skips the buffers that end before `offset`.
    fn skip_to(&mut self, offset: u64) {
        if let Some(far) = offset.checked_sub(self.next.saturating_add(SCALPEL_BUFFER)) {
            // All buffers but the last have the same length.
            let stride = SCALPEL_BUFFER - self.overlap;
            self.next += (far / stride + 1) * stride;
        }
    }
}

/// One buffer: a range of the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Its first byte.
    pub start: u64,
    /// The offset after its last byte.
    pub end: u64,
}

impl Iterator for Buffers {
    type Item = Buffer;

    fn next(&mut self) -> Option<Buffer> {
        let len = self.image_len.saturating_sub(self.next).min(SCALPEL_BUFFER);
        if len <= self.overlap {
            return None;
        }
        let buffer = Buffer { start: self.next, end: self.next + len };
        self.next = buffer.end - self.overlap;
        Some(buffer)
    }
}

/// Hits in the order in which Scalpel 1.60 finds them.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScalpelList {
    /// Offsets; ascending within a run.
    pub(crate) starts: Vec<u64>,
    /// Where each run ends in `starts`. There is one per buffer that has hits.
    pub(crate) runs: Vec<usize>,
}

impl ScalpelList {
    fn close_run(&mut self) {
        if self.starts.len() > self.runs.last().copied().unwrap_or(0) {
            self.runs.push(self.starts.len());
        }
    }

    /// Adds the hits that lie inside `buffer`.
    fn add(&mut self, hits: &NeedleHits, buffer: Buffer, no_overlap: bool) {
        let from = hits.starts.partition_point(|&start| start < buffer.start);
        let mut free = 0;
        for (index, &start) in hits.starts.iter().enumerate().skip(from) {
            let end = start + hits.len_of(index);
            if end > buffer.end {
                break;
            }
            if no_overlap && start < free {
                continue;
            }
            free = end;
            self.starts.push(start);
        }
        self.close_run();
    }
}

/// The headers and footers of `rule` as Scalpel 1.60 collects them.
pub(crate) fn scalpel_lists(
    rule: &Rule,
    headers: &NeedleHits,
    footers: Option<&NeedleHits>,
    mut buffers: Buffers,
    options: ListOptions,
) -> (ScalpelList, ScalpelList) {
    let mut lists = (ScalpelList::default(), ScalpelList::default());
    let first_from = |hits: &NeedleHits, offset| {
        hits.starts.get(hits.starts.partition_point(|&start| start < offset)).copied()
    };
    loop {
        let header = first_from(headers, buffers.next);
        let footer = footers.and_then(|footers| first_from(footers, buffers.next));
        let Some(hit) = header.into_iter().chain(footer).min() else { break };
        buffers.skip_to(hit);
        let Some(buffer) = buffers.next() else { break };
        lists.0.add(headers, buffer, options.no_overlap);
        let reaches = |&header: &u64| header > buffer.start || buffer.start - header < rule.max_len;
        if let Some(footers) = footers
            && (options.all_footers || lists.0.starts.last().is_some_and(reaches))
        {
            lists.1.add(footers, buffer, options.no_overlap);
        }
    }
    lists
}

/// How Scalpel 1.60 collects hits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListOptions {
    /// Skip hits that overlap an earlier one (`-r`).
    pub(crate) no_overlap: bool,
    /// Collect footers that no header reaches too (`-d`).
    pub(crate) all_footers: bool,
}
