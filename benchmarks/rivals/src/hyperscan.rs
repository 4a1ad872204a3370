//! Hyperscan by Intel, in block mode with all matches through its callback.
//!
//! The library is the file that `FYKE_HYPERSCAN` names, else `libhs.so.5`.

use std::sync::{Arc, OnceLock};

use crate::calls::{CallJob, Caller};
use crate::libhs::Library;
use crate::locate::{self, OpenedLibrary};
use crate::rival::{Built, Job, Refusal, Rival};
use crate::sets::BuiltSets;

/// Hyperscan.
pub static RIVAL: Hyperscan = Hyperscan;

/// See [`RIVAL`].
#[derive(Debug)]
pub struct Hyperscan;

/// The last release is 5.4.2; newer versions are those of Vectorscan.
fn is_hyperscan(version: &str) -> bool {
    !locate::is_vectorscan(version) && !locate::is_fyke(version)
}

fn library() -> &'static OpenedLibrary {
    static LIBRARY: OnceLock<OpenedLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let files = locate::files("FYKE_HYPERSCAN", "hyperscan");
        Library::open(&files, is_hyperscan)
            .map(Arc::new)
            .map_err(|e| locate::advise(&e, "Hyperscan", "FYKE_HYPERSCAN"))
    })
}

/// The library, once it was found.
///
/// # Errors
/// It is not installed, or does not run on this machine.
pub fn open() -> Result<Arc<Library>, Refusal> {
    library().clone()
}

impl Rival for Hyperscan {
    fn name(&self) -> &'static str {
        "hyperscan"
    }

    fn about(&self) -> &'static str {
        "Hyperscan, hs_compile_multi of escaped literals, block mode, hs_scan"
    }

    fn version(&self) -> Result<String, Refusal> {
        library().as_ref().map(|l| l.version().to_string()).map_err(Clone::clone)
    }

    fn build(&self, job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        library().as_ref().map_err(Clone::clone)?.build(job)
    }

    fn build_sets(&self, jobs: &[Job<'_>]) -> Result<Box<dyn BuiltSets>, Refusal> {
        library().as_ref().map_err(Clone::clone)?.build_sets(jobs)
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        Library::caller(library().as_ref(), job)
    }
}
