//! Instruction sets: their names, and proof that this CPU has one.
//!
//! To call a function compiled for AVX2, AVX-512 or NEON on a CPU without it is undefined behavior.
//! So each such function is reached through a token, [`Avx2`], [`Avx512`] or [`Neon`]: a zero-sized
//! value that only run-time detection creates. A wrapper that takes the token by value is safe to
//! call, and its one `unsafe` block cites the token. WebAssembly detects nothing at run time, so
//! `Simd128` proves what the module was compiled with.
//!
//! * [`Isa`] is the name of an instruction set. Planners compare costs by it, on any CPU.
//! * [`Dispatch`] is an instruction set with its token. A matcher resolves it once, when it is
//!   compiled.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
use super::vector::Vector as _;
use super::vector::Work;
use fyke_core::{Options, Refusal};

/// The name of an instruction set that engines have forms for. A name proves nothing about this
/// CPU: see [`Isa::dispatch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// The baseline of the target: SSE2 on x86-64.
    Scalar,
    /// WebAssembly with simd128, if the module is compiled for it.
    Simd128,
    /// Little-endian AArch64 with NEON, which nearly every one has.
    Neon,
    /// x86-64 with AVX2, BMI1, BMI2, POPCNT and LZCNT: Haswell, Zen and later.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL, VBMI and VBMI2: Ice Lake, Zen 4 and later.
    Avx512,
}

impl Isa {
    /// All of them, least first.
    pub const ALL: [Isa; 5] = [Isa::Scalar, Isa::Simd128, Isa::Neon, Isa::Avx2, Isa::Avx512];

    /// The values of the option `isa`.
    pub const OPTIONS: &[&str] = &["auto", "avx512", "avx2", "neon", "simd128", "scalar"];

    /// The instruction set that the option `isa` selects from `forms`, which an engine supports.
    /// `auto` selects the best one that this CPU has.
    ///
    /// # Errors
    /// The engine has no such form, or this CPU lacks the instructions.
    ///
    /// ```
    /// use fyke_core::Options;
    /// use fyke_cpu::simd::Isa;
    /// let asked = Options::with_params("isa=scalar")?;
    /// assert_eq!(Isa::choose(&asked, &[Isa::Scalar, Isa::Avx2])?, Isa::Scalar);
    /// # Ok::<(), fyke_core::Refusal>(())
    /// ```
    pub fn choose(opt: &Options, forms: &[Isa]) -> Result<Isa, Refusal> {
        let best = || forms.iter().copied().filter(|i| i.available()).max();
        let named = opt.choice("isa", Isa::OPTIONS)?;
        match forms.iter().copied().find(|i| i.name() == named) {
            Some(isa) => isa.dispatch().map(Dispatch::isa),
            None if named == "auto" => best().ok_or(Refusal::NoIsa("any that this engine has")),
            None => Err(Refusal::BadOption(format!("isa={named}: this engine has no such form"))),
        }
    }

    /// The instruction set with proof that this CPU has it.
    ///
    /// # Errors
    /// This CPU lacks the instructions.
    pub fn dispatch(self) -> Result<Dispatch, Refusal> {
        let found = match self {
            Isa::Scalar => Some(Dispatch::Scalar),
            #[cfg(target_feature = "simd128")]
            Isa::Simd128 => Simd128::detect().map(Dispatch::Simd128),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Avx2::detect().map(Dispatch::Avx2),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Avx512::detect().map(Dispatch::Avx512),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => Neon::detect().map(Dispatch::Neon),
            // The instruction sets of other architectures.
            _ => None,
        };
        found.ok_or(Refusal::NoIsa(self.needs()))
    }

    /// Whether one instruction loads several elements of a table from different addresses.
    pub fn gathers(self) -> bool {
        matches!(self, Isa::Avx2 | Isa::Avx512)
    }

    /// Whether this CPU has the instructions.
    pub fn available(self) -> bool {
        self.dispatch().is_ok()
    }

    /// The name in options and tables.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Simd128 => "simd128",
            Isa::Neon => "neon",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    fn needs(self) -> &'static str {
        match self {
            Isa::Scalar => "nothing",
            Isa::Simd128 => "WebAssembly compiled with simd128",
            Isa::Neon => "NEON of AArch64",
            Isa::Avx2 => "AVX2 with BMI2",
            Isa::Avx512 => "AVX-512 with VBMI2",
        }
    }
}

/// The form that a matcher runs: an instruction set with proof that this CPU has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dispatch {
    /// Needs no proof.
    Scalar,
    /// simd128.
    #[cfg(target_feature = "simd128")]
    Simd128(Simd128),
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Dispatch {
    /// The instruction set's name.
    pub fn isa(self) -> Isa {
        match self {
            Dispatch::Scalar => Isa::Scalar,
            #[cfg(target_feature = "simd128")]
            Dispatch::Simd128(_) => Isa::Simd128,
            #[cfg(target_arch = "aarch64")]
            Dispatch::Neon(_) => Isa::Neon,
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx2(_) => Isa::Avx2,
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx512(_) => Isa::Avx512,
        }
    }

    /// This instruction set, but AVX2 in place of AVX-512.
    pub(crate) fn at_most_avx2(self) -> Dispatch {
        match self {
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx512(token) => Dispatch::Avx2(token.avx2()),
            other => other,
        }
    }

    /// Runs a vector loop compiled for the instruction set. [`Dispatch::Scalar`] returns the loop
    /// without running it: engines have other code for the scalar form.
    pub(crate) fn run<W: Work>(self, work: W) -> Result<W::Output, W> {
        match self {
            Dispatch::Scalar => Err(work),
            #[cfg(target_feature = "simd128")]
            Dispatch::Simd128(token) => Ok(token.run(work)),
            #[cfg(target_arch = "aarch64")]
            Dispatch::Neon(token) => Ok(token.run(work)),
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx2(token) => Ok(token.run(work)),
            #[cfg(target_arch = "x86_64")]
            Dispatch::Avx512(token) => Ok(token.run(work)),
        }
    }
}

/// Proof that the module is compiled with simd128.
///
/// The field is private, so [`Simd128::detect`] is the only source of a value.
#[cfg(target_feature = "simd128")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simd128(());

#[cfg(target_feature = "simd128")]
impl Simd128 {
    /// Always succeeds: this function exists only in a module compiled with simd128.
    pub fn detect() -> Option<Simd128> {
        Some(Simd128(()))
    }
}

/// Proof that this CPU has NEON and orders bytes as engines expect.
///
/// The field is private, so [`Neon::detect`] is the only source of a value.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neon(());

#[cfg(target_arch = "aarch64")]
impl Neon {
    /// Asks the CPU.
    pub fn detect() -> Option<Neon> {
        let has = cfg!(target_endian = "little") && std::arch::is_aarch64_feature_detected!("neon");
        has.then_some(Neon(()))
    }
}

/// Proof that this CPU and its operating system support AVX2, BMI1, BMI2, POPCNT and LZCNT.
///
/// The field is private, so [`Avx2::detect`] and [`Avx512::avx2`] are the only sources of a value.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

#[cfg(target_arch = "x86_64")]
impl Avx2 {
    /// Asks the CPU.
    pub fn detect() -> Option<Avx2> {
        let has = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt")
            && is_x86_feature_detected!("lzcnt");
        has.then_some(Avx2(()))
    }
}

/// Proof that this CPU and its operating system support AVX-512 F, BW, DQ, VL, VBMI and VBMI2, and
/// all that [`Avx2`] proves.
///
/// The field is private, so [`Avx512::detect`] is the only source of a value.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512(Avx2);

#[cfg(target_arch = "x86_64")]
impl Avx512 {
    /// Asks the CPU.
    pub fn detect() -> Option<Avx512> {
        let has = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vbmi2");
        Avx2::detect().filter(|_| has).map(Avx512)
    }

    /// The proof of AVX2 that this one contains.
    pub fn avx2(self) -> Avx2 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(params: &str, forms: &[Isa]) -> Result<Isa, Refusal> {
        Isa::choose(&Options::with_params(params).unwrap(), forms)
    }

    #[test]
    fn a_form_is_the_best_there_is_or_the_one_asked_for() {
        assert_eq!(choose("", &[Isa::Scalar]), Ok(Isa::Scalar));
        assert_eq!(choose("isa=scalar", &Isa::ALL), Ok(Isa::Scalar));
        let best = Isa::ALL.into_iter().filter(|i| i.available()).max().unwrap();
        assert_eq!(choose("isa=auto", &Isa::ALL), Ok(best));
        assert!(choose("isa=avx2", &[Isa::Scalar]).is_err());
        assert!(choose("isa=mmx", &Isa::ALL).is_err());
    }

    #[test]
    fn what_a_machine_lacks_is_refused() {
        for isa in Isa::ALL {
            let asked = choose(&format!("isa={}", isa.name()), &Isa::ALL);
            assert_eq!(asked.is_ok(), isa.available(), "{isa:?}");
            assert_eq!(isa.dispatch().is_ok(), isa.available(), "{isa:?}");
        }
    }

    #[test]
    fn a_dispatch_is_of_the_instruction_set_that_was_asked_for() {
        let found = Isa::ALL.map(|isa| isa.dispatch().ok());
        for (isa, dispatch) in Isa::ALL.into_iter().zip(found) {
            assert!(dispatch.is_none_or(|dispatch| dispatch.isa() == isa));
        }
        eprintln!("instruction sets: {found:?}");
        #[cfg(target_arch = "x86_64")]
        assert_eq!(Avx512::detect().map(Avx512::avx2), Avx512::detect().and(Avx2::detect()));
    }
}
