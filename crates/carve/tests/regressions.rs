//! Seeds of the fuzz targets of carving and inputs that once failed, replayed as ordinary tests.

use fyke_testkit::fuzz;

#[path = "../../../fuzz/bodies/carve_conf.rs"]
mod conf;
#[path = "../../../fuzz/bodies/carve_database.rs"]
mod database;
#[cfg(feature = "e01")]
#[path = "../../../fuzz/bodies/carve_e01.rs"]
mod e01;
#[path = "../../../fuzz/bodies/carve_journal.rs"]
mod journal;
#[path = "../../../fuzz/bodies/carve_validate.rs"]
mod validate;

/// Replays all inputs of a target. An empty folder is a failure, because it would test nothing.
fn replay(target: &str, body: &mut dyn FnMut(&[u8])) {
    let replayed = fuzz::replay(&fuzz::regressions(), target, body).unwrap();
    assert!(replayed > 0, "nothing to replay for {target}");
}

#[test]
fn carve_conf() {
    replay("carve_conf", &mut conf::conf);
}

#[test]
fn carve_database() {
    replay("carve_database", &mut database::database);
}

#[cfg(feature = "e01")]
#[test]
fn carve_e01() {
    replay("carve_e01", &mut e01::e01);
}

#[test]
fn carve_journal() {
    replay("carve_journal", &mut journal::journal);
}

#[test]
fn carve_validate() {
    replay("carve_validate", &mut validate::validate_files);
}
