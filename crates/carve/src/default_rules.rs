//! The default rules: those that `fyke carve` uses if no configuration is given.

use crate::RuleSet;
use crate::conf;

/// The text of the default rules, written from the formats' specifications.
pub const DEFAULT_CONF: &str = include_str!("../rules/fyke.conf");

/// What the default rules are called in messages and databases.
pub const DEFAULT_CONF_NAME: &str = "default rules";

/// The default rules.
///
/// # Panics
///
/// Never: a test reads them.
#[must_use]
pub fn default_rules() -> RuleSet {
    let parsed = conf::parse(DEFAULT_CONF.as_bytes(), DEFAULT_CONF_NAME, conf::Options::default());
    parsed.unwrap_or_else(|error| panic!("the default rules are sound: {error}"))
}

#[cfg(test)]
mod tests;
