//! A plan as text, for `fyke explain`.

use super::gpu::gpu_considered;
use super::{Answer, Arrangement, Considered, Patterns, Plan};
use fyke_core::Refusal;
use std::fmt;

impl Plan {
    /// Whether an explanation shows an answer: those about all patterns, and those about the
    /// subsets of the best arrangement.
    fn shows(&self, considered: &Considered) -> bool {
        let best = self.arrangements.first().map_or(&[][..], |a| &a.picks);
        let cut = best.iter().any(|p| p.subset.which == considered.patterns);
        considered.patterns == Patterns::All || cut
    }

    /// Why no arrangement is left: the least memory that an engine needs for the whole set, or else
    /// the first refusal. If the options name an engine, only its answer counts.
    pub(super) fn why_nothing_fits(&self) -> Refusal {
        let have = self.opt.memory_limit.unwrap_or(u64::MAX);
        let whole = self.considered.iter().filter(|c| c.patterns == Patterns::All);
        let whole = whole.filter(|c| !self.auto.names_another(c.engine));
        let memory = whole.clone().filter_map(|c| c.answer.forecast()).map(|f| f.memory);
        if let Some(need) = memory.min() {
            return Refusal::TooBig { what: Refusal::MEMORY, need, have };
        }
        let mut refused = whole.filter_map(|c| match &c.answer {
            Answer::Refused(refusal) => Some(refusal.clone()),
            _ => None,
        });
        refused.next().unwrap_or_else(|| Refusal::NoEngine("auto".into()))
    }
}

impl Answer {
    /// The forecast, if the engine was asked and takes the patterns.
    pub fn forecast(&self) -> Option<&fyke_core::Forecast> {
        match self {
            Answer::Forecast(forecast) => Some(forecast),
            _ => None,
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.set;
        let (min, max, bytes) = (s.min_len(), s.max_len(), s.total_bytes());
        writeln!(f, "patterns   {} distinct under {} ids", s.len(), s.id_count())?;
        writeln!(f, "lengths    {min} to {max} bytes, {bytes} bytes in all")?;
        writeln!(f, "nocase     {}", s.nocase_count())?;
        writeln!(f, "overlap    each block starts with {} bytes of the one before", s.overlap())?;
        for c in self.considered.iter().filter(|c| self.shows(c)) {
            writeln!(f, "{c}")?;
        }
        for c in gpu_considered(&self.set, &self.opt_of_gpu()) {
            writeln!(f, "{c}")?;
        }
        let mut marks = std::iter::once("taken").chain(std::iter::repeat("then"));
        let mark = if self.gpu.is_taken() { marks.next().unwrap_or_default() } else { "gpu" };
        writeln!(f, "{mark:<10} {}", self.gpu)?;
        for (arrangement, mark) in self.arrangements.iter().take(3).zip(marks) {
            writeln!(f, "{mark:<10} {arrangement}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Arrangement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pick = |p: &super::Pick| format!("{} for {}", p.candidate.name(), p.subset.which);
        let picks: Vec<_> = self.picks.iter().map(pick).collect();
        write!(f, "{:.3} ns/B expected: {}", self.ns(), picks.join(", "))
    }
}

impl fmt::Display for Considered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<18} {:<20} ", self.engine, self.patterns)?;
        match &self.answer {
            Answer::Forecast(e) => write!(
                f,
                "{:>7.3} ns/B {:>14} bytes {:>9.1} ms: {}",
                e.ns_per_byte, e.memory, e.build_ms, e.why
            ),
            Answer::Refused(why) => write!(f, "not: {why}"),
            Answer::TooSlow(ns) => write!(f, "not asked: {ns:.3} ns/B at best"),
        }
    }
}
