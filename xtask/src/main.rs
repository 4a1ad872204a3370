//! Tasks of the workspace: `cargo xtask VERB`. One file per verb.

#![deny(unsafe_code)]

mod aarch64;
mod bench;
mod cargo;
mod check;
mod duckdb;
mod emulate;
mod figures;
mod generate;
mod header;
mod instructions;
mod kernels;
mod public_api;
mod release;
mod soak;
mod web;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Tasks of the fyke workspace",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Measure fyke and other matchers on the same patterns and data, in a release build
    #[command(disable_help_flag = true)]
    Bench(bench::Args),
    /// Run the checks that need only Rust: format, clippy, documents, tests
    Check,
    /// Build the extension for DuckDB
    Duckdb(duckdb::Args),
    /// Test on emulated CPUs: one without AVX-512, one without AVX2, one of AArch64, and
    /// WebAssembly; needs valgrind, qemu-user, wasmtime, and what builds for AArch64
    Emulate(emulate::Args),
    /// Write the pages, plots and headline figures that are generated from the benchmark records
    Figures(figures::Args),
    /// Write the documents that are generated from the code
    Generate,
    /// Write the header of the C API from its sources
    Header(header::Args),
    /// Count the instructions per byte of engines, on x86-64 and AArch64, and compare them with the
    /// record; needs what `emulate` needs
    Instructions(instructions::Args),
    /// Compile the GPU kernels to PTX; needs NVRTC, but no GPU
    Kernels(kernels::Args),
    /// List the public items of the library in docs/public-api.txt
    PublicApi(public_api::Args),
    /// Build, check and sum what a release consists of, and write its notes
    Release(release::Args),
    /// Compare every public call with a naive search on random input, for some time
    Soak(soak::Args),
    /// Build the page of examples/web; needs Rust's target wasm32-unknown-unknown
    Web(web::Args),
}

fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().verb {
        Verb::Bench(args) => bench::run(&args),
        Verb::Check => check::run(),
        Verb::Duckdb(args) => duckdb::run(&args),
        Verb::Emulate(args) => emulate::run(&args),
        Verb::Figures(args) => figures::run(&args),
        Verb::Generate => generate::run(),
        Verb::Header(args) => header::run(&args),
        Verb::Instructions(args) => instructions::run(&args),
        Verb::Kernels(args) => kernels::run(&args),
        Verb::PublicApi(args) => public_api::run(&args),
        Verb::Release(args) => release::run(&args),
        Verb::Soak(args) => soak::run(&args),
        Verb::Web(args) => web::run(&args),
    }
}
