//! Arguments that every form of the benchmark takes.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::data::Place;
use crate::lanes::Limits;
use crate::machine;
use crate::size::Size;
use crate::timing::Clock;

/// How long to measure, how much to allow, where everything lies.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Common {
    /// Seconds of samples for each cell or table; fewer with --quick if it is not given
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Option<f64>,

    /// Most memory of a compiled set, such as "4 GiB" [default: a third of the machine's; at most 2 GiB
    /// with --quick]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Size>,

    /// The clock that ratios are taken of; "cpu" is steadier when other programs run
    #[arg(long, value_enum, default_value_t)]
    pub clock: Clock,

    /// The folder with definitions/ and corpora.toml [default: benchmarks/ of the workspace]
    #[arg(long, value_name = "DIR")]
    pub benchmarks: Option<PathBuf>,

    /// The folder with the data [default: $FYKE_DATA, else ../shared/data and data/ of the workspace]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
}

/// Most memory of a compiled set in quick runs.
const QUICK_MEMORY: u64 = 2 << 30;

/// Maximum of `--seconds`: one day.
const MAX_SECONDS: f64 = 86_400.0;

fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|s| (0.0..=MAX_SECONDS).contains(s));
    seconds.ok_or_else(|| format!("give a number from 0 to {MAX_SECONDS}"))
}

impl Common {
    /// The folders.
    ///
    /// # Errors
    /// There are none.
    pub fn place(&self) -> Result<Place> {
        Place::find(self.benchmarks.as_deref(), self.data.as_deref())
    }

    /// The time for samples.
    ///
    /// # Errors
    /// If the number of seconds is out of range.
    pub fn time(&self, default: f64) -> Result<Duration> {
        let seconds = self.seconds.unwrap_or(default);
        ensure!(
            (0.0..=MAX_SECONDS).contains(&seconds),
            "--seconds {seconds}: give a number from 0 to {MAX_SECONDS}"
        );
        Ok(Duration::from_secs_f64(seconds))
    }

    /// What a contender may cost: the memory asked for, and these times.
    pub fn limits(&self, quick: bool, scan: Duration, rebuild: Duration) -> Limits {
        let third = machine::memory() / 3;
        let most = if quick { third.min(QUICK_MEMORY) } else { third };
        Limits { memory: self.memory_limit.map_or(most, |s| s.0 as u64), scan, rebuild }
    }
}
