//! The column functions: Arrow columns in, Arrow columns out. They need no Python, so that those of
//! [`polars`](crate::polars) are the same.

mod found;
mod functions;
mod input;
mod rows;
mod words;

pub(crate) use found::Columns;
pub(crate) use functions::{
    Layout, Query, contains_any, count_matches, extract_first, extract_many, extract_many_type,
    find_many, find_many_type, replace_many,
};
pub(crate) use input::Input;

use std::fmt;
use std::ops::ControlFlow;

/// Asks whether the call goes on. It is called between blocks of rows.
pub(crate) type Pause<'a> = dyn FnMut() -> ControlFlow<()> + 'a;

/// Why a column function has no result.
#[derive(Debug, PartialEq)]
pub(crate) enum ColumnError {
    /// The column has a type without byte strings.
    Type(String),
    /// A row or an argument is wrong.
    Value(String),
    /// The caller ended the call.
    Stopped,
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ColumnError::Type(message) | ColumnError::Value(message) => f.write_str(message),
            ColumnError::Stopped => f.write_str("the call was ended"),
        }
    }
}
