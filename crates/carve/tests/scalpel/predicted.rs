//! What Scalpel's bugs do to the rows that fyke carves by default, said a second time.

use crate::case::{Carved, Case};
use crate::reference::Reference;
use fyke_carve::compat::Buffers;
use fyke_carve::{CarvedFile, Compat, Mode};
use std::collections::BTreeMap;

/// How often each bug showed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) b1: usize,
    pub(crate) b2: usize,
    pub(crate) b4: usize,
    pub(crate) b8: usize,
    pub(crate) b9: usize,
    pub(crate) b10: usize,
}

type Key = (usize, u64);

/// Fails unless Scalpel's rows are those of fyke's default with the known bugs. The configuration
/// must mean the same to both (no B5, no B7), and `-r` must be off, as buffers show in its result.
pub(crate) fn assert_differs_by_bugs(
    what: &str,
    case: &Case,
    compat: &Carved,
    theirs: &Reference,
    seen: &mut Seen,
) {
    let ours = case.carve(Compat::None);
    let image_len = case.image.len() as u64;
    let buffers: Vec<_> = Buffers::new(&ours.rules, image_len, case.skip).collect();
    // The rows of both are equal: those of `compat` have their rule.
    assert_eq!(compat.files.len(), theirs.rows.len(), "{what}");
    let mut rest: BTreeMap<Key, Vec<&CarvedFile>> = BTreeMap::new();
    for file in &compat.files {
        rest.entry((file.rule, file.start)).or_default().push(file);
    }
    for file in &ours.files {
        if buffers.is_empty() {
            seen.b8 += 1;
            continue;
        }
        let rule = &ours.rules.rules[file.rule];
        let room = image_len - file.start;
        let clamped = file.chopped && rule.max_len > room;
        let len = file.len + u64::from(clamped);
        if (file.start, len, clamped) == (0, 1, false) {
            seen.b10 += 1;
            continue;
        }
        let found = rest.get_mut(&(file.rule, file.start)).filter(|found| !found.is_empty());
        let theirs = found.map(|found| found.remove(0));
        if rule.mode == Mode::Reverse && theirs.is_none_or(|t| t.len != len) {
            assert_footer_at_a_buffer(what, &ours, file, &buffers);
            seen.b9 += 1;
            continue;
        }
        let theirs = theirs.unwrap_or_else(|| panic!("{what}: Scalpel lacks {file:?}"));
        assert_eq!(theirs.len, len, "{what}: {file:?}");
        seen.b1 += usize::from(clamped);
        if theirs.chopped != file.chopped {
            assert!(file.chopped && rule.footer.is_some(), "{what}: {file:?}");
            seen.b4 += 1;
        }
    }
    for ((rule, start), files) in rest {
        let len = ours.rules.needle(ours.rules.rules[rule].header).max_len() as u64;
        let inside = buffers.iter().filter(|b| b.start <= start && start + len <= b.end).count();
        // A needle of a short last buffer can be in three.
        assert!(files.len() < inside, "{what}: Scalpel has more of {files:?}");
        seen.b2 += files.len();
    }
}

/// The footer that ends a file of a REVERSE rule begins a buffer, `max` bytes after the header.
fn assert_footer_at_a_buffer(
    what: &str,
    ours: &Carved,
    file: &CarvedFile,
    buffers: &[fyke_carve::compat::Buffer],
) {
    let rule = &ours.rules.rules[file.rule];
    let footer = file.start + rule.max_len;
    let starts = &ours.hits.of(rule.footer.unwrap()).starts;
    assert!(starts.binary_search(&footer).is_ok(), "{what}: {file:?}");
    assert!(buffers.iter().any(|buffer| buffer.start == footer), "{what}: {file:?}");
}
