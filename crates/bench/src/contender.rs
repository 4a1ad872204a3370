//! Who takes part: fyke's engines and the rival libraries, behind one trait.
//!
//! An engine is adapted to [`Rival`], so that every contender is built, verified and timed by the
//! same code. Adapting costs an engine one call per scan, as it costs each rival.

use std::sync::Arc;

use fyke::Searcher;
use fyke::parallel::{self, Haystack};
use fyke_core::{Batch, Block, Count, Device, Family, Fingerprint, Matcher, Scratch, Sink};
use fyke_rivals::{Built, Job, Memory, RIVALS, Refusal, Rival, Scanner, Tally, Work};
use std::ops::ControlFlow;

/// Which side a contender is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// An engine of fyke.
    Ours,
    /// Somebody else's library.
    Rival,
}

impl Side {
    /// As it stands in records.
    pub fn name(self) -> &'static str {
        match self {
            Side::Ours => "engine",
            Side::Rival => "rival",
        }
    }
}

/// A contender.
pub struct Contender {
    /// Its name in tables.
    pub name: String,
    /// Which side it is on.
    pub side: Side,
    /// How it is built.
    pub rival: Box<dyn Rival>,
}

/// Which contenders to take: engines by their specifications, rivals by their names.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Engines, such as `ac-dfa` or `ac-dfa:walks=1`; the products of the registry if it is empty.
    pub engines: Vec<String>,
    /// Rivals; all if it is not given.
    pub rivals: Option<Vec<String>>,
    /// Takes all engines of the registry and not the products only.
    pub all_engines: bool,
}

/// The contenders of a choice.
///
/// # Errors
/// There is no engine or rival of a name.
pub fn choose(choice: &Choice) -> anyhow::Result<Vec<Contender>> {
    let specs = if choice.engines.is_empty() {
        registered(choice.all_engines)
    } else {
        choice.engines.clone()
    };
    let mut all = specs.iter().map(|s| ours(s)).collect::<anyhow::Result<Vec<_>>>()?;
    match &choice.rivals {
        None => all.extend(RIVALS.iter().map(|r| theirs(*r))),
        Some(names) => {
            for name in names {
                all.push(named(name)?);
            }
        }
    }
    Ok(all)
}

fn registered(all: bool) -> Vec<String> {
    let engines = fyke::registry::engines();
    let taken = engines
        .iter()
        .filter(|e| all || e.info().family == Family::Product && e.info().device == Device::Cpu);
    taken.map(|e| e.info().name.to_string()).collect()
}

fn ours(spec: &str) -> anyhow::Result<Contender> {
    let name = spec.split(':').next().unwrap_or(spec);
    let info = fyke::registry::find(name)?.info();
    let rival = Box::new(Ours { spec: spec.into(), about: info.about, name: info.name });
    Ok(Contender { name: spec.into(), side: Side::Ours, rival })
}

fn theirs(rival: &'static dyn Rival) -> Contender {
    Contender { name: rival.name().into(), side: Side::Rival, rival: Box::new(Theirs(rival)) }
}

fn named(name: &str) -> anyhow::Result<Contender> {
    let rival = RIVALS.iter().find(|r| r.name() == name);
    let names: Vec<_> = RIVALS.iter().map(|r| r.name()).collect();
    match rival {
        Some(rival) => Ok(theirs(*rival)),
        None => anyhow::bail!("there is no rival named {name:?}: take one of {}", names.join(", ")),
    }
}

struct Theirs(&'static dyn Rival);

impl Rival for Theirs {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn about(&self) -> &'static str {
        self.0.about()
    }

    fn version(&self) -> Result<String, Refusal> {
        self.0.version()
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        self.0.build(job)
    }
}

/// An engine of the registry, with its options.
struct Ours {
    spec: String,
    name: &'static str,
    about: &'static str,
}

impl Rival for Ours {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn version(&self) -> Result<String, Refusal> {
        let engine = fyke::registry::find(self.name).map_err(refuse)?;
        engine.available().map_err(refuse)?;
        Ok(env!("CARGO_PKG_VERSION").to_string())
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        let builder = Searcher::builder().engine(&self.spec).memory_limit(job.memory_limit);
        let searcher = builder.build(job.set).map_err(|e| match e.refusal() {
            Some(refusal) => refuse(refusal.clone()),
            None => Refusal(e.to_string()),
        })?;
        Ok(Box::new(Compiled::behind(searcher)))
    }
}

fn refuse(refusal: fyke_core::Refusal) -> Refusal {
    Refusal(refusal.to_string())
}

/// A set that an engine of fyke compiled.
pub struct Compiled {
    /// What scans; several threads share the copies out among them. There is at least one.
    copies: Vec<Arc<dyn Matcher>>,
    /// The front door to the only copy, if it is scanned through that: it takes many haystacks at once.
    front: Option<Searcher>,
}

impl Compiled {
    /// One matcher for all threads.
    pub fn new(matcher: Arc<dyn Matcher>) -> Self {
        Self { copies: vec![matcher], front: None }
    }

    /// A matcher and the front door to it.
    pub fn behind(searcher: Searcher) -> Self {
        Self { copies: vec![Arc::clone(searcher.matcher())], front: Some(searcher) }
    }

    /// A matcher for each thread. The list is not empty.
    pub fn each(copies: Vec<Arc<dyn Matcher>>) -> Self {
        assert!(!copies.is_empty(), "at least one matcher");
        Self { copies, front: None }
    }

    /// The matcher of a single thread.
    pub fn matcher(&self) -> &dyn Matcher {
        &*self.copies[0]
    }
}

impl Built for Compiled {
    fn scanner(&self) -> Result<Box<dyn Scanner + '_>, Refusal> {
        let (matcher, front) = (self.matcher(), self.front.as_ref());
        Ok(Box::new(Thread { matcher, front, scratch: Scratch::new() }))
    }

    fn memory(&self) -> Option<Memory> {
        let footprint = self.matcher().footprint();
        Some(Memory { bytes: footprint.host + footprint.device, from: "footprint()" })
    }

    fn taken(&self) -> Option<String> {
        let name = self.matcher().info().name;
        let parts = parts(&self.matcher().describe()).join("+");
        Some(if name == "auto" && !parts.is_empty() { parts } else { name.to_string() })
    }

    fn scan_threads(
        &self,
        haystack: &[u8],
        _overlap: usize,
        threads: usize,
        work: Work,
    ) -> Result<Tally, Refusal> {
        match work {
            Work::Count => self.fold::<Count>(haystack, threads),
            Work::Touch => self.fold::<Touch>(haystack, threads),
            Work::Fingerprint => self.fold::<Fingerprint>(haystack, threads),
        }
    }
}

/// The engines of a set that was cut among several: a description names each behind `patterns by`.
fn parts(description: &str) -> Vec<String> {
    let names = description.split(" patterns by ").skip(1);
    names.map(|n| n.split([' ', ';']).next().unwrap_or("").to_string()).collect()
}

impl Compiled {
    fn fold<S: Tallied + Send>(&self, haystack: &[u8], threads: usize) -> Result<Tally, Refusal> {
        let copies: Vec<&dyn Matcher> = self.copies.iter().map(|m| &**m).collect();
        let sinks = parallel::fold_each(&copies, Haystack::Slice(haystack), threads, S::default);
        let sinks = sinks.map_err(|e| Refusal(e.to_string()))?;
        Ok(sinks.iter().map(Tallied::tally).fold(Tally::default(), Tally::plus))
    }
}

struct Thread<'a> {
    matcher: &'a dyn Matcher,
    front: Option<&'a Searcher>,
    scratch: Scratch,
}

impl Thread<'_> {
    fn run<S: Tallied>(&mut self, block: Block<'_>) -> Tally {
        let mut sink = S::default();
        // No sink here ever breaks.
        let _ = self.matcher.scan(block, &mut self.scratch, &mut sink);
        sink.tally()
    }

    /// Many haystacks by one call of the front door, which is told where each of them lies.
    fn run_each<S: Tallied>(searcher: &Searcher, haystacks: &[&[u8]]) -> Tally {
        let mut sink = S::default();
        let _ = searcher.scan_batch(haystacks, |_, batch| sink.on_batch(batch));
        sink.tally()
    }
}

impl Scanner for Thread<'_> {
    fn scan(&mut self, block: Block<'_>, work: Work) -> Result<Tally, Refusal> {
        Ok(match work {
            Work::Count => self.run::<Count>(block),
            Work::Touch => self.run::<Touch>(block),
            Work::Fingerprint => self.run::<Fingerprint>(block),
        })
    }

    fn scan_each(&mut self, haystacks: &[&[u8]], work: Work) -> Result<Tally, Refusal> {
        let Some(searcher) = self.front else {
            let mut blocks = haystacks.iter().map(|h| Block::whole(h));
            return blocks.try_fold(Tally::default(), |t, b| Ok(t.plus(self.scan(b, work)?)));
        };
        Ok(match work {
            Work::Count => Self::run_each::<Count>(searcher, haystacks),
            Work::Touch => Self::run_each::<Touch>(searcher, haystacks),
            Work::Fingerprint => Self::run_each::<Fingerprint>(searcher, haystacks),
        })
    }
}

/// A sink that ends in a tally.
trait Tallied: Sink + Default {
    fn tally(&self) -> Tally;
}

impl Tallied for Count {
    fn tally(&self) -> Tally {
        Tally { count: self.matches, sum: 0 }
    }
}

impl Tallied for Fingerprint {
    fn tally(&self) -> Tally {
        Tally { count: self.matches, sum: self.sum }
    }
}

/// Reads the end and the pattern of each match, as [`Work::Touch`] asks.
#[derive(Default)]
struct Touch(Tally);

impl Sink for Touch {
    fn on_batch(&mut self, batch: &Batch<'_>) -> ControlFlow<()> {
        for &record in batch.records {
            let word = batch.end(record) ^ (u64::from(record.pattern) << 32);
            self.0.sum = self.0.sum.wrapping_add(word);
        }
        self.0.count += batch.records.len() as u64;
        ControlFlow::Continue(())
    }
}

impl Tallied for Touch {
    fn tally(&self) -> Tally {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::PatternSet;

    #[test]
    fn every_contender_sees_the_same_matches() {
        // Long enough for every engine.
        let set = PatternSet::new(["here", "there", "theres"]).unwrap();
        let job = Job { set: &set, sample: b"", memory_limit: 1 << 30 };
        let rivals = Some(vec!["daachorse".to_string()]);
        let choice = Choice { engines: Vec::new(), rivals, all_engines: true };
        let mut contenders = choose(&choice).unwrap();
        // What this machine lacks is a refusal, and is said; those of a set or an option are not expected here.
        contenders.retain(|c| {
            let (engine, _) = fyke::registry::parse(&c.name);
            let refusal = fyke::registry::find(engine).ok().and_then(|e| e.available().err());
            refusal.iter().for_each(|why| println!("left out: {}: {why}", c.name));
            refusal.is_none()
        });
        assert!(contenders.len() > 2);
        let block = Block::whole(b"theres and there");
        for work in [Work::Count, Work::Touch, Work::Fingerprint] {
            let tally = |c: &Contender| {
                let built = c.rival.build(&job).unwrap();
                let tally = built.scanner().unwrap().scan(block, work).unwrap();
                let each = [&b"theres"[..], b"", b" and there"];
                let mut scanner = built.scanner().unwrap();
                assert_eq!(scanner.scan_each(&each, work).unwrap().count, tally.count);
                assert_eq!(tally, built.scan_threads(block.bytes, 3, 2, work).unwrap());
                tally
            };
            let all: Vec<Tally> = contenders.iter().map(tally).collect();
            assert!(all.iter().all(|t| *t == all[0]), "{work:?}: {all:?}");
            assert_eq!(all[0].count, 5);
        }
    }

    #[test]
    fn the_parts_of_a_cut_set_are_named() {
        let text = "3 patterns by ac-dfa (2 states); 9 patterns by qgram-filter (x)";
        assert_eq!(parts(text), ["ac-dfa", "qgram-filter"]);
        assert!(parts("12 states").is_empty());
    }

    #[test]
    fn unknown_names_are_errors() {
        let choice = |engine: &str, rival: &str| Choice {
            engines: vec![engine.into()],
            rivals: Some(vec![rival.into()]),
            all_engines: false,
        };
        assert!(choose(&choice("no-such", "daachorse")).is_err());
        assert!(choose(&choice("naive", "no-such")).is_err());
        assert!(choose(&choice("naive", "daachorse")).is_ok());
    }
}
