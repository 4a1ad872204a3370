//! Which files of a folder are selected, by globs and types as in ripgrep.

use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ignore::{Error, WalkBuilder};
use std::env;

/// Globs and types. By default every file is selected.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    globs: Option<Override>,
    types: Option<Types>,
}

impl Selection {
    /// Selects files whose path matches a glob. A glob that begins with `!` excludes the files that
    /// match it. The last glob that matches a file decides. If all globs begin with `!`, a file
    /// that matches none is selected.
    ///
    /// # Errors
    /// If a glob is malformed, or the current folder cannot be read.
    pub fn globs<G: AsRef<str>>(&mut self, globs: &[G]) -> Result<(), Error> {
        if globs.is_empty() {
            return Ok(());
        }
        let mut builder = OverrideBuilder::new(env::current_dir()?);
        for glob in globs {
            builder.add(glob.as_ref())?;
        }
        self.globs = Some(builder.build()?);
        Ok(())
    }

    /// Selects files of the types `selected`, and no files of the types `not`.
    ///
    /// # Errors
    /// If there is no such type.
    pub fn types<T: AsRef<str>>(&mut self, selected: &[T], not: &[T]) -> Result<(), Error> {
        if selected.is_empty() && not.is_empty() {
            return Ok(());
        }
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        for name in selected {
            builder.select(name.as_ref());
        }
        for name in not {
            builder.negate(name.as_ref());
        }
        self.types = Some(builder.build()?);
        Ok(())
    }

    /// Applies the selection to a walk.
    pub(super) fn apply(&self, builder: &mut WalkBuilder) {
        if let Some(globs) = &self.globs {
            builder.overrides(globs.clone());
        }
        if let Some(types) = &self.types {
            builder.types(types.clone());
        }
    }
}

/// All types: name and globs, sorted by name.
pub fn types() -> Vec<(String, Vec<String>)> {
    let definitions = TypesBuilder::new().add_defaults().definitions();
    definitions.iter().map(|d| (d.name().to_owned(), d.globs().to_vec())).collect()
}
