//! What a report of a scan shows: hits of each pattern, of each file, and where they lie.

use fyke_core::Batch;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Parts of a file that the map of its hits shows.
pub(super) const PARTS: usize = 256;

/// Files with hits that a report lists; the others are only counted.
const MAX_FILES: usize = 1000;

/// Where the hits of a file lie: their number in each of up to [`PARTS`] equal parts.
///
/// The length of a stream is not known before its end, so the parts grow with it.
#[derive(Clone, Debug)]
pub(super) struct HitMap {
    pub(super) hits: [u64; PARTS],
    /// Bytes of a part.
    pub(super) width: u64,
}

impl Default for HitMap {
    fn default() -> Self {
        Self { hits: [0; PARTS], width: 1 }
    }
}

impl HitMap {
    fn add(&mut self, position: u64, hits: u64) {
        self.grow_to(position + 1);
        self.hits[(position / self.width) as usize] += hits;
    }

    /// Makes the parts wider until they contain `bytes`.
    fn grow_to(&mut self, bytes: u64) {
        while bytes > self.width * PARTS as u64 {
            for i in 0..PARTS / 2 {
                self.hits[i] = self.hits[2 * i] + self.hits[2 * i + 1];
            }
            self.hits[PARTS / 2..].fill(0);
            self.width *= 2;
        }
    }
}

/// The hits of one file.
#[derive(Clone, Debug, Default)]
pub struct FileHits {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) hits: u64,
    pub(super) map: HitMap,
    /// Hits of each pattern by its number.
    patterns: BTreeMap<u32, u64>,
}

impl FileHits {
    /// Starts a file.
    pub fn begin(&mut self, path: &Path) {
        *self = FileHits { path: path.to_owned(), ..Self::default() };
    }

    /// Adds matches.
    pub fn add(&mut self, batch: &Batch<'_>) {
        // The iterator over matches is inlined into the command line because it has no second user,
        // so it is not used here.
        for &record in batch.records {
            let start = batch.end(record) - batch.set.pattern_len(record.pattern) as u64;
            let ids = batch.set.ids(record.pattern);
            let ids = if batch.single { &ids[..1] } else { ids };
            self.hits += ids.len() as u64;
            self.map.add(start, ids.len() as u64);
            for id in ids {
                *self.patterns.entry(id.0).or_default() += 1;
            }
        }
    }
}

/// The hits of all files.
#[derive(Clone, Debug, Default)]
pub struct ScanReport {
    /// Files with hits, those with most hits first after [`sort`](Self::sort).
    pub(super) files: Vec<FileHits>,
    pub(super) scanned: u64,
    pub(super) with_hits: u64,
    pub(super) bytes: u64,
    pub(super) hits: u64,
    patterns: BTreeMap<u32, u64>,
}

impl ScanReport {
    /// Adds a scanned file of `bytes` bytes.
    pub fn add(&mut self, file: &FileHits, bytes: u64) {
        self.scanned += 1;
        self.bytes += bytes;
        self.hits += file.hits;
        if file.hits == 0 {
            return;
        }
        self.with_hits += 1;
        for (&pattern, &hits) in &file.patterns {
            *self.patterns.entry(pattern).or_default() += hits;
        }
        let mut file = FileHits { bytes, patterns: BTreeMap::new(), ..file.clone() };
        file.map.grow_to(bytes);
        self.files.push(file);
        if self.files.len() >= 2 * MAX_FILES {
            self.sort();
        }
    }

    /// Sorts files by hits, and keeps those with the most.
    pub(super) fn sort(&mut self) {
        self.files.sort_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.path.cmp(&b.path)));
        self.files.truncate(MAX_FILES);
    }

    /// Numbers and hits of the patterns that were found, those with most hits first.
    pub(super) fn patterns(&self) -> Vec<(u32, u64)> {
        let mut patterns: Vec<_> = self.patterns.iter().map(|(&id, &hits)| (id, hits)).collect();
        patterns.sort_by_key(|&(id, hits)| (std::cmp::Reverse(hits), id));
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_grow_with_the_file() {
        let mut map = HitMap::default();
        for position in [0, 1, 255, 256, 1023] {
            map.add(position, 1);
        }
        assert_eq!((map.width, map.hits.iter().sum::<u64>()), (4, 5));
        assert_eq!((map.hits[0], map.hits[63], map.hits[64], map.hits[255]), (2, 1, 1, 1));
        map.grow_to(1025);
        assert_eq!((map.width, map.hits[0], map.hits[127]), (8, 2, 1));
    }
}
