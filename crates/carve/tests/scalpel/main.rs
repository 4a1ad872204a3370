//! Carves are compared with Scalpel 1.60's: rows, names and files under compatibility, and by
//! default rows that differ by Scalpel's known bugs only.
//!
//! The tests need the program; `FYKE_REQUIRE=scalpel` makes that a condition.

mod case;
mod confs;
mod edges;
mod predicted;
mod random;
mod reference;

/// Says that a test is refused, if the program is absent.
fn refused(test: &str) -> bool {
    let Err(why) = fyke_testkit::require::scalpel() else { return false };
    fyke_testkit::require::refuse_without(fyke_testkit::require::SCALPEL, test, &why);
    true
}
