//! A batch of haystacks must give what one call per haystack gives, for every engine of a paper.

#[path = "../../fyke/tests/support/batches.rs"]
mod batches;

use fyke_papers::engines;
use fyke_testkit::Suite;
use fyke_testkit::subject::one_thread;

#[test]
fn every_engine_and_semantics_as_one_by_one() {
    fyke::registry::add(engines());
    batches::every_semantics(&Suite::requiring_by("FYKE_REQUIRE_PAPERS", engines(), one_thread));
}
