//! Wall time and CPU time.
//!
//! On an idle machine both are the same for one thread. When other programs run, wall time includes
//! waiting for a core and CPU time does not.

use cpu_time::ProcessTime;
use std::time::{Duration, Instant};

/// Which time a ratio is taken of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Clock {
    /// Wall time.
    #[default]
    Wall,
    /// CPU time, all threads together.
    Cpu,
    /// The time that a GPU measures.
    #[value(skip)]
    Device,
}

impl Clock {
    /// The name in records.
    pub fn name(self) -> &'static str {
        match self {
            Clock::Wall => "wall",
            Clock::Cpu => "cpu",
            Clock::Device => "device",
        }
    }
}

/// How long a call took, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// Wall time.
    pub wall: f64,
    /// CPU time, all threads of this process together.
    pub cpu: f64,
}

impl Span {
    /// The time of one of `parts` equal parts.
    #[must_use]
    pub fn per(self, parts: u64) -> Self {
        Self { wall: self.wall / parts as f64, cpu: self.cpu / parts as f64 }
    }

    /// The time on a clock of the host.
    pub fn on(self, clock: Clock) -> f64 {
        match clock {
            Clock::Wall | Clock::Device => self.wall,
            Clock::Cpu => self.cpu,
        }
    }
}

/// Times a call.
pub fn time<T>(call: impl FnOnce() -> T) -> (T, Span) {
    let (wall, cpu) = (Instant::now(), ProcessTime::now());
    let result = call();
    let (cpu, wall) = (cpu.elapsed(), wall.elapsed());
    (result, Span { wall: nanoseconds(wall), cpu: nanoseconds(cpu) })
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_on_both_clocks_and_sleep_on_one() {
        let (_, slept) = time(|| std::thread::sleep(std::time::Duration::from_millis(20)));
        assert!(slept.wall >= 20e6, "{slept:?}");
        let sum = |n: u64| (0..n).fold(0u64, |a, b| std::hint::black_box(a ^ b));
        let (_, worked) = time(|| sum(10_000_000));
        assert!(worked.cpu > 0.0 && worked.wall > 0.0);
    }
}
