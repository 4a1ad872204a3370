//! The order of reading: one pass over the image that reads no byte twice, and no byte outside of
//! files.

use crate::CarvedFile;
use std::ops::Range;

/// Goes over the image from its beginning to its end, in ranges that files cover.
pub(super) struct Sweep<'a> {
    files: &'a [CarvedFile],
    /// The files that are yet to begin, the first one last.
    waiting: Vec<usize>,
    /// The files that the current range has bytes of.
    active: Vec<usize>,
    /// Where the current range ends.
    at: u64,
    /// The maximum number of bytes of a range.
    most: u64,
}

impl<'a> Sweep<'a> {
    /// Goes over the files at `chosen`, which are indexes in `files`.
    pub(super) fn new(files: &'a [CarvedFile], mut chosen: Vec<usize>, most: usize) -> Self {
        chosen.sort_by_key(|&i| std::cmp::Reverse((files[i].start, i)));
        Self { files, waiting: chosen, active: Vec::new(), at: 0, most: most as u64 }
    }

    /// The next range to read, and the files that have bytes of it.
    pub(super) fn advance(&mut self) -> Option<(Range<u64>, &[usize])> {
        let (files, from) = (self.files, self.at);
        self.active.retain(|&i| end_of(&files[i]) > from);
        if self.active.is_empty() {
            self.at = self.at.max(files[*self.waiting.last()?].start);
        }
        let limit = self.at.saturating_add(self.most);
        let ends = self.active.iter().map(|&i| end_of(&files[i]));
        let mut covered = ends.max().unwrap_or(self.at);
        while let Some(next) = self.waiting.pop_if(|i| {
            let start = files[*i].start;
            start <= covered && start < limit
        }) {
            covered = covered.max(end_of(&files[next]));
            self.active.push(next);
        }
        let range = self.at..covered.min(limit);
        self.at = range.end;
        Some((range, &self.active))
    }
}

/// The offset after the last byte of the file.
pub(super) fn end_of(file: &CarvedFile) -> u64 {
    file.start.saturating_add(file.len)
}

/// How many bytes of the image the files at `chosen` have. A byte that several share counts once.
pub(super) fn covered(files: &[CarvedFile], chosen: &[usize]) -> u64 {
    let mut ranges: Vec<_> = chosen.iter().map(|&i| (files[i].start, end_of(&files[i]))).collect();
    ranges.sort_unstable();
    let (mut sum, mut to) = (0, 0);
    for (start, end) in ranges {
        sum += end.saturating_sub(start.max(to));
        to = to.max(end);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Validity;
    use proptest::prelude::*;

    fn file(start: u64, len: u64) -> CarvedFile {
        let valid = Validity::Unknown;
        CarvedFile { number: 0, rule: 0, start, len, chopped: false, valid }
    }

    fn ranges(files: &[CarvedFile], most: usize) -> Vec<(Range<u64>, Vec<usize>)> {
        let mut sweep = Sweep::new(files, (0..files.len()).collect(), most);
        let next = || sweep.advance().map(|(range, active)| (range, active.to_vec()));
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn gaps_are_not_read_and_overlaps_once() {
        let files = [file(50, 10), file(0, 5), file(3, 4), file(55, 20)];
        let expected = [
            (0..7, vec![1, 2]),
            (50..58, vec![0, 3]),
            (58..66, vec![0, 3]),
            (66..74, vec![3]),
            (74..75, vec![3]),
        ];
        assert_eq!(ranges(&files, 8), expected);
    }

    proptest! {
        #[test]
        fn every_byte_of_every_file_is_given_once(
            spans in prop::collection::vec((0u64..300, 1u64..90), 0..40), most in 1usize..100,
        ) {
            let files: Vec<CarvedFile> = spans.iter().map(|&(s, l)| file(s, l)).collect();
            let mut given = vec![0; files.len()];
            let mut last = 0;
            let mut read = 0;
            for (range, active) in ranges(&files, most) {
                read += range.end - range.start;
                prop_assert!(range.start >= last && range.end > range.start);
                prop_assert!(range.end - range.start <= most as u64);
                last = range.end;
                for i in active {
                    let from = files[i].start.max(range.start);
                    let to = end_of(&files[i]).min(range.end);
                    prop_assert!(from < to && from == files[i].start + given[i]);
                    given[i] += to - from;
                }
            }
            prop_assert_eq!(read, covered(&files, &(0..files.len()).collect::<Vec<_>>()));
            prop_assert!(files.iter().zip(&given).all(|(f, &n)| f.len == n));
        }
    }
}
