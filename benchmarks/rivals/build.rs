//! Tells the crate which versions of the rival crates it is built with: those of `Cargo.lock`.

use std::fs;

fn main() {
    let path = "../../Cargo.lock";
    println!("cargo::rerun-if-changed={path}");
    let lock = fs::read_to_string(path).unwrap_or_default();
    for name in ["aho-corasick", "daachorse", "memchr"] {
        let variable = format!("FYKE_{}_VERSION", name.to_uppercase().replace('-', "_"));
        println!("cargo::rustc-env={variable}={}", version(&lock, name));
    }
}

fn version<'a>(lock: &'a str, name: &str) -> &'a str {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let rest = lock.split_once(&entry).map(|(_, rest)| rest);
    rest.and_then(|r| r.split_once('"')).map_or("unknown", |(version, _)| version)
}
