//! The settings of one cell of a table.

use crate::gpu::strategy::Strategy;
use serde::{Deserialize, Deserializer, de};
use toml::{Table, Value};

use super::metric::Metric;
use fyke_bench::definition::{Haystack, Patterns};
use fyke_bench::size::Size;
use fyke_carve::pipeline::Strategy as CarveStrategy;

/// The settings of one cell.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The patterns.
    pub patterns: Patterns,
    /// The haystack, if one is searched.
    pub haystack: Option<Haystack>,
    /// How much text the device holds, for times on the device's clock.
    pub resident: Option<Resident>,
    /// How the haystack is copied to the device and results back, if it does not stay there.
    #[serde(default)]
    pub host_to_host: HostToHost,
    /// How the haystack is carved, as an image on a disk; by default it is searched in memory.
    pub carve: Option<Carve>,
    /// The engine.
    pub engine: String,
    /// Its options.
    #[serde(default)]
    pub params: String,
    /// Threads.
    #[serde(default = "one_thread")]
    pub threads: usize,
    /// Whether each thread has its own automaton.
    #[serde(default)]
    pub copies: Copies,
    /// What the cell measures.
    pub metric: Metric,
    /// The figure is multiplied by this.
    #[serde(default = "one")]
    pub scale: f64,
}

/// How much text a device holds: the haystack is repeated or cut. By default all of it, once.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resident {
    /// Bytes.
    pub size: Size,
    /// The same in `--quick` runs.
    pub quick: Size,
}

/// How a haystack is copied to a device and results back. A row may give one half and a column the
/// other.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostToHost {
    /// The order of writes, processing and reads; `None` if the haystack stays on the device.
    #[serde(default, deserialize_with = "strategy")]
    pub strategy: Option<Strategy>,
    /// The number of segments.
    #[serde(default)]
    pub segments: Option<usize>,
}

/// How an image is read and searched.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Carve {
    /// Which thread reads and searches when.
    #[serde(deserialize_with = "carving")]
    pub strategy: CarveStrategy,
    /// Bytes of a buffer; by default Scalpel's 10 MiB.
    pub buffer: Option<Size>,
    /// Bytes that the disk gives in a second; by default the image is in memory.
    pub rate: Option<Size>,
    /// Whether the image is read and not searched.
    #[serde(default)]
    pub read_only: bool,
}

/// Reads the name of a strategy of the carver.
fn carving<'de, D: Deserializer<'de>>(from: D) -> Result<CarveStrategy, D::Error> {
    let name = String::deserialize(from)?;
    let names = || CarveStrategy::ALL.map(CarveStrategy::name).join(", ");
    CarveStrategy::named(&name)
        .ok_or_else(|| de::Error::custom(format!("strategy {name:?} is none of {}", names())))
}

/// Reads `a`, `b`, `ring 3`, `zero-copy`.
fn strategy<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Strategy>, D::Error> {
    let name = String::deserialize(from)?;
    let strategy = match name.as_str() {
        "a" => Some(Strategy::A),
        "b" => Some(Strategy::B),
        "zero-copy" => Some(Strategy::ZeroCopy),
        _ => name.strip_prefix("ring ").and_then(|k| k.parse().ok()).map(Strategy::Ring),
    };
    let wrong =
        || de::Error::custom(format!("strategy {name:?} is none of a, b, ring K, zero-copy"));
    strategy.ok_or_else(wrong).map(Some)
}

impl HostToHost {
    /// The strategy and the number of segments, if there is one.
    pub fn strategy(self) -> Option<(Strategy, usize)> {
        Some((self.strategy?, self.segments.unwrap_or(1)))
    }
}

/// How threads share an automaton.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copies {
    /// All scan with one.
    #[default]
    Shared,
    /// Each has its own copy.
    Private,
}

fn one_thread() -> usize {
    1
}

fn one() -> f64 {
    1.0
}

impl Settings {
    /// The engine with its options, as `--engine` takes it.
    pub fn spec(&self) -> String {
        if self.params.is_empty() {
            return self.engine.clone();
        }
        format!("{}:{}", self.engine, self.params)
    }
}

/// Replaces values of one table by those of another, recursively.
pub fn patch(onto: &mut Table, values: &Table) {
    for (key, value) in values {
        match (onto.get_mut(key), value) {
            // A source is exactly one of several kinds.
            (Some(Value::Table(under)), Value::Table(over)) if key != "source" => {
                patch(under, over);
            }
            _ => {
                onto.insert(key.clone(), value.clone());
            }
        }
    }
}
