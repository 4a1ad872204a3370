use super::*;
use fyke_core::{Engine, Options, PatternSet};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Tests start threads one after the other, because the process has few of them.
static ONE: Mutex<()> = Mutex::new(());

fn one() -> impl Drop {
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn automaton() -> Option<Arc<dyn Matcher>> {
    let set = PatternSet::new(["abc"]).unwrap();
    fyke_cpu::engine::ac_dfa::ENGINE.compile(&set, &Options::default()).ok()
}

/// Waits until `done`.
fn wait(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "the thread does not finish");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn during_a_scan_it_is_compiled_once_the_price_is_wasted() {
    let fallback = Fallback::new(10, automaton);
    assert!(fallback.get(4).is_none() && fallback.get(5).is_none() && fallback.ready().is_none());
    assert!(fallback.get(1).is_some() && fallback.ready().is_some());
    assert!(Fallback::new(u64::MAX, automaton).in_background().at_once().get(0).is_some());
    assert!(Fallback::new(0, || None).get(9).is_none());
}

#[test]
fn waste_that_is_paid_back_compiles_nothing() {
    let fallback = Fallback::new(10, automaton);
    for _ in 0..9 {
        assert!(fallback.get(8).is_none());
        fallback.pay_back(7);
        fallback.pay_back(7);
    }
    assert!(fallback.get(9).is_none(), "more than was wasted is not paid back");
    fallback.pay_back(8);
    assert!(fallback.get(9).is_some());
    fallback.pay_back(1);
    assert!(fallback.get(0).is_some());
}

#[test]
fn in_the_background_a_scan_goes_on_meanwhile() {
    let _one = one();
    let (go, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let compile = move || {
        gate.lock().unwrap().recv().unwrap();
        automaton()
    };
    let fallback = Fallback::new(80, compile).in_background();
    assert!(fallback.get(9).is_none() && !fallback.started.load(Ordering::Relaxed));
    assert!(fallback.get(1).is_none() && fallback.started.load(Ordering::Relaxed));
    assert!(fallback.get(u64::MAX).is_none(), "no scan compiles what a thread compiles");
    go.send(()).unwrap();
    wait(|| fallback.ready().is_some());
    assert!(fallback.get(0).is_some());
    wait(|| THREADS.load(Ordering::Relaxed) == 0);
}

#[test]
fn a_panic_of_the_thread_reaches_one_scan() {
    let _one = one();
    let fallback = Fallback::new(0, || std::panic::panic_any("a bug")).in_background();
    assert!(fallback.get(1).is_none());
    wait(|| fallback.result.matcher.get().is_some());
    assert!(fallback.ready().is_none(), "descriptions do not panic");
    let payload = catch_unwind(AssertUnwindSafe(|| fallback.get(1).is_some())).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"a bug"));
    assert!(fallback.get(1).is_none(), "the filter goes on alone");
    wait(|| THREADS.load(Ordering::Relaxed) == 0);
}

#[test]
fn a_fallback_that_is_dropped_leaves_nothing_behind() {
    let _one = one();
    let (go, gate) = mpsc::channel::<()>();
    let (gate, alive) = (Mutex::new(gate), Arc::new(()));
    let held = Arc::clone(&alive);
    let compile = move || {
        let _held = &held;
        let _ = gate.lock().unwrap().recv();
        automaton()
    };
    let fallback = Fallback::new(0, compile).in_background();
    assert!(fallback.get(1).is_none() && fallback.started.load(Ordering::Relaxed));
    drop(fallback);
    assert_eq!(Arc::strong_count(&alive), 2);
    go.send(()).unwrap();
    wait(|| Arc::strong_count(&alive) == 1 && THREADS.load(Ordering::Relaxed) == 0);
}

#[test]
fn without_a_thread_the_scan_compiles_at_the_full_price() {
    let _one = one();
    let permits: Vec<_> = std::iter::from_fn(ThreadPermit::take).collect();
    assert_eq!(permits.len(), MOST_THREADS);
    let fallback = Fallback::new(80, automaton).in_background();
    assert!(fallback.get(79).is_none() && !fallback.started.load(Ordering::Relaxed));
    assert!(fallback.get(1).is_some());
}
