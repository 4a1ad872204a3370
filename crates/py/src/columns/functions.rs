//! The column functions: one result for each row.

use super::found::{Columns, FoundRows};
use super::input::Input;
use super::rows::{self, Rows};
use super::{ColumnError, Pause};
use arrow_array::builder::{
    BinaryViewBuilder, LargeBinaryBuilder, LargeStringBuilder, StringViewBuilder,
};
use arrow_array::{
    ArrayRef, BooleanArray, LargeBinaryArray, LargeListArray, LargeStringArray, UInt64Array,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_schema::{DataType, Field};
use fyke::{MatchKind, Searcher, Semantics};
use std::ops::Range;
use std::sync::Arc;

/// Which matches are looked for.
pub(crate) struct Query {
    searcher: Searcher,
    /// The number of threads that search blocks of rows.
    threads: usize,
    /// The kind of matches that do not overlap; none for all of them.
    kind: Option<MatchKind>,
    /// Whether matches are whole words.
    words: bool,
}

impl Query {
    /// All matches, or those of the searcher's match kind, which do not overlap.
    pub(crate) fn new(searcher: &Searcher, threads: usize, overlapping: bool, words: bool) -> Self {
        let kind = (!overlapping).then(|| searcher.match_kind());
        // Among whole words the kind selects later.
        let semantics = match kind {
            Some(kind) if !words => kind.semantics(),
            _ => Semantics::All,
        };
        Self { searcher: searcher.with_semantics(semantics), threads, kind, words }
    }

    /// Runs `work` on the rows of each chunk.
    fn on_rows<T>(
        &self,
        input: &Input,
        pause: &mut Pause<'_>,
        work: impl Fn(&Rows<'_>, &mut Pause<'_>) -> Option<Vec<T>>,
    ) -> Result<Vec<T>, ColumnError> {
        let mut all = Vec::with_capacity(input.len());
        for rows in input.rows() {
            all.append(&mut work(&rows, pause).ok_or(ColumnError::Stopped)?);
        }
        Ok(all)
    }

    /// The matches of each row, for [`replace_many`].
    pub(crate) fn find(
        &self,
        input: &Input,
        chars: bool,
        pause: &mut Pause<'_>,
    ) -> Result<Found, ColumnError> {
        let words = self.words.then_some(self.kind);
        let mut blocks = Vec::new();
        for rows in input.rows() {
            let found = rows::find(&rows, &self.searcher, self.threads, words, chars, pause);
            blocks.append(&mut found.ok_or(ColumnError::Stopped)?);
        }
        Ok(Found { blocks })
    }
}

/// The matches of all rows.
pub(crate) struct Found {
    blocks: Vec<FoundRows>,
}

impl Found {
    /// The number of matches of each row.
    fn counts(&self) -> impl Iterator<Item = usize> {
        self.blocks.iter().flat_map(|block| block.counts.iter().copied())
    }

    /// The matches of each row: columns, and where they are in them.
    fn rows(&self) -> impl Iterator<Item = (&Columns, Range<usize>)> {
        self.blocks.iter().flat_map(|block| block.ranges().map(|range| (&block.columns, range)))
    }
}

/// Whether each row has a match. Null stays null.
pub(crate) fn contains_any(
    input: &Input,
    query: &Query,
    pause: &mut Pause<'_>,
) -> Result<ArrayRef, ColumnError> {
    let found: Vec<bool> = match query.words {
        true => query.find(input, false, pause)?.counts().map(|count| count > 0).collect(),
        false => query.on_rows(input, pause, |rows, pause| {
            rows::contains(rows, &query.searcher, query.threads, pause)
        })?,
    };
    Ok(Arc::new(BooleanArray::new(found.into(), input.nulls())))
}

/// The number of matches of each row. Null stays null.
pub(crate) fn count_matches(
    input: &Input,
    query: &Query,
    pause: &mut Pause<'_>,
) -> Result<ArrayRef, ColumnError> {
    let counts: Vec<u64> = match query.words {
        true => query.find(input, false, pause)?.counts().map(|count| count as u64).collect(),
        false => query.on_rows(input, pause, |rows, pause| {
            rows::count(rows, &query.searcher, query.threads, pause)
        })?,
    };
    Ok(Arc::new(UInt64Array::new(counts.into(), input.nulls())))
}

/// The type of [`find_many`].
pub(crate) fn find_many_type() -> DataType {
    DataType::LargeList(match_field())
}

fn match_field() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Struct(Columns::fields()), false))
}

/// The matches of each row, as a list of (pattern, start, end). Null stays null. With `chars`,
/// positions count characters.
pub(crate) fn find_many(
    input: &Input,
    query: &Query,
    chars: bool,
    pause: &mut Pause<'_>,
) -> Result<ArrayRef, ColumnError> {
    if chars && !input.text() {
        return Err(ColumnError::Value(
            "positions=\"chars\" needs a column of strings, and this one is binary".to_owned(),
        ));
    }
    let found = query.find(input, chars, pause)?;
    let offsets = OffsetBuffer::from_lengths(found.counts());
    let blocks: Vec<_> = found.blocks.iter().map(|block| &block.columns).collect();
    let values = Arc::new(Columns::concat(&blocks).into_struct());
    Ok(Arc::new(LargeListArray::new(match_field(), offsets, values, input.nulls())))
}

/// What the first match of each row matched. Null without one.
pub(crate) fn extract_first(
    input: &Input,
    query: &Query,
    layout: Layout,
    pause: &mut Pause<'_>,
) -> Result<ArrayRef, ColumnError> {
    let mut parts = Parts::new(input.text(), layout);
    if query.words {
        let found = query.find(input, false, pause)?;
        for ((row, bytes), (columns, mut matches)) in each_row(input).zip(found.rows()) {
            parts.push(row, matches.next().map(|at| &bytes[columns.range(at)]))?;
        }
        return Ok(parts.finish());
    }
    let found = query.on_rows(input, pause, |rows, pause| {
        rows::first(rows, &query.searcher, query.threads, pause)
    })?;
    for ((row, bytes), found) in each_row(input).zip(found) {
        parts.push(row, found.map(|range| &bytes[range]))?;
    }
    Ok(parts.finish())
}

/// What the matches of each row matched, as a list. Null stays null.
pub(crate) fn extract_many(
    input: &Input,
    query: &Query,
    layout: Layout,
    pause: &mut Pause<'_>,
) -> Result<ArrayRef, ColumnError> {
    let found = query.find(input, false, pause)?;
    let mut parts = Parts::new(input.text(), layout);
    for ((row, bytes), (columns, matches)) in each_row(input).zip(found.rows()) {
        for at in matches {
            parts.push(row, Some(&bytes[columns.range(at)]))?;
        }
    }
    let values = parts.finish();
    let item = part_field(layout.part_type(input.text()));
    let offsets = OffsetBuffer::from_lengths(found.counts());
    Ok(Arc::new(LargeListArray::new(item, offsets, values, input.nulls())))
}

/// Each row with its matches replaced. Null stays null.
///
/// `found` is what [`Query::find`] gives. `replace` appends what takes the place of a match: it
/// gets the pattern and what matched.
pub(crate) fn replace_many<E: From<ColumnError>>(
    input: &Input,
    found: &Found,
    mut replace: impl FnMut(u32, &[u8], &mut Vec<u8>) -> Result<(), E>,
) -> Result<ArrayRef, E> {
    let (mut to, mut lengths) = (Vec::new(), Vec::with_capacity(input.len()));
    for ((_, bytes), (columns, matches)) in each_row(input).zip(found.rows()) {
        let (before, mut done) = (to.len(), 0);
        for at in matches {
            let range = columns.range(at);
            to.extend_from_slice(&bytes[done..range.start]);
            done = range.end;
            replace(columns.pattern[at], &bytes[range], &mut to)?;
        }
        to.extend_from_slice(&bytes[done..]);
        lengths.push(to.len() - before);
    }
    let (offsets, values, nulls) =
        (OffsetBuffer::from_lengths(lengths), Buffer::from(to), input.nulls());
    if !input.text() {
        return Ok(Arc::new(LargeBinaryArray::new(offsets, values, nulls)));
    }
    let row_ends = offsets.clone();
    let array = LargeStringArray::try_new(offsets, values.clone(), nulls);
    Ok(Arc::new(array.map_err(|_| cut_character(first_bad_row(&row_ends, &values)))?))
}

/// The rows of all chunks with their numbers.
fn each_row(input: &Input) -> impl Iterator<Item = (usize, &[u8])> {
    input.rows().flat_map(|rows| (0..rows.len()).map(move |row| rows.get(row))).enumerate()
}

/// How parts of rows are stored.
#[derive(Clone, Copy)]
pub(crate) enum Layout {
    /// As `large_string` or `large_binary`, which all libraries read.
    Large,
    /// As views, which Polars need not convert.
    View,
}

impl Layout {
    /// The type of parts of a column.
    pub(crate) fn part_type(self, text: bool) -> DataType {
        match (self, text) {
            (Layout::Large, true) => DataType::LargeUtf8,
            (Layout::Large, false) => DataType::LargeBinary,
            (Layout::View, true) => DataType::Utf8View,
            (Layout::View, false) => DataType::BinaryView,
        }
    }
}

/// The type of [`extract_many`].
pub(crate) fn extract_many_type(part: DataType) -> DataType {
    DataType::LargeList(part_field(part))
}

fn part_field(part: DataType) -> Arc<Field> {
    Arc::new(Field::new("item", part, true))
}

/// Parts of rows.
enum Parts {
    Text(LargeStringBuilder),
    Binary(LargeBinaryBuilder),
    TextViews(StringViewBuilder),
    BinaryViews(BinaryViewBuilder),
}

impl Parts {
    fn new(text: bool, layout: Layout) -> Self {
        match (layout, text) {
            (Layout::Large, true) => Parts::Text(LargeStringBuilder::new()),
            (Layout::Large, false) => Parts::Binary(LargeBinaryBuilder::new()),
            (Layout::View, true) => Parts::TextViews(StringViewBuilder::new()),
            (Layout::View, false) => Parts::BinaryViews(BinaryViewBuilder::new()),
        }
    }

    fn push(&mut self, row: usize, part: Option<&[u8]>) -> Result<(), ColumnError> {
        let text = || part.map(str::from_utf8).transpose().map_err(|_| cut_character(row));
        match self {
            Parts::Binary(parts) => parts.append_option(part),
            Parts::BinaryViews(parts) => parts.append_option(part),
            Parts::Text(parts) => parts.append_option(text()?),
            Parts::TextViews(parts) => parts.append_option(text()?),
        }
        Ok(())
    }

    fn finish(self) -> ArrayRef {
        match self {
            Parts::Text(mut parts) => Arc::new(parts.finish()),
            Parts::Binary(mut parts) => Arc::new(parts.finish()),
            Parts::TextViews(mut parts) => Arc::new(parts.finish()),
            Parts::BinaryViews(mut parts) => Arc::new(parts.finish()),
        }
    }
}

fn cut_character(row: usize) -> ColumnError {
    ColumnError::Value(format!(
        "row {row} of the column: a pattern or a replacement cuts a character: cast the column to \
         binary"
    ))
}

/// The first row that is not UTF-8.
fn first_bad_row(offsets: &OffsetBuffer<i64>, values: &[u8]) -> usize {
    let rows = offsets.windows(2);
    let is_bad =
        |row: &[i64]| std::str::from_utf8(&values[row[0] as usize..row[1] as usize]).is_err();
    rows.into_iter().position(is_bad).unwrap_or_default()
}
