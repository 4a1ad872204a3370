//! A sink that panics ends a scan on several threads, and its panic reaches the caller.

use fyke::{Batch, Count, PatternSet, Searcher, Sink};
use fyke_cpu::parallel;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Panics at its `left`-th batch, without a message on standard error.
struct Panics {
    left: u32,
}

impl Sink for Panics {
    fn on_batch(&mut self, _: &Batch<'_>) -> ControlFlow<()> {
        self.left -= 1;
        if self.left == 0 {
            resume_unwind(Box::new("the sink's own"))
        } else {
            ControlFlow::Continue(())
        }
    }
}

/// Scans on another thread with a sink that panics, and fails if that hangs or if the panic is
/// another one.
fn panics_in_time<T: Debug + Send + 'static>(
    scan: impl FnOnce(&mut dyn Sink) -> T + Send + 'static,
    batches: u32,
) {
    let (to, from) = mpsc::channel();
    let body = move || scan(&mut Panics { left: batches });
    std::thread::spawn(move || to.send(catch_unwind(AssertUnwindSafe(body))));
    let outcome = from.recv_timeout(Duration::from_secs(30)).expect("no thread hangs");
    let panic = outcome.expect_err("the sink panics");
    assert_eq!(panic.downcast_ref(), Some(&"the sink's own"));
}

#[test]
fn a_sink_may_panic() {
    let haystack = vec![b'a'; 6 * parallel::SEGMENT];
    let path = std::env::temp_dir().join(format!("fyke-stops-{}", std::process::id()));
    std::fs::write(&path, &haystack).unwrap();
    let set = PatternSet::new(["a", "aa", "aaa", "aaaa"]).unwrap();
    let searcher = Arc::new(Searcher::builder().threads(2).build(&set).unwrap());
    for batches in [1, 2, 7] {
        let (one, bytes) = (Arc::clone(&searcher), haystack.clone());
        panics_in_time(move |sink| one.scan_into(&bytes, sink), batches);
        let (one, file) = (Arc::clone(&searcher), path.clone());
        panics_in_time(move |sink| one.scan_file(&file, sink), batches);
    }
    std::fs::remove_file(&path).unwrap();
    let mut count = Count::default();
    assert!(searcher.scan_into(&haystack, &mut count).is_continue());
    assert_eq!(count.matches, 4 * haystack.len() as u64 - 6);
}
