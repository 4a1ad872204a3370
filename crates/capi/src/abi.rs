//! The types and constants of the interface.

use std::ffi::{c_int, c_void};

/// What a function returns: 0 or more if it did what it should, less if it failed. After a failure,
/// `fyke_last_error` has the reason.
pub type Status = i32;

/// Success. With `fyke_iter_next`: these were the last matches.
pub const FYKE_OK: Status = 0;
/// The array is full, and there may be more matches.
pub const FYKE_MORE: Status = 1;
/// A callback stopped the call by returning another value than 0.
pub const FYKE_STOPPED: Status = 2;
/// An argument is wrong: NULL, misaligned, out of range, or a call out of turn.
pub const FYKE_INVALID: Status = -1;
/// A pattern is empty, or longer than 65,535 bytes.
pub const FYKE_BAD_PATTERN: Status = -2;
/// The engine refuses the patterns or an option: unknown name, memory limit, no such device.
pub const FYKE_REFUSED: Status = -3;
/// The operating system could not open, read or write a file, or a callback could not write.
pub const FYKE_IO: Status = -4;
/// The database is damaged, truncated, of another version, or no database.
pub const FYKE_BAD_DATABASE: Status = -5;
/// The saved state is damaged, of another version, of other patterns or semantics, or no state.
pub const FYKE_BAD_STATE: Status = -6;
/// The handle is in use: by another thread, or by the call that is calling back.
pub const FYKE_IN_USE: Status = -7;
/// A bug of fyke: please report it. The handle can only be freed.
pub const FYKE_INTERNAL: Status = -8;

/// Which matches are reported.
pub type SemanticsCode = u32;

/// Every occurrence of every pattern, overlapping ones too.
pub const FYKE_ALL: SemanticsCode = 0;
/// The first occurrence of each pattern: the one that ends first.
pub const FYKE_ONCE: SemanticsCode = 1;
/// Matches that do not overlap, each the first to end after the one before.
pub const FYKE_STANDARD: SemanticsCode = 2;
/// Matches that do not overlap, from the left; among those with one start, the lowest id.
pub const FYKE_LEFTMOST_FIRST: SemanticsCode = 3;
/// Matches that do not overlap, from the left; among those with one start, the longest.
pub const FYKE_LEFTMOST_LONGEST: SemanticsCode = 4;

/// A pattern's flag: it matches ASCII letters of either case.
pub const FYKE_NOCASE: u32 = 1;

/// One occurrence of one pattern: the bytes from `start` to before `end`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// The pattern's id, as `fyke_builder_add` got it.
    pub id: u32,
    /// Offset of the first byte, in bytes from the start of the haystack or stream.
    pub start: u64,
    /// Offset of the byte after the last one.
    pub end: u64,
}

/// A haystack of a batch.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Its bytes. NULL is allowed if there are none.
    pub data: *const c_void,
    /// Their number.
    pub len: usize,
}

/// Gets some matches, in order, of at least one. They are valid during the call.
///
/// Return 0 to go on, another value to stop. Do not `longjmp` out of it; a C++ exception that
/// leaves it ends the process.
pub type OnMatches = Option<
    unsafe extern "C-unwind" fn(matches: *const Match, count: usize, context: *mut c_void) -> c_int,
>;

/// Gets some matches of one buffer of a batch, whose index is `buffer`. Otherwise as
/// `fyke_on_matches`.
pub type OnBufferMatches = Option<
    unsafe extern "C-unwind" fn(
        buffer: usize,
        matches: *const Match,
        count: usize,
        context: *mut c_void,
    ) -> c_int,
>;

/// Takes bytes that are being saved, one part after the other. They are valid during the call.
///
/// Return 0 to go on, another value if they could not be written. Do not leave it otherwise.
pub type OnBytes = Option<
    unsafe extern "C-unwind" fn(bytes: *const c_void, len: usize, context: *mut c_void) -> c_int,
>;
