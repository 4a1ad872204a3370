//! A case: a configuration, an image and flags, carved by fyke.

use fyke_carve::layout::{Layout, LayoutOptions};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::pipeline::{ScanOptions, scan};
use fyke_carve::{CarvedFile, Compat, Hits, Image, RuleSet, conf};
use std::io;
use std::path::PathBuf;

/// What is carved, and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Case {
    pub(crate) conf: Vec<u8>,
    pub(crate) image: Vec<u8>,
    pub(crate) missing_footer: bool,
    pub(crate) cluster: Option<u64>,
    pub(crate) no_overlap: bool,
    pub(crate) all_footers: bool,
    pub(crate) skip: u64,
    pub(crate) preview: bool,
}

/// A row of the audit file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) chopped: bool,
    pub(crate) len: u64,
}

/// What fyke carves.
pub(crate) struct Carved {
    pub(crate) rules: RuleSet,
    pub(crate) hits: Hits,
    pub(crate) files: Vec<CarvedFile>,
    pub(crate) paths: Vec<PathBuf>,
}

impl Case {
    pub(crate) fn new(conf: &str, image: Vec<u8>) -> Self {
        Self { conf: conf.into(), image, ..Self::default() }
    }

    pub(crate) fn options(&self, compat: Compat) -> PairOptions {
        PairOptions {
            missing_footer: self.missing_footer,
            cluster: self.cluster,
            no_overlap: self.no_overlap,
            skip: self.skip,
            all_footers: self.all_footers,
            compat,
        }
    }

    pub(crate) fn carve(&self, compat: Compat) -> Carved {
        let rules = conf::parse(&self.conf, "case.conf", conf::Options { compat }).unwrap();
        let scan_options = ScanOptions { threads: 2, ..ScanOptions::default() };
        let hits = scan(&Memory(&self.image), &rules, &scan_options, &()).unwrap().hits;
        let files = pair(&rules, &hits, &self.options(compat), 0);
        let options = LayoutOptions { compat, ..LayoutOptions::default() };
        let mut layout = Layout::new(&rules, options);
        let paths = files.iter().map(|file| layout.path(file)).collect();
        Carved { rules, hits, files, paths }
    }
}

impl Carved {
    /// The rows, sorted.
    pub(crate) fn rows(&self) -> Vec<Row> {
        let row = |(file, path): (&CarvedFile, &PathBuf)| Row {
            name: path.file_name().unwrap().to_str().unwrap().to_string(),
            start: file.start,
            chopped: file.chopped,
            len: file.len,
        };
        let mut rows: Vec<_> = self.files.iter().zip(&self.paths).map(row).collect();
        rows.sort();
        rows
    }
}

/// An image in memory.
pub(crate) struct Memory<'a>(pub(crate) &'a [u8]);

impl Image for Memory<'_> {
    fn name(&self) -> &str {
        "memory"
    }

    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let rest = &self.0[(offset as usize).min(self.0.len())..];
        let len = rest.len().min(buf.len());
        buf[..len].copy_from_slice(&rest[..len]);
        Ok(len)
    }
}
