//! Wall time and CPU time.
//!
//! On an idle machine both are the same for one thread. When other programs run, wall time includes
//! waiting for a core and CPU time does not.

use rustix::time::{ClockId, clock_gettime};

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
    let (wall, cpu) = (now(ClockId::Monotonic), now(ClockId::ProcessCPUTime));
    let result = call();
    let (cpu_end, wall_end) = (now(ClockId::ProcessCPUTime), now(ClockId::Monotonic));
    (result, Span { wall: (wall_end - wall) as f64, cpu: (cpu_end - cpu) as f64 })
}

/// Nanoseconds on a clock.
fn now(clock: ClockId) -> i64 {
    let t = clock_gettime(clock);
    t.tv_sec * 1_000_000_000 + t.tv_nsec
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
