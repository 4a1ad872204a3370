//! One thread searches a buffer while the system reads the next one: the dissertation's algorithm
//! Asynchronous, figure 5-4.
//!
//! The second buffer is the page cache: the system is asked for the next chunk before this one is
//! searched, and reading it is then a copy.

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
        job.prefetch(index + 1);
        chunk.search(job.finder, &mut scratch, &mut found);
        found = collector.take(index, found)?;
    }
    Ok(collector)
}
