//! Makes a hang a failure: a test that does not end would otherwise stop the whole run.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Far longer than any of these tests takes.
const LIMIT: Duration = Duration::from_secs(300);

/// Ends the process if it is not dropped in time.
pub(crate) struct Watchdog {
    /// Dropping it tells the thread that the test ended.
    _done: Sender<()>,
}

impl Watchdog {
    pub(crate) fn start() -> Self {
        let (done, ended) = channel();
        let test = thread::current().name().unwrap_or("a test").to_owned();
        thread::spawn(move || {
            if ended.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{test} hangs: it took more than {LIMIT:?}");
                std::process::exit(101);
            }
        });
        Self { _done: done }
    }
}
