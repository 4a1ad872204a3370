//! Seeds of the fuzz target and inputs that once failed, replayed as an ordinary test.

use fyke_testkit::fuzz;

#[path = "../../../fuzz/bodies/hs_database.rs"]
mod body;

#[test]
fn hs_database() {
    let folder = fuzz::regressions();
    let replayed = fuzz::replay(&folder, "hs_database", &mut body::hs_database).unwrap();
    assert!(replayed > 0, "nothing to replay");
}
