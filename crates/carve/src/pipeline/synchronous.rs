//! One thread reads a buffer, then searches it: Scalpel 1.60, and the dissertation's figure 5-1.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use crate::finder::FinderScratch;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    mut collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let (mut chunk, mut scratch) = (Chunk::default(), FinderScratch::default());
    let mut found = collector.spare();
    for index in 0..job.chunks() {
        job.read(index, &mut chunk)?;
        chunk.search(job.finder, &mut scratch, &mut found);
        found = collector.take(index, found)?;
    }
    Ok(collector)
}
