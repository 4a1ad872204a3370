//! Engines compile, matchers scan: the separation of compile time and run time.

use crate::block::Block;
use crate::draft::{Draft, check_memory};
use crate::error::Refusal;
use crate::part::Part;
use crate::pattern::PatternSet;
use crate::scratch::Scratch;
use crate::sink::Sink;
use crate::source::Source;
use std::any::Any;
use std::io;
use std::ops::{ControlFlow, DerefMut};
use std::sync::Arc;

/// Where an engine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    Cpu,
    /// A graphics processor.
    Gpu,
}

/// Why an engine is in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// The definition of right, far too slow for anything else.
    Oracle,
    /// Engines for use, which `auto` chooses from.
    Product,
    /// Systems of a paper, there to be measured and read.
    Paper,
}

/// How the work per haystack byte grows with the set. Tests and benchmarks bound their cost by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// About the same for any number of patterns.
    Flat,
    /// In proportion to the number of patterns.
    PerPattern,
}

/// What there is to say about an engine.
#[derive(Debug)]
pub struct Info {
    /// Its name on the command line, in tests and in benchmark records.
    pub name: &'static str,
    /// Where it runs.
    pub device: Device,
    /// Why it is here.
    pub family: Family,
    /// How its work grows with the set.
    pub growth: Growth,
    /// One line: the idea, and when to take it.
    pub about: &'static str,
    /// Paper and section, or where else the idea comes from.
    pub source: &'static str,
    /// Option strings, each a form of the engine that tests have to cover: `""`, `"form=dense"`.
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

/// An algorithm: a factory of matchers, one `static` each. The registry is a slice of these.
pub trait Engine: Any + Sync {
    /// What there is to say about it.
    fn info(&self) -> &'static Info;

    /// Whether it can run on this machine at all.
    ///
    /// # Errors
    /// The device, driver or instruction set that is missing.
    fn available(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// Plans how to take a set: the draft knows its cost and compiles without planning again.
    ///
    /// The default defers all work to [`compile`](Self::compile) and has no cost; engines that a
    /// planner chooses from override it.
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
}

/// A compiled pattern set: immutable, shared by threads. Scanning cannot fail and does not allocate
/// per call, but for buffers in the [`Scratch`] that grow once.
pub trait Matcher: Any + Send + Sync {
    /// The engine that compiled it.
    fn info(&self) -> &'static Info;

    /// The set it was compiled from.
    fn set(&self) -> &PatternSet;

    /// Gives the sink every match that `block` owns, each exactly once.
    ///
    /// The block's overlap has to be at least [`PatternSet::overlap`] bytes, or reach back to the start of
    /// the haystack; with less, matches that start before it are not seen.
    ///
    /// Stops soon after the sink breaks, and says so.
    fn scan(&self, block: Block<'_>, scratch: &mut Scratch, sink: &mut dyn Sink)
    -> ControlFlow<()>;

    /// Scans all blocks of a source, in order. Engines that overlap copying and matching override it.
    ///
    /// # Errors
    /// What the source reports. Matches of the blocks before the error were delivered.
    fn drive(&self, src: &mut dyn Source, sink: &mut dyn Sink) -> io::Result<ControlFlow<()>> {
        let mut scratch = Scratch::following();
        while let Some(block) = src.next()? {
            if self.scan(block, &mut scratch, sink).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Memory for bytes that this matcher will scan: such as it reads fastest. At least so many bytes, of any content.
    fn memory(&self, bytes: usize) -> Memory {
        Box::new(vec![0; bytes])
    }

    /// What it holds in memory, the pattern set left out.
    fn footprint(&self) -> Footprint;

    /// What was built, in numbers with names: states, nodes of each kind, bytes of each part.
    fn stats(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// The options that select the form that was built: `"isa=avx2,stride=2"`. Empty if the engine
    /// has one form.
    fn options(&self) -> String {
        String::new()
    }

    /// What was built, as values: the engines that take the set, one part each.
    fn parts(&self) -> Vec<Part> {
        vec![Part::of(self)]
    }

    /// For people: what was built. States, tables, and what was chosen.
    fn describe(&self) -> String {
        format!("{} bytes", self.footprint().host)
    }
}

/// Memory that a [`Matcher`] reads fastest.
pub type Memory = Box<dyn DerefMut<Target = [u8]> + Send + Sync>;

/// Memory of a compiled set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes in the memory of the host.
    pub host: u64,
    /// Bytes in the memory of a device.
    pub device: u64,
}

/// What a caller may ask of an engine when it compiles.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Most bytes that a compiled set may take. An engine refuses before it allocates more.
    pub memory_limit: Option<u64>,
    /// Some of the data that will be scanned, for engines that choose by statistics of it.
    pub sample: Option<Arc<[u8]>>,
    /// Bytes that will be scanned in all, if that is known. What is dear to begin with, such as a graphics processor, is
    /// chosen only if they are many.
    pub expected_bytes: Option<u64>,
    /// Threads that will scan, if that is known: one is assumed.
    pub threads: Option<usize>,
    params: Vec<(String, String)>,
}

impl Options {
    /// Options with an engine's own parameters: `"form=dense,walks=4"`, or `""`.
    ///
    /// # Errors
    /// A part is not of the form `name=value`.
    pub fn with_params(params: &str) -> Result<Options, Refusal> {
        Options::default().params(params)
    }

    /// The same options with other parameters of the engine.
    ///
    /// # Errors
    /// A part is not of the form `name=value`.
    pub fn params(self, params: &str) -> Result<Options, Refusal> {
        let split = |part: &str| {
            part.split_once('=')
                .map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned()))
                .ok_or_else(|| {
                    Refusal::BadOption(format!("{part:?} is not of the form name=value"))
                })
        };
        let parts = params.split(',').filter(|p| !p.trim().is_empty());
        Ok(Options { params: parts.map(split).collect::<Result<_, _>>()?, ..self })
    }

    /// The same options with a limit on memory, in bytes.
    pub fn limited_to(mut self, bytes: u64) -> Options {
        self.memory_limit = Some(bytes);
        self
    }

    /// The same options with another limit on memory in bytes, or none.
    pub fn within(self, memory_limit: Option<u64>) -> Options {
        Options { memory_limit, ..self }
    }

    /// The same options with a sample of the data.
    pub fn sampled(mut self, sample: impl Into<Arc<[u8]>>) -> Options {
        self.sample = Some(sample.into());
        self
    }

    /// The same options for so many bytes, scanned by so many threads.
    pub fn expecting(self, bytes: Option<u64>, threads: usize) -> Options {
        Options { expected_bytes: bytes, threads: Some(threads), ..self }
    }

    /// The value of a parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.iter().rev().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    /// A parameter that has to be one of `allowed`; the first of these if it was not given.
    ///
    /// # Errors
    /// It was given and is none of them.
    pub fn choice<'a>(&self, name: &str, allowed: &[&'a str]) -> Result<&'a str, Refusal> {
        match self.param(name) {
            None => Ok(allowed[0]),
            Some(v) => allowed.iter().find(|a| **a == v).copied().ok_or_else(|| {
                Refusal::BadOption(format!("{name}={v}: take one of {}", allowed.join(", ")))
            }),
        }
    }

    /// A parameter that is a number of a range; nothing if it was not given, or is `auto`.
    ///
    /// # Errors
    /// It was given and is something else.
    pub fn number(
        &self,
        name: &str,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, Refusal> {
        let Some(text) = self.param(name).filter(|text| *text != "auto") else { return Ok(None) };
        let number = text.parse().ok().filter(|n| range.contains(n));
        number.map(Some).ok_or_else(|| {
            let (min, max) = (range.start(), range.end());
            Refusal::BadOption(format!("{name}={text}: take auto or a number from {min} to {max}"))
        })
    }

    /// Refuses parameters that an engine does not know.
    ///
    /// # Errors
    /// One of them is not in `known`.
    pub fn check_params(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.params.iter().find(|(k, _)| !known.contains(&k.as_str())) {
            None => Ok(()),
            Some((k, _)) if known.is_empty() => {
                Err(Refusal::BadOption(format!("{k:?}: this engine takes no options")))
            }
            Some((k, _)) => {
                Err(Refusal::BadOption(format!("{k:?}: this engine takes {}", known.join(", "))))
            }
        }
    }

    /// Refuses what would take more memory than the limit.
    ///
    /// # Errors
    /// `need` bytes are more than the memory limit.
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
