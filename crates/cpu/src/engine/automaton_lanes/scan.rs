//! Run time: windows of lanes, their seams, and reports in order.

use super::reports::List;
use super::table::{COMPACT2, COMPACT3, DENSE, Form, LINKED, Table, Walk};
use super::{Compiled, lanes};
use crate::simd::Isa;
use fyke_core::{Batch, Block, PatternSet, Record, Scratch, Sink};
use std::ops::ControlFlow;

/// Bytes of a haystack between two moves of the base that 32-bit record ends count from.
const SPAN: usize = 1 << 30;

/// Records that are gathered one by one before the sink is called.
const BATCH: usize = 2048;

/// Records of a window that are placed at once, at most: 2 MiB. A window with more is reported lane by lane.
const RECORDS_AT_ONCE: usize = 1 << 18;

/// Records of a window that the next window is made small for: half of the second-level cache, with the hits.
const RECORDS_WANTED: usize = 1 << 14;

/// How a window of the haystack is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Lanes: 64, 32, 16 or 8.
    pub(super) lanes: usize,
    /// Bytes of a lane, a multiple of four.
    pub(super) size: usize,
    /// Bytes before its own that a lane walks to find its state, a multiple of four.
    pub(super) warm: usize,
}

/// What lanes wrote down, and where they were.
pub(super) struct Lanes {
    /// `step << LANE_BITS | lane` of each reporting state, and its place.
    pub(super) when: Vec<u32>,
    pub(super) place: Vec<u32>,
    pub(super) hits: usize,
    /// Where lanes were when their own bytes began, and where they are now.
    pub(super) begin: [Walk; lanes::MOST],
    pub(super) walks: [Walk; lanes::MOST],
    /// What they reported, by the counts in their entries.
    pub(super) counts: [u32; lanes::MOST],
    /// Records of a window.
    pub(super) records: Vec<Record>,
    /// What lanes missed behind their seams, in order, and how many records each lane missed.
    mended: Vec<Record>,
    pub(super) missed: [u32; lanes::MOST],
    /// Hits in the order of lanes: the step and the place.
    sorted: Vec<(u32, u32)>,
    /// Records in 1024 bytes of the last window.
    density: usize,
}

impl Default for Lanes {
    fn default() -> Lanes {
        Lanes {
            when: Vec::new(),
            place: Vec::new(),
            hits: 0,
            begin: [Walk::default(); lanes::MOST],
            walks: [Walk::default(); lanes::MOST],
            counts: [0; lanes::MOST],
            records: Vec::new(),
            mended: Vec::new(),
            missed: [0; lanes::MOST],
            sorted: Vec::new(),
            density: 1024,
        }
    }
}

impl Lanes {
    /// Makes room for a hit at every byte, and for what vectors read and write behind them.
    fn prepare(&mut self, bytes: usize) {
        let need = bytes + 64;
        if self.when.len() < need {
            self.when.resize(need, 0);
            self.place.resize(need, 0);
        }
        self.hits = 0;
        self.counts = [0; lanes::MOST];
    }

    /// Counts what each lane reported by its lists, where counts in entries are too small to tell.
    fn count_again(&mut self, table: &Table) {
        self.counts = [0; lanes::MOST];
        for (&when, &place) in self.when.iter().zip(&self.place).take(self.hits) {
            let lane = (when % (1 << lanes::BITS)) as usize;
            self.counts[lane] += table.list(place).short_len() as u32;
        }
    }

    /// Puts hits in order of lanes; within a lane they are in order of steps. Returns where each lane's end.
    fn sort(&mut self) -> [usize; lanes::MOST] {
        let lane = |when: u32| (when % (1 << lanes::BITS)) as usize;
        let mut next = [0; lanes::MOST];
        self.when[..self.hits].iter().for_each(|&w| next[lane(w)] += 1);
        let mut start = 0;
        for n in &mut next {
            start += std::mem::replace(n, start);
        }
        if self.sorted.len() < self.hits {
            self.sorted.resize(self.hits, (0, 0));
        }
        for (&when, &place) in self.when.iter().zip(&self.place).take(self.hits) {
            let to = &mut next[lane(when)];
            self.sorted[*to] = (when >> lanes::BITS, place);
            *to += 1;
        }
        next
    }

    /// Puts what lanes missed among the records that they wrote, which leave room for it in front.
    fn merge_mended(&mut self, cut: Cut) {
        let (mut to, mut mended) = (0, self.mended.iter().peekable());
        for k in 0..cut.lanes {
            let end = to + (self.counts[k] + self.missed[k]) as usize;
            let mut from = to + self.missed[k] as usize;
            // Patterns that a lane missed are longer than those that it saw end at the same byte.
            while from > to {
                let missed = mended.peek().expect("as many as there is room for");
                if from < end && self.records[from].end < missed.end {
                    self.records[to] = self.records[from];
                    from += 1;
                } else {
                    self.records[to] = **missed;
                    mended.next();
                }
                to += 1;
            }
            to = end;
        }
    }
}

/// Where records go, one by one or many at once; or only their number.
struct Out<'a> {
    set: &'a PatternSet,
    sink: &'a mut dyn Sink,
    records: &'a mut Vec<Record>,
    /// The block's bytes, and the position of the first in the haystack.
    bytes: &'a [u8],
    offset: u64,
    /// The byte of the block that record ends count from.
    base: usize,
    /// Matches so far, if the sink only counts.
    counted: Option<u64>,
}

impl Out<'_> {
    fn flush(&mut self) -> ControlFlow<()> {
        let records = std::mem::take(self.records);
        let flow = self.hand_over(&records);
        *self.records = records;
        self.records.clear();
        flow
    }

    fn hand_over(&mut self, records: &[Record]) -> ControlFlow<()> {
        if records.is_empty() {
            return ControlFlow::Continue(());
        }
        let base = self.offset + self.base as u64;
        self.sink.on_batch(&Batch { base, records, ordered: true, single: false, set: self.set })
    }
}

impl Compiled {
    pub(super) fn scan_block(
        &self,
        block: Block<'_>,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let mut walk = self.enter(&block, scratch);
        let counts = self.confirm.is_empty() && self.set.id_count() == self.set.len();
        let counted = if counts && sink.counter().is_some() { Some(0) } else { None };
        let (records, lanes) = scratch.parts::<Lanes>();
        records.clear();
        let (bytes, offset) = (block.bytes, block.offset);
        let mut out =
            Out { set: &self.set, sink, records, bytes, offset, base: block.lead, counted };
        let mut from = block.lead;
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

    /// The walk where the owned bytes begin: left by the block before, or over the end of the lead.
    fn enter(&self, block: &Block<'_>, scratch: &Scratch) -> Walk {
        let lead = &block.bytes[..block.lead];
        if let Some(place) = scratch.resume(self.owner, block) {
            return self.table.resume(place as u32, lead);
        }
        let mut walk = self.table.start();
        let from = block.lead - block.lead.min(self.set.lead());
        lead[from..].iter().for_each(|&byte| self.table.step(&mut walk, byte));
        walk
    }

    fn scan_span(
        &self,
        mut from: usize,
        to: usize,
        walk: &mut Walk,
        lanes: &mut Lanes,
        out: &mut Out<'_>,
    ) -> ControlFlow<()> {
        while let Some(cut) = self.cut(to - from, lanes.density) {
            let bytes = cut.lanes * cut.size;
            lanes.prepare(bytes);
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

    /// How the next window is to be cut, if there are bytes enough for one.
    fn cut(&self, bytes: usize, density: usize) -> Option<Cut> {
        let lanes = match self.isa {
            Isa::Avx512 if bytes >= lanes::WIDE_FROM => 64,
            Isa::Avx512 if bytes >= lanes::HALF_FROM => 32,
            Isa::Avx512 if bytes >= lanes::NARROW_FROM => 16,
            Isa::Avx512 => return None,
            Isa::Avx2 if bytes >= lanes::AVX2_FROM => 32,
            _ if bytes >= lanes::PLAIN_FROM => 8,
            _ => return None,
        };
        let dense = density * lanes * lanes::LARGE / 1024 > RECORDS_WANTED;
        let largest = if dense { lanes::MEDIUM } else { lanes::LARGE };
        let size = (bytes / lanes / 4 * 4).min(largest);
        let size = if size.is_multiple_of(256) { size - 64 } else { size };
        let order = self.table.order as usize;
        let warm = self.set.lead().min((size / 8).clamp(16, 64)).max(order).next_multiple_of(4);
        Some(Cut { lanes, size, warm })
    }

    /// Walks a window and reports what is in it. Returns the walk at its end.
    fn window(
        &self,
        cut: Cut,
        from: usize,
        walk: Walk,
        lanes: &mut Lanes,
        out: &mut Out<'_>,
    ) -> ControlFlow<(), Walk> {
        let window = &out.bytes[from..from + cut.lanes * cut.size];
        lanes.walks[0] = walk;
        let counting = out.counted.is_some();
        lanes::walk(self.isa, lanes, &self.table, window, cut, counting);
        if let Some(counted) = &mut out.counted {
            let (missed, walk) = self.count_seams(cut, window, lanes);
            *counted += missed + self.count(cut, lanes);
            return ControlFlow::Continue(walk);
        }
        let placed = self.isa != Isa::Scalar && cut.lanes > 8 && !self.table.has_long;
        if placed && self.table.saturates {
            lanes.count_again(&self.table);
        }
        let total: usize = lanes.counts[..cut.lanes].iter().map(|&n| n as usize).sum();
        lanes.density = (total * 1024 / window.len()).max(lanes.density * 7 / 8);
        if !placed || total > RECORDS_AT_ONCE {
            return self.join(cut, from, lanes, out);
        }
        out.flush()?;
        let first = (from - out.base) as u32;
        let walk = self.mend(cut, window, first, lanes);
        let total = total + lanes.mended.len();
        lanes::place_records(self.isa, lanes, &self.table, cut, first, total);
        if !lanes.mended.is_empty() {
            lanes.merge_mended(cut);
        }
        self.confirm_all(lanes, total, out)?;
        ControlFlow::Continue(walk)
    }

    /// Walks on behind seams where a lane was not in the true state, and writes down what it missed there: the longer
    /// patterns of the true state. Returns the walk at the end of the window.
    fn mend(&self, cut: Cut, window: &[u8], from: u32, lanes: &mut Lanes) -> Walk {
        let table = &self.table;
        lanes.mended.clear();
        lanes.missed = [0; lanes::MOST];
        let mut truth = lanes.walks[0];
        for k in 1..cut.lanes {
            let mut own = lanes.begin[k];
            let (already, start) = (lanes.mended.len(), k * cut.size);
            let mut read = 0;
            while !table.agree(&truth, &own) && read < cut.size {
                let byte = window[start + read];
                table.step(&mut truth, byte);
                table.step(&mut own, byte);
                read += 1;
                let (all, seen) = (table.list(truth.place), table.list(own.place));
                let mut left = table.reports.len(all) - table.reports.len(seen);
                let end = from + (start + read) as u32;
                table.reports.each(all, |pattern| {
                    if left > 0 {
                        lanes.mended.push(Record { end, pattern });
                        left -= 1;
                    }
                });
            }
            if table.agree(&truth, &own) {
                truth = lanes.walks[k];
            }
            lanes.missed[k] = (lanes.mended.len() - already) as u32;
        }
        truth
    }

    /// Hands over the records of a window, without those that a folded automaton finds too often.
    fn confirm_all(&self, lanes: &mut Lanes, total: usize, out: &mut Out<'_>) -> ControlFlow<()> {
        let records = &mut lanes.records[..total];
        let kept = self.confirm.keep(&self.set, records, out.bytes, out.base);
        out.hand_over(&lanes.records[..kept])
    }

    /// What lanes counted, where the largest count of an entry only says that it is at least that.
    fn count(&self, cut: Cut, lanes: &Lanes) -> u64 {
        let table = &self.table;
        let counted: u64 = lanes.counts[..cut.lanes].iter().map(|&n| u64::from(n)).sum();
        let most = u64::from(table.count_mask >> table.count_shift);
        let hidden = |&place: &u32| u64::from(table.reports.len(table.list(place))) - most;
        counted + lanes.place[..lanes.hits].iter().map(hidden).sum::<u64>()
    }

    /// What the lanes missed behind their seams, and the walk at the end of the window.
    fn count_seams(&self, cut: Cut, window: &[u8], lanes: &Lanes) -> (u64, Walk) {
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

    /// Puts the seams right and reports, lane after lane. Returns the walk at the end of the window.
    fn join(
        &self,
        cut: Cut,
        from: usize,
        lanes: &mut Lanes,
        out: &mut Out<'_>,
    ) -> ControlFlow<(), Walk> {
        let ends = lanes.sort();
        let (table, mut truth) = (&self.table, lanes.walks[0]);
        let mut begin = 0;
        for (k, &end) in ends.iter().enumerate().take(cut.lanes) {
            let start = from + k * cut.size;
            let mut read = 0;
            if k > 0 {
                let mut own = lanes.begin[k];
                while !table.agree(&truth, &own) && read < cut.size {
                    table.step(&mut truth, out.bytes[start + read]);
                    table.step(&mut own, out.bytes[start + read]);
                    read += 1;
                    self.report(truth.place, start + read, out)?;
                }
                if table.agree(&truth, &own) {
                    truth = lanes.walks[k];
                }
            }
            for &(step, place) in &lanes.sorted[begin..end] {
                if step as usize >= read {
                    self.report(place, start + step as usize + 1, out)?;
                }
            }
            begin = end;
        }
        ControlFlow::Continue(truth)
    }

    /// One walk over the rest, reporting as it goes.
    fn walk_on<const FORM: u8>(
        &self,
        from: usize,
        to: usize,
        walk: &mut Walk,
        out: &mut Out<'_>,
    ) -> ControlFlow<()> {
        let bytes = out.bytes;
        let mut now = *walk;
        for (at, &byte) in bytes[from..to].iter().enumerate() {
            self.table.step_as::<FORM>(&mut now, byte);
            if self.table.reports(&now) {
                self.report(now.place, from + at + 1, out)?;
            }
        }
        *walk = now;
        ControlFlow::Continue(())
    }

    /// Writes the patterns of a place, longest first.
    #[inline(always)]
    fn report(&self, place: u32, end: usize, out: &mut Out<'_>) -> ControlFlow<()> {
        let list = self.table.list(place);
        if let Some(counted) = &mut out.counted {
            *counted += u64::from(self.table.reports.len(list));
            return ControlFlow::Continue(());
        }
        self.write(list, end, out);
        if out.records.len() >= BATCH { out.flush() } else { ControlFlow::Continue(()) }
    }

    #[inline(always)]
    fn write(&self, list: List, end: usize, out: &mut Out<'_>) {
        let at = (end - out.base) as u32;
        let reports = &self.table.reports;
        match (list.flat_len(), self.confirm.is_empty()) {
            (Some(len), true) => {
                let eight = reports.words[list.start()..].first_chunk::<8>().expect("padding");
                let kept = out.records.len() + len.min(8);
                out.records.extend_from_slice(&eight.map(|pattern| Record { end: at, pattern }));
                out.records.truncate(kept);
                let rest = &reports.words[list.start() + len.min(8)..list.start() + len];
                out.records.extend(rest.iter().map(|&pattern| Record { end: at, pattern }));
            }
            _ => reports.each(list, |pattern| {
                let holds = |bytes| self.confirm.holds(&self.set, pattern, bytes);
                if self.confirm.is_empty() || holds(&out.bytes[..end]) {
                    out.records.push(Record { end: at, pattern });
                }
            }),
        }
    }
}

/// The lanes that an instruction set has, tested against each other.
#[cfg(test)]
mod tests {
    use super::super::ENGINE;
    use fyke_core::{Block, Collect, Count, Engine, Options, PatternSet, Scratch, oracle};

    fn random(seed: u32, letters: &[u8], len: usize) -> Vec<u8> {
        let mut x = seed;
        let mut next = || {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            letters[(x >> 16) as usize % letters.len()]
        };
        (0..len).map(|_| next()).collect()
    }

    /// Every form on every instruction set finds what the oracle finds, whatever the length of the haystack.
    #[test]
    fn all_forms_agree_with_the_oracle() {
        let mut patterns: Vec<Vec<u8>> =
            (0..60).map(|i| random(i, b"abc", 1 + i as usize % 7)).collect();
        patterns.extend((1..60).map(|n| vec![b'a'; n]));
        patterns.push(random(3, b"abc", 200));
        let set = PatternSet::new(&patterns).unwrap();
        for len in [0, 1, 100, 300, 1023, 5000, 12_288, 20_001] {
            let mut haystack = random(len as u32, b"abcabcd", len);
            if len > 1000 {
                haystack[500..700].copy_from_slice(&patterns[119]);
                haystack[200..290].fill(b'a');
            }
            let expected = oracle::find_all(&set, &haystack);
            for form in ["dense", "compact2", "compact3", "linked"] {
                for isa in ["auto", "avx2", "scalar"] {
                    let options = Options::with_params(&format!("form={form},isa={isa}")).unwrap();
                    let Ok(matcher) = ENGINE.compile(&set, &options) else { continue };
                    let (mut all, mut count) = (Collect::default(), Count::default());
                    let mut scratch = Scratch::new();
                    let _ = matcher.scan(Block::whole(&haystack), &mut scratch, &mut all);
                    let _ = matcher.scan(Block::whole(&haystack), &mut scratch, &mut count);
                    assert!(
                        all.matches == expected,
                        "{form} {isa} {len}: {} {}",
                        all.matches.len(),
                        expected.len()
                    );
                    assert_eq!(count.matches, expected.len() as u64, "{form} {isa} {len}");
                }
            }
        }
    }
}
