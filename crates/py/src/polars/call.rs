//! The arguments of an expression.

use crate::columns::Query;
use fyke::database::Database;
use serde::Deserialize;
use serde_bytes::ByteBuf;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// The maximum number of calls whose searchers are kept. Not measured: a guess.
const KEPT: usize = 16;

/// The pickled dict. python/fyke/polars.py writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    database: ByteBuf,
    threads: usize,
    overlapping: bool,
    whole_words: bool,
    /// Whether positions count characters.
    chars: bool,
    /// What replaces the matches of all ids.
    replacement: Option<ByteBuf>,
    /// What replaces the matches of each id.
    replacements: HashMap<u32, ByteBuf>,
}

/// What an expression is to do.
pub(super) struct Call {
    /// The dict, to know the call again.
    pickled: Box<[u8]>,
    pub(super) query: Query,
    pub(super) chars: bool,
    replacement: Option<ByteBuf>,
    replacements: HashMap<u32, ByteBuf>,
}

impl Call {
    fn new(pickled: &[u8]) -> Result<Self, String> {
        let arguments: Arguments = serde_pickle::from_slice(pickled, Default::default())
            .map_err(|error| format!("the arguments of the expression cannot be read: {error}"))?;
        let threads = arguments.threads.max(1);
        let database = Database::read(&arguments.database[..]).map_err(|e| e.to_string())?;
        let searcher = database
            .build(&database.builder().threads(threads))
            .map_err(|error| error.to_string())?;
        let (overlapping, words) = (arguments.overlapping, arguments.whole_words);
        Ok(Self {
            pickled: pickled.into(),
            query: Query::new(&searcher, threads, overlapping, words),
            chars: arguments.chars,
            replacement: arguments.replacement,
            replacements: arguments.replacements,
        })
    }

    /// Appends what takes the place of a match.
    pub(super) fn replace(&self, id: u32, to: &mut Vec<u8>) {
        let by_id = || self.replacements.get(&id);
        if let Some(replacement) = self.replacement.as_ref().or_else(by_id) {
            to.extend_from_slice(replacement);
        }
    }

    /// The call with these arguments. Polars calls once for each part of a column, so the searchers
    /// of the last calls are kept.
    pub(super) fn of(pickled: &[u8]) -> Result<Arc<Self>, String> {
        static LAST: RwLock<Vec<Arc<Call>>> = RwLock::new(Vec::new());
        static BUILD: Mutex<()> = Mutex::new(());
        let kept = || {
            let last = LAST.read().unwrap_or_else(PoisonError::into_inner);
            last.iter().find(|call| *call.pickled == *pickled).cloned()
        };
        if let Some(call) = kept() {
            return Ok(call);
        }
        // Threads that miss together compile the set once.
        let _build = BUILD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = kept() {
            return Ok(call);
        }
        let call = Arc::new(Self::new(pickled)?);
        let mut last = LAST.write().unwrap_or_else(PoisonError::into_inner);
        last.insert(0, call.clone());
        last.truncate(KEPT);
        Ok(call)
    }
}
