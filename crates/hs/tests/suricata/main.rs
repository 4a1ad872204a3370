//! Suricata takes the library for Hyperscan and alerts as before.
//!
//! It reads the same captures with the same rules three times: with this library in place of
//! `libhs.so.5`, with a real one, and with its own Aho-Corasick. `--nocapture` shows what each
//! needed. The ignored test reads many copies of the captures, for steadier rates.

#[path = "../common/mod.rs"]
mod common;
mod engine;
mod inputs;

use engine::{Matcher, Run};
use fyke_testkit::require;
use inputs::Inputs;
use std::fs;
use std::path::{Path, PathBuf};

/// Copies of each capture for the rates.
const COPIES: u64 = 40;
/// Fewer rules than this, and the configuration does not fit them.
const LEAST_RULES: u64 = 15_000;
/// Fewer alerts than this would compare little.
const LEAST_ALERTS: usize = 400;

#[test]
fn alerts_do_not_depend_on_the_matcher() {
    let Some([ours, real, ac]) = run_all("alerts_do_not_depend_on_the_matcher", 1) else { return };
    compare(&ours, &real, "Hyperscan");
    compare(&ours, &ac, "Aho-Corasick");
}

/// Alerts are not compared here: the copies of a flow are one flow to Suricata until a thread ends
/// it, so two runs of one library differ.
#[test]
#[ignore = "takes long, for the rates that it prints"]
fn rates() {
    let Some([ours, real, ac]) = run_all("rates", COPIES) else { return };
    assert_eq!((ours.rules, ours.packets), (real.rules, real.packets));
    assert_eq!((ours.rules, ours.packets), (ac.rules, ac.packets));
}

/// Runs with this library, with a real one, and with Aho-Corasick. Nothing if the test is refused.
fn run_all(test: &str, copies: u64) -> Option<[Run; 3]> {
    let refused = |what: &str, why: &str| require::refuse_without(what, test, why);
    if let Err(why) = engine::program() {
        refused(require::SURICATA, &why);
        return None;
    }
    let real = common::real_file().inspect_err(|why| refused(require::LIBHS, why)).ok()?;
    let folder = tempfile::tempdir().unwrap();
    let inputs = Inputs::unpack(folder.path(), copies);
    let inputs = inputs.inspect_err(|why| refused(require::DATA, why)).ok()?;
    let place = |name: &str, file: &Path| in_place(&folder.path().join(name), file);
    let matchers = [
        matcher("fyke", ["hs", "hs"], Some(place("fyke", &common::own_file()))),
        matcher("Hyperscan", ["hs", "hs"], Some(place("hyperscan", &real))),
        matcher("Aho-Corasick", ["ac", "bm"], None),
    ];
    Some(matchers.map(|matcher| {
        let run = run(&matcher, &inputs, folder.path());
        eprintln!("{}: {run}", matcher.name);
        run
    }))
}

fn matcher(name: &'static str, algorithms: [&'static str; 2], library: Option<PathBuf>) -> Matcher {
    Matcher { name, algorithms, library }
}

/// The folder in which a library has the name that Suricata asks for.
fn in_place(folder: &Path, library: &Path) -> PathBuf {
    fs::create_dir(folder).unwrap();
    fs::copy(library, folder.join("libhs.so.5")).unwrap();
    folder.to_owned()
}

fn run(matcher: &Matcher, inputs: &Inputs, folder: &Path) -> Run {
    if let Some(library) = &matcher.library {
        let resolved = matcher.resolved_library();
        assert!(resolved.contains(library.to_str().unwrap()), "{resolved}");
    }
    let run = matcher.run(inputs, &folder.join(format!("out-{}", matcher.name)));
    assert!(run.rules >= LEAST_RULES, "{}: {run}", matcher.name);
    assert!(run.alerts.len() >= LEAST_ALERTS, "{}: {run}", matcher.name);
    run
}

fn compare(ours: &Run, theirs: &Run, name: &str) {
    assert_eq!((ours.rules, ours.packets), (theirs.rules, theirs.packets), "{name}");
    let missing = |from: &Run, in_: &Run| -> Vec<String> {
        from.alerts.iter().filter(|a| in_.alerts.binary_search(a).is_err()).cloned().collect()
    };
    let (lost, more) = (missing(theirs, ours), missing(ours, theirs));
    assert!(lost.is_empty() && more.is_empty(), "{name} also has {lost:#?}, fyke {more:#?}");
    assert_eq!(ours.alerts, theirs.alerts, "{name}: the same alerts in other numbers");
}
