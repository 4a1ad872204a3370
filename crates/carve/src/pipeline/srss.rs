//! Single core reads, single core searches: two threads and two buffers that they exchange. The
//! dissertation's figure 5-5.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use crate::finder::FinderScratch;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Buffers: one is read while the other is searched.
const BUFFERS: usize = 2;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    mut collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let (read, to_search) = channel();
    let (searched, to_read) = channel();
    for _ in 0..BUFFERS {
        // The receiver is in this function.
        let _ = searched.send(Chunk::default());
    }
    // This thread owns its ends of the channels: the reader ends when they are dropped.
    thread::scope(move |scope| {
        scope.spawn(move || read_all(job, to_read, read));
        let (mut scratch, mut found) = (FinderScratch::default(), collector.spare());
        for (index, chunk) in (0..).zip(to_search) {
            let chunk: Chunk = chunk?;
            chunk.search(job.finder, &mut scratch, &mut found);
            found = collector.take(index, found)?;
            // The reader may have ended before.
            let _ = searched.send(chunk);
        }
        Ok(collector)
    })
}

/// Reads chunks in order, until the other thread has ended.
fn read_all(job: &Job<'_>, free: Receiver<Chunk>, read: Sender<Result<Chunk, ScanError>>) {
    for (index, mut chunk) in (0..job.chunks()).zip(free) {
        let result = job.read(index, &mut chunk).map(|()| chunk);
        let failed = result.is_err();
        if read.send(result).is_err() || failed {
            return;
        }
    }
}
