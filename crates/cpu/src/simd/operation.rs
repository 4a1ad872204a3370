//! Macros by which the implementations of `Vector` write operations.

/// Writes methods of a token as functions with target features.
///
/// The token must prove all features that the macro enables.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! operations {
    ($features:literal $($name:ident $([$(const $by:ident: $number:ty),*])? ($($value:ident: $type:ty),*)
        -> $result:ty $body:block)*) => {$(
        #[inline(always)]
        fn $name$(<$(const $by: $number),*>)?(self, $($value: $type),*) -> $result {
            #[inline]
            #[target_feature(enable = $features)]
            fn operation$(<$(const $by: $number),*>)?($($value: $type),*) -> $result $body
            // SAFETY: `self` proves that detection found every feature enabled here, see
            // `simd::isa`.
            unsafe { operation$(::<$($by),*>)?($($value),*) }
        }
    )*};
}

/// The same for unsafe methods. SAFETY notes in a body cite the promises of the method's caller.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! unsafe_operations {
    ($features:literal $($name:ident $([$(const $by:ident: $number:ty),*])? ($($value:ident: $type:ty),*)
        -> $result:ty $body:block)*) => {$(
        #[inline(always)]
        unsafe fn $name$(<$(const $by: $number),*>)?(self, $($value: $type),*) -> $result {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn operation$(<$(const $by: $number),*>)?($($value: $type),*) -> $result $body
            // SAFETY: `self` proves that detection found every feature enabled here, see
            // `simd::isa`. The function's other requirements are those of this method, which our
            // caller promises to meet.
            unsafe { operation$(::<$($by),*>)?($($value),*) }
        }
    )*};
}

/// Calls a function with each of the four registers of its operands.
#[cfg(any(target_arch = "aarch64", target_feature = "simd128"))]
macro_rules! each {
    ($of:path: $a:expr) => {{
        let a = $a;
        [$of(a[0]), $of(a[1]), $of(a[2]), $of(a[3])]
    }};
    ($of:path: $a:expr, $b:expr) => {{
        let (a, b) = ($a, $b);
        [$of(a[0], b[0]), $of(a[1], b[1]), $of(a[2], b[2]), $of(a[3], b[3])]
    }};
}

#[cfg(any(target_arch = "aarch64", target_feature = "simd128"))]
pub(super) use each;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use {operations, unsafe_operations};
