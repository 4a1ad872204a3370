//! `fyke carve` without a verb: both phases at once, with the short options of Scalpel.

use super::input::{Input, must_name_stdin_once};
use super::pair_flags::{PairFlags, write_hit_list};
use super::scan::folder::{OutputFolder, Present, command_to_resume};
use super::scan::watch::{ExtractWatch, Watch, validate_files, verdicts};
use crate::number;
use crate::outcome::Outcome;
use crate::run::interrupt;
use crate::run::progress::Progress;
use crate::warning;
use anyhow::{Context, bail};
use clap::Args;
use fyke_carve::audit::{self, Audit, Head};
use fyke_carve::extract::{ExtractError, ExtractOptions, extract_watched};
use fyke_carve::layout::{Layout, LayoutOptions};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::pipeline::{self, ScanError, ScanOptions};
use fyke_carve::{CarvedFile, Hits, Image, RuleSet, conf};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The maximum number of warnings about rules to print. `fyke carve check-conf` prints all.
const MOST_WARNINGS: usize = 20;

pub(super) const NOTES: &str = "\
Without a verb, fyke finds files in images and copies them to a folder, as Scalpel does, and takes \
Scalpel's letters. FOLDER/audit.txt lists the files. Scalpel's known bugs are fixed: \
docs/coming-from-scalpel.md lists them. --compat 1.60 reproduces them, so that rows are equal.

To look first and copy later, use `fyke carve scan`, then `list` and `extract`.

Examples:
  fyke carve -o found disk.raw                               carve with the default rules
  fyke carve -c scalpel.conf -o found disk.raw               carve with rules of your own
  fyke carve -c scalpel.conf -o found -p disk.raw            list what would be carved
  fyke carve --compat 1.60 -c scalpel.conf -o found disk.raw the rows of Scalpel 1.60
  fyke carve scan -o found disk.raw                          find files, and copy none
  fyke carve list found --type jpg                           list some of them
  fyke carve extract found -o files --type jpg               copy some of them
  fyke carve check-conf scalpel.conf                         look for mistakes in rules

Exit codes: 0 files found, 1 none found, 2 error.";

/// Arguments of `fyke carve` without a verb.
#[derive(Args, Debug)]
pub(super) struct OneShotArgs {
    /// Images: raw files, first parts of split or E01 images, devices; with -p `-` for standard
    /// input
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

    /// Write all files to one folder
    #[arg(short = 'O', long)]
    flat: bool,

    /// Write files without extensions
    #[arg(short = 'n', long)]
    no_extension: bool,

    /// Validate the files: JPEG, PNG, GIF, PDF and ZIP. audit.txt gets a column for it; no file is
    /// left out. Not with --compat
    #[arg(long, conflicts_with = "compat")]
    validate: bool,

    /// Print each file that is found
    #[arg(short = 'v', long)]
    verbose: bool,

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

    #[command(flatten)]
    pairing: PairFlags,
}

pub(super) fn run(args: &OneShotArgs) -> anyhow::Result<Outcome> {
    let (conf, text) = super::read_conf(args.conf.as_deref())?;
    let rules = args.read_rules(&conf, &text)?;
    let images = args.open_images()?;
    OutputFolder::open(&args.output, Present::of(args.force, args.resume))?;
    interrupt::install_request()?;
    let options = LayoutOptions {
        flat: args.flat,
        no_extension: args.no_extension,
        compat: args.pairing.compat(),
    };
    let layout = Layout::new(&rules, options);
    let audit = args.begin_audit(&conf)?;
    let mut carve = Carve { args, rules: &rules, layout, audit, files: 0 };
    for input in &images {
        carve.image(input)?;
    }
    let files = carve.files;
    carve.audit.complete(SystemTime::now()).with_context(|| args.cannot_write_audit())?;
    Ok(if files > 0 { Outcome::Match } else { Outcome::NoMatch })
}

impl OneShotArgs {
    fn read_rules(&self, shown: &str, text: &[u8]) -> anyhow::Result<RuleSet> {
        let options = conf::Options { compat: self.pairing.compat() };
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
    fn open_images(&self) -> anyhow::Result<Vec<Input>> {
        let mut paths = self.images.clone();
        if let Some(list) = &self.list {
            let text = fs::read_to_string(list)
                .with_context(|| format!("cannot read the list of images {}", list.display()))?;
            paths.extend(text.lines().filter(|line| !line.is_empty()).map(PathBuf::from));
            if paths.is_empty() {
                bail!("the list of images {} is empty: write one path per line", list.display());
            }
        }
        must_name_stdin_once(&paths)?;
        paths.iter().map(|path| self.open_image(path)).collect()
    }

    fn open_image(&self, path: &Path) -> anyhow::Result<Input> {
        let input = Input::open(path)?;
        if input.image().is_none() && (!self.preview || self.validate) {
            bail!(
                "standard input cannot be read twice, once to find files and once to copy or \
                 validate them: write it to a file, or give -p to list files only"
            );
        }
        input.must_reach("-s", self.pairing.skip)?;
        Ok(input)
    }

    fn begin_audit(&self, conf: &str) -> anyhow::Result<Audit<BufWriter<File>>> {
        let begin = || -> io::Result<_> {
            let output = fs::canonicalize(&self.output)?;
            let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
            let head = Head {
                compat: self.pairing.compat(),
                started: SystemTime::now(),
                command: &words.collect::<Vec<_>>(),
                output: &output.to_string_lossy(),
                conf,
            };
            let file = File::create(self.output.join(audit::FILE_NAME))?;
            let mut audit = Audit::new(BufWriter::new(file), &head)?;
            if self.validate {
                audit.with_validity();
            }
            Ok(audit)
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
    layout: Layout,
    audit: Audit<BufWriter<File>>,
    /// The number of files so far.
    files: u64,
}

impl Carve<'_> {
    fn image(&mut self, input: &Input) -> anyhow::Result<()> {
        let args = self.args;
        let hits = self.scan(input)?;
        let options = args.pairing.options();
        let mut files = pair(self.rules, &hits, &options, self.files);
        let image = input.image();
        if let Some(image) = image.filter(|_| args.validate)
            && !validate_files(image, &mut files)
        {
            interrupted();
        }
        let paths: Vec<PathBuf> = files.iter().map(|file| self.layout.path(file)).collect();
        self.write_rows(input.name(), &files).with_context(|| args.cannot_write_audit())?;
        if args.pairing.hit_list {
            self.write_hit_list(input.name(), &hits, &options)?;
        }
        self.files += files.len() as u64;
        self.print(input.name(), &files)?;
        if let Some(image) = image.filter(|_| !args.preview) {
            // With `--compat` a file may end one byte after the end of the image.
            for file in &mut files {
                file.len = file.len.min(image.len() - file.start);
            }
            self.extract(image, &files, &paths)?;
        }
        Ok(())
    }

    fn print(&self, name: &str, files: &[CarvedFile]) -> io::Result<()> {
        let s = if files.len() == 1 { "" } else { "s" };
        let verdicts = match self.args.validate {
            true => format!(" ({})", verdicts(files)),
            false => String::new(),
        };
        writeln!(io::stdout(), "{name}: {} file{s}{verdicts}", files.len())
    }

    fn scan(&self, input: &Input) -> anyhow::Result<Hits> {
        let skip = self.args.pairing.skip;
        let progress = Progress::of_bytes(input.image().map(|image| image.len() - skip));
        let watch = Watch { progress: &progress, name: input.name() };
        let mut options = ScanOptions { threads: self.args.threads, ..ScanOptions::default() };
        let scanned = match input {
            Input::Image(image) => {
                options.range = (skip > 0).then(|| skip..image.len());
                pipeline::scan(&**image, self.rules, &options, &watch)
            }
            Input::Stdin => {
                options.range = (skip > 0).then_some(skip..u64::MAX);
                let reader = &mut io::stdin().lock();
                pipeline::scan_stream(reader, input.name(), self.rules, &options, &watch)
            }
        };
        progress.finish();
        match scanned {
            Err(ScanError::Interrupted) => interrupted(),
            scanned => Ok(scanned?.hits),
        }
    }

    fn write_rows(&mut self, image: &str, files: &[CarvedFile]) -> io::Result<()> {
        let path = Path::new(image);
        let absolute = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let base = base_name(path);
        self.audit.image(&absolute.to_string_lossy(), image, self.args.pairing.skip)?;
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
        image: &str,
        hits: &Hits,
        options: &PairOptions,
    ) -> anyhow::Result<()> {
        let name = format!("{}.hfd", base_name(Path::new(image)));
        let path = self.args.output.join(name);
        write_hit_list(&path, self.rules, hits, options)
    }

    fn extract(
        &self,
        image: &dyn Image,
        files: &[CarvedFile],
        paths: &[PathBuf],
    ) -> anyhow::Result<()> {
        let (resume, force) = (self.args.resume, self.args.force);
        let options = ExtractOptions { resume, force, ..ExtractOptions::default() };
        let mut watch = ExtractWatch::default();
        let done = extract_watched(image, files, paths, &self.args.output, &options, &mut watch);
        watch.finish();
        let done = done.map_err(|error| match error {
            ExtractError::Interrupted { .. } => super::extract::interrupted(&error),
            ExtractError::Read { .. } | ExtractError::Write { .. } => anyhow::Error::new(error)
                .context(format!(
                    "stopped; complete files are kept. To go on: {}",
                    command_to_resume()
                )),
            error => error.into(),
        })?;
        super::extract::warn_of_bad(&done);
        if !done.short.is_empty() {
            let (name, short) = (image.name(), done.short.len());
            bail!("{name} became shorter: {short} files have fewer bytes than audit.txt says");
        }
        Ok(())
    }
}

/// Says how to go on, and dies of the interrupt.
fn interrupted() -> ! {
    warning::print(format_args!(
        "interrupted; complete files are kept. To go on:\n{}",
        command_to_resume()
    ));
    interrupt::die()
}

fn base_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
