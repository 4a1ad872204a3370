//! Counting sinks: an engine that counts without writing records must count every match.

use crate::random::SplitMix;
use fyke_core::{
    Block, Count, Engine, Matcher, Options, PatternId, PatternSet, Scratch, SliceSource, oracle,
};

/// Checks that engines count the matches of generated texts on each device, by its number: in one
/// block, in three blocks, and in a stream. Prints the number of checks.
///
/// # Panics
/// A count is wrong, or an engine refuses a set.
pub fn check<'a>(engines: impl Iterator<Item = &'a dyn Engine> + Clone, devices: usize) {
    let mut numbers = SplitMix::new(1);
    let mut checked = 0;
    for round in 0..3 {
        let below = [6, 3, 5][round];
        let text: Vec<u8> =
            (0..4000 + round).map(|_| b"aaAbB\0"[numbers.below(below) as usize]).collect();
        let set = cut(&text, numbers.below(1000) as usize, round != 1);
        for engine in engines.clone() {
            for device in 0..devices {
                check_count(engine, device, &set, &text);
                checked += 1;
            }
        }
    }
    eprintln!("{checked} counts checked on {devices} devices");
}

/// Pieces of a text, some of them with several ids.
fn cut(text: &[u8], seed: usize, nocase: bool) -> PatternSet {
    let mut set = PatternSet::builder();
    for i in 0..25 {
        let (at, len) = ((seed + 37 * i) % (text.len() - 20), 1 + (seed + i * i) % 19);
        for id in 0..1 + i % 3 {
            let id = PatternId((3 * i + id) as u32);
            set.push_with(id, &text[at..at + len], nocase && i % 4 != 0).unwrap();
        }
    }
    set.build()
}

fn check_count(engine: &dyn Engine, device: usize, set: &PatternSet, text: &[u8]) {
    let name = engine.info().name;
    let opt = Options::with_params(&format!("device={device}")).unwrap();
    let matcher = match engine.compile(set, &opt) {
        Ok(matcher) => matcher,
        Err(refusal) => panic!("{name}: {refusal}"),
    };
    let expected = oracle::find_all(set, text).len() as u64;
    let whole = count(&*matcher, [Block::whole(text)]);
    assert_eq!(whole, expected, "{name}, in one block");
    let at = text.len() / 3;
    let blocks = [(0, at), (at, at + 1), (at + 1, text.len())];
    let parts =
        count(&*matcher, blocks.map(|(from, to)| Block::whole(text).part(from, to, set.overlap())));
    assert_eq!(parts, expected, "{name}, in three blocks");
    let mut streamed = Count::default();
    let mut source = SliceSource::new(text, 300, set.overlap());
    let flow = matcher.drive(&mut source, &mut streamed).expect("a slice can be read");
    assert!(flow.is_continue(), "{name}: a count never stops");
    assert_eq!(streamed.matches, expected, "{name}, in a stream");
}

fn count<'a>(matcher: &dyn Matcher, blocks: impl IntoIterator<Item = Block<'a>>) -> u64 {
    let mut count = Count::default();
    for block in blocks {
        let flow = matcher.scan(block, &mut Scratch::new(), &mut count);
        assert!(flow.is_continue(), "a count never stops");
    }
    count.matches
}
