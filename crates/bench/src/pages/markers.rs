//! Text between markers in a document that is otherwise written by hand.

use anyhow::{Result, bail};

/// Ends every generated part.
const END: &str = "<!-- figures:end -->";

/// Replaces the text of every part `<!-- figures:begin NAME -->` by what `text` gives for its name.
///
/// # Errors
/// A part does not end, or `text` fails.
pub fn replace(document: &str, text: &dyn Fn(&str) -> Result<String>) -> Result<String> {
    let mut out = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        out += line;
        out += "\n";
        let Some(name) = begin(line) else { continue };
        let Some(end) = lines.find(|l| l.trim() == END) else {
            bail!("figures:begin {name} has no {END}");
        };
        out += text(name)?.trim_end();
        out += "\n";
        out += end;
        out += "\n";
    }
    Ok(out)
}

/// The name of the part that a line begins.
fn begin(line: &str) -> Option<&str> {
    line.trim().strip_prefix("<!-- figures:begin ")?.strip_suffix(" -->")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_by_name() {
        let document = "a\n<!-- figures:begin x -->\nold\nolder\n<!-- figures:end -->\nb\n";
        let new = replace(document, &|name| Ok(format!("{name} is new\n"))).unwrap();
        assert_eq!(new, "a\n<!-- figures:begin x -->\nx is new\n<!-- figures:end -->\nb\n");
        assert_eq!(replace(&new, &|name| Ok(format!("{name} is new"))).unwrap(), new);
        assert_eq!(replace("a\nb\n", &|_| unreachable!()).unwrap(), "a\nb\n");
        let open = replace("<!-- figures:begin x -->\nold\n", &|_| Ok(String::new()));
        assert!(open.unwrap_err().to_string().contains("figures:begin x"));
        assert!(replace(document, &|name| bail!("there is no figure {name}")).is_err());
    }
}
