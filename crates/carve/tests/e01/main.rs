//! E01 images that ewfacquire makes of raw ones read as these, and damaged ones never read as
//! something else.
//!
//! The tests need the program; `FYKE_REQUIRE=ewf-tools` makes that a condition.
#![cfg(feature = "e01")]

mod acquire;
mod damage;
mod read;

use acquire::Acquired;

/// Says that a test is refused, if the program is absent.
fn refused(test: &str) -> bool {
    let Err(why) = fyke_testkit::require::ewfacquire() else { return false };
    fyke_testkit::require::refuse_without(fyke_testkit::require::EWF_TOOLS, test, &why);
    true
}
