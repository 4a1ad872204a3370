//! How the instances for x86-64 and AArch64 write an operation of `Vector`.

/// Writes methods of a token as functions with target features.
///
/// The token must prove all features that the macro enables.
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

/// The same for methods whose callers promise more, which the function's notes cite.
macro_rules! unsafe_operations {
    ($features:literal $($name:ident $([$(const $by:ident: $number:ty),*])? ($($value:ident: $type:ty),*)
        -> $result:ty $body:block)*) => {$(
        #[inline(always)]
        unsafe fn $name$(<$(const $by: $number),*>)?(self, $($value: $type),*) -> $result {
            #[inline]
            #[target_feature(enable = $features)]
            unsafe fn operation$(<$(const $by: $number),*>)?($($value: $type),*) -> $result $body
            // SAFETY: `self` proves that detection found every feature enabled here, see
            // `simd::isa`. What else the function needs, our caller promises.
            unsafe { operation$(::<$($by),*>)?($($value),*) }
        }
    )*};
}

pub(super) use {operations, unsafe_operations};
