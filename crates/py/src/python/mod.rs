//! The extension module `fyke._fyke`. The package in python/fyke gives its names to users.

mod builder;
mod call;
mod capsule;
mod column;
mod error;
mod find_iter;
mod haystack;
mod matches;
mod pattern_file;
mod replace;
mod searcher;
mod sinks;
mod stream;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
fn _fyke(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("BuildError", module.py().get_type::<error::BuildError>())?;
    module.add("DatabaseError", module.py().get_type::<error::DatabaseError>())?;
    module.add_class::<searcher::PySearcher>()?;
    module.add_class::<find_iter::MatchIterator>()?;
    module.add_class::<matches::Matches>()?;
    module.add_class::<matches::MatchesIterator>()?;
    module.add_class::<stream::PyStream>()?;
    module.add_class::<column::Column>()?;
    module.add_function(wrap_pyfunction!(builder::engines, module)?)?;
    module.add_function(wrap_pyfunction!(column::contains_any, module)?)?;
    module.add_function(wrap_pyfunction!(column::count_matches, module)?)?;
    module.add_function(wrap_pyfunction!(column::find_many, module)?)?;
    module.add_function(wrap_pyfunction!(column::extract_first, module)?)?;
    module.add_function(wrap_pyfunction!(column::extract_many, module)?)?;
    module.add_function(wrap_pyfunction!(column::replace_many, module)?)?;
    module.add_function(wrap_pyfunction!(pattern_file::read_patterns, module)?)?;
    Ok(())
}
