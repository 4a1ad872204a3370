//! The share of a suite that runs with each change. `FYKE_SHARE=all` runs the whole suite.
//!
//! A suite combines engines, variants, inputs and ways, and an error shows in many of the
//! combinations. So one in a few is enough for each change. An engine has the same share in every
//! run, the next engine has another one, and a few engines together have all inputs and all ways.
//! The default engine runs everything. What is left out is counted or printed.
//!
//! The suite `properties` draws new cases in every run, so there a share is only a number of cases.

use crate::subject::{Subject, Suite};
use fyke_core::{Device, Family};
use std::sync::OnceLock;

/// The environment variable that asks for the whole suite when it is `all`.
pub const SHARE: &str = "FYKE_SHARE";

/// The engine that runs everything in its default variant.
const DEFAULT: &str = "auto";

/// Whether the whole suite is to run.
///
/// # Panics
/// The variable has another value.
pub fn is_whole() -> bool {
    static WHOLE: OnceLock<bool> = OnceLock::new();
    *WHOLE.get_or_init(|| match std::env::var(SHARE).as_deref() {
        Ok("all") => true,
        Ok("") | Err(_) => false,
        Ok(other) => panic!("{SHARE} is {other:?}, and may only be `all`"),
    })
}

/// The share of one of the subjects of a suite.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    place: usize,
    parts: usize,
}

impl Share {
    /// One part in `parts` of a suite, for the subject at this place in a list.
    pub fn new(place: usize, parts: usize) -> Share {
        let parts = if is_whole() { 1 } else { parts };
        Share { place, parts }
    }

    /// One part in `parts` of a suite, for one of its subjects; all of it for the default engine.
    pub fn of(suite: &Suite, subject: Subject, parts: usize) -> Share {
        if subject.label() == DEFAULT {
            return Share::everything();
        }
        Share::new(suite.place(subject), parts)
    }

    /// Everything.
    pub fn everything() -> Share {
        Share { place: 0, parts: 1 }
    }

    /// Whether the item at this index of an input list belongs to the share.
    pub fn has(self, index: usize) -> bool {
        (self.place + index).is_multiple_of(self.parts)
    }
}

/// A variant runs one part in this many. The papers' engines for GPUs run fewer: OpenCL on the CPU
/// spends more time on launches than on searches.
pub(crate) fn parts_for(subject: Subject) -> usize {
    match (subject.engine.info().device, subject.engine.info().family) {
        (Device::Gpu, Family::Paper) => 6,
        _ => 3,
    }
}

/// Whether the engines of each device together have everything. A device without engines has none
/// to test.
///
/// # Errors
/// An index that no engine of a device has.
pub(crate) fn is_complete(suite: &Suite) -> Result<(), String> {
    for device in [Device::Cpu, Device::Gpu] {
        let mut of_device = suite.subjects();
        of_device.retain(|s| s.engine.info().device == device);
        let has = |i| of_device.iter().any(|s| Share::of(suite, *s, parts_for(*s)).has(i));
        // The numbers of parts divide 6, so all indices are like one of these.
        if let Some(i) = (0..6).find(|&i| !of_device.is_empty() && !has(i)) {
            return Err(format!("no engine for {device:?} has item {i} in its share"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_equal_and_those_of_neighbors_have_everything() {
        for parts in 1..8 {
            let shares: Vec<_> = (3..3 + parts).map(|place| Share { place, parts }).collect();
            for index in 0..50 {
                assert_eq!(shares.iter().filter(|share| share.has(index)).count(), 1);
            }
        }
        assert!((0..50).all(|index| Share::everything().has(index)));
    }
}
