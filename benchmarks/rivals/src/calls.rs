//! Calls for some of the matches of a haystack: whether there is one, the first one, those that do
//! not overlap.
//!
//! Each loop over haystacks is compiled for one library and one [`Question`], so that a call costs
//! no more here than in a user's program.

use fyke_core::PatternSet;

use crate::rival::Refusal;

/// What a call is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Whether the haystack has a match.
    IsMatch,
    /// The match that ends first; of those, the longest.
    Find,
    /// The match that starts first; of those, the one of the first pattern.
    Leftmost,
    /// All matches that do not overlap, each found as by [`Find`](Self::Find).
    FindIter,
    /// All matches that do not overlap, each found as by [`Leftmost`](Self::Leftmost).
    LeftmostIter,
}

impl Question {
    /// Every question.
    pub const ALL: [Question; 5] =
        [Self::IsMatch, Self::Find, Self::Leftmost, Self::FindIter, Self::LeftmostIter];

    /// The name in definitions and records.
    pub fn name(self) -> &'static str {
        match self {
            Question::IsMatch => "is-match",
            Question::Find => "find",
            Question::Leftmost => "leftmost",
            Question::FindIter => "find-iter",
            Question::LeftmostIter => "leftmost-iter",
        }
    }

    /// The question of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|q| q.name() == name)
    }

    /// Whether matches that start first are wanted, not those that end first.
    pub fn is_leftmost(self) -> bool {
        matches!(self, Question::Leftmost | Question::LeftmostIter)
    }
}

/// What a rival has to compile for calls.
#[derive(Clone, Copy, Debug)]
pub struct CallJob<'a> {
    /// The question.
    pub question: Question,
    /// The patterns, none of which ignores case. Their ids are their positions in `patterns`.
    pub set: &'a PatternSet,
    /// The same patterns in the order of their ids.
    pub patterns: &'a [Vec<u8>],
    /// Most bytes of the compiled form.
    pub memory_limit: u64,
}

/// What calls found, added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Matches; of [`Question::IsMatch`], haystacks with a match.
    pub count: u64,
    /// The sum of the ends of the matches; of [`Question::IsMatch`], 0.
    pub ends: u64,
}

impl Answer {
    /// Adds the match that ends before byte `end`.
    #[inline]
    pub fn add(&mut self, end: usize) {
        self.count += 1;
        self.ends += end as u64;
    }
}

/// A compiled set that answers one question.
pub trait Caller {
    /// Asks about each haystack, with a call for each.
    ///
    /// # Errors
    /// A call failed.
    fn call_each(&mut self, haystacks: &[&[u8]]) -> Result<Answer, Refusal>;

    /// The engines that a planner chose.
    fn taken(&self) -> Option<String> {
        None
    }
}

/// The calls of a library, for a set that was compiled for the question.
pub trait Calls {
    /// Whether the haystack has a match.
    fn is_match(&self, haystack: &[u8]) -> bool;

    /// The end of the first match.
    fn find(&self, haystack: &[u8]) -> Option<usize>;

    /// Adds all matches that do not overlap.
    fn find_iter(&self, haystack: &[u8], answer: &mut Answer);
}

/// [`Calls`] with the question that they are asked.
#[derive(Debug)]
pub struct Asked<C> {
    /// The question.
    pub question: Question,
    /// What answers it.
    pub calls: C,
}

impl<C: Calls> Caller for Asked<C> {
    fn call_each(&mut self, haystacks: &[&[u8]]) -> Result<Answer, Refusal> {
        let (calls, mut answer) = (&self.calls, Answer::default());
        match self.question {
            Question::IsMatch => {
                haystacks.iter().for_each(|h| answer.count += u64::from(calls.is_match(h)));
            }
            Question::Find | Question::Leftmost => {
                haystacks.iter().filter_map(|h| calls.find(h)).for_each(|end| answer.add(end));
            }
            Question::FindIter | Question::LeftmostIter => {
                haystacks.iter().for_each(|h| calls.find_iter(h, &mut answer));
            }
        }
        Ok(answer)
    }
}
