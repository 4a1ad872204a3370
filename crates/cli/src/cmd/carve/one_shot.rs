//! `fyke carve` without a verb: both phases at once, with the letters of Scalpel's command line.

use super::scan::folder::{OutputFolder, Present, command_to_resume};
use super::scan::watch::Watch;
use crate::number;
use crate::outcome::Outcome;
use crate::run::progress::Progress;
use crate::warning;
use anyhow::{Context, bail};
use clap::Args;
use fyke_carve::audit::{self, Audit, Head};
use fyke_carve::extract::{ExtractError, ExtractOptions, Extracted, extract};
use fyke_carve::layout::{Layout, LayoutOptions};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::pipeline::{self, ScanOptions};
use fyke_carve::{CarvedFile, Compat, Hits, Image, RuleSet, conf, hit_list, image};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// More warnings about rules than these are for `check-conf`.
const MOST_WARNINGS: usize = 20;

pub(super) const NOTES: &str = "\
Without a verb, fyke finds files in images and copies them to a folder, as Scalpel does, and takes \
Scalpel's letters. FOLDER/audit.txt lists the files. Scalpel's known bugs are fixed: \
docs/coming-from-scalpel.md lists them. --compat 1.60 reproduces them, so that rows are equal.

To look first and copy later, use `fyke carve scan`.

Examples:
  fyke carve -c scalpel.conf -o found disk.raw               carve
  fyke carve -c scalpel.conf -o found -p disk.raw            list what would be carved
  fyke carve --compat 1.60 -c scalpel.conf -o found disk.raw the rows of Scalpel 1.60
  fyke carve check-conf scalpel.conf                         look for mistakes in rules

Exit codes: 0 files found, 1 none found, 2 error.";

/// Arguments of `fyke carve` without a verb.
#[derive(Args, Debug)]
pub(super) struct OneShotArgs {
    /// Images: raw files, first parts of split images, or devices
    #[arg(value_name = "IMAGE", required_unless_present = "list")]
    images: Vec<PathBuf>,

    /// File of rules, as Scalpel has them; by default rules for about 60 formats
    #[arg(short = 'c', long, value_name = "CONF")]
    conf: Option<PathBuf>,

    /// Folder for the files. It must be empty, or not exist
    #[arg(short = 'o', long, value_name = "FOLDER", default_value = "carve-output")]
    output: PathBuf,

    /// Read the names of the images from this file, one per line
    #[arg(short = 'i', long = "image-list", id = "list", value_name = "FILE")]
    list: Option<PathBuf>,

    /// Write audit.txt only, and no carved file
    #[arg(short = 'p', long)]
    preview: bool,

    /// Carve files without a footer too, up to the largest size of their rule
    #[arg(short = 'b', long)]
    missing_footer: bool,

    /// Carve only files that begin at a multiple of this size
    #[arg(short = 'q', long, value_name = "N", value_parser = number::within(1..=u64::MAX))]
    cluster: Option<u64>,

    /// Of overlapping headers or footers, take the first only
    #[arg(short = 'r', long)]
    no_overlap: bool,

    /// Skip this many bytes of each image
    #[arg(short = 's', long, value_name = "N", default_value = "0", hide_default_value = true)]
    #[arg(value_parser = number::size)]
    skip: u64,

    /// Write the offsets of all headers and footers to IMAGE.hfd
    #[arg(short = 'd', long)]
    hit_list: bool,

    /// Write all files to one folder
    #[arg(short = 'O', long)]
    flat: bool,

    /// Write files without extensions
    #[arg(short = 'n', long)]
    no_extension: bool,

    /// Print each file that is found
    #[arg(short = 'v', long)]
    verbose: bool,

    /// Reproduce the bugs of this version of Scalpel
    #[arg(long, value_name = "VERSION", value_parser = super::compat())]
    compat: Option<Compat>,

    /// Write to a folder that is not empty, over files that are there
    #[arg(long)]
    force: bool,

    /// Go on with a carve that was stopped: files that are complete are kept
    #[arg(long, conflicts_with = "force")]
    resume: bool,

    /// Number of threads that search; 0 means one per CPU
    #[arg(short = 'j', long, value_name = "N", default_value = "0")]
    #[arg(value_parser = number::threads, allow_negative_numbers = true)]
    threads: usize,
}

pub(super) fn run(args: &OneShotArgs) -> anyhow::Result<Outcome> {
    let (conf, text) = super::read_conf(args.conf.as_deref())?;
    let rules = args.read_rules(&conf, &text)?;
    let images = args.open_images()?;
    let present = match () {
        () if args.force => Present::Replace,
        () if args.resume => Present::Resume,
        () => Present::Refuse,
    };
    OutputFolder::open(&args.output, present)?;
    let progress = Progress::of_bytes(Some(images.iter().map(|i| i.len()).sum()));
    let options =
        LayoutOptions { flat: args.flat, no_extension: args.no_extension, compat: args.compat() };
    let layout = Layout::new(&rules, options);
    let audit = args.begin_audit(&conf)?;
    let mut carve = Carve { args, rules: &rules, progress: &progress, layout, audit, files: 0 };
    for image in &images {
        carve.image(&**image)?;
    }
    progress.finish();
    let files = carve.files;
    carve.audit.complete(SystemTime::now()).with_context(|| args.cannot_write_audit())?;
    Ok(if files > 0 { Outcome::Match } else { Outcome::NoMatch })
}

impl OneShotArgs {
    fn compat(&self) -> Compat {
        self.compat.unwrap_or_default()
    }

    fn read_rules(&self, shown: &str, text: &[u8]) -> anyhow::Result<RuleSet> {
        let options = conf::Options { compat: self.compat() };
        let rules = conf::parse(text, shown, options)?;
        let warnings = conf::lint(text, shown, options);
        for line in warnings.iter().take(MOST_WARNINGS) {
            warning::print(format_args!("warning: {line}"));
        }
        if let Some(more @ 1..) = warnings.len().checked_sub(MOST_WARNINGS) {
            warning::print(format_args!(
                "{more} more warnings: `fyke carve check-conf {shown}` prints all"
            ));
        }
        Ok(rules)
    }

    /// Opens all images before anything is written.
    fn open_images(&self) -> anyhow::Result<Vec<Box<dyn Image>>> {
        let mut paths = self.images.clone();
        if let Some(list) = &self.list {
            let text = fs::read_to_string(list)
                .with_context(|| format!("cannot read the list of images {}", list.display()))?;
            paths.extend(text.lines().filter(|line| !line.is_empty()).map(PathBuf::from));
            if paths.is_empty() {
                bail!("the list of images {} is empty: write one path per line", list.display());
            }
        }
        paths.iter().map(|path| self.open_image(path)).collect()
    }

    fn open_image(&self, path: &Path) -> anyhow::Result<Box<dyn Image>> {
        if path.as_os_str() == "-" {
            bail!("standard input cannot be read twice: `fyke carve scan` takes it");
        }
        let image = image::open(path)?;
        if self.skip > image.len() {
            let (name, len) = (image.name(), image.len());
            bail!("-s {} is behind the end of {name}, which has {len} bytes", self.skip);
        }
        Ok(image)
    }

    fn begin_audit(&self, conf: &str) -> anyhow::Result<Audit<BufWriter<File>>> {
        let begin = || {
            let output = fs::canonicalize(&self.output)?;
            let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
            let head = Head {
                compat: self.compat(),
                started: SystemTime::now(),
                command: &words.collect::<Vec<_>>(),
                output: &output.to_string_lossy(),
                conf,
            };
            let file = File::create(self.output.join(audit::FILE_NAME))?;
            Audit::new(BufWriter::new(file), &head)
        };
        begin().with_context(|| self.cannot_write_audit())
    }

    fn cannot_write_audit(&self) -> String {
        format!("cannot write {}", self.output.join(audit::FILE_NAME).display())
    }
}

/// A carve of several images to one folder.
struct Carve<'a> {
    args: &'a OneShotArgs,
    rules: &'a RuleSet,
    progress: &'a Progress,
    layout: Layout,
    audit: Audit<BufWriter<File>>,
    /// The number of files so far.
    files: u64,
}

impl Carve<'_> {
    fn image(&mut self, image: &dyn Image) -> anyhow::Result<()> {
        let args = self.args;
        let hits = self.scan(image)?;
        let options = PairOptions {
            missing_footer: args.missing_footer,
            cluster: args.cluster,
            no_overlap: args.no_overlap,
            skip: args.skip,
            all_footers: args.hit_list,
            compat: args.compat(),
        };
        let mut files = pair(self.rules, &hits, &options, self.files);
        let paths: Vec<PathBuf> = files.iter().map(|file| self.layout.path(file)).collect();
        self.write_rows(image, &files).with_context(|| args.cannot_write_audit())?;
        if args.hit_list {
            self.write_hit_list(image, &hits, &options)?;
        }
        self.files += files.len() as u64;
        let s = if files.len() == 1 { "" } else { "s" };
        writeln!(io::stdout(), "{}: {} file{s}", image.name(), files.len())?;
        if !args.preview {
            // Under compatibility a file may end one byte behind the image.
            for file in &mut files {
                file.len = file.len.min(image.len() - file.start);
            }
            self.extract(image, &files, &paths)?;
        }
        Ok(())
    }

    fn scan(&self, image: &dyn Image) -> anyhow::Result<Hits> {
        let watch = Watch { progress: self.progress, name: image.name() };
        let range = (self.args.skip > 0).then(|| self.args.skip..image.len());
        let options = ScanOptions { threads: self.args.threads, range, ..ScanOptions::default() };
        Ok(pipeline::scan(image, self.rules, &options, &watch)?.hits)
    }

    fn write_rows(&mut self, image: &dyn Image, files: &[CarvedFile]) -> io::Result<()> {
        let path = Path::new(image.name());
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let base = base_name(path);
        self.audit.image(&absolute.to_string_lossy(), image.name(), self.args.skip)?;
        for file in files {
            let name = self.layout.name(file);
            if self.args.verbose {
                let (start, len) = (file.start, file.len);
                writeln!(io::stderr(), "{name}: {len} bytes at offset {start} of {base}")?;
            }
            self.audit.row(&name, file, &base)?;
        }
        self.audit.flush()
    }

    fn write_hit_list(
        &self,
        image: &dyn Image,
        hits: &Hits,
        options: &PairOptions,
    ) -> anyhow::Result<()> {
        let name = format!("{}.hfd", base_name(Path::new(image.name())));
        let path = self.args.output.join(name);
        let write = || {
            let mut out = BufWriter::new(File::create(&path)?);
            hit_list::write(&mut out, self.rules, hits, options)?;
            out.flush()
        };
        write().with_context(|| format!("cannot write {}", path.display()))
    }

    fn extract(
        &self,
        image: &dyn Image,
        files: &[CarvedFile],
        paths: &[PathBuf],
    ) -> anyhow::Result<()> {
        let (resume, force) = (self.args.resume, self.args.force);
        let options = ExtractOptions { resume, force, ..ExtractOptions::default() };
        let done = extract(image, files, paths, &self.args.output, &options);
        let Extracted { short, .. } = done.map_err(|error| match error {
            ExtractError::Write { .. } => anyhow::Error::new(error).context(format!(
                "stopped; complete files are kept. To go on: {}",
                command_to_resume()
            )),
            error => error.into(),
        })?;
        if !short.is_empty() {
            let (name, short) = (image.name(), short.len());
            bail!("{name} became shorter: {short} files have fewer bytes than audit.txt says");
        }
        Ok(())
    }
}

fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
