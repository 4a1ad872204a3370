//! The definition of matches that do not overlap, as code: it compares at every position.

use fyke_rivals::{Answer, Question};

/// Patterns by their first two bytes, so that long texts take seconds and not hours.
pub struct Naive<'a> {
    patterns: &'a [Vec<u8>],
    /// For each pair of bytes, the patterns that may begin with it, in the order of their ids.
    by_front: Vec<Vec<u32>>,
}

/// Where a match starts and ends.
type Found = (usize, usize);

impl<'a> Naive<'a> {
    /// The patterns in the order of their ids; none is empty.
    pub fn new(patterns: &'a [Vec<u8>]) -> Self {
        let mut by_front = vec![Vec::new(); 1 << 16];
        for (id, pattern) in patterns.iter().enumerate() {
            let seconds = pattern.get(1).map_or(0..=u8::MAX, |&b| b..=b);
            seconds.for_each(|b| by_front[front(pattern[0], b)].push(id as u32));
        }
        Self { patterns, by_front }
    }

    /// The right answer for one haystack.
    pub fn answer(&self, haystack: &[u8], question: Question) -> Answer {
        let (mut answer, mut from) = (Answer::default(), 0);
        let first = if question.is_leftmost() { Self::starts_first } else { Self::ends_first };
        while let Some((_, end)) = first(self, haystack, from) {
            answer.add(end);
            from = end;
            if !matches!(question, Question::FindIter | Question::LeftmostIter) {
                break;
            }
        }
        if question == Question::IsMatch { Answer { ends: 0, ..answer } } else { answer }
    }

    /// The match that ends first; of those, the longest, which starts first.
    fn ends_first(&self, haystack: &[u8], from: usize) -> Option<Found> {
        let mut best: Option<Found> = None;
        for start in from..haystack.len() {
            if best.is_some_and(|(_, end)| start >= end) {
                break;
            }
            let shortest = self.ends_at(haystack, start).min();
            let Some(end) = shortest else { continue };
            if best.is_none_or(|(_, least)| end < least) {
                best = Some((start, end));
            }
        }
        best
    }

    /// The match that starts first; of those, the one of the first pattern.
    fn starts_first(&self, haystack: &[u8], from: usize) -> Option<Found> {
        let at = |start| self.ends_at(haystack, start).next().map(|end| (start, end));
        (from..haystack.len()).find_map(at)
    }

    /// The ends of the matches that start at a position, in the order of their ids.
    fn ends_at(&self, haystack: &[u8], start: usize) -> impl Iterator<Item = usize> {
        let rest = &haystack[start..];
        // Behind a last byte any second byte will do: longer patterns do not match there.
        let second = rest.get(1).copied().unwrap_or(0);
        let patterns = self.by_front[front(rest[0], second)].iter();
        let patterns = patterns.map(|&id| &self.patterns[id as usize]);
        patterns.filter(move |p| rest.starts_with(p)).map(move |p| start + p.len())
    }
}

fn front(first: u8, second: u8) -> usize {
    usize::from(first) << 8 | usize::from(second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_question_has_its_answer() {
        let patterns = ["abcd", "bc", "ab", "d"].map(|p| p.as_bytes().to_vec());
        let naive = Naive::new(&patterns);
        let of = |haystack: &str, q| {
            let answer = naive.answer(haystack.as_bytes(), q);
            (answer.count, answer.ends)
        };
        assert_eq!(of("xabcd", Question::IsMatch), (1, 0));
        assert_eq!(of("xabcd", Question::Find), (1, 3), "ab ends first");
        assert_eq!(of("xabcd", Question::Leftmost), (1, 5), "abcd has the first id");
        assert_eq!(of("xabcd", Question::FindIter), (2, 3 + 5), "ab, d");
        assert_eq!(of("xabcd.abc", Question::LeftmostIter), (2, 5 + 8), "abcd, ab");
        assert_eq!(of("xyz", Question::IsMatch), (0, 0));
        assert_eq!(of("", Question::FindIter), (0, 0));
    }
}
