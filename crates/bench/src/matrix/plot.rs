//! The drawings.
