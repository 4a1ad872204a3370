//! [`Engine`]: the compiled rules of a database, one literal or several.

use crate::error::Failure;
use crate::expression::Literal;
use crate::multi::Multi;
use crate::report::Reporter;
use crate::rules::{Rule, check_ids};
use crate::single::Single;
use fyke_core::{Block, Driver};
use std::ops::ControlFlow;

/// The compiled rules of a database.
pub(crate) enum Engine {
    Single(Single),
    /// Several literals, or one that is too long for `Single`.
    Multi(Box<Multi>),
}

impl Engine {
    /// Compiles rules.
    pub(crate) fn new(mut rules: Vec<Rule>) -> Result<Engine, Failure> {
        if let [rule] = rules.as_slice()
            && rule.literal.bytes.len() <= Single::MAX_LEN
            && let Some(rule) = rules.pop()
        {
            return Ok(Engine::Single(Single::new(rule)));
        }
        check_ids(&rules)?;
        Ok(Engine::Multi(Box::new(Multi::new(&rules)?)))
    }

    /// The rules that it was compiled from.
    pub(crate) fn rules(&self) -> Vec<Rule> {
        match self {
            Engine::Single(single) => {
                let literal = Literal { bytes: single.bytes().to_vec(), nocase: single.nocase() };
                vec![Rule { literal, terms: *single.terms() }]
            }
            Engine::Multi(multi) => multi.rules(),
        }
    }

    /// The number of ids with at most one match.
    pub(crate) fn slots(&self) -> usize {
        match self {
            Engine::Single(single) => usize::from(single.terms().is_single),
            Engine::Multi(multi) => multi.reports().slots(),
        }
    }

    /// Bytes of history that a block needs.
    pub(crate) fn overlap(&self) -> usize {
        match self {
            Engine::Single(single) => single.bytes().len() - 1,
            Engine::Multi(multi) => multi.overlap(),
        }
    }

    /// No match ends after this.
    pub(crate) fn last_end(&self) -> u64 {
        match self {
            Engine::Single(single) => single.terms().max,
            Engine::Multi(multi) => multi.reports().last_end(),
        }
    }

    /// Bytes on the heap.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Engine::Single(single) => single.memory(),
            Engine::Multi(multi) => size_of::<Multi>() + multi.memory(),
        }
    }

    /// Reports the matches that a block owns. `Break` ends the scan.
    pub(crate) fn scan(
        &self,
        block: Block<'_>,
        driver: &mut Driver,
        reporter: &mut Reporter<'_>,
    ) -> ControlFlow<()> {
        let Some(block) = self.within_limits(block) else { return ControlFlow::Continue(()) };
        match self {
            Engine::Single(single) => single.scan(block, reporter),
            Engine::Multi(multi) => multi.scan(block, driver, reporter),
        }
    }

    /// The part of a block in which a match may end within the limits of some rule; none if there
    /// is no such part.
    fn within_limits<'h>(&self, block: Block<'h>) -> Option<Block<'h>> {
        let most = self.last_end().saturating_sub(block.offset);
        let len = usize::try_from(most).unwrap_or(usize::MAX).min(block.bytes.len());
        (len > block.overlap).then(|| Block { bytes: &block.bytes[..len], ..block })
    }
}
