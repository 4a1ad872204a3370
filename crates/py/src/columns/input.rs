//! A column that is searched.

use super::ColumnError;
use super::rows::{self, Rows};
use arrow_array::{Array, ArrayRef};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;

/// The chunks of a column, and whether they are text.
pub(crate) struct Input {
    chunks: Vec<ArrayRef>,
    text: bool,
}

impl Input {
    /// # Errors
    /// The type has no byte strings.
    pub(crate) fn new(kind: &DataType, chunks: Vec<ArrayRef>) -> Result<Self, ColumnError> {
        let text = Self::is_text(kind)?;
        Ok(Self { text, chunks })
    }

    /// Binary values, or text whose type does not say so.
    pub(crate) fn of_values(values: ArrayRef, text: bool) -> Self {
        Self { chunks: vec![values], text }
    }

    /// Whether a column of this type is text.
    ///
    /// # Errors
    /// The type has no byte strings.
    pub(crate) fn is_text(kind: &DataType) -> Result<bool, ColumnError> {
        if Rows::new(&arrow_array::new_empty_array(kind)).is_some() {
            return Ok(rows::is_text(kind));
        }
        let hint = match kind {
            DataType::Struct(_) => "give one column of the table",
            _ => "give a column of strings or binary values",
        };
        Err(ColumnError::Type(format!("the column has type {kind}: {hint}")))
    }

    /// Whether the rows are text.
    pub(crate) fn text(&self) -> bool {
        self.text
    }

    pub(super) fn len(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.len()).sum()
    }

    /// Which rows are null, of all chunks.
    pub(super) fn nulls(&self) -> Option<NullBuffer> {
        let all: Vec<_> = self.chunks.iter().map(|chunk| chunk.logical_nulls()).collect();
        if all.iter().all(|nulls| nulls.as_ref().is_none_or(|nulls| nulls.null_count() == 0)) {
            return None;
        }
        let mut valid = Vec::with_capacity(self.len());
        for (chunk, nulls) in self.chunks.iter().zip(all) {
            match nulls {
                Some(nulls) => valid.extend(nulls.iter()),
                None => valid.extend(std::iter::repeat_n(true, chunk.len())),
            }
        }
        Some(NullBuffer::from(valid))
    }

    /// The rows of each chunk.
    pub(super) fn rows(&self) -> impl Iterator<Item = Rows<'_>> {
        self.chunks.iter().filter_map(Rows::new).map(|rows| rows.with_text(self.text))
    }
}
