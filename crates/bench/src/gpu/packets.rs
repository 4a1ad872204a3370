//! Times packets that are each searched for one of many sets, as intrusion detection does: all of
//! them in one call, and in one call per packet.
//!
//! The bound is the rate of plain copies from pinned memory, as for texts in host memory.

use std::cell::RefCell;
use std::ops::ControlFlow;

use anyhow::{Result, bail, ensure};
use fyke::gpu::device;
use fyke::{GroupSearcher, Searcher};
use fyke_core::PatternSet;

use super::engine::engine;
use super::layout::Packets;
use super::stream::{StreamTimes, copy_rate, timed};
use super::verify::{CPU_ENGINE, WRONG, no_fault};
use crate::data::generate::Random;

/// The maximum number of bytes of all packets together.
const MOST: usize = 256 << 20;

/// The way that uses several threads of the CPU.
pub(super) const ON_THREADS: &str = "cpu-threads";

/// Packets one after the other, and the set that each is searched for.
pub(super) struct Traffic {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    groups: Vec<usize>,
}

impl Traffic {
    /// Cuts repeated text into packets. The set of each is random.
    pub(super) fn new(text: &[u8], bytes: usize, packets: &Packets) -> Traffic {
        let bytes: Vec<u8> = text.iter().copied().cycle().take(bytes.min(MOST)).collect();
        let size = packets.bytes.0;
        let ends: Vec<usize> =
            (1..=bytes.len().div_ceil(size)).map(|i| bytes.len().min(i * size)).collect();
        let mut random = Random::new(1);
        let groups = ends.iter().map(|_| random.below(packets.sets.len())).collect();
        Traffic { bytes, ends, groups }
    }

    /// Bytes of all packets.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The packets with their sets.
    fn each(&self) -> impl Iterator<Item = (usize, &[u8])> {
        let starts = std::iter::once(&0).chain(&self.ends);
        let spans = starts.zip(&self.ends).map(|(&start, &end)| &self.bytes[start..end]);
        self.groups.iter().copied().zip(spans)
    }

    /// Counts the matches of each packet.
    fn count(
        &self,
        searcher: &GroupSearcher,
        bytes: &[u8],
        counts: &RefCell<Vec<u64>>,
    ) -> Result<u64> {
        let counts = &mut *counts.borrow_mut();
        searcher.count_packed(bytes, &self.ends, &self.groups, counts);
        Ok(counts.iter().sum())
    }

    /// Counts the matches of all packets on several threads, each of which has its share of them.
    fn count_on(&self, searcher: &GroupSearcher, threads: usize) -> u64 {
        let share = self.ends.len().div_ceil(threads).max(1);
        let count = |first: usize| {
            let ends = &self.ends[first..self.ends.len().min(first + share)];
            let start = if first == 0 { 0 } else { self.ends[first - 1] };
            let ends: Vec<usize> = ends.iter().map(|end| end - start).collect();
            let (groups, mut counts) = (&self.groups[first..first + ends.len()], Vec::new());
            searcher.count_packed(&self.bytes[start..], &ends, groups, &mut counts);
            counts.iter().sum::<u64>()
        };
        std::thread::scope(|scope| {
            let firsts = (0..self.ends.len()).step_by(share);
            let threads: Vec<_> = firsts.map(|first| scope.spawn(move || count(first))).collect();
            threads.into_iter().map(|t| t.join().expect("counting does not panic")).sum()
        })
    }

    /// Reads the end and the pattern of each match.
    fn scan(&self, searcher: &GroupSearcher, bytes: &[u8]) -> Result<u64> {
        let (mut count, mut sum) = (0, 0_u64);
        let _ = searcher.scan_packed(bytes, &self.ends, &self.groups, |_, batch| {
            let word = |r: &fyke_core::Record| u64::from(r.end) ^ u64::from(r.pattern) << 32;
            sum = batch.records.iter().map(word).fold(sum, u64::wrapping_add);
            count += batch.count();
            ControlFlow::Continue(())
        });
        std::hint::black_box(sum);
        Ok(count)
    }
}

/// Compares the count of every packet on the device with that of the CPU. Returns their sum.
pub(super) fn verify(spec: &str, sets: &[PatternSet], traffic: &Traffic) -> Result<u64> {
    compare(traffic, &grouped(spec, sets)?, &grouped(CPU_ENGINE, sets)?)
}

fn compare(traffic: &Traffic, on_gpu: &GroupSearcher, on_cpu: &GroupSearcher) -> Result<u64> {
    let (found, expected) = (RefCell::default(), RefCell::default());
    let sum = traffic.count(on_gpu, &traffic.bytes, &found)?;
    no_fault()?;
    traffic.count(on_cpu, &traffic.bytes, &expected)?;
    let (found, expected) = (found.into_inner(), expected.into_inner());
    let same_length = found.len() == traffic.ends.len() && expected.len() == found.len();
    ensure!(same_length, "{WRONG}: not each packet has a count");
    let differs = found.iter().zip(&expected).position(|(a, b)| a != b);
    if let Some(packet) = differs {
        let (found, expected) = (found[packet], expected[packet]);
        bail!("{WRONG}: packet {packet}: {found} matches, expected {expected}");
    }
    Ok(sum)
}

fn grouped(spec: &str, sets: &[PatternSet]) -> Result<GroupSearcher> {
    Ok(Searcher::builder().engine(spec).build_groups(sets)?)
}

/// Verifies and times each way of searching the packets, which have `size` bytes each. One way uses
/// several threads of the CPU.
pub(super) fn packets(
    spec: &str,
    sets: &[PatternSet],
    traffic: &Traffic,
    size: usize,
    threads: usize,
) -> Result<StreamTimes> {
    let (on_gpu, on_cpu) = (grouped(spec, sets)?, grouped(CPU_ENGINE, sets)?);
    let expected = compare(traffic, &on_gpu, &on_cpu)?;
    let call = Searcher::builder().engine(CPU_ENGINE).expected_call(size as u64);
    let apart = sets.iter().map(|set| call.build(set)).collect::<Result<Vec<_>, _>>()?;
    let one_by_one = || Ok(traffic.each().map(|(set, packet)| apart[set].count(packet)).sum());
    let mut pinned = on_gpu.memory(traffic.len());
    pinned[..traffic.len()].copy_from_slice(&traffic.bytes);
    let (bytes, pinned) = (&traffic.bytes, &pinned[..traffic.len()]);
    let counts = &RefCell::default();
    let ways = vec![
        timed("cpu-calls", &one_by_one)?,
        timed("cpu", &|| traffic.count(&on_cpu, bytes, counts))?,
        timed(ON_THREADS, &|| Ok(traffic.count_on(&on_cpu, threads)))?,
        timed("memory", &|| traffic.count(&on_gpu, bytes, counts))?,
        timed("pinned", &|| traffic.count(&on_gpu, pinned, counts))?,
        timed("cpu-records", &|| traffic.scan(&on_cpu, bytes))?,
        timed("pinned-records", &|| traffic.scan(&on_gpu, pinned))?,
    ];
    no_fault()?;
    for way in &ways {
        let found = way.matches;
        ensure!(found == expected, "{WRONG}: {}: {found} matches, expected {expected}", way.way);
    }
    let device = device::open(&engine(spec)?.1)?;
    Ok(StreamTimes {
        backend: device.properties().backend.name(),
        device: device.properties().name.clone(),
        devices: 1,
        copy_rate: copy_rate(&device, traffic.len())? / 1e9,
        ways,
    })
}
