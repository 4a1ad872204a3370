//! Pairing: from the hits of headers and footers to files.
//!
//! Rules are taken in the order of the configuration, and the headers of a rule in the order of
//! their offsets. Each header is independent: a file inside another one is carved too, and several
//! files may end with the same footer. A rule costs O(headers x log(footers)).
//!
//! | mode | which footer ends a file that begins at `start` | if there is none, or it is too far |
//! |---|---|---|
//! | no footer | none: the file has `max` bytes, chopped | |
//! | FORWARD | the first after `start`, included; it may overlap the header | nothing; with `missing_footer`, `max` bytes, chopped |
//! | NEXT | the first after `start`, not included | `max` bytes, chopped |
//! | REVERSE | the last that begins at most `max` bytes after `start`, included | nothing |
//!
//! A file that is shorter than the rule's `min` is dropped. What remains ends at the image's end at
//! the latest.

mod list;

pub(crate) use list::lists;

use crate::compat::Compat;
use crate::file::{CarvedFile, Validity};
use crate::hit::Hits;
use crate::rule::{Mode, Rule, RuleSet};
use list::FooterSearch;

/// How to pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairOptions {
    /// Carve files of FORWARD rules without a footer too (`-b`).
    pub missing_footer: bool,
    /// Carve only files that begin at a multiple of this (`-q`).
    pub cluster: Option<u64>,
    /// Ignore hits that overlap an earlier hit of the same needle (`-r`).
    pub no_overlap: bool,
    /// Ignore hits before this offset (`-s`).
    pub skip: u64,
    /// Scalpel's `-d` was given, which changes chop flags under [`Compat::Scalpel160`] only.
    pub all_footers: bool,
    /// Whose bugs to reproduce.
    pub compat: Compat,
}

/// Pairs the hits of an image. Files are numbered from `first_number` on.
#[must_use]
pub fn pair(
    rules: &RuleSet,
    hits: &Hits,
    options: &PairOptions,
    first_number: u64,
) -> Vec<CarvedFile> {
    let mut files = Vec::new();
    for (index, rule) in rules.rules.iter().enumerate() {
        let (headers, footers) = lists(rules, rule, hits, options);
        let mut footers = FooterSearch::new(footers);
        for &start in headers.starts.iter() {
            if options.cluster.is_some_and(|cluster| !start.is_multiple_of(cluster)) {
                continue;
            }
            let extent = extent(rule, start, &mut footers, options);
            if let Some((len, chopped)) = extent.and_then(|e| limit(rule, start, e, hits, options))
            {
                let number = first_number + files.len() as u64;
                let valid = Validity::Unknown;
                files.push(CarvedFile { number, rule: index, start, len, chopped, valid });
            }
        }
    }
    files
}

/// The length of a file and whether it is chopped, before the file is cut at the image's end.
type Extent = (u64, bool);

fn extent(
    rule: &Rule,
    start: u64,
    footers: &mut FooterSearch<'_>,
    options: &PairOptions,
) -> Option<Extent> {
    let cut = Some((rule.max_len, true));
    // Scalpel 1.60 forgets the flag if it sees no footer (B4).
    let cut_without_footer = Some((rule.max_len, options.compat == Compat::None));
    if rule.footer.is_none() {
        return cut;
    }
    match rule.mode {
        Mode::Forward => match footers.first(start) {
            Some(index) if footers.end_of(index) - start <= rule.max_len => {
                Some((footers.end_of(index) - start, false))
            }
            _ if !options.missing_footer => None,
            Some(_) => cut,
            None => cut_without_footer,
        },
        Mode::Next => match footers.first(start) {
            Some(index) if footers.start_of(index) - start <= rule.max_len => {
                Some((footers.start_of(index) - start, false))
            }
            Some(_) => cut,
            None => cut_without_footer,
        },
        Mode::Reverse => {
            footers.last(start, rule.max_len).map(|index| (footers.end_of(index) - start, false))
        }
    }
}

/// Drops what is too short, and ends the rest at the image's end.
fn limit(
    rule: &Rule,
    start: u64,
    (len, chopped): Extent,
    hits: &Hits,
    options: &PairOptions,
) -> Option<Extent> {
    if len < rule.min_len {
        return None;
    }
    let room = hits.image_len - start;
    match options.compat {
        Compat::None => Some((len.min(room), chopped)),
        // Scalpel 1.60 takes the end's offset 0 for no file (B10).
        Compat::Scalpel160 if (start, len) == (0, 1) => None,
        // It clamps to one byte after the end of the image (B1).
        Compat::Scalpel160 => Some((len.min(room + 1), chopped)),
    }
}

#[cfg(test)]
mod tests;
