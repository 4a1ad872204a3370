//! Measures the cells of a table: compile, verify, count, time in turn.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use crate::cost::CostOf;
use crate::gpu::strategy::Strategy;
use anyhow::Result;
use fyke_core::{Block, Matcher, PatternSet};
use fyke_rivals::{Built, Refusal, Tally, Work};

use super::carve;
use super::definition::Definition;
use super::device;
use super::metric::CellFacts;
use super::settings::{Carve, Copies, Settings};
use super::skip::Skip;
use fyke_bench::args::SharedArgs;
use fyke_bench::contender::CompiledEngine;
use fyke_bench::data::{Prepared, Store, sha256};
use fyke_bench::entrant::{self, Limits};
use fyke_bench::machine;
use fyke_bench::timing::clock::time;
use fyke_bench::timing::sampling::{self, Budget, Pass};
use fyke_bench::timing::{Clock, Stats};
use fyke_bench::verify;

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub struct MeasureSettings {
    /// Uses the small haystacks.
    pub quick: bool,
    /// Limits on what an engine may cost.
    pub limits: Limits,
    /// How long samples of one table are taken.
    pub budget: Budget,
    /// The clock for one thread; several threads are always timed by wall time.
    pub clock: Clock,
}

/// Longest scans of a haystack in seconds, full and with `--quick`.
const SCAN: [u64; 2] = [120, 5];
/// Milliseconds for building again, full and with `--quick`.
const REBUILD: [u64; 2] = [1000, 20];
/// Seconds of samples for a table, full and with `--quick`.
const SECONDS: [f64; 2] = [30.0, 2.0];
/// Milliseconds of one sample, full and with `--quick`.
const SAMPLE: [u64; 2] = [20, 2];

impl MeasureSettings {
    /// The settings that the arguments ask for.
    ///
    /// # Errors
    /// `--seconds` is not a time.
    pub fn new(args: &SharedArgs) -> Result<Self> {
        let quick = usize::from(args.quick);
        let scan = Duration::from_secs(SCAN[quick]);
        Ok(Self {
            quick: args.quick,
            limits: args.limits(false, scan, Duration::from_millis(REBUILD[quick])),
            budget: Budget {
                cell: args.time(SECONDS[quick])?,
                sample: Duration::from_millis(SAMPLE[quick]),
                // One scan of the papers' slowest engines takes ten seconds.
                min_rounds: 3,
                max_rounds: 301,
            },
            clock: args.clock,
        })
    }
}

/// The measurement of a cell.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The figure, or why there is none.
    pub figure: Result<f64, Skip>,
    /// The engine with its options.
    pub engine: String,
    /// Threads.
    pub threads: usize,
    /// The measurements that the figure is computed from.
    pub facts: CellFacts,
    /// SHA-256 of the haystack; empty if there is none.
    pub haystack_sha256: String,
    /// Statistics of the times, in nanoseconds.
    pub stats: Stats,
    /// The clock of the times, unless a device was measured.
    pub clock: Clock,
    /// The device that was measured, if one was.
    pub device: String,
    /// Whether that device is OpenCL on the CPU.
    pub on_pocl: bool,
}

/// Readings by row and column; `None` where the cell is computed from others.
pub type Readings = Vec<Vec<Option<Reading>>>;

/// Measures every cell of a table.
///
/// # Errors
/// Data is unsound. What is merely missing becomes a skipped cell.
pub fn measure(
    definition: &Definition,
    store: &mut Store,
    how: &MeasureSettings,
) -> Result<Readings> {
    let mut run = TableRun::default();
    let mut cells = Vec::new();
    for row in 0..definition.rows.len() {
        let mut line = Vec::new();
        for column in 0..definition.columns.len() {
            line.push(match definition.settings(row, column)? {
                Some(settings) => Some((run.enter(&settings, store, how)?, settings)),
                None => None,
            });
        }
        cells.push(line);
    }
    run.build(how);
    run.verify();
    run.count();
    run.time(how);
    run.search_on_devices();
    run.carve(how);
    let read = |cell: &Option<(usize, Settings)>| {
        cell.as_ref().map(|(task, settings)| run.reading(*task, settings))
    };
    Ok(cells.iter().map(|line| line.iter().map(read).collect()).collect())
}

/// A compiled set, once or once for each thread, and the times that compiling it took.
type Compilation = (Vec<Arc<dyn Matcher>>, Stats);

/// The data, compiled sets and tasks of one table, without duplicates.
#[derive(Default)]
struct TableRun {
    data: BTreeMap<String, Result<Arc<Prepared>, Skip>>,
    compiled: BTreeMap<String, Result<Compilation, Skip>>,
    tasks: Vec<Task>,
    found: BTreeMap<String, usize>,
}

/// One engine on one set and haystack, for one cell or several.
struct Task {
    spec: String,
    threads: usize,
    copies: Copies,
    /// Keys of the patterns, and of patterns and haystack, in the maps.
    patterns: String,
    data: String,
    /// Bytes of text for a device, if one searches; then the CPU does not.
    resident: Option<u64>,
    /// The strategy and segments of copies there and back, if the text does not stay.
    way: Option<(Strategy, usize)>,
    device: String,
    on_pocl: bool,
    /// How the haystack is carved, if it is an image on a disk.
    carve: Option<Carve>,
    needs: Needs,
    facts: CellFacts,
    stats: Stats,
    clock: Clock,
    tally: Option<Tally>,
    skip: Option<Skip>,
}

/// What the cells of a task ask for.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    time: bool,
    cost: bool,
    matches: bool,
}

impl TableRun {
    /// The task of a cell, with its data prepared.
    fn enter(
        &mut self,
        settings: &Settings,
        store: &mut Store,
        how: &MeasureSettings,
    ) -> Result<usize> {
        let patterns = format!("{:?}", settings.patterns);
        let data = format!("{patterns} {:?}", settings.haystack);
        let (spec, threads, copies) = (settings.spec(), settings.threads, settings.copies);
        if !self.data.contains_key(&data) {
            let prepared = prepare(settings, store, how)?;
            self.data.insert(data.clone(), prepared);
        }
        let resident = resident(settings, &self.data[&data], how);
        let way = settings.host_to_host.strategy().filter(|_| resident.is_some());
        let carve = settings.carve;
        let name = format!("{spec} {threads} {copies:?} {resident:?} {way:?} {carve:?} {data}");
        let tasks = &mut self.tasks;
        let task = *self.found.entry(name).or_insert_with(|| {
            tasks.push(Task {
                spec,
                threads,
                copies,
                patterns,
                data,
                resident,
                way,
                device: String::new(),
                on_pocl: false,
                carve,
                needs: Needs::default(),
                facts: CellFacts { gigahertz: machine::gigahertz(), ..CellFacts::default() },
                stats: Stats::default(),
                clock: Clock::default(),
                tally: None,
                skip: None,
            });
            tasks.len() - 1
        });
        let needs = &mut self.tasks[task].needs;
        needs.time |= settings.metric.is_timed();
        needs.cost |= settings.metric.is_counted();
        needs.matches |= settings.metric.has_matches();
        Ok(task)
    }

    /// Compiles every set once with every engine that needs it.
    fn build(&mut self, how: &MeasureSettings) {
        for task in &mut self.tasks {
            let built = match &self.data[&task.data] {
                Err(skip) => Err(skip.clone()),
                Ok(_) if task.is_elsewhere() => Ok(()),
                Ok(data) => {
                    let name = task.compilation();
                    let compile = || compile(&task.spec, task.copies(), &data.set, how);
                    let compiled = self.compiled.entry(name).or_insert_with(compile);
                    let admitted = |(copies, build): &Compilation| {
                        task.admit(&copies[0], data, how)?;
                        task.facts.take(&copies[0], data, *build);
                        Ok(())
                    };
                    compiled.as_ref().map_err(Skip::clone).and_then(admitted)
                }
            };
            task.skip = built.err();
        }
    }

    /// Compares count and fingerprint of all tasks on the same data. A task that differs is not
    /// timed.
    fn verify(&mut self) {
        let mut right: BTreeMap<String, (Tally, String)> = BTreeMap::new();
        for i in 0..self.tasks.len() {
            let task = &self.tasks[i];
            if task.skip.is_some()
                || task.is_elsewhere()
                || !(task.needs.time || task.needs.matches)
            {
                continue;
            }
            let scanned = self.scanner(i).scan(Work::Fingerprint);
            let task = &mut self.tasks[i];
            match scanned {
                Err(why) => task.skip = Some(Skip::because(why.to_string())),
                Ok(found) => {
                    let first = || (found, task.spec.clone());
                    let (expected, by) = right.entry(task.data.clone()).or_insert_with(first);
                    if found != *expected {
                        let why = format!("WRONG: {}", verify::explain(found, *expected, by));
                        task.skip = Some(Skip { why, wrong: true });
                    }
                    task.tally = Some(found);
                    task.facts.matches = Some(found.count);
                }
            }
        }
    }

    fn count(&mut self) {
        for i in 0..self.tasks.len() {
            let task = &self.tasks[i];
            if task.skip.is_none() && !task.is_elsewhere() && task.needs.cost {
                let scanner = self.scanner(i);
                let cost = scanner.compiled.matcher().cost(Block::whole(&scanner.data.haystack));
                self.tasks[i].facts.cost = cost;
            }
        }
    }

    /// Takes samples of all timed tasks of the table in turn.
    fn time(&mut self, how: &MeasureSettings) {
        let timed = |i: &usize| {
            let task = &self.tasks[*i];
            task.skip.is_none() && !task.is_elsewhere() && task.needs.time
        };
        let tasks: Vec<usize> = (0..self.tasks.len()).filter(timed).collect();
        let scanners: Vec<Scanning> = tasks.iter().map(|i| self.scanner(*i)).collect();
        let mut passes: Vec<Pass<'_>> = scanners.iter().map(Scanning::pass).collect();
        let samples = sampling::sample(&mut passes, &how.budget);
        drop(passes);
        // CPU time does not show what several threads gain.
        let several = tasks.iter().any(|i| self.tasks[*i].threads > 1);
        let clock = if several { Clock::Wall } else { how.clock };
        for (i, spans) in tasks.into_iter().zip(samples) {
            let stats = Stats::of(&spans.iter().map(|s| s.on(clock)).collect::<Vec<_>>());
            self.tasks[i].facts.nanoseconds = Some(stats.median);
            self.tasks[i].stats = stats;
            self.tasks[i].clock = clock;
        }
    }

    /// Verifies and times the tasks of devices, one after the other.
    fn search_on_devices(&mut self) {
        let mut expected = device::ExpectedMatches::new();
        for task in &mut self.tasks {
            let (Some(bytes), Ok(data)) = (task.resident, &self.data[&task.data]) else { continue };
            match device::search(&task.spec, (&task.data, data), bytes, task.way, &mut expected) {
                Err(skip) => task.skip = Some(skip),
                Ok(found) => {
                    task.stats = found.stats;
                    task.facts.on_device = Some((task.stats.median, bytes));
                    task.facts.matches = Some(found.matches);
                    task.facts.take_data(data);
                    task.on_pocl = found.on_pocl;
                    task.device = found.device;
                }
            }
        }
    }

    /// Verifies and times the tasks of the carver, one after the other.
    fn carve(&mut self, how: &MeasureSettings) {
        let mut expected = BTreeMap::new();
        for task in &mut self.tasks {
            let (Some(carve), Ok(data)) = (&task.carve, &self.data[&task.data]) else { continue };
            let expected = expected.entry((task.data.clone(), carve.read_only)).or_insert(None);
            match carve::run(&task.spec, data, task.threads, carve, how.quick, expected) {
                Err(skip) => task.skip = Some(skip),
                Ok(carved) => {
                    task.facts.nanoseconds = Some(carved.stats.median);
                    task.facts.matches = Some(carved.hits);
                    task.facts.take_data(data);
                    (task.stats, task.clock) = (carved.stats, Clock::Wall);
                }
            }
        }
    }

    /// What scans for a task that was built.
    fn scanner(&self, task: usize) -> Scanning {
        let task = &self.tasks[task];
        let (copies, _) = self.compiled[&task.compilation()].as_ref().expect("it was built");
        let data = Arc::clone(self.data[&task.data].as_ref().expect("it was prepared"));
        Scanning { compiled: CompiledEngine::each(copies.clone()), data, threads: task.threads }
    }

    fn reading(&self, task: usize, settings: &Settings) -> Reading {
        let task = &self.tasks[task];
        let figure = match &task.skip {
            Some(skip) => Err(skip.clone()),
            None => settings.metric.of(&task.facts).map_err(Skip::because),
        };
        let sum = self.data[&task.data].as_ref().map_or(String::new(), |d| d.sha256.clone());
        Reading {
            figure: figure.map(|f| f * settings.scale),
            engine: task.spec.clone(),
            threads: task.threads,
            facts: task.facts.clone(),
            haystack_sha256: sum,
            stats: task.stats,
            clock: task.clock,
            device: task.device.clone(),
            on_pocl: task.on_pocl,
        }
    }
}

impl Task {
    /// Whether its haystack is not searched in memory on the CPU.
    fn is_elsewhere(&self) -> bool {
        self.resident.is_some() || self.carve.is_some()
    }

    /// The number of compiled copies that it scans with.
    fn copies(&self) -> usize {
        if self.copies == Copies::Private { self.threads } else { 1 }
    }

    /// The key of what it scans with, in the map.
    fn compilation(&self) -> String {
        format!("{} x {} {}", self.spec, self.copies(), self.patterns)
    }

    /// Refuses a scan that would take too long.
    fn admit(
        &self,
        matcher: &Arc<dyn Matcher>,
        data: &Prepared,
        how: &MeasureSettings,
    ) -> Result<(), Skip> {
        if !self.needs.time && !self.needs.matches {
            return Ok(());
        }
        let compiled = CompiledEngine::new(Arc::clone(matcher));
        entrant::check_cost(&compiled, data, how.limits.scan).map_err(|e| Skip::because(e.0))
    }
}

impl CellFacts {
    fn take(&mut self, matcher: &Arc<dyn Matcher>, data: &Prepared, build: Stats) {
        let footprint = matcher.footprint();
        self.build_seconds = build.median / 1e9;
        self.stats = matcher.stats();
        self.footprint = footprint.host + footprint.device;
        self.take_data(data);
    }

    fn take_data(&mut self, data: &Prepared) {
        self.haystack_bytes = data.haystack.len();
        self.patterns = data.set.len();
        self.pattern_bytes = data.set.total_bytes() as u64;
    }
}

/// A compiled set over its haystack.
struct Scanning {
    compiled: CompiledEngine,
    data: Arc<Prepared>,
    threads: usize,
}

impl Scanning {
    fn scan(&self, work: Work) -> Result<Tally, Refusal> {
        let haystack = black_box(&self.data.haystack[..]);
        if self.threads > 1 {
            return self.compiled.scan_threads(
                haystack,
                self.data.set.overlap(),
                self.threads,
                work,
            );
        }
        self.compiled.scanner()?.scan(Block::whole(haystack), work)
    }

    fn pass(&self) -> Pass<'_> {
        if self.threads > 1 {
            return Box::new(|| {
                black_box(self.scan(Work::Count)).expect("verified before");
            });
        }
        let mut scanner = self.compiled.scanner().expect("verified before");
        Box::new(move || {
            let block = Block::whole(black_box(&self.data.haystack[..]));
            black_box(scanner.scan(block, Work::Count)).expect("verified before");
        })
    }
}

/// Bytes of text for a device, if the cell is measured on one.
fn resident(
    settings: &Settings,
    data: &Result<Arc<Prepared>, Skip>,
    how: &MeasureSettings,
) -> Option<u64> {
    let all = data.as_ref().map_or(0, |d| d.haystack.len());
    let size = settings.resident.map_or(all, |r| if how.quick { r.quick.0 } else { r.size.0 });
    settings.metric.is_on_device().then_some(size as u64)
}

/// Makes the data of a cell; missing data is a reason to skip it.
fn prepare(
    settings: &Settings,
    store: &mut Store,
    how: &MeasureSettings,
) -> Result<Result<Arc<Prepared>, Skip>> {
    let made = make(settings, store, how);
    match made {
        Ok(prepared) => Ok(Ok(Arc::new(prepared))),
        Err(error) => Ok(Err(Skip::because(error.downcast::<Refusal>()?.0))),
    }
}

fn make(settings: &Settings, store: &mut Store, how: &MeasureSettings) -> Result<Prepared> {
    let set: PatternSet = store.patterns(&settings.patterns)?;
    let haystack = match &settings.haystack {
        Some(wanted) => store.haystack(wanted, &set, settings.patterns.seed, how.quick)?,
        None => Arc::new(Vec::new()),
    };
    let sum = if settings.haystack.is_some() { sha256(&haystack) } else { String::new() };
    let call = haystack.len().max(1);
    Ok(Prepared { set, haystack, sha256: sum, call, batch: false, golden: None })
}

/// The maximum number of times a set is compiled for a median.
const MAX_BUILDS: usize = 5;

/// Compiles the copies of a set, and again while there is time, for a median.
fn compile(
    spec: &str,
    copies: usize,
    set: &PatternSet,
    how: &MeasureSettings,
) -> Result<Compilation, Skip> {
    let (mut built, mut times) = (Vec::new(), Vec::new());
    let budget = how.limits.rebuild.as_nanos() as f64;
    let mut spent = 0.0;
    loop {
        let (matcher, span) = time(|| fyke::registry::compile(spec, set, Some(how.limits.memory)));
        let matcher = matcher.map_err(|e| Skip::because(e.to_string()))?;
        if built.len() < copies {
            built.push(matcher);
        }
        times.push(span.on(how.clock));
        spent += span.wall;
        let enough = times.len() >= MAX_BUILDS || spent + span.wall > budget;
        if built.len() == copies && enough {
            return Ok((built, Stats::of(&times)));
        }
    }
}
