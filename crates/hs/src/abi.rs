//! The types and numbers of Hyperscan's headers: hs_common.h, hs_compile.h and hs_runtime.h.

use std::ffi::{c_char, c_int, c_uint, c_ulonglong, c_void};

/// What every function returns.
pub type Status = c_int;

/// The call did what it promises.
pub const SUCCESS: Status = 0;
/// A parameter is not valid.
pub const INVALID: Status = -1;
/// An allocator returned no memory.
pub const NOMEM: Status = -2;
/// The match handler ended the scan.
pub const SCAN_TERMINATED: Status = -3;
/// The compiler refused; the compile error says why.
pub const COMPILER_ERROR: Status = -4;
/// The database was built by another version.
pub const DB_VERSION_ERROR: Status = -5;
/// The database was built for another platform.
pub const DB_PLATFORM_ERROR: Status = -6;
/// The database was built for another mode.
pub const DB_MODE_ERROR: Status = -7;
/// A parameter is not aligned.
pub const BAD_ALIGN: Status = -8;
/// An allocator returned memory that is not aligned.
pub const BAD_ALLOC: Status = -9;
/// The scratch is in use by another call.
pub const SCRATCH_IN_USE: Status = -10;
/// The caller's buffer is too small.
pub const INSUFFICIENT_SPACE: Status = -12;
/// An internal error, such as a panic.
pub const UNKNOWN_ERROR: Status = -13;

/// ASCII letters match in either case.
pub const FLAG_CASELESS: c_uint = 1;
/// `.` matches newlines: of no effect on literals.
pub const FLAG_DOTALL: c_uint = 2;
/// `^` and `$` match at newlines: of no effect on literals.
pub const FLAG_MULTILINE: c_uint = 4;
/// At most one match for the id in a haystack.
pub const FLAG_SINGLEMATCH: c_uint = 8;
/// The handler gets the start of the match.
pub const FLAG_SOM_LEFTMOST: c_uint = 256;
/// All flags of version 5.4.
pub const FLAGS_KNOWN: c_uint = 0x7ff;

/// Whole haystacks.
pub const MODE_BLOCK: c_uint = 1;
/// Haystacks that arrive in chunks.
pub const MODE_STREAM: c_uint = 2;
/// Haystacks in several buffers, given in one call.
pub const MODE_VECTORED: c_uint = 4;
/// How far a stream remembers starts of matches. Streams report starts only if one of these is set;
/// which one is of no effect, because literals need no memory for it.
pub const MODE_SOM_HORIZONS: [c_uint; 3] = [1 << 24, 1 << 25, 1 << 26];

/// `min_offset` of [`ExprExt`] is set.
pub const EXT_MIN_OFFSET: c_ulonglong = 1;
/// `max_offset` of [`ExprExt`] is set.
pub const EXT_MAX_OFFSET: c_ulonglong = 2;
/// `min_length` of [`ExprExt`] is set.
pub const EXT_MIN_LENGTH: c_ulonglong = 4;
/// All flags of [`ExprExt`]; the last two ask for approximate matching.
pub const EXT_KNOWN: c_ulonglong = 31;

/// `match_event_handler`: id, start, end, flags and the caller's context. Other values than 0 end
/// the scan.
pub type MatchHandler =
    unsafe extern "C" fn(c_uint, c_ulonglong, c_ulonglong, c_uint, *mut c_void) -> c_int;
/// `hs_alloc_t`
pub type AllocFn = unsafe extern "C" fn(usize) -> *mut c_void;
/// `hs_free_t`
pub type FreeFn = unsafe extern "C" fn(*mut c_void);

/// `hs_compile_error_t`
#[repr(C)]
#[derive(Debug)]
pub struct CompileError {
    /// What was refused, for people.
    pub message: *mut c_char,
    /// The index of the expression, or a negative number if the error concerns none or all.
    pub expression: c_int,
}

/// `hs_platform_info_t`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PlatformInfo {
    /// The CPU family to tune for.
    pub tune: c_uint,
    /// The CPU's features that may be used.
    pub cpu_features: c_ulonglong,
    /// Zero.
    pub reserved1: c_ulonglong,
    /// Zero.
    pub reserved2: c_ulonglong,
}

/// `hs_expr_info_t`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExprInfo {
    /// Bytes of the shortest match.
    pub min_width: c_uint,
    /// Bytes of the longest match.
    pub max_width: c_uint,
    /// Whether matches may come out of order.
    pub unordered_matches: c_char,
    /// Whether there may be matches at the end of the data.
    pub matches_at_eod: c_char,
    /// Whether all matches are at the end of the data.
    pub matches_only_at_eod: c_char,
}

/// `hs_expr_ext_t`
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ExprExt {
    /// Which of the fields below are set.
    pub flags: c_ulonglong,
    /// Least end of a match.
    pub min_offset: c_ulonglong,
    /// Greatest end of a match.
    pub max_offset: c_ulonglong,
    /// Least length of a match.
    pub min_length: c_ulonglong,
    /// Not supported.
    pub edit_distance: c_uint,
    /// Not supported.
    pub hamming_distance: c_uint,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes that a C compiler gives the structures of the headers on 64-bit machines.
    #[test]
    fn structures_have_the_layout_of_the_headers() {
        assert_eq!(size_of::<CompileError>(), 16);
        assert_eq!(size_of::<PlatformInfo>(), 32);
        assert_eq!(size_of::<ExprInfo>(), 12);
        assert_eq!(size_of::<ExprExt>(), 40);
        assert_eq!(std::mem::offset_of!(ExprExt, hamming_distance), 36);
    }
}
