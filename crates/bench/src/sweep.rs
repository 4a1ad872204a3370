//! Sweeps: one cell of a definition that expands to many.
//!
//! A cell with `sweep.count = [20, 100]` and `sweep.len = [4, 8]` becomes four cells. In each, a
//! string that is exactly `"{count}"` becomes the value itself, and `{count}` inside a longer
//! string becomes its text.

use anyhow::{Result, bail, ensure};
use toml::{Table, Value};

/// The cells that a table expands to; the table itself if it has no `sweep`.
///
/// # Errors
/// `sweep` is not a table of lists.
pub fn expand(mut cell: Table) -> Result<Vec<Table>> {
    let sweep = match cell.remove("sweep") {
        None => return Ok(vec![cell]),
        Some(Value::Table(sweep)) => sweep,
        Some(other) => bail!("sweep is {}, not a table of lists", other.type_str()),
    };
    let mut cells = vec![cell];
    for (name, values) in sweep {
        let Value::Array(values) = values else { bail!("sweep.{name} has to be a list") };
        ensure!(!values.is_empty(), "sweep.{name} is an empty list");
        cells = cells.iter().flat_map(|c| values.iter().map(|v| fill(c, &name, v))).collect();
    }
    Ok(cells)
}

fn fill(cell: &Table, name: &str, value: &Value) -> Table {
    fill_table(cell, &format!("{{{name}}}"), value, &plain(value))
}

/// Puts a value for `{name}` into every string of a table.
pub fn put(table: &Table, name: &str, value: &Value) -> Table {
    let text = value.as_str().map_or_else(|| value.to_string(), String::from);
    fill_table(table, &format!("{{{name}}}"), value, &text)
}

fn fill_table(table: &Table, hole: &str, value: &Value, text: &str) -> Table {
    table.iter().map(|(k, v)| (k.clone(), fill_value(v, hole, value, text))).collect()
}

fn fill_value(at: &Value, hole: &str, value: &Value, text: &str) -> Value {
    match at {
        Value::String(whole) if whole == hole => value.clone(),
        Value::String(around) => Value::String(around.replace(hole, text)),
        Value::Array(items) => {
            Value::Array(items.iter().map(|v| fill_value(v, hole, value, text)).collect())
        }
        Value::Table(table) => Value::Table(fill_table(table, hole, value, text)),
        other => other.clone(),
    }
}

/// A value inside a string: strings without their quotes, and without spaces, as names have none.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.replace(' ', ""),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let cells = expand(toml::from_str(text).unwrap()).unwrap();
        cells.iter().map(|c| c["name"].as_str().unwrap().to_string()).collect()
    }

    #[test]
    fn every_combination_becomes_a_cell() {
        let text = "name = 'x/{a}/{b}'\nsweep.a = [1, 2]\nsweep.b = ['1 KiB', 'u']";
        assert_eq!(names(text), ["x/1/1KiB", "x/1/u", "x/2/1KiB", "x/2/u"]);
        assert_eq!(names("name = 'x'"), ["x"]);
    }

    #[test]
    fn a_whole_string_keeps_the_type() {
        let text = "deep.n = '{a}'\nsweep.a = [7]";
        let cells = expand(toml::from_str(text).unwrap()).unwrap();
        assert_eq!(cells[0]["deep"]["n"].as_integer(), Some(7));
    }

    #[test]
    fn bad_sweeps_are_errors() {
        assert!(expand(toml::from_str("sweep = 3").unwrap()).is_err());
        assert!(expand(toml::from_str("sweep.a = 3").unwrap()).is_err());
        assert!(expand(toml::from_str("sweep.a = []").unwrap()).is_err());
    }
}
