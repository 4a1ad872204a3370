//! Seeds of the fuzz targets and inputs that once failed, replayed on the engines of the papers.

use fyke_papers::engines;
use fyke_testkit::subject::{Scope, one_thread};
use fyke_testkit::{Suite, fuzz};

/// Replays all inputs of a target on every engine and prints what was checked and refused. An
/// empty folder is a failure, because it would test nothing. An engine may refuse all inputs,
/// because most of them have short patterns.
fn replay_on_engines(target: &str, body: fn(&[u8], &Suite)) {
    let suite = Suite::requiring_by("FYKE_REQUIRE_PAPERS", engines(), one_thread);
    let replayed = fuzz::replay(&fuzz::regressions(), target, &mut |data| body(data, &suite));
    assert!(replayed.unwrap() > 0, "nothing to replay for {target}");
    suite.conclude(Scope::Chosen).unwrap();
}

#[test]
fn differential() {
    replay_on_engines("differential", fuzz::differential);
}

#[test]
fn stream() {
    replay_on_engines("stream", fuzz::stream);
}
