//! The tables as sections of a database, and the check of tables that come from one.
//!
//! Tables may be forged. A scan relies on some facts without checking them, so they are checked
//! here: the sizes of filter and buckets, that each entry leads to a record, that each run ends,
//! and that each record fits its pattern. Forged tables that pass can only change the matches.

use super::buckets::{
    self, BEYOND, CacheLineBucket, CacheLineBuckets, Header, INLINE, PLACE, PLACE_SHIFT, Records,
    SLOTS, UNUSED, header,
};
use super::build::FilterTables;
use super::forecast::Form;
use super::shape::{BEFORE, WindowShape};
use super::{INFO, QgramFilterMatcher};
use crate::simd::prefetch;
use fyke_core::stored::{LoadedPart, StoredPart, UnsoundTables};
use fyke_core::table::{Plain, Table};
use fyke_core::{Matcher, Options, PatternSet, check_memory};
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The version of the table layout. Change it with the layout, with the hashes ([`super::hash`])
/// and with the choice of windows ([`super::shape`]).
const LAYOUT: u32 = 1;

/// Buckets that a thread takes at a time, and most threads: more would wait for memory bandwidth.
/// Guesses.
const BUCKETS: usize = 1 << 13;
const MOST_THREADS: usize = 8;

/// Buckets that are checked together: their headers are read, and the lengths of their patterns
/// prefetched, before any length is compared. A guess.
const GROUP: usize = 32;

/// The longest length that [`Check`] keeps in a byte. It stands for all longer ones, which are
/// looked up in the set.
const CAPPED: usize = u8::MAX as usize;

/// The tables for a database.
pub(super) fn stored(matcher: &QgramFilterMatcher) -> StoredPart<'_> {
    let tables = &matcher.tables;
    let shape = &tables.shape;
    StoredPart {
        engine: INFO.name,
        layout: LAYOUT,
        numbers: vec![
            shape.stride as u64,
            u64::from(shape.joined),
            shape.short as u64,
            tables.records.in_runs as u64,
        ],
        tables: vec![
            tables.filter.bytes(),
            tables.short.table().bytes(),
            tables.long.table().bytes(),
            tables.records.units.bytes(),
        ],
        set: &matcher.set,
        indices: &[],
        plan: Vec::new(),
    }
}

/// The matcher of tables that were loaded. `None` if their layout is unknown, this CPU lacks the
/// form that the options ask for, or the tables exceed the memory limit.
pub(super) fn load(
    set: &PatternSet,
    opt: &Options,
    part: &LoadedPart,
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    let Some(form) = Form::new(opt).ok().filter(|_| part.layout == LAYOUT) else {
        return Ok(None);
    };
    let Ok(dispatch) = form.isa.dispatch() else { return Ok(None) };
    let tables = tables(set, part)?;
    if check_memory(opt.memory_limit, tables.memory()).is_err() {
        return Ok(None);
    }
    let (set, gathers) = (set.clone(), form.gathers);
    Ok(Some(Arc::new(QgramFilterMatcher { set, tables, dispatch, gathers })))
}

/// The tables of a part, checked.
fn tables(set: &PatternSet, part: &LoadedPart) -> Result<FilterTables, UnsoundTables> {
    let [stride, joined, short, in_runs] = part.numbers[..] else {
        return Err("there are not four numbers");
    };
    let [filter, short_buckets, long_buckets, units] = &part.tables[..] else {
        return Err("there are not four tables");
    };
    let shape = usize::try_from(stride).ok().zip(usize::try_from(short).ok());
    let shape = shape.and_then(|(stride, short)| {
        (joined <= 1).then_some(())?;
        WindowShape::restored(set, stride, joined == 1, short)
    });
    let shape = shape.ok_or("the shape is not one of the set")?;
    let filter: Table<u32> = cast(filter)?;
    if filter.len() != shape.filter_words() {
        return Err("the filter has a wrong size");
    }
    let buckets = |table: &Table<u8>| {
        CacheLineBuckets::of(cast(table)?).ok_or("the number of buckets is not a power of two")
    };
    let units = cast(units)?;
    if units.len() < BEYOND || u32::try_from(units.len()).is_err() {
        return Err("there are too few or too many records");
    }
    let in_runs = usize::try_from(in_runs).unwrap_or(usize::MAX);
    let tables = FilterTables {
        shape,
        filter,
        short: buckets(short_buckets)?,
        long: buckets(long_buckets)?,
        records: Records { units, in_runs },
        masks: shape.class_masks(),
    };
    check(set, &tables)?;
    Ok(tables)
}

fn cast<T: Plain>(table: &Table<u8>) -> Result<Table<T>, UnsoundTables> {
    table.cast().ok_or("a table has a wrong size")
}

/// Checks every entry of all buckets, with several threads.
fn check(set: &PatternSet, tables: &FilterTables) -> Result<(), UnsoundTables> {
    let both = [&tables.short, &tables.long];
    let parts: Vec<&[CacheLineBucket]> =
        both.into_iter().flat_map(|buckets| buckets.table().chunks(BUCKETS)).collect();
    let starts = set.starts();
    let lengths = starts.iter().zip(&starts[1..]).map(|(from, to)| (to - from).min(CAPPED as u32));
    let short_lengths = lengths.map(|len| len as u8).collect();
    let check = Check { set, short_lengths, tables, steps: AtomicUsize::new(0) };
    let next = AtomicUsize::new(0);
    let some = || {
        let mut turns = std::iter::from_fn(|| parts.get(next.fetch_add(1, Ordering::Relaxed)));
        turns.try_for_each(|part| check.buckets(part))
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let threads = threads.min(MOST_THREADS).min(parts.len());
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(some)).collect();
        let done = some();
        let join = |other: thread::ScopedJoinHandle<'_, _>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        others.into_iter().map(join).fold(done, Result::and)
    })
}

/// A check of buckets.
struct Check<'a> {
    set: &'a PatternSet,
    /// The length of each pattern, up to [`CAPPED`]. Entries lead to patterns in arbitrary order,
    /// so the lengths should fit in a cache: one byte each.
    short_lengths: Vec<u8>,
    tables: &'a FilterTables,
    /// Records that the check of runs stepped over.
    steps: AtomicUsize,
}

impl Check<'_> {
    fn buckets(&self, buckets: &[CacheLineBucket]) -> Result<(), UnsoundTables> {
        let mut headers = Vec::with_capacity(GROUP * SLOTS);
        for group in buckets.chunks(GROUP) {
            headers.clear();
            for bucket in group {
                let base = u64::from(buckets::base(bucket));
                for entry in buckets::entries(bucket).iter().filter(|entry| **entry != UNUSED) {
                    let header = self.header(base + u64::from(entry >> PLACE_SHIFT & PLACE))?;
                    let length =
                        self.short_lengths.as_ptr().wrapping_add(header.pattern() as usize);
                    prefetch(length);
                    headers.push(header);
                }
            }
            for header in &headers {
                if header.is_run() {
                    self.run(*header)?;
                } else {
                    self.record(*header)?;
                }
            }
        }
        Ok(())
    }

    fn header(&self, unit: u64) -> Result<Header, UnsoundTables> {
        let unit = usize::try_from(unit).ok().and_then(|at| self.tables.records.units().get(at));
        unit.map(|unit| header(*unit)).ok_or("an entry leads past the records")
    }

    /// Checks the records of a run, and that it ends. Runs share no records, so all runs together
    /// have at most as many records as there are units. More steps mean forged runs that overlap,
    /// which would take quadratic time.
    fn run(&self, run: Header) -> Result<(), UnsoundTables> {
        let mut unit = u64::from(run.pattern());
        loop {
            if self.steps.fetch_add(1, Ordering::Relaxed) > self.tables.records.units.len() {
                return Err("runs of records overlap");
            }
            let header = self.header(unit)?;
            self.record(header)?;
            if header.is_last() {
                return Ok(());
            }
            unit += u64::from(header.units());
        }
    }

    /// Checks that a record fits its pattern, and its window lies in it.
    #[inline(always)]
    fn record(&self, header: Header) -> Result<(), UnsoundTables> {
        let index = header.pattern();
        let Some(&short) = self.short_lengths.get(index as usize) else {
            return Err("a record has no pattern");
        };
        let len = match usize::from(short) {
            CAPPED => self.set.pattern_len(index),
            len => len,
        };
        let (seen, _) = self.tables.shape.seen(self.tables.shape.is_long(len));
        let fits = header.len() == len
            && header.count() as usize == len.min(INLINE)
            && header.offset() >= BEFORE
            && header.offset() - BEFORE + seen <= len;
        fits.then_some(()).ok_or("a record does not fit its pattern")
    }
}

#[cfg(test)]
mod tests {
    use super::super::ENGINE;
    use super::*;
    use fyke_core::table::{AlignedBytes, SharedBytes};
    use fyke_core::{Block, Collect, Engine, PatternId, Scratch, oracle};

    /// Sets with short and long patterns, of one and of both cases, with windows that many share.
    fn sets() -> Vec<PatternSet> {
        let set = |count: u32, nocase: u32, long: bool| {
            let mut builder = PatternSet::builder();
            for i in 0..count {
                let text = match i % 3 {
                    0 => format!("commonbeginning{i:04}{}", "y".repeat(i as usize % 40)),
                    1 if !long => format!("{:04x}", i * 2654),
                    _ => format!("k{i:07}"),
                };
                let nocase = nocase > 0 && i % nocase == 0;
                builder.push_with(PatternId(i / 2), text, nocase).unwrap();
            }
            builder.build()
        };
        vec![
            set(0, 0, true),
            set(1, 0, true),
            set(300, 0, true),
            set(400, 3, true),
            set(400, 2, false),
        ]
    }

    fn haystack(set: &PatternSet) -> Vec<u8> {
        let mut text = b"commonbeginning0003 k000000".to_vec();
        for pattern in set.iter().step_by(3) {
            text.extend(pattern.bytes);
            text.extend(pattern.bytes.to_ascii_uppercase());
        }
        text
    }

    /// A part as a reader of a file gets it.
    fn loaded(stored: &StoredPart<'_>) -> LoadedPart {
        let table = |bytes: &&[u8]| {
            let memory: SharedBytes = Arc::new(AlignedBytes::copy(bytes));
            Table::shared(&memory, 0..bytes.len()).unwrap()
        };
        LoadedPart {
            engine: stored.engine.to_owned(),
            layout: stored.layout,
            numbers: stored.numbers.clone(),
            tables: stored.tables.iter().map(table).collect(),
            set: stored.set.clone(),
            indices: Table::default(),
            plan: Vec::new(),
        }
    }

    fn compiled(set: &PatternSet, options: &str) -> Option<Arc<dyn Matcher>> {
        ENGINE.compile(set, &Options::with_params(options).unwrap()).ok()
    }

    fn scan(matcher: &dyn Matcher, haystack: &[u8]) -> Vec<fyke_core::StreamMatch> {
        let mut found = Collect::default();
        let _ = matcher.scan(Block::whole(haystack), &mut Scratch::new(), &mut found);
        found.sorted()
    }

    const SHAPES: [&str; 4] = ["stride=1", "stride=2,joined=no", "stride=2,joined=yes", "stride=4"];

    #[test]
    fn tables_that_were_saved_scan_as_before() {
        let mut runs = 0;
        for set in sets() {
            let haystack = haystack(&set);
            for shape in SHAPES {
                let Some(matcher) = compiled(&set, shape) else { continue };
                let stored = matcher.stored();
                let part = loaded(&stored[0]);
                for isa in crate::testing::isas(&ENGINE) {
                    let opt = Options::with_params(&format!("isa={}", isa.name())).unwrap();
                    let again = load(&set, &opt, &part).unwrap().unwrap();
                    assert_eq!(scan(&*again, &haystack), oracle::find_all(&set, &haystack));
                    assert_eq!(again.stats(), matcher.stats());
                }
                runs += part.numbers[3];
            }
        }
        assert!(runs > 0, "no set has runs of records");
    }

    #[test]
    fn other_layouts_and_little_memory_are_left_to_the_compiler() {
        let set = &sets()[2];
        let matcher = compiled(set, "").unwrap();
        let stored = matcher.stored();
        let other = LoadedPart { layout: LAYOUT + 1, ..loaded(&stored[0]) };
        assert!(load(set, &Options::default(), &other).unwrap().is_none());
        let little = Options::default().limited_to(100);
        assert!(load(set, &little, &loaded(&stored[0])).unwrap().is_none());
    }

    /// Tables with any word changed are refused, or scan without a panic. Under the address
    /// sanitizer this is the test that no forgery reads outside of the tables.
    #[test]
    fn forged_tables_are_refused_or_scan() {
        let (mut refused, mut scanned) = (0, 0);
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) as usize % below
        };
        for set in &sets()[1..] {
            let haystack = haystack(set);
            for shape in SHAPES {
                let Some(matcher) = compiled(set, shape) else { continue };
                let stored = matcher.stored();
                for round in 0..300 {
                    let mut tables: Vec<Vec<u8>> =
                        stored[0].tables.iter().map(|table| table.to_vec()).collect();
                    let mut numbers = stored[0].numbers.clone();
                    for _ in 0..1 + round % 4 {
                        let table = &mut tables[1 + next(3)];
                        let at = next(table.len());
                        table[at] = [0, 1, 0xff, table[at].wrapping_add(1)][next(4)];
                    }
                    match round % 20 {
                        0 => numbers[next(4)] = [0, 1, 2, 3, 4, u64::MAX][next(6)],
                        1 => tables[next(4)].truncate(next(200)),
                        _ => {}
                    }
                    let slices = tables.iter().map(Vec::as_slice).collect();
                    let forged = StoredPart { numbers, tables: slices, ..stored[0].clone() };
                    match load(set, &Options::default(), &loaded(&forged)) {
                        Ok(Some(matcher)) => {
                            let found = scan(&*matcher, &haystack);
                            assert!(found.iter().all(|m| m.end <= haystack.len() as u64));
                            scanned += 1;
                        }
                        Ok(None) => panic!("the layout is known"),
                        Err(_) => refused += 1,
                    }
                }
            }
        }
        assert!(refused > 100 && scanned > 100, "{refused} refused, {scanned} scanned");
    }
}
