//! `Searcher`: a compiled pattern set.

use super::call::{interruptible, run};
use super::find_iter::{MatchIterator, find_all};
use super::haystack::Haystack;
use super::matches::{self, Matches};
use super::replace::{self, Replacements};
use super::sinks::{Counter, collect, to_matches_or_calls};
use super::stream::PyStream;
use super::{builder, error};
use crate::columns::{Columns, Query};
use crate::pieces::{self, Progress};
use crate::positions::CharIndex;
use fyke::{Match, Part, Semantics, StreamMatch};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// A compiled pattern set. It does not change; threads may share it.
#[pyclass(name = "Searcher", module = "fyke", frozen)]
pub(super) struct PySearcher {
    pub(super) searcher: fyke::Searcher,
    pub(super) threads: usize,
}

impl PySearcher {
    /// The settings of a searcher do not say how many threads it has.
    fn loaded(
        database: &fyke::database::Database,
        engine: Option<&str>,
        threads: usize,
    ) -> LoadResult {
        let threads = threads.max(1);
        let mut builder = database.builder().threads(threads);
        if let Some(engine) = engine {
            builder = builder.engine(engine);
        }
        Ok(Self { searcher: database.build(&builder)?, threads })
    }

    /// What the column functions look for.
    pub(super) fn query(&self, overlapping: bool, whole_words: bool) -> Query {
        Query::new(&self.searcher, self.threads, overlapping, whole_words)
    }
}

type LoadResult = Result<PySearcher, fyke::database::DatabaseError>;

#[pymethods]
impl PySearcher {
    #[new]
    #[pyo3(signature = (
        patterns, ids=None, *, nocase=None, engine="auto", threads=1, match_kind="standard",
        semantics="all", memory_limit=None, sample=None, expected_bytes=None,
        short_haystacks=false
    ))]
    #[allow(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        py: Python<'_>,
        patterns: &Bound<'_, PyAny>,
        ids: Option<&Bound<'_, PyAny>>,
        nocase: Option<&Bound<'_, PyAny>>,
        engine: &str,
        threads: usize,
        match_kind: &str,
        semantics: &str,
        memory_limit: Option<u64>,
        sample: Option<&Bound<'_, PyAny>>,
        expected_bytes: Option<u64>,
        short_haystacks: bool,
    ) -> PyResult<Self> {
        let no = pyo3::types::PyBool::new(py, false).to_owned().into_any();
        let set = builder::pattern_set(patterns, ids, nocase.unwrap_or(&no))?;
        let threads = threads.max(1);
        let mut builder = fyke::Searcher::builder()
            .engine(engine)
            .threads(threads)
            .match_kind(builder::match_kind(match_kind)?)
            .semantics(builder::semantics(semantics)?)
            .short_haystacks(short_haystacks);
        if let Some(bytes) = memory_limit {
            builder = builder.memory_limit(bytes);
        }
        if let Some(bytes) = expected_bytes {
            builder = builder.expected_bytes(bytes);
        }
        if let Some(sample) = sample {
            builder = builder.sample(Haystack::new(sample, "sample")?.bytes(py)?.to_vec());
        }
        Ok(Self { searcher: builder::compile(py, builder, &set)?, threads })
    }

    /// Loads a database that `save` or the command `fyke compile` wrote. Another engine than that
    /// of the database compiles its patterns.
    #[staticmethod]
    #[pyo3(signature = (path, *, engine=None, threads=1))]
    fn load(py: Python<'_>, path: PathBuf, engine: Option<&str>, threads: usize) -> PyResult<Self> {
        let load = || Self::loaded(&fyke::database::Database::open(&path)?, engine, threads);
        run(py, usize::MAX, load)?.map_err(|error| error::database(Some(&path), &error))
    }

    /// Loads a database from memory, which is copied; `engine` as in `load`.
    #[staticmethod]
    #[pyo3(signature = (data, *, engine=None, threads=1))]
    fn from_bytes(
        py: Python<'_>,
        data: &Bound<'_, PyAny>,
        engine: Option<&str>,
        threads: usize,
    ) -> PyResult<Self> {
        let data = Haystack::new(data, "data")?;
        let bytes = data.bytes(py)?;
        let load = || Self::loaded(&fyke::database::Database::read(bytes)?, engine, threads);
        run(py, usize::MAX, load)?.map_err(|error| error::database(None, &error))
    }

    /// Saves it as a database. Nobody sees a part of the file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let save = || fyke::database::replace_file(&path, |to| self.searcher.save(to));
        run(py, usize::MAX, save)?.map_err(|error| error::io(&path, &error))
    }

    /// The database as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let save = || {
            let mut bytes = Vec::new();
            self.searcher.save(&mut bytes).map(|()| bytes)
        };
        let bytes = run(py, usize::MAX, save)?;
        Ok(PyBytes::new(py, &bytes.map_err(|error| error::io(Path::new("memory"), &error))?))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let py = slf.py();
        let (bytes, threads) = (slf.get().to_bytes(py)?, slf.get().threads);
        let load = py.import("fyke._reduce")?.getattr("load_searcher")?;
        PyTuple::new(py, [load, (bytes, threads).into_pyobject(py)?.into_any()])
    }

    /// Every match, overlapping ones too. With `on_match`, which is called with (pattern, start,
    /// end), the result is None; if it returns something true, the scan ends.
    #[pyo3(signature = (haystack, on_match=None, *, positions=None))]
    fn scan(
        &self,
        py: Python<'_>,
        haystack: &Bound<'_, PyAny>,
        on_match: Option<Bound<'_, PyAny>>,
        positions: Option<&str>,
    ) -> PyResult<Option<Matches>> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        let index = haystack.char_index(py, positions)?;
        let scan = |to: &mut dyn Progress| {
            let _ = pieces::scan(&self.searcher, self.threads, bytes, to);
            Ok(())
        };
        to_matches_or_calls(py, bytes.len(), on_match, index.as_ref(), scan, &|e| e.into())
    }

    /// Every match in a file, as `scan`. The file is read, not mapped.
    #[pyo3(signature = (path, on_match=None))]
    fn scan_file(
        &self,
        py: Python<'_>,
        path: PathBuf,
        on_match: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<Matches>> {
        let scan = |to: &mut dyn Progress| {
            let mut file = File::open(&path)?;
            pieces::scan_reader(&self.searcher, self.threads, &mut file, to).map(|_| ())
        };
        let failed = |failure: io::Error| error::io(&path, &failure);
        to_matches_or_calls(py, usize::MAX, on_match, None, scan, &failed)
    }

    /// The number of matches of `scan`.
    fn count(&self, py: Python<'_>, haystack: &Bound<'_, PyAny>) -> PyResult<u64> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        let (searcher, threads) = (&self.searcher, self.threads);
        interruptible(py, bytes, |pause| pieces::count(searcher, threads, bytes, pause))
    }

    /// The number of matches in a file.
    fn count_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        let count = || {
            let mut counter = Counter::new();
            let mut file = File::open(&path)?;
            let (searcher, threads) = (&self.searcher, self.threads);
            // `Once` ends a scan when each pattern was found.
            let _ = pieces::scan_reader(searcher, threads, &mut file, &mut counter)?;
            Ok(counter)
        };
        let counter = run(py, usize::MAX, count)?.map_err(|failure| error::io(&path, &failure))?;
        counter.result()
    }

    /// Whether there is a match.
    fn is_match(&self, py: Python<'_>, haystack: &Bound<'_, PyAny>) -> PyResult<bool> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        interruptible(py, bytes, |pause| pieces::is_match(&self.searcher, bytes, pause))
    }

    /// The first match that does not overlap, as (pattern, start, end), or None.
    #[pyo3(signature = (haystack, *, positions=None))]
    fn find(
        &self,
        py: Python<'_>,
        haystack: &Bound<'_, PyAny>,
        positions: Option<&str>,
    ) -> PyResult<Option<(u32, usize, usize)>> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        let found = find_all(py, &self.searcher, bytes, 1)?;
        let Some(m) = found.first() else { return Ok(None) };
        let index = haystack.char_index(py, positions)?;
        let at = |index: &CharIndex<'_>| (m.pattern.0, index.start(m.start), index.end(m.end));
        Ok(Some(index.as_ref().map_or((m.pattern.0, m.start, m.end), at)))
    }

    /// Iterates over the matches that do not overlap; with `overlapping`, over every match.
    #[pyo3(signature = (haystack, *, overlapping=false, positions=None))]
    fn find_iter<'py>(
        slf: &Bound<'py, Self>,
        haystack: &Bound<'py, PyAny>,
        overlapping: bool,
        positions: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        if overlapping {
            return slf.get().find_overlapping_iter(py, haystack, positions);
        }
        let haystack = Haystack::new(haystack, "haystack")?;
        let chars = haystack.char_index(py, positions)?.is_some();
        let iterator = MatchIterator::new(slf.clone().unbind(), haystack, chars);
        Ok(Bound::new(py, iterator)?.into_any())
    }

    /// Iterates over every match, overlapping ones too.
    #[pyo3(signature = (haystack, *, positions=None))]
    fn find_overlapping_iter<'py>(
        &self,
        py: Python<'py>,
        haystack: &Bound<'py, PyAny>,
        positions: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let matches = self.scan(py, haystack, None, positions)?;
        let matches = Bound::new(py, matches.unwrap_or_default())?;
        Ok(matches.try_iter()?.into_any())
    }

    /// A list of (pattern, start, end), as of ahocorasick_rs.
    #[pyo3(signature = (haystack, overlapping=false))]
    fn find_matches_as_indexes<'py>(
        &self,
        py: Python<'py>,
        haystack: &Bound<'py, PyAny>,
        overlapping: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        let index = haystack.char_index(py, None)?;
        let mut columns = self.found(py, bytes, overlapping)?;
        columns.count_chars(index.as_ref());
        matches::to_list(py, &columns)
    }

    /// A list of the matched parts of the haystack, as of ahocorasick_rs.
    #[pyo3(signature = (haystack, overlapping=false))]
    fn find_matches_as_strings<'py>(
        &self,
        py: Python<'py>,
        haystack: &Bound<'py, PyAny>,
        overlapping: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        let columns = self.found(py, bytes, overlapping)?;
        let list = PyList::empty(py);
        for (&start, &end) in columns.start.iter().zip(&columns.end) {
            let part = &bytes[start as usize..end as usize];
            list.append(replace::to_object(py, part, haystack.is_str())?)?;
        }
        Ok(list)
    }

    /// The haystack with every match of `find_iter` replaced.
    fn replace_all<'py>(
        &self,
        py: Python<'py>,
        haystack: &Bound<'py, PyAny>,
        replacements: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let haystack = Haystack::new(haystack, "haystack")?;
        let bytes = haystack.bytes(py)?;
        let mut replacements = Replacements::new(&self.searcher, replacements)?;
        let found = find_all(py, &self.searcher, bytes, usize::MAX)?;
        let (mut to, mut done) = (Vec::with_capacity(bytes.len()), 0);
        for m in found {
            to.extend_from_slice(&bytes[done..m.start]);
            done = m.end;
            let matched = &bytes[m.range()];
            replacements.write(py, m.pattern.0, matched, haystack.is_str(), &mut to)?;
        }
        to.extend_from_slice(&bytes[done..]);
        replace::to_object(py, &to, haystack.is_str())
    }

    /// A haystack that arrives in chunks.
    fn stream(&self) -> PyStream {
        PyStream::new(self.searcher.stream())
    }

    /// A stream in the state that `Stream.save` gave.
    fn restore(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<PyStream> {
        let state = Haystack::new(state, "state")?;
        let stream = self.searcher.restore(state.bytes(py)?);
        let wrong =
            |error: fyke::StateError| pyo3::exceptions::PyValueError::new_err(error.to_string());
        stream.map(PyStream::new).map_err(wrong)
    }

    /// The number of different patterns.
    fn __len__(&self) -> usize {
        self.searcher.set().len()
    }

    fn __bool__(&self) -> bool {
        true
    }

    fn __contains__(&self, py: Python<'_>, pattern: &Bound<'_, PyAny>) -> PyResult<bool> {
        let pattern = Haystack::new(pattern, "pattern")?;
        let bytes = pattern.bytes(py)?;
        Ok(self.searcher.set().iter().any(|p| p.bytes.len() == bytes.len() && p.is_match(bytes)))
    }

    /// The length of the longest pattern in bytes; 0 without patterns.
    #[getter]
    fn max_len(&self) -> usize {
        self.searcher.set().max_len()
    }

    /// The engines that search, with their options.
    #[getter]
    fn engine(&self) -> String {
        Part::specs(&self.searcher.matcher().parts())
    }

    /// Bytes of the compiled set, in main memory and on a GPU.
    #[getter]
    fn memory(&self) -> u64 {
        let footprint = self.searcher.matcher().footprint();
        footprint.host + footprint.device
    }

    /// Which matches `scan` and `count` report.
    #[getter]
    fn semantics(&self) -> &'static str {
        self.searcher.semantics().name()
    }

    /// Which matches the `find` and `replace` calls report.
    #[getter]
    fn match_kind(&self) -> &'static str {
        self.searcher.match_kind().semantics().name()
    }

    /// The number of threads that scan one large haystack.
    #[getter]
    fn threads(&self) -> usize {
        self.threads
    }

    fn __repr__(&self) -> String {
        format!(
            "<fyke.Searcher: {} patterns, engine {}, semantics {}, match kind {}>",
            self.searcher.set().len(),
            self.engine(),
            self.semantics(),
            self.match_kind()
        )
    }
}

impl PySearcher {
    /// The matches as columns, in bytes.
    fn found(&self, py: Python<'_>, bytes: &[u8], overlapping: bool) -> PyResult<Columns> {
        if overlapping {
            let other = match self.searcher.semantics() {
                Semantics::All => None,
                _ => Some(self.searcher.with_semantics(Semantics::All)),
            };
            let all = other.as_ref().unwrap_or(&self.searcher);
            let scan = |to: &mut dyn Progress| {
                let _ = pieces::scan(all, self.threads, bytes, to);
            };
            return collect(py, bytes.len(), scan);
        }
        let mut columns = Columns::default();
        for m in find_all(py, &self.searcher, bytes, usize::MAX)? {
            let Match { start, end, pattern } = m;
            columns.push(StreamMatch { start: start as u64, end: end as u64, pattern });
        }
        Ok(columns)
    }
}
