//! Pieces, slots and faults do not change the result.

use super::*;
use crate::device::{Device, FaultKind, inventory};
use crate::engine::gpu_dfa;
use crate::matcher::{Search, Tile, Workspace};
use crate::resident::{SpreadHaystack, Timed};
use crate::testing;
use fyke_core::sink::{Collect, Count, ForEach};
use fyke_core::{Footprint, PatternSet, Scratch, SliceSource, StreamMatch, oracle};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const SIZES: [PipelineSize; 4] = [
    PipelineSize { slots: 1, piece: 100 },
    PipelineSize { slots: 2, piece: 1 },
    PipelineSize { slots: 3, piece: 64 },
    PipelineSize { slots: 4, piece: 1 << 20 },
];

/// Every how many tiles one fails, never for 0, and how.
const FAULTS: [(u32, FaultKind); 4] = [
    (0, FaultKind::Other),
    (1, FaultKind::Other),
    (3, FaultKind::Other),
    (2, FaultKind::OutOfMemory),
];

/// Finds matches by definition, in the text on the device. Every `fault_every`th tile fails.
struct FakeSearch {
    set: PatternSet,
    tiles: Arc<AtomicU32>,
    /// Tiles before the first that may fail.
    healthy: u32,
    fault_every: u32,
    kind: FaultKind,
    counts: bool,
    counted: AtomicU32,
}

impl Search for FakeSearch {
    fn tile(&self) -> usize {
        1 << 20
    }

    fn timed(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Result<Timed, Fault> {
        let mut records = Vec::new();
        self.search(workspace, tile, &mut records)?;
        Ok(Timed { seconds: 0.0, records: records.len() as u64, candidates: 0 })
    }

    fn search(
        &self,
        workspace: &mut Workspace,
        tile: Tile<'_>,
        records: &mut Vec<Record>,
    ) -> Result<(), Fault> {
        let mut text = vec![0; tile.bytes() as usize];
        workspace.queue().read(tile.text(), tile.at() as usize, &mut text)?;
        let found = oracle::find_all(&self.set, &text);
        let is_owned = |m: &&StreamMatch| m.end > u64::from(tile.overlap());
        let number_of = |m: &StreamMatch| {
            let mut numbers = 0..self.set.len() as u32;
            numbers.find(|&p| self.set.ids(p).contains(&m.pattern)).expect("a pattern of the set")
        };
        let record = |m: &StreamMatch| Record { end: m.end as u32, pattern: number_of(m) };
        records.extend(found.iter().filter(is_owned).map(record));
        // A match for each id of a pattern was one record.
        records.dedup();
        // With records that must not be seen.
        let number = 1 + self.tiles.fetch_add(1, Ordering::Relaxed);
        let may_fail = self.fault_every > 0 && number > self.healthy;
        if may_fail && number.is_multiple_of(self.fault_every) {
            return Err(Fault::new("pretending", self.kind, "a fault for a test"));
        }
        Ok(())
    }

    fn count(&self, workspace: &mut Workspace, tile: Tile<'_>) -> Option<Result<u64, Fault>> {
        self.counts.then(|| {
            let mut records = Vec::new();
            self.search(workspace, tile, &mut records)?;
            self.counted.fetch_add(1, Ordering::Relaxed);
            Ok(records.iter().map(|r| self.set.ids(r.pattern).len() as u64).sum())
        })
    }

    fn footprint(&self) -> Footprint {
        Footprint::default()
    }

    fn describe(&self) -> String {
        format!("a fake that counted {} tiles", self.counted.load(Ordering::Relaxed))
    }
}

fn fake(device: &Device, set: &PatternSet, fault_every: u32, kind: FaultKind) -> GpuMatcher {
    pretend(device, set, fault_every, kind, false)
}

fn pretend(
    device: &Device,
    set: &PatternSet,
    fault_every: u32,
    kind: FaultKind,
    counts: bool,
) -> GpuMatcher {
    let search = FakeSearch {
        set: set.clone(),
        tiles: Arc::default(),
        healthy: 0,
        fault_every,
        kind,
        counts,
        counted: AtomicU32::new(0),
    };
    GpuMatcher::new(gpu_dfa::ENGINE.info, set.clone(), device.clone(), Box::new(search))
}

fn random(bytes: usize) -> Vec<u8> {
    let mut x = 88172645463325252u64;
    let mut next = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        b'a' + (x >> 33) as u8 % 3
    };
    (0..bytes).map(|_| next()).collect()
}

fn patterns() -> PatternSet {
    PatternSet::new(["a", "ab", "cab", "bcabc", "ccccc", "abcabcabc"]).unwrap()
}

/// Records come piece by piece, each in the order that its search has.
fn pieces_are_in_order(found: &[StreamMatch], piece: usize) -> bool {
    found.is_sorted_by_key(|m| (m.end - 1) / piece as u64)
}

#[test]
fn sources_give_what_is_there_whatever_their_blocks() {
    let (set, text) = (patterns(), random(3000));
    let expected = oracle::find_all(&set, &text);
    testing::each_device(|device| {
        let matcher = fake(device, &set, 0, FaultKind::Other);
        for size in SIZES {
            for bytes in [7, 64, 1000, 5000].into_iter().filter(|b| size.piece > 1 || *b == 64) {
                let mut source = SliceSource::new(&text, bytes, set.overlap() + bytes % 3);
                let mut found = Collect::default();
                let flow = drive(&matcher, size, &mut source, &mut found).unwrap();
                assert!(flow.is_continue());
                assert!(pieces_are_in_order(&found.matches, size.piece));
                assert!(found.sorted() == expected, "{size:?}, blocks of {bytes}");
            }
            assert!(matcher.idle.lock().unwrap().len() <= size.slots.max(4));
        }
    });
}

#[test]
fn blocks_in_memory_are_scanned_piece_by_piece() {
    let (set, text) = (patterns(), random(3000));
    let expected = oracle::find_all(&set, &text);
    testing::each_device(|device| {
        let matcher = fake(device, &set, 0, FaultKind::Other);
        for size in SIZES.into_iter().filter(|s| s.piece > 1) {
            for cut in [0, 8, 1501] {
                let whole = Block::whole(&text);
                let (mut found, overlap) = (Collect::default(), set.overlap());
                for block in [whole.part(0, cut, overlap), whole.part(cut, text.len(), overlap)] {
                    assert!(scan(&matcher, size, block, None, &mut found).is_continue());
                }
                assert!(found.sorted() == expected, "{size:?}, cut at {cut}");
            }
        }
    });
}

#[test]
fn real_kernels_of_several_slots_do_not_disturb_each_other() {
    let (set, text) = (patterns(), random(200_000));
    let expected = oracle::find_all(&set, &text);
    let size = PipelineSize { slots: 3, piece: 8 << 10 };
    testing::each_device(|device| {
        let matcher = testing::compile(&gpu_dfa::ENGINE, &set, device, "");
        let mut found = Collect::default();
        let mut source = SliceSource::new(&text, 1000, set.overlap());
        assert!(drive(&matcher, size, &mut source, &mut found).unwrap().is_continue());
        assert!(found.sorted() == expected, "driven");
        let mut found = Collect::default();
        assert!(scan(&matcher, size, Block::whole(&text), None, &mut found).is_continue());
        assert!(found.sorted() == expected, "scanned");
    });
}

#[test]
fn faults_lose_nothing_and_double_nothing() {
    // Long enough to be cut in two where memory is short.
    let (set, text) = (PatternSet::new(["ccccc", "abcabcabc"]).unwrap(), random(600_000));
    let expected = oracle::find_all(&set, &text);
    assert!(expected.len() > 1000);
    let size = PipelineSize { slots: 3, piece: 100_000 };
    testing::each_device(|device| {
        for (every, kind) in
            [(1, FaultKind::Other), (3, FaultKind::Other), (2, FaultKind::OutOfMemory)]
        {
            let matcher = fake(device, &set, every, kind);
            let mut source = SliceSource::new(&text, 30_000, set.overlap());
            let mut found = Collect::default();
            assert!(drive(&matcher, size, &mut source, &mut found).unwrap().is_continue());
            assert!(pieces_are_in_order(&found.matches, size.piece));
            assert!(found.sorted() == expected, "driven, {kind:?} every {every}");
            let mut found = Collect::default();
            assert!(scan(&matcher, size, Block::whole(&text), None, &mut found).is_continue());
            assert!(found.sorted() == expected, "scanned, {kind:?} every {every}");
        }
    });
}

/// Haystacks of 700 bytes. Threads count the matches of the first pattern.
#[derive(Default)]
struct Short {
    taken: AtomicU64,
}

impl Short {
    fn is_sought(haystack: usize, pattern: u32) -> bool {
        !(haystack + pattern as usize).is_multiple_of(3)
    }
}

impl PackedHaystacks for Short {
    fn haystack(&self, at: u64) -> (usize, Range<u64>) {
        let first = at / 700 * 700;
        ((at / 700) as usize, first..first + 700)
    }

    fn take(&self, haystack: usize, pattern: u32, matches: u64) -> bool {
        let is_sought = Short::is_sought(haystack, pattern);
        if is_sought && pattern == 0 {
            self.taken.fetch_add(matches, Ordering::Relaxed);
        }
        is_sought && pattern > 0
    }
}

#[test]
fn faults_in_packed_haystacks_lose_nothing_and_double_nothing() {
    // Sorted, so that ids are dense indices.
    let (set, text) = (PatternSet::new(["abcabcabc", "ccccc"]).unwrap(), random(600_000));
    let size = PipelineSize { slots: 3, piece: 100_000 };
    let is_wanted = |m: &&StreamMatch| {
        let (haystack, span) = Short::default().haystack(m.end - 1);
        m.start >= span.start && Short::is_sought(haystack, m.pattern.0)
    };
    let of_first = |all: &[StreamMatch]| {
        let wanted = all.iter().filter(is_wanted);
        wanted.filter(|m| m.pattern.0 == 0).count() as u64
    };
    let others = |all: &[StreamMatch]| {
        let wanted = all.iter().filter(is_wanted).filter(|m| m.pattern.0 > 0);
        wanted.copied().collect::<Vec<_>>()
    };
    let expected = oracle::find_all(&set, &text);
    assert!(of_first(&expected) > 10 && others(&expected).len() > 1000);
    testing::each_device(|device| {
        for (every, kind) in FAULTS {
            let matcher = fake(device, &set, every, kind);
            let (mut found, haystacks) = (Collect::default(), Short::default());
            let block = Block::whole(&text);
            assert!(scan(&matcher, size, block, Some(&haystacks), &mut found).is_continue());
            let (found, taken) = (found.sorted(), haystacks.taken.into_inner());
            assert_eq!(taken + of_first(&found), of_first(&expected), "{kind:?} every {every}");
            assert!(others(&found) == others(&expected), "{kind:?} every {every}");
            assert!(every > 0 || of_first(&found) == 0 && found.len() == others(&found).len());
        }
    });
}

#[test]
fn faults_while_counting_lose_nothing_and_double_nothing() {
    let mut set = PatternSet::builder();
    for (id, bytes) in [(1, "ccccc"), (2, "abcabcabc"), (3, "ccccc"), (4, "abab")] {
        set.push_with(fyke_core::PatternId(id), bytes, false).unwrap();
    }
    let (set, text) = (set.build(), random(600_000));
    let expected = oracle::find_all(&set, &text).len() as u64;
    let size = PipelineSize { slots: 3, piece: 100_000 };
    testing::each_device(|device| {
        for (every, kind) in FAULTS {
            let matcher = pretend(device, &set, every, kind, true);
            let mut source = SliceSource::new(&text, 30_000, set.overlap());
            let mut found = Count::default();
            assert!(drive(&matcher, size, &mut source, &mut found).unwrap().is_continue());
            assert_eq!(found.matches, expected, "driven, {kind:?} every {every}");
            assert!(scan(&matcher, size, Block::whole(&text), None, &mut found).is_continue());
            assert_eq!(found.matches, 2 * expected, "scanned, {kind:?} every {every}");
            if every == 0 {
                assert!(matcher.describe().contains("counted 12 tiles"), "{}", matcher.describe());
            }
        }
    });
}

/// Only counts, until it has changed its mind.
#[derive(Default)]
struct Fickle {
    count: Count,
    asked: u32,
}

impl Sink for Fickle {
    fn on_batch(&mut self, batch: &fyke_core::Batch<'_>) -> ControlFlow<()> {
        self.count.on_batch(batch)
    }

    fn counter(&mut self) -> Option<&mut u64> {
        self.asked += 1;
        if self.asked < 8 { self.count.counter() } else { None }
    }
}

#[test]
fn a_sink_that_no_longer_counts_gets_records() {
    let (set, text) = (patterns(), random(3000));
    let expected = oracle::find_all(&set, &text).len() as u64;
    testing::each_device(|device| {
        let matcher = pretend(device, &set, 0, FaultKind::Other, true);
        let (size, mut found) = (PipelineSize { slots: 3, piece: 300 }, Fickle::default());
        assert!(scan(&matcher, size, Block::whole(&text), None, &mut found).is_continue());
        assert_eq!(found.count.matches, expected);
    });
}

#[test]
fn a_sink_that_breaks_ends_it() {
    let (set, text) = (patterns(), random(5000));
    testing::each_device(|device| {
        let matcher = fake(device, &set, 0, FaultKind::Other);
        let size = PipelineSize { slots: 3, piece: 100 };
        let mut seen = 0;
        let mut first = ForEach(|_| {
            seen += 1;
            ControlFlow::Break(())
        });
        let mut source = SliceSource::new(&text, 64, set.overlap());
        assert!(drive(&matcher, size, &mut source, &mut first).unwrap().is_break());
        assert!(source.next().unwrap().is_some(), "the rest of the source is not read");
        assert!(scan(&matcher, size, Block::whole(&text), None, &mut first).is_break());
        assert_eq!(seen, 2);
    });
}

/// A source that fails after some blocks.
struct Failing<'a>(SliceSource<'a>, u32);

impl Source for Failing<'_> {
    fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        if self.1 == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.1 -= 1;
        self.0.next()
    }

    fn size_hint(&self) -> Option<u64> {
        None
    }
}

#[test]
fn reading_errors_come_after_what_was_before_them() {
    let (set, text) = (patterns(), random(5000));
    testing::each_device(|device| {
        let matcher = fake(device, &set, 0, FaultKind::Other);
        for size in [PipelineSize { slots: 2, piece: 100 }, SOURCE] {
            let mut source = Failing(SliceSource::new(&text, 64, set.overlap()), 20);
            let mut found = Collect::default();
            let failed = drive(&matcher, size, &mut source, &mut found).unwrap_err();
            assert_eq!(failed.kind(), io::ErrorKind::UnexpectedEof);
            assert!(found.sorted() == oracle::find_all(&set, &text[..20 * 64]));
            let mut source = Failing(SliceSource::new(&text, 64, set.overlap()), 20);
            let mut first = ForEach(|_| ControlFlow::Break(()));
            let flow = drive(&matcher, size, &mut source, &mut first);
            assert!(flow.unwrap().is_break(), "before the error");
        }
    });
}

/// Blocks with bytes between them that are in none.
struct Gaps<'a>(Vec<Block<'a>>);

impl Source for Gaps<'_> {
    fn next(&mut self) -> io::Result<Option<Block<'_>>> {
        Ok(self.0.pop())
    }

    fn size_hint(&self) -> Option<u64> {
        None
    }
}

#[test]
fn bytes_that_a_source_leaves_out_are_not_made_up() {
    let (set, text) = (patterns(), random(2000));
    testing::each_device(|device| {
        let matcher = fake(device, &set, 0, FaultKind::Other);
        let blocks = Block::whole(&text).pieces(90, set.overlap()).step_by(2).collect::<Vec<_>>();
        let mut expected = Collect::default();
        for block in &blocks {
            let _ = matcher.scan(*block, &mut Scratch::new(), &mut expected);
        }
        let mut found = Collect::default();
        let mut source = Gaps(blocks.into_iter().rev().collect());
        let size = PipelineSize { slots: 2, piece: 64 };
        assert!(drive(&matcher, size, &mut source, &mut found).unwrap().is_continue());
        assert!(found.sorted() == expected.sorted());
    });
}

/// A device of several that fails for good: its index, after how many tiles, and how.
type FailingDevice = Option<(usize, u32, FaultKind)>;

/// A matcher for `count` devices, and the number of tiles that each was given. If there are not so
/// many, `first` stands for the others.
fn several(
    first: &Device,
    set: &PatternSet,
    count: usize,
    failing: FailingDevice,
) -> (GpuMatcher, Vec<Arc<AtomicU32>>) {
    let given: Vec<Arc<AtomicU32>> = (0..count).map(|_| Arc::default()).collect();
    let one = |(index, tiles): (usize, &Arc<AtomicU32>)| {
        let fails = failing.filter(|f| f.0 == index);
        let (healthy, fault_every) = fails.map_or((0, 0), |f| (f.1, 1));
        let kind = fails.map_or(FaultKind::Other, |f| f.2);
        let (set, tiles, counted) = (set.clone(), tiles.clone(), AtomicU32::new(0));
        let search = FakeSearch { set, tiles, healthy, fault_every, kind, counts: false, counted };
        let device = inventory().devices.get(index).unwrap_or(first).clone();
        GpuMatcher::new(gpu_dfa::ENGINE.info, search.set.clone(), device, Box::new(search))
    };
    (GpuMatcher::together(given.iter().enumerate().map(one).collect()), given)
}

/// How many tiles each was given.
fn counts(given: &[Arc<AtomicU32>]) -> Vec<u32> {
    given.iter().map(|g| g.load(Ordering::Relaxed)).collect()
}

#[test]
fn several_devices_share_the_pieces_and_their_order_is_kept() {
    testing::first_device(|first| {
        let (set, text) = (patterns(), random(6000));
        let expected = oracle::find_all(&set, &text);
        for devices in [2, 3] {
            for size in SIZES.into_iter().filter(|s| s.piece > 1) {
                let (matcher, given) = several(first, &set, devices, None);
                let mut source = SliceSource::new(&text, 77, set.overlap());
                let mut found = Collect::default();
                assert!(drive(&matcher, size, &mut source, &mut found).unwrap().is_continue());
                assert!(pieces_are_in_order(&found.matches, size.piece));
                assert!(found.sorted() == expected, "driven, {size:?}");
                let mut found = Collect::default();
                assert!(scan(&matcher, size, Block::whole(&text), None, &mut found).is_continue());
                assert!(found.sorted() == expected, "scanned, {size:?}");
                let counts = counts(&given);
                let pieces = 2 * text.len().div_ceil(size.piece) as u32;
                assert_eq!(counts.iter().sum::<u32>(), pieces, "{counts:?}");
                assert!(matcher.idle.lock().unwrap().len() <= size.slots * devices);
            }
        }
    });
}

#[test]
fn one_of_two_devices_fails_in_the_middle_and_the_other_goes_on() {
    testing::first_device(|first| {
        let (set, text) = (patterns(), random(6000));
        let expected = oracle::find_all(&set, &text);
        let size = PipelineSize { slots: 2, piece: 100 };
        for place in [0, 1] {
            for kind in [FaultKind::Other, FaultKind::OutOfMemory] {
                let failing = Some((place, 5, kind));
                let (matcher, given) = several(first, &set, 2, failing);
                let mut source = SliceSource::new(&text, 30, set.overlap());
                let mut found = Collect::default();
                assert!(drive(&matcher, size, &mut source, &mut found).unwrap().is_continue());
                assert!(pieces_are_in_order(&found.matches, size.piece));
                assert!(found.sorted() == expected, "driven, {place} fails: {kind:?}");
                let counts = counts(&given);
                if kind == FaultKind::Other {
                    // Those that were on their way when the first fault was seen, and no more.
                    assert!(counts[place] <= 5 + 2 * 4 && counts[1 - place] >= 47, "{counts:?}");
                }
                let mut found = Collect::default();
                assert!(scan(&matcher, size, Block::whole(&text), None, &mut found).is_continue());
                assert!(found.sorted() == expected, "scanned, {place} fails: {kind:?}");
            }
        }
    });
}

#[test]
fn threads_that_scan_side_by_side_have_a_device_each() {
    testing::first_device(|first| {
        let (set, text) = (patterns(), random(300));
        let (matcher, given) = several(first, &set, 2, None);
        let mut scratches: Vec<Scratch> = (0..4).map(|_| Scratch::new()).collect();
        for scratch in &mut scratches {
            for _ in 0..3 {
                let mut found = Collect::default();
                assert!(matcher.scan(Block::whole(&text), scratch, &mut found).is_continue());
                assert!(found.sorted() == oracle::find_all(&set, &text));
            }
        }
        assert_eq!(counts(&given), [6, 6]);
    });
}

#[test]
fn a_resident_text_in_parts_has_the_matches_of_the_whole() {
    testing::first_device(|first| {
        let (set, text) = (patterns(), random(700));
        for devices in [1, 2, 3] {
            let (matcher, _) = several(first, &set, devices, None);
            let open = |index| Workspace::open(matcher.on(index).device()).unwrap();
            let mut workspaces: Vec<Workspace> = (0..devices).map(open).collect();
            for bytes in [0, 1, 2, 9, 700, 5_000] {
                let whole: Vec<u8> = text.iter().copied().cycle().take(bytes).collect();
                let spread = SpreadHaystack::repeat(&matcher, &text, bytes as u64).unwrap();
                let timed = matcher.time_spread(&mut workspaces, &spread, false).unwrap();
                let expected = oracle::find_all(&set, &whole).len() as u64;
                assert_eq!(timed.records, expected, "{bytes} bytes on {devices}");
            }
        }
    });
}
