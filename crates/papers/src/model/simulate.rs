//! Simulates the strategies event by event, independently of the theorems.
//!
//! The host runs a program: it queues tasks, each with the tasks that it depends on, and at a
//! `Wait` it waits until all queued tasks are done. Each worker (the kernels, a channel) takes the
//! tasks of its own queue in order, one at a time, and starts the first as soon as its
//! dependencies are done, as CUDA's streams and events do. The simulation keeps three tasks per
//! segment in memory: it is for thousands of segments, not for billions.

use super::{Channels, Load};
use std::collections::VecDeque;

/// A stage of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Host to device.
    Write,
    /// On the device.
    Process,
    /// Device to host.
    Read,
}

/// A task that was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The stage.
    pub kind: Kind,
    /// The segment, from 0.
    pub segment: usize,
    /// When it began, in seconds.
    pub start: f64,
    /// When it was done, in seconds.
    pub end: f64,
}

/// A stage of a segment, by index.
type Task = (Kind, usize);

enum Step {
    Queue { task: Task, after: Vec<Task> },
    Wait,
}

/// Strategy A: dissertation, figure 6-6; Zha and Sahni, figure 6. Returns the events in order of
/// their ends.
pub fn strategy_a(load: &Load, channels: Channels) -> Vec<Event> {
    use Kind::{Process, Read, Write};
    let s = load.segments as usize;
    let writes = (0..s).map(|i| queue((Write, i), []));
    let processing = (0..s).map(|i| queue((Process, i), [(Write, i)]));
    let reads = (0..s).map(|i| queue((Read, i), [(Process, i)]));
    run(load, channels, writes.chain(processing).chain(reads).collect())
}

/// Strategy B: dissertation, figure 6-7; Zha and Sahni, figure 7. Returns the events in order of
/// their ends.
pub fn strategy_b(load: &Load, channels: Channels) -> Vec<Event> {
    use Kind::{Process, Read, Write};
    let last = load.segments as usize - 1;
    let mut program = vec![queue((Write, 0), []), Step::Wait];
    for i in 1..=last {
        program.push(queue((Write, i), []));
        program.push(queue((Process, i - 1), []));
        program.push(Step::Wait);
        program.push(queue((Read, i - 1), []));
    }
    program.push(queue((Process, last), []));
    program.push(queue((Read, last), [(Process, last)]));
    run(load, channels, program)
}

/// A hybrid of ours: `buffers` buffers for segments and as many for results; tasks wait only for a
/// free buffer or for data. With a buffer for each segment it is strategy A.
pub fn ring(load: &Load, channels: Channels, buffers: usize) -> Vec<Event> {
    use Kind::{Process, Read, Write};
    let (s, k) = (load.segments as usize, buffers.max(1));
    let mut program = Vec::new();
    for i in 0..s + k {
        if let Some(old) = i.checked_sub(k) {
            program.push(queue((Read, old), [(Process, old)]));
        }
        if i < s {
            let free = i.checked_sub(k);
            program.push(queue((Write, i), free.map(|old| (Process, old))));
            let data = [(Write, i)].into_iter();
            program.push(queue((Process, i), data.chain(free.map(|old| (Read, old)))));
        }
    }
    run(load, channels, program)
}

/// The time at which the last task is done.
pub fn completion(events: &[Event]) -> f64 {
    events.iter().map(|e| e.end).fold(0.0, f64::max)
}

fn queue(task: Task, after: impl IntoIterator<Item = Task>) -> Step {
    Step::Queue { task, after: after.into_iter().collect() }
}

/// A worker: its queue, and the task that it is running.
#[derive(Default)]
struct Worker {
    queue: VecDeque<(Task, Vec<Task>)>,
    now: Option<Event>,
}

struct Simulation<'a> {
    load: &'a Load,
    channels: Channels,
    clock: f64,
    /// The kernels, the channel of writes, the channel of reads; with one channel the last is
    /// unused.
    workers: [Worker; 3],
    done: Vec<Event>,
    /// Which segments are done, for each stage.
    is_done: [Vec<bool>; 3],
}

fn run(load: &Load, channels: Channels, program: Vec<Step>) -> Vec<Event> {
    let segments = load.segments as usize;
    let mut simulation = Simulation {
        load,
        channels,
        clock: 0.0,
        workers: Default::default(),
        done: Vec::with_capacity(3 * segments),
        is_done: [(); 3].map(|()| vec![false; segments]),
    };
    for step in program {
        match step {
            Step::Queue { task, after } => {
                let worker = simulation.worker_of(task.0);
                simulation.workers[worker].queue.push_back((task, after));
            }
            Step::Wait => simulation.work(),
        }
    }
    simulation.work();
    simulation.done
}

impl Simulation<'_> {
    fn worker_of(&self, kind: Kind) -> usize {
        match (kind, self.channels) {
            (Kind::Process, _) => 0,
            (Kind::Write, _) | (Kind::Read, Channels::One) => 1,
            (Kind::Read, Channels::Two) => 2,
        }
    }

    fn seconds(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Write => self.load.write,
            Kind::Process => self.load.process,
            Kind::Read => self.load.read,
        }
    }

    /// Runs until nothing is left. Queueing takes no time, so tasks start after all of it.
    fn work(&mut self) {
        loop {
            self.start();
            let ends = self
                .workers
                .iter()
                .enumerate()
                .filter_map(|(w, worker)| worker.now.map(|event| (w, event.end)));
            let Some((next, end)) = ends.min_by(|a, b| a.1.total_cmp(&b.1)) else { break };
            self.clock = end;
            if let Some(event) = self.workers[next].now.take() {
                self.is_done[event.kind as usize][event.segment] = true;
                self.done.push(event);
            }
        }
        debug_assert!(
            self.workers.iter().all(|w| w.queue.is_empty()),
            "tasks depend on each other"
        );
    }

    /// Lets every idle worker start the first task of its queue, if its dependencies are done.
    fn start(&mut self) {
        for w in 0..self.workers.len() {
            let Some(((kind, segment), after)) = self.workers[w].queue.front() else { continue };
            let ready = after.iter().all(|&(kind, i)| self.is_done[kind as usize][i]);
            if ready && self.workers[w].now.is_none() {
                let (kind, segment, start) = (*kind, *segment, self.clock);
                let end = start + self.seconds(kind);
                self.workers[w].queue.pop_front();
                self.workers[w].now = Some(Event { kind, segment, start, end });
            }
        }
    }
}
