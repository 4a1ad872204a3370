//! The compressed automaton of Zha with summaries of type II: bitmap nodes of 94 bytes.
//!
//! Like [`ac_bitmap1`](super::ac_bitmap1), but a table of 16 bytes that all nodes share replaces
//! the third level of summaries: two additions instead of three.
//!
//! Beats type I in everything that is counted. Loses where type I does.
//!
//! Source: Zha (2010), sections 2.3 and 2.4.

use crate::bitmap;
use crate::bitmap::summary::TypeII;
use crate::cost::Downcast;
use fyke_core::{Device, Engine, Family, Growth, Info, Matcher, Options, PatternSet, Refusal};
use std::sync::Arc;

/// The entry of the registry.
pub static ENGINE: AcBitmap2 = AcBitmap2;

static INFO: Info = Info {
    name: "ac-bitmap2",
    device: Device::Cpu,
    family: Family::Paper,
    growth: Growth::Flat,
    about: "Aho-Corasick in bitmap, low-degree and path nodes; ranks by two levels of summaries and a table of 16 bytes",
    source: "Zha 2010, 2.3-2.4, type II",
    variants: &[""],
};

/// Counts the steps of its matchers.
pub(crate) const COUNTED: Downcast = bitmap::counted::<TypeII>;

/// The engine.
#[derive(Debug)]
pub struct AcBitmap2;

impl Engine for AcBitmap2 {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn compile(&self, set: &PatternSet, opt: &Options) -> Result<Arc<dyn Matcher>, Refusal> {
        bitmap::compile::<TypeII>(&INFO, set, opt)
    }
}
