//! The builder: patterns and settings, from which searchers are built.

use crate::abi::{
    FYKE_ALL, FYKE_LEFTMOST_FIRST, FYKE_LEFTMOST_LONGEST, FYKE_NOCASE, FYKE_ONCE, FYKE_STANDARD,
    SemanticsCode, Status,
};
use crate::border::{bytes, checked, reference, text};
use crate::error::Failure;
use crate::handle::{Exclusive, NewHandle, free_exclusive};
use crate::searcher::Searcher;
use fyke::{MatchKind, PatternId, PatternSet, PatternSetBuilder, SearcherBuilder, Semantics};
use std::ffi::{c_char, c_void};

/// Patterns and settings. One thread at a time may use it.
pub struct Builder {
    state: Exclusive<State>,
}

struct State {
    patterns: PatternSetBuilder,
    settings: SearcherBuilder,
}

impl State {
    /// Changes the settings.
    fn set(&mut self, change: impl FnOnce(SearcherBuilder) -> SearcherBuilder) {
        self.settings = change(std::mem::take(&mut self.settings));
    }
}

/// Uses the state of a builder.
///
/// # Safety
/// The builder is null or live.
unsafe fn with_state(
    builder: *const Builder,
    body: impl FnOnce(&mut State) -> Result<(), Failure>,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or live.
        let builder = unsafe { reference(builder, "builder") }?;
        body(&mut *builder.state.take("builder")?)
    })
}

/// Changes the settings of a builder.
///
/// # Safety
/// As [`with_state`].
unsafe fn set(
    builder: *mut Builder,
    change: impl FnOnce(SearcherBuilder) -> SearcherBuilder,
) -> Status {
    let body = |state: &mut State| {
        state.set(change);
        Ok(())
    };
    // SAFETY: the caller promises the same.
    unsafe { with_state(builder, body) }
}

/// The semantics of a code.
fn semantics_of(code: SemanticsCode) -> Result<Semantics, Failure> {
    Ok(match code {
        FYKE_ALL => Semantics::All,
        FYKE_ONCE => Semantics::Once,
        FYKE_STANDARD => Semantics::Standard,
        FYKE_LEFTMOST_FIRST => Semantics::LeftmostFirst,
        FYKE_LEFTMOST_LONGEST => Semantics::LeftmostLongest,
        _ => return Err(Failure::invalid(format_args!("semantics: {code} is no value of it"))),
    })
}

/// The match kind whose first match is the first that the semantics report.
pub(crate) fn kind_of(semantics: Semantics) -> MatchKind {
    match semantics {
        Semantics::LeftmostFirst => MatchKind::LeftmostFirst,
        Semantics::LeftmostLongest => MatchKind::LeftmostLongest,
        _ => MatchKind::Standard,
    }
}

/// Makes a builder without patterns, with the default settings. Free it with `fyke_builder_free`.
///
/// # Safety
/// `builder` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_new(builder: *mut *mut Builder) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(builder, "builder") }?;
        let (patterns, settings) = (PatternSet::builder(), SearcherBuilder::default());
        new.set(Builder { state: Exclusive::new(State { patterns, settings }) });
        Ok(())
    })
}

/// Frees a builder. NULL is allowed. Searchers that were built from it stay.
///
/// # Safety
/// `builder` is NULL, or live and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_free(builder: *mut Builder) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { free_exclusive(builder, "builder", |builder| &builder.state) }
}

/// Adds a pattern of 1 to 65,535 bytes of any value, which are copied. Its matches have `id`;
/// several patterns may have one id, and equal patterns may have several. `flags` is 0 or
/// `FYKE_NOCASE`.
///
/// Returns `FYKE_BAD_PATTERN` for a pattern that is empty or too long; the builder stays as it was.
///
/// # Safety
/// `builder` is NULL or live; `pattern` is NULL or has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_add(
    builder: *mut Builder,
    pattern: *const c_void,
    len: usize,
    id: u32,
    flags: u32,
) -> Status {
    let body = |state: &mut State| {
        // SAFETY: the caller promises that it is null or has as many bytes.
        let pattern = unsafe { bytes(pattern, len, "pattern") }?;
        if flags & !FYKE_NOCASE != 0 {
            return Err(Failure::invalid(format_args!("flags: {flags:#x} has unknown bits")));
        }
        state.patterns.push_with(PatternId(id), pattern, flags & FYKE_NOCASE != 0)?;
        Ok(())
    };
    // SAFETY: the caller promises that it is null or live.
    unsafe { with_state(builder, body) }
}

/// Selects which matches are reported: `FYKE_ALL`, the default, `FYKE_ONCE`, `FYKE_STANDARD`,
/// `FYKE_LEFTMOST_FIRST` or `FYKE_LEFTMOST_LONGEST`.
///
/// # Safety
/// `builder` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_semantics(
    builder: *mut Builder,
    semantics: SemanticsCode,
) -> Status {
    let body = |state: &mut State| {
        let semantics = semantics_of(semantics)?;
        state.set(|settings| settings.semantics(semantics).match_kind(kind_of(semantics)));
        Ok(())
    };
    // SAFETY: the caller promises that it is null or live.
    unsafe { with_state(builder, body) }
}

/// Selects the engine by its name, with its options after a colon, as in `"ac-dfa:walks=4"`. The
/// default, `"auto"`, chooses one for the patterns and this machine. `fyke_engine_name` lists the
/// names. The name is checked when a searcher is built.
///
/// # Safety
/// `builder` is NULL or live; `engine` is NULL or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_engine(
    builder: *mut Builder,
    engine: *const c_char,
) -> Status {
    let body = |state: &mut State| {
        // SAFETY: the caller promises that it is null or a string.
        let engine = unsafe { text(engine, "engine") }?.to_string_lossy();
        state.set(|settings| settings.engine(engine));
        Ok(())
    };
    // SAFETY: the caller promises that it is null or live.
    unsafe { with_state(builder, body) }
}

/// Sets the number of threads that scan one large haystack or file. The default is 1, and 0 is
/// taken as 1. Callbacks are called on the calling thread.
///
/// # Safety
/// `builder` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_threads(builder: *mut Builder, threads: usize) -> Status {
    // SAFETY: the caller promises that it is null or live.
    unsafe { set(builder, |settings| settings.threads(threads)) }
}

/// Limits the memory of a searcher, in bytes. An engine that needs more refuses the patterns before
/// it allocates. The default is no limit.
///
/// # Safety
/// `builder` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_memory_limit(builder: *mut Builder, bytes: u64) -> Status {
    // SAFETY: the caller promises that it is null or live.
    unsafe { set(builder, |settings| settings.memory_limit(bytes)) }
}

/// Gives the approximate number of bytes that will be scanned in total. It may change the engine
/// and the speed, never the matches. A GPU is chosen only if enough bytes are expected.
///
/// # Safety
/// `builder` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_expected_bytes(builder: *mut Builder, bytes: u64) -> Status {
    // SAFETY: the caller promises that it is null or live.
    unsafe { set(builder, |settings| settings.expected_bytes(bytes)) }
}

/// Gives the approximate number of bytes of one call, such as the length of a packet. It may change
/// the engine and the speed, never the matches.
///
/// # Safety
/// `builder` is NULL or live.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_expected_call(builder: *mut Builder, bytes: u64) -> Status {
    // SAFETY: the caller promises that it is null or live.
    unsafe { set(builder, |settings| settings.expected_call(bytes)) }
}

/// Gives a sample of the data that will be scanned, which is copied; a few hundred kilobytes are
/// enough. It may change the engine and the speed, never the matches.
///
/// # Safety
/// `builder` is NULL or live; `sample` is NULL or has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_sample(
    builder: *mut Builder,
    sample: *const c_void,
    len: usize,
) -> Status {
    let body = |state: &mut State| {
        // SAFETY: the caller promises that it is null or has as many bytes.
        let sample = unsafe { bytes(sample, len, "sample") }?;
        state.set(|settings| settings.sample(sample));
        Ok(())
    };
    // SAFETY: the caller promises that it is null or live.
    unsafe { with_state(builder, body) }
}

/// Compiles the patterns. Free the searcher with `fyke_searcher_free`. The builder stays as it was,
/// and may build more searchers.
///
/// Returns `FYKE_REFUSED` if no engine has the name, or the engine refuses the patterns or an
/// option. `*searcher` is NULL after a failure.
///
/// # Safety
/// `builder` is NULL or live; `searcher` is NULL or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fyke_builder_build(
    builder: *const Builder,
    searcher: *mut *mut Searcher,
) -> Status {
    checked(|| {
        // SAFETY: the caller promises that it is null or a place.
        let new = unsafe { NewHandle::new(searcher, "searcher") }?;
        // SAFETY: the caller promises that it is null or live.
        let state = unsafe { reference(builder, "builder") }?.state.take("builder")?;
        let set = state.patterns.clone().build();
        new.set(Searcher::new(state.settings.build(&set)?));
        Ok(())
    })
}
