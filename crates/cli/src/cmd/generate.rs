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

/// Arguments of `fyke generate`.
#[derive(Args, Debug)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Print the man page
    Man,
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the generated documents cli.md, json.md and engines.md
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
        What::Man => print(&man(command)?)?,
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

/// One page: the command, then each verb.
fn man(command: Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let main = clap_mangen::Man::new(command.clone());
    main.render(&mut page)?;
    for verb in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let name = format!("fyke {}", verb.get_name());
        let verb = clap_mangen::Man::new(verb.clone().display_name(&name).bin_name(&name));
        writeln!(page, ".SH {}", name.to_uppercase())?;
        verb.render_description_section(&mut page)?;
        verb.render_synopsis_section(&mut page)?;
        verb.render_options_section(&mut page)?;
    }
    Ok(page)
}

fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}
