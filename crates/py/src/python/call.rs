//! How a call runs: without the GIL, stopped by signals, and with no panic that reaches Python.

use super::error;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Shorter haystacks are scanned with the GIL: to release it and to wait for it takes longer.
/// Not measured: a guess.
const RELEASE_FROM: usize = 4 << 10;

/// How often signals are looked for: an interrupt is to be obeyed within a tenth of a second.
const SIGNALS_EVERY: Duration = Duration::from_millis(20);

/// Runs what scans `len` bytes. The GIL is released if they are many.
pub(super) fn run<T: Send>(
    py: Python<'_>,
    len: usize,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    // What a panic leaves behind is dropped: searchers do not change.
    let guarded = || catch_unwind(AssertUnwindSafe(work));
    let done = if len < RELEASE_FROM { guarded() } else { py.detach(guarded) };
    done.map_err(|panic| error::internal(&*panic))
}

/// Runs a call that asks whether it goes on, and is `None` if not.
pub(super) fn interruptible<T: Send>(
    py: Python<'_>,
    bytes: &[u8],
    work: impl FnOnce(&mut dyn FnMut() -> ControlFlow<()>) -> Option<T> + Send,
) -> PyResult<T> {
    let (done, interrupt) = run(py, bytes.len(), || {
        let mut interrupt = Interrupt::new();
        let done = work(&mut || interrupt.check());
        (done, interrupt)
    })?;
    interrupt.result()?;
    done.ok_or_else(|| error::internal(&"a call ended without a result"))
}

/// Looks for signals during a call. Python code of signal handlers runs there.
pub(super) struct Interrupt {
    last: Instant,
    error: Option<PyErr>,
}

impl Interrupt {
    pub(super) fn new() -> Self {
        Self { last: Instant::now(), error: None }
    }

    /// `Break` if a signal handler raised an exception.
    pub(super) fn check(&mut self) -> ControlFlow<()> {
        if self.last.elapsed() < SIGNALS_EVERY {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        match Python::attach(|py| py.check_signals()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => self.fail(error),
        }
    }

    /// Ends the scan with an exception.
    pub(super) fn fail(&mut self, error: PyErr) -> ControlFlow<()> {
        self.error = Some(error);
        ControlFlow::Break(())
    }

    /// The exception that ended the scan, if one did.
    pub(super) fn result(self) -> PyResult<()> {
        self.error.map_or(Ok(()), Err)
    }
}
