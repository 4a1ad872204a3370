//! The value of `--engine`: checks the name, so that a typing error gets a suggestion and shells
//! can complete it.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use fyke::registry;
use std::ffi::OsStr;

/// Prints the list of engines instead of naming one.
const HELP: &str = "help";

/// Names that are valid even if the registry has no such engine.
const OTHERS: [&str; 2] = ["gpu", HELP];

/// Parses a specification, such as `ac-dfa:form=dense`. The options after the name are checked when
/// the engine is compiled.
#[derive(Clone, Debug)]
pub(crate) struct Specification;

impl TypedValueParser for Specification {
    type Value = String;

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, Error> {
        let text = value.to_string_lossy();
        let (name, _) = registry::parse(&text);
        if !names().contains(&name) {
            PossibleValuesParser::new(names()).parse_ref(cmd, arg, OsStr::new(name))?;
        }
        Ok(text.into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(names().into_iter().map(PossibleValue::new)))
    }
}

fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = registry::engines().iter().map(|e| e.info().name).collect();
    let others = OTHERS.into_iter().filter(|name| !names.contains(name)).collect::<Vec<_>>();
    names.extend(others);
    names
}
