//! The registry of all engines: those of the CPU, `auto`, which chooses among them, and with the
//! feature `gpu` those of GPUs.
//!
//! A program can [`add`] engines of its own. Tests, benchmarks and the command line iterate over
//! [`engines`].

use crate::plan;
#[cfg(feature = "database")]
use fyke_core::stored::{LoadedPart, UnsoundTables};
use fyke_core::{Engine, Matcher, Options, PatternSet, Refusal};
use std::sync::{Arc, PoisonError, RwLock};

/// Engines that the program added.
static ADDED: RwLock<Vec<&'static dyn Engine>> = RwLock::new(Vec::new());

/// What to do about an engine or an option for GPUs in a build without the feature.
pub(crate) const NO_GPU: &str = "this build has no GPU engines: enable the feature `gpu` of fyke";

/// The engines of this library; `auto` comes first, then with the feature `gpu` the engine `gpu`,
/// which chooses one for a GPU.
pub fn built_in() -> Vec<&'static dyn Engine> {
    let mut engines: Vec<&'static dyn Engine> = vec![&plan::AUTO];
    #[cfg(feature = "gpu")]
    engines.push(&plan::GPU);
    engines.extend(fyke_cpu::ENGINES);
    #[cfg(feature = "gpu")]
    engines.extend(fyke_gpu::ENGINES.iter().map(|&e| e as &'static dyn Engine));
    engines
}

/// Every engine: the [`built_in`] ones, then those that were added.
pub fn engines() -> Vec<&'static dyn Engine> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    built_in().into_iter().chain(added.iter().copied()).collect()
}

/// Adds engines to the registry of this process. `auto` does not choose them. An engine whose name
/// is already taken is ignored.
///
/// ```
/// use fyke::engine::{Engine, Family, Growth};
/// use fyke::{Device, Info, Matcher, Options, PatternSet, Refusal};
/// use fyke::{Searcher, registry};
/// use std::sync::Arc;
///
/// /// An engine that leaves the work to another one.
/// struct Mine;
///
/// static INFO: Info = Info {
///     name: "mine",
///     device: Device::Cpu,
///     family: Family::Product,
///     growth: Growth::Flat,
///     about: "an example",
///     source: "-",
///     variants: &[""],
/// };
///
/// impl Engine for Mine {
///     fn info(&self) -> &'static Info {
///         &INFO
///     }
///     fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
///         opt.check_params(&[])?;
///         registry::find("ac-dfa")?.compile(set, opt)
///     }
/// }
///
/// registry::add([&Mine as &'static dyn Engine]);
/// let set = PatternSet::new(["he", "she"])?;
/// assert_eq!(Searcher::builder().engine("mine").build(&set)?.count("she"), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn add(engines: impl IntoIterator<Item = &'static dyn Engine>) {
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    for engine in engines {
        let name = engine.info().name;
        let known = built_in().into_iter().chain(added.iter().copied());
        if known.into_iter().all(|e| e.info().name != name) {
            added.push(engine);
        }
    }
}

/// The engine with a name.
///
/// # Errors
/// [`Refusal::NoEngine`]: no engine has this name. [`Refusal::NoDevice`]: it is a name of a GPU
/// engine, and this build has none.
///
/// ```
/// assert_eq!(fyke::registry::find("ac-dfa").unwrap().info().name, "ac-dfa");
/// assert!(fyke::registry::find("ac-dfx").is_err_and(|r| r.to_string().contains("ac-dfx")));
/// ```
pub fn find(name: &str) -> Result<&'static dyn Engine, Refusal> {
    engines().into_iter().find(|e| e.info().name == name).ok_or_else(|| missing(name))
}

fn missing(name: &str) -> Refusal {
    if !cfg!(feature = "gpu") && (name == "gpu" || name.starts_with("gpu-")) {
        return Refusal::NoDevice(NO_GPU.to_owned());
    }
    Refusal::NoEngine(name.to_owned())
}

/// Compiles a set with the engine of a specification: a name, and options after a colon, as in
/// `"ac-dfa:form=dense,walks=4"`. The memory limit is in bytes.
///
/// # Errors
/// No engine has the name, or the engine refuses the set or an option.
///
/// ```
/// use fyke::{PatternSet, registry};
/// let set = PatternSet::new(["needle"])?;
/// let matcher = registry::compile("ac-dfa:form=dense", &set, Some(1 << 20))?;
/// assert_eq!(matcher.parts()[0].engine, "ac-dfa");
/// assert!(registry::compile("ac-dfa", &set, Some(1)).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn compile(
    spec: &str,
    set: &PatternSet,
    memory_limit: Option<u64>,
) -> Result<Arc<dyn Matcher>, Refusal> {
    let mut opt = Options::default();
    opt.memory_limit = memory_limit;
    compile_with(spec, set, &opt)
}

/// As [`compile`], with [`Options`]. The engine's own parameters come from the specification.
///
/// # Errors
/// As [`compile`].
pub fn compile_with(
    spec: &str,
    set: &PatternSet,
    opt: &Options,
) -> Result<Arc<dyn Matcher>, Refusal> {
    let (name, params) = parse(spec);
    let engine = find(name)?;
    engine.available()?;
    engine.compile(set, &opt.clone().params(params)?)
}

/// The matcher of a specification from the tables that a database kept, as [`compile_with`] would
/// make it. `None` if it must be compiled.
#[cfg(feature = "database")]
pub(crate) fn load_with(
    spec: &str,
    set: &PatternSet,
    opt: &Options,
    parts: &[LoadedPart],
) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
    let (name, params) = parse(spec);
    let Ok(opt) = opt.clone().params(params) else { return Ok(None) };
    if name == plan::AUTO.info().name {
        return plan::load(set, &opt, parts);
    }
    match (find(name), parts) {
        (Ok(engine), [part]) if part.engine == name && part.indices.is_empty() => {
            engine.load(set, &opt, part)
        }
        _ => Ok(None),
    }
}

/// The name and the options of a specification. The options are `""` if there is no colon.
pub fn parse(spec: &str) -> (&str, &str) {
    spec.split_once(':').unwrap_or((spec, ""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_core::Device;

    #[test]
    fn gpu_engines_come_with_their_feature() {
        let on = |device| built_in().iter().filter(|e| e.info().device == device).count();
        assert_eq!(on(Device::Cpu), 1 + fyke_cpu::ENGINES.len());
        assert_eq!(on(Device::Gpu) > 0, cfg!(feature = "gpu"));
    }

    #[cfg(not(feature = "gpu"))]
    #[test]
    fn what_needs_the_feature_is_refused_with_its_name() {
        let set = PatternSet::new(["a"]).unwrap();
        for spec in ["gpu", "gpu-dfa", "gpu-filter:backend=opencl", "auto:gpu=auto", "auto:gpu=no"]
        {
            let refusal = compile(spec, &set, None).err().unwrap();
            assert!(refusal.to_string().contains("enable the feature `gpu`"), "{spec}: {refusal}");
        }
        let plan = plan::Plan::new(&set, &Options::default()).unwrap();
        assert!(plan.to_string().contains("gpu        not: this build has no GPU engines"));
        assert_eq!(find("gpux").err(), Some(Refusal::NoEngine("gpux".to_owned())));
    }
}
