//! Engines of fyke behind the `find` calls of [`Searcher`].

use fyke::{MatchKind, Searcher};
use fyke_rivals::calls::{Asked, Calls};
use fyke_rivals::{Answer, CallJob, Caller, Refusal};

use super::engine::{engines_of, refuse_build};

/// Compiles a set for a question.
pub(super) fn build(spec: &str, job: &CallJob<'_>) -> Result<Box<dyn Caller>, Refusal> {
    let kind = match job.question.is_leftmost() {
        true => MatchKind::LeftmostFirst,
        false => MatchKind::Standard,
    };
    let builder = Searcher::builder().engine(spec).threads(1).match_kind(kind);
    let searcher = builder.memory_limit(job.memory_limit).build(job.set);
    let searcher = searcher.map_err(|e| refuse_build(&e))?;
    Ok(Box::new(SearcherCaller(Asked { question: job.question, calls: Front(searcher) })))
}

struct SearcherCaller(Asked<Front>);

impl Caller for SearcherCaller {
    fn call_each(&mut self, haystacks: &[&[u8]]) -> Result<Answer, Refusal> {
        self.0.call_each(haystacks)
    }

    fn taken(&self) -> Option<String> {
        Some(engines_of(&**self.0.calls.0.matcher()).join("+"))
    }
}

/// A searcher as its users call it.
struct Front(Searcher);

impl Calls for Front {
    #[inline]
    fn is_match(&self, haystack: &[u8]) -> bool {
        self.0.is_match(haystack)
    }

    #[inline]
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        self.0.find(haystack).map(|m| m.end)
    }

    #[inline]
    fn find_iter(&self, haystack: &[u8], answer: &mut Answer) {
        self.0.find_iter(haystack).for_each(|m| answer.add(m.end));
    }
}
