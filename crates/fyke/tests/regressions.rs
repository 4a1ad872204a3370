//! Seeds of the fuzz targets and inputs that once failed, replayed as ordinary tests.

use fyke::registry::engines;
use fyke_testkit::subject::{Scope, one_thread};
use fyke_testkit::{Suite, fuzz};

#[path = "../../../fuzz/bodies/patterns.rs"]
mod body;

#[cfg(feature = "database")]
#[path = "../../../fuzz/bodies/database.rs"]
mod database_body;

/// Replays all inputs of a target. An empty folder is a failure, because it would test nothing.
fn replay(target: &str, body: &mut dyn FnMut(&[u8])) {
    let replayed = fuzz::replay(&fuzz::regressions(), target, body).unwrap();
    assert!(replayed > 0, "nothing to replay for {target}");
}

/// Replays a target on every engine and prints what was checked and refused. An engine may refuse
/// all inputs, because most of them have short patterns.
fn replay_on_engines(target: &str, body: fn(&[u8], &Suite)) {
    let suite = Suite::new(engines(), one_thread);
    replay(target, &mut |data| body(data, &suite));
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

/// The parser of states is the same for every engine, so the requirements on engines do not apply.
#[test]
fn restore() {
    let suite = Suite::new(engines(), one_thread).requiring(&[]);
    replay("restore", &mut |data| fuzz::restore(data, &suite));
}

#[cfg(feature = "database")]
#[test]
fn database() {
    replay("database", &mut database_body::database);
}

#[test]
fn patterns() {
    replay("patterns", &mut body::patterns);
}
