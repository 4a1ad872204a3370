//! Instruction sets, and small vector operations that several engines share.
//!
//! The operations of this module need the baseline of the target (SSE2 on x86-64, NEON on AArch64)
//! and are tested against a scalar form. An engine with forms for more than the baseline resolves a
//! [`Dispatch`] when it compiles a matcher.

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod gather;
mod isa;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
mod operation;
mod scalar;
#[cfg(target_feature = "simd128")]
mod simd128;
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
use aarch64 as baseline;
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "aarch64", target_endian = "little")
)))]
use plain as baseline;
#[cfg(target_arch = "x86_64")]
use x86 as baseline;

#[cfg(target_arch = "aarch64")]
pub use isa::Neon;
#[cfg(target_feature = "simd128")]
pub use isa::Simd128;
#[cfg(target_arch = "x86_64")]
pub use isa::{Avx2, Avx512};
pub use isa::{Dispatch, Isa};
pub(crate) use scalar::Scalar;

/// Prefetches a cache line into the L1 cache. Does nothing where there is no instruction for it.
#[inline(always)]
pub(crate) fn prefetch<T>(what: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch may take any address: it reads nothing that the program sees, and does
    // not fault.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(what.cast());
    }
    // Assembly, because there is no stable intrinsic. Miri runs no assembly.
    #[cfg(all(target_arch = "aarch64", not(miri)))]
    // SAFETY: `prfm` may take any address, too: it is a hint that does not fault. It writes neither
    // memory nor registers.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{}]", in(reg) what, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", all(target_arch = "aarch64", not(miri)))))]
    let _ = what;
}

/// A mask whose bit `i` is set if `lanes[i]` is negative.
#[inline(always)]
pub fn sign_mask(lanes: &[i32; 16]) -> u16 {
    baseline::sign_mask(lanes)
}

/// The length of the longest common prefix of two windows.
#[inline(always)]
pub fn common_prefix(a: &[u8; 16], b: &[u8; 16]) -> usize {
    baseline::common_prefix(a, b)
}

/// A mask whose bit `i` is set if the `i`-th of four 32-bit numbers is not 0.
#[inline(always)]
pub fn nonzero_mask(numbers: &[u8; 16]) -> u32 {
    baseline::nonzero_mask(numbers)
}

/// The scalar forms: the reference for the others.
#[cfg(any(
    test,
    not(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))
))]
mod plain {
    pub(super) fn common_prefix(a: &[u8; 16], b: &[u8; 16]) -> usize {
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }

    pub(super) fn nonzero_mask(numbers: &[u8; 16]) -> u32 {
        let (numbers, _) = numbers.as_chunks::<4>();
        numbers.iter().enumerate().fold(0, |mask, (i, n)| mask | u32::from(*n != [0; 4]) << i)
    }

    pub(super) fn sign_mask(lanes: &[i32; 16]) -> u16 {
        lanes.iter().enumerate().fold(0, |mask, (i, lane)| mask | u16::from(*lane < 0) << i)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sign_mask_equals_the_scalar_form() {
        let values = [0, 1, -1, i32::MIN, i32::MAX, 0x8000, -0x8000, 0x1_0000, -0x1_0000, 255];
        for shift in 0..1000usize {
            let lanes =
                std::array::from_fn(|i| values[(i * i + shift * 7 + i * shift / 3) % values.len()]);
            assert_eq!(super::sign_mask(&lanes), super::plain::sign_mask(&lanes), "{lanes:?}");
        }
    }

    #[test]
    fn common_prefix_equals_the_scalar_form() {
        let a: [u8; 16] = std::array::from_fn(|i| (i * 37) as u8);
        for same in 0..=16 {
            for bit in 0..8 {
                let mut b = a;
                b.iter_mut().skip(same).step_by(3).for_each(|b| *b ^= 1 << bit);
                assert_eq!(super::common_prefix(&a, &b), same);
                assert_eq!(super::plain::common_prefix(&a, &b), same);
            }
        }
    }

    #[test]
    fn nonzero_mask_equals_the_scalar_form() {
        for which in 0..16 {
            for byte in 0..4 {
                let set = |i: usize| which >> (i / 4) & 1 == 1 && i % 4 == byte;
                let numbers = std::array::from_fn(|i| u8::from(set(i)) << 7);
                assert_eq!(super::nonzero_mask(&numbers), which);
                assert_eq!(super::plain::nonzero_mask(&numbers), which);
            }
        }
    }
}
