//! From the arguments of `Searcher(...)` to a compiled set.

use super::haystack::{Haystack, type_name};
use super::{call, error};
use fyke::{MatchKind, PatternId, PatternSet, SearcherBuilder, Semantics};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyString};

/// The patterns with their ids and flags.
pub(super) fn pattern_set(
    patterns: &Bound<'_, PyAny>,
    ids: Option<&Bound<'_, PyAny>>,
    nocase: &Bound<'_, PyAny>,
) -> PyResult<PatternSet> {
    refuse_text(patterns)?;
    let mut ids = ids.map(|ids| ids.try_iter()).transpose()?;
    let mut flags = Flags::new(nocase)?;
    let mut builder = PatternSet::builder();
    for (position, pattern) in patterns.try_iter()?.enumerate() {
        let pattern = Haystack::new(&pattern?, &format!("pattern {}", position + 1))?;
        let id = match &mut ids {
            Some(ids) => next_id(ids.next(), position)?,
            None => u32::try_from(position)
                .map_err(|_| PyOverflowError::new_err("too many patterns: split the set"))?,
        };
        let nocase = flags.next(position)?;
        builder
            .push_with(PatternId(id), pattern.bytes(patterns.py())?, nocase)
            .map_err(|e| error::BuildError::new_err(e.to_string()))?;
    }
    let more_ids = ids.is_some_and(|mut ids| ids.next().is_some());
    if more_ids || flags.has_more()? {
        let list = if more_ids { "ids" } else { "nocase" };
        return Err(PyValueError::new_err(format!(
            "{list} has more values than there are patterns: give one for each pattern"
        )));
    }
    Ok(builder.build())
}

/// A str or bytes are iterable, and their characters are no patterns that anybody means.
fn refuse_text(patterns: &Bound<'_, PyAny>) -> PyResult<()> {
    if patterns.is_instance_of::<PyString>() || patterns.is_instance_of::<PyBytes>() {
        return Err(PyTypeError::new_err(format!(
            "patterns is {}: give a list of patterns, [pattern]",
            type_name(patterns)
        )));
    }
    Ok(())
}

fn next_id(id: Option<PyResult<Bound<'_, PyAny>>>, position: usize) -> PyResult<u32> {
    let Some(id) = id.transpose()? else {
        return Err(PyValueError::new_err(format!(
            "ids ends before pattern {}: give an id for each pattern",
            position + 1
        )));
    };
    id.extract().map_err(|error: PyErr| {
        let message = format!(
            "id {} is {}: give a number from 0 to {}",
            position + 1,
            id.repr().map(|text| text.to_string()).unwrap_or_default(),
            u32::MAX
        );
        match error.is_instance_of::<PyTypeError>(id.py()) {
            true => PyTypeError::new_err(message),
            false => PyOverflowError::new_err(message),
        }
    })
}

/// The argument `nocase`: one flag for all patterns, or one for each.
enum Flags<'py> {
    All(bool),
    Each(Bound<'py, pyo3::types::PyIterator>),
}

impl<'py> Flags<'py> {
    fn new(nocase: &Bound<'py, PyAny>) -> PyResult<Self> {
        match nocase.cast::<PyBool>() {
            Ok(flag) => Ok(Flags::All(flag.is_true())),
            Err(_) => nocase.try_iter().map(Flags::Each).map_err(|_| {
                PyTypeError::new_err(format!(
                    "nocase is {}: give True, False, or a flag for each pattern",
                    type_name(nocase)
                ))
            }),
        }
    }

    fn next(&mut self, position: usize) -> PyResult<bool> {
        match self {
            Flags::All(flag) => Ok(*flag),
            Flags::Each(flags) => match flags.next().transpose()? {
                Some(flag) => flag.is_truthy(),
                None => Err(PyValueError::new_err(format!(
                    "nocase ends before pattern {}: give a flag for each pattern",
                    position + 1
                ))),
            },
        }
    }

    fn has_more(&mut self) -> PyResult<bool> {
        match self {
            Flags::All(_) => Ok(false),
            Flags::Each(flags) => Ok(flags.next().transpose()?.is_some()),
        }
    }
}

/// The semantics with a name.
pub(super) fn semantics(name: &str) -> PyResult<Semantics> {
    name.parse().map_err(PyValueError::new_err)
}

/// The match kind with a name, as in `MatchKind` of the library.
pub(super) fn match_kind(name: &str) -> PyResult<MatchKind> {
    match name {
        "standard" => Ok(MatchKind::Standard),
        "leftmost-first" => Ok(MatchKind::LeftmostFirst),
        "leftmost-longest" => Ok(MatchKind::LeftmostLongest),
        _ => Err(PyValueError::new_err(format!(
            "match_kind={name:?} is unknown: give \"standard\", \"leftmost-first\" or \
             \"leftmost-longest\""
        ))),
    }
}

/// Compiles the set, without the GIL.
pub(super) fn compile(
    py: Python<'_>,
    builder: SearcherBuilder,
    set: &PatternSet,
) -> PyResult<fyke::Searcher> {
    call::run(py, usize::MAX, || builder.build(set))?.map_err(|error| error::build(&error))
}

/// The engines: name, and None or why this machine cannot run it.
#[pyfunction]
pub(super) fn engines() -> Vec<(String, Option<String>)> {
    let set = PatternSet::new(["pattern one", "pattern two"]).unwrap_or_else(|_| unreachable!());
    let why = |name: &str| {
        let built = fyke::Searcher::builder().engine(name).build(&set);
        built.err().map(|error| error.to_string())
    };
    let engines = fyke::registry::built_in();
    engines.iter().map(|e| e.info().name).map(|n| (n.to_owned(), why(n))).collect()
}
