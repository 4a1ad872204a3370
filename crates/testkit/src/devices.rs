//! Tests that run on every device of a machine, and cannot pass unseen because there is none.
//!
//! A [`DeviceTests`] counts what a test checked on which device, and prints the counts and the
//! backends that are absent when it is dropped. If the environment requires a backend that is
//! absent, or a device of any, the test fails.

use crate::require;
use fyke_core::Refusal;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::panic::Location;

/// A backend without a device, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbsentBackend {
    /// Its name in options: `opencl` in `backend=opencl`.
    pub name: &'static str,
    /// What the driver said.
    pub why: String,
}

/// The device tests of one test function.
pub struct DeviceTests {
    test: String,
    required: Vec<Requirement>,
    absent: Vec<AbsentBackend>,
    checked: BTreeMap<String, u64>,
    refused: BTreeMap<String, u64>,
}

/// What an environment variable requires of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    /// A device of any backend.
    Any,
    /// A device of this backend.
    Backend(String),
}

/// What names of engines require, as [`REQUIRE`](crate::require::REQUIRE) has them: `gpu-x` a
/// device, `gpu-x:backend=opencl` one of that backend. Other engines require none.
fn requirements(names: &[String]) -> Vec<Requirement> {
    let of_name = |name: &String| match name.split_once(":backend=") {
        Some((_, backend)) => Requirement::Backend(backend.to_owned()),
        None => Requirement::Any,
    };
    names.iter().filter(|n| n.starts_with("gpu")).map(of_name).collect()
}

impl DeviceTests {
    /// The tests of the calling function, with the requirements of an environment variable.
    ///
    /// # Panics
    /// A required backend is absent.
    #[track_caller]
    pub fn new(variable: &str, absent: Vec<AbsentBackend>) -> Self {
        let (at, thread) = (Location::caller(), std::thread::current());
        let test = match thread.name() {
            Some(name) if name != "main" => name.to_owned(),
            _ => format!("{}:{}", at.file(), at.line()),
        };
        Self::requiring(test, requirements(&require::names(variable)), absent)
    }

    fn requiring(test: String, required: Vec<Requirement>, absent: Vec<AbsentBackend>) -> Self {
        let (checked, refused) = (BTreeMap::new(), BTreeMap::new());
        for backend in &absent {
            let is_required = required.contains(&Requirement::Backend(backend.name.to_owned()));
            assert!(!is_required, "{test}: {} is required: {}", backend.name, backend.why);
        }
        Self { test, required, absent, checked, refused }
    }

    /// Something was compared with what it should be, on this device.
    pub fn checked(&mut self, device: impl Into<String>) {
        *self.checked.entry(device.into()).or_default() += 1;
    }

    /// The value, or `None` for a refusal that the test expects, which is counted and printed.
    ///
    /// # Panics
    /// It is another refusal.
    #[track_caller]
    pub fn accepted<T>(
        &mut self,
        what: &str,
        result: Result<T, Refusal>,
        expected: impl Fn(&Refusal) -> bool,
    ) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(refusal) if expected(&refusal) => {
                *self.refused.entry(format!("{what}: {refusal}")).or_default() += 1;
                None
            }
            Err(refusal) => panic!("{what} was refused, and must not be: {refusal}"),
        }
    }

    /// The same for something compiled for a backend: it may be refused only because the backend
    /// is absent.
    ///
    /// # Panics
    /// It is another refusal.
    #[track_caller]
    pub fn on_backend<T>(&mut self, backend: &str, result: Result<T, Refusal>) -> Option<T> {
        let is_absent = self.absent.iter().any(|a| a.name == backend);
        let expected = |refusal: &Refusal| is_absent && matches!(refusal, Refusal::NoDevice(_));
        self.accepted(&format!("backend={backend}"), result, expected)
    }

    /// Checks so far, on all devices.
    pub fn checks(&self) -> u64 {
        self.checked.values().sum()
    }

    /// What is missing from what is required, after all checks.
    fn unmet(&self) -> Option<String> {
        let is_unmet = !self.required.is_empty() && self.checked.is_empty();
        is_unmet.then(|| format!("{}: a device is required, and nothing was checked", self.test))
    }

    /// One line: what was checked, and what was not and why.
    fn summary(&self) -> String {
        let mut line = format!("{}: ", self.test);
        for (device, count) in &self.checked {
            let _ = write!(line, "{count} checked on {device}; ");
        }
        if self.checked.is_empty() {
            line += "NOTHING checked; ";
        }
        for (what, count) in &self.refused {
            let _ = write!(line, "{count} refused: {what}; ");
        }
        for AbsentBackend { name, why } in &self.absent {
            let _ = write!(line, "no {name}: {why}; ");
        }
        line.truncate(line.len() - 2);
        line
    }
}

impl Drop for DeviceTests {
    fn drop(&mut self) {
        // Not by a macro: the test harness captures what those print and drops it if the test
        // passes.
        let _ = writeln!(std::io::stderr(), "{}", self.summary());
        if let Some(unmet) = self.unmet().filter(|_| !std::thread::panicking()) {
            panic!("{unmet}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn absent() -> Vec<AbsentBackend> {
        vec![AbsentBackend { name: "opencl", why: "no library".into() }]
    }

    fn fails(names: &str, absent: Vec<AbsentBackend>, checks: u64) -> bool {
        let names: Vec<String> = names.split(',').map(|n| n.trim().to_owned()).collect();
        let required = requirements(&names);
        let run = || {
            let mut tests = DeviceTests::requiring("a test".into(), required, absent);
            (0..checks).for_each(|_| tests.checked("a device"));
        };
        catch_unwind(AssertUnwindSafe(run)).is_err()
    }

    #[test]
    fn a_required_backend_that_is_absent_fails() {
        assert!(!fails("", absent(), 0) && !fails("ac-dfa:form=dense", absent(), 0));
        assert!(fails("ac-dfa, gpu-x:backend=opencl", absent(), 1));
        assert!(!fails("gpu-x:backend=cuda", absent(), 1));
    }

    #[test]
    fn a_required_device_must_be_checked() {
        assert!(fails("gpu-x", Vec::new(), 0) && !fails("gpu-x", absent(), 1));
        assert!(fails("gpu-x:backend=cuda", absent(), 0));
    }

    #[test]
    fn only_an_absent_backend_may_be_refused() {
        let mut tests = DeviceTests::requiring("a test".into(), Vec::new(), absent());
        let no_device = || Refusal::NoDevice("no library".into());
        assert_eq!(tests.on_backend::<()>("opencl", Err(no_device())), None);
        assert_eq!(tests.on_backend("cuda", Ok(7)), Some(7));
        for (backend, refusal) in
            [("cuda", no_device()), ("opencl", Refusal::BadOption("x=y".into()))]
        {
            let refused = AssertUnwindSafe(|| tests.on_backend::<()>(backend, Err(refusal)));
            assert!(catch_unwind(refused).is_err(), "{backend}");
        }
        tests.checked("a device");
        let summary = tests.summary();
        assert!(summary.contains("1 checked on a device"), "{summary}");
        assert!(summary.contains("1 refused: backend=opencl: "), "{summary}");
        assert!(summary.ends_with("no opencl: no library"), "{summary}");
    }
}
