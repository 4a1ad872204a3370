use super::fallback::Fallback;
use super::stored::SwitchPlan;
use super::switch::{SHORT, Switch};
use super::*;
use fyke_core::{Batch, Block, Collect, Count, Part, Role, Scratch, Sink, oracle};
use fyke_cpu::engine::{ac_dfa, qgram_filter, teddy};
use std::ops::ControlFlow;

fn plan(patterns: &[&str], params: &str) -> Plan {
    let set = PatternSet::new(patterns).unwrap();
    Plan::new(&set, &Options::with_params(params).unwrap()).unwrap()
}

#[test]
fn with_little_memory_failure_links_are_taken_or_nothing() {
    let set = PatternSet::new(["abcdefghij", "klmnopqrst"]).unwrap();
    let name = |limit| {
        let plan = Plan::new(&set, &Options::default().limited_to(limit)).unwrap();
        plan.compile().map(|m| m.info().name)
    };
    let nfa = fyke_automata::nfa::Nfa::memory_for(&set);
    assert_eq!(name(nfa), Ok("ac-nfa"));
    let refused = Refusal::TooBig { what: "bytes of memory", need: nfa, have: nfa - 1 };
    assert_eq!(name(nfa - 1), Err(refused));
}

#[test]
fn a_table_of_gigabytes_is_taken_only_by_name() {
    let pattern = |i: u32| (0..600).map(|k| (i.wrapping_mul(k + 7) >> (k % 23)) as u8).collect();
    let patterns: Vec<Vec<u8>> = (0..2000).map(pattern).collect();
    let plan = Plan::new(&PatternSet::new(&patterns).unwrap(), &Options::default()).unwrap();
    let table = plan.considered().iter().find(|c| c.engine == "ac-dfa").unwrap();
    assert!(
        matches!(&table.answer, Answer::Refused(Refusal::TooBig { have, .. }) if *have == 1 << 30)
    );
}

#[test]
fn a_plan_reads_well() {
    let text = plan(&["abc"], "").to_string();
    assert!(text.contains("taken") && text.contains("3 to 3 bytes"), "{text}");
}

#[test]
fn a_cut_that_is_asked_for_is_made() {
    let set = plan(&["ab", "abcdefgh"], "cut=4").compile().unwrap();
    assert_eq!(set.info().name, "auto");
    assert!(plan(&["abcd"], "cut=4").compile().unwrap().info().name != "auto");
    let wrong = |params| {
        let opt = Options::with_params(params).unwrap();
        Plan::new(&PatternSet::new(["a"]).unwrap(), &opt).is_err()
    };
    assert!(wrong("cut=0") && wrong("engine=none") && wrong("isa=mmx") && wrong("x=1"));
    assert!(wrong("piece=18446744073709551615") && wrong("piece=0") && wrong("cut=65536"));
}

#[test]
fn a_named_engine_is_asked_whatever_it_costs() {
    for candidate in CANDIDATES {
        let plan = plan(&["needle", "haystack"], &format!("engine={}", candidate.name()));
        let about = |c: &&Considered| c.engine == candidate.name();
        let answer = &plan.considered().iter().find(about).unwrap().answer;
        assert!(!matches!(answer, Answer::TooSlow(_)), "{}: {answer:?}", candidate.name());
        assert_eq!(plan.arrangements[0].picks[0].candidate.name(), candidate.name());
    }
}

/// The whole set is refused with the refusal of the engine, also by the draft and when compiling.
#[test]
fn a_named_engine_that_refuses_is_not_replaced() {
    let refusal = |set: &PatternSet, opt: &Options| {
        let compiled = AUTO.compile(set, opt).map(|m| m.describe()).unwrap_err();
        assert_eq!(AUTO.draft(set, opt).map(drop).unwrap_err(), compiled);
        compiled
    };
    let named = |engine: &str| Options::with_params(&format!("engine={engine}")).unwrap();
    let short = PatternSet::new(["ab", "c"]).unwrap();
    for engine in ["qgram-filter", "qgram-sampling"] {
        let candidate = CANDIDATES.iter().find(|c| c.name() == engine).unwrap();
        let own = candidate.engine.draft(&short, &Options::default()).map(drop).unwrap_err();
        assert!(matches!(own, Refusal::TooShort { have: 1, .. }), "{own:?}");
        assert_eq!(refusal(&short, &named(engine)), own);
    }
    let set = PatternSet::new(["abcdefghij", "klmnopqrst"]).unwrap();
    let need = ac_dfa::AcDfa::memory_for(&set);
    let have = fyke_automata::nfa::Nfa::memory_for(&set);
    assert!(have < need, "a smaller engine would fit");
    let too_big = Refusal::TooBig { what: Refusal::MEMORY, need, have };
    assert_eq!(refusal(&set, &named("ac-dfa").limited_to(have)), too_big);
}

/// Another engine gets only the patterns that the named one refuses.
#[test]
fn a_named_engine_gets_all_patterns_that_it_takes() {
    let set = PatternSet::new(["a", "bc", "abcd", "abcdefgh", "abcdefghijkl"]).unwrap();
    for candidate in CANDIDATES {
        let opt = Options::with_params(&format!("engine={}", candidate.name())).unwrap();
        let parts = AUTO.compile(&set, &opt).unwrap().parts();
        let scans = parts.iter().filter(|p| p.role == Role::Scan && p.engine == candidate.name());
        let takes = |least: usize| {
            let some = set.iter().map(|p| p.bytes.to_vec()).filter(|p| p.len() >= least);
            let some = PatternSet::new(some.collect::<Vec<_>>()).unwrap();
            candidate.engine.compile(&some, &Options::default()).is_ok().then_some(some.len())
        };
        let most = [1, 2, 3, 4, 5, 8].into_iter().find_map(takes).unwrap();
        assert_eq!(scans.map(|p| p.patterns).sum::<usize>(), most, "{}", candidate.name());
    }
}

#[test]
fn a_draft_compiles_what_the_plan_took() {
    let set = PatternSet::new(["needle", "haystack", "straw"]).unwrap();
    let draft = AUTO.draft(&set, &Options::default()).unwrap();
    let plan = Plan::new(&set, &Options::default()).unwrap();
    let best = &plan.arrangements[0];
    assert_eq!(draft.cost().unwrap().ns_per_byte, best.ns());
    let name = draft.compile().unwrap().info().name;
    assert_eq!(name, best.picks[0].candidate.name());
}

#[test]
fn parts_name_every_engine_and_the_form_that_it_has() {
    let set = PatternSet::new(["a", "ab", "abcdefgh", "abcdefghijkl", "xyz_xyz_xyz"]).unwrap();
    let opt = Options::with_params("cut=4").unwrap();
    let parts = AUTO.compile(&set, &opt).unwrap().parts();
    let scans: Vec<_> = parts.iter().filter(|p| p.role == Role::Scan).collect();
    assert_eq!(scans.iter().map(|p| p.patterns).sum::<usize>(), set.len());
    for part in &parts {
        let engine = crate::registry::find(part.engine).unwrap();
        let options = Options::with_params(&part.options).unwrap();
        let long = PatternSet::new(["abcdefghijkl", "xyz_xyz_xyz"]).unwrap();
        let again = engine.compile(&long, &options).unwrap();
        assert_eq!(again.options(), part.options, "{part}");
    }
}

/// What an engine takes per call decides where calls are short.
#[test]
fn short_calls_count_what_each_takes() {
    let set = PatternSet::new((0..300).map(|i| format!("{i:03}user={i:03};"))).unwrap();
    let plan = |call| {
        let opt = Options::with_params("engine=ac-simd").unwrap().in_calls(call);
        Plan::new(&set, &opt).unwrap()
    };
    let ns = |call| plan(call).arrangements[0].ns();
    let per_call = plan(None).cost().unwrap().ns_per_call;
    assert!(per_call > 0.0);
    assert!((ns(Some(100)) - ns(None) - per_call / 100.0).abs() < 1e-3);
    assert!((ns(Some(0)) - ns(None) - per_call).abs() < 1.0, "a call has at least one byte");
    assert!(matches!(&plan(Some(100)).gpu, Verdict::Not(_)));
}

/// A switch from a filter to a table. `tiny` is the price of the table for small blocks.
fn switch_to_table(filter: &dyn Engine, set: &PatternSet, tiny: Option<u64>) -> Switch {
    let table = ac_dfa::ENGINE.compile(set, &Options::default()).unwrap();
    let later = |price| {
        let table = table.clone();
        Fallback::new(price, move || Some(table.clone()))
    };
    let filter = filter.compile(set, &Options::default()).unwrap();
    let plan =
        SwitchPlan { engine: "ac-dfa".to_owned(), price: 0, candidate_limit: 1000, tiny: Some(0) };
    Switch::new(filter, later(0), tiny.map(later), &plan)
}

#[test]
fn haystacks_that_are_hostile_now_and_then_compile_no_fallback() {
    let set = PatternSet::new(["needle", "haystack"]).unwrap();
    let filter = teddy::ENGINE.compile(&set, &Options::default()).unwrap();
    let compile = move || ac_dfa::ENGINE.compile(&set, &Options::default()).ok();
    let fallback = Fallback::new(5000, compile);
    let plan =
        SwitchPlan { engine: "ac-dfa".to_owned(), price: 5000, candidate_limit: 20, tiny: None };
    let switch = Switch::new(filter, fallback, None, &plan);
    let (mut scratch, mut count) = (Scratch::new(), Count::default());
    let mut scan = |haystack: &[u8]| {
        assert!(switch.scan(Block::whole(haystack), &mut scratch, &mut count).is_continue());
        switch.parts().iter().any(|part| part.role == Role::Fallback)
    };
    // Each has 1,000 candidates and as many comparisons, of which 120 are within the limit.
    let (hostile, quiet) = (b"needle".repeat(1000), vec![b'.'; 200_000]);
    for _ in 0..50 {
        assert!(!scan(&hostile) && !scan(&quiet));
    }
    assert!((0..50).any(|_| scan(&hostile)), "hostile on average");
}

#[test]
fn the_fallback_of_a_cut_set_takes_all_patterns() {
    let plan = plan(&["ab", "cd", "abcdefgh", "ijklmnop"], "cut=4,piece=64");
    let haystack = b"abcdefghijklmnop".repeat(500);
    let matcher = plan.compile().unwrap();
    let mut found = Collect::default();
    assert!(matcher.scan(Block::whole(&haystack), &mut Scratch::new(), &mut found).is_continue());
    assert_eq!(found.sorted(), oracle::find_owned(&plan.set, Block::whole(&haystack)));
    let is_for_all = |part: &Part| part.role == Role::Fallback && part.patterns == 4;
    assert_eq!(matcher.parts().iter().filter(|part| is_for_all(part)).count(), 1);
}

/// The two engines give their matches unordered or ordered, as the sink wants, and the automaton
/// takes over in the middle.
#[test]
fn matches_of_a_cut_set_are_in_order_after_unordered_calls() {
    let set = PatternSet::new(["ab", "cd", "abcdefgh", "ijklmnop"]).unwrap();
    let searcher = crate::Searcher::builder().engine("auto:cut=4,piece=64").build(&set).unwrap();
    let haystack = [&b"cd-ab-".repeat(50)[..], &b"abcdefghijklmnop".repeat(500)].concat();
    let expected = oracle::find_owned(&set, Block::whole(&haystack));
    for _ in 0..3 {
        assert!(searcher.is_match(&haystack));
        assert_eq!(searcher.count(&haystack), expected.len() as u64);
        let mut found = Collect::default();
        assert!(searcher.scan_into(&haystack, &mut found).is_continue());
        assert_eq!(found.matches, expected);
    }
}

#[test]
fn the_limit_is_no_less_than_the_expected_candidates() {
    let long = (0..300).map(|i| format!("{i:03}user={i:03};"));
    let set = PatternSet::new(long.chain(["GET".to_owned(), "\0\0\x01".to_owned()])).unwrap();
    for params in ["engine=teddy", "cut=4,engine=qgram-filter", "cut=4,engine=qgram-sampling"] {
        let plan = Plan::new(&set, &Options::with_params(params).unwrap()).unwrap();
        let expected = plan.cost().unwrap().candidates;
        let stored = plan.compile().unwrap().stored().pop().unwrap().plan;
        let limit = SwitchPlan::decode(&stored).unwrap().candidate_limit;
        assert!(expected > 0.0 && limit as f32 >= (1024.0 * expected).floor(), "{params}: {limit}");
    }
}

/// With the same limit, matches that have to be sorted make the automaton take over. It gives them
/// in order.
#[test]
fn matches_in_order_come_from_the_automaton_where_they_are_dense() {
    #[derive(Default)]
    struct Batches {
        wants_order: bool,
        ordered: Vec<bool>,
    }
    impl Sink for Batches {
        fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
            self.ordered.push(batch.ordered);
            ControlFlow::Continue(())
        }

        fn wants_order(&self) -> bool {
            self.wants_order
        }
    }
    let set = PatternSet::new(["needle", "haystack"]).unwrap();
    let plan =
        SwitchPlan { engine: "ac-dfa".to_owned(), price: 0, candidate_limit: 50, tiny: None };
    // One candidate and one comparison in 50 bytes.
    let haystack = [&b"needle"[..], &[b'.'; 44]].concat().repeat(1000);
    let ordered = |wants_order| {
        let filter = teddy::ENGINE.compile(&set, &Options::default()).unwrap();
        let table = ac_dfa::ENGINE.compile(&set, &Options::default()).unwrap();
        let fallback = Fallback::new(0, move || Some(table.clone()));
        let switch = Switch::new(filter, fallback, None, &plan).in_pieces(Some(5000));
        let mut batches = Batches { wants_order, ..Batches::default() };
        let whole = Block::whole(&haystack);
        assert!(switch.scan(whole, &mut Scratch::new(), &mut batches).is_continue());
        batches.ordered
    };
    assert!(!ordered(false).contains(&true));
    let [first, rest @ ..] = &ordered(true)[..] else { panic!("no batches") };
    assert!(!first && rest.contains(&true));
}

#[test]
fn short_haystacks_are_scanned_from_their_first_candidate_on() {
    let set = PatternSet::new(["abcd", "bcde", "xyzxyz", "cdefg"]).unwrap();
    let lens = || (0..140).chain([1000, SHORT - 13, SHORT - 12, 3000]);
    let filters: [&dyn Engine; 2] = [&teddy::ENGINE, &qgram_filter::ENGINE];
    let prices = [None, Some(0), Some(u64::MAX)];
    for (filter, tiny) in filters.into_iter().flat_map(|filter| prices.map(|tiny| (filter, tiny))) {
        let switch = switch_to_table(filter, &set, tiny);
        let mut scratch = Scratch::new();
        for (len, at) in lens().flat_map(|len| [0, len / 2, len].map(|at| (len, at))) {
            let haystack = [&vec![b'.'; at][..], b"abcdefgxyzxyz", &vec![b'a'; len - at]].concat();
            let blocks = [0, 1, at, at + 5].into_iter().flat_map(|overlap| {
                [0, 5].map(|offset| Block { bytes: &haystack, overlap, offset })
            });
            for block in blocks {
                let mut found = Collect::default();
                assert!(switch.scan(block, &mut scratch, &mut found).is_continue());
                let Block { overlap, offset, .. } = block;
                let wanted = oracle::find_owned(&set, block);
                assert_eq!(found.sorted(), wanted, "{tiny:?} {len} {at} {overlap} {offset}");
            }
        }
    }
}

#[test]
fn only_short_haystacks_are_skipped_to_their_first_candidate() {
    let set = PatternSet::new(["abcd", "bcde", "xyzxyz", "cdefg"]).unwrap();
    let switch = switch_to_table(&teddy::ENGINE, &set, None);
    let is_skipped = |bytes: usize, offset| {
        let haystack = vec![b'.'; bytes];
        let block = Block { bytes: &haystack, overlap: 0, offset };
        switch.first_in_short(&block) > 0
    };
    assert!(is_skipped(SHORT, 0) && !is_skipped(SHORT + 1, 0) && !is_skipped(SHORT, 5));
}
