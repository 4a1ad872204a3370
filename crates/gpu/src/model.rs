//! Completion times of host-to-host strategies.
