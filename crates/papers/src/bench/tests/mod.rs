//! Tests over several files of this folder.

mod claim;
mod definition;
mod grid;
