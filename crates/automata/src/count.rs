//! [`Counter`]: counts the steps of a scan, to compare algorithms independently of the machine.
//!
//! A scanning loop is generic over a [`Counter`]. With [`Uncounted`] every call is empty and
//! compiles away. So the same loop counts and scans. A crate that counts more than transitions
//! extends the trait.

/// Receives the steps of a scan.
pub trait Counter {
    /// The automaton moved `count` times from a state to a state.
    #[inline(always)]
    fn transitions(&mut self, _count: u64) {}
}

/// Counts nothing and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uncounted;

impl Counter for Uncounted {}
