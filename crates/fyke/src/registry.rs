//! All engines: those of the CPU, those of GPUs, and `auto` and `gpu`, which choose.
//!
//! A program can [`add`] engines of its own.

use crate::plan;
use fyke_core::{Engine, Matcher, Options, PatternSet, Refusal};
use std::sync::{Arc, PoisonError, RwLock};

/// Engines that the program added.
static ADDED: RwLock<Vec<&'static dyn Engine>> = RwLock::new(Vec::new());

/// The library's engines, those that choose first.
pub fn built_in() -> Vec<&'static dyn Engine> {
    let choosers: [&'static dyn Engine; 2] = [&plan::AUTO, &plan::GPU];
    let gpu = fyke_gpu::ENGINES.iter().map(|&e| e as &'static dyn Engine);
    choosers.into_iter().chain(fyke_cpu::ENGINES.iter().copied()).chain(gpu).collect()
}

/// Every engine: [`built_in`] ones, then those that were added.
pub fn engines() -> Vec<&'static dyn Engine> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    built_in().into_iter().chain(added.iter().copied()).collect()
}

/// Adds engines to the registry of this process, by name. `auto` does not choose them. An engine
/// whose name is taken is left out.
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

/// The engine of a name.
///
/// # Errors
/// [`Refusal::NoEngine`].
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

/// Compiles a set with the engine of a specification: its name, and after a colon its own options, as in
/// `"ac-dfa:form=dense,walks=4"`.
///
/// # Errors
/// There is no such engine, or it refuses the set or an option.
pub fn compile(
    spec: &str,
    set: &PatternSet,
    memory_limit: Option<u64>,
) -> Result<Arc<dyn Matcher>, Refusal> {
    let mut opt = Options::default();
    opt.memory_limit = memory_limit;
    compile_with(spec, set, &opt)
}

/// The same with everything that [`Options`] can say but an engine's own options, which are those of the
/// specification.
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

/// The name and the options of a specification.
pub fn parse(spec: &str) -> (&str, &str) {
    spec.split_once(':').unwrap_or((spec, ""))
}
