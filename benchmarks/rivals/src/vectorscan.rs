//! Vectorscan, the portable fork of Hyperscan, with the same calls.
//!
//! The library is the file that `FYKE_VECTORSCAN` names, else the one that
//! `benchmarks/rivals/install.sh` unpacked, else `libhs.so.5`.

use std::sync::{Arc, OnceLock};

use crate::calls::{CallJob, Caller};
use crate::libhs::Library;
use crate::locate::{self, OpenedLibrary};
use crate::rival::{Built, Job, Refusal, Rival};
use crate::sets::BuiltSets;

/// Vectorscan.
pub static RIVAL: Vectorscan = Vectorscan;

/// See [`RIVAL`].
#[derive(Debug)]
pub struct Vectorscan;

fn library() -> &'static OpenedLibrary {
    static LIBRARY: OnceLock<OpenedLibrary> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let files = locate::files("FYKE_VECTORSCAN", "vectorscan");
        Library::open(&files, locate::is_vectorscan)
            .map(Arc::new)
            .map_err(|e| locate::advise(&e, "Vectorscan", "FYKE_VECTORSCAN"))
    })
}

impl Rival for Vectorscan {
    fn name(&self) -> &'static str {
        "vectorscan"
    }

    fn about(&self) -> &'static str {
        "Vectorscan, hs_compile_multi of escaped literals, block mode, hs_scan"
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
