//! `fyke generate`: the man page, completions and documents, all made from the definitions in the code.

use crate::args::Cli;
use crate::outcome::Outcome;
use anyhow::Context;
use clap::{Args, CommandFactory, Subcommand};
use clap_complete::Shell;
use fyke::PairModel;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

mod docs;

/// Arguments of `fyke generate`.
#[derive(Args, Debug)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// The man page, on standard output
    Man,
    /// Completions for a shell, on standard output
    Completions {
        /// The shell
        shell: Shell,
    },
    /// The generated documents cli.md, json.md and engines.md
    Docs {
        /// The folder to write them to
        #[arg(value_name = "FOLDER", default_value = "docs")]
        folder: PathBuf,
    },
    /// The byte-pair statistics of some files, as the table that engines have built in
    Model {
        /// The file to write
        table: PathBuf,
        /// Files of the kinds that will be searched; each byte counts the same
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
}

pub(crate) fn run(args: &GenerateArgs) -> anyhow::Result<Outcome> {
    match &args.what {
        What::Man => print(&man()?)?,
        What::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "fyke", &mut script);
            print(&script)?;
        }
        What::Docs { folder } => {
            for (name, text) in docs::all() {
                let path = folder.join(name);
                fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            }
        }
        What::Model { table, files } => {
            let read =
                |f: &PathBuf| fs::read(f).with_context(|| format!("reading {}", f.display()));
            let files = files.iter().map(read).collect::<anyhow::Result<Vec<_>>>()?;
            let made = PairModel::train(files.iter().map(Vec::as_slice));
            fs::write(table, made).with_context(|| format!("writing {}", table.display()))?;
        }
    }
    Ok(Outcome::Match)
}

/// One page: the command, then each verb.
fn man() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let command = Cli::command();
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
