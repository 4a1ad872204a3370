//! How hits are paired, and where the list of hits goes: for `fyke carve` and `fyke carve pair`.

use crate::number;
use anyhow::Context;
use clap::Args;
use fyke_carve::pair::PairOptions;
use fyke_carve::{Compat, Hits, RuleSet, hit_list};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

/// How to pair.
#[derive(Args, Debug)]
#[command(next_help_heading = "Pairing")]
pub(super) struct PairFlags {
    /// Carve files without a footer too, up to the largest size of their rule
    #[arg(short = 'b', long)]
    missing_footer: bool,

    /// Carve only files that begin at a multiple of this, such as the size of a cluster
    #[arg(short = 'q', long, value_name = "N", value_parser = number::within(1..=u64::MAX))]
    cluster: Option<u64>,

    /// Of overlapping hits of the same header or footer, take the first only
    #[arg(short = 'r', long)]
    no_overlap: bool,

    /// Skip this many bytes of each image
    #[arg(short = 's', long, value_name = "N", default_value = "0", hide_default_value = true)]
    #[arg(value_parser = number::size)]
    pub(super) skip: u64,

    /// Write the offsets of all headers and footers to a file, too: IMAGE.hfd in the output folder,
    /// or NEWDB with the extension hfd
    #[arg(short = 'd', long)]
    pub(super) hit_list: bool,

    /// Reproduce the bugs of this version of Scalpel
    #[arg(long, value_name = "VERSION", value_parser = super::compat())]
    compat: Option<Compat>,
}

impl PairFlags {
    pub(super) fn options(&self) -> PairOptions {
        PairOptions {
            missing_footer: self.missing_footer,
            cluster: self.cluster,
            no_overlap: self.no_overlap,
            skip: self.skip,
            all_footers: self.hit_list,
            compat: self.compat(),
        }
    }

    pub(super) fn compat(&self) -> Compat {
        self.compat.unwrap_or_default()
    }
}

/// Writes the offsets of all hits to a file.
pub(super) fn write_hit_list(
    path: &Path,
    rules: &RuleSet,
    hits: &Hits,
    options: &PairOptions,
) -> anyhow::Result<()> {
    let write = || {
        let mut out = BufWriter::new(File::create(path)?);
        hit_list::write(&mut out, rules, hits, options)?;
        out.flush()
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}
