//! What one cell of a table is made of.

use serde::Deserialize;
use toml::{Table, Value};

use super::metric::Metric;
use crate::definition::{Haystack, Patterns};
use crate::size::Size;

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
