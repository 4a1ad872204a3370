//! Sinks that collect or count matches, or call a function of Python for each match. A scan to
//! them ends when a signal handler raises an exception.

use super::call::{Interrupt, run};
use super::haystack::type_name;
use super::matches::Matches;
use crate::columns::Columns;
use crate::pieces::Progress;
use crate::positions::CharIndex;
use fyke::{Batch, Sink};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use std::io;
use std::ops::ControlFlow;

/// Collects matches.
struct Collected {
    columns: Columns,
    interrupt: Interrupt,
}

impl Sink for Collected {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.columns.extend(batch);
        ControlFlow::Continue(())
    }
}

impl Progress for Collected {
    fn pause(&mut self) -> ControlFlow<()> {
        self.interrupt.check()
    }
}

/// Counts matches of a file.
pub(super) struct Counter {
    count: fyke::Count,
    interrupt: Interrupt,
}

impl Counter {
    pub(super) fn new() -> Self {
        Self { count: fyke::Count::default(), interrupt: Interrupt::new() }
    }

    /// The number of matches, or the exception that ended the scan.
    pub(super) fn result(self) -> PyResult<u64> {
        self.interrupt.result()?;
        Ok(self.count.matches)
    }
}

impl Sink for Counter {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.count.on_batch(batch)
    }

    fn counter(&mut self) -> Option<&mut u64> {
        self.count.counter()
    }
}

impl Progress for Counter {
    fn pause(&mut self) -> ControlFlow<()> {
        self.interrupt.check()
    }
}

pub(super) fn collect(
    py: Python<'_>,
    len: usize,
    scan: impl FnOnce(&mut dyn Progress) + Send,
) -> PyResult<Columns> {
    let collected = run(py, len, || {
        let mut to = Collected { columns: Columns::default(), interrupt: Interrupt::new() };
        scan(&mut to);
        to
    })?;
    collected.interrupt.result()?;
    Ok(collected.columns)
}

/// Calls a function of Python for each match, after each piece.
struct Calls<'a> {
    on_match: Py<PyAny>,
    index: Option<&'a CharIndex<'a>>,
    found: Columns,
    interrupt: Interrupt,
}

impl Sink for Calls<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.found.extend(batch);
        ControlFlow::Continue(())
    }
}

impl Calls<'_> {
    /// Calls the function for each match. Whether it ended the scan.
    fn call(&mut self, py: Python<'_>) -> PyResult<bool> {
        self.found.count_chars(self.index);
        for ((pattern, start), end) in
            self.found.pattern.iter().zip(&self.found.start).zip(&self.found.end)
        {
            if self.on_match.bind(py).call1((*pattern, *start, *end))?.is_truthy()? {
                return Ok(true);
            }
        }
        self.found = Columns::default();
        Ok(false)
    }
}

impl Progress for Calls<'_> {
    fn pause(&mut self) -> ControlFlow<()> {
        if self.found.len() == 0 {
            return self.interrupt.check();
        }
        match Python::attach(|py| self.call(py)) {
            Ok(false) => self.interrupt.check(),
            Ok(true) => {
                self.found = Columns::default();
                ControlFlow::Break(())
            }
            Err(error) => {
                self.found = Columns::default();
                self.interrupt.fail(error)
            }
        }
    }
}

/// Collects what a scan finds, or calls a function for each match.
pub(super) fn to_matches_or_calls(
    py: Python<'_>,
    len: usize,
    on_match: Option<Bound<'_, PyAny>>,
    index: Option<&CharIndex<'_>>,
    scan: impl FnOnce(&mut dyn Progress) -> io::Result<()> + Send,
    failed: &dyn Fn(io::Error) -> PyErr,
) -> PyResult<Option<Matches>> {
    let Some(on_match) = on_match else {
        let mut outcome = Ok(());
        let mut columns = collect(py, len, |to| outcome = scan(to))?;
        outcome.map_err(failed)?;
        columns.count_chars(index);
        return Ok(Some(Matches { columns }));
    };
    if !on_match.is_callable() {
        return Err(PyTypeError::new_err(format!(
            "on_match is {}: give a function of pattern, start and end",
            type_name(&on_match)
        )));
    }
    let on_match = on_match.unbind();
    let (outcome, interrupt) = run(py, len, || {
        let found = Columns::default();
        let mut to = Calls { on_match, index, found, interrupt: Interrupt::new() };
        let outcome = scan(&mut to);
        (outcome, to.interrupt)
    })?;
    interrupt.result()?;
    outcome.map_err(failed)?;
    Ok(None)
}
