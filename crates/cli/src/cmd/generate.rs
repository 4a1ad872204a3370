//! `fyke generate`: the man page, completions and documents, from the definitions in the code.

use crate::outcome::Outcome;
use anyhow::Context;
use clap::{Args, Command, Subcommand};
use clap_complete::Shell;
use fyke_automata::PairModel;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

mod docs;
mod habits;
mod man;

/// Arguments of `fyke generate`.
#[derive(Args, Debug)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Write the man pages, one for each verb, or print that of one verb
    Man {
        /// Print the page of this verb, or that of the command
        #[arg(value_name = "VERB")]
        verb: Option<String>,

        /// Write all pages to this folder
        #[arg(long, value_name = "FOLDER", conflicts_with = "verb")]
        folder: Option<PathBuf>,
    },
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the generated documents cli.md, json.md, engines.md and coming-from-ripgrep.md
    Docs {
        /// The folder to write to
        #[arg(value_name = "FOLDER", default_value = "docs")]
        folder: PathBuf,
    },
    /// Write the byte-pair statistics of files, as the table that is built into the engines
    Model {
        /// The file to write
        table: PathBuf,
        /// Typical data; every byte has the same weight
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

/// Runs the verb; `command` is the definition of the whole command line.
pub(crate) fn run(args: &GenerateArgs, mut command: Command) -> anyhow::Result<Outcome> {
    match &args.what {
        What::Man { verb, folder } => write_man(&command, verb.as_deref(), folder.as_deref())?,
        What::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut command, "fyke", &mut script);
            print(&script)?;
        }
        What::Docs { folder } => {
            for (name, text) in docs::all(command) {
                write(&folder.join(name), text)?;
            }
        }
        What::Model { table, files } => {
            let read =
                |f: &PathBuf| fs::read(f).with_context(|| format!("cannot read {}", f.display()));
            let files = files.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
            write(table, PairModel::train(files.iter().map(Vec::as_slice)))?;
        }
    }
    Ok(Outcome::Match)
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Writes all man pages to a folder, or prints one of them.
fn write_man(command: &Command, verb: Option<&str>, folder: Option<&Path>) -> anyhow::Result<()> {
    let pages = man::pages(command)?;
    if let Some(folder) = folder {
        return pages.iter().try_for_each(|(name, page)| write(&folder.join(name), page));
    }
    let name = verb.map_or("fyke.1".to_owned(), |verb| format!("fyke-{verb}.1"));
    let page = pages.iter().find(|(page, _)| *page == name);
    let (_, page) = page.with_context(|| format!("there is no verb {}", verb.unwrap_or("")))?;
    Ok(print(page)?)
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
