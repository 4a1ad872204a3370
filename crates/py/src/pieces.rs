//! Scans a large haystack piece by piece, so that the caller can stop it soon.
//!
//! Pieces follow the ownership rule: each has the last bytes of the one before as its overlap, and
//! owns the matches that end after them.

use fyke::{Batch, Count, Match, Record, Searcher, Semantics, Sink};
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The bytes up to which a haystack is one piece. Not measured: a guess.
pub const DIRECT: usize = 1 << 20;

/// The bytes of a piece. The size is adapted to the speed, between these two. Not measured: guesses.
const SMALLEST: usize = 1 << 16;
const LARGEST: usize = 1 << 26;

/// How long a piece should take: a call has to stop within a tenth of a second.
const SHORT: Duration = Duration::from_millis(10);
const LONG: Duration = Duration::from_millis(30);

/// Takes the matches of a scan, and is asked between pieces whether it goes on.
pub trait Progress: Sink {
    /// Called after each piece. `Break` ends the scan.
    fn pause(&mut self) -> ControlFlow<()>;
}

/// The size of the next piece.
struct Pace {
    size: usize,
    since: Instant,
}

impl Pace {
    fn new() -> Self {
        Self { size: DIRECT, since: Instant::now() }
    }

    /// The size of the piece that starts now, at most `left`.
    fn start(&mut self, left: usize) -> usize {
        self.since = Instant::now();
        self.size.min(left)
    }

    /// Adapts the size to the time that the piece took.
    fn end(&mut self) {
        let took = self.since.elapsed();
        if took < SHORT {
            self.size = (2 * self.size).min(LARGEST);
        } else if took > LONG {
            self.size = (self.size / 2).max(SMALLEST);
        }
    }
}

/// Whether several threads scan one piece. What other semantics than `All` report depends on what
/// was reported before, so these are scanned as a stream.
fn by_threads(searcher: &Searcher, threads: usize) -> bool {
    threads > 1 && searcher.semantics() == Semantics::All
}

/// Scans a haystack in memory. `threads` is what the searcher was built with.
pub fn scan(
    searcher: &Searcher,
    threads: usize,
    haystack: &[u8],
    to: &mut dyn Progress,
) -> ControlFlow<()> {
    if haystack.len() <= DIRECT {
        let flow = searcher.scan_into(haystack, to);
        to.pause()?;
        return flow;
    }
    if !by_threads(searcher, threads) {
        return scan_stream(searcher, haystack, to);
    }
    let mut pace = Pace::new();
    let mut done = 0;
    while done < haystack.len() {
        let size = pace.start(haystack.len() - done);
        let overlap = searcher.set().overlap().min(done);
        scan_owned(searcher, &haystack[done - overlap..done + size], overlap, done as u64, to)?;
        done += size;
        pace.end();
        to.pause()?;
    }
    ControlFlow::Continue(())
}

fn scan_stream(searcher: &Searcher, haystack: &[u8], to: &mut dyn Progress) -> ControlFlow<()> {
    let (mut stream, mut pace) = (searcher.stream(), Pace::new());
    let mut rest = haystack;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(pace.start(rest.len()));
        let flow = stream.feed(piece, to);
        rest = after;
        pace.end();
        to.pause()?;
        flow?;
    }
    let flow = stream.finish(to);
    to.pause()?;
    flow
}

/// Scans what a reader gives.
///
/// # Errors
/// Reading failed. The matches before the error were passed on.
pub fn scan_reader(
    searcher: &Searcher,
    threads: usize,
    reader: &mut dyn Read,
    to: &mut dyn Progress,
) -> io::Result<ControlFlow<()>> {
    let (mut stream, mut pace) = (searcher.stream(), Pace::new());
    let threaded = by_threads(searcher, threads);
    let (mut buffer, mut offset) = (Vec::new(), 0);
    loop {
        let overlap = buffer.len().min(searcher.set().overlap());
        buffer.drain(..buffer.len() - overlap);
        let size = pace.start(usize::MAX);
        let read = read_up_to(reader, size, &mut buffer, to)?;
        let Some(read) = read else { return Ok(ControlFlow::Break(())) };
        if read == 0 {
            break;
        }
        let flow = match threaded {
            true => scan_owned(searcher, &buffer, overlap, offset, to),
            false => stream.feed(&buffer[overlap..], to),
        };
        offset += read as u64;
        pace.end();
        if to.pause().is_break() || flow.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    let flow = stream.finish(to);
    Ok(if to.pause().is_break() { ControlFlow::Break(()) } else { flow })
}

/// Appends up to `size` bytes. `None` if `to` ends the scan: a reader may wait for its data.
fn read_up_to(
    reader: &mut dyn Read,
    size: usize,
    buffer: &mut Vec<u8>,
    to: &mut dyn Progress,
) -> io::Result<Option<usize>> {
    let before = buffer.len();
    buffer.resize(before + size, 0);
    let mut filled = before;
    let outcome = loop {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break Ok(()),
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                if to.pause().is_break() {
                    return Ok(None);
                }
            }
            Err(error) => break Err(error),
        }
        if filled == buffer.len() {
            break Ok(());
        }
    };
    buffer.truncate(filled);
    outcome.map(|()| Some(filled - before))
}

/// Scans a piece that starts with `overlap` bytes of history, and that owns what comes from
/// `offset` on.
fn scan_owned(
    searcher: &Searcher,
    piece: &[u8],
    overlap: usize,
    offset: u64,
    to: &mut dyn Progress,
) -> ControlFlow<()> {
    let mut owned = Owned { to, overlap: overlap as u64, offset, records: Vec::new() };
    searcher.scan_into(piece, &mut owned)
}

/// Passes on the matches that end after the overlap, with their positions in the haystack.
struct Owned<'a> {
    to: &'a mut dyn Progress,
    overlap: u64,
    offset: u64,
    records: Vec<Record>,
}

impl Sink for Owned<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        // The first byte of the piece stands before its offset.
        let base = batch.base + self.offset - self.overlap;
        if batch.base > self.overlap {
            return self.to.on_batch(&Batch { base, ..*batch });
        }
        let owned = batch.records.iter().filter(|&&record| batch.end(record) > self.overlap);
        self.records.clear();
        self.records.extend(owned);
        self.to.on_batch(&Batch { base, records: &self.records, ..*batch })
    }
}

/// Counts, and asks `pause` between pieces.
struct Counting<'a> {
    count: Count,
    pause: &'a mut dyn FnMut() -> ControlFlow<()>,
}

impl Sink for Counting<'_> {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        self.count.on_batch(batch)
    }

    fn counter(&mut self) -> Option<&mut u64> {
        self.count.counter()
    }
}

impl Progress for Counting<'_> {
    fn pause(&mut self) -> ControlFlow<()> {
        (self.pause)()
    }
}

/// Counts the matches of a haystack in memory. `None` if `pause` ended the scan.
pub fn count(
    searcher: &Searcher,
    threads: usize,
    haystack: &[u8],
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<u64> {
    if haystack.len() <= DIRECT {
        return Some(searcher.count(haystack));
    }
    if by_threads(searcher, threads) {
        return count_by_threads(searcher, haystack, pause);
    }
    let mut stopped = false;
    let pause = &mut || {
        let flow = pause();
        stopped |= flow.is_break();
        flow
    };
    let mut counting = Counting { count: Count::default(), pause };
    // `Once` ends a scan when each pattern was found.
    let _ = scan_stream(searcher, haystack, &mut counting);
    let count = counting.count.matches;
    (!stopped).then_some(count)
}

fn count_by_threads(
    searcher: &Searcher,
    haystack: &[u8],
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<u64> {
    let (mut pace, mut done, mut count) = (Pace::new(), 0, 0);
    while done < haystack.len() {
        let size = pace.start(haystack.len() - done);
        let overlap = &haystack[done - searcher.set().overlap().min(done)..done];
        count += searcher.count(&haystack[done - overlap.len()..done + size]);
        // Those were counted with the piece before.
        count -= searcher.count(overlap);
        done += size;
        pace.end();
        if pause().is_break() {
            return None;
        }
    }
    Some(count)
}

/// Whether a haystack has a match. `None` if `pause` ended the scan.
pub fn is_match(
    searcher: &Searcher,
    haystack: &[u8],
    pause: &mut dyn FnMut() -> ControlFlow<()>,
) -> Option<bool> {
    let (mut pace, mut done) = (Pace::new(), 0);
    while haystack.len() - done > DIRECT {
        let size = pace.start(haystack.len() - done);
        let from = done - searcher.set().overlap().min(done);
        if searcher.is_match(&haystack[from..done + size]) {
            return Some(true);
        }
        done += size;
        pace.end();
        if pause().is_break() {
            return None;
        }
    }
    let from = done - searcher.set().overlap().min(done);
    Some(searcher.is_match(&haystack[from..]))
}

/// The `find` calls on a large haystack: each call looks at one piece.
#[derive(Clone, Copy, Debug, Default)]
pub struct FindCursor {
    /// Where the next match may start.
    from: usize,
    /// Whether all matches were given.
    ended: bool,
}

impl FindCursor {
    /// A cursor that looks for matches that start from a position on.
    pub fn new(from: usize) -> Self {
        Self { from, ended: false }
    }

    /// Whether all matches were given.
    pub fn is_ended(&self) -> bool {
        self.ended
    }

    /// Appends matches of `find_iter`: up to `most`, of up to `size` bytes. There may be none in
    /// them, and more after.
    pub fn advance(
        &mut self,
        searcher: &Searcher,
        haystack: &[u8],
        size: usize,
        most: usize,
        found: &mut Vec<Match>,
    ) {
        let (from, longest) = (self.from.min(haystack.len()), searcher.set().max_len());
        let span = size.max(2 * longest).min(haystack.len() - from);
        let (end, whole) = (from + span, from + span == haystack.len());
        // Bytes after the piece do not change which of the matches that start before this are
        // reported: the longest pattern fits.
        let decided = if whole { end } else { (end + 1).saturating_sub(longest) };
        let mut given = 0;
        let input = fyke::Input::new(&haystack[..end]).span(from..end);
        for m in searcher.find_iter(input) {
            if m.start >= decided {
                break;
            }
            found.push(m);
            self.from = m.end;
            given += 1;
            if given == most {
                return;
            }
        }
        self.from = self.from.max(decided);
        self.ended = whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke::{MatchKind, PatternSet, StreamMatch};

    #[derive(Default)]
    struct All {
        found: Vec<StreamMatch>,
        pauses: usize,
    }

    impl Sink for All {
        fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
            self.found.extend(batch.matches());
            ControlFlow::Continue(())
        }
    }

    impl Progress for All {
        fn pause(&mut self) -> ControlFlow<()> {
            self.pauses += 1;
            ControlFlow::Continue(())
        }
    }

    fn haystack() -> Vec<u8> {
        // More than one piece, and matches across all their ends.
        let words = ["abra", "cad", "abra ", "x", "aaaa", "cadabra"];
        let mut state = 7_u32;
        let mut text = Vec::new();
        while text.len() < 3 * DIRECT {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.extend(words[(state >> 16) as usize % words.len()].bytes());
        }
        text
    }

    fn searcher(semantics: Semantics, threads: usize) -> Searcher {
        let set = PatternSet::new(["abracadabra", "aaaaa", "xx", "cadabraabra"]).unwrap();
        Searcher::builder().semantics(semantics).threads(threads).build(&set).unwrap()
    }

    #[test]
    fn pieces_give_what_one_scan_gives() {
        let text = haystack();
        for semantics in Semantics::ALL {
            let mut want = Vec::new();
            searcher(semantics, 1).scan(&text, |m| want.push((m.pattern, m.start, m.end)));
            assert!(want.len() > 3);
            for threads in [1, 2] {
                let searcher = searcher(semantics, threads);
                let (mut memory, mut reader) = (All::default(), All::default());
                let _ = scan(&searcher, threads, &text, &mut memory);
                let _ = scan_reader(&searcher, threads, &mut &text[..], &mut reader).unwrap();
                for all in [memory, reader] {
                    let found = all.found.iter();
                    let found: Vec<_> =
                        found.map(|m| (m.pattern, m.start as usize, m.end as usize)).collect();
                    assert!(found == want, "{semantics} with {threads} threads");
                    assert!(all.pauses > 1 || semantics == Semantics::Once);
                }
                let mut pause = || ControlFlow::Continue(());
                let count = count(&searcher, threads, &text, &mut pause);
                assert_eq!(count, Some(want.len() as u64), "{semantics}, {threads} threads");
            }
        }
    }

    #[test]
    fn the_cursor_gives_what_find_iter_gives() {
        let text = &haystack()[..100_000];
        let patterns = ["abracadabra", "abra", "cadabra", "a", "aaaaa", "xabra", "bracadabr"];
        let set = PatternSet::new(patterns).unwrap();
        for kind in [MatchKind::Standard, MatchKind::LeftmostFirst, MatchKind::LeftmostLongest] {
            let searcher = Searcher::builder().match_kind(kind).build(&set).unwrap();
            let want: Vec<_> = searcher.find_iter(text).collect();
            for (size, most) in [(1, 1), (30, 2), (1000, 7), (1000, usize::MAX), (1 << 20, 100)] {
                let (mut cursor, mut found) = (FindCursor::default(), Vec::new());
                while !cursor.is_ended() {
                    cursor.advance(&searcher, text, size, most, &mut found);
                }
                assert!(found == want, "{kind:?}, pieces of {size} bytes, {most} matches");
            }
        }
    }

    #[test]
    fn a_pause_ends_a_call() {
        let text = haystack();
        let mut stop = || ControlFlow::Break(());
        for threads in [1, 2] {
            let searcher = searcher(Semantics::All, threads);
            assert_eq!(count(&searcher, threads, &text, &mut stop), None);
        }
        let absent = Searcher::new(["absent"]).unwrap();
        assert_eq!(is_match(&absent, &text, &mut stop), None);
        assert_eq!(is_match(&absent, &text, &mut || ControlFlow::Continue(())), Some(false));
    }

    #[test]
    fn a_match_across_pieces_is_seen() {
        let mut text = vec![b'-'; DIRECT + 1];
        text.extend(vec![b'-'; DIRECT]);
        text[DIRECT - 3..DIRECT + 3].copy_from_slice(b"needle");
        let searcher = Searcher::new(["needle"]).unwrap();
        let mut pause = || ControlFlow::Continue(());
        assert_eq!(is_match(&searcher, &text, &mut pause), Some(true));
    }
}
