//! The man pages: one for the command, one for each verb, and one for each verb of some verbs.

use super::docs::VERBS_OF_VERBS;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::io::{self, Write};

/// What begins the examples in the text after the flags.
const EXAMPLES: &str = "Examples:";

/// All pages: file name and text. The first is that of the command.
pub(super) fn pages(command: &Command) -> io::Result<Vec<(String, Vec<u8>)>> {
    let mut pages = vec![("fyke.1".to_owned(), page(command.clone())?)];
    for verb in visible_verbs(command) {
        pages.push(page_of(&["fyke", verb.get_name()], verb)?);
        if VERBS_OF_VERBS.contains(&verb.get_name()) {
            for inner in visible_verbs(verb) {
                pages.push(page_of(&["fyke", verb.get_name(), inner.get_name()], inner)?);
            }
        }
    }
    Ok(pages)
}

fn visible_verbs(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|c| !c.is_hide_set() && c.get_name() != "help")
}

/// The page of a verb, by the words that call it.
fn page_of(words: &[&str], verb: &Command) -> io::Result<(String, Vec<u8>)> {
    let name = words.join("-");
    let command = verb.clone().display_name(&name).bin_name(words.join(" "));
    Ok((format!("{name}.1"), page(command)?))
}

/// One page: as `clap_mangen` writes it, but with the examples in a section of their own.
fn page(command: Command) -> io::Result<Vec<u8>> {
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let (has_flags, has_verbs) = (command.get_opts().count() > 0, command.has_subcommands());
    let man = Man::new(command).source(concat!("fyke ", env!("CARGO_PKG_VERSION")));
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    if has_flags || !has_verbs {
        man.render_options_section(&mut out)?;
    }
    if has_verbs {
        man.render_subcommands_section(&mut out)?;
    }
    push_notes(&mut out, &notes)?;
    Ok(out)
}

fn push_notes(out: &mut Vec<u8>, notes: &str) -> io::Result<()> {
    let (before, rest) = notes.split_once(EXAMPLES).unwrap_or((notes, ""));
    let (examples, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
    push_section(out, "NOTES", &format!("{}\n\n{after}", before.trim_end()), false)?;
    push_section(out, "EXAMPLES", examples, true)
}

/// A section of paragraphs, or of lines that are printed as they are.
fn push_section(out: &mut Vec<u8>, name: &str, text: &str, as_it_is: bool) -> io::Result<()> {
    if text.trim().is_empty() {
        return Ok(());
    }
    let mut roff = Roff::new();
    roff.control("SH", [name]);
    if as_it_is {
        roff.control("nf", []);
    }
    for line in text.trim_matches('\n').lines() {
        match line.is_empty() {
            true => roff.control("PP", []),
            false => roff.text([roman(line)]),
        };
    }
    if as_it_is {
        roff.control("fi", []);
    }
    out.write_all(roff.to_roff().as_bytes())
}
