//! Inputs that fuzzing once failed on, and the seeds it starts from, replayed on the engines of the papers.

use fyke_papers::engines;
use fyke_testkit::fuzz;

/// Replays all inputs of a target; there has to be one, or the test would test nothing.
fn replay(target: &str, body: &mut dyn FnMut(&[u8])) {
    let replayed = fuzz::replay(&fuzz::regressions(), target, body).unwrap();
    assert!(replayed > 0, "nothing to replay for {target}");
}

#[test]
fn differential() {
    let engines = engines();
    replay("differential", &mut |data| fuzz::differential(data, &engines));
}

#[test]
fn stream() {
    let engines = engines();
    replay("stream", &mut |data| fuzz::stream(data, &engines));
}
