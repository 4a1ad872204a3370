//! Gives the shared library the name that programs which link with Hyperscan look for.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libhs.so.5");
        // It is never unloaded: threads run destructors of its thread-local values when they end.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
}
