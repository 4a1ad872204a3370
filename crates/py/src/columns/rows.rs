//! Scans the rows of an Arrow array. The values of a column are adjacent, so a block of rows is
//! scanned in one call, and each match is attributed to its row.

use super::found::{Columns, FoundRows};
use super::{Pause, words};
use crate::positions::CharIndex;
use arrow_array::cast::AsArray;
use arrow_array::types::ByteArrayType;
use arrow_array::{Array, ArrayRef, GenericByteArray, OffsetSizeTrait};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use fyke::{Batch, Device, MatchKind, Searcher, StreamMatch};
use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The maximum number of rows and bytes of a block. Between blocks the scan can be ended. Not
/// measured: a guess.
const BLOCK_ROWS: usize = 8 << 10;
const BLOCK_BYTES: usize = 1 << 20;

/// Rows are searched one by one if they have more bytes than this on average. Not measured: a
/// guess.
const LONG_ROW: usize = 4 << 10;

/// The first rows of a block, which tell how many matches the others have. Not measured: a guess.
const PROBE_ROWS: usize = 32;

/// From this many matches per row on, rows are searched one by one for their first match. Swept
/// with 20 to 10,000 words of `data/text/kjv.txt.xz` on its lines: it pays from 2 to 3 on.
const DENSE: u64 = 2;

/// Where matches that do not overlap lie at most this many bytes apart, rows are searched one by
/// one for them: to select them from all matches takes longer. Swept with 1,000 to 12,000 words of
/// `data/text/kjv.txt.xz` on its lines, with the engine `auto`: it pays up to 6 to 12.
const DENSE_GAP: usize = 8;

/// The maximum number of rows of a block whose bytes are not adjacent. Not measured: a guess.
const SCATTERED_ROWS: usize = 1 << 10;

/// The rows of an array as byte strings.
pub(super) struct Rows<'a> {
    len: usize,
    values: Values<'a>,
    nulls: Option<NullBuffer>,
    /// Whether the rows are text.
    pub(super) text: bool,
}

/// Where the bytes of the rows are.
enum Values<'a> {
    /// Adjacent: row `i` is `bytes[offsets[i]..offsets[i + 1]]`.
    Packed { bytes: &'a [u8], offsets: Offsets<'a> },
    /// Anywhere.
    Each(Box<dyn Fn(usize) -> &'a [u8] + Send + Sync + 'a>),
}

enum Offsets<'a> {
    Small(&'a [i32]),
    Large(&'a [i64]),
}

impl Offsets<'_> {
    fn at(&self, row: usize) -> usize {
        match self {
            Offsets::Small(offsets) => offsets[row] as usize,
            Offsets::Large(offsets) => offsets[row] as usize,
        }
    }

    /// The first row from `from` on that ends beyond `end`.
    fn row_beyond(&self, from: usize, end: usize) -> usize {
        from + match self {
            Offsets::Small(offsets) => {
                offsets[from + 1..].partition_point(|&offset| offset as usize <= end)
            }
            Offsets::Large(offsets) => {
                offsets[from + 1..].partition_point(|&offset| offset as usize <= end)
            }
        }
    }
}

/// The offsets of an array, of either size.
trait ToOffsets: OffsetSizeTrait {
    fn offsets(from: &[Self]) -> Offsets<'_>;
}

impl ToOffsets for i32 {
    fn offsets(from: &[i32]) -> Offsets<'_> {
        Offsets::Small(from)
    }
}

impl ToOffsets for i64 {
    fn offsets(from: &[i64]) -> Offsets<'_> {
        Offsets::Large(from)
    }
}

fn packed<T: ByteArrayType<Offset: ToOffsets>>(array: &GenericByteArray<T>) -> Values<'_> {
    let offsets = T::Offset::offsets(array.value_offsets());
    Values::Packed { bytes: array.value_data(), offsets }
}

impl<'a> Rows<'a> {
    /// The rows of an array. `None` if its type has no byte strings.
    pub(super) fn new(array: &'a ArrayRef) -> Option<Self> {
        let (len, nulls) = (array.len(), array.logical_nulls());
        let values = match array.data_type() {
            DataType::Utf8 => packed(array.as_string::<i32>()),
            DataType::LargeUtf8 => packed(array.as_string::<i64>()),
            DataType::Binary => packed(array.as_binary::<i32>()),
            DataType::LargeBinary => packed(array.as_binary::<i64>()),
            DataType::Utf8View => {
                let views = array.as_string_view();
                Values::Each(Box::new(|row| views.value(row).as_bytes()))
            }
            DataType::BinaryView => {
                let views = array.as_binary_view();
                Values::Each(Box::new(|row| views.value(row)))
            }
            DataType::FixedSizeBinary(_) => {
                let fixed = array.as_fixed_size_binary();
                Values::Each(Box::new(|row| fixed.value(row)))
            }
            DataType::Dictionary(..) => return Self::dictionary(array, len, nulls),
            DataType::Null => Values::Each(Box::new(|_| &[])),
            _ => return None,
        };
        Some(Self { len, values, nulls, text: is_text(array.data_type()) })
    }

    /// The rows as text or not, whatever their type says.
    pub(super) fn with_text(self, text: bool) -> Self {
        Self { text, ..self }
    }

    fn dictionary(array: &'a ArrayRef, len: usize, nulls: Option<NullBuffer>) -> Option<Self> {
        let dictionary = array.as_any_dictionary_opt()?;
        let values = Rows::new(dictionary.values())?;
        let text = values.text;
        let keys = match values.len {
            0 => vec![0; len],
            _ => dictionary.normalized_keys(),
        };
        let each = Values::Each(Box::new(move |row| values.get(keys[row])));
        Some(Self { len, values: each, nulls, text })
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }

    /// The bytes of a row; none if it is null.
    pub(super) fn get(&self, row: usize) -> &'a [u8] {
        if self.is_null(row) {
            return &[];
        }
        match &self.values {
            Values::Packed { bytes, offsets } => &bytes[offsets.at(row)..offsets.at(row + 1)],
            Values::Each(get) => get(row),
        }
    }

    /// The rows in blocks of limited size, but for a row that is longer.
    fn blocks(&self) -> Vec<Range<usize>> {
        let (mut blocks, mut from) = (Vec::new(), 0);
        while from < self.len {
            let to = match &self.values {
                Values::Packed { offsets, .. } => {
                    let beyond = offsets.row_beyond(from, offsets.at(from) + BLOCK_BYTES);
                    beyond.clamp(from + 1, from + BLOCK_ROWS)
                }
                Values::Each(_) => from + SCATTERED_ROWS,
            };
            blocks.push(from..to.min(self.len));
            from = to.min(self.len);
        }
        blocks
    }

    /// Calls `each` with the row and the matches, in the order of rows.
    fn scan_block(
        &self,
        searcher: &Searcher,
        block: &Range<usize>,
        mut each: impl FnMut(usize, &Batch<'_>),
    ) {
        let each = |at: usize, batch: &Batch<'_>| {
            // The bytes of a null row are not its value.
            if !self.is_null(block.start + at) {
                each(block.start + at, batch);
            }
            ControlFlow::Continue(())
        };
        let _ = match self.packed_block(block) {
            Some((bytes, ends)) => searcher.scan_packed(bytes, &ends, each),
            None => searcher.scan_batch(block.clone().map(|row| self.get(row)), each),
        };
    }

    fn count_block(&self, searcher: &Searcher, block: &Range<usize>) -> Vec<u64> {
        let mut counts = Vec::new();
        match self.packed_block(block) {
            Some((bytes, ends)) => searcher.count_packed(bytes, &ends, &mut counts),
            None => searcher.count_batch(block.clone().map(|row| self.get(row)), &mut counts),
        }
        counts
    }

    /// Whether the search for one match of a row is to end at it. It costs a call for each row.
    fn are_long(&self, block: &Range<usize>) -> bool {
        let bytes: usize = block.clone().map(|row| self.get(row).len()).sum();
        bytes / block.len().max(1) > LONG_ROW
    }

    /// Whether each row of a block has a match.
    fn contains_in_block(&self, searcher: &Searcher, block: Range<usize>) -> Vec<bool> {
        let one_by_one = |rows: Range<usize>| rows.map(|row| searcher.is_match(self.get(row)));
        if self.are_long(&block) {
            return one_by_one(block).collect();
        }
        let probe_end = block.end.min(block.start + PROBE_ROWS);
        let counts = self.count_block(searcher, &(block.start..probe_end));
        let matches: u64 = counts.iter().sum();
        let mut found: Vec<_> = counts.iter().map(|&count| count > 0).collect();
        if matches >= DENSE * counts.len() as u64 {
            found.extend(one_by_one(probe_end..block.end));
        } else {
            let counts = self.count_block(searcher, &(probe_end..block.end));
            found.extend(counts.iter().map(|&count| count > 0));
        }
        found
    }

    /// The matches of each row of a block that the searcher's semantics select.
    fn find_in_block(&self, searcher: &Searcher, block: Range<usize>) -> FoundRows {
        let mut found = FoundRows { counts: vec![0; block.len()], columns: Columns::default() };
        let scan = |rows: Range<usize>, found: &mut FoundRows| {
            self.scan_block(searcher, &rows, |row, batch| {
                let before = found.columns.len();
                found.columns.extend(batch);
                found.counts[row - block.start] += found.columns.len() - before;
            });
        };
        if !is_as_find_iter(searcher) || self.are_long(&block) {
            scan(block.clone(), &mut found);
            return found;
        }
        let probe_end = block.end.min(block.start + PROBE_ROWS);
        let (probe, rest) = (block.start..probe_end, probe_end..block.end);
        scan(probe.clone(), &mut found);
        let bytes: usize = probe.map(|row| self.get(row).len()).sum();
        if found.columns.len() == 0 || bytes > DENSE_GAP * found.columns.len() {
            scan(rest, &mut found);
            return found;
        }
        for row in rest {
            let before = found.columns.len();
            for m in searcher.find_iter(self.get(row)) {
                let (start, end) = (m.start as u64, m.end as u64);
                found.columns.push(StreamMatch { pattern: m.pattern, start, end });
            }
            found.counts[row - block.start] = found.columns.len() - before;
        }
        found
    }

    /// The bytes of a block and where its rows end, if they are adjacent.
    fn packed_block(&self, block: &Range<usize>) -> Option<(&'a [u8], Vec<usize>)> {
        let Values::Packed { bytes, offsets } = &self.values else { return None };
        let start = offsets.at(block.start);
        let ends = (block.start + 1..=block.end).map(|row| offsets.at(row) - start).collect();
        Some((&bytes[start..offsets.at(block.end)], ends))
    }

    /// Runs `work` for all blocks, on several threads. `None` if `pause` ended the scan.
    fn for_blocks<T: Send>(
        &self,
        threads: usize,
        pause: &mut Pause<'_>,
        work: impl Fn(&Range<usize>) -> T + Sync,
    ) -> Option<Vec<T>> {
        let blocks = self.blocks();
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let done: Mutex<Vec<(usize, T)>> = Mutex::default();
        let step = || {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let block = blocks.get(number).filter(|_| !stop.load(Ordering::Relaxed))?;
            let result = work(block);
            if let Ok(mut done) = done.lock() {
                done.push((number, result));
            }
            Some(())
        };
        std::thread::scope(|scope| {
            for _ in 1..threads.min(blocks.len()) {
                // If no thread can be had, this one does all.
                let thread = std::thread::Builder::new();
                let _ = thread.spawn_scoped(scope, || while step().is_some() {});
            }
            while step().is_some() {
                if pause().is_break() {
                    stop.store(true, Ordering::Relaxed);
                }
            }
        });
        if stop.into_inner() {
            return None;
        }
        let mut done = done.into_inner().unwrap_or_default();
        done.sort_unstable_by_key(|(number, _)| *number);
        Some(done.into_iter().map(|(_, result)| result).collect())
    }
}

/// Whether a scan selects the matches that `find_iter` finds, on the CPU.
fn is_as_find_iter(searcher: &Searcher) -> bool {
    let on_cpu = searcher.matcher().info().device == Device::Cpu;
    on_cpu && searcher.match_kind().semantics() == searcher.semantics()
}

/// Whether the values of a type are UTF-8.
pub(super) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// The number of matches of each row.
pub(super) fn count(
    rows: &Rows<'_>,
    searcher: &Searcher,
    threads: usize,
    pause: &mut Pause<'_>,
) -> Option<Vec<u64>> {
    let blocks = rows.for_blocks(threads, pause, |block| rows.count_block(searcher, block));
    Some(blocks?.concat())
}

/// The matches of each row, block by block, in canonical order. With `words`, whole words only, of
/// which a kind selects those that do not overlap.
pub(super) fn find(
    rows: &Rows<'_>,
    searcher: &Searcher,
    threads: usize,
    words: Option<Option<MatchKind>>,
    chars: bool,
    pause: &mut Pause<'_>,
) -> Option<Vec<FoundRows>> {
    rows.for_blocks(threads, pause, |block| {
        let mut found = rows.find_in_block(searcher, block.clone());
        if let Some(kind) = words {
            found = words::keep(rows, block.clone(), kind, &found);
        }
        if chars {
            to_chars(rows, block, &mut found);
        }
        found
    })
}

/// Turns byte positions into character positions, row by row.
fn to_chars(rows: &Rows<'_>, block: &Range<usize>, found: &mut FoundRows) {
    let ranges: Vec<_> = found.ranges().collect();
    for (row, range) in block.clone().zip(ranges) {
        if range.is_empty() {
            continue;
        }
        let Some(index) = CharIndex::new(rows.get(row)) else { continue };
        for position in range {
            let (start, end) =
                (&mut found.columns.start[position], &mut found.columns.end[position]);
            *start = index.start(*start as usize) as i64;
            *end = index.end(*end as usize) as i64;
        }
    }
}

/// The first match of each row that does not overlap, as its position.
pub(super) fn first(
    rows: &Rows<'_>,
    searcher: &Searcher,
    threads: usize,
    pause: &mut Pause<'_>,
) -> Option<Vec<Option<Range<usize>>>> {
    let blocks = rows.for_blocks(threads, pause, |block| {
        let find = |row| searcher.find(rows.get(row)).map(|m| m.range());
        block.clone().map(find).collect::<Vec<_>>()
    });
    Some(blocks?.concat())
}

/// Whether each row has a match.
pub(super) fn contains(
    rows: &Rows<'_>,
    searcher: &Searcher,
    threads: usize,
    pause: &mut Pause<'_>,
) -> Option<Vec<bool>> {
    let blocks =
        rows.for_blocks(threads, pause, |block| rows.contains_in_block(searcher, block.clone()));
    Some(blocks?.concat())
}
