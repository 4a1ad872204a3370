//! A batch of haystacks has to give what a call for each of them gives: for the engines of the papers.

#[path = "../../fyke/tests/support/batches.rs"]
mod batches;

#[test]
fn every_engine_and_semantics_as_one_by_one() {
    fyke::registry::add(fyke_papers::engines());
    batches::every_semantics(fyke_papers::engines());
}
