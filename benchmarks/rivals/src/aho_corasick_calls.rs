//! The `aho-corasick` crate through its front type, as most of its users call it.
//!
//! `AhoCorasick::new` chooses the automaton, and prefilters are on. With leftmost-first matches the
//! crate has its packed prefilter, Teddy, which it does not have with standard matches. A user who
//! asks only whether there is a match may choose either, so both take part there.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::calls::{Answer, Asked, CallJob, Caller, Calls, Question};
use crate::rival::{Built, Job, Refusal, Rival};

/// The front type of the crate.
#[derive(Debug)]
pub struct Front {
    name: &'static str,
    about: &'static str,
    /// Whether it is compiled for leftmost-first matches to answer whether there is a match.
    leftmost: bool,
}

/// Compiled for the matches that the question asks for; `MatchKind::Standard` if any will do.
pub static AS_ASKED: Front = Front {
    name: "aho-corasick",
    about: "aho-corasick, AhoCorasick, for calls only",
    leftmost: false,
};

/// Compiled for leftmost-first matches; takes part where any match will do.
pub static LEFTMOST: Front = Front {
    name: "aho-corasick-leftmost",
    about: "aho-corasick, AhoCorasick of leftmost-first matches, for is_match only",
    leftmost: true,
};

impl Rival for Front {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        self.about
    }

    fn version(&self) -> Result<String, Refusal> {
        Ok(env!("FYKE_AHO_CORASICK_VERSION").to_string())
    }

    fn finds_all(&self) -> bool {
        false
    }

    fn build(&self, _job: &Job<'_>) -> Result<Box<dyn Built>, Refusal> {
        Err(Refusal("the automata of the crate find all matches; see aho-corasick-dfa".into()))
    }

    fn caller(&self, job: &CallJob<'_>) -> Option<Result<Box<dyn Caller>, Refusal>> {
        let question = job.question;
        if self.leftmost && question != Question::IsMatch {
            return None;
        }
        let leftmost = self.leftmost || question.is_leftmost();
        let kind = if leftmost { MatchKind::LeftmostFirst } else { MatchKind::Standard };
        let built = AhoCorasick::builder().match_kind(kind).build(job.patterns);
        let caller = |calls| Box::new(Asked { question, calls }) as Box<dyn Caller>;
        Some(built.map(caller).map_err(|e| Refusal(e.to_string())))
    }
}

impl Calls for AhoCorasick {
    #[inline]
    fn is_match(&self, haystack: &[u8]) -> bool {
        AhoCorasick::is_match(self, haystack)
    }

    #[inline]
    fn find(&self, haystack: &[u8]) -> Option<usize> {
        AhoCorasick::find(self, haystack).map(|m| m.end())
    }

    #[inline]
    fn find_iter(&self, haystack: &[u8], answer: &mut Answer) {
        AhoCorasick::find_iter(self, haystack).for_each(|m| answer.add(m.end()));
    }
}
