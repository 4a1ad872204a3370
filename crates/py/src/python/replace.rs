//! What matches are replaced with.

use super::haystack::{Haystack, type_name};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

/// The argument `replacements`.
pub(super) enum Replacements<'py> {
    /// One for all patterns.
    Same(Vec<u8>),
    /// By id.
    ById(Vec<Option<Vec<u8>>>, std::collections::HashMap<u32, Vec<u8>>),
    /// A function of the id and of what matched.
    Call(Bound<'py, PyAny>),
}

impl<'py> Replacements<'py> {
    /// Takes a str or bytes for all patterns, a list or a dict by id, or a function. Every id must
    /// have a replacement.
    pub(super) fn new(
        searcher: &fyke::Searcher,
        replacements: &Bound<'py, PyAny>,
    ) -> PyResult<Self> {
        if replacements.is_callable() {
            return Ok(Replacements::Call(replacements.clone()));
        }
        if is_text(replacements) {
            return Ok(Replacements::Same(text(replacements, "replacements")?));
        }
        let by_id = match replacements.cast::<PyDict>() {
            Ok(dict) => Self::by_key(dict)?,
            Err(_) => Self::by_position(replacements)?,
        };
        by_id.check(searcher)?;
        Ok(by_id)
    }

    fn by_key(dict: &Bound<'py, PyDict>) -> PyResult<Self> {
        let mut by_id = std::collections::HashMap::new();
        for (id, replacement) in dict.iter() {
            let id: u32 = id.extract()?;
            by_id.insert(id, text(&replacement, &format!("the replacement of id {id}"))?);
        }
        Ok(Replacements::ById(Vec::new(), by_id))
    }

    fn by_position(list: &Bound<'py, PyAny>) -> PyResult<Self> {
        let items = list.try_iter().map_err(|_| {
            PyTypeError::new_err(format!(
                "replacements is {}: give a str, bytes, a list, a dict by id, or a function",
                type_name(list)
            ))
        })?;
        let one = |(id, item): (usize, PyResult<Bound<'py, PyAny>>)| {
            text(&item?, &format!("the replacement of id {id}")).map(Some)
        };
        let all: PyResult<Vec<_>> = items.enumerate().map(one).collect();
        Ok(Replacements::ById(all?, std::collections::HashMap::new()))
    }

    fn get(&self, id: u32) -> Option<&[u8]> {
        match self {
            Replacements::Same(text) => Some(text),
            Replacements::ById(list, dict) => {
                let listed = list.get(id as usize).and_then(Option::as_deref);
                listed.or_else(|| dict.get(&id).map(Vec::as_slice))
            }
            Replacements::Call(_) => None,
        }
    }

    fn check(&self, searcher: &fyke::Searcher) -> PyResult<()> {
        let ids = searcher.set().iter().flat_map(|pattern| pattern.ids);
        match ids.map(|id| id.0).find(|&id| self.get(id).is_none()) {
            None => Ok(()),
            Some(id) => Err(PyValueError::new_err(format!(
                "no replacement for the pattern with id {id}: give one for each id"
            ))),
        }
    }

    /// Appends the replacement of a match.
    pub(super) fn write(
        &mut self,
        py: Python<'py>,
        id: u32,
        matched: &[u8],
        as_str: bool,
        to: &mut Vec<u8>,
    ) -> PyResult<()> {
        if let Replacements::Call(function) = self {
            let given = function.call1((id, to_object(py, matched, as_str)?))?;
            to.extend_from_slice(&text(&given, "what the function returns")?);
            return Ok(());
        }
        to.extend_from_slice(self.get(id).unwrap_or_default());
        Ok(())
    }
}

fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>()
}

fn text(object: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<u8>> {
    Ok(Haystack::new(object, name)?.bytes(object.py())?.to_vec())
}

/// A part of the haystack, or what it became, as a str or bytes.
pub(super) fn to_object<'py>(
    py: Python<'py>,
    bytes: &[u8],
    as_str: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if !as_str {
        return Ok(PyBytes::new(py, bytes).into_any());
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(error) => Err(PyValueError::new_err(format!(
            "the result is no str: a pattern or a replacement cuts the character at byte {}: \
             encode the haystack and search the bytes",
            error.valid_up_to()
        ))),
    }
}
