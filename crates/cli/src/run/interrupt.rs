//! Interrupts: the output ends after a whole record, and the exit code is 130.
//!
//! Records are written under a lock, so the holder of the lock sees only whole records. After an
//! interrupt a thread takes the lock, flushes the buffer and ends the process, even while patterns
//! are compiled or a pipe is waited for. A second interrupt ends the process at once.

use super::output::Output;
use crate::outcome::Outcome;
use anyhow::Context;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Exit code after an interrupt: 128 plus the number of the signal.
const INTERRUPTED: i32 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Installs the handler.
pub(crate) fn install(output: &Output) -> anyhow::Result<()> {
    let output = output.clone();
    ctrlc::set_handler(move || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            process::exit(INTERRUPTED);
        }
        let output = output.clone();
        thread::spawn(move || end(&output));
    })
    .context("cannot install the handler of interrupts")
}

/// Whether there was an interrupt. Checked between batches, so that a printer releases the lock.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Flushes whole records and ends the process. A write error is ignored.
pub(crate) fn end(output: &Output) -> anyhow::Result<Outcome> {
    let mut locked = output.lock();
    let _ = locked.flush();
    process::exit(INTERRUPTED)
}
