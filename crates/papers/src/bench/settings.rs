//! What one cell of a table is made of.

use crate::gpu::strategy::Strategy;
use serde::{Deserialize, Deserializer, de};
use toml::{Table, Value};

use super::metric::Metric;
use fyke_bench::definition::{Haystack, Patterns};
use fyke_bench::size::Size;

/// What one cell is made of.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    /// The patterns.
    pub patterns: Patterns,
    /// What is searched, if anything is.
    pub haystack: Option<Haystack>,
    /// How much of it is held on the device, for times on the device's clock.
    pub resident: Option<Resident>,
    /// How the haystack goes from the host through the device, where it does not stay there.
    #[serde(default)]
    pub host_to_host: HostToHost,
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
    /// What the cell says.
    pub metric: Metric,
    /// The figure is multiplied by this.
    #[serde(default = "one")]
    pub scale: f64,
}

/// How much a device holds: the haystack is repeated, or cut. All of it, once, if nothing is said.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resident {
    /// Bytes.
    pub size: Size,
    /// The same for `--quick` runs.
    pub quick: Size,
}

/// How a haystack goes from the host through a device and results back. A row may give one half and a column the other.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostToHost {
    /// The order of writes, processing and reads; none if the haystack stays on the device.
    #[serde(default, deserialize_with = "strategy")]
    pub strategy: Option<Strategy>,
    /// Into how many segments it is cut.
    #[serde(default)]
    pub segments: Option<usize>,
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
    let wrong = || de::Error::custom(format!("{name:?} is none of a, b, ring K, zero-copy"));
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

/// Puts the values of one table over those of another, tables within tables alike.
pub fn patch(onto: &mut Table, values: &Table) {
    for (key, value) in values {
        match (onto.get_mut(key), value) {
            // A source is one of several kinds, and not a bit of each.
            (Some(Value::Table(under)), Value::Table(over)) if key != "source" => {
                patch(under, over);
            }
            _ => {
                onto.insert(key.clone(), value.clone());
            }
        }
    }
}
