//! What is tested: every engine of a registry, in every variant the engine names.

use crate::require::{self, REQUIRE};
use crate::tally::Tally;
use fyke_core::{
    Block, Engine, Family, Matcher, Options, PatternSet, Refusal, Scratch, Sink, SortBuffer, Sorter,
};
use std::io::Write as _;
use std::sync::Arc;

/// The facade's parallel scan: matcher, haystack, threads, sink. It must deliver matches in order.
pub type Parallel = fn(&dyn Matcher, &[u8], usize, &mut dyn Sink);

/// Which engines a test program checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them: a required engine without a check is a failure.
    Everything,
    /// Those of one kind, those that are fast enough, or those that accept the given sets.
    Chosen,
}

/// The shared state of a test program.
pub struct Suite {
    /// The registry.
    pub engines: Vec<&'static dyn Engine>,
    /// The facade's parallel scan.
    pub parallel: Parallel,
    /// Counts of checks, refusals and skips.
    pub tally: Tally,
    required: Vec<String>,
}

impl Suite {
    /// A suite over a registry, with the requirements of the environment.
    pub fn new(engines: Vec<&'static dyn Engine>, parallel: Parallel) -> Self {
        Self::requiring_by(REQUIRE, engines, parallel)
    }

    /// A suite over a registry, with the requirements of the environment variable of this name.
    pub fn requiring_by(
        variable: &str,
        engines: Vec<&'static dyn Engine>,
        parallel: Parallel,
    ) -> Self {
        let required = require::names(variable);
        Self { engines, parallel, tally: Tally::default(), required }
    }

    /// The suite with these requirements instead of those of the environment.
    pub fn requiring(self, names: &[&str]) -> Self {
        Self { required: names.iter().map(|n| n.to_string()).collect(), ..self }
    }

    /// Every variant of every engine that runs on this machine. The other engines are counted as
    /// refused.
    pub fn subjects(&self) -> Vec<Subject> {
        self.engines.iter().filter(|e| self.is_available(**e)).flat_map(|e| variants(*e)).collect()
    }

    /// The place of a subject: that of its engine among those of its device, plus that of its
    /// variant in the engine. So the first variants of engines have consecutive places.
    pub(crate) fn place(&self, subject: Subject) -> usize {
        let info = subject.engine.info();
        let mut of_device = self.engines.iter().filter(|e| e.info().device == info.device);
        let engine = of_device.position(|e| e.info().name == info.name);
        let variant = info.variants.iter().position(|params| *params == subject.params);
        engine.unwrap_or_default() + variant.unwrap_or_default()
    }

    /// The engine that defines the correct result; the first engine if the registry has no oracle.
    pub fn oracle(&self) -> Subject {
        let oracle = self.engines.iter().find(|e| e.info().family == Family::Oracle);
        Subject { engine: *oracle.unwrap_or(&self.engines[0]), params: "" }
    }

    /// Complaints about required engines that are not in the registry or not available.
    pub fn unmet(&self) -> Vec<String> {
        let engine_of = |label: &str| label.split(':').next().unwrap_or(label).to_owned();
        let complaint =
            |name: &String| match self.engines.iter().find(|e| e.info().name == engine_of(name)) {
                None => Some(format!("{REQUIRE} names {name}, which is not in the registry")),
                Some(e) => {
                    e.available().err().map(|why| format!("{name} is required and refuses: {why}"))
                }
            };
        self.required_engines().filter_map(complaint).collect()
    }

    /// Required engines without a single check in a whole run.
    pub fn unchecked(&self) -> Vec<String> {
        let checks = |name: &str| {
            let subjects = self.engines.iter().flat_map(|e| variants(*e));
            subjects
                .filter(|s| s.is_named(name))
                .map(|s| self.tally.checks_of(&s.label()))
                .sum::<u64>()
        };
        self.required_engines().filter(|name| checks(name) == 0).cloned().collect()
    }

    /// Ends a test of the standard harness: prints the tally to standard error, which the harness
    /// does not capture.
    ///
    /// # Errors
    /// A required engine is unavailable, or was never checked although the test checks everything.
    pub fn conclude(&self, scope: Scope) -> Result<(), String> {
        // A closed standard error must not fail the test.
        let _ = write!(std::io::stderr(), "{}", self.tally);
        let unchecked = if scope == Scope::Everything { self.unchecked() } else { Vec::new() };
        let unchecked = unchecked.iter().map(|name| format!("{name} is required and unchecked"));
        let complaints: Vec<String> = self.unmet().into_iter().chain(unchecked).collect();
        if complaints.is_empty() { Ok(()) } else { Err(complaints.join("\n")) }
    }

    /// Compiles a set. `None` means that the engine refused it; the refusal is counted.
    ///
    /// # Errors
    /// The refusal is not allowed: it rejects an option that the engine itself names, or it comes
    /// from a required engine that lacks something on this machine. A limit of the algorithm is
    /// allowed even then.
    pub fn compile(
        &self,
        subject: &Subject,
        set: &PatternSet,
    ) -> Result<Option<Arc<dyn Matcher>>, String> {
        let refusal = match subject.compile(set) {
            Ok(matcher) => return Ok(Some(matcher)),
            Err(refusal) => refusal,
        };
        let required = self.required.iter().any(|name| subject.is_named(name));
        let of_machine = matches!(refusal, Refusal::NoDevice(_) | Refusal::NoIsa(_));
        let of_option = matches!(refusal, Refusal::BadOption(_) | Refusal::NoEngine(_));
        if of_option || required && of_machine {
            return Err(format!("{}: refused, but must not: {refusal}", subject.label()));
        }
        self.tally.refused(&subject.label(), &refusal);
        Ok(None)
    }

    fn required_engines(&self) -> impl Iterator<Item = &String> {
        self.required.iter().filter(|name| !require::is_no_engine(name))
    }

    fn is_available(&self, engine: &dyn Engine) -> bool {
        let refusal = engine.available().err();
        if let Some(why) = &refusal {
            self.tally.refused(engine.info().name, why);
        }
        refusal.is_none()
    }
}

/// A [`Parallel`] that uses one thread, for suites that do not test threads.
pub fn one_thread(matcher: &dyn Matcher, haystack: &[u8], _: usize, sink: &mut dyn Sink) {
    let mut buffer = SortBuffer::default();
    let mut sorted = Sorter::new(matcher.set(), 0, &mut buffer, sink);
    if matcher.scan(Block::whole(haystack), &mut Scratch::new(), &mut sorted).is_continue() {
        let _ = sorted.finish();
    }
}

/// One engine in one variant.
#[derive(Clone, Copy)]
pub struct Subject {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// The option string of the variant.
    pub params: &'static str,
}

/// The variants an engine names, or the engine without options if it names none.
pub fn variants(engine: &'static dyn Engine) -> Vec<Subject> {
    let named = engine.info().variants;
    let params = if named.is_empty() { &[""] } else { named };
    params.iter().map(|&params| Subject { engine, params }).collect()
}

impl Subject {
    /// The engine and its options as `--engine` takes them: `ac-dfa` or `ac-dfa:form=dense`.
    pub fn label(&self) -> String {
        match self.params {
            "" => self.info_name().to_owned(),
            params => format!("{}:{params}", self.info_name()),
        }
    }

    /// Whether a requirement names this subject, by engine or by engine and one option.
    fn is_named(&self, name: &str) -> bool {
        let (engine, option) = name.split_once(':').unwrap_or((name, ""));
        let has =
            |option: &str| option.is_empty() || self.params.split(',').any(|own| own == option);
        engine == self.info_name() && has(option)
    }

    /// The engine's name.
    pub fn info_name(&self) -> &'static str {
        self.engine.info().name
    }

    /// Whether this is the first variant of its engine.
    pub fn is_first_variant(&self) -> bool {
        self.engine.info().variants.first().is_none_or(|first| *first == self.params)
    }

    /// Compiles a set in this variant.
    ///
    /// # Errors
    /// The engine's refusal.
    pub fn compile(&self, set: &PatternSet) -> Result<Arc<dyn Matcher>, Refusal> {
        self.engine.compile(set, &Options::with_params(self.params)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::{Device, Growth, Info};

    struct Named;

    impl Engine for Named {
        fn info(&self) -> &'static Info {
            &Info {
                name: "named",
                device: Device::Gpu,
                family: Family::Paper,
                growth: Growth::Flat,
                about: "a name",
                source: "-",
                variants: &["form=x,backend=opencl"],
            }
        }

        fn compile(&self, _: &PatternSet, _: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
            Err(Refusal::NoDevice("it is only a name".into()))
        }
    }

    #[test]
    fn a_requirement_names_the_variants_with_its_option() {
        let subject = variants(&Named)[0];
        for name in ["named", "named:form=x", "named:backend=opencl"] {
            assert!(subject.is_named(name), "{name}");
        }
        for name in ["name", "named:backend=cuda", "named:form", "other:form=x"] {
            assert!(!subject.is_named(name), "{name}");
        }
    }

    #[test]
    fn data_is_a_requirement_and_not_an_engine() {
        let conclude = |name: &str, scope| {
            Suite::new(vec![&Named], one_thread).requiring(&[name]).conclude(scope)
        };
        assert_eq!(conclude(require::DATA, Scope::Everything), Ok(()));
        assert_eq!(conclude("named", Scope::Chosen), Ok(()));
        let unchecked = conclude("named", Scope::Everything).unwrap_err();
        assert!(unchecked.contains("required and unchecked"), "{unchecked}");
        assert!(conclude("gone", Scope::Chosen).unwrap_err().contains("not in the registry"));
    }
}
