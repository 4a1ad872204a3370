//! What is tested: every engine of a registry, in every variant it names.

use crate::tally::Tally;
use fyke_core::{Engine, Family, Matcher, Options, PatternSet, Refusal, Sink};
use std::sync::Arc;

/// The facade's parallel scan: matcher, haystack, threads, sink. The result has to come in order.
pub type Parallel = fn(&dyn Matcher, &[u8], usize, &mut dyn Sink);

/// Names of engines, with commas: what they refuse for want of a device or an instruction set is a failure. With an
/// option after a colon, `gpu-ac0:backend=opencl`, only the engine's variants that have it are meant.
pub const REQUIRE: &str = "FYKE_REQUIRE";

/// What a test program is about.
pub struct Suite {
    /// The registry.
    pub engines: Vec<&'static dyn Engine>,
    /// How the facade uses threads.
    pub parallel: Parallel,
    /// What was checked, refused and skipped.
    pub tally: Tally,
    required: Vec<String>,
}

impl Suite {
    /// A suite over a registry, with the requirements of the environment.
    pub fn new(engines: Vec<&'static dyn Engine>, parallel: Parallel) -> Self {
        Self::requiring_by(REQUIRE, engines, parallel)
    }

    /// A suite over a registry, with the requirements of an environment variable of that name.
    pub fn requiring_by(
        variable: &str,
        engines: Vec<&'static dyn Engine>,
        parallel: Parallel,
    ) -> Self {
        let names = std::env::var(variable).unwrap_or_default();
        let required =
            names.split(',').map(str::trim).filter(|n| !n.is_empty()).map(String::from).collect();
        Self { engines, parallel, tally: Tally::default(), required }
    }

    /// The suite with other requirements than those of the environment.
    pub fn requiring(self, names: &[&str]) -> Self {
        Self { required: names.iter().map(|n| n.to_string()).collect(), ..self }
    }

    /// Every variant of every engine that runs on this machine. The others are counted as refused.
    pub fn subjects(&self) -> Vec<Subject> {
        self.engines.iter().filter(|e| self.is_available(**e)).flat_map(|e| variants(*e)).collect()
    }

    /// The engine that is the definition of right; the first one, if the registry has none.
    pub fn oracle(&self) -> Subject {
        let oracle = self.engines.iter().find(|e| e.info().family == Family::Oracle);
        Subject { engine: *oracle.unwrap_or(&self.engines[0]), params: "" }
    }

    /// What is required of this machine and is not there.
    pub fn unmet(&self) -> Vec<String> {
        let engine_of = |label: &str| label.split(':').next().unwrap_or(label).to_owned();
        let complaint =
            |name: &String| match self.engines.iter().find(|e| e.info().name == engine_of(name)) {
                None => Some(format!("{REQUIRE} names {name}, which is not in the registry")),
                Some(e) => {
                    e.available().err().map(|why| format!("{name} is required and refuses: {why}"))
                }
            };
        self.required.iter().filter_map(complaint).collect()
    }

    /// Required engines that got through a whole run without one check: required, and yet not tested.
    pub fn unchecked(&self) -> Vec<String> {
        let checks = |name: &str| {
            let subjects = self.engines.iter().flat_map(|e| variants(*e));
            subjects
                .filter(|s| s.is_named(name))
                .map(|s| self.tally.checks_of(&s.label()))
                .sum::<u64>()
        };
        self.required.iter().filter(|name| checks(name) == 0).cloned().collect()
    }

    /// Compiles a set. `None` is a refusal, which was counted.
    ///
    /// # Errors
    /// A refusal that must not be: of an option that the engine itself names, or by a required engine for
    /// want of something on this machine. A limit of the algorithm remains a refusal even then.
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
            return Err(format!("refused, and must not: {refusal}"));
        }
        self.tally.refused(&subject.label(), &refusal);
        Ok(None)
    }

    fn is_available(&self, engine: &dyn Engine) -> bool {
        let refusal = engine.available().err();
        if let Some(why) = &refusal {
            self.tally.refused(engine.info().name, why);
        }
        refusal.is_none()
    }
}

/// One engine in one variant.
#[derive(Clone, Copy)]
pub struct Subject {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Its option string.
    pub params: &'static str,
}

/// The variants an engine names; the plain one if it names none.
pub fn variants(engine: &'static dyn Engine) -> Vec<Subject> {
    let named = engine.info().variants;
    let params = if named.is_empty() { &[""] } else { named };
    params.iter().map(|&params| Subject { engine, params }).collect()
}

impl Subject {
    /// `ac-dfa` or `ac-dfa:form=dense`, as `--engine` takes it.
    pub fn label(&self) -> String {
        match self.params {
            "" => self.info_name().to_owned(),
            params => format!("{}:{params}", self.info_name()),
        }
    }

    /// Whether a requirement means it: by its engine's name, or by that and one of its options.
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

    /// Whether it is the plain form of its engine.
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
    fn a_requirement_means_the_variants_that_have_its_option() {
        let subject = variants(&Named)[0];
        for name in ["named", "named:form=x", "named:backend=opencl"] {
            assert!(subject.is_named(name), "{name}");
        }
        for name in ["name", "named:backend=cuda", "named:form", "other:form=x"] {
            assert!(!subject.is_named(name), "{name}");
        }
    }
}
