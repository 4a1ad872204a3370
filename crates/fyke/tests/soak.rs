//! Random sets and haystacks through every public call, for as long as one likes:
//! `cargo xtask soak --seconds 300`.

#[path = "support/every_call.rs"]
mod every_call;
#[path = "support/random_case.rs"]
mod random_case;

use every_call::{Calls, searchers};
use fyke::{Device, registry};
use fyke_testkit::Case;
use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The environment variables with the seconds to run, and with the first seed if a run is to be
/// repeated.
const SECONDS: &str = "FYKE_SOAK_SECONDS";
const SEED: &str = "FYKE_SOAK_SEED";

/// One case in this many has a large haystack.
const LARGE_EVERY: u64 = 200;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable}={text} is no number")))
}

/// What was done for an engine.
#[derive(Default)]
struct Done {
    cases: u64,
    checks: u64,
    refused: u64,
}

/// Runs a case on an engine with every semantics and kind.
fn check(engine: &str, case: &Case, seed: u64, done: &mut Done) {
    let Ok(searchers) = searchers(engine, case, 1 + seed as usize % 4) else {
        done.refused += 1;
        return;
    };
    for searcher in &searchers {
        let mut calls = Calls::new(searcher, case, seed);
        if let Err(e) = calls.all() {
            panic!("{SEED}={seed} {SECONDS}=1 repeats this: {e}");
        }
        done.checks += calls.checks;
    }
    done.cases += 1;
}

#[test]
#[ignore = "runs for as long as FYKE_SOAK_SECONDS says"]
fn soak() {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let first = number(SEED).unwrap_or(time.as_secs() << 20);
    let end = Instant::now() + Duration::from_secs(number(SECONDS).unwrap_or(60));
    let engines = registry::engines().into_iter().filter(|e| e.info().device == Device::Cpu);
    let engines: Vec<_> = engines.map(|e| e.info().name).collect();
    let mut done: BTreeMap<&str, Done> = BTreeMap::new();
    let mut seed = first;
    while Instant::now() < end || seed == first {
        let large = seed % LARGE_EVERY == 1;
        let case = if large { random_case::large(seed) } else { random_case::case(seed) };
        for engine in engines.iter().filter(|e| !large || **e != "naive") {
            check(engine, &case, seed, done.entry(engine).or_default());
        }
        seed += 1;
    }
    println!("{} cases from seed {first} on", seed - first);
    for (engine, Done { cases, checks, refused }) in done {
        println!("{engine}: {cases} cases, {checks} checks, {refused} sets refused");
        assert!(checks > 0 || seed - first < 100, "{engine} took no set");
    }
}
