//! Proof that the CPU has the bit-counting instructions, in the form of the tokens of
//! [`fyke_cpu::simd`].

/// Proof that this CPU supports POPCNT, BMI1 and BMI2.
///
/// The field is private, so [`BitCounting::detect`] is the only source of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct BitCounting(());

impl BitCounting {
    /// Asks the CPU.
    pub(super) fn detect() -> Option<BitCounting> {
        let has = is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2");
        has.then_some(BitCounting(()))
    }
}
