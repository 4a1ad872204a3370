//! Runs of cells: each is prepared, built, verified and timed.

pub mod calls;
pub mod measure;
pub mod naive;
pub mod replay;
pub mod rows;
pub mod settings;

pub use measure::{contest, measure};
pub use settings::RunSettings;
