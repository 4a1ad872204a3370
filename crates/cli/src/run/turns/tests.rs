use super::*;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Longer than a thread takes to get to where it waits.
const A_WHILE: Duration = Duration::from_millis(50);

/// A thread that does not get there in this time never does.
const DEADLINE: Duration = Duration::from_secs(20);

/// A writer that keeps what was written, and fails from some byte on.
#[derive(Clone)]
struct Page {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Page {
    fn new(room: usize) -> Self {
        Self { bytes: Arc::default(), room }
    }

    fn text(&self) -> String {
        String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut page = self.bytes.lock().unwrap();
        if page.len() + bytes.len() > self.room {
            return Err(io::ErrorKind::StorageFull.into());
        }
        page.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn turns_to(page: &Page, separator: &'static [u8]) -> Arc<Turns> {
    Turns::new(&Output::to(page.clone()), &Arc::new(Progress::silent()), separator)
}

/// A bundle of one input, with its turn.
fn bundle(turns: &Arc<Turns>, turn: Option<u64>) -> Place {
    let place = Place::new(turns);
    place.begin(turn);
    place
}

fn wait_until(turns: &Turns, is_so: impl Fn(&State) -> bool) {
    let since = Instant::now();
    while !is_so(&turns.lock()) {
        assert!(since.elapsed() < DEADLINE, "the threads do not get there");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn bundles_are_written_in_order_with_separators_between_those_with_output() {
    for order in [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 3, 1]] {
        let page = Page::new(usize::MAX);
        let turns = turns_to(&page, b"--\n");
        for turn in order {
            let mut place = bundle(&turns, Some(turn));
            // The first bundle has no output, and neither has one in the middle.
            if turn % 2 == 1 || turn == 4 {
                place.write_all(format!("{turn}\n").as_bytes()).unwrap();
            }
            place.end(1, false).unwrap();
        }
        turns.output.lock().flush().unwrap();
        assert_eq!(page.text(), "1\n--\n3\n--\n4\n", "{order:?}");
    }
}

#[test]
fn a_bundle_that_writes_piece_by_piece_is_separated_once() {
    let page = Page::new(usize::MAX);
    let turns = turns_to(&page, b"\n");
    let mut later = bundle(&turns, Some(2));
    later.write_all(b"c").unwrap();
    later.end(1, false).unwrap();
    let mut first = bundle(&turns, Some(0));
    for piece in [b"a", b"b"] {
        first.write_all(piece).unwrap();
        first.enter().unwrap();
    }
    // Two inputs take two turns.
    first.end(2, false).unwrap();
    turns.output.lock().flush().unwrap();
    assert_eq!(page.text(), "ab\nc");
}

#[test]
fn without_an_order_bundles_get_their_turn_when_they_end() {
    let page = Page::new(usize::MAX);
    let turns = turns_to(&page, b"-");
    let mut places = [bundle(&turns, None), bundle(&turns, None)];
    for (place, text) in places.iter_mut().zip(["a", "b"]) {
        place.write_all(text.as_bytes()).unwrap();
    }
    for place in places.iter().rev() {
        place.end(7, false).unwrap();
    }
    turns.output.lock().flush().unwrap();
    assert_eq!(page.text(), "b-a");
}

#[test]
fn a_bundle_holds_a_bounded_number_of_bytes_and_then_waits() {
    let page = Page::new(usize::MAX);
    let turns = turns_to(&page, b"");
    let (done, is_done) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut place = bundle(&turns, Some(1));
            place.write_all(&vec![b'y'; MOST_OF_BUNDLE]).unwrap();
            done.send("holds as much as it may").unwrap();
            place.write_all(b"z").unwrap();
            done.send("writes").unwrap();
            place.end(1, false).unwrap();
        });
        assert_eq!(is_done.recv_timeout(DEADLINE), Ok("holds as much as it may"));
        assert!(is_done.recv_timeout(A_WHILE).is_err(), "it writes before its turn");
        let mut place = bundle(&turns, Some(0));
        place.write_all(b"x").unwrap();
        place.end(1, false).unwrap();
        assert_eq!(is_done.recv_timeout(DEADLINE), Ok("writes"));
    });
    turns.output.lock().flush().unwrap();
    let text = page.text();
    assert!(text.starts_with("xy") && text.ends_with("yz") && text.len() == MOST_OF_BUNDLE + 2);
}

#[test]
fn bundles_that_wait_for_their_turn_hold_a_bounded_number_of_bytes() {
    const THREADS: u64 = 4;
    const BUNDLES: u64 = 40;
    let page = Page::new(usize::MAX);
    let turns = turns_to(&page, b"");
    let next = AtomicU64::new(1);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let turn = next.fetch_add(1, Ordering::Relaxed);
                    if turn > BUNDLES {
                        return;
                    }
                    let mut place = bundle(&turns, Some(turn));
                    place.write_all(&vec![b'a' + (turn % 26) as u8; MOST_OF_BUNDLE]).unwrap();
                    place.end(1, false).unwrap();
                }
            });
        }
        wait_until(&turns, State::is_full);
        thread::sleep(A_WHILE);
        let waiting = turns.lock().waiting_bytes;
        assert!(waiting <= MOST_WAITING_BYTES + THREADS as usize * MOST_OF_BUNDLE, "{waiting}");
        assert!(next.load(Ordering::Relaxed) < BUNDLES, "no thread waits");
        bundle(&turns, Some(0)).end(1, false).unwrap();
    });
    turns.output.lock().flush().unwrap();
    let mut starts = page.bytes.lock().unwrap().clone();
    assert_eq!(starts.len(), BUNDLES as usize * MOST_OF_BUNDLE);
    starts.dedup();
    let expected: Vec<u8> = (1..=BUNDLES).map(|turn| b'a' + (turn % 26) as u8).collect();
    assert!(starts == expected);
    let state = turns.lock();
    assert!(state.waiting_bytes == 0 && state.ended.is_empty() && state.spare.len() <= MOST_SPARE);
}

#[test]
fn a_writer_that_fails_ends_all_threads_with_its_error() {
    let page = Page::new(10);
    let turns = turns_to(&page, b"");
    thread::scope(|scope| {
        let waits = scope.spawn(|| bundle(&turns, Some(2)).enter());
        let mut first = bundle(&turns, Some(0));
        first.write_all(b"0123456789").unwrap();
        first.enter().unwrap();
        first.end(1, false).unwrap();
        let mut second = bundle(&turns, Some(1));
        second.write_all(b"too much").unwrap();
        let error = second.enter().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        turns.stop(Some(Failure::Output(error)));
        let stopped = waits.join().unwrap().unwrap_err();
        assert_eq!(stopped.to_string(), "the scan was stopped");
        turns.stop(Some(Failure::Output(stopped)));
    });
    assert!(turns.is_over() && !turns.needs(1));
    let Some(Failure::Output(error)) = turns.failure() else { panic!("no failure") };
    assert_eq!(error.kind(), io::ErrorKind::StorageFull, "a later failure replaced the first");
    assert_eq!(page.text(), "0123456789");
    assert!(bundle(&turns, Some(3)).end(1, false).is_err());
}

#[test]
fn a_thread_that_panics_ends_the_others() {
    let turns = turns_to(&Page::new(usize::MAX), b"");
    thread::scope(|scope| {
        let waits = [1, 2].map(|turn| {
            scope.spawn({
                let turns = &turns;
                move || bundle(turns, Some(turn)).enter()
            })
        });
        thread::sleep(A_WHILE);
        let panics = scope.spawn(|| {
            let _stop_all = StopOnPanic::new(&turns);
            let place = bundle(&turns, Some(0));
            // The other threads must get over the locks that it holds.
            let _held = place.held();
            let _state = turns.output.lock();
            std::panic::resume_unwind(Box::new("a bug"));
        });
        assert!(panics.join().is_err());
        for thread in waits {
            assert!(thread.join().unwrap().is_err());
        }
    });
    assert!(turns.is_over() && turns.failure().is_none());
}

#[test]
fn what_comes_after_the_first_match_is_not_needed() {
    let turns = turns_to(&Page::new(usize::MAX), b"");
    let (first, second, third) =
        (bundle(&turns, Some(0)), bundle(&turns, Some(1)), bundle(&turns, Some(2)));
    second.found();
    assert!(first.is_needed() && second.is_needed() && !third.is_needed());
    second.end(1, true).unwrap();
    assert!(!turns.lock().stopped);
    first.end(1, false).unwrap();
    assert!(turns.lock().stopped && third.end(1, false).is_err());
    assert!(turns.failure().is_none());
}
