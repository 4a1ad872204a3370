//! The hits of a rule's header or footer, in the order in which pairing looks at them.

use crate::compat::{Buffers, Compat, ListOptions, ScalpelList, scalpel_lists};
use crate::hit::{Hits, Lengths, NeedleHits};
use crate::rule::{Rule, RuleSet};
use std::borrow::Cow;

use super::PairOptions;

/// Hits in runs: offsets ascend within a run. Without compatibility there is one run.
#[derive(Clone, Debug)]
pub(crate) struct HitList<'a> {
    pub(crate) starts: Cow<'a, [u64]>,
    lengths: Cow<'a, Lengths>,
    /// Where each run ends.
    runs: Vec<usize>,
}

impl<'a> HitList<'a> {
    fn of_scalpel(list: ScalpelList, hits: &'a NeedleHits) -> Self {
        let ScalpelList { starts, runs } = list;
        Self { starts: starts.into(), lengths: Cow::Borrowed(&hits.lengths), runs }
    }

    /// The hits from `skip` on. `no_overlap` leaves out those that overlap an earlier one.
    fn of_hits(hits: &'a NeedleHits, skip: u64, no_overlap: bool) -> Self {
        let from = hits.starts.partition_point(|&start| start < skip);
        let (starts, lengths) = if no_overlap {
            let kept = first_of_overlapping(hits, from);
            let starts = kept.iter().map(|&index| hits.starts[index]).collect();
            (Cow::Owned(starts), Cow::Owned(lengths_at(hits, kept)))
        } else if from > 0 {
            let starts = Cow::Borrowed(&hits.starts[from..]);
            (starts, Cow::Owned(lengths_at(hits, (from..hits.starts.len()).collect())))
        } else {
            (Cow::Borrowed(&hits.starts[..]), Cow::Borrowed(&hits.lengths))
        };
        Self { runs: vec![starts.len()], starts, lengths }
    }

    fn empty() -> Self {
        Self { starts: Cow::Borrowed(&[]), lengths: Cow::Owned(Lengths::Fixed(0)), runs: vec![] }
    }

    /// Where the hit with this index ends.
    pub(super) fn end_of(&self, index: usize) -> u64 {
        let len = match &*self.lengths {
            Lengths::Fixed(len) => *len,
            Lengths::Each(lengths) => lengths[index],
        };
        self.starts[index] + u64::from(len)
    }
}

/// The hits that remain if a search goes on after the end of each hit.
fn first_of_overlapping(hits: &NeedleHits, from: usize) -> Vec<usize> {
    let mut free = 0;
    let mut is_free = |&index: &usize| {
        let start = hits.starts[index];
        let is_free = start >= free;
        if is_free {
            free = start + hits.len_of(index);
        }
        is_free
    };
    (from..hits.starts.len()).filter(|index| is_free(index)).collect()
}

fn lengths_at(hits: &NeedleHits, indices: Vec<usize>) -> Lengths {
    match &hits.lengths {
        Lengths::Fixed(len) => Lengths::Fixed(*len),
        Lengths::Each(all) => Lengths::Each(indices.into_iter().map(|i| all[i]).collect()),
    }
}

/// The headers and footers of `rule`.
pub(crate) fn lists<'a>(
    rules: &RuleSet,
    rule: &Rule,
    hits: &'a Hits,
    options: &PairOptions,
) -> (HitList<'a>, HitList<'a>) {
    let headers = hits.of(rule.header);
    let footers = rule.footer.map(|footer| hits.of(footer));
    let PairOptions { skip, no_overlap, all_footers, compat, .. } = *options;
    match compat {
        Compat::None => {
            let list = |hits| HitList::of_hits(hits, skip, no_overlap);
            (list(headers), footers.map_or_else(HitList::empty, list))
        }
        Compat::Scalpel160 => {
            let buffers = Buffers::new(rules, hits.image_len, skip);
            let how = ListOptions { no_overlap, all_footers };
            let (first, second) = scalpel_lists(rule, headers, footers, buffers, how);
            let second = footers.map_or_else(HitList::empty, |f| HitList::of_scalpel(second, f));
            (HitList::of_scalpel(first, headers), second)
        }
    }
}

/// Looks for footers of headers, in the headers' order. It never goes back to before a footer that
/// lay before an earlier header; in a list of several runs that decides what is found.
pub(super) struct FooterSearch<'a> {
    list: HitList<'a>,
    /// The first footer that is looked at.
    next: usize,
    /// The run that has it.
    run: usize,
}

impl<'a> FooterSearch<'a> {
    pub(super) fn new(list: HitList<'a>) -> Self {
        Self { list, next: 0, run: 0 }
    }

    pub(super) fn start_of(&self, index: usize) -> u64 {
        self.list.starts[index]
    }

    pub(super) fn end_of(&self, index: usize) -> u64 {
        self.list.end_of(index)
    }

    /// The first footer that begins after `start`.
    pub(super) fn first(&mut self, start: u64) -> Option<usize> {
        for run in self.run..self.list.runs.len() {
            let end = self.list.runs[run];
            let after = self.skip_to(run, start);
            if after < end {
                return Some(after);
            }
        }
        None
    }

    /// The last footer that begins after `start`, at most `max` bytes after it.
    pub(super) fn last(&mut self, start: u64, max: u64) -> Option<usize> {
        let mut found = None;
        for run in self.run..self.list.runs.len() {
            let end = self.list.runs[run];
            let after = self.skip_to(run, start);
            let near = &self.list.starts[after..end];
            let far = after + near.partition_point(|&footer| footer - start <= max);
            if far > after {
                found = Some(far - 1);
            }
            if far < end {
                break;
            }
        }
        found
    }

    /// The first footer of a run that begins after `start`. Earlier ones are not looked at again,
    /// except the last of them.
    fn skip_to(&mut self, run: usize, start: u64) -> usize {
        let begin = if run == 0 { 0 } else { self.list.runs[run - 1] };
        let from = begin.max(self.next);
        let footers = &self.list.starts[from..self.list.runs[run]];
        let after = from + footers.partition_point(|&footer| footer <= start);
        if after > from {
            (self.next, self.run) = (after - 1, run);
        }
        after
    }
}
