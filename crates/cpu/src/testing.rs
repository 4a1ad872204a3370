//! Unit tests of forms. If this CPU lacks an instruction set, the tests of an engine print that its
//! form is not checked, or fail if `FYKE_REQUIRE` names this form.

use crate::simd::Isa;
use fyke_core::Engine;
use fyke_testkit::require::{REQUIRE, names};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::sync::Mutex;

/// The instruction sets of this CPU, least first, for the tests of an engine.
///
/// # Panics
/// `FYKE_REQUIRE` names a form of the engine that this CPU lacks: `teddy:isa=avx512`.
pub(crate) fn isas(engine: &dyn Engine) -> Vec<Isa> {
    let absent = |isa: &Isa| Some((isa.name(), isa.dispatch().err()?.to_string()));
    let (engine, absent) = (engine.info().name, Isa::ALL.iter().filter_map(absent).collect());
    if let Some(line) = summary(engine, &names(REQUIRE), absent) {
        print_once(format!("{}: {line}", std::thread::current().name().unwrap_or("a test")));
    }
    Isa::ALL.into_iter().filter(|isa| isa.available()).collect()
}

/// What is not checked and why, if anything.
fn summary(engine: &str, required: &[String], absent: Vec<(&str, String)>) -> Option<String> {
    let not_checked = |(isa, why): (&str, String)| {
        let form = format!("{engine}:isa={isa}");
        assert!(!required.contains(&form), "{form} is required: {why}");
        format!("{form} NOT checked: {why}")
    };
    let lines: Vec<String> = absent.into_iter().map(not_checked).collect();
    (!lines.is_empty()).then(|| lines.join("; "))
}

/// Prints a line once per process, where the test harness does not capture it. A test may ask for
/// its forms many times.
pub(crate) fn print_once(line: String) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut printed = PRINTED.lock().unwrap();
    if !printed.contains(&line) {
        // A closed standard error must not fail the test.
        let _ = writeln!(std::io::stderr(), "{line}");
        printed.insert(line);
    }
}

#[test]
fn an_absent_form_is_printed_or_fails() {
    let absent = || vec![("avx512", "no AVX-512".to_owned())];
    let required = |name: &str| [name.to_owned()];
    assert_eq!(summary("teddy", &required("teddy:isa=avx512"), Vec::new()), None);
    let line = summary("teddy", &required("ac-simd:isa=avx512"), absent());
    assert_eq!(line.as_deref(), Some("teddy:isa=avx512 NOT checked: no AVX-512"));
    let fails = || summary("teddy", &required("teddy:isa=avx512"), absent());
    assert!(std::panic::catch_unwind(fails).is_err());
}
