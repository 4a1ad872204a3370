//! `fyke carve scan`: phase 1. Images in, a database for each out.

pub(super) mod folder;
pub(super) mod watch;

use self::folder::{OutputFolder, Present};
use self::watch::{Watch, validate_files, verdicts};
use super::input::{Input, must_name_stdin_once};
use crate::number;
use crate::outcome::Outcome;
use crate::run::interrupt;
use crate::run::progress::Progress;
use anyhow::{Context, bail};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fyke_carve::database::{Contents, Database, Run, VALIDATED};
use fyke_carve::embedded::containers;
use fyke_carve::export::{Listing, write_csv};
use fyke_carve::layout::{Layout, LayoutOptions};
use fyke_carve::pair::{PairOptions, pair};
use fyke_carve::pipeline::{self, ScanError, ScanOptions, Scanned, Strategy};
use fyke_carve::{CarvedFile, RuleSet, conf};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

const NOTES: &str = "\
The folder gets a database for each image, `carve.db`, `carve-2.db` ..., with the hits of all \
headers and footers and the list of files, and this list as `carve.csv`, `carve-2.csv` ... `fyke \
carve list`, `export`, `extract` and `pair` read the database. Nothing is copied out of the images.

A split raw image is given by its first part, `disk.001` or `disk.aa`. Sectors that cannot be \
read are skipped and reported; no file begins or ends with a header or footer that contains one.

An interrupted scan keeps what it found: give the same command with --resume to go on. The result \
does not depend on strategy, threads, buffer or interruptions.

Examples:
  fyke carve scan -o found disk.raw                     with the default rules
  fyke carve scan -c scalpel.conf -o found disk.raw
  fyke carve scan -o found --validate disk.001 card.img
  fyke carve scan -c scalpel.conf -o found /dev/sdb
  xzcat disk.raw.xz | fyke carve scan -c scalpel.conf -o found -

Exit codes: 0 files found, 1 none found, 2 error. An interrupt ends fyke by its signal, which a \
shell shows as 130.";

/// Arguments of `fyke carve scan`.
#[derive(Args, Debug)]
#[command(after_help = NOTES)]
pub(super) struct ScanArgs {
    /// Images: raw files, first parts of split or E01 images, devices, or `-` for standard input
    #[arg(value_name = "IMAGE", required = true)]
    images: Vec<PathBuf>,

    /// File of rules, as Scalpel has them; by default rules for about 60 formats
    #[arg(short = 'c', long, value_name = "CONF")]
    conf: Option<PathBuf>,

    /// Folder for the result. It must be empty, or not exist
    #[arg(short = 'o', long, value_name = "FOLDER")]
    output: PathBuf,

    /// Write to a folder that is not empty, and replace a result that is there
    #[arg(long)]
    force: bool,

    /// Go on with an interrupted scan
    #[arg(long, conflicts_with = "force")]
    resume: bool,

    /// Which threads read and search when. It changes the speed, never the result
    #[arg(long, value_name = "NAME", default_value = "overlapped", value_parser = strategies())]
    strategy: Strategy,

    /// Number of threads that search; 0 means one per CPU
    #[arg(short = 'j', long, value_name = "N", default_value = "0")]
    #[arg(value_parser = number::threads, allow_negative_numbers = true)]
    threads: usize,

    /// Bytes that are read at once, such as 1M; the default depends on the strategy
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    buffer: Option<u64>,

    /// Search from this offset on. Offsets in the result still count from the image's start
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    start: Option<u64>,

    /// Search only this number of bytes
    #[arg(long, value_name = "SIZE", value_parser = number::size)]
    length: Option<u64>,

    /// Validate the files: JPEG, PNG, GIF, PDF and ZIP. No file is left out for it
    #[arg(long)]
    validate: bool,

    /// Engine that searches, as `fyke engines` lists them
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    engine: String,
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let names = PossibleValuesParser::new(Strategy::ALL.map(Strategy::name));
    names.map(|name| Strategy::named(&name).expect("one of the possible values"))
}

pub(super) fn run(args: &ScanArgs) -> anyhow::Result<Outcome> {
    let (path, text) = super::read_conf(args.conf.as_deref())?;
    let rules = conf::parse(&text, &path, conf::Options::default())?;
    must_name_stdin_once(&args.images)?;
    let inputs: Vec<Input> =
        args.images.iter().map(|path| args.open(path)).collect::<Result<_, _>>()?;
    let folder = OutputFolder::open(&args.output, Present::of(args.force, args.resume))?;
    if args.force {
        folder.clear(inputs.len())?;
    }
    interrupt::install_request()?;
    let progress = Progress::of_bytes(args.total(&inputs));
    let job = Job {
        args,
        rules: &rules,
        conf: &text,
        conf_path: &path,
        folder: &folder,
        progress: &progress,
    };
    let mut layout = Layout::new(&rules, LayoutOptions::default());
    let mut files = 0;
    for (index, input) in inputs.iter().enumerate() {
        files += job.run(index, input, files, &mut layout)?;
    }
    progress.finish();
    Ok(if files > 0 { Outcome::Match } else { Outcome::NoMatch })
}

impl ScanArgs {
    fn open(&self, path: &Path) -> anyhow::Result<Input> {
        let input = Input::open(path)?;
        if input.image().is_none() && self.resume {
            bail!("standard input cannot be read again: write it to a file to resume its scan");
        }
        if input.image().is_none() && self.validate {
            bail!(
                "standard input cannot be read again for --validate: write it to a file, or give \
                 `fyke carve list --validate --image` the image later"
            );
        }
        input.must_reach("--start", self.start.unwrap_or(0))?;
        Ok(input)
    }

    /// The part to search; none for all. A length that reaches too far ends at the image's end.
    fn range(&self, image_len: u64) -> Option<Range<u64>> {
        (self.start.is_some() || self.length.is_some()).then(|| {
            let start = self.start.unwrap_or(0);
            start..start.saturating_add(self.length.unwrap_or(u64::MAX)).min(image_len)
        })
    }

    /// The bytes to search in all images; none if standard input is one.
    fn total(&self, inputs: &[Input]) -> Option<u64> {
        let len = |input: &Input| {
            let len = input.len()?;
            let range = self.range(len).unwrap_or(0..len);
            Some(range.end - range.start)
        };
        inputs.iter().map(len).sum()
    }
}

/// What the scans of all images share.
struct Job<'a> {
    args: &'a ScanArgs,
    rules: &'a RuleSet,
    conf: &'a [u8],
    conf_path: &'a str,
    folder: &'a OutputFolder,
    progress: &'a Progress,
}

impl Job<'_> {
    /// Scans an image and writes its database, unless an earlier run did. Returns the number of
    /// files, which are numbered from `first` on.
    fn run(
        &self,
        index: usize,
        input: &Input,
        first: u64,
        layout: &mut Layout,
    ) -> anyhow::Result<u64> {
        let path = self.folder.database(index);
        if self.args.resume && path.exists() {
            return self.take_finished(input, &path, layout);
        }
        let scanned = match self.scan(index, input) {
            Err(ScanError::Interrupted) => self.interrupted(input),
            scanned => scanned?,
        };
        let mut files = pair(self.rules, &scanned.hits, &PairOptions::default(), first);
        if let Some(image) = input.image().filter(|_| self.args.validate)
            && !validate_files(image, &mut files)
        {
            // The journal has the whole scan.
            self.interrupted(input);
        }
        let mut run = self.describe(input, &scanned);
        run.set_earlier_files(layout.counts());
        let contents = Contents {
            run: &run,
            rules: self.rules,
            hits: &scanned.hits,
            files: &files,
            bad: &scanned.bad,
        };
        self.write_list(index, &contents, layout)?;
        Database::replace(&path, &contents)?;
        self.folder.remove_journal(index)?;
        self.print(input, &path, &files)
    }

    /// Takes the database that an earlier run wrote.
    fn take_finished(
        &self,
        input: &Input,
        path: &Path,
        layout: &mut Layout,
    ) -> anyhow::Result<u64> {
        let database = Database::open(path)?;
        let image = database.run()?.image;
        if image != input.name() {
            bail!(
                "{} is of the image {image}, not of {}: resume with the same images",
                path.display(),
                input.name()
            );
        }
        self.progress.advance_by(self.args.total(std::slice::from_ref(input)).unwrap_or(0));
        let files = database.files()?;
        // Numbers of files and folders of the next image continue after these.
        files.iter().for_each(|file| drop(layout.path(file)));
        self.print(input, path, &files)
    }

    /// Writes the list of files, in order, with the names that they will have.
    fn write_list(
        &self,
        index: usize,
        contents: &Contents<'_>,
        layout: &mut Layout,
    ) -> anyhow::Result<()> {
        let path = self.folder.list(index);
        let name = |file| layout.path(file).display().to_string();
        let names: Vec<String> = contents.files.iter().map(name).collect();
        let listing = Listing {
            run: contents.run,
            rules: contents.rules,
            files: contents.files,
            names: &names,
            inside: &containers(contents.rules, contents.files),
            digests: &[],
            bad: contents.bad,
        };
        let written = File::create(&path).and_then(|file| {
            let mut out = BufWriter::new(file);
            write_csv(&mut out, &listing)?;
            out.flush()
        });
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    fn scan(&self, index: usize, input: &Input) -> Result<Scanned, ScanError> {
        let args = self.args;
        let watch = Watch { progress: self.progress, name: input.name() };
        let mut options = ScanOptions {
            strategy: args.strategy,
            threads: args.threads,
            buffer: args.buffer,
            range: args.range(u64::MAX),
            engine: args.engine.clone(),
            journal: None,
        };
        match input {
            Input::Image(image) => {
                options.range = args.range(image.len());
                options.journal = Some(self.folder.journal(index));
                pipeline::scan(&**image, self.rules, &options, &watch)
            }
            Input::Stdin => {
                let reader = &mut io::stdin().lock();
                pipeline::scan_stream(reader, input.name(), self.rules, &options, &watch)
            }
        }
    }

    fn describe(&self, input: &Input, scanned: &Scanned) -> Run {
        let args = self.args;
        let bounds = [("start", args.start), ("length", args.length)];
        let options = bounds
            .iter()
            .filter_map(|(name, n)| Some(((*name).to_owned(), n.as_ref()?.to_string())));
        let mut options: BTreeMap<String, String> = options.collect();
        if args.validate {
            options.insert(VALIDATED.to_owned(), "yes".to_owned());
        }
        Run {
            program: format!("fyke {}", env!("CARGO_PKG_VERSION")),
            image: input.name().to_owned(),
            image_len: input.len().unwrap_or(scanned.hits.image_len),
            conf_path: self.conf_path.to_owned(),
            conf: self.conf.to_vec(),
            options,
        }
    }

    fn print(&self, input: &Input, path: &Path, files: &[CarvedFile]) -> anyhow::Result<u64> {
        let (name, count) = (input.name(), files.len());
        let s = if count == 1 { "" } else { "s" };
        let verdicts = match self.args.validate {
            true => format!(" ({})", verdicts(files)),
            false => String::new(),
        };
        let line = format!("{name}: {count} file{s}{verdicts}, {}", path.display());
        self.progress.hidden_during(|| writeln!(io::stdout(), "{line}"))?;
        Ok(count as u64)
    }

    /// Says how to go on, and dies of the interrupt.
    fn interrupted(&self, input: &Input) -> ! {
        self.progress.finish();
        match input {
            Input::Image(_) => self.progress.say(format_args!(
                "interrupted. What was found so far is kept; to go on:\n{}",
                folder::command_to_resume()
            )),
            Input::Stdin => self.progress.say(format_args!(
                "interrupted. Standard input cannot be read again, so nothing is kept"
            )),
        }
        interrupt::die()
    }
}
