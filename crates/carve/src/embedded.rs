//! Embedded files: those that begin inside a file that is known to be whole.
//!
//! Headers are independent, so an archive of a thousand files is a thousand rows: each of its files
//! has a local header, and all of them end with the archive's end. Pictures inside documents are
//! rows too. All rows stay in the list; this module says which of them begin inside which other
//! file.
//!
//! A file can contain others only if its extent is certain: a validator says that it is whole, it
//! ends with the first footer after its header (FORWARD), and it is not chopped. A file that
//! merely looks like the beginning of an archive hides nothing.

use crate::{CarvedFile, Mode, RuleSet, Validity};

/// For each file, the number of the file that it begins inside of.
///
/// Of several such files it is the one that begins first, which is itself inside of none. Of two
/// files that begin at the same offset, the later one is inside the earlier one: a document that is
/// a ZIP archive is one file, whichever rules find it.
///
/// # Panics
///
/// If a file's rule is of another rule set.
#[must_use]
pub fn containers(rules: &RuleSet, files: &[CarvedFile]) -> Vec<Option<u64>> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&i| (files[i].start, files[i].number));
    let mut inside = vec![None; files.len()];
    let mut container: Option<&CarvedFile> = None;
    for index in order {
        let file = &files[index];
        let around = container.filter(|c| file.start < c.start + c.len);
        inside[index] = around.map(|c| c.number);
        if around.is_none() && is_certain(rules, file) {
            container = Some(file);
        }
    }
    inside
}

/// Whether the file's end is known to be that of its structure.
fn is_certain(rules: &RuleSet, file: &CarvedFile) -> bool {
    let rule = &rules.rules[file.rule];
    let has_own_end = rule.footer.is_some() && rule.mode == Mode::Forward && !file.chopped;
    has_own_end && file.valid == Validity::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::naive;
    use crate::pair::{PairOptions, pair};
    use crate::{conf, image::fake, validate};

    const CONF: &[u8] = b"a y 99 AA ZZ\nb y 99 AA ZZ\nr y 99 RR ZZ REVERSE\nh y 99 HH\n";

    /// Rule, start, length, and what a validator says; numbered in this order.
    fn inside(spans: &[(usize, u64, u64, Validity)]) -> Vec<Option<u64>> {
        let rules = conf::parse(CONF, "c", conf::Options::default()).unwrap();
        let file = |(number, &(rule, start, len, valid)): (usize, &(usize, u64, u64, Validity))| {
            CarvedFile { number: number as u64, rule, start, len, chopped: rule == 3, valid }
        };
        let files: Vec<CarvedFile> = spans.iter().enumerate().map(file).collect();
        containers(&rules, &files)
    }

    #[test]
    fn only_what_is_certain_contains() {
        use Validity::{No, Unknown, Yes};
        let parts = |valid| inside(&[(0, 10, 50, valid), (0, 20, 40, No), (3, 59, 99, Unknown)]);
        assert_eq!(parts(Yes), [None, Some(0), Some(0)]);
        assert_eq!(parts(No), [None; 3]);
        assert_eq!(parts(Unknown), [None; 3]);
        // The end of a REVERSE file is not that of its structure, nor is that of a chopped one.
        assert_eq!(inside(&[(2, 10, 50, Yes), (0, 20, 5, Yes)]), [None, None]);
        assert_eq!(inside(&[(3, 10, 99, Yes), (0, 20, 5, Yes)]), [None, None]);
    }

    #[test]
    fn the_first_of_equals_and_the_outermost_of_nested_files_contain() {
        use Validity::Yes;
        assert_eq!(inside(&[(1, 10, 50, Yes), (0, 10, 50, Yes)]), [None, Some(0)]);
        let nested = [(0, 30, 10, Yes), (0, 20, 30, Yes), (0, 10, 90, Yes), (0, 100, 9, Yes)];
        assert_eq!(inside(&nested), [Some(2), Some(2), None, None]);
    }

    #[test]
    fn the_parts_of_an_archive_after_a_damaged_one() {
        let rules = crate::default_rules();
        let mut whole = validate::samples::zip(false);
        // The rule's footer has no comment.
        whole.truncate(whole.len() - 5);
        whole.extend([0; 2]);
        let cut = &whole[..whole.len() - 30];
        let bytes = [b"..", cut, &whole[..], b".."].concat();
        let mut files = pair(&rules, &naive::find(&bytes, &rules), &PairOptions::default(), 0);
        let disk = fake::FakeImage::new(bytes);
        validate::validate_all(&disk, &mut files, 2);
        let inside = containers(&rules, &files);
        let start = 2 + cut.len() as u64;
        for (file, inside) in files.iter().zip(inside) {
            let is_part = file.start > start;
            let is_whole = file.start == start && file.valid == Validity::Yes;
            assert_eq!(inside.is_some(), is_part, "{file:?}");
            assert!(is_whole || is_part || file.valid == Validity::No, "{file:?}");
        }
        assert!(files.iter().any(|file| file.start == start));
    }
}
