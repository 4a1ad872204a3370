//! Replaces the module `gpu` in a build without the feature `gpu`: no GPU is considered or taken.

use super::Considered;
use fyke_core::{Matcher, Options, PatternSet};
use std::fmt;
use std::sync::Arc;

/// Why no GPU takes the set.
#[derive(Clone, Debug)]
pub(super) enum Verdict {
    Not(String),
}

impl Verdict {
    pub(super) fn weigh(_: f32, _: &PatternSet, _: &Options) -> Verdict {
        Verdict::Not(crate::registry::NO_GPU.to_owned())
    }

    pub(super) fn is_taken(&self) -> bool {
        false
    }

    pub(super) fn compile(&self, _: &PatternSet, _: &Options) -> Option<Arc<dyn Matcher>> {
        None
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict::Not(why) = self;
        write!(f, "not: {why}")
    }
}

pub(super) fn gpu_considered(_: &PatternSet, _: &Options) -> Vec<Considered> {
    Vec::new()
}
