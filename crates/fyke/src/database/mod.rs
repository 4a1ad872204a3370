//! [`Database`]: a compiled set as a file.
//!
//! A database has the patterns with their ids and flags, and the settings of the searcher. It has
//! the tables of engines that store them, which is `qgram-filter`. It has what the program adds,
//! such as where each pattern comes from. It does not depend on the instruction set of the CPU:
//! what does is laid out when it is loaded. docs/database-file.md describes every byte.
//!
//! ```
//! use fyke::{PatternSet, Searcher};
//!
//! let set = PatternSet::new(["he", "she", "hers"])?;
//! let mut file = Vec::new();
//! Searcher::builder().build(&set)?.save(&mut file)?;
//!
//! let searcher = Searcher::load(&file[..])?;
//! assert_eq!(searcher.count("ushers"), 3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A database may come from anywhere: everything in it is checked before it is used.

mod checksum;
mod error;
mod format;
mod mapping;
mod parts;
mod settings;

pub use error::DatabaseError;
#[doc(hidden)]
pub use format::seal;

use crate::{BuildError, Searcher, SearcherBuilder, registry};
use format::{Name, Section};
use fyke_core::stored::LoadedPart;
use fyke_core::table::{AlignedBytes, Plain, SharedBytes, Table};
use fyke_core::{Matcher, Options, PatternSet, PatternTables};
use parts::PartSections;
use settings::Settings;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// Kinds of sections.
const SETTINGS: u32 = 1;
const PATTERNS: u32 = 2;
const STARTS: u32 = 3;
const NOCASE: u32 = 4;
const IDS: u32 = 5;
const ID_STARTS: u32 = 6;
const ENGINES: u32 = 7;
const INDICES: u32 = 8;
/// The first table of an engine; others follow.
const TABLES: u32 = 64;
const LAST_TABLE: u32 = 127;

/// The first kind of section that a program may use for what it adds.
pub const FIRST_ATTACHMENT: u32 = 1 << 31;

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            SETTINGS => "settings",
            PATTERNS => "patterns",
            STARTS => "pattern starts",
            NOCASE => "case flags",
            IDS => "ids",
            ID_STARTS => "id starts",
            ENGINES => "engines",
            INDICES => "indices",
            TABLES..=LAST_TABLE => {
                return write!(f, "table {} of part {}", self.kind - TABLES, self.part);
            }
            FIRST_ATTACHMENT.. => return write!(f, "attachment {}", self.kind - FIRST_ATTACHMENT),
            kind => return write!(f, "section of kind {kind}"),
        };
        match self.part {
            0 => f.write_str(name),
            part => write!(f, "{name} of part {part}"),
        }
    }
}

/// An open database, whose bytes were checked.
///
/// [`Searcher::load`] and [`Searcher::open_mapped`] are enough for most programs. This type also
/// gives what a program added, and compiles with other settings.
///
/// ```
/// use fyke::database::{Database, FIRST_ATTACHMENT};
/// use fyke::{PatternSet, Searcher};
///
/// let searcher = Searcher::builder().build(&PatternSet::new(["needle"])?)?;
/// let mut file = Vec::new();
/// searcher.save_with(&[(FIRST_ATTACHMENT, b"who made it")], &mut file)?;
///
/// let database = Database::read(&file[..])?;
/// assert_eq!(database.attachment(FIRST_ATTACHMENT), Some(&b"who made it"[..]));
/// let searcher = database.builder().threads(4).build(database.set())?;
/// assert!(searcher.is_match("a needle"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Database {
    memory: SharedBytes,
    mapped: bool,
    sections: Vec<Section>,
    content_hash: u64,
    set: PatternSet,
    builder: SearcherBuilder,
    parts: Vec<LoadedPart>,
}

/// What a matcher was made from: see [`Database::compile`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MadeFrom {
    /// The tables of the database.
    Tables,
    /// The patterns, for this reason.
    Patterns(&'static str),
}

impl fmt::Display for MadeFrom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MadeFrom::Tables => f.write_str("from the tables of the database"),
            MadeFrom::Patterns(why) => write!(f, "compiled from the patterns: {why}"),
        }
    }
}

impl Database {
    /// Opens a database file. It is mapped into memory, without a copy, if it belongs to this user
    /// or to root and nobody else may write to it, or if it is sealed memory; it is read otherwise.
    ///
    /// While a mapped database is in use, replace the file by renaming another one over it. To
    /// write into it changes what is searched for, and to truncate it ends the program.
    ///
    /// # Errors
    /// The file cannot be read, or it is not a database that is whole, sound and of this version.
    pub fn open(path: impl AsRef<Path>) -> Result<Database, DatabaseError> {
        let file = File::open(path)?;
        if file.metadata()?.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory).into());
        }
        let file = mapping::load(file)?;
        Database::of(file.bytes, file.mapped)
    }

    /// Reads a database. It reads nothing after its end.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn read(mut from: impl Read) -> Result<Database, DatabaseError> {
        let mut bytes = AlignedBytes::default();
        bytes.append(&mut from, format::HEADER as u64)?;
        let header = format::header(bytes.as_ref())?;
        bytes.append(&mut from, header.length - format::HEADER as u64)?;
        Database::of(Arc::new(bytes), false)
    }

    fn of(memory: SharedBytes, mapped: bool) -> Result<Database, DatabaseError> {
        let bytes = (*memory).as_ref();
        let header = format::header(bytes)?;
        let sections = format::sections(bytes, &header)?;
        let content_hash = header.content_hash;
        let whole = Sections { memory: &memory, sections: &sections };
        let settings = whole.bytes(SETTINGS, 0);
        let settings = Settings::decode(settings)
            .ok_or_else(|| whole.damaged(SETTINGS, 0, "it cannot be read"))?;
        let set = whole.set(0, settings.shared_spans)?;
        let builder = settings.builder;
        let parts = parts::load(&whole, &set)?;
        Ok(Database { memory, mapped, sections, content_hash, set, builder, parts })
    }

    /// The patterns.
    pub fn set(&self) -> &PatternSet {
        &self.set
    }

    /// The settings of the searcher that was saved, but for its sample.
    pub fn builder(&self) -> SearcherBuilder {
        self.builder.clone()
    }

    /// The engine that the searcher was built with, as the builder was given it.
    pub fn engine(&self) -> &str {
        &self.builder.engine
    }

    /// What the program that saved the database added under a kind of section.
    pub fn attachment(&self, kind: u32) -> Option<&[u8]> {
        let kind = Some(kind).filter(|kind| *kind >= FIRST_ATTACHMENT)?;
        let all = Sections { memory: &self.memory, sections: &self.sections };
        all.find(kind, 0).map(|section| &(*self.memory).as_ref()[section.range.clone()])
    }

    /// Whether the file is mapped into memory, and not copied.
    pub fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// A 64-bit hash of all that the file contains, for example to name it in a cache.
    pub fn content_hash(&self) -> u64 {
        self.content_hash
    }

    /// The searcher that was saved.
    ///
    /// # Errors
    /// An engine refuses the set on this machine, or tables are not sound.
    pub fn searcher(&self) -> Result<Searcher, DatabaseError> {
        self.build(&self.builder)
    }

    /// A searcher with other settings. If the engine is the one that was saved, and there is no
    /// sample, its tables are used; otherwise the patterns are compiled.
    ///
    /// # Errors
    /// As [`searcher`](Self::searcher).
    pub fn build(&self, builder: &SearcherBuilder) -> Result<Searcher, DatabaseError> {
        if builder.nocase {
            return Ok(builder.build(&self.set)?);
        }
        let (matcher, _) = self.compile(&builder.engine, &builder.engine_options())?;
        Ok(builder.searcher(matcher))
    }

    /// The matcher for an engine, with its options after a colon, and what it was made from.
    ///
    /// # Errors
    /// As [`searcher`](Self::searcher).
    pub fn compile(
        &self,
        engine: &str,
        options: &Options,
    ) -> Result<(Arc<dyn Matcher>, MadeFrom), DatabaseError> {
        let why = match () {
            () if self.parts.is_empty() => "the engine stores no tables",
            () if engine != self.builder.engine => "another engine is asked for",
            () if options.sample.is_some() => "a sample is given",
            () => {
                let loaded = registry::load_with(engine, &self.set, options, &self.parts);
                let unsound = |rule| DatabaseError::damaged("tables", rule);
                if let Some(matcher) = loaded.map_err(unsound)? {
                    return Ok((matcher, MadeFrom::Tables));
                }
                "this build does not know the layout of the tables, or memory is short"
            }
        };
        let compiled = registry::compile_with(engine, &self.set, options);
        let matcher = compiled.map_err(|refusal| BuildError::refused(engine, refusal))?;
        Ok((matcher, MadeFrom::Patterns(why)))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("set", &self.set)
            .field("builder", &self.builder)
            .field("mapped", &self.mapped)
            .finish_non_exhaustive()
    }
}

/// The sections of a file.
struct Sections<'a> {
    memory: &'a SharedBytes,
    sections: &'a [Section],
}

impl Sections<'_> {
    fn find(&self, kind: u32, part: u32) -> Option<&Section> {
        self.sections.iter().find(|section| section.name == Name { kind, part })
    }

    fn damaged(&self, kind: u32, part: u32, what: &'static str) -> DatabaseError {
        DatabaseError::damaged(Name { kind, part }.to_string(), what)
    }

    /// The bytes of a section; empty if there is no such section.
    fn bytes(&self, kind: u32, part: u32) -> &[u8] {
        self.find(kind, part)
            .map_or(&[], |section| &(**self.memory).as_ref()[section.range.clone()])
    }

    /// A section as a table; empty if there is no such section.
    fn table<T: Plain>(&self, kind: u32, part: u32) -> Result<Table<T>, DatabaseError> {
        let Some(section) = self.find(kind, part) else { return Ok(Table::default()) };
        let table = Table::shared(self.memory, section.range.clone());
        table.ok_or_else(|| self.damaged(kind, part, "its length is wrong"))
    }

    /// The patterns of a part.
    fn set(&self, part: u32, shared_spans: bool) -> Result<PatternSet, DatabaseError> {
        let tables = PatternTables {
            bytes: self.table(PATTERNS, part)?,
            starts: self.table(STARTS, part)?,
            nocase: self.table(NOCASE, part)?,
            ids: self.table(IDS, part)?,
            id_starts: self.table(ID_STARTS, part)?,
            shared_spans,
        };
        PatternSet::from_tables(tables)
            .map_err(|unsound| self.damaged(PATTERNS, part, unsound.rule()))
    }
}

/// The sections of a set.
fn set_sections(tables: &PatternTables, part: u32) -> Vec<(Name, &[u8])> {
    let all = [
        (PATTERNS, tables.bytes.bytes()),
        (STARTS, tables.starts.bytes()),
        (NOCASE, tables.nocase.bytes()),
        (IDS, tables.ids.bytes()),
        (ID_STARTS, tables.id_starts.bytes()),
    ];
    let given = all.into_iter().filter(|(_, bytes)| !bytes.is_empty());
    given.map(|(kind, bytes)| (Name { kind, part }, bytes)).collect()
}

/// Writes a file under another name and renames it, so that no reader sees a part of it. Only
/// fyke's own bindings use it.
///
/// # Errors
/// Writing or renaming failed. The file that was there before stays.
#[doc(hidden)]
pub fn replace_file(
    path: &Path,
    save: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    let mut file = BufWriter::new(File::create_new(&part)?);
    let written = save(&mut file).and_then(|()| file.flush());
    // The file is closed before it is renamed.
    drop(file);
    let written = written.and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        // The error that is reported is the first one.
        let _ = fs::remove_file(&part);
    }
    written
}

impl Searcher {
    /// Writes the searcher as a database: patterns, ids, settings, and the tables of an engine that
    /// stores them. The builder's sample is not written.
    ///
    /// # Errors
    /// Writing failed.
    pub fn save(&self, to: impl Write) -> io::Result<()> {
        self.save_with(&[], to)
    }

    /// As [`save`](Self::save), with further sections for [`Database::attachment`]. Their kinds are
    /// distinct numbers from [`FIRST_ATTACHMENT`] on.
    ///
    /// # Errors
    /// Writing failed; or a kind is too low, or given twice.
    pub fn save_with(&self, attachments: &[(u32, &[u8])], mut to: impl Write) -> io::Result<()> {
        let kinds = attachments.iter().map(|(kind, _)| *kind);
        let twice = |i: usize, kind: u32| attachments[..i].iter().any(|other| other.0 == kind);
        if kinds.enumerate().any(|(i, kind)| kind < FIRST_ATTACHMENT || twice(i, kind)) {
            let what = "a kind of an attachment is below FIRST_ATTACHMENT, or given twice";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        let shared_spans = self.set().has_shared_spans();
        let settings = Settings { builder: self.settings(), shared_spans }.encode();
        let tables = self.set().tables();
        let mut sections = vec![(Name { kind: SETTINGS, part: 0 }, &settings[..])];
        let parts = PartSections::new(self.matcher().stored());
        sections.extend(set_sections(&tables, 0));
        sections.extend(parts.sections());
        let attached = attachments.iter().map(|&(kind, bytes)| (Name { kind, part: 0 }, bytes));
        sections.extend(attached);
        format::write(&mut to, &sections)
    }

    /// Reads a searcher that [`save`](Self::save) wrote. It reads nothing after its end.
    ///
    /// # Errors
    /// Reading failed, the bytes are no database that is whole, sound and of this version, or an
    /// engine refuses the set on this machine.
    pub fn load(from: impl Read) -> Result<Searcher, DatabaseError> {
        Database::read(from)?.searcher()
    }

    /// As [`load`](Self::load), for a file, which is mapped into memory where that is safe: see
    /// [`Database::open`].
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn open_mapped(path: impl AsRef<Path>) -> Result<Searcher, DatabaseError> {
        Database::open(path)?.searcher()
    }
}

#[cfg(test)]
mod tests;
