//! The contenders of a regret run: `auto`, and every choice that it could have made.
//!
//! Forced choices are the product engines alone, the filters with the fallback that the planner
//! gives them (`auto:engine=NAME`), and the planner's cuts (`auto:cut=LENGTH`).

use fyke_core::{Device, Family, Info, PatternSet};
use fyke_rivals::{Built, BuiltSets, CallJob, Caller, Job, Refusal, Rival};

use super::choose::{self, Contender, Side};
use super::engine::{EngineRival, Order};

/// The planner, whose choice is judged.
const PLANNER: &str = "auto";

/// The engines that the planner gives a fallback.
const FILTERS: [&str; 3] = ["teddy", "qgram-filter", "qgram-sampling"];

/// The lengths at which the planner may cut a set.
const CUTS: [usize; 5] = [2, 3, 4, 5, 8];

/// The planner, which comes first, and the choices to compare it with: `named`, or all if it is
/// empty. `isa` limits those that have several instruction sets.
///
/// # Errors
/// There is no engine of a name.
pub fn contenders(named: &[String], isa: Option<&str>) -> anyhow::Result<Vec<Contender>> {
    let others = if named.is_empty() { all() } else { named.to_vec() };
    let specs = std::iter::once(PLANNER.to_string()).chain(others);
    specs.map(|spec| contender(&spec, isa)).collect()
}

/// The specifications of all choices.
fn all() -> Vec<String> {
    let engines = fyke::registry::engines().into_iter().map(|e| e.info());
    let engines = engines.filter(|i| i.family == Family::Product && i.device == Device::Cpu);
    let engines = engines.map(|i| i.name.to_string()).filter(|name| name != PLANNER);
    let filters = FILTERS.map(|name| format!("{PLANNER}:engine={name}"));
    engines.chain(filters).chain(CUTS.map(|cut| format!("{PLANNER}:cut={cut}"))).collect()
}

fn contender(spec: &str, isa: Option<&str>) -> anyhow::Result<Contender> {
    let (name, options) = fyke::registry::parse(spec);
    let info = fyke::registry::find(name)?.info();
    let cut = options.split(',').find_map(|o| o.strip_prefix("cut=")).and_then(|c| c.parse().ok());
    let name = match isa.filter(|_| has_isa(info)) {
        Some(isa) => choose::limited(spec, isa),
        None => spec.to_string(),
    };
    let rival = Box::new(Forced { engine: EngineRival::new(&name, info, Order::AsFound), cut });
    Ok(Contender { name, side: Side::Engine, rival })
}

/// Whether an engine takes the option `isa`.
fn has_isa(info: &Info) -> bool {
    info.variants.iter().any(|form| form.contains("isa="))
}

/// An engine of fyke that refuses a cut which divides no set: the planner would ignore it.
struct Forced {
    engine: EngineRival,
    cut: Option<usize>,
}

impl Forced {
    /// # Errors
    /// The cut leaves all sets whole.
    fn divides<'a>(&self, mut sets: impl Iterator<Item = &'a PatternSet>) -> Result<(), Refusal> {
        let Some(cut) = self.cut else { return Ok(()) };
        match sets.any(|set| set.min_len() < cut && cut <= set.max_len()) {
            true => Ok(()),
            false => Err(Refusal("all patterns are on one side of the cut".into())),
        }
    }
}

impl Rival for Forced {
    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn about(&self) -> &'static str {
        self.engine.about()
    }

    fn version(&self) -> Result<String, Refusal> {
        self.engine.version()
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        self.divides(std::iter::once(job.set))?;
        self.engine.build(job)
    }

    fn build_sets(&self, jobs: &[Job<'_>]) -> Result<Box<dyn BuiltSets>, Refusal> {
        self.divides(jobs.iter().map(|job| job.set))?;
        self.engine.build_sets(jobs)
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        match self.divides(std::iter::once(job.set)) {
            Ok(()) => self.engine.caller(job),
            Err(why) => Some(Err(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(contender: &Contender, patterns: &[&str]) -> Result<Box<dyn Built>, Refusal> {
        let set = PatternSet::new(patterns).unwrap();
        let job =
            Job { set: &set, sample: b"", threads: 1, memory_limit: 1 << 30, expected_call: None };
        contender.rival.build(&job)
    }

    #[test]
    fn auto_stands_beside_every_choice_it_has() {
        let contenders = contenders(&[], None).unwrap();
        let names: Vec<&str> = contenders.iter().map(|c| &*c.name).collect();
        assert_eq!(names[0], PLANNER);
        assert_eq!(names.iter().filter(|n| **n == PLANNER).count(), 1);
        for name in ["ac-dfa", "ac-simd", "auto:cut=4"].iter().chain(&FILTERS) {
            assert!(names.contains(name), "{name}");
        }
        // Every choice takes this set or gives a reason; none of their options is unknown.
        for contender in &contenders {
            let built = build(contender, &["a", "bcd", "here", "there", "somewhere", "theres"]);
            let reason = built.err().map_or(String::new(), |r| r.to_string());
            assert!(!reason.contains("option"), "{}: {reason}", contender.name);
        }
    }

    #[test]
    fn engines_with_an_instruction_set_are_limited_to_it() {
        let contenders = contenders(&[], Some("scalar")).unwrap();
        let has = |name: &str| contenders.iter().any(|c| c.name == name);
        assert!(has("auto:isa=scalar") && has("auto:cut=4,isa=scalar") && has("ac-dfa"));
    }

    #[test]
    fn a_cut_that_divides_nothing_is_refused() {
        let cut = contenders(&["auto:cut=4".into()], None).unwrap().remove(1);
        assert!(build(&cut, &["abc", "abcd"]).is_ok());
        for whole in [["abcd", "bcde"], ["abc", "bcd"]] {
            let refusal = build(&cut, &whole).err().unwrap().to_string();
            assert!(refusal.contains("one side of the cut"), "{refusal}");
        }
    }

    #[test]
    fn an_unknown_engine_is_an_error() {
        assert!(contenders(&["no-such".into()], None).is_err());
    }
}
