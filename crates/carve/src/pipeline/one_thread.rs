//! One thread reads a buffer, then searches it: Scalpel 1.60, and the dissertation's figure 5-1.
//!
//! With read-ahead, the system reads the next buffer while the thread searches this one: the
//! dissertation's algorithm Asynchronous, figure 5-4. The second buffer is the page cache, and
//! reading the next chunk is then a copy.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use crate::finder::FinderScratch;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    mut collector: Collector<'a>,
    reads_ahead: bool,
) -> Result<Collector<'a>, ScanError> {
    let (mut chunk, mut scratch) = (Chunk::default(), FinderScratch::default());
    let mut found = collector.spare();
    for index in 0..job.chunks() {
        job.read(index, &mut chunk)?;
        if reads_ahead {
            job.prefetch(index + 1);
        }
        chunk.search(job.finder, &mut scratch, &mut found);
        found = collector.take(index, found)?;
    }
    Ok(collector)
}
