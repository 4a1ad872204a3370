//! The plugin for Polars: expressions that Polars calls without Python, in its own threads.
//!
//! Polars loads the extension module once more as a plugin, finds functions by their names, and
//! hands over columns by the Arrow C data interface (`abi`). The arguments of an expression come as
//! a pickled dict (`call`): they have the whole database, so that a plan can be sent to another
//! process. Source: the crates polars-ffi and pyo3-polars of Polars, plugin version 0.1.

mod abi;
mod call;

use crate::columns::{self, ColumnError, Input, Layout};
use arrow_array::ArrayRef;
use arrow_schema::DataType;
use call::Call;
use std::ops::ControlFlow;

/// An expression of the plugin.
#[derive(Clone, Copy)]
enum Expression {
    ContainsAny,
    CountMatches,
    FindMany,
    ExtractFirst,
    ExtractMany,
    ReplaceMany,
}

impl Expression {
    /// The type of the result for a column of this type.
    fn result_type(self, column: &DataType) -> Result<DataType, ColumnError> {
        let text = Input::is_text(column)?;
        let part = Layout::View.part_type(text);
        Ok(match self {
            Expression::ContainsAny => DataType::Boolean,
            Expression::CountMatches => DataType::UInt64,
            Expression::FindMany => columns::find_many_type(),
            // Polars has one string type, so the layout may differ from that of the result.
            Expression::ExtractFirst | Expression::ReplaceMany => part,
            Expression::ExtractMany => columns::extract_many_type(part),
        })
    }

    fn run(self, call: &Call, input: &Input) -> Result<ArrayRef, ColumnError> {
        // Polars cannot end a call before its end.
        let pause = &mut || ControlFlow::Continue(());
        let query = &call.query;
        match self {
            Expression::ContainsAny => columns::contains_any(input, query, pause),
            Expression::CountMatches => columns::count_matches(input, query, pause),
            Expression::FindMany => columns::find_many(input, query, call.chars, pause),
            Expression::ExtractFirst => columns::extract_first(input, query, Layout::View, pause),
            Expression::ExtractMany => columns::extract_many(input, query, Layout::View, pause),
            Expression::ReplaceMany => {
                let found = query.find(input, false, pause)?;
                columns::replace_many(input, &found, |id, _, to| {
                    call.replace(id, to);
                    Ok::<_, ColumnError>(())
                })
            }
        }
    }
}
