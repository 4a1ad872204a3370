//! [`GroupSearcher`]: many pattern sets, and haystacks that each are searched for one of them.
//!
//! An intrusion detection system has a set of rules for each group of ports, and searches each
//! packet for one of them. With one call per packet, the tables of a set are often no longer in the
//! cache, and each call has a fixed cost.
//!
//! * On a CPU each group has a searcher. The haystacks of a round are sorted by group, so the
//!   tables of a group stay in the cache for all of its haystacks.
//! * On a GPU one matcher searches for the union of all groups, and matches of other groups are
//!   dropped. So the device gets a few large packs for any number of groups.

use crate::batch::{BatchScan, check_ends, with_scan};
use crate::pack::{Output, PackBuffer, Sought};
use crate::registry;
use crate::{BuildError, Searcher, SearcherBuilder};
use fyke_core::{Batch, Device, Footprint, Memory, Pattern, PatternId, PatternSet};
use std::fmt;
use std::ops::ControlFlow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;

/// A round of haystacks ends once they have this many bytes. Measured with the calls of
/// `replay/et-2016-zeek` on Zen 3, with 1, 4 and 16 MiB.
const ROUND: usize = 16 << 20;

/// If a pattern is in more groups than this, its place in one is found by binary search. Not
/// measured: a guess.
const FEW_GROUPS: usize = 8;

/// The maximum number of haystacks of a round. Not measured: a guess.
const ROUND_HAYSTACKS: usize = 1 << 16;

/// Several pattern sets, the groups. One call searches many haystacks, each for the patterns of one
/// group.
///
/// It is immutable; threads share it, and a clone shares its memory.
/// [`SearcherBuilder::build_groups`] makes one.
///
/// ```
/// use fyke::{PatternSet, Searcher};
/// use std::ops::ControlFlow;
///
/// let web = PatternSet::new(["GET /admin", "cmd.exe"])?;
/// let mail = PatternSet::new(["cmd.exe", "RCPT TO:<root>"])?;
/// let searcher = Searcher::builder().build_groups(&[web, mail])?;
///
/// let packets = [(1, "RCPT TO:<root>"), (0, "GET /cmd.exe"), (0, "RCPT TO:<root>")];
/// let mut found = Vec::new();
/// let _ = searcher.scan_batch(packets, |packet, batch| {
///     found.extend(batch.matches().map(|m| (packet, m.pattern.0, m.start, m.end)));
///     ControlFlow::Continue(())
/// });
/// found.sort();
/// assert_eq!(found, [(0, 1, 0, 14), (1, 1, 5, 12)]); // the third packet is not mail
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct GroupSearcher(Form);

#[derive(Clone)]
enum Form {
    /// A searcher for each group.
    Apart(Arc<[Searcher]>),
    /// One searcher for all groups.
    Together(Arc<Union>),
}

/// All groups as one set.
pub(crate) struct Union {
    searcher: Searcher,
    groups: Vec<PatternSet>,
    /// Where the `places` of each pattern of the union start, and the end of the last.
    starts: Vec<u32>,
    /// The group and the dense index there of each pattern of the union, groups in order.
    places: Vec<(u32, u32)>,
}

impl Union {
    /// The patterns of a group.
    pub(crate) fn set(&self, group: usize) -> &PatternSet {
        &self.groups[group]
    }

    /// The dense index in a group of a pattern of the union. `None` if it is not of this group.
    pub(crate) fn index(&self, group: usize, pattern: u32) -> Option<u32> {
        let at = pattern as usize;
        let places = &self.places[self.starts[at] as usize..self.starts[at + 1] as usize];
        // Most patterns are in few groups.
        let found = if places.len() <= FEW_GROUPS {
            places.iter().position(|place| place.0 as usize == group)
        } else {
            places.binary_search_by_key(&group, |place| place.0 as usize).ok()
        };
        found.map(|i| places[i].1)
    }

    /// Runs a call of the searcher of all groups.
    fn scan(
        &self,
        output: Output<'_>,
        run: impl FnOnce(&mut BatchScan<'_, '_>, &mut PackBuffer) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        with_scan(&self.searcher, Sought::Group(self), output, run)
    }

    /// A union with its searcher.
    fn new(searcher: Searcher, groups: Vec<PatternSet>) -> Union {
        let members: Vec<Vec<u32>> =
            groups.iter().map(|group| members(searcher.set(), group)).collect();
        let mut starts = vec![0; searcher.set().len() + 1];
        members.iter().flatten().for_each(|&at| starts[at as usize + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let mut next = starts.clone();
        let mut places = vec![(0, 0); members.iter().map(Vec::len).sum()];
        for (group, members) in members.iter().enumerate() {
            for (index, &at) in members.iter().enumerate() {
                places[next[at as usize] as usize] = (group as u32, index as u32);
                next[at as usize] += 1;
            }
        }
        Union { searcher, groups, starts, places }
    }
}

/// The distinct patterns of all sets. Their ids have no meaning.
fn union_of(groups: &[PatternSet]) -> Result<PatternSet, BuildError> {
    let mut all = PatternSet::builder();
    for pattern in groups.iter().flat_map(PatternSet::iter) {
        all.push_unrepeated(PatternId(0), pattern.bytes, pattern.nocase)?;
    }
    Ok(all.build())
}

/// The dense index in `union` of each pattern of a group.
fn members(union: &PatternSet, group: &PatternSet) -> Vec<u32> {
    fn key(pattern: Pattern<'_>) -> (&[u8], bool) {
        (pattern.bytes, pattern.nocase)
    }
    let mut from = 0;
    let place = |sought: Pattern<'_>| {
        // Both sets are sorted, so the next pattern is after this one.
        let (mut low, mut high) = (from, union.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            let is_before = key(union.get(middle)) < key(sought);
            (low, high) = if is_before { (middle + 1, high) } else { (low, middle) };
        }
        from = low + 1;
        low
    };
    group.iter().map(place).collect()
}

impl SearcherBuilder {
    /// Compiles several sets, the groups, for haystacks that are each searched for one of them.
    ///
    /// `"auto"` chooses a CPU engine for each group, and the memory limit applies to each. A GPU
    /// engine, which has to be selected by name, gets the union of all groups, and the limit
    /// applies to the union. [`expected_bytes`](Self::expected_bytes),
    /// [`expected_call`](Self::expected_call), [`short_haystacks`](Self::short_haystacks) and
    /// [`match_kind`](Self::match_kind) have no effect.
    ///
    /// # Errors
    /// As [`build`](Self::build). The error names the group, unless the union was refused.
    pub fn build_groups(&self, groups: &[PatternSet]) -> Result<GroupSearcher, BuildError> {
        let mut builder = SearcherBuilder { short_haystacks: false, ..self.clone() };
        builder.options = builder.options.in_calls(None);
        if let Some(union) = builder.together(groups)? {
            return Ok(GroupSearcher(Form::Together(Arc::new(union))));
        }
        // So that `auto` takes no GPU: one per group would get small packs.
        builder.options.expected_bytes = None;
        let build = |(group, set)| builder.build(set).map_err(|e: BuildError| e.in_group(group));
        let apart = groups.iter().enumerate().map(build).collect::<Result<_, _>>()?;
        Ok(GroupSearcher(Form::Apart(apart)))
    }

    /// The union of all groups, if the selected engine runs on a GPU.
    fn together(&self, groups: &[PatternSet]) -> Result<Option<Union>, BuildError> {
        let refused = |refusal| BuildError::refused(&self.engine, refusal);
        let (name, _) = registry::parse(&self.engine);
        if registry::find(name).map_err(refused)?.info().device == Device::Cpu {
            return Ok(None);
        }
        let fold = |set: &PatternSet| if self.nocase { set.to_nocase() } else { set.clone() };
        let groups: Vec<PatternSet> = groups.iter().map(fold).collect();
        let union = union_of(&groups)?;
        let matcher = registry::compile_with(&self.engine, &union, &self.engine_options());
        Ok(Some(Union::new(self.searcher(matcher.map_err(refused)?), groups)))
    }
}

impl GroupSearcher {
    /// The number of groups.
    pub fn groups(&self) -> usize {
        match &self.0 {
            Form::Apart(searchers) => searchers.len(),
            Form::Together(union) => union.groups.len(),
        }
    }

    /// The patterns of a group.
    ///
    /// # Panics
    /// There is no group with this number.
    pub fn set(&self, group: usize) -> &PatternSet {
        match &self.0 {
            Form::Apart(searchers) => searchers[group].set(),
            Form::Together(union) => union.set(group),
        }
    }

    /// The device that it searches on.
    pub fn device(&self) -> Device {
        match &self.0 {
            Form::Apart(_) => Device::Cpu,
            Form::Together(_) => Device::Gpu,
        }
    }

    /// Memory of the compiled sets.
    pub fn footprint(&self) -> Footprint {
        let add = |sum: Footprint, one: Footprint| Footprint {
            host: sum.host + one.host,
            device: sum.device + one.device,
        };
        let tables = match &self.0 {
            Form::Apart(_) => 0,
            Form::Together(union) => 4 * union.starts.len() + 8 * union.places.len(),
        };
        let own = Footprint { host: tables as u64, device: 0 };
        self.searchers().map(|s| s.matcher().footprint()).fold(own, add)
    }

    /// A buffer of at least `bytes` bytes for [`scan_packed`](Self::scan_packed), in the kind of
    /// memory that the device reads fastest. Its content is unspecified.
    pub fn memory(&self, bytes: usize) -> Memory {
        match &self.0 {
            Form::Apart(_) => Box::new(vec![0; bytes]),
            Form::Together(union) => union.searcher.matcher().memory(bytes),
        }
    }

    /// Its searchers: one for each group, or one for all.
    fn searchers(&self) -> impl Iterator<Item = &Searcher> {
        let searchers = match &self.0 {
            Form::Apart(searchers) => &searchers[..],
            Form::Together(union) => std::slice::from_ref(&union.searcher),
        };
        searchers.iter()
    }

    /// Searches many haystacks. Each is given as the number of a group, from 0, and the bytes that
    /// are searched for the patterns of that group.
    ///
    /// `each` gets the number of a haystack, from 0, and matches of it, with the ids of its group,
    /// in canonical order. Haystacks may come in any order, but the batches of one haystack follow
    /// each other. The call holds haystacks back until it has some 16 MiB or 65,536 of them, on a
    /// GPU 64 MiB. Semantics, threads and `Break` are as in [`Searcher::scan_batch`].
    ///
    /// # Panics
    /// A haystack has a group that does not exist.
    pub fn scan_batch<H: AsRef<[u8]>>(
        &self,
        haystacks: impl IntoIterator<Item = (usize, H)>,
        mut each: impl FnMut(usize, &Batch<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let haystacks = haystacks.into_iter().inspect(|(group, _)| self.check_group(*group));
        match &self.0 {
            Form::Together(union) => {
                let haystacks = haystacks.map(|(group, haystack)| (Some(group), haystack));
                union.scan(Output::Matches(&mut each), |scan, pack| scan.copied(haystacks, pack))
            }
            Form::Apart(searchers) => each_share(searchers, haystacks, |searcher, share| {
                let pass = |i: usize, batch: &Batch<'_>| each(share.number(i), batch);
                searcher.scan_batch(share.haystacks(), pass)
            }),
        }
    }

    /// As [`scan_batch`](Self::scan_batch), for adjacent haystacks: haystack `i` ends before
    /// `bytes[ends[i]]`, the next one starts there, and it is searched for the patterns of group
    /// `groups[i]`. On a GPU nothing is copied within the host's memory if `bytes` are in memory
    /// that [`memory`](Self::memory) returned. On a CPU small haystacks are copied.
    ///
    /// # Panics
    /// The ends do not ascend, the last one is beyond `bytes`, there are not as many groups as
    /// ends, or a haystack has a group that does not exist.
    pub fn scan_packed(
        &self,
        bytes: &[u8],
        ends: &[usize],
        groups: &[usize],
        mut each: impl FnMut(usize, &Batch<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.check_packed(bytes, ends, groups);
        match &self.0 {
            Form::Together(union) => {
                let output = Output::Matches(&mut each);
                union.scan(output, |scan, _| scan.in_place(bytes, ends, groups))
            }
            Form::Apart(_) => self.scan_batch(adjacent(bytes, ends, groups), each),
        }
    }

    /// Counts the matches of each of many haystacks, as [`scan_batch`](Self::scan_batch) finds
    /// them. `counts` is cleared and gets one number per haystack.
    ///
    /// ```
    /// use fyke::{PatternSet, Searcher};
    ///
    /// let groups = [PatternSet::new(["he", "she"])?, PatternSet::new(["her"])?];
    /// let searcher = Searcher::builder().build_groups(&groups)?;
    /// let mut counts = Vec::new();
    /// searcher.count_batch([(0, "she"), (1, "she"), (1, "hers")], &mut counts);
    /// assert_eq!(counts, [2, 0, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A haystack has a group that does not exist.
    pub fn count_batch<H: AsRef<[u8]>>(
        &self,
        haystacks: impl IntoIterator<Item = (usize, H)>,
        counts: &mut Vec<u64>,
    ) {
        counts.clear();
        let haystacks = haystacks.into_iter().inspect(|(group, _)| self.check_group(*group));
        let _ = match &self.0 {
            Form::Together(union) => {
                let haystacks = haystacks.map(|(group, haystack)| (Some(group), haystack));
                union.scan(Output::Counts(counts), |scan, pack| scan.copied(haystacks, pack))
            }
            Form::Apart(searchers) => {
                let mut own = Vec::new();
                each_share(searchers, haystacks, |searcher, share| {
                    searcher.count_batch(share.haystacks(), &mut own);
                    counts.resize(share.end(), 0);
                    own.iter().enumerate().for_each(|(i, n)| counts[share.number(i)] = *n);
                    ControlFlow::Continue(())
                })
            }
        };
    }

    /// As [`count_batch`](Self::count_batch), for adjacent haystacks as in
    /// [`scan_packed`](Self::scan_packed).
    ///
    /// # Panics
    /// As [`scan_packed`](Self::scan_packed).
    pub fn count_packed(
        &self,
        bytes: &[u8],
        ends: &[usize],
        groups: &[usize],
        counts: &mut Vec<u64>,
    ) {
        self.check_packed(bytes, ends, groups);
        match &self.0 {
            Form::Together(union) => {
                counts.clear();
                let output = Output::Counts(counts);
                let _ = union.scan(output, |scan, _| scan.in_place(bytes, ends, groups));
            }
            Form::Apart(_) => self.count_batch(adjacent(bytes, ends, groups), counts),
        }
    }

    fn check_group(&self, group: usize) {
        let groups = self.groups();
        assert!(group < groups, "group {group}, but there are {groups} groups");
    }

    fn check_packed(&self, bytes: &[u8], ends: &[usize], groups: &[usize]) {
        check_ends(bytes, ends);
        assert_eq!(ends.len(), groups.len(), "each haystack needs a group");
        groups.iter().for_each(|&group| self.check_group(group));
    }
}

// As for `Searcher`: a scan writes to its scratch, which a panic drops.
impl UnwindSafe for GroupSearcher {}
impl RefUnwindSafe for GroupSearcher {}

impl fmt::Debug for GroupSearcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupSearcher")
            .field("groups", &self.groups())
            .field("device", &self.device())
            .field("searchers", &self.searchers().collect::<Vec<_>>())
            .finish()
    }
}

/// Adjacent haystacks with their groups.
fn adjacent<'a>(
    bytes: &'a [u8],
    ends: &'a [usize],
    groups: &'a [usize],
) -> impl Iterator<Item = (usize, &'a [u8])> {
    let starts = std::iter::once(&0).chain(ends);
    let spans = starts.zip(ends).map(|(&start, &end)| &bytes[start..end]);
    groups.iter().copied().zip(spans)
}

/// The haystacks of a group in a round.
struct Share<'a, H> {
    round: &'a [(usize, H)],
    /// The number of the first haystack of the round.
    first: usize,
    /// The places of the group's haystacks in the round.
    places: &'a [u32],
}

impl<H> Share<'_, H> {
    fn haystacks(&self) -> impl Iterator<Item = &H> {
        self.places.iter().map(|&at| &self.round[at as usize].1)
    }

    /// The number of a haystack of the share.
    fn number(&self, i: usize) -> usize {
        self.first + self.places[i] as usize
    }

    /// The number after that of the last haystack of the round.
    fn end(&self) -> usize {
        self.first + self.round.len()
    }
}

/// Calls `scan` with the haystacks of each group, one round after the other.
fn each_share<H: AsRef<[u8]>>(
    searchers: &[Searcher],
    haystacks: impl Iterator<Item = (usize, H)>,
    mut scan: impl FnMut(&Searcher, Share<'_, H>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut by_group = ByGroup::new(searchers.len());
    let mut scan_round = |round: &[(usize, H)], first: usize| {
        by_group.fill(round);
        searchers.iter().enumerate().try_for_each(|(group, searcher)| {
            match by_group.places(group) {
                [] => ControlFlow::Continue(()),
                places => scan(searcher, Share { round, first, places }),
            }
        })
    };
    let (mut round, mut first, mut bytes) = (Vec::new(), 0, 0);
    for (group, haystack) in haystacks {
        bytes += haystack.as_ref().len();
        round.push((group, haystack));
        if bytes >= ROUND || round.len() == ROUND_HAYSTACKS {
            scan_round(&round, first)?;
            (first, bytes) = (first + round.len(), 0);
            round.clear();
        }
    }
    scan_round(&round, first)
}

/// The haystacks of a round, sorted by group.
struct ByGroup {
    /// Where the places of each group end.
    ends: Vec<u32>,
    /// The places of all haystacks in the round, one group after the other.
    places: Vec<u32>,
}

impl ByGroup {
    fn new(groups: usize) -> ByGroup {
        ByGroup { ends: vec![0; groups], places: Vec::new() }
    }

    /// Sorts the haystacks of another round.
    fn fill<H>(&mut self, round: &[(usize, H)]) {
        self.ends.fill(0);
        round.iter().for_each(|(group, _)| self.ends[*group] += 1);
        let mut start = 0;
        // From the number of haystacks of each group to its first place.
        self.ends.iter_mut().for_each(|n| start += std::mem::replace(n, start));
        self.places.resize(round.len(), 0);
        for (at, (group, _)) in round.iter().enumerate() {
            let end = &mut self.ends[*group];
            self.places[*end as usize] = at as u32;
            *end += 1;
        }
    }

    fn places(&self, group: usize) -> &[u32] {
        let start = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start as usize..self.ends[group] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_union_knows_the_patterns_of_each_group() {
        let mut folded = PatternSet::builder();
        folded.push_with(PatternId(9), "ab", true).unwrap();
        let groups = [
            PatternSet::new(["ab", "b", "ab"]).unwrap(),
            folded.build(),
            PatternSet::new([""; 0]).unwrap(),
            PatternSet::new(["zz", "b", "a"]).unwrap(),
        ];
        let union = union_of(&groups).unwrap();
        assert_eq!(union.len(), 5, "a, ab, ab in either case, b, zz");
        for group in &groups {
            let places = members(&union, group);
            assert!(places.is_sorted() && places.len() == group.len());
            for (pattern, place) in group.iter().zip(places) {
                let of_union = union.get(place);
                assert_eq!((pattern.bytes, pattern.nocase), (of_union.bytes, of_union.nocase));
            }
        }
    }
}
