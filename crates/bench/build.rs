//! Tells the crate which compiler built it, for the record.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=RUSTC");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_string());
    println!(
        "cargo::rustc-env=FYKE_RUSTC_VERSION={}",
        version.unwrap_or_else(|_| "unknown".into())
    );
    println!("cargo::rustc-env=FYKE_PROFILE={}", env::var("PROFILE").unwrap_or_default());
}
