//! The compressed automaton of Zha with summaries of type I: bitmap nodes of 110 bytes.
//!
//! It takes three quarters of the memory of `ac-tuck` and an eighth of its additions. States with
//! few children are in nodes of 25 bytes, where a byte is found by comparison; paths of up to 256
//! states share a node; and the rank of a byte in a bitmap is the sum of three summaries and a
//! bit. [`bitmap`] explains the layout, [`summary`](crate::bitmap::summary) the ranks.
//!
//! Wins: it has no look-up table, so the automaton of a small set stays small. Loses: its bitmap
//! nodes are the largest of the three types, and like every automaton with failure links it takes
//! up to two transitions per byte, each a load that depends on the one before.
//!
//! Source: Zha (2010), sections 2.3 and 2.4.

use crate::bitmap;
use crate::bitmap::summary::TypeI;
use crate::cost::Downcast;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcBitmap1 = AcBitmap1;

static INFO: Info = Info {
    name: "ac-bitmap1",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Aho-Corasick in bitmap, low-degree and path nodes; ranks by three levels of summaries",
    source: "Zha 2010, 2.3-2.4, type I",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = bitmap::counted::<TypeI>;

/// The engine.
#[derive(Debug)]
pub struct AcBitmap1;

impl Engine for AcBitmap1 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        bitmap::compile::<TypeI>(&INFO, set, opt)
    }
}
