//! Databases of random sets and of every engine: the results of the searcher that was saved.

use fyke::engine::Family;
use fyke::{Collect, Matcher, PatternSet, Searcher, StreamMatch, registry};
use fyke_testkit::random::SplitMix;
use fyke_testkit::strategies::case;
use fyke_testkit::{Case, Entry};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeMap;

/// The specifications of all forms of all engines of the CPU for use.
fn specs() -> Vec<String> {
    let engines = registry::built_in().into_iter().map(|engine| engine.info());
    let engines = engines.filter(|info| info.device == fyke::Device::Cpu);
    let engines = engines.filter(|info| info.family != Family::Paper);
    let forms =
        |info: &'static fyke::Info| info.variants.iter().map(|v| format!("{}:{v}", info.name));
    engines.flat_map(forms).collect()
}

fn found(searcher: &Searcher, haystack: &[u8]) -> Vec<StreamMatch> {
    let mut found = Collect::default();
    let _ = searcher.scan_into(haystack, &mut found);
    found.matches
}

/// What is built, but for its memory.
fn forms(matcher: &dyn Matcher) -> Vec<String> {
    matcher.parts().iter().map(|part| format!("{part}: {}", part.patterns)).collect()
}

fn saved(searcher: &Searcher) -> Vec<u8> {
    let mut file = Vec::new();
    searcher.save(&mut file).unwrap();
    file
}

/// A searcher with an engine, after a round trip, scans as before. `None` if the engine refuses.
fn round_trip(spec: &str, case: &Case) -> Option<()> {
    let searcher = Searcher::builder().engine(spec).build(&case.set).ok()?;
    let file = saved(&searcher);
    let again = Searcher::load(&file[..]).unwrap();
    assert!(again.set().iter().eq(case.set.iter()));
    assert_eq!(forms(&**again.matcher()), forms(&**searcher.matcher()), "{spec}");
    assert_eq!(found(&again, &case.haystack), case.expected, "{spec} {case:?}");
    assert_eq!(again.count(&case.haystack), case.expected.len() as u64);
    assert_eq!(saved(&again), file, "{spec}: saved again");
    Some(())
}

#[test]
fn random_sets_of_every_engine_come_back() {
    let mut checked = BTreeMap::<String, u32>::new();
    let config = ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() };
    for spec in specs() {
        let taken = Cell::new(0);
        let round = |case: Case| {
            taken.set(taken.get() + u32::from(round_trip(&spec, &case).is_some()));
            Ok(())
        };
        TestRunner::new(config.clone()).run(&case(30), round).unwrap();
        checked.insert(spec.clone(), taken.get());
    }
    println!("{checked:#?}");
    assert!(checked["auto:"] == 64 && checked["ac-dfa:"] == 64);
}

/// The fallback of a set that two engines share takes all patterns, also after a round trip.
#[test]
fn a_loaded_set_that_two_engines_share_falls_back_as_a_whole() {
    let set = PatternSet::new(["ab", "cd", "abcdefgh", "ijklmnop"]).unwrap();
    let searcher = Searcher::builder().engine("auto:cut=4,piece=64").build(&set).unwrap();
    let again = Searcher::load(&saved(&searcher)[..]).unwrap();
    let haystack = b"abcdefghijklmnop".repeat(500);
    assert_eq!(found(&again, &haystack), found(&searcher, &haystack));
    let is_for_all = |part: &&fyke::Part| part.role == fyke::Role::Fallback && part.patterns == 4;
    assert_eq!(again.matcher().parts().iter().filter(is_for_all).count(), 1);
}

/// Patterns of 4 bytes and more, which every engine takes, with flags and ids of all kinds.
fn long_case(seed: u64, count: usize) -> Case {
    let mut numbers = SplitMix::new(seed);
    let letters = b"abcdefghABCD";
    let mut text = |len: usize| -> Vec<u8> {
        (0..len).map(|_| letters[numbers.below(letters.len() as u64) as usize]).collect()
    };
    let mut haystack = text(3000);
    let mut entries = Vec::new();
    for i in 0..count {
        let bytes = text(8 + i % 40);
        if i % 7 == 0 {
            haystack.extend(&bytes);
            haystack.extend(bytes.to_ascii_uppercase());
        }
        let nocase = seed % 3 == 1 || seed % 3 == 2 && i % 5 == 0;
        entries.push(Entry { bytes, nocase, id: i as u32 % 300 });
    }
    Case::new(entries, haystack).unwrap()
}

#[test]
fn sets_that_every_engine_takes_come_back() {
    for (seed, count) in [(0, 1), (1, 30), (2, 200), (3, 1200), (4, 1200), (5, 2000)] {
        let case = long_case(seed, count);
        let taken = specs().iter().filter(|spec| round_trip(spec, &case).is_some()).count();
        println!("{taken} of {} forms take {count} patterns", specs().len());
        assert!(taken * 2 > specs().len());
    }
}
