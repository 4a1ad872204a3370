//! [`Draft`]: an engine's plan for a set, before tables are built. [`Forecast`]: its expected cost.
//!
//! A planner compares the costs of drafts and compiles the cheapest one. What an engine computed
//! for the forecast goes into the matcher, so nothing is planned twice.

use crate::engine::{Matcher, Options};
use crate::error::Refusal;
use std::fmt;
use std::sync::Arc;

/// What an engine expects a set to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Nanoseconds per byte of haystack on one thread, for data like the sample or the built-in
    /// model. Use it to compare engines: the unit costs behind it are of CPUs with 3.6 to 4 GHz.
    pub ns_per_byte: f32,
    /// Nanoseconds per call, in addition to those per byte. They decide if calls are short.
    pub ns_per_call: f32,
    /// Candidates per byte of haystack: about what [`Scratch::spend`](crate::Scratch::spend) will
    /// count. 0 for an automaton.
    pub candidates: f32,
    /// Bytes of the finished tables.
    pub memory: u64,
    /// Milliseconds that compiling takes.
    pub build_ms: f32,
    /// What decides the cost, for people: `"0.34 % of positions pass the filter"`.
    pub why: String,
}

impl Forecast {
    /// Nanoseconds per byte in calls of `call` bytes each; `None` stands for one long haystack.
    pub fn ns_in_calls(&self, call: Option<u64>) -> f32 {
        self.ns_per_byte + call.map_or(0.0, |bytes| self.ns_per_call / bytes.max(1) as f32)
    }
}

/// Checks a number of bytes against a memory limit.
///
/// # Errors
/// `need` exceeds the limit.
pub fn check_memory(limit: Option<u64>, need: u64) -> Result<(), Refusal> {
    match limit {
        Some(have) if need > have => Err(Refusal::TooBig { what: Refusal::MEMORY, need, have }),
        _ => Ok(()),
    }
}

/// Compiles within a memory limit in bytes.
type Compile = dyn Fn(Option<u64>) -> Result<Arc<dyn Matcher>, Refusal> + Send + Sync;

/// An engine's plan for a set.
///
/// ```
/// # use fyke_core::{Draft, Engine, Forecast, Options, PatternSet, Refusal};
/// # fn cheaper<'a>(a: &'a Draft, b: &'a Draft) -> &'a Draft {
/// let ns = |draft: &Draft| draft.cost().map_or(f32::INFINITY, |cost| cost.ns_per_byte);
/// if ns(a) < ns(b) { a } else { b }
/// # }
/// ```
#[derive(Clone)]
pub struct Draft {
    cost: Option<Forecast>,
    memory_limit: Option<u64>,
    compile: Arc<Compile>,
}

impl Draft {
    /// A draft with its cost. `compile` gets the memory limit in bytes and builds what was
    /// planned.
    pub fn new(
        cost: Forecast,
        opt: &Options,
        compile: impl Fn(Option<u64>) -> Result<Arc<dyn Matcher>, Refusal> + Send + Sync + 'static,
    ) -> Draft {
        Draft { cost: Some(cost), ..Draft::unplanned(opt, compile) }
    }

    /// A draft of an engine that does not forecast.
    pub fn unplanned(
        opt: &Options,
        compile: impl Fn(Option<u64>) -> Result<Arc<dyn Matcher>, Refusal> + Send + Sync + 'static,
    ) -> Draft {
        Draft { cost: None, memory_limit: opt.memory_limit, compile: Arc::new(compile) }
    }

    /// What the set is expected to cost; `None` if the engine does not forecast.
    pub fn cost(&self) -> Option<&Forecast> {
        self.cost.as_ref()
    }

    /// Builds what was planned.
    ///
    /// # Errors
    /// The tables turn out to exceed the memory limit or a limit of the engine.
    pub fn compile(&self) -> Result<Arc<dyn Matcher>, Refusal> {
        (self.compile)(self.memory_limit)
    }

    /// Builds what was planned, within another memory limit in bytes.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn compile_within(&self, memory_limit: Option<u64>) -> Result<Arc<dyn Matcher>, Refusal> {
        (self.compile)(memory_limit)
    }
}

impl fmt::Debug for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Draft").field("cost", &self.cost).finish_non_exhaustive()
    }
}
