//! Small vector operations, each with a form for every processor and a test against the plain one.
//!
//! Only what the baseline of a target has is used so far (SSE2 on x86-64), so nothing is detected.

#[cfg(target_arch = "x86_64")]
mod x86;

/// Bit `i` says whether `lanes[i]` is negative.
#[inline(always)]
pub fn sign_mask(lanes: &[i32; 16]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    return x86::sign_mask(lanes);
    #[cfg(not(target_arch = "x86_64"))]
    return plain::sign_mask(lanes);
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    pub(super) fn sign_mask(lanes: &[i32; 16]) -> u16 {
        lanes.iter().enumerate().fold(0, |mask, (i, lane)| mask | u16::from(*lane < 0) << i)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn sign_mask_equals_the_plain_form() {
        let values = [0, 1, -1, i32::MIN, i32::MAX, 0x8000, -0x8000, 0x1_0000, -0x1_0000, 255];
        for shift in 0..1000usize {
            let lanes =
                std::array::from_fn(|i| values[(i * i + shift * 7 + i * shift / 3) % values.len()]);
            assert_eq!(super::sign_mask(&lanes), super::plain::sign_mask(&lanes), "{lanes:?}");
        }
    }
}
