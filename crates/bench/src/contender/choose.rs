//! Which contenders take part.

use fyke_core::{Device, Family};
use fyke_rivals::{RIVALS, Rival};

use super::engine::{EngineRival, Order};

/// Which side a contender is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// An engine of fyke, whose matches come in the order in which it finds them.
    Engine,
    /// An engine of fyke behind [`Searcher::scan`](fyke::Searcher::scan), which sorts matches.
    Ordered,
    /// An engine of fyke behind [`GroupSearcher::scan_batch`](fyke::GroupSearcher::scan_batch),
    /// which gets all calls of a replay at once and sorts matches.
    Grouped,
    /// Another library.
    Rival,
}

impl Side {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Side::Engine => "engine",
            Side::Ordered => "ordered",
            Side::Grouped => "grouped",
            Side::Rival => "rival",
        }
    }
}

/// A contender.
pub struct Contender {
    /// The name in tables.
    pub name: String,
    /// Which side it is on.
    pub side: Side,
    /// How it is built.
    pub rival: Box<dyn Rival>,
}

/// Which contenders to take.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Engines, such as `ac-dfa` or `ac-dfa:walks=1`; the products of the registry if it is empty.
    pub engines: Vec<String>,
    /// Takes all engines of the registry and not the products only.
    pub all_engines: bool,
    /// Takes each engine twice more: behind `Searcher::scan` and `GroupSearcher::scan_batch`, which
    /// sort.
    pub ordered: bool,
    /// Rivals by their names; all if there is no list.
    pub rivals: Option<Vec<String>>,
}

/// What precedes an engine's specification if its matches are to be sorted.
const ORDERED: &str = "ordered:";

/// What precedes it if all calls of a replay come at once.
const GROUPED: &str = "grouped:";

/// The contenders of a selection.
///
/// # Errors
/// There is no engine or rival of a name.
pub fn choose(selection: &Selection) -> anyhow::Result<Vec<Contender>> {
    let specs = match &selection.engines[..] {
        [] => registered(selection.all_engines),
        named => named.to_vec(),
    };
    let mut all = Vec::new();
    for spec in &specs {
        all.push(engine(spec)?);
        if selection.ordered && plain_spec(spec) == spec {
            all.push(engine(&format!("{ORDERED}{spec}"))?);
            all.push(engine(&format!("{GROUPED}{spec}"))?);
        }
    }
    match &selection.rivals {
        None => all.extend(RIVALS.iter().map(|r| library(*r))),
        Some(names) => {
            for name in names {
                all.push(named(name)?);
            }
        }
    }
    Ok(all)
}

/// The specification of an engine without what says how its matches come.
pub fn plain_spec(spec: &str) -> &str {
    let plain = spec.strip_prefix(ORDERED).or_else(|| spec.strip_prefix(GROUPED));
    plain.unwrap_or(spec)
}

/// The specification of an engine that is limited to an instruction set.
pub(super) fn limited(spec: &str, isa: &str) -> String {
    let separator = if spec.contains(':') { ',' } else { ':' };
    format!("{spec}{separator}isa={isa}")
}

fn registered(all: bool) -> Vec<String> {
    let engines = fyke::registry::engines();
    let is_product = |e: &&&dyn fyke_core::Engine| {
        all || e.info().family == Family::Product && e.info().device == Device::Cpu
    };
    engines.iter().filter(is_product).map(|e| e.info().name.to_string()).collect()
}

fn engine(name: &str) -> anyhow::Result<Contender> {
    let spec = plain_spec(name);
    let (order, side) = if spec == name {
        (Order::AsFound, Side::Engine)
    } else if name.starts_with(ORDERED) {
        (Order::Sorted, Side::Ordered)
    } else {
        (Order::Grouped, Side::Grouped)
    };
    let info = fyke::registry::find(fyke::registry::parse(spec).0)?.info();
    let rival = Box::new(EngineRival::new(spec, info, order));
    Ok(Contender { name: name.into(), side, rival })
}

fn library(rival: &'static dyn Rival) -> Contender {
    Contender { name: rival.name().into(), side: Side::Rival, rival: Box::new(rival) }
}

fn named(name: &str) -> anyhow::Result<Contender> {
    let rival = RIVALS.iter().find(|r| r.name() == name);
    let names: Vec<_> = RIVALS.iter().map(|r| r.name()).collect();
    match rival {
        Some(rival) => Ok(library(*rival)),
        None => anyhow::bail!("there is no rival {name:?}: choose one of {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{Block, PatternSet};
    use fyke_rivals::{Job, Tally, Work};

    #[test]
    fn every_contender_sees_the_same_matches() {
        // Long enough for every engine.
        let set = PatternSet::new(["here", "there", "theres"]).unwrap();
        let job =
            Job { set: &set, sample: b"", threads: 1, expected_call: None, memory_limit: 1 << 30 };
        let rivals = Some(vec!["daachorse".to_string()]);
        let selection =
            Selection { all_engines: true, ordered: true, rivals, ..Selection::default() };
        let mut contenders = choose(&selection).unwrap();
        // Only what this machine lacks may be left out; no engine refuses this set.
        contenders.retain(|c| {
            // They take replays only.
            if c.side == Side::Grouped {
                return false;
            }
            let (engine, _) = fyke::registry::parse(plain_spec(&c.name));
            let refusal = fyke::registry::find(engine).ok().and_then(|e| e.available().err());
            refusal.iter().for_each(|why| println!("left out: {}: {why}", c.name));
            refusal.is_none()
        });
        assert!(contenders.len() > 4);
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
    fn unknown_names_are_errors() {
        let selection = |engine: &str, rival: &str| Selection {
            engines: vec![engine.into()],
            rivals: Some(vec![rival.into()]),
            ..Selection::default()
        };
        assert!(choose(&selection("no-such", "daachorse")).is_err());
        assert!(choose(&selection("naive", "no-such")).is_err());
        assert!(choose(&selection("naive", "daachorse")).is_ok());
    }

    #[test]
    fn an_ordered_contender_stands_beside_each_engine() {
        let selection = Selection {
            engines: vec!["naive".into(), "ordered:ac-dfa".into()],
            ordered: true,
            rivals: Some(Vec::new()),
            ..Selection::default()
        };
        let contenders = choose(&selection).unwrap();
        let names: Vec<&str> = contenders.iter().map(|c| &*c.name).collect();
        assert_eq!(names, ["naive", "ordered:naive", "grouped:naive", "ordered:ac-dfa"]);
        assert_eq!((contenders[1].side, contenders[2].side), (Side::Ordered, Side::Grouped));
    }
}
