//! The registry of all engines: those of the CPU and of GPUs, and `auto` and `gpu`, which choose
//! among them.
//!
//! A program can [`add`] engines of its own. Tests, benchmarks and the command line iterate over
//! [`engines`].

use crate::plan;
use fyke_core::{Engine, Matcher, Options, PatternSet, Refusal};
use std::sync::{Arc, PoisonError, RwLock};

/// Engines that the program added.
static ADDED: RwLock<Vec<&'static dyn Engine>> = RwLock::new(Vec::new());

/// The engines of this library; `auto` and `gpu` come first.
pub fn built_in() -> Vec<&'static dyn Engine> {
    let choosers: [&'static dyn Engine; 2] = [&plan::AUTO, &plan::GPU];
    let gpu = fyke_gpu::ENGINES.iter().map(|&e| e as &'static dyn Engine);
    choosers.into_iter().chain(fyke_cpu::ENGINES.iter().copied()).chain(gpu).collect()
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
/// use fyke::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
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
/// [`Refusal::NoEngine`]: no engine has this name.
///
/// ```
/// assert_eq!(fyke::registry::find("ac-dfa").unwrap().info().name, "ac-dfa");
/// assert!(fyke::registry::find("ac-dfx").is_err_and(|r| r.to_string().contains("ac-dfx")));
/// ```
pub fn find(name: &str) -> Result<&'static dyn Engine, Refusal> {
    engines()
        .into_iter()
        .find(|e| e.info().name == name)
        .ok_or_else(|| Refusal::NoEngine(name.to_owned()))
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

/// The name and the options of a specification. The options are `""` if there is no colon.
pub fn parse(spec: &str) -> (&str, &str) {
    spec.split_once(':').unwrap_or((spec, ""))
}
