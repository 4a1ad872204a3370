//! The planner: which engines take a set, and why.
//!
//! Every engine for use says what it expects a set to cost ([`Forecast`]). The planner asks each of them about
//! the whole set, and about the patterns under and over some length apart, and takes what is cheapest in
//! nanoseconds a byte and fits the memory. A filter gets an automaton behind it that takes over where a
//! haystack deceives it. Where so many bytes are expected that a graphics processor pays, that is taken (module `gpu`).

mod forecast;
mod gpu;
mod split;
mod switch;

use fyke_automata::Forecast;
use fyke_core::pattern::MAX_LEN;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use fyke_cpu::engine::ac_dfa::{self, AcDfa};
use gpu::{Load, Verdict};
use split::{Part, Split};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use switch::{Fallback, Switch};

use forecast::{CANDIDATES, Candidate};
pub use gpu::{GPU, Gpu, gpu_considered};

/// The entry of the registry.
pub static AUTO: Auto = Auto;

static INFO: Info = Info {
    name: "auto",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "chooses the engines for the set, the machine and the memory limit; `fyke explain` says why",
    source: "-",
    variants: &["", "isa=avx2", "isa=scalar", "cut=4,piece=64", "engine=qgram-filter,piece=64"],
};

/// Lengths at which a set may be cut in two: engines differ in what they need. The first are for sets with
/// patterns that some engines refuse.
const SHORT_CUTS: [usize; 4] = [2, 3, 4, 5];
const LONG_CUTS: [usize; 2] = [5, 8];

/// What a second engine costs besides its own work, in nanoseconds a byte: every piece is read twice. Not measured apart.
const SECOND_ENGINE: f32 = 0.02;

/// Two engines together are hardly faster than this, in nanoseconds a byte: what one engine does in less is not cut.
/// Planning 1,000 of `words` took 49 ms before this and [`forecast`]'s bound on shuffles, and takes 3 (`words/1000`). Not swept.
const WORTH_CUTTING: f32 = 0.2;

/// Sets of more patterns are cut only where engines for large sets need it: asking about every cut of 100,000 words
/// took longer than compiling them.
const CUT_UP_TO: usize = 5_000;

/// Where a large set is cut: gathers take patterns of so many bytes and more.
const LARGE_CUT: usize = 4;

/// What the automaton behind a filter is taken to cost at least, in nanoseconds a byte: on a hostile haystack it is slower
/// than its forecast, as the `hostile` cells show. Not swept.
const FLOOR_NS: f32 = 1.0;

/// Automata expected to be built in less than this are built with the filter, others when they are needed.
/// Not swept.
const FLOOR_BUILD_MS: f32 = 2.0;

/// Bytes of the table that a filter gets beside it for blocks of a few bytes: what it may take of a cache, and what is
/// built in about a millisecond. Not swept.
const TINY_TABLE: u64 = 2 << 20;

/// How many times that table the memory limit has to leave. Not swept.
const TINY_SHARE: u64 = 8;

/// Values of the option `cut`: every pattern has at least one byte, so a cut at 1 divides no set.
const CUT_RANGE: RangeInclusive<usize> = 2..=MAX_LEN;

/// Values of the option `piece`: up to 1 GiB, far from where sums of piece sizes overflow.
const PIECE_RANGE: RangeInclusive<usize> = 1..=1 << 30;

/// Chooses engines.
#[derive(Debug)]
pub struct Auto;

impl Engine for Auto {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        Plan::new(set, opt)?.compile()
    }
}

/// What the options of `auto` say.
#[derive(Clone, Debug)]
struct AutoOptions {
    /// Passed on to engines that have several forms.
    isa: Option<String>,
    /// This engine wherever it takes the patterns, with whatever is put behind and beside it.
    engine: Option<String>,
    /// Cut here, whatever it costs.
    cut: Option<usize>,
    /// Bytes of the pieces that filter and automaton take turns in.
    piece: Option<usize>,
    /// Whether a graphics processor may be taken.
    gpu: bool,
}

impl AutoOptions {
    fn new(opt: &Options) -> Result<AutoOptions, Refusal> {
        opt.check_params(&["isa", "engine", "cut", "piece", "gpu"])?;
        opt.choice("isa", &["auto", "avx512", "avx2", "scalar"])?;
        let engine = opt.param("engine").map(str::to_owned);
        if let Some(name) = engine.as_ref().filter(|n| CANDIDATES.iter().all(|c| c.name != **n)) {
            return Err(Refusal::NoEngine(name.clone()));
        }
        let isa = opt.param("isa").map(str::to_owned);
        let gpu = opt.choice("gpu", &["auto", "no"])? == "auto";
        let (cut, piece) = (opt.number("cut", CUT_RANGE)?, opt.number("piece", PIECE_RANGE)?);
        Ok(AutoOptions { isa, engine, cut, piece, gpu })
    }

    /// Whether a graphics processor is excluded: by name, or because something is wished of the processor's engines.
    fn exclude_gpu(&self) -> bool {
        let of_cpu = self.isa.is_some() || self.engine.is_some();
        !self.gpu || of_cpu || self.cut.is_some() || self.piece.is_some()
    }

    /// Whether an arrangement has the engine that is wished for.
    fn satisfies(&self, arrangement: &Arrangement) -> bool {
        let Some(name) = &self.engine else { return true };
        arrangement.picks.iter().any(|pick| pick.candidate.name == name)
    }

    /// The options that a candidate gets.
    fn options(&self, candidate: &Candidate, opt: &Options) -> Result<Options, Refusal> {
        let params = match &self.isa {
            Some(isa) if candidate.has_forms => format!("isa={isa}"),
            _ => String::new(),
        };
        opt.clone().params(&params)
    }
}

/// A choice and the reasons for it.
pub struct Plan {
    set: PatternSet,
    opt: Options,
    wishes: AutoOptions,
    /// Best first.
    arrangements: Vec<Arrangement>,
    /// What each engine said about the whole set and its parts.
    considered: Vec<Considered>,
    /// Whether a graphics processor takes the set instead.
    gpu: Verdict,
}

/// What the planner thinks of an engine for some of the patterns.
#[derive(Clone, Debug)]
pub struct Considered {
    /// The engine's name.
    pub engine: &'static str,
    /// Which patterns: `"all"`, `"under 4 bytes"`.
    pub patterns: String,
    /// What it expects, or why it cannot.
    pub forecast: Result<Forecast, Refusal>,
}

/// A way to scan for a set: one engine, or two with a cut between them.
#[derive(Clone)]
struct Arrangement {
    picks: Vec<Pick>,
}

/// An engine for some of the patterns.
#[derive(Clone)]
struct Pick {
    candidate: &'static Candidate,
    patterns: Subset,
    forecast: Forecast,
}

/// Some of the patterns of a set.
#[derive(Clone)]
struct Subset {
    set: PatternSet,
    /// What each pattern is in the whole set; nothing if this is the whole set.
    indices: Option<Arc<Vec<u32>>>,
    name: String,
}

impl Subset {
    fn all(set: &PatternSet) -> Subset {
        Subset { set: set.clone(), indices: None, name: "all".to_owned() }
    }

    fn of(set: &PatternSet, name: String, wanted: impl Fn(usize) -> bool) -> Subset {
        let mut builder = PatternSet::builder();
        let mut indices = Vec::new();
        for p in set.iter().filter(|p| wanted(p.bytes.len())) {
            indices.push(p.index);
            for &id in p.ids {
                builder
                    .push_with(id, p.bytes, p.nocase)
                    .expect("no longer or more than in the set");
            }
        }
        Subset { set: builder.build(), indices: Some(Arc::new(indices)), name }
    }
}

impl Arrangement {
    fn ns(&self) -> f32 {
        let engines: f32 = self.picks.iter().map(|p| p.forecast.ns_per_byte).sum();
        engines + SECOND_ENGINE * (self.picks.len() - 1) as f32
    }

    fn memory(&self) -> u64 {
        self.picks.iter().map(|p| p.forecast.memory).sum()
    }
}

impl Plan {
    /// Makes a plan, without building any tables.
    ///
    /// # Errors
    /// An option that `auto` does not know.
    pub fn new(set: &PatternSet, opt: &Options) -> Result<Plan, Refusal> {
        let wishes = AutoOptions::new(opt)?;
        let (set, opt) = (set.clone(), opt.clone());
        let gpu = Verdict::Not("excluded by an option".to_owned());
        let (arrangements, considered) = (Vec::new(), Vec::new());
        let mut plan = Plan { set, opt, wishes, arrangements, considered, gpu };
        plan.consider_whole()?;
        let best = plan.arrangements.iter().map(Arrangement::ns).fold(f32::INFINITY, f32::min);
        if best > WORTH_CUTTING || plan.wishes.cut.is_some() {
            for cut in plan.cuts() {
                plan.consider_cut(cut)?;
            }
        }
        let limit = plan.opt.memory_limit.unwrap_or(u64::MAX);
        plan.arrangements.retain(|a| a.memory() <= limit);
        let satisfied = |a: &Arrangement| plan.wishes.satisfies(a);
        plan.arrangements
            .sort_by(|a, b| satisfied(b).cmp(&satisfied(a)).then(a.ns().total_cmp(&b.ns())));
        if !plan.wishes.exclude_gpu() {
            plan.gpu = plan.weigh_gpu();
        }
        Ok(plan)
    }

    fn weigh_gpu(&self) -> Verdict {
        let Some(best) = self.arrangements.first() else {
            return Verdict::Not("the processor's engines refuse the set".to_owned());
        };
        let offers = || gpu::offers(&self.set, &self.opt_of_gpu());
        Load::of(&self.opt).decide(best.ns(), offers, gpu::devices)
    }

    /// The options without those of `auto`.
    fn opt_of_gpu(&self) -> Options {
        self.opt.clone().params("").expect("no parameters are in order")
    }

    fn cuts(&self) -> Vec<usize> {
        let (min, max) = (self.set.min_len(), self.set.max_len());
        let wanted = match self.wishes.cut {
            Some(cut) => vec![cut],
            None if self.set.len() > CUT_UP_TO && min >= LARGE_CUT => Vec::new(),
            None if self.set.len() > CUT_UP_TO => vec![LARGE_CUT],
            None if min < LARGE_CUT => SHORT_CUTS.to_vec(),
            None => LONG_CUTS.to_vec(),
        };
        wanted.into_iter().filter(|cut| min < *cut && *cut <= max).collect()
    }

    fn consider_whole(&mut self) -> Result<(), Refusal> {
        let picks = self.ask(&Subset::all(&self.set))?;
        let forced = self.wishes.cut.is_some_and(|_| !self.cuts().is_empty());
        if !forced {
            self.arrangements
                .extend(picks.into_iter().map(|pick| Arrangement { picks: vec![pick] }));
        }
        Ok(())
    }

    /// The best for the patterns under a length together with the best for the others.
    fn consider_cut(&mut self, cut: usize) -> Result<(), Refusal> {
        let short = Subset::of(&self.set, format!("under {cut} bytes"), |len| len < cut);
        let long = Subset::of(&self.set, format!("of {cut} bytes and more"), |len| len >= cut);
        let best = |picks: Vec<Pick>| {
            picks
                .into_iter()
                .min_by(|a, b| a.forecast.ns_per_byte.total_cmp(&b.forecast.ns_per_byte))
        };
        if let (Some(short), Some(long)) = (best(self.ask(&short)?), best(self.ask(&long)?)) {
            self.arrangements.push(Arrangement { picks: vec![short, long] });
        }
        Ok(())
    }

    /// What each engine says about some patterns.
    fn ask(&mut self, patterns: &Subset) -> Result<Vec<Pick>, Refusal> {
        let mut picks = Vec::new();
        for candidate in CANDIDATES {
            let own = self.wishes.options(candidate, &self.opt)?;
            let forecast = candidate.forecast(&patterns.set, &own);
            let (engine, name) = (candidate.name, patterns.name.clone());
            self.considered.push(Considered { engine, patterns: name, forecast: forecast.clone() });
            if let Ok(forecast) = forecast {
                picks.push(Pick { candidate, patterns: patterns.clone(), forecast });
            }
        }
        Ok(picks)
    }

    /// What was considered, in the order in which engines were asked.
    pub fn considered(&self) -> &[Considered] {
        &self.considered
    }

    /// Whether an explanation has it: what was said of all patterns, and of those that the best arrangement
    /// cuts them into.
    fn tells(&self, considered: &Considered) -> bool {
        let best = self.arrangements.first().map_or(&[][..], |a| &a.picks);
        considered.patterns == "all" || best.iter().any(|p| p.patterns.name == considered.patterns)
    }

    /// Compiles the best arrangement that does not refuse the set.
    ///
    /// # Errors
    /// Nothing fits the memory limit, or nothing takes the set: why the last one that was tried refused.
    pub fn compile(&self) -> Result<Arc<dyn Matcher>, Refusal> {
        if let Verdict::Taken { product, device, .. } = self.gpu
            && let Ok(matcher) = gpu::compile(product, device, &self.set, &self.opt)
        {
            return Ok(matcher);
        }
        let mut refusal = self.why_nothing_fits();
        for arrangement in &self.arrangements {
            match self.build(arrangement) {
                Ok(matcher) => return Ok(matcher),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }

    fn why_nothing_fits(&self) -> Refusal {
        let have = self.opt.memory_limit.unwrap_or(u64::MAX);
        let whole = self.considered.iter().filter(|c| c.patterns == "all");
        let least = whole.clone().filter_map(|c| c.forecast.as_ref().ok()).map(|f| f.memory).min();
        match least {
            Some(need) => Refusal::TooBig { what: "bytes of memory", need, have },
            None => {
                let mut refused = whole.filter_map(|c| c.forecast.as_ref().err());
                refused.next().cloned().unwrap_or_else(|| Refusal::NoEngine("auto".into()))
            }
        }
    }

    fn build(&self, arrangement: &Arrangement) -> Result<Arc<dyn Matcher>, Refusal> {
        let mut parts = Vec::new();
        let mut left = self.opt.clone();
        for pick in &arrangement.picks {
            let matcher = self.build_pick(pick, &left)?;
            left.memory_limit =
                left.memory_limit.map(|m| m.saturating_sub(matcher.footprint().host));
            match &pick.patterns.indices {
                None => return Ok(matcher),
                Some(indices) => parts.push(Part { matcher, indices: indices.to_vec() }),
            }
        }
        Ok(Arc::new(Split::new(&INFO, self.set.clone(), parts)))
    }

    fn build_pick(&self, pick: &Pick, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        let set = &pick.patterns.set;
        let own = self.wishes.options(pick.candidate, opt)?;
        let matcher = crate::registry::find(pick.candidate.name)?.compile(set, &own)?;
        if !pick.candidate.is_filter() {
            return Ok(matcher);
        }
        let left = opt.memory_limit.map(|m| m.saturating_sub(matcher.footprint().host));
        let tiny = self.tiny(set, left);
        let taken = tiny.as_ref().map_or(0, |t| t.footprint().host);
        let left = left.map(|m| m.saturating_sub(taken));
        let Some((floor, ns)) = self.floor(pick, left) else { return Ok(matcher) };
        let candidate_limit = (1024.0 * ns / pick.candidate.candidate_ns).max(1.0) as u64;
        let switch = Switch::new(matcher, floor, candidate_limit).with_tiny(tiny);
        Ok(Arc::new(match self.wishes.piece {
            Some(bytes) => switch.in_pieces(bytes),
            None => switch,
        }))
    }

    /// A table for blocks that are too small for a filter, if it is small itself and memory is not short.
    fn tiny(&self, set: &PatternSet, memory: Option<u64>) -> Option<Arc<dyn Matcher>> {
        let short = memory.is_some_and(|left| left < TINY_SHARE * TINY_TABLE);
        if short || AcDfa::memory_for(set) > TINY_TABLE {
            return None;
        }
        ac_dfa::ENGINE.compile(set, &Options::default().limited_to(TINY_TABLE)).ok()
    }

    /// The automaton behind a filter, and what a byte costs with it.
    fn floor(&self, pick: &Pick, memory: Option<u64>) -> Option<(Fallback, f32)> {
        let mut opt = self.opt.clone();
        opt.memory_limit = memory;
        let automata = CANDIDATES.iter().filter(|c| !c.is_filter());
        let asked = automata.filter_map(|c| {
            let forecast = self.said(c, &pick.patterns)?;
            (forecast.memory <= memory.unwrap_or(u64::MAX)).then_some((c, forecast))
        });
        let (candidate, forecast) =
            asked.min_by(|a, b| a.1.ns_per_byte.total_cmp(&b.1.ns_per_byte))?;
        let own = self.wishes.options(candidate, &opt).ok()?;
        let (name, set) = (candidate.name, pick.patterns.set.clone());
        let compile = move || crate::registry::find(name).ok()?.compile(&set, &own).ok();
        let floor = if forecast.build_ms < FLOOR_BUILD_MS {
            Fallback::Ready(compile()?)
        } else {
            let price = 1e6 * forecast.build_ms / pick.candidate.candidate_ns;
            Fallback::late(price as u64, compile)
        };
        Some((floor, forecast.ns_per_byte.max(FLOOR_NS)))
    }

    /// What an engine said about some patterns when it was asked.
    fn said(&self, candidate: &Candidate, patterns: &Subset) -> Option<&Forecast> {
        let about = |c: &&Considered| c.engine == candidate.name && c.patterns == patterns.name;
        self.considered.iter().find(about)?.forecast.as_ref().ok()
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.set;
        writeln!(f, "patterns   {} distinct under {} ids", s.len(), s.id_count())?;
        writeln!(
            f,
            "lengths    {} to {} bytes, {} bytes in all",
            s.min_len(),
            s.max_len(),
            s.total_bytes()
        )?;
        writeln!(f, "nocase     {}", s.nocase_count())?;
        writeln!(f, "overlap    a block or thread reads {} bytes before its own", s.overlap())?;
        for c in self.considered.iter().filter(|c| self.tells(c)) {
            writeln!(f, "{c}")?;
        }
        for c in gpu_considered(&self.set, &self.opt_of_gpu()) {
            writeln!(f, "{c}")?;
        }
        let mut marks = std::iter::once("taken").chain(std::iter::repeat("then"));
        match &self.gpu {
            Verdict::Taken { product, why, .. } => {
                let name = fyke_gpu::forecast::PRODUCTS[*product].engine.info.name;
                let mark = marks.next().unwrap_or_default();
                writeln!(f, "{mark:<10} {name} for all on {why}")?;
            }
            Verdict::Not(why) => writeln!(f, "{:<10} not: {why}", "gpu")?,
        }
        for (a, mark) in self.arrangements.iter().take(3).zip(marks) {
            let picks =
                a.picks.iter().map(|p| format!("{} for {}", p.candidate.name, p.patterns.name));
            let picks = picks.collect::<Vec<_>>().join(", ");
            writeln!(f, "{mark:<10} {:.3} ns/B expected: {picks}", a.ns())?;
        }
        Ok(())
    }
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.forecast {
            Ok(e) => write!(
                f,
                "{:<18} {:<20} {:>7.3} ns/B {:>14} bytes {:>9.1} ms: {}",
                self.engine, self.patterns, e.ns_per_byte, e.memory, e.build_ms, e.why
            ),
            Err(why) => write!(f, "{:<18} {:<20} not: {why}", self.engine, self.patterns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(patterns: &[&str], params: &str) -> Plan {
        let set = PatternSet::new(patterns).unwrap();
        Plan::new(&set, &Options::with_params(params).unwrap()).unwrap()
    }

    #[test]
    fn without_memory_the_failure_links_are_taken_or_nothing() {
        let set = PatternSet::new(["abcdefghij", "klmnopq"]).unwrap();
        let name = |limit| {
            let plan = Plan::new(&set, &Options::default().limited_to(limit)).unwrap();
            plan.compile().map(|m| m.info().name)
        };
        let nfa = fyke_automata::nfa::Nfa::memory_for(&set);
        assert_eq!(name(nfa), Ok("ac-nfa"));
        let refused = Refusal::TooBig { what: "bytes of memory", need: nfa, have: nfa - 1 };
        assert_eq!(name(nfa - 1), Err(refused));
    }

    #[test]
    fn a_table_of_gigabytes_is_not_taken_unasked() {
        let pattern =
            |i: u32| (0..600).map(|k| (i.wrapping_mul(k + 7) >> (k % 23)) as u8).collect();
        let patterns: Vec<Vec<u8>> = (0..2000).map(pattern).collect();
        let plan = Plan::new(&PatternSet::new(&patterns).unwrap(), &Options::default()).unwrap();
        let table = plan.considered().iter().find(|c| c.engine == "ac-dfa").unwrap();
        assert!(matches!(&table.forecast, Err(Refusal::TooBig { have, .. }) if *have == 1 << 30));
    }

    #[test]
    fn a_plan_reads_well() {
        let text = plan(&["abc"], "").to_string();
        assert!(text.contains("taken") && text.contains("3 to 3 bytes"), "{text}");
    }

    #[test]
    fn a_cut_that_is_asked_for_is_made() {
        let set = plan(&["ab", "abcdefgh"], "cut=4").compile().unwrap();
        assert_eq!(set.info().name, "auto");
        assert!(plan(&["abcd"], "cut=4").compile().unwrap().info().name != "auto");
        let wrong = |params| {
            let opt = Options::with_params(params).unwrap();
            Plan::new(&PatternSet::new(["a"]).unwrap(), &opt).is_err()
        };
        assert!(wrong("cut=0") && wrong("engine=none") && wrong("isa=mmx") && wrong("x=1"));
        assert!(wrong("piece=18446744073709551615") && wrong("piece=0") && wrong("cut=65536"));
    }
}
