//! The compressed automaton of Zha with summaries of type III: bitmap nodes of 61 bytes.
//!
//! Like [`ac_bitmap1`](super::ac_bitmap1), but with one level of summaries and a table of 256 KiB
//! that all nodes share: one addition.
//!
//! Wins: the smallest nodes and the fewest additions. Loses on small sets, whose automaton is
//! smaller than the table, and wherever the table competes for the L2 cache.
//!
//! Source: Zha (2010), sections 2.3 and 2.4.

use crate::bitmap;
use crate::bitmap::summary::TypeIII;
use crate::cost::Downcast;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcBitmap3 = AcBitmap3;

static INFO: Info = Info {
    name: "ac-bitmap3",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Aho-Corasick in bitmap, low-degree and path nodes; ranks by one level of summaries and a table of 256 KiB",
    source: "Zha 2010, 2.3-2.4, type III",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = bitmap::counted::<TypeIII>;

/// The engine.
#[derive(Debug)]
pub struct AcBitmap3;

impl Engine for AcBitmap3 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        bitmap::compile::<TypeIII>(&INFO, set, opt)
    }
}
