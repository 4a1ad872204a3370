//! `fyke bench hs`: fyke's libhs beside a real one, on a rule file.
//!
//! Both are shared libraries that are opened and called as a program does that is linked with
//! `libhs.so.5`. They compile the same set, every call is verified, and then they take samples in
//! turn: of compiling, and of each way to scan the haystacks.

pub mod cli;
mod columns;
mod compile;
mod haystacks;
mod libraries;
mod print;
mod rows;
mod scan;
mod way;
