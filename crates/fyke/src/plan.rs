//! The planner: which engine takes a set, and why.
//!
//! For now it chooses between two forms of one automaton: the table while it is of reasonable size, the
//! failure-link form when it is not.

use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use fyke_cpu::engine::{ac_dfa, ac_nfa};
use std::fmt;
use std::sync::Arc;

/// The entry of the registry.
pub static AUTO: Auto = Auto;

static INFO: Info = Info {
    name: "auto",
    device: Device::Cpu,
    family: Family::Product,
    growth: Growth::Flat,
    about: "chooses the engine for the set, the machine and the memory limit; `fyke explain` says why",
    source: "-",
    variants: &[""],
};

/// Largest transition table that is taken without being asked for, in bytes. A bound on memory and not on
/// speed: in the `pattern-count` benchmark definition the table is 20 times as fast as failure links at
/// 10,000 patterns and 6.5 times at 100,000 (101 MB), for 6.4 times their memory.
pub const TABLE_UP_TO: u64 = 1 << 30;

/// Chooses an engine.
#[derive(Debug)]
pub struct Auto;

impl Engine for Auto {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        opt.check_params(&[])?;
        Plan::new(set, opt.memory_limit).engine()?.compile(set, opt)
    }
}

/// A choice and the reasons for it.
#[derive(Clone, Debug)]
pub struct Plan {
    set: PatternSet,
    considered: Vec<Considered>,
}

/// What the planner thinks of an engine for a set.
#[derive(Clone, Debug)]
pub struct Considered {
    /// The engine's name.
    pub engine: &'static str,
    /// Bytes of memory it would take.
    pub memory: u64,
    /// Why it is taken, or not.
    pub verdict: Result<&'static str, Refusal>,
}

impl Plan {
    /// Makes a plan, without building anything.
    pub fn new(set: &PatternSet, memory_limit: Option<u64>) -> Plan {
        let limit = memory_limit.unwrap_or(u64::MAX);
        let table_limit = limit.min(TABLE_UP_TO);
        let considered = vec![
            consider(
                "ac-dfa",
                ac_dfa::AcDfa::memory_for(set),
                table_limit,
                "one transition a byte, and the table is small enough",
            ),
            consider(
                "ac-nfa",
                ac_nfa::AcNfa::memory_for(set),
                limit,
                "the automaton that needs least memory",
            ),
        ];
        Plan { set: set.clone(), considered }
    }

    /// The engine that was chosen: the first one considered that is not refused.
    ///
    /// # Errors
    /// Nothing fits the memory limit; how much the smallest would need.
    pub fn engine(&self) -> Result<&'static dyn Engine, Refusal> {
        let taken = self.considered.iter().find(|c| c.verdict.is_ok());
        let smallest = || {
            self.considered.iter().min_by_key(|c| c.memory).and_then(|c| c.verdict.clone().err())
        };
        match taken {
            Some(c) => crate::registry::find(c.engine),
            None => Err(smallest().unwrap_or_else(|| Refusal::NoEngine("auto".into()))),
        }
    }

    /// What was considered, best first.
    pub fn considered(&self) -> &[Considered] {
        &self.considered
    }
}

fn consider(engine: &'static str, memory: u64, have: u64, reason: &'static str) -> Considered {
    let fits = memory <= have;
    let verdict = if fits {
        Ok(reason)
    } else {
        Err(Refusal::TooBig { what: "bytes of memory", need: memory, have })
    };
    Considered { engine, memory, verdict }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = &self.set;
        writeln!(f, "patterns   {} distinct under {} ids", s.len(), s.id_count())?;
        writeln!(
            f,
            "lengths    {} to {} bytes, {} bytes in all",
            s.min_len(),
            s.max_len(),
            s.total_bytes()
        )?;
        writeln!(f, "nocase     {}", s.nocase_count())?;
        writeln!(f, "overlap    a block or thread reads {} bytes before its own", s.lead())?;
        let mut taken = false;
        for c in &self.considered {
            let (mark, why) = match &c.verdict {
                Ok(reason) if !taken => ("taken", (*reason).to_owned()),
                Ok(_) => ("spare", "would do, too".to_owned()),
                Err(refusal) => ("not", refusal.to_string()),
            };
            taken |= c.verdict.is_ok();
            writeln!(f, "{:<10} {mark:<6} {:>14} bytes: {why}", c.engine, c.memory)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_taken_until_memory_is_short() {
        let set = PatternSet::new(["abcdefghij", "klmnopq"]).unwrap();
        let name = |limit| Plan::new(&set, limit).engine().map(|e| e.info().name);
        assert_eq!(name(None), Ok("ac-dfa"));
        let nfa = ac_nfa::AcNfa::memory_for(&set);
        assert_eq!(name(Some(nfa)), Ok("ac-nfa"));
        let refused = Refusal::TooBig { what: "bytes of memory", need: nfa, have: nfa - 1 };
        assert_eq!(name(Some(nfa - 1)), Err(refused));
    }

    #[test]
    fn a_plan_reads_well() {
        let text = Plan::new(&PatternSet::new(["abc"]).unwrap(), None).to_string();
        assert!(text.contains("ac-dfa     taken") && text.contains("3 to 3 bytes"), "{text}");
    }
}
