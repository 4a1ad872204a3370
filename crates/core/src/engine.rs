//! [`Engine`] compiles a pattern set; [`Matcher`], the result, scans. [`Options`] is what a caller
//! may ask of an engine.

use crate::block::Block;
use crate::draft::{Draft, check_memory};
use crate::error::Refusal;
use crate::packed::PackedHaystacks;
use crate::part::Part;
use crate::pattern::PatternSet;
use crate::scratch::Scratch;
use crate::sink::Sink;
use crate::source::Source;
use crate::stored::{LoadedPart, StoredPart, UnsoundTables};
use crate::{First, FirstMatch, Match, NextFirst, NextLimits};
use std::any::Any;
use std::io;
use std::ops::{ControlFlow, DerefMut};
use std::sync::Arc;

/// Where an engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// On the CPU.
    Cpu,
    /// On a GPU.
    Gpu,
}

/// Why an engine is in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Defines the correct result. Too slow for anything but tests.
    Oracle,
    /// For use. `auto` chooses among these.
    Product,
    /// The matcher of a paper, to be read and measured.
    Paper,
}

/// How the work per haystack byte grows with the set. Tests and benchmarks limit their time by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// About the same for any number of patterns.
    Flat,
    /// Proportional to the number of patterns.
    PerPattern,
}

/// The description of an engine.
#[derive(Debug)]
pub struct Info {
    /// Its name on the command line, in tests and in benchmark records.
    pub name: &'static str,
    /// Where it runs.
    pub device: Device,
    /// Why it is in the registry.
    pub family: Family,
    /// How its work grows with the set.
    pub growth: Growth,
    /// One line for people: the idea, and when to use it.
    pub about: &'static str,
    /// Paper and section, or another origin of the idea; `"-"` if there is none.
    pub source: &'static str,
    /// Option strings, one per form that tests must cover: `""`, `"form=dense"`.
    pub variants: &'static [&'static str],
}

impl Device {
    /// `"cpu"` or `"gpu"`.
    pub fn name(self) -> &'static str {
        match self {
            Device::Cpu => "cpu",
            Device::Gpu => "gpu",
        }
    }
}

impl Family {
    /// `"oracle"`, `"product"` or `"paper"`.
    pub fn name(self) -> &'static str {
        match self {
            Family::Oracle => "oracle",
            Family::Product => "product",
            Family::Paper => "paper",
        }
    }
}

/// A factory of matchers: one `static` per algorithm. The registry is a slice of these.
pub trait Engine: Any + Sync {
    /// Its description.
    fn info(&self) -> &'static Info;

    /// Whether it can run on this machine.
    ///
    /// # Errors
    /// A device, driver or instruction set is missing; the refusal names it.
    fn available(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Plans for a set. The draft knows the expected cost, and compiles without planning again.
    ///
    /// The default leaves all work to [`compile`](Self::compile) and has no cost. Engines that a
    /// planner may choose override it.
    ///
    /// # Errors
    /// The set does not fit the algorithm, the memory limit or this machine.
    fn draft(&'static self, set: &PatternSet, opt: &Options) -> Result<Draft, Refusal> {
        let (set, options) = (set.clone(), opt.clone());
        Ok(Draft::unplanned(opt, move |memory_limit| {
            self.compile(&set, &options.clone().within(memory_limit))
        }))
    }

    /// Compiles a set.
    ///
    /// # Errors
    /// The set does not fit the algorithm, the memory limit or this machine.
    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal>;

    /// The matcher from tables that [`Matcher::stored`] returned and a database stored. `None` if
    /// the set must be compiled: this build does not know the layout, or the options select another
    /// form.
    ///
    /// # Errors
    /// The tables are not sound: which rule they break.
    fn load(
        &self,
        _set: &PatternSet,
        _opt: &Options,
        _part: &LoadedPart,
    ) -> Result<Option<Arc<dyn Matcher>>, UnsoundTables> {
        Ok(None)
    }
}

/// A compiled pattern set. It is immutable; threads share it.
///
/// Scanning cannot fail. It allocates nothing per call: buffers in the [`Scratch`] grow once.
pub trait Matcher: Any + Send + Sync {
    /// The engine that compiled it.
    fn info(&self) -> &'static Info;

    /// The set it was compiled from.
    fn set(&self) -> &PatternSet;

    /// Gives the sink every match that `block` owns, each exactly once.
    ///
    /// The block's overlap must have at least [`PatternSet::overlap`] bytes, or reach back to the
    /// start of the haystack. With a shorter one, matches that start before it are lost.
    ///
    /// Returns `Break` if the sink did; the scan stops soon after that, not at once.
    fn scan(&self, block: Block<'_>, scratch: &mut Scratch, sink: &mut dyn Sink)
    -> ControlFlow<()>;

    /// As [`scan`](Self::scan), for a block of several haystacks. For each match that lies within
    /// one of them, an engine either gives the match to the sink, or calls
    /// [`PackedHaystacks::take`] once and gives it to the sink if that returns true. It may drop
    /// matches across a boundary. So the sink may get matches across a boundary, and of patterns
    /// that a haystack is not searched for. The default gives the sink all matches.
    fn scan_packed(
        &self,
        block: Block<'_>,
        haystacks: &dyn PackedHaystacks,
        scratch: &mut Scratch,
        sink: &mut dyn Sink,
    ) -> ControlFlow<()> {
        let _ = haystacks;
        self.scan(block, scratch, sink)
    }

    /// A position before which no match of a haystack begins: `haystack.len()` if there is no
    /// match, 0 if the engine cannot tell without a [`Scratch`].
    ///
    /// It makes calls on short haystacks cheap: most of them have no match. It stops at the first
    /// candidate that it does not rule out, so it costs no more than a scan up to there.
    fn first_candidate(&self, _haystack: &[u8]) -> usize {
        0
    }

    /// The first match of a haystack, found without a [`Scratch`]. It makes calls that end with the
    /// first match cheap.
    ///
    /// The engine may give up: where a scan is faster, or if a hostile haystack has too many
    /// candidates.
    fn find_first(&self, _haystack: &[u8], _first: First) -> FirstMatch {
        FirstMatch::Unknown { from: 0 }
    }

    /// Finds the first match from `next.from` on, and moves `next.from` to its end. A search for
    /// one match after another begins with the default `next`, or with that after a test by
    /// [`candidates_in_short`](Self::candidates_in_short). It has the same haystack in each call,
    /// and ends with the first answer that is no match. It takes less time than
    /// [`find_first`](Self::find_first) of the rest if the engine remembers candidates.
    fn find_next(&self, haystack: &[u8], first: First, next: &mut NextFirst) -> FirstMatch {
        next.advance(self.find_first(&haystack[next.from..], first))
    }

    /// Tests all positions of a haystack of at most 64 bytes. Returns a bit for each candidate,
    /// with which [`NextFirst::after_test`] begins a search. `Some(0)`: there is no match. `None`:
    /// the engine has no such test.
    fn candidates_in_short(&self, _haystack: &[u8]) -> Option<u64> {
        None
    }

    /// Where [`find_next`](Self::find_next) takes less time than the other searches. `None` for
    /// nowhere.
    fn find_next_limits(&self) -> Option<NextLimits> {
        None
    }

    /// The part that answers [`find_first`](Self::find_first), [`find_next`](Self::find_next),
    /// [`candidates_in_short`](Self::candidates_in_short) and
    /// [`find_several`](Self::find_several), if it is not the matcher itself. It has the same
    /// patterns and ids. A caller may keep it and ask it directly, which takes less time.
    fn find_first_part(&self) -> Option<&Arc<dyn Matcher>> {
        None
    }

    /// The number of bytes from which on [`find_first`](Self::find_first) takes less time than a
    /// walk from byte to byte by a transition table. `None` if the engine has no `find_first`.
    fn find_first_min_len(&self) -> Option<usize> {
        None
    }

    /// The number of bytes up to which [`find_first`](Self::find_first), match by match, takes less
    /// time than a scan if matches are rare.
    fn find_first_max_len(&self) -> usize {
        usize::MAX
    }

    /// Appends the next non-overlapping matches of a haystack: the match of [`find_first`], then
    /// that of the bytes after it, and so on. It may stop after some matches.
    ///
    /// `Some(true)`: there are no others. `Some(false)`: there may be more after the last one.
    /// `None`: the engine gives up, as in [`find_first`]; the matches that were appended are
    /// correct.
    ///
    /// [`find_first`]: Self::find_first
    fn find_several(
        &self,
        _haystack: &[u8],
        _first: First,
        _found: &mut Vec<Match>,
    ) -> Option<bool> {
        None
    }

    /// Scans all blocks of a source, in order. GPU engines override it, to overlap copies with
    /// searches.
    ///
    /// # Errors
    /// The source failed. The sink got the matches of the blocks before the error.
    fn drive(&self, src: &mut dyn Source, sink: &mut dyn Sink) -> io::Result<ControlFlow<()>> {
        let mut scratch = Scratch::following();
        while let Some(block) = src.next()? {
            if self.scan(block, &mut scratch, sink).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// A buffer of at least `bytes` bytes, in the kind of memory that this matcher reads fastest.
    /// Its content is unspecified.
    fn memory(&self, bytes: usize) -> Memory {
        Box::new(vec![0; bytes])
    }

    /// The memory it holds, without the pattern set.
    fn footprint(&self) -> Footprint;

    /// What was built, as named numbers: states, nodes of each kind, bytes of each table.
    fn stats(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// The options that select the form that was built: `"isa=avx2,stride=2"`. Empty if the engine
    /// has a single form.
    fn options(&self) -> String {
        String::new()
    }

    /// The tables for a database, by part. Empty if loading a database compiles the set again.
    fn stored(&self) -> Vec<StoredPart<'_>> {
        Vec::new()
    }

    /// The engines that scan for the set, one part each.
    fn parts(&self) -> Vec<Part> {
        vec![Part::of(self)]
    }

    /// What was built, in one line for people. Programs use [`parts`](Self::parts) and
    /// [`stats`](Self::stats).
    fn describe(&self) -> String {
        format!("{} bytes", self.footprint().host)
    }
}

/// A buffer that [`Matcher::memory`] allocated.
pub type Memory = Box<dyn DerefMut<Target = [u8]> + Send + Sync>;

/// The memory of a compiled set, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes in host memory.
    pub host: u64,
    /// Bytes in device memory.
    pub device: u64,
}

/// What a caller may ask of an engine when it compiles a set.
///
/// With the feature `serde` it is saved without the sample, and the parameters are one string:
/// `"form=dense,walks=4"`.
///
/// ```
/// use fyke_core::Options;
/// let options = Options::with_params("form=dense,walks=4")?.limited_to(64 << 20);
/// assert_eq!(options.param("walks"), Some("4"));
/// assert!(options.check_memory(100 << 20).is_err());
/// # Ok::<(), fyke_core::Refusal>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Most bytes that the compiled set may take. An engine that needs more refuses before it
    /// allocates.
    pub memory_limit: Option<u64>,
    /// Sample data, used to choose the engine and each pattern's rarest window.
    pub sample: Option<Arc<[u8]>>,
    /// Bytes that will be scanned in total, if known. A GPU takes long to open, so it is chosen
    /// only for many bytes.
    pub expected_bytes: Option<u64>,
    /// Bytes of a typical call, if known. Without it, calls are expected to be long.
    pub expected_call: Option<u64>,
    /// Threads that will scan, if known. The default is one.
    pub threads: Option<usize>,
    pub(crate) params: Vec<(String, String)>,
}

impl Options {
    /// Options with parameters of an engine: `"form=dense,walks=4"`, or `""` for none.
    ///
    /// # Errors
    /// A parameter is not of the form `name=value`.
    pub fn with_params(params: &str) -> Result<Options, Refusal> {
        Options::default().params(params)
    }

    /// The same options with these parameters of an engine in place of others.
    ///
    /// # Errors
    /// A parameter is not of the form `name=value`.
    pub fn params(self, params: &str) -> Result<Options, Refusal> {
        let split = |part: &str| {
            part.split_once('=')
                .map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()))
                .ok_or_else(|| Refusal::BadOption(format!("{part:?}: write it as name=value")))
        };
        let parts = params.split(',').filter(|p| !p.trim().is_empty());
        Ok(Options { params: parts.map(split).collect::<Result<_, _>>()?, ..self })
    }

    /// The same options with a memory limit in bytes.
    pub fn limited_to(mut self, bytes: u64) -> Options {
        self.memory_limit = Some(bytes);
        self
    }

    /// The same options with another memory limit in bytes, or none.
    pub fn within(self, memory_limit: Option<u64>) -> Options {
        Options { memory_limit, ..self }
    }

    /// The same options with sample data.
    pub fn sampled(mut self, sample: impl Into<Arc<[u8]>>) -> Options {
        self.sample = Some(sample.into());
        self
    }

    /// The same options with the number of bytes that will be scanned, if known, and the number of
    /// threads.
    pub fn expecting(self, bytes: Option<u64>, threads: usize) -> Options {
        Options { expected_bytes: bytes, threads: Some(threads), ..self }
    }

    /// The same options with the bytes of a typical call, if known.
    pub fn in_calls(self, bytes: Option<u64>) -> Options {
        Options { expected_call: bytes, ..self }
    }

    /// The value of a parameter. If it was given several times, the last one counts.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    /// The value of a parameter that must be one of `allowed`. The default is the first of these.
    ///
    /// # Errors
    /// The value is none of them.
    pub fn choice<'a>(&self, name: &str, allowed: &[&'a str]) -> Result<&'a str, Refusal> {
        match self.param(name) {
            None => Ok(allowed[0]),
            Some(v) => allowed.iter().find(|a| **a == v).copied().ok_or_else(|| {
                let v = v.escape_debug();
                Refusal::BadOption(format!("{name}={v}: give one of {}", allowed.join(", ")))
            }),
        }
    }

    /// The value of a parameter that must be a number in `range`. `None` if it was not given, or
    /// is `auto`.
    ///
    /// # Errors
    /// The value is neither `auto` nor a number in the range.
    pub fn number(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, Refusal> {
        let Some(text) = self.param(name).filter(|text| *text != "auto") else { return Ok(None) };
        let number = text.parse().ok().filter(|n| range.contains(n));
        number.map(Some).ok_or_else(|| {
            let (min, max, text) = (range.start(), range.end(), text.escape_debug());
            Refusal::BadOption(format!("{name}={text}: give auto or a number from {min} to {max}"))
        })
    }

    /// Checks that an engine knows every parameter that was given.
    ///
    /// # Errors
    /// A parameter is not in `known`.
    pub fn check_params(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.params.iter().find(|(k, _)| !known.contains(&k.as_str())) {
            None => Ok(()),
            Some((k, _)) if known.is_empty() => Err(Refusal::BadOption(format!(
                "{k:?}: this engine takes no options; leave it out"
            ))),
            Some((k, _)) => Err(Refusal::BadOption(format!(
                "{k:?}: this engine takes only {}",
                known.join(", ")
            ))),
        }
    }

    /// Checks a number of bytes against the memory limit. Engines call it before they allocate.
    ///
    /// # Errors
    /// `need` bytes exceed the memory limit.
    pub fn check_memory(&self, need: u64) -> Result<(), Refusal> {
        check_memory(self.memory_limit, need)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_are_split_and_the_last_one_counts() {
        let o = Options::with_params("form=dense, walks=4,form=classes").unwrap();
        assert_eq!(
            (o.param("form"), o.param("walks"), o.param("x")),
            (Some("classes"), Some("4"), None)
        );
        assert_eq!(o.choice("walks", &["1", "4"]), Ok("4"));
        assert_eq!(o.choice("x", &["d", "e"]), Ok("d"));
        assert!(o.choice("walks", &["1"]).is_err());
    }

    #[test]
    fn unknown_params_and_too_much_memory_are_refused() {
        assert!(Options::with_params("form").is_err());
        let mut o = Options::with_params("form=dense").unwrap();
        assert!(o.check_params(&["form"]).is_ok() && o.check_params(&[]).is_err());
        o.memory_limit = Some(10);
        assert_eq!(
            o.check_memory(11),
            Err(Refusal::TooBig { what: "bytes of memory", need: 11, have: 10 })
        );
        assert!(o.check_memory(10).is_ok());
    }
}
