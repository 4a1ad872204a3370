//! Body of the target `carve_conf`, also included by `crates/carve/tests/regressions.rs`.
//!
//! An input is a configuration of carving, and after the line [`CUT`] an image. For any input the
//! parser and the linter give the place of each remark, and rules that were read can be searched
//! and paired: the hits are those of the naive search, wherever the image is cut.

use fyke_carve::conf::{self, Diagnostic, Options};
use fyke_carve::finder::{Finder, FinderScratch, Piece, PieceHits};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::{Compat, Hits, Needle, NeedleId, RuleSet, naive};

const FILE: &str = "fuzz.conf";
/// The line between configuration and image.
const CUT: &[u8] = b"\n----\n";
/// The image is searched naively, so it is short.
const IMAGE: usize = 600;
/// Scalpel's longest header or footer.
const LONGEST: usize = 4096;

/// Reads, searches and pairs an input.
pub(crate) fn conf(data: &[u8]) {
    let cut = data.windows(CUT.len()).position(|window| window == CUT);
    let (text, image) = match cut {
        Some(at) => (&data[..at + 1], &data[at + CUT.len()..]),
        None => (data, &[][..]),
    };
    let image = &image[..image.len().min(IMAGE)];
    for compat in [Compat::None, Compat::Scalpel160] {
        let options = Options { compat };
        let errors = conf::errors(text, FILE, options);
        check_remarks(&errors, text);
        check_remarks(&conf::lint(text, FILE, options), text);
        match conf::parse(text, FILE, options) {
            Err(error) => assert_eq!(Some(&error), errors.first()),
            Ok(rules) => {
                assert!(errors.is_empty(), "{}", errors[0]);
                check_rules(&rules);
                check_search(&rules, image, compat);
            }
        }
    }
}

/// Remarks are in the order of the lines. Each names a line and a column of the text and is itself
/// one line.
fn check_remarks(remarks: &[Diagnostic], text: &[u8]) {
    let lines: Vec<&[u8]> = text.split(|&b| b == b'\n').collect();
    for remark in remarks {
        let line = lines.get(remark.line - 1).unwrap_or_else(|| panic!("no such line: {remark}"));
        assert!((1..=line.len() + 1).contains(&remark.column), "no such column: {remark}");
        let message = remark.to_string();
        let place = format!("{FILE}:{}:{}: ", remark.line, remark.column);
        assert!(message.starts_with(&place) && !message.contains('\n'), "{message}");
    }
    assert!(remarks.is_sorted_by_key(|remark| remark.line), "not in the order of the lines");
}

fn check_rules(rules: &RuleSet) {
    let is_known = |id: NeedleId| (id.0 as usize) < rules.needles.len();
    for rule in &rules.rules {
        assert!(is_known(rule.header) && rule.footer.is_none_or(is_known));
        assert!(rule.max_len > 0);
    }
    assert!(rules.needles.iter().all(|needle| (1..=LONGEST).contains(&needle.max_len())));
}

fn check_search(rules: &RuleSet, image: &[u8], compat: Compat) {
    // An expression may be too large for an automaton.
    let Ok(finder) = Finder::new(rules) else { return };
    let hits = find(&finder, image, image.len());
    // The naive search has no limit of its own for expressions.
    if !rules.needles.iter().any(|needle| matches!(needle, Needle::Regex { .. })) {
        assert!(hits == naive::find(image, rules));
    }
    for size in [1, 7] {
        assert!(hits == find(&finder, image, size), "in pieces of {size}");
    }
    let options = PairOptions { missing_footer: true, compat, ..PairOptions::default() };
    // Scalpel 1.60 clamps a file to one byte after the image.
    let end = image.len() as u64 + u64::from(compat == Compat::Scalpel160);
    for file in pair(rules, &hits, &options, 0) {
        assert!(file.len > 0 && file.start + file.len <= end, "{file:?}");
    }
}

/// The hits of an image that is searched in pieces of `size` bytes.
fn find(finder: &Finder, image: &[u8], size: usize) -> Hits {
    let mut hits = finder.no_hits(image.len() as u64);
    let (mut scratch, mut found) = (FinderScratch::default(), PieceHits::default());
    for from in (0..image.len()).step_by(size.max(1)) {
        let to = image.len().min(from + size);
        let bytes = &image[from..image.len().min(to + finder.look_ahead())];
        found.restart(from as u64);
        let piece = Piece { bytes, owned: to - from, offset: from as u64 };
        finder.find(piece, &mut scratch, &mut found);
        found.append_to(&mut hits);
    }
    hits
}
