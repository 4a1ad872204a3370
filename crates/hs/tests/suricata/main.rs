//! Suricata takes the library for Hyperscan and alerts as before.
//!
//! It reads the same captures with the same rules three times: with this library in place of
//! `libhs.so.5`, with a real one, and with its own Aho-Corasick. `--nocapture` shows what each
//! needed. `FYKE_SURICATA_ROUNDS` is the number of copies of each capture, for steadier rates.

#[path = "../common/mod.rs"]
mod common;
mod engine;
mod inputs;

use engine::{Matcher, Run};
use fyke_testkit::require;
use inputs::Inputs;
use std::fs;
use std::path::{Path, PathBuf};

const TEST: &str = "alerts_do_not_depend_on_the_matcher";
/// Fewer rules than this, and the configuration does not fit them.
const LEAST_RULES: u64 = 15_000;
/// Fewer alerts than this would compare little.
const LEAST_ALERTS: usize = 400;

#[test]
fn alerts_do_not_depend_on_the_matcher() {
    if let Err(why) = engine::program() {
        return require::refuse_without(require::SURICATA, TEST, &why);
    }
    let real = match common::real_file() {
        Ok(file) => file,
        Err(why) => return require::refuse_without(require::LIBHS, TEST, &why),
    };
    let folder = tempfile::tempdir().unwrap();
    let inputs = match Inputs::unpack(folder.path(), rounds()) {
        Ok(inputs) => inputs,
        Err(why) => return require::refuse(TEST, &why),
    };
    let place = |name: &str, file: &Path| in_place(&folder.path().join(name), file);
    let matchers = [
        matcher("fyke", ["hs", "hs"], Some(place("fyke", &common::own_file()))),
        matcher("Hyperscan", ["hs", "hs"], Some(place("hyperscan", &real))),
        matcher("Aho-Corasick", ["ac", "bm"], None),
    ];
    let runs = matchers.each_ref().map(|matcher| {
        let run = run(matcher, &inputs, folder.path());
        eprintln!("{}: {run}", matcher.name);
        run
    });
    compare(&runs[0], &runs[1], "Hyperscan");
    compare(&runs[0], &runs[2], "Aho-Corasick");
}

fn matcher(name: &'static str, algorithms: [&'static str; 2], library: Option<PathBuf>) -> Matcher {
    Matcher { name, algorithms, library }
}

fn rounds() -> u64 {
    let rounds = std::env::var("FYKE_SURICATA_ROUNDS").ok();
    rounds.map_or(1, |rounds| rounds.parse().expect("FYKE_SURICATA_ROUNDS is a number"))
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
