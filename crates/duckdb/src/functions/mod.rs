//! The functions of SQL, and the entry point that DuckDB calls.

mod rows;

use fyke::Searcher;
use quack_rs::connection::Registrar;
use quack_rs::error::ExtensionError;
use quack_rs::scalar::{ScalarFn, ScalarFunctionSetBuilder, ScalarOverloadBuilder};
use quack_rs::types::{LogicalType, TypeId};
use rows::{Answers, Call};
use std::ops::ControlFlow;

// The name of the file gives the name of this function.
quack_rs::entry_point_v2!(fyke_init_c_api, register);

/// The type of a result.
type ResultType = fn() -> LogicalType;

fn register(connection: &impl Registrar) -> Result<(), ExtensionError> {
    let functions: [(&str, ScalarFn, ResultType); 3] = [
        ("fyke_contains_any", contains_any, || LogicalType::new(TypeId::Boolean)),
        ("fyke_count", count, || LogicalType::new(TypeId::UBigInt)),
        ("fyke_find", find, matches_type),
    ];
    for (name, function, result) in functions {
        let overload = |column| {
            let typed = ScalarOverloadBuilder::new().param(column).param(TypeId::Varchar);
            typed.returns_logical(result()).function(function)
        };
        let set = ScalarFunctionSetBuilder::try_new(name)?;
        let set = set.overload(overload(TypeId::Varchar)).overload(overload(TypeId::Blob));
        // SAFETY: DuckDB keeps the connection open during the entry point.
        unsafe { connection.register_scalar_set(set)? };
    }
    Ok(())
}

/// LIST(STRUCT(pattern, start, end)), with positions in bytes.
fn matches_type() -> LogicalType {
    let fields =
        [("pattern", TypeId::UInteger), ("start", TypeId::BigInt), ("end", TypeId::BigInt)];
    LogicalType::list_from_logical(&LogicalType::struct_type(&fields))
}

quack_rs::scalar_callback!(contains_any, |info, input, output| {
    // SAFETY: DuckDB calls this with a chunk and a vector of the registered types.
    unsafe { rows::answer(info, input, output, contains, Answers::write_contains) }
});

quack_rs::scalar_callback!(count, |info, input, output| {
    // SAFETY: DuckDB calls this with a chunk and a vector of the registered types.
    unsafe { rows::answer(info, input, output, counts, Answers::write_counts) }
});

quack_rs::scalar_callback!(find, |info, input, output| {
    // SAFETY: DuckDB calls this with a chunk and a vector of the registered types.
    unsafe { rows::answer(info, input, output, matches, Answers::write_matches) }
});

/// Rows are searched one by one, up to the first match, if they have more bytes than this on
/// average. Not measured: a guess.
const LONG_ROW: usize = 4 << 10;

/// Finds whether some rows have a match: the count of one that has none is 0.
fn contains(searcher: &Searcher, call: &Call, rows: &[usize], answers: &mut Answers) {
    let bytes: usize = rows.iter().map(|&row| call.text(row).len()).sum();
    if bytes <= LONG_ROW * rows.len() {
        return counts(searcher, call, rows, answers);
    }
    for &row in rows {
        answers.rows[row].count = u64::from(searcher.is_match(call.text(row)));
    }
}

/// Counts the matches of some rows.
fn counts(searcher: &Searcher, call: &Call, rows: &[usize], answers: &mut Answers) {
    let mut counts = Vec::with_capacity(rows.len());
    searcher.count_batch(rows.iter().map(|&row| call.text(row)), &mut counts);
    for (&row, &count) in rows.iter().zip(&counts) {
        answers.rows[row].count = count;
    }
}

/// Collects the matches of some rows.
fn matches(searcher: &Searcher, call: &Call, rows: &[usize], answers: &mut Answers) {
    let texts = rows.iter().map(|&row| call.text(row));
    let _ = searcher.scan_batch(texts, |at, batch| {
        // The matches of a row may come in several batches, one after the other.
        let row = &mut answers.rows[rows[at]];
        if row.count == 0 {
            row.first = answers.matches.len();
        }
        answers.matches.extend(batch.matches());
        row.count = (answers.matches.len() - row.first) as u64;
        ControlFlow::Continue(())
    });
}
