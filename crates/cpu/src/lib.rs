//! CPU engines of fyke: one file each, one registry
