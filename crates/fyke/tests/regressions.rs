//! Inputs that fuzzing once failed on, and the seeds it starts from, replayed as ordinary tests.

use fyke::registry::engines;
use fyke_testkit::fuzz;

#[test]
fn differential() {
    let engines = engines();
    let replayed = fuzz::replay(&fuzz::regressions(), "differential", &mut |data| {
        fuzz::differential(data, &engines)
    });
    assert!(replayed.unwrap() > 0, "nothing to replay");
}

#[test]
fn stream() {
    let engines = engines();
    let replayed =
        fuzz::replay(&fuzz::regressions(), "stream", &mut |data| fuzz::stream(data, &engines));
    assert!(replayed.unwrap() > 0, "nothing to replay");
}
