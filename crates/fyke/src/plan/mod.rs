//! The planner: chooses the engines for a set, as the engine `auto`, and explains the choice.
//!
//! Every candidate engine drafts the set; the draft has a [`Forecast`]. The planner asks about the
//! whole set, and about its short and long patterns separately. Among the arrangements that fit the
//! memory limit, it takes the one with the fewest nanoseconds per byte in calls of the expected
//! size. A filter gets an automaton as its fallback, for hostile haystacks. A GPU is taken if
//! enough bytes are expected (module `gpu`).
//!
//! An engine is not asked if another one is known to be faster than its best case. A draft
//! compiles what it planned, so nothing is planned twice.

mod build;
mod candidates;
mod costs;
mod explain;
mod fallback;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
#[cfg(feature = "database")]
mod load;
mod merge;
mod options;
mod runs;
mod split;
mod stored;
mod subset;
mod switch;

use candidates::{CANDIDATES, Candidate, Priced};
use costs::{SECOND_ENGINE, SECOND_ENGINE_CALL, SECOND_ENGINE_MATCH};
use fyke_automata::model::PairModel;
use fyke_core::{
    Device, Draft, Engine, Family, Forecast, Growth, Info, Matcher, Options, PatternSet, Refusal,
};
use fyke_cpu::simd::Isa;
use gpu::Verdict;
use options::AutoOptions;
use std::cmp::Reverse;
use std::sync::Arc;
use subset::{Lengths, Subset};

#[cfg(feature = "gpu")]
pub use gpu::{GPU, Gpu, gpu_considered};
#[cfg(feature = "database")]
pub(crate) use load::load;
pub use subset::Patterns;

/// The entry of the registry.
pub static AUTO: Auto = Auto;

static INFO: Info = Info {
    name: "auto",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "chooses the engines for the set, the machine and the memory limit; `fyke explain` says why",
    source: "-",
    variants: &[
        "",
        "isa=avx2",
        "isa=neon",
        "isa=simd128",
        "isa=scalar",
        "cut=4,piece=64",
        "engine=qgram-filter,piece=256",
        "engine=teddy,piece=400",
    ],
};

/// Pattern lengths at which a set may be cut in two. `SHORT_CUTS` are for sets with patterns so
/// short that some engines refuse them.
const SHORT_CUTS: [usize; 5] = [2, 3, 4, 5, 8];
const LONG_CUTS: [usize; 2] = [5, 8];

/// A set with short patterns is cut at the last of `SHORT_CUTS` only if it has at most this many
/// patterns: small rule sets gain from it, larger ones lose with AVX-512 (`replay`).
const LAST_CUT_UP_TO: usize = 500;

/// A set is not cut if one engine takes at most this many nanoseconds per byte: two engines are
/// hardly faster, and planning the cuts would take most of the compile time (`words/1000`).
const WORTH_CUTTING: f32 = 0.2;

/// Sets of more patterns are cut only at [`LARGE_CUT`]: asking about every cut of 100,000 words
/// takes longer than compiling them (`words/99175`).
const CUT_UP_TO: usize = 5_000;

/// Where a large set is cut: `qgram-filter` takes patterns of at least this many bytes.
const LARGE_CUT: usize = 4;

/// The maximum number of patterns of a part that Teddy is asked about: for more, its plan alone
/// takes over a millisecond (`words/100`). A guess: where it would still pay was not measured.
const CUT_TEDDY_UP_TO: usize = 64;

/// A GPU is not considered for calls of fewer bytes, because starting a kernel takes too long. A
/// guess: no benchmark calls a GPU with less.
const GPU_CALL: u64 = 1 << 20;

/// The engine `auto`: chooses among the others.
#[derive(Debug)]
pub struct Auto;

impl Engine for Auto {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let plan = Plan::new(set, opt)?;
        let Some(cost) = plan.cost() else { return Err(plan.why_nothing_fits()) };
        Ok(Draft::new(cost, opt, move |limit| plan.compile_within(limit)))
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Plan::new(set, opt)?.compile()
    }
}

/// The choice of engines for a set, with the reasons for it. Its `Display` is what `fyke explain`
/// prints.
///
/// ```
/// use fyke::plan::Plan;
/// use fyke::{Options, PatternSet};
///
/// let set = PatternSet::new(["needle", "haystack"])?;
/// let plan = Plan::new(&set, &Options::default())?;
/// println!("{plan}");
/// let matcher = plan.compile()?;
/// println!("{}", fyke::Part::specs(&matcher.parts()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan {
    set: PatternSet,
    opt: Options,
    auto: AutoOptions,
    /// The instruction set for engines that have several implementations.
    isa: Isa,
    /// Best first.
    arrangements: Vec<Arrangement>,
    /// The automata that take the whole set. Several engines together get one as their fallback.
    automata: Arc<Vec<Priced>>,
    /// What each engine answered about the whole set and its subsets.
    considered: Vec<Considered>,
    /// Whether a GPU takes the set instead.
    gpu: Verdict,
}

/// What an engine answered about some of the patterns.
#[derive(Clone, Debug)]
pub struct Considered {
    /// The engine's name.
    pub engine: &'static str,
    /// Which patterns.
    pub patterns: Patterns,
    /// Its answer.
    pub answer: Answer,
}

/// The answer of an engine, or why it was not asked.
#[derive(Clone, Debug)]
pub enum Answer {
    /// What the patterns are expected to cost.
    Forecast(Forecast),
    /// It does not take them.
    Refused(Refusal),
    /// It was not asked, because its best case is no faster than another engine, or than the budget
    /// of a cut. The value is its best case in nanoseconds per byte.
    TooSlow(f32),
}

/// A way to scan for a set: one engine, or two with a cut between them.
#[derive(Clone)]
struct Arrangement {
    picks: Vec<Pick>,
    /// What the cut costs besides the work of the engines, in nanoseconds per byte.
    cut_ns: f32,
}

/// An engine for some of the patterns.
#[derive(Clone)]
struct Pick {
    candidate: &'static Candidate,
    subset: Arc<Subset>,
    priced: Priced,
    /// The automata that take the same patterns. A filter gets one as its fallback, unless it is
    /// the last of several engines (module `build`).
    automata: Arc<Vec<Priced>>,
}

/// Spreads a cost per call over the bytes of a call. 0 if their number is unknown.
fn per_byte(per_call: f32, call: Option<u64>) -> f32 {
    call.map_or(0.0, |bytes| per_call / bytes.max(1) as f32)
}

impl Arrangement {
    /// Nanoseconds per byte in calls of the expected size.
    fn ns(&self) -> f32 {
        let engines: f32 = self.picks.iter().map(|p| p.priced.ns).sum();
        let cuts = (self.picks.len() - 1) as f32;
        engines + self.cut_ns + cuts * per_byte(SECOND_ENGINE_CALL, self.picks[0].priced.call)
    }

    /// The same without the costs per call.
    fn ns_per_byte(&self) -> f32 {
        let engines: f32 = self.picks.iter().map(|p| p.priced.cost.ns_per_byte).sum();
        engines + self.cut_ns
    }

    fn memory(&self) -> u64 {
        self.picks.iter().map(|p| p.priced.cost.memory).sum()
    }

    /// The expected candidates of all filters, per byte.
    fn candidates(&self) -> f32 {
        self.picks.iter().map(|p| p.priced.cost.candidates).sum()
    }

    /// How many patterns go to the engine that the options name.
    fn patterns_of_named(&self, auto: &AutoOptions) -> usize {
        let named = self.picks.iter().filter(|p| auto.names(p.candidate));
        named.map(|p| p.subset.set.len()).sum()
    }
}

impl Plan {
    /// Makes a plan, without building any tables.
    ///
    /// # Errors
    /// An option that `auto` does not know, or a value out of its range.
    pub fn new(set: &PatternSet, opt: &Options) -> Result<Plan, Refusal> {
        let auto = AutoOptions::new(opt)?;
        let (set, opt) = (set.clone(), opt.clone());
        let gpu = Verdict::Not("excluded by an option".to_owned());
        let (arrangements, automata, considered) = (Vec::new(), Arc::default(), Vec::new());
        let isa = Isa::choose(&opt, &Isa::ALL).unwrap_or(Isa::Scalar);
        let mut plan = Plan { set, opt, auto, isa, arrangements, automata, considered, gpu };
        plan.consider_whole()?;
        if plan.best_ns() > WORTH_CUTTING || plan.auto.cut.is_some() || plan.auto.engine.is_some() {
            plan.consider_cuts()?;
        }
        plan.sort();
        if !plan.auto.excludes_gpu() {
            plan.gpu = plan.weigh_gpu();
        }
        Ok(plan)
    }

    /// Sorts the arrangements, best first, and drops those that exceed the memory limit or lack the
    /// engine that the options name. Those that give this engine more patterns come first.
    fn sort(&mut self) {
        let limit = self.opt.memory_limit.unwrap_or(u64::MAX);
        self.arrangements.retain(|a| a.memory() <= limit);
        let auto = &self.auto;
        if auto.engine.is_some() && !self.set.is_empty() {
            self.arrangements.retain(|a| a.patterns_of_named(auto) > 0);
        }
        let named = |a: &Arrangement| Reverse(a.patterns_of_named(auto));
        let order = |a: &Arrangement, b: &Arrangement| a.ns().total_cmp(&b.ns());
        self.arrangements.sort_by(|a, b| named(a).cmp(&named(b)).then(order(a, b)));
    }

    /// Nanoseconds per byte of the best arrangement so far that fits the memory limit.
    fn best_ns(&self) -> f32 {
        let limit = self.opt.memory_limit.unwrap_or(u64::MAX);
        let fits = self.arrangements.iter().filter(|a| a.memory() <= limit);
        fits.map(Arrangement::ns).fold(f32::INFINITY, f32::min)
    }

    /// The expected cost of the best arrangement.
    fn cost(&self) -> Option<Forecast> {
        let best = self.arrangements.first()?;
        let mut costs = best.picks.iter().map(|p| p.priced.cost.clone());
        let mut sum = costs.next()?;
        for cost in costs {
            sum.build_ms += cost.build_ms;
            sum.ns_per_call += cost.ns_per_call + SECOND_ENGINE_CALL;
            sum.why += &format!("; {}", cost.why);
        }
        Some(Forecast {
            ns_per_byte: best.ns_per_byte(),
            candidates: best.candidates(),
            memory: best.memory(),
            ..sum
        })
    }

    fn weigh_gpu(&self) -> Verdict {
        let Some(best) = self.arrangements.first() else {
            return Verdict::Not("no CPU engine takes the set".to_owned());
        };
        if let Some(bytes) = self.opt.expected_call.filter(|bytes| *bytes < GPU_CALL) {
            return Verdict::Not(format!("calls of {bytes} bytes are short"));
        }
        Verdict::weigh(best.ns(), &self.set, &self.opt_of_gpu())
    }

    /// The options without the parameters of `auto`.
    fn opt_of_gpu(&self) -> Options {
        self.opt.clone().params("").expect("no parameters are valid parameters")
    }

    fn cuts(&self) -> Vec<usize> {
        let (min, max) = (self.set.min_len(), self.set.max_len());
        let wanted = match self.auto.cut {
            Some(cut) => vec![cut],
            None if self.set.len() > CUT_UP_TO && min >= LARGE_CUT => Vec::new(),
            None if self.set.len() > CUT_UP_TO => vec![LARGE_CUT],
            None if min >= LARGE_CUT => LONG_CUTS.to_vec(),
            None if self.set.len() > LAST_CUT_UP_TO => SHORT_CUTS[..SHORT_CUTS.len() - 1].to_vec(),
            None => SHORT_CUTS.to_vec(),
        };
        wanted.into_iter().filter(|cut| min < *cut && *cut <= max).collect()
    }

    fn consider_whole(&mut self) -> Result<(), Refusal> {
        let picks = self.ask(Patterns::All, f32::INFINITY)?;
        self.automata = picks.first().map_or_else(Arc::default, |pick| Arc::clone(&pick.automata));
        let forced = self.auto.cut.is_some() && !self.cuts().is_empty();
        if !forced {
            let one = |pick| Arrangement { picks: vec![pick], cut_ns: 0.0 };
            self.arrangements.extend(picks.into_iter().map(one));
        }
        Ok(())
    }

    fn consider_cuts(&mut self) -> Result<(), Refusal> {
        let cuts = self.cuts();
        if !cuts.is_empty() {
            let matches = PairModel::for_set(&self.set, &self.opt).matches(&self.set);
            let cut_ns = SECOND_ENGINE + SECOND_ENGINE_MATCH * matches;
            cuts.into_iter().try_for_each(|cut| self.consider_cut(cut, cut_ns))?;
        }
        Ok(())
    }

    /// Adds the best engine for the patterns under a length, with the best one for the others.
    fn consider_cut(&mut self, cut: usize, cut_ns: f32) -> Result<(), Refusal> {
        let [short, long] = [Patterns::Under(cut), Patterns::AtLeast(cut)];
        let forced = self.auto.cut.is_some() || self.auto.engine.is_some();
        let budget = if forced {
            f32::INFINITY
        } else {
            self.best_ns() - cut_ns - per_byte(SECOND_ENGINE_CALL, self.opt.expected_call)
        };
        let short = self.ask(short, budget - self.at_best(long))?;
        let short = self.best(short);
        let Some(short) = short else { return Ok(()) };
        let long = self.ask(long, budget - short.priced.ns)?;
        if let Some(long) = self.best(long) {
            self.arrangements.push(Arrangement { picks: vec![short, long], cut_ns });
        }
        Ok(())
    }

    /// The best case of any filter for some patterns, in nanoseconds per byte.
    fn at_best(&self, which: Patterns) -> f32 {
        let lengths = Lengths::of(&self.set, which);
        let filters = CANDIDATES.iter().filter(|c| c.is_filter());
        filters.map(|c| c.at_best(&lengths, self.isa)).fold(f32::INFINITY, f32::min)
    }

    /// Asks the candidates about some patterns. A filter is not asked if its best case is no faster
    /// than `budget` nanoseconds per byte or than another engine, unless the options name it.
    fn ask(&mut self, which: Patterns, budget: f32) -> Result<Vec<Pick>, Refusal> {
        let lengths = Lengths::of(&self.set, which);
        let subset = Arc::new(Subset::of(&self.set, which));
        let limit = self.opt.memory_limit.unwrap_or(u64::MAX);
        let (mut asked, mut best) = (Vec::new(), budget);
        for candidate in CANDIDATES {
            if let Some(answer) = self.answer_unasked(candidate, which, &lengths, best) {
                self.consider(candidate, which, answer);
                continue;
            }
            let opt = self.auto.for_candidate(candidate, &self.opt)?;
            let draft = if self.auto.names(candidate) {
                candidate.unlimited().draft(&subset.set, &opt)
            } else {
                candidate.draft(&subset.set, &opt)
            };
            match draft {
                Ok(priced) => {
                    if priced.cost.memory <= limit {
                        best = best.min(priced.ns);
                    }
                    let forecast = Answer::Forecast(priced.cost.clone());
                    self.consider(candidate, which, forecast);
                    asked.push((candidate, priced));
                }
                Err(refusal) => self.consider(candidate, which, Answer::Refused(refusal)),
            }
        }
        let automata = asked.iter().filter(|(c, _)| !c.is_filter());
        let automata = Arc::new(automata.map(|(_, priced)| priced.clone()).collect());
        let pick = |(candidate, priced)| Pick {
            candidate,
            subset: Arc::clone(&subset),
            priced,
            automata: Arc::clone(&automata),
        };
        Ok(asked.into_iter().map(pick).collect())
    }

    /// Why a filter is not asked about some patterns, if the options do not name it.
    fn answer_unasked(
        &self,
        candidate: &Candidate,
        which: Patterns,
        lengths: &Lengths,
        best: f32,
    ) -> Option<Answer> {
        let at_best = candidate.at_best(lengths, self.isa);
        if !candidate.is_filter() || at_best.is_infinite() || self.auto.names(candidate) {
            return None;
        }
        let (need, have) = (lengths.patterns, CUT_TEDDY_UP_TO);
        if which != Patterns::All && candidate.is_for_few() && need > have {
            let (need, have) = (need as u64, have as u64);
            let what = "patterns of a part";
            return Some(Answer::Refused(Refusal::TooBig { what, need, have }));
        }
        (at_best >= best).then_some(Answer::TooSlow(at_best))
    }

    /// The engine that the options name if it takes these patterns, else the fastest.
    fn best(&self, picks: Vec<Pick>) -> Option<Pick> {
        let rank = |pick: &Pick| (!self.auto.names(pick.candidate), pick.priced.ns);
        picks.into_iter().min_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    fn consider(&mut self, candidate: &Candidate, patterns: Patterns, answer: Answer) {
        self.considered.push(Considered { engine: candidate.name(), patterns, answer });
    }

    /// The answers of the engines, in the order in which they were asked.
    pub fn considered(&self) -> &[Considered] {
        &self.considered
    }
}

#[cfg(test)]
mod tests;
