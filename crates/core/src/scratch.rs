//! [`Scratch`]: the working memory of a scan, reused from call to call. [`Emitter`] writes records
//! into it.

use crate::block::Block;
use crate::matches::{Batch, Record};
use crate::pattern::PatternSet;
use crate::sink::Sink;
use std::any::{Any, TypeId};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

/// Records that an [`Emitter`] collects before it calls the sink: 16 KiB, a third of a common L1
/// cache.
pub const BATCH_RECORDS: usize = 2048;

/// The working memory of a scan: one per thread. Any matcher may use any scratch.
///
/// ```
/// use fyke_core::{Block, Count, Matcher, Scratch};
/// # fn count(matcher: &dyn Matcher, haystacks: &[&[u8]]) -> u64 {
/// let (mut scratch, mut count) = (Scratch::new(), Count::default());
/// for haystack in haystacks {
///     let _ = matcher.scan(Block::whole(haystack), &mut scratch, &mut count);
/// }
/// count.matches
/// # }
/// ```
#[derive(Default)]
pub struct Scratch {
    records: Vec<Record>,
    /// Buffers of the engines' own types, the last one used first.
    local: Vec<(TypeId, Box<dyn Any + Send>)>,
    follow: bool,
    carry: Option<Carry>,
    haystack: u64,
    spent: u64,
}

/// Identifies a compiled matcher, so that no other matcher resumes the state that it left in a
/// [`Scratch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatcherId(u64);

impl MatcherId {
    /// An id that no other matcher of this process has.
    #[allow(clippy::new_without_default, reason = "every call returns another id")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

#[derive(Clone, Copy)]
struct Carry {
    owner: MatcherId,
    at: u64,
    state: u64,
}

impl Scratch {
    /// An empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// A scratch for **one haystack whose blocks come in order**. An automaton may leave its state
    /// here at the end of a block. Then it does not walk the overlap of the next one.
    pub fn following() -> Self {
        Self { follow: true, ..Self::default() }
    }

    /// Whether this is a scratch for one haystack whose blocks come in order.
    pub fn follows(&self) -> bool {
        self.follow
    }

    /// Drops the state that an automaton left, because another haystack comes next.
    pub fn forget(&mut self) {
        self.carry = None;
        self.haystack += 1;
    }

    /// A number that changes with each haystack. A matcher that keeps scratches of its own calls
    /// [`forget`](Self::forget) on them when it changes.
    pub fn haystack(&self) -> u64 {
        self.haystack
    }

    /// The state that `owner` left at the position where this block's owned bytes begin, if any.
    #[inline]
    pub fn resume(&self, owner: MatcherId, block: &Block<'_>) -> Option<u64> {
        self.carry.filter(|c| c.owner == owner && c.at == block.owned_offset()).map(|c| c.state)
    }

    /// Leaves an automaton's state for the block that begins at haystack position `at`.
    #[inline]
    pub fn leave(&mut self, owner: MatcherId, at: u64, state: u64) {
        if self.follow {
            self.carry = Some(Carry { owner, at, state });
        }
    }

    /// Adds to the number of candidates: positions that passed a filter and had to be confirmed.
    /// Patterns that are compared there count, too. The planner's switch between filter and
    /// fallback reads it to detect hostile haystacks.
    #[inline]
    pub fn spend(&mut self, candidates: u64) {
        self.spent += candidates;
    }

    /// The number of candidates of all scans with this scratch.
    #[inline]
    pub fn spent(&self) -> u64 {
        self.spent
    }

    /// The record buffer for an [`Emitter`], and a buffer of the engine's own type, which is made
    /// on first use.
    #[inline]
    pub fn parts<T: Any + Send + Default>(&mut self) -> (&mut Vec<Record>, &mut T) {
        if self.local.first().is_none_or(|(is, _)| *is != TypeId::of::<T>()) {
            self.bring_to_front::<T>();
        }
        let local = self.local[0].1.downcast_mut().expect("the first buffer has this type");
        (&mut self.records, local)
    }

    /// Moves the buffer of a type to the front; makes it on first use. Cold, because a scratch mostly
    /// serves one engine.
    #[cold]
    fn bring_to_front<T: Any + Send + Default>(&mut self) {
        let wanted = TypeId::of::<T>();
        let at = self.local.iter().position(|(is, _)| *is == wanted).unwrap_or_else(|| {
            self.local.push((wanted, Box::new(T::default())));
            self.local.len() - 1
        });
        self.local.swap(0, at);
    }

    /// The record buffer alone.
    pub fn records(&mut self) -> &mut Vec<Record> {
        &mut self.records
    }

    /// Bytes of the buffer for matches, without the engines' own buffers.
    pub(crate) fn memory(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
    }
}

/// Collects records and gives them to a sink in batches.
pub struct Emitter<'a> {
    set: &'a PatternSet,
    sink: &'a mut dyn Sink,
    records: &'a mut Vec<Record>,
    base: u64,
    ordered: bool,
}

impl<'a> Emitter<'a> {
    /// An emitter whose ends count from `base`. `ordered` promises that records are pushed in
    /// canonical order.
    pub fn new(
        set: &'a PatternSet,
        sink: &'a mut dyn Sink,
        records: &'a mut Vec<Record>,
        base: u64,
        ordered: bool,
    ) -> Self {
        records.clear();
        Self { set, sink, records, base, ordered }
    }

    /// Adds a match that ends at `base + end`.
    #[inline(always)]
    pub fn push(&mut self, end: u32, pattern: u32) {
        self.records.push(Record { end, pattern });
    }

    /// Adds the first `count` of some patterns, all with a match that ends at `base + end`.
    ///
    /// It writes all `N` and truncates: where the number of matches varies, that is cheaper than a
    /// loop with mispredicted branches.
    #[inline(always)]
    pub fn push_some<const N: usize>(&mut self, end: u32, patterns: &[u32; N], count: usize) {
        let kept = self.records.len() + count.min(N);
        self.records.extend_from_slice(&patterns.map(|pattern| Record { end, pattern }));
        self.records.truncate(kept);
    }

    /// Adds the first `count` of some records, or all of them if there are fewer. As
    /// [`push_some`](Self::push_some), it does not branch on `count`.
    #[inline(always)]
    pub fn push_first<const N: usize>(&mut self, records: &[Record; N], count: usize) {
        let kept = self.records.len() + count.min(N);
        self.records.extend_from_slice(records);
        self.records.truncate(kept);
    }

    /// Gives the records to the sink once a batch is full. Call it only between positions, because
    /// records with the same end belong in one batch.
    #[inline(always)]
    pub fn flush_if_full(&mut self) -> ControlFlow<()> {
        if self.records.len() >= BATCH_RECORDS { self.flush() } else { ControlFlow::Continue(()) }
    }

    /// Flushes, then counts ends from another base. Blocks over 4 GiB need it, because ends have
    /// 32 bits.
    pub fn rebase(&mut self, base: u64) -> ControlFlow<()> {
        let flow = if base == self.base { ControlFlow::Continue(()) } else { self.flush() };
        self.base = base;
        flow
    }

    /// Gives the collected records to the sink.
    pub fn flush(&mut self) -> ControlFlow<()> {
        if self.records.is_empty() {
            return ControlFlow::Continue(());
        }
        let flow = self.sink.on_batch(&Batch {
            base: self.base,
            records: self.records,
            ordered: self.ordered,
            single: false,
            set: self.set,
        });
        self.records.clear();
        flow
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_taken_up_only_where_it_was_left() {
        let block = Block { bytes: b"abcd", overlap: 2, offset: 8 };
        let (me, other) = (MatcherId::new(), MatcherId::new());
        let mut s = Scratch::following();
        assert_eq!(s.resume(me, &block), None);
        s.leave(me, 10, 3);
        assert_eq!((s.resume(me, &block), s.resume(other, &block)), (Some(3), None));
        s.leave(me, 11, 3);
        assert_eq!(s.resume(me, &block), None);
        let mut plain = Scratch::new();
        plain.leave(me, 10, 3);
        assert_eq!(plain.resume(me, &block), None);
    }

    #[test]
    fn local_buffers_are_kept_by_type() {
        let mut s = Scratch::new();
        s.parts::<Vec<u8>>().1.push(1);
        assert_eq!(s.parts::<Vec<u8>>().1.len(), 1);
        assert_eq!(s.parts::<Vec<u16>>().1.len(), 0);
        assert_eq!(s.parts::<Vec<u8>>().1.len(), 1);
    }
}
