//! Pattern files: the formats that the command `fyke` reads.

use super::{call, error};
use fyke::rules::{self, Format, Options, RuleError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

/// A pattern: its number in the file, its bytes, whether ASCII case is ignored, its origin.
type Row = (u32, Vec<u8>, bool, String);

/// What a file has: patterns, bad rules, warnings.
#[derive(Default)]
struct Contents {
    rows: Vec<Row>,
    errors: Vec<String>,
    warnings: Vec<String>,
}

/// The patterns of a file, its bad rules, and warnings. Repeated patterns are left out.
#[pyfunction]
#[pyo3(signature = (path, format, nocase, commented_rules))]
#[allow(clippy::type_complexity, reason = "it is a tuple in Python")]
pub(super) fn read_patterns<'py>(
    py: Python<'py>,
    path: PathBuf,
    format: &str,
    nocase: bool,
    commented_rules: bool,
) -> PyResult<(Vec<(u32, Bound<'py, PyBytes>, bool, String)>, Vec<String>, Vec<String>)> {
    let format = format_named(format)?;
    let read = || fs::read(&path);
    let bytes = call::run(py, usize::MAX, read)?.map_err(|failure| error::io(&path, &failure))?;
    let name = path.to_string_lossy();
    let options = Options { commented: commented_rules, ..Options::default() };
    let parse = || contents(format, &name, &bytes, &options, nocase);
    let contents = call::run(py, usize::MAX, parse)?.map_err(error::BuildError::new_err)?;
    let to_python =
        |(number, bytes, nocase, origin): Row| (number, PyBytes::new(py, &bytes), nocase, origin);
    let rows = contents.rows.into_iter().map(to_python).collect();
    Ok((rows, contents.errors, contents.warnings))
}

fn contents(
    format: Format,
    name: &str,
    bytes: &[u8],
    options: &Options,
    nocase: bool,
) -> Result<Contents, String> {
    let parsed = rules::parse(format, name, bytes, options);
    let set = parsed.patterns.pattern_set(nocase).map_err(|error| error.to_string())?;
    let kept: HashSet<u32> = set.iter().flat_map(|p| p.ids).map(|id| id.0).collect();
    // The ids of a set count from 1, positions in a list from 0.
    let numbered = (0_u32..).zip(parsed.patterns.iter());
    let rows = numbered
        .filter(|(number, _)| kept.contains(&(number + 1)))
        .map(|(number, p)| (number, p.bytes.to_vec(), nocase || p.nocase, p.origin.to_string()))
        .collect();
    let texts = |all: &[RuleError]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
    let mut warnings = texts(&parsed.warnings);
    if parsed.patterns.have_boundaries() {
        warnings.push(format!(
            "{name}: fullword is not checked: matches within longer words are reported too"
        ));
    }
    Ok(Contents { rows, errors: texts(&parsed.errors), warnings })
}

/// The format with a name, as the option `--patterns-format` of the command.
fn format_named(name: &str) -> PyResult<Format> {
    Format::named(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "format={name:?} is unknown: give \"lines\", \"hex\", \"snort\" or \"yara\""
        ))
    })
}
