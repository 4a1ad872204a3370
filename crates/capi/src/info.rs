//! What the library is: its version, and what it can use here.

use crate::abi::{
    FYKE_BAD_DATABASE, FYKE_BAD_PATTERN, FYKE_BAD_STATE, FYKE_IN_USE, FYKE_INTERNAL, FYKE_INVALID,
    FYKE_IO, FYKE_MORE, FYKE_OK, FYKE_REFUSED, FYKE_STOPPED, Status,
};
use fyke::{Device, registry};
use fyke_cpu::simd::Isa;
use std::ffi::{CStr, CString, c_char};
use std::panic::catch_unwind;
use std::ptr;
use std::sync::OnceLock;

/// The version of fyke, as a C string.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// The version of fyke, such as `"0.1.0"`. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// The name of a status, such as `"FYKE_INVALID"`; `"?"` for other numbers. The string is valid
/// forever.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_status_name(status: Status) -> *const c_char {
    name_of(status).as_ptr()
}

fn name_of(status: Status) -> &'static CStr {
    match status {
        FYKE_OK => c"FYKE_OK",
        FYKE_MORE => c"FYKE_MORE",
        FYKE_STOPPED => c"FYKE_STOPPED",
        FYKE_INVALID => c"FYKE_INVALID",
        FYKE_BAD_PATTERN => c"FYKE_BAD_PATTERN",
        FYKE_REFUSED => c"FYKE_REFUSED",
        FYKE_IO => c"FYKE_IO",
        FYKE_BAD_DATABASE => c"FYKE_BAD_DATABASE",
        FYKE_BAD_STATE => c"FYKE_BAD_STATE",
        FYKE_IN_USE => c"FYKE_IN_USE",
        FYKE_INTERNAL => c"FYKE_INTERNAL",
        _ => c"?",
    }
}

/// The best instruction set that engines use on this CPU: `"avx512"`, `"avx2"`, `"neon"`,
/// `"simd128"` or `"scalar"`. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_isa() -> *const c_char {
    let best = Isa::ALL.into_iter().rev().find(|isa| isa.available());
    let name = match best.unwrap_or(Isa::Scalar) {
        Isa::Avx512 => c"avx512",
        Isa::Avx2 => c"avx2",
        Isa::Neon => c"neon",
        Isa::Simd128 => c"simd128",
        Isa::Scalar => c"scalar",
    };
    name.as_ptr()
}

/// Whether GPU engines are compiled in. Whether this machine has a GPU shows when a searcher is
/// built.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_has_gpu() -> bool {
    let gpu = || registry::built_in().iter().any(|engine| engine.info().device == Device::Gpu);
    catch_unwind(gpu).unwrap_or(false)
}

/// The name of the engine of this index, counted from 0, for `fyke_builder_engine`; NULL after the
/// last one. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_engine_name(index: usize) -> *const c_char {
    let name = catch_unwind(|| engine_names().get(index).map(|name| name.as_ptr()));
    name.ok().flatten().unwrap_or(ptr::null())
}

fn engine_names() -> &'static [CString] {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let engines = registry::built_in().into_iter();
        engines.map(|engine| CString::new(engine.info().name).unwrap_or_default()).collect()
    })
}
