//! `cargo xtask public-api`: lists the public items of the library, so that a change of the API
//! shows in review.
//!
//! rustdoc writes what it knows as JSON, which is unstable, so a stable toolchain needs
//! `RUSTC_BOOTSTRAP`. The crate `public-api` turns it into one line per item. The version of that
//! crate belongs to the JSON format of the toolchain.

use anyhow::{Context, Result, bail};
use clap::Parser;
use public_api::{Builder, PublicApi};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::cargo;

/// The listing.
const FILE: &str = "docs/public-api.txt";

const HEAD: &str = "\
# The public items of the library, with all features. Written by `cargo xtask public-api`.
# Left out: what `#[derive]` implements, blanket implementations, automatic traits, and `fyke::gpu`.
";

#[derive(Parser)]
pub(crate) struct Args {
    /// Fail if the listing is not up to date, and write nothing
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let listing = listing()?;
    if !args.check {
        std::fs::write(FILE, listing).with_context(|| format!("writing {FILE}"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let known = std::fs::read_to_string(FILE).with_context(|| format!("reading {FILE}"))?;
    let differing = difference(&known, &listing);
    if differing.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    bail!("the public API differs from {FILE}:\n{differing}run cargo xtask public-api");
}

/// The items of `fyke`, and those of other crates that it re-exports.
fn listing() -> Result<String> {
    let facade = items("fyke")?;
    let exported = facade.iter().filter_map(|item| item.strip_prefix("pub use fyke::"));
    let exported: BTreeSet<&str> = exported.collect();
    let (core, io) = (items("fyke-core")?, items("fyke-io")?);
    let mut text = HEAD.to_owned();
    let others = belonging(&core, &exported).chain(belonging(&io, &exported));
    for item in facade.iter().chain(others) {
        writeln!(text, "{item}")?;
    }
    Ok(text)
}

/// The items that belong to some names of a crate's root. What belongs to a name follows it in the
/// list.
fn belonging<'a>(
    items: &'a [String],
    names: &'a BTreeSet<&str>,
) -> impl Iterator<Item = &'a String> {
    let mut wanted = false;
    items.iter().filter(move |item| {
        if let Some(name) = declared(item) {
            wanted = names.contains(name);
        }
        wanted
    })
}

/// The name in the crate's root that an item declares, or in whose module it is declared. `None`
/// for fields, variants, methods and implementations.
fn declared(item: &str) -> Option<&str> {
    let item = item.strip_prefix("#[non_exhaustive] ").unwrap_or(item);
    let mut words = item.strip_prefix("pub ")?.split(' ').skip_while(|w| *w == "unsafe");
    let (keyword, path) = (words.next()?, words.next()?);
    // Generic parameters and arguments have paths of their own.
    let path = path.split(['<', '(']).next()?;
    let mut parts = path.split("::").skip(1);
    let name = parts.next().unwrap_or_default();
    let declares = match keyword {
        "mod" | "struct" | "enum" | "union" | "trait" => true,
        "fn" | "const" | "static" | "type" | "macro" => parts.next().is_none(),
        _ => false,
    };
    declares.then(|| name.trim_end_matches([':', ';']))
}

/// The public items of a package, one line each.
fn items(package: &str) -> Result<Vec<String>> {
    let json = rustdoc_json(package)?;
    let api: PublicApi = Builder::from_rustdoc_json(&json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .with_context(|| {
            format!(
                "reading {}: the JSON format of this toolchain needs another version of the crate \
                 public-api",
                json.display()
            )
        })?;
    Ok(api.items().map(ToString::to_string).collect())
}

/// Runs rustdoc. In a folder of its own, because its settings would make cargo build other crates
/// again.
fn rustdoc_json(package: &str) -> Result<PathBuf> {
    let target = cargo::target().join("public-api");
    let folder = target.to_str().context("the folder that cargo builds in is not UTF-8")?;
    let arguments = [
        ["rustdoc", "--quiet", "--package", package, "--all-features", "--target-dir", folder],
        ["--lib", "--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints=warn"],
    ];
    cargo::run(&arguments.concat(), &[("RUSTC_BOOTSTRAP", "1")])?;
    Ok(target.join("doc").join(package.replace('-', "_")).with_extension("json"))
}

/// The lines that only one of two texts has, as in a diff.
fn difference(known: &str, now: &str) -> String {
    let (before, after): (BTreeSet<_>, BTreeSet<_>) =
        (known.lines().collect(), now.lines().collect());
    let gone = before.difference(&after).map(|line| format!("-{line}\n"));
    let new = after.difference(&before).map(|line| format!("+{line}\n"));
    gone.chain(new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_an_exported_name_belongs_to_it() {
        let wanted = [
            "pub struct a::Batch<'a>",
            "pub a::Batch::base: u64",
            "impl<'a> a::batch::Batch<'a>",
            "pub const a::batch::Batch<'a>::MOST: usize",
            "pub fn a::batch::Batch<'a>::end(&self, a::Record) -> u64",
            "#[non_exhaustive] pub enum a::rules::Rule",
            "pub fn a::rules::parse(&str)",
        ];
        let others = [
            "pub mod a",
            "pub struct a::batch::Batch<'a>",
            "pub fn a::find(&a::Batch<'_>)",
            "#[non_exhaustive] pub enum a::Other",
        ];
        let order =
            [&others[..2], &wanted[..5], &others[2..3], &wanted[5..], &others[3..]].concat();
        let items: Vec<String> = order.into_iter().map(str::to_owned).collect();
        let names = BTreeSet::from(["Batch", "rules"]);
        assert!(belonging(&items, &names).eq(&wanted));
    }

    #[test]
    fn a_difference_names_lines() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), "-a\n+c\n");
        assert_eq!(difference("a\n", "a\n"), "");
    }
}
