//! What the library is and where it runs.

use crate::abi::{PlatformInfo, SUCCESS, Status};
use crate::border::{guarded, put};
use std::ffi::{c_char, c_ulonglong};

/// The version, first that of Hyperscan's interface.
const VERSION: &str = concat!("5.4.0 fyke ", env!("CARGO_PKG_VERSION"), "\0");

/// `HS_CPU_FEATURES_AVX2`
const AVX2: c_ulonglong = 1 << 2;
/// `HS_CPU_FEATURES_AVX512`
const AVX512: c_ulonglong = 1 << 3;
/// `HS_CPU_FEATURES_AVX512VBMI`
const AVX512_VBMI: c_ulonglong = 1 << 4;
/// All CPU features that the headers name.
const FEATURES: c_ulonglong = AVX2 | AVX512 | AVX512_VBMI;
/// The greatest number of a CPU family, `HS_TUNE_FAMILY_ICX`.
const LAST_FAMILY: u32 = 10;

/// The version of the library: that of the interface, then its own.
#[unsafe(no_mangle)]
pub extern "C" fn hs_version() -> *const c_char {
    VERSION.as_ptr().cast()
}

/// Whether the library runs on this CPU. It runs on every one.
#[unsafe(no_mangle)]
pub extern "C" fn hs_valid_platform() -> Status {
    SUCCESS
}

/// Describes this machine for the compile calls, which ignore it: databases run on every machine.
///
/// # Safety
/// `platform` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_populate_platform(platform: *mut PlatformInfo) -> Status {
    guarded(|| {
        let info = PlatformInfo { cpu_features: cpu_features(), ..PlatformInfo::default() };
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(platform, info) }
    })
}

/// Why a platform is not valid; nothing if it is.
pub(crate) fn refuse_platform(platform: &PlatformInfo) -> Option<&'static str> {
    if platform.cpu_features & !FEATURES != 0 {
        return Some("Invalid cpu features specified in the platform information.");
    }
    if platform.tune > LAST_FAMILY {
        return Some("Invalid tuning value specified in the platform information.");
    }
    None
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> c_ulonglong {
    let has_avx2 = is_x86_feature_detected!("avx2");
    let has_avx512 =
        has_avx2 && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
    let has_vbmi = has_avx512 && is_x86_feature_detected!("avx512vbmi");
    [(has_avx2, AVX2), (has_avx512, AVX512), (has_vbmi, AVX512_VBMI)]
        .into_iter()
        .filter(|(has, _)| *has)
        .fold(0, |features, (_, feature)| features | feature)
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> c_ulonglong {
    0
}
