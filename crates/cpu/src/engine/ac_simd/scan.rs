//! Run time: windows of lanes, their seams, and reports in order.

use super::output::{Hits, MatchOutput};
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LINKED, Walk};
use super::trail::Trail;
use super::{AcSimdMatcher, lanes};
use crate::simd::Isa;
use crate::simd::gather::Gathers;
use fyke_core::{Block, Scratch, Sink};
use std::ops::ControlFlow;

/// Record ends have 32 bits, so the base that they count from moves after this many bytes.
const SPAN: usize = 1 << 30;

/// The maximum number of bytes of a block that is walked byte by byte if the sink wants the first
/// match (`calls`).
const SMALL: usize = 256;

/// How a window of the haystack is cut into lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LaneLayout {
    /// Lanes: 64, 32, 16 or 8.
    pub(super) lanes: usize,
    /// Lanes of a vector: 16 or 8.
    pub(super) width: usize,
    /// Bytes of a lane, a multiple of four.
    pub(super) size: usize,
    /// Bytes that a lane walks before its segment to find its state, a multiple of four.
    pub(super) warm: usize,
}

/// The trail and the states of the lanes.
pub(super) struct Lanes {
    pub(super) trail: Trail,
    hits: Hits,
    /// The state of each lane at the start of its segment, and its current state.
    pub(super) begin: [Walk; lanes::MOST],
    pub(super) walks: [Walk; lanes::MOST],
    /// The number of reports of each lane, by the counts of its entries.
    pub(super) counts: [u32; lanes::MOST],
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            trail: Trail::default(),
            hits: Hits::default(),
            begin: [Walk::default(); lanes::MOST],
            walks: [Walk::default(); lanes::MOST],
            counts: [0; lanes::MOST],
        }
    }
}

impl AcSimdMatcher {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let mut walk = self.enter(&block, scratch);
        let counts = self.confirm.is_empty() && self.set.id_count() == self.set.len();
        let counted = if counts && sink.counter().is_some() { Some(0) } else { None };
        let first = block.owned().len() <= SMALL && sink.wants_first();
        let (records, lanes) = scratch.parts::<Lanes>();
        records.clear();
        let (bytes, offset) = (block.bytes, block.offset);
        let mut out = MatchOutput {
            of: self,
            set: &self.set,
            sink,
            records,
            bytes,
            offset,
            base: block.overlap,
            counted,
            first,
        };
        let mut from = block.overlap;
        while from < bytes.len() {
            out.base = from;
            let to = bytes.len().min(from + SPAN);
            self.scan_span(from, to, &mut walk, lanes, &mut out)?;
            out.flush()?;
            from = to;
        }
        if let (Some(counted), Some(counter)) = (out.counted, out.sink.counter()) {
            *counter += counted;
        }
        scratch.leave(self.owner, offset + bytes.len() as u64, u64::from(walk.place));
        ControlFlow::Continue(())
    }

    /// The walk at the start of the owned bytes: saved by the previous block, or found by walking
    /// the end of the overlap.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> Walk {
        let overlap = &block.bytes[..block.overlap];
        if let Some(place) = scratch.resume(self.owner, block) {
            return self.table.resume(place as u32, overlap);
        }
        let mut walk = self.table.start();
        let from = block.overlap - block.overlap.min(self.set.overlap());
        overlap[from..].iter().for_each(|&byte| self.table.step(&mut walk, byte));
        walk
    }

    fn scan_span(
        &self,
        mut from: usize,
        to: usize,
        walk: &mut Walk,
        lanes: &mut Lanes,
        out: &mut MatchOutput<'_>,
    ) -> ControlFlow<()> {
        while !out.first
            && let Some(cut) = self.cut(to - from, out.counted.is_some())
        {
            let bytes = cut.lanes * cut.size;
            lanes.trail.prepare(cut);
            lanes.counts = [0; lanes::MOST];
            *walk = self.window(cut, from, *walk, lanes, out)?;
            from += bytes;
        }
        match self.table.form {
            Form::Dense => self.walk_on::<DENSE>(from, to, walk, out),
            Form::Compact2 => self.walk_on::<COMPACT2>(from, to, walk, out),
            Form::Compact3 => self.walk_on::<COMPACT3>(from, to, walk, out),
            Form::Linked => self.walk_on::<LINKED>(from, to, walk, out),
        }
    }

    /// The layout of the next window, if there are bytes enough for one.
    fn cut(&self, bytes: usize, counting: bool) -> Option<LaneLayout> {
        let isa = self.dispatch.isa();
        let lanes = match isa {
            Isa::Avx512 if bytes >= lanes::WIDE_FROM => 64,
            Isa::Avx512 if bytes >= lanes::HALF_FROM => 32,
            Isa::Avx512 if bytes >= lanes::NARROW_FROM => 16,
            Isa::Avx512 => return None,
            Isa::Avx2 if self.gathers == Gathers::Vector && bytes >= lanes::AVX2_FROM => 32,
            _ if bytes >= lanes::SCALAR_FROM => super::scalar::LANES,
            _ => return None,
        };
        let scalar = lanes == super::scalar::LANES;
        let largest = if counting || scalar { lanes::LARGE } else { lanes::MEDIUM };
        let size = (bytes / lanes / 4 * 4).min(largest);
        let size = if size.is_multiple_of(256) { size - 64 } else { size };
        let order = self.table.order as usize;
        let warm = self.set.overlap().min((size / 8).clamp(16, 64)).max(order).next_multiple_of(4);
        let width = if isa == Isa::Avx512 { 16 } else { 8 };
        Some(LaneLayout { lanes, width, size, warm })
    }

    /// Walks a window and reports its matches. Returns the walk at its end.
    fn window(
        &self,
        cut: LaneLayout,
        from: usize,
        walk: Walk,
        lanes: &mut Lanes,
        out: &mut MatchOutput<'_>,
    ) -> ControlFlow<(), Walk> {
        let bytes = out.bytes;
        let window = &bytes[from..from + cut.lanes * cut.size];
        lanes.walks[0] = walk;
        let counting = out.counted.is_some();
        lanes::walk(self.dispatch, lanes, &self.table, window, cut, counting);
        if let Some(counted) = &mut out.counted {
            let (missed, walk) = self.count_seams(cut, window, lanes);
            *counted += missed + self.count(cut, lanes);
            return ControlFlow::Continue(walk);
        }
        let walk = self.mend(cut, window, lanes);
        let first = (from + 1 - out.base) as u32;
        lanes::write(self.dispatch, out, &lanes.trail, &mut lanes.hits, first)?;
        ControlFlow::Continue(walk)
    }

    /// At each seam where a lane was not in the true state, walks on until it is, and corrects the
    /// lane's trail. Returns the walk at the end of the window.
    fn mend(&self, cut: LaneLayout, window: &[u8], lanes: &mut Lanes) -> Walk {
        let (table, mut truth) = (&self.table, lanes.walks[0]);
        for k in 1..cut.lanes {
            let (mut own, mut read) = (lanes.begin[k], 0);
            while !table.agree(&truth, &own) && read < cut.size {
                let byte = window[k * cut.size + read];
                table.step(&mut truth, byte);
                table.step(&mut own, byte);
                lanes.trail.put(k, read, truth.place, table.reports(&truth));
                read += 1;
            }
            if table.agree(&truth, &own) {
                truth = lanes.walks[k];
            }
        }
        truth
    }

    /// The number of matches that the lanes found. Where an entry has the largest count, its list
    /// tells the true one.
    fn count(&self, cut: LaneLayout, lanes: &mut Lanes) -> u64 {
        let table = &self.table;
        let counted: u64 = lanes.counts[..cut.lanes].iter().map(|&n| u64::from(n)).sum();
        let most = u64::from(table.count_mask >> table.count_shift);
        let mut hidden = 0;
        if table.saturates {
            let len = |place| u64::from(table.reports.len(table.list(place)));
            lanes.trail.each_place(|place| hidden += len(place) - most);
        }
        counted + hidden
    }

    /// The number of matches that the lanes missed after their seams, and the walk at the end of
    /// the window.
    fn count_seams(&self, cut: LaneLayout, window: &[u8], lanes: &Lanes) -> (u64, Walk) {
        let table = &self.table;
        let matches = |walk: &Walk| u64::from(table.reports.len(table.list(walk.place)));
        let (mut more, mut truth) = (0, lanes.walks[0]);
        for k in 1..cut.lanes {
            let mut own = lanes.begin[k];
            let bytes = &window[k * cut.size..(k + 1) * cut.size];
            let mut bytes = bytes.iter();
            while !table.agree(&truth, &own) {
                let Some(&byte) = bytes.next() else { break };
                table.step(&mut truth, byte);
                table.step(&mut own, byte);
                more += matches(&truth) - matches(&own);
            }
            if table.agree(&truth, &own) {
                truth = lanes.walks[k];
            }
        }
        (more, truth)
    }

    /// One walk over the rest, reporting as it goes.
    fn walk_on<const FORM: u8>(
        &self,
        from: usize,
        to: usize,
        walk: &mut Walk,
        out: &mut MatchOutput<'_>,
    ) -> ControlFlow<()> {
        let (bytes, steps) = (out.bytes, self.table.steps());
        let mut now = *walk;
        for (at, &byte) in bytes[from..to].iter().enumerate() {
            steps.take::<FORM>(&mut now, byte);
            if self.table.reports(&now) {
                out.report(now.place, from + at + 1)?;
            }
        }
        *walk = now;
        ControlFlow::Continue(())
    }
}

/// The lanes of the instruction sets, tested against each other.
#[cfg(test)]
mod tests {
    use super::super::ENGINE;
    use crate::simd::Isa;
    use crate::testing::isas;
    use fyke_core::{Block, Collect, Count, Engine, Options, PatternSet, Scratch, oracle};

    fn random(seed: u32, letters: &[u8], len: usize) -> Vec<u8> {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            letters[(x >> 16) as usize % letters.len()]
        };
        (0..len).map(|_| next()).collect()
    }

    /// The options for all lanes that this CPU has.
    fn lanes() -> Vec<String> {
        let kinds = |isa: Isa| {
            let kinds = if isa.gathers() { &["vector", "scalar"][..] } else { &["scalar"] };
            kinds.iter().map(move |kind| format!("isa={},gathers={kind}", isa.name()))
        };
        isas(&ENGINE).into_iter().flat_map(kinds).collect()
    }

    /// Every form on every instruction set finds what the oracle finds, for any haystack length.
    #[test]
    fn all_forms_agree_with_the_oracle() {
        let mut patterns: Vec<Vec<u8>> =
            (0..60).map(|i| random(i, b"abc", 1 + i as usize % 7)).collect();
        // More runs than an entry can count: see `OPEN_COUNTS`.
        patterns.extend((1..300).map(|n| vec![b'a'; n]));
        patterns.push(random(3, b"abc", 200));
        let set = PatternSet::new(&patterns).unwrap();
        for len in [0, 1, 100, 300, 1023, 5000, 12_288, 20_001] {
            let mut haystack = random(len as u32, b"abcabcd", len);
            if len > 1000 {
                haystack[500..700].copy_from_slice(patterns.last().unwrap());
                haystack[100..450].fill(b'a');
            }
            let expected = oracle::find_all(&set, &haystack);
            for form in ["dense", "compact1", "compact2", "compact3", "linked"] {
                for lanes in lanes() {
                    let options = Options::with_params(&format!("form={form},{lanes}")).unwrap();
                    let matcher = ENGINE.compile(&set, &options).unwrap();
                    let (mut all, mut count) = (Collect::default(), Count::default());
                    let mut scratch = Scratch::new();
                    let _ = matcher.scan(Block::whole(&haystack), &mut scratch, &mut all);
                    let _ = matcher.scan(Block::whole(&haystack), &mut scratch, &mut count);
                    assert!(
                        all.matches == expected,
                        "{form} {lanes} {len}: {} {}",
                        all.matches.len(),
                        expected.len()
                    );
                    assert_eq!(count.matches, expected.len() as u64, "{form} {lanes} {len}");
                }
            }
        }
    }
}
