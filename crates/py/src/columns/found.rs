//! Matches as columns.

use crate::positions::CharIndex;
use arrow_array::{ArrayRef, Int64Array, StructArray, UInt32Array};
use arrow_schema::{DataType, Field, Fields};
use fyke::{Batch, StreamMatch};
use std::ops::Range;
use std::sync::Arc;

/// Patterns, starts and ends of matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Columns {
    pub(crate) pattern: Vec<u32>,
    pub(crate) start: Vec<i64>,
    pub(crate) end: Vec<i64>,
}

impl Columns {
    pub(crate) fn len(&self) -> usize {
        self.pattern.len()
    }

    pub(crate) fn push(&mut self, m: StreamMatch) {
        self.pattern.push(m.pattern.0);
        self.start.push(m.start as i64);
        self.end.push(m.end as i64);
    }

    pub(crate) fn extend(&mut self, batch: &Batch<'_>) {
        batch.matches().for_each(|m| self.push(m));
    }

    fn with_capacity(len: usize) -> Self {
        let numbers = || Vec::with_capacity(len);
        Self { pattern: Vec::with_capacity(len), start: numbers(), end: numbers() }
    }

    /// All matches in one.
    pub(super) fn concat(parts: &[&Columns]) -> Self {
        let mut all = Self::with_capacity(parts.iter().map(|part| part.len()).sum());
        for part in parts {
            all.pattern.extend_from_slice(&part.pattern);
            all.start.extend_from_slice(&part.start);
            all.end.extend_from_slice(&part.end);
        }
        all
    }

    /// Turns byte positions into character positions.
    pub(crate) fn count_chars(&mut self, index: Option<&CharIndex<'_>>) {
        let Some(index) = index else { return };
        for start in &mut self.start {
            *start = index.start(*start as usize) as i64;
        }
        for end in &mut self.end {
            *end = index.end(*end as usize) as i64;
        }
    }

    /// A match: pattern, start, end.
    pub(crate) fn tuple(&self, at: usize) -> (u32, i64, i64) {
        (self.pattern[at], self.start[at], self.end[at])
    }

    /// The position of a match.
    pub(crate) fn range(&self, at: usize) -> Range<usize> {
        self.start[at] as usize..self.end[at] as usize
    }

    /// The fields of the Arrow form.
    pub(crate) fn fields() -> Fields {
        Fields::from(vec![
            Field::new("pattern", DataType::UInt32, false),
            Field::new("start", DataType::Int64, false),
            Field::new("end", DataType::Int64, false),
        ])
    }

    /// The Arrow form.
    pub(crate) fn into_struct(self) -> StructArray {
        let columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from(self.pattern)),
            Arc::new(Int64Array::from(self.start)),
            Arc::new(Int64Array::from(self.end)),
        ];
        StructArray::new(Self::fields(), columns, None)
    }
}

/// The matches of a block of rows.
#[derive(Default)]
pub(crate) struct FoundRows {
    /// The number of matches of each row.
    pub(super) counts: Vec<usize>,
    pub(super) columns: Columns,
}

impl FoundRows {
    /// Where the matches of each row are in the columns.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut at = 0;
        self.counts.iter().map(move |count| {
            at += count;
            at - count..at
        })
    }
}
