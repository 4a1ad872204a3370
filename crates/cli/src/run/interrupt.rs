//! Interrupts: the output ends after a whole record, and the process dies of the signal.
//!
//! Dying of the signal tells a shell to stop its loop or script as well; an exit code would not.
//! Records are written under a lock, so the holder of the lock sees only whole records. After an
//! interrupt a thread takes the lock, flushes the buffer and ends the process, even while patterns
//! are compiled or a pipe is waited for. A second interrupt ends the process at once.

use super::output::Output;
use crate::outcome::Outcome;
use anyhow::Context;
use indicatif::ProgressBar;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Exit code after an interrupt where a process cannot die of one: 128 plus the signal's number,
/// which is also what a shell shows for the signal.
const INTERRUPTED: i32 = 130;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The progress bar, which must not stay on the terminal.
static BAR: OnceLock<ProgressBar> = OnceLock::new();

/// Installs the handler, unless the parent ignores interrupts, as a script does for its background
/// jobs: then they stay ignored.
pub(crate) fn install(output: &Output) -> anyhow::Result<()> {
    let output = output.clone();
    let installed = ctrlc::try_set_handler(move || {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            die();
        }
        let output = output.clone();
        thread::spawn(move || end(&output));
    });
    match installed {
        Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        installed => installed.context("cannot install the handler of interrupts"),
    }
}

/// Installs a handler for a verb that ends by itself soon after it sees that an interrupt was
/// [`requested`]. A second interrupt ends the process at once.
pub(crate) fn install_request() -> anyhow::Result<()> {
    let installed = ctrlc::try_set_handler(|| {
        if REQUESTED.swap(true, Ordering::SeqCst) {
            die();
        }
    });
    match installed {
        Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        installed => installed.context("cannot install the handler of interrupts"),
    }
}

/// Whether there was an interrupt. Checked between batches, so that a printer releases the lock.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Removes this progress bar before an interrupt ends the process.
pub(super) fn clears(bar: &ProgressBar) {
    // A process has one scan, and so one bar.
    let _ = BAR.set(bar.clone());
}

/// Flushes whole records, removes the progress bar and ends the process. A write error is ignored.
pub(crate) fn end(output: &Output) -> anyhow::Result<Outcome> {
    let mut locked = output.lock();
    let _ = locked.flush();
    BAR.get().inspect(|bar| bar.finish_and_clear());
    die()
}

/// Ends the process as an interrupt without a handler would.
pub(crate) fn die() -> ! {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal_hook::consts::SIGINT);
    process::exit(INTERRUPTED)
}
