//! The `memchr` crate: `memmem`, its search for one string.
//!
//! It takes part in calls only, and only for a set of one pattern.

use memchr::memmem::Finder;

use crate::calls::{Answer, Asked, CallJob, Caller, Calls};
use crate::rival::{Built, Job, Refusal, Rival};

/// The crate's search for one string.
pub static RIVAL: Memmem = Memmem;

/// See [`RIVAL`].
#[derive(Debug)]
pub struct Memmem;

impl Rival for Memmem {
    fn name(&self) -> &'static str {
        "memmem"
    }

    fn about(&self) -> &'static str {
        "memchr, memmem::Finder, for calls and one pattern only"
    }

    fn version(&self) -> Result<String, Refusal> {
        Ok(env!("FYKE_MEMCHR_VERSION").to_string())
    }

    fn finds_all(&self) -> bool {
        false
    }

    fn build(&self, _job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        Err(Refusal("memmem has no call for overlapping matches".into()))
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        let [pattern] = job.patterns else { return None };
        let calls = OneString { finder: Finder::new(pattern).into_owned(), len: pattern.len() };
        Some(Ok(Box::new(Asked { question: job.question, calls })))
    }
}

struct OneString {
    finder: Finder<'static>,
    len: usize,
}

impl Calls for OneString {
    #[inline]
    fn is_match(&self, haystack: &[u8]) -> bool {
        self.finder.find(haystack).is_some()
    }

    #[inline]
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.finder.find(haystack).map(|start| start + self.len)
    }

    #[inline]
    fn find_iter(&self, haystack: &[u8], answer: &mut Answer) {
        self.finder.find_iter(haystack).for_each(|start| answer.add(start + self.len));
    }
}
