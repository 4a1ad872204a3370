//! The arguments that every benchmark takes.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::data::place::Place;
use crate::entrant::Limits;
use crate::machine;
use crate::size::Size;
use crate::timing::clock::Clock;

/// What to measure, how long, within which limits, and where the files are.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SharedArgs {
    /// Measure only cells or tables whose name contains TEXT; may be given several times
    #[arg(short, long, value_name = "TEXT")]
    pub filter: Vec<String>,

    /// Use small haystacks and few samples: a few minutes in all
    #[arg(short, long)]
    pub quick: bool,

    /// Write the record to DIR/MACHINE/DATE-KIND.csv
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,

    /// Take samples of each cell or table for this long [default: less with --quick]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub seconds: Option<f64>,

    /// Refuse sets that compile to more than SIZE, such as "4 GiB" [default: a third of the
    /// machine's memory; at most 2 GiB with --quick]
    #[arg(long, value_name = "SIZE")]
    pub memory_limit: Option<Size>,

    /// Compute ratios of this clock; "cpu" varies less when other programs run
    #[arg(long, value_enum, default_value_t)]
    pub clock: Clock,

    /// The folder with definitions/ and corpora.toml [default: benchmarks/ of the workspace]
    #[arg(long, value_name = "DIR")]
    pub benchmarks: Option<PathBuf>,

    /// The folder with the data [default: $FYKE_DATA, else ../shared/data and data/ of the
    /// workspace]
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

impl SharedArgs {
    /// The folders.
    ///
    /// # Errors
    /// There are none.
    pub fn place(&self) -> Result<Place> {
        Place::find(self.benchmarks.as_deref(), self.data.as_deref())
    }

    /// The folder for plots: `named`, or the one beside the definitions.
    ///
    /// # Errors
    /// There is none.
    pub fn plots(&self, named: Option<&PathBuf>) -> Result<PathBuf> {
        match named {
            Some(folder) => Ok(folder.clone()),
            None => Ok(self.place()?.benchmarks.join("plots")),
        }
    }

    /// Whether a name passes `--filter`.
    pub fn wants(&self, name: &str) -> bool {
        self.filter.is_empty() || self.filter.iter().any(|f| name.contains(f))
    }

    /// The time for samples.
    ///
    /// # Errors
    /// The number of seconds is out of range.
    pub fn time(&self, default: f64) -> Result<Duration> {
        let seconds = self.seconds.unwrap_or(default);
        ensure!(
            (0.0..=MAX_SECONDS).contains(&seconds),
            "--seconds {seconds}: give a number from 0 to {MAX_SECONDS}"
        );
        Ok(Duration::from_secs_f64(seconds))
    }

    /// Limits on memory, on the time of a scan, and on the time for building again.
    pub fn limits(&self, quick: bool, scan: Duration, rebuild: Duration) -> Limits {
        let third = machine::memory() / 3;
        let most = if quick { third.min(QUICK_MEMORY) } else { third };
        Limits { memory: self.memory_limit.map_or(most, |s| s.0 as u64), scan, rebuild }
    }
}
