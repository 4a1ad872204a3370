//! Interrupts: the output ends at a whole record, the exit code is 130.
//!
//! Records are written under a lock, so whoever holds it sees only whole ones. On an interrupt a thread
//! takes the lock, writes out what is buffered and ends the process, wherever the scan is: in a long
//! compilation, or waiting for a pipe. A second interrupt ends the process at once.

use super::output::Output;
use crate::outcome::Outcome;
use anyhow::Context;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Exit code of a process that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Begins to listen for interrupts.
pub(crate) fn install(output: &Output) -> anyhow::Result<()> {
    let output = output.clone();
    ctrlc::set_handler(move || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            process::exit(INTERRUPTED);
        }
        let output = output.clone();
        thread::spawn(move || end(&output));
    })
    .context("listening for interrupts")
}

/// Whether there was one. Asked between batches, so that a busy printer lets go of the lock.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Writes out whole records and ends the process. An error of writing no longer matters.
pub(crate) fn end(output: &Output) -> anyhow::Result<Outcome> {
    let mut locked = output.lock();
    let _ = locked.flush();
    process::exit(INTERRUPTED)
}
