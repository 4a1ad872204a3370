//! Many small haystacks in one call: packets, log lines, keys, cells of a table.
//!
//! A call costs as much as scanning some hundred bytes, so one call per packet is slow. These
//! calls copy haystacks into packs and scan each pack as one haystack (see `crate::pack`).

use crate::Searcher;
use crate::pack::{
    CountPerHaystack, HaystackSink, OfGroup, Output, Pack, PackBuffer, PackScratch, PackSize,
    SharedPack, Sought, SplitByHaystack,
};
use crate::searcher::pool::CallState;
use fyke_core::{Batch, Block, Device, Scratch, Semantics, SemanticsFilter, Sorter};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

impl Searcher {
    /// Scans many small haystacks in one call, such as packets or lines. That is much faster than
    /// one call per haystack.
    ///
    /// `each` gets the number of a haystack, from 0, and its matches in canonical order. Positions
    /// count from the first byte of that haystack, and the semantics apply to each haystack by
    /// itself. One haystack may get several batches; a haystack without a match gets none. `Break`
    /// ends the whole call.
    ///
    /// Haystacks of up to 16 KiB are copied, on a GPU those of up to 8 MiB;
    /// [`scan_packed`](Self::scan_packed) avoids that for adjacent ones. On a CPU the calling thread
    /// does all the work, except that a haystack of more than 256 KiB is scanned by the threads that
    /// the builder set. On a GPU haystacks are gathered until they have 64 MiB; threads of the
    /// engine copy and search them. Several threads may share the searcher.
    ///
    /// ```
    /// use fyke::Searcher;
    /// use std::ops::ControlFlow;
    ///
    /// let packets: [&[u8]; 3] = [b"GET /a", b"POST /b", b"GE"];
    /// let searcher = Searcher::new(["GET", "/"])?;
    /// let mut found = Vec::new();
    /// let _ = searcher.scan_batch(packets, |packet, batch| {
    ///     found.extend(batch.matches().map(|m| (packet, m.start, m.end)));
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(found, [(0, 0, 3), (0, 4, 5), (1, 5, 6)]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn scan_batch<H: AsRef<[u8]>>(
        &self,
        haystacks: impl IntoIterator<Item = H>,
        mut each: impl FnMut(usize, &Batch<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let haystacks = haystacks.into_iter().map(|h| (None, h));
        self.batch_scan(Output::Matches(&mut each), |scan, pack| scan.copied(haystacks, pack))
    }

    /// As [`scan_batch`](Self::scan_batch), for adjacent haystacks: haystack `i` ends before
    /// `bytes[ends[i]]`, and the next one starts there. On a CPU nothing is copied. On a GPU nothing
    /// is copied within the host's memory if `bytes` are in memory that
    /// [`Matcher::memory`](crate::Matcher::memory) returned.
    ///
    /// # Panics
    /// The ends do not ascend, or the last one is beyond `bytes`.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// let searcher = fyke::Searcher::new(["ab"])?;
    /// let mut found = Vec::new();
    /// // "xa", "bab", "": the "ab" across the first boundary is no match.
    /// let _ = searcher.scan_packed(b"xabab", &[2, 5, 5], |haystack, batch| {
    ///     found.extend(batch.matches().map(|m| (haystack, m.start, m.end)));
    ///     ControlFlow::Continue(())
    /// });
    /// assert_eq!(found, [(1, 1, 3)]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn scan_packed(
        &self,
        bytes: &[u8],
        ends: &[usize],
        mut each: impl FnMut(usize, &Batch<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        check_ends(bytes, ends);
        self.batch_scan(Output::Matches(&mut each), |scan, _| scan.in_place(bytes, ends, &[]))
    }

    /// Counts the matches of each of many small haystacks. `counts` is cleared and gets one number
    /// per haystack.
    ///
    /// ```
    /// let searcher = fyke::Searcher::new(["he", "she"])?;
    /// let mut counts = Vec::new();
    /// searcher.count_batch(["she", "s", "hehe"], &mut counts);
    /// assert_eq!(counts, [2, 0, 2]);
    /// # Ok::<(), fyke::BuildError>(())
    /// ```
    pub fn count_batch<H: AsRef<[u8]>>(
        &self,
        haystacks: impl IntoIterator<Item = H>,
        counts: &mut Vec<u64>,
    ) {
        counts.clear();
        let haystacks = haystacks.into_iter().map(|h| (None, h));
        let _ = self.batch_scan(Output::Counts(counts), |scan, pack| scan.copied(haystacks, pack));
    }

    /// As [`count_batch`](Self::count_batch), for adjacent haystacks as in
    /// [`scan_packed`](Self::scan_packed).
    ///
    /// # Panics
    /// The ends do not ascend, or the last one is beyond `bytes`.
    pub fn count_packed(&self, bytes: &[u8], ends: &[usize], counts: &mut Vec<u64>) {
        check_ends(bytes, ends);
        counts.clear();
        let _ = self.batch_scan(Output::Counts(counts), |scan, _| scan.in_place(bytes, ends, &[]));
    }

    fn batch_scan(
        &self,
        output: Output<'_>,
        run: impl FnOnce(&mut BatchScan<'_, '_>, &mut PackBuffer) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        with_scan(self, Sought::Set(self.set()), output, run)
    }
}

/// Takes a state and runs a call with it.
pub(crate) fn with_scan(
    searcher: &Searcher,
    sought: Sought<'_>,
    mut output: Output<'_>,
    run: impl FnOnce(&mut BatchScan<'_, '_>, &mut PackBuffer) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut state = searcher.lease();
    let CallState { driver, pack, pack_scratch, .. } = &mut *state;
    driver.restart(searcher.semantics(), searcher.set());
    let ((scratch, filter), output) = (driver.parts(), &mut output);
    let size = PackSize::on(searcher.matcher().info().device);
    let mut scan = BatchScan { searcher, sought, size, scratch, filter, pack_scratch, output };
    run(&mut scan, pack)
}

/// Panics if the ends are not those of adjacent haystacks.
pub(crate) fn check_ends(bytes: &[u8], ends: &[usize]) {
    assert!(ends.is_sorted(), "a haystack would end before it starts");
    assert!(ends.last().is_none_or(|&end| end <= bytes.len()), "a haystack ends beyond the bytes");
}

/// One call: what scans the packs, and where the results go.
pub(crate) struct BatchScan<'a, 't> {
    searcher: &'a Searcher,
    sought: Sought<'a>,
    size: PackSize,
    scratch: &'a mut Scratch,
    filter: &'a mut SemanticsFilter,
    pack_scratch: &'a mut PackScratch,
    output: &'a mut Output<'t>,
}

impl BatchScan<'_, '_> {
    /// Copies haystacks into packs and scans the packs. Each haystack comes with its group, if there
    /// are groups.
    pub(crate) fn copied<H: AsRef<[u8]>>(
        &mut self,
        haystacks: impl IntoIterator<Item = (Option<usize>, H)>,
        pack: &mut PackBuffer,
    ) -> ControlFlow<()> {
        pack.clear();
        let mut count = 0;
        for (group, haystack) in haystacks {
            let haystack = haystack.as_ref();
            if !pack.has_room(haystack.len(), self.size) {
                self.scan_pack(pack.pack(count))?;
                pack.clear();
            }
            if haystack.len() > self.size.pack {
                self.scan_alone(count, haystack, group.unwrap_or(0))?;
            } else if haystack.len() > self.size.alone {
                let (ends, groups) = (&[haystack.len()], group.as_slice());
                self.scan_pack(Pack { bytes: haystack, ends, before: 0, first: count, groups })?;
            } else {
                pack.push(haystack, group);
            }
            count += 1;
        }
        self.scan_pack(pack.pack(count))
    }

    /// Scans adjacent haystacks where they lie. `groups` has the group of each; it may be empty if
    /// there are no groups.
    pub(crate) fn in_place(
        &mut self,
        bytes: &[u8],
        ends: &[usize],
        groups: &[usize],
    ) -> ControlFlow<()> {
        let mut first = 0;
        while first < ends.len() {
            let before = first.checked_sub(1).map_or(0, |i| ends[i]);
            let fits = ends[first..].partition_point(|&end| end - before <= self.size.pack);
            let ends = &ends[first..first + fits.max(1)];
            let bytes = &bytes[before..ends[ends.len() - 1]];
            let groups = groups.get(first..first + ends.len()).unwrap_or_default();
            if fits == 0 {
                self.scan_alone(first, bytes, groups.first().copied().unwrap_or(0))?;
            } else {
                self.scan_pack(Pack { bytes, ends, before, first, groups })?;
            }
            first += ends.len();
        }
        ControlFlow::Continue(())
    }

    fn scan_pack(&mut self, pack: Pack<'_>) -> ControlFlow<()> {
        pack.fill_index(&mut self.pack_scratch.index);
        self.scratch.forget();
        self.output.make_room(pack.first + pack.ends.len());
        match self.output {
            Output::Counts(_) if !self.filter.semantics().needs_order() => self.count_pack(pack),
            _ => self.split_pack(pack),
        }
    }

    /// Counts all matches of a pack. They need no order.
    fn count_pack(&mut self, pack: Pack<'_>) -> ControlFlow<()> {
        let Output::Counts(counts) = &mut *self.output else { unreachable!("counts are wanted") };
        let PackScratch { index, taken, .. } = &mut *self.pack_scratch;
        let (matcher, sought, block) =
            (self.searcher.matcher(), self.sought, Block::whole(pack.bytes));
        let counts = &mut counts[pack.first..];
        let mut count = CountPerHaystack { pack, index, sought, counts };
        if matcher.info().device == Device::Cpu {
            return matcher.scan(block, self.scratch, &mut count);
        }
        taken.clear();
        taken.resize_with(pack.ends.len(), AtomicU64::default);
        let shared = SharedPack { pack, index, sought, taken: Some(taken) };
        let flow = matcher.scan_packed(block, &shared, self.scratch, &mut count);
        let taken = taken.iter().map(|n| n.load(Ordering::Relaxed));
        count.counts.iter_mut().zip(taken).for_each(|(count, n)| *count += n);
        flow
    }

    /// Gives each haystack of a pack its matches, in order.
    fn split_pack(&mut self, pack: Pack<'_>) -> ControlFlow<()> {
        let PackScratch { index, sort, own, .. } = &mut *self.pack_scratch;
        let (matcher, set, sought) = (self.searcher.matcher(), self.searcher.set(), self.sought);
        let shared = SharedPack { pack, index, sought, taken: None };
        let (filter, output) = (&mut *self.filter, &mut *self.output);
        let mut split = SplitByHaystack { pack, index, sought, own, filter, output, current: None };
        for piece in Block::whole(pack.bytes).pieces(self.size.held, set.overlap()) {
            let mut sorter = Sorter::new(set, piece.offset, sort, &mut split);
            matcher.scan_packed(piece, &shared, self.scratch, &mut sorter)?;
            sorter.finish()?;
        }
        split.leave()
    }

    /// Scans a haystack that is too long for a pack.
    fn scan_alone(&mut self, number: usize, haystack: &[u8], group: usize) -> ControlFlow<()> {
        self.output.make_room(number + 1);
        let union = match self.sought {
            Sought::Group(union) => union,
            Sought::Set(_) => return self.scan_alone_for_all(number, haystack),
        };
        let own = &mut self.pack_scratch.own;
        let filter = &mut *self.filter;
        filter.restart(filter.semantics(), union.set(group));
        let out = HaystackSink { output: self.output, number, stopped: false };
        let mut sink = OfGroup { union, group, own, filter, out };
        // The filter selects among the matches of the group, not of the union.
        let every = self.searcher.with_semantics(Semantics::All);
        // A break by the semantics ends this haystack, not the call.
        let _ = every.scan_into(haystack, &mut sink);
        sink.finish()
    }

    fn scan_alone_for_all(&mut self, number: usize, haystack: &[u8]) -> ControlFlow<()> {
        if let Output::Counts(counts) = self.output {
            counts[number] = self.searcher.count(haystack);
            return ControlFlow::Continue(());
        }
        let mut sink = HaystackSink { output: self.output, number, stopped: false };
        // A break by the semantics ends this haystack, not the call.
        let _ = self.searcher.scan_into(haystack, &mut sink);
        sink.flow()
    }
}
