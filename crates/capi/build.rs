//! Names the shared library, so that programs which link with it look for that name.

/// The name that cargo-c gives it too: see `package.metadata.capi.library` in Cargo.toml.
const SONAME: &str = "libfyke.so.1";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,{SONAME}");
        // It is never unloaded: threads run destructors of its thread-local values when they end.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
