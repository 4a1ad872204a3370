//! Reads the rows that DuckDB calls a function with, and writes what it answers.

#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "one contract covers all writes of a loop"
)]

use crate::databases::load_once;
use fyke::{Searcher, StreamMatch};
use libduckdb_sys::{duckdb_data_chunk, duckdb_function_info, duckdb_vector};
use quack_rs::data_chunk::DataChunk;
use quack_rs::scalar::ScalarFunctionInfo;
use quack_rs::vector::complex::ListVector;
use quack_rs::vector::list_builder::max_child_capacity;
use quack_rs::vector::{StructWriter, VectorReader, VectorWriter};

/// The rows of a call: a column of texts, and one with the paths of databases.
pub(super) struct Call {
    chunk: DataChunk,
    texts: VectorReader,
    paths: VectorReader,
}

/// What a call answers.
#[derive(Default)]
pub(super) struct Answers {
    pub(super) rows: Vec<Row>,
    pub(super) matches: Vec<StreamMatch>,
}

/// What it answers for a row.
#[derive(Clone, Copy, Default)]
pub(super) struct Row {
    pub(super) count: u64,
    /// Where its matches begin.
    pub(super) first: usize,
}

/// Searches some rows with one searcher.
type Search = fn(&Searcher, &Call, &[usize], &mut Answers);

/// Writes answers to the vector of results.
///
/// # Safety
/// The vector has the type that the function was registered with, and room for all rows.
type Write = unsafe fn(&Answers, duckdb_vector) -> Result<(), String>;

/// Answers a call of DuckDB, or tells it the error. A row with a null is null.
///
/// # Safety
/// The arguments are those of a call of DuckDB: a column of strings or blobs, one of strings, and a
/// vector of the type that `write` writes.
pub(super) unsafe fn answer(
    info: duckdb_function_info,
    input: duckdb_data_chunk,
    output: duckdb_vector,
    search: Search,
    write: Write,
) {
    // SAFETY: DuckDB keeps the chunk until the call ends.
    let chunk = unsafe { DataChunk::from_raw(input) };
    // SAFETY: the chunk has two columns.
    let (texts, paths) = unsafe { (chunk.reader(0), chunk.reader(1)) };
    let call = Call { chunk, texts, paths };
    let answered = call.answers(search).and_then(|answers| {
        // SAFETY: the vector is the one of this call.
        unsafe { write(&answers, output) }
    });
    match answered {
        // SAFETY: the vector is the one of this call.
        Ok(()) => unsafe {
            call.chunk.propagate_nulls(&mut VectorWriter::from_vector(output));
        },
        // SAFETY: DuckDB made it for this call.
        Err(error) => unsafe { ScalarFunctionInfo::new(info) }.set_error(&error),
    }
}

impl Call {
    /// The bytes of a row; none if it is null.
    pub(super) fn text(&self, row: usize) -> &[u8] {
        assert!(row < self.texts.row_count());
        // SAFETY: the row is one of the column.
        if !unsafe { self.texts.is_valid(row) } {
            return &[];
        }
        // SAFETY: it is not null. Strings have the layout of blobs.
        unsafe { self.texts.read_blob(row) }
    }

    /// The path of a row, unless one of its values is null.
    fn path(&self, row: usize) -> Option<&str> {
        assert!(row < self.texts.row_count() && row < self.paths.row_count());
        // SAFETY: the row is one of both columns.
        let whole = unsafe { self.texts.is_valid(row) && self.paths.is_valid(row) };
        // SAFETY: the column has strings, and this one is not null.
        whole.then(|| unsafe { self.paths.read_str(row) })
    }

    /// The rows without a null, by the path of their database.
    fn groups(&self) -> Vec<(&str, Vec<usize>)> {
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        for row in 0..self.texts.row_count() {
            let Some(path) = self.path(row) else { continue };
            match groups.iter_mut().rev().find(|(other, _)| *other == path) {
                Some((_, rows)) => rows.push(row),
                None => groups.push((path, vec![row])),
            }
        }
        groups
    }

    fn answers(&self, search: Search) -> Result<Answers, String> {
        let mut answers =
            Answers { rows: vec![Row::default(); self.texts.row_count()], ..Answers::default() };
        for (path, rows) in self.groups() {
            search(&*load_once(path)?, self, &rows, &mut answers);
        }
        Ok(answers)
    }
}

impl Answers {
    /// # Safety
    /// As [`Write`], for booleans.
    pub(super) unsafe fn write_contains(&self, output: duckdb_vector) -> Result<(), String> {
        // SAFETY: as the caller promises.
        let mut output = unsafe { VectorWriter::from_vector(output) };
        for (at, row) in self.rows.iter().enumerate() {
            // SAFETY: there is room for all rows.
            unsafe { output.write_bool(at, row.count > 0) };
        }
        Ok(())
    }

    /// # Safety
    /// As [`Write`], for unsigned numbers of 64 bits.
    pub(super) unsafe fn write_counts(&self, output: duckdb_vector) -> Result<(), String> {
        // SAFETY: as the caller promises.
        let mut output = unsafe { VectorWriter::from_vector(output) };
        for (at, row) in self.rows.iter().enumerate() {
            // SAFETY: there is room for all rows.
            unsafe { output.write_u64(at, row.count) };
        }
        Ok(())
    }

    /// # Safety
    /// As [`Write`], for lists of pattern, start and end.
    pub(super) unsafe fn write_matches(&self, output: duckdb_vector) -> Result<(), String> {
        // SAFETY: the vector is one of lists, as the caller promises.
        let most = unsafe { max_child_capacity(output) };
        if self.matches.len() > most {
            let count = self.matches.len();
            return Err(format!("fyke_find: {count} matches in one chunk, DuckDB takes {most}"));
        }
        // SAFETY: the vector is one of lists, and `most` bounds the reservation. The child is
        // fetched after that, which may move it, and has a place for each match. The list of each
        // row lies within the matches.
        unsafe {
            ListVector::reserve(output, self.matches.len());
            let mut fields = StructWriter::new(ListVector::get_child(output), 3);
            for (at, m) in self.matches.iter().enumerate() {
                fields.write_u32(at, 0, m.pattern.0);
                fields.write_i64(at, 1, m.start as i64);
                fields.write_i64(at, 2, m.end as i64);
            }
            ListVector::set_size(output, self.matches.len());
            for (at, row) in self.rows.iter().enumerate() {
                ListVector::set_entry(output, at, row.first as u64, row.count);
            }
        }
        Ok(())
    }
}
