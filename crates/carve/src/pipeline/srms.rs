//! Synchronous read, multicore search: a buffer is read, then each thread searches a part of it.
//! The dissertation's figure 5-3. As there, threads are started for each buffer.

use super::ScanError;
use super::chunk::{Chunk, Job};
use super::collect::Collector;
use super::workers::Working;
use crate::image::SECTOR;
use std::ops::Range;
use std::thread;

pub(super) fn run<'a>(
    job: &'a Job<'a>,
    mut collector: Collector<'a>,
) -> Result<Collector<'a>, ScanError> {
    let mut chunk = Chunk::default();
    let mut working: Vec<Working> = (0..job.threads).map(|_| Working::default()).collect();
    for index in 0..job.chunks() {
        job.read(index, &mut chunk)?;
        let chunk = &chunk;
        thread::scope(|scope| {
            for (part, w) in parts(&chunk.owned, job.threads).zip(&mut working) {
                scope.spawn(move || {
                    chunk.search_part(job.finder, part, &mut w.scratch, &mut w.found);
                });
            }
        });
        for (part, w) in working.iter_mut().enumerate() {
            let number = index * job.threads as u64 + part as u64;
            w.found = collector.take(number, std::mem::take(&mut w.found))?;
        }
    }
    Ok(collector)
}

/// Cuts a range into as many parts of about the same length, at sectors.
fn parts(range: &Range<u64>, count: usize) -> impl Iterator<Item = Range<u64>> {
    let (start, len, count) = (range.start, range.end - range.start, count as u64);
    let end = range.end;
    let cut = move |i: u64| (start + len * i / count).next_multiple_of(SECTOR).min(end);
    (0..count).map(move |i| if i == 0 { start..cut(1) } else { cut(i)..cut(i + 1) })
}
