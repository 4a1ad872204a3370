//! Which instruction set a matcher uses: chosen once, when it is compiled.

use fyke_core::{Options, Refusal};

/// A family of instructions that engines have forms for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// What every processor has.
    Scalar,
    /// x86-64 with AVX2, BMI and POPCNT: Haswell, Zen and later.
    Avx2,
    /// x86-64 with AVX-512 F, BW, DQ, VL, VBMI and VBMI2: Ice Lake, Zen 4 and later.
    Avx512,
}

impl Isa {
    /// All of them, least first.
    pub const ALL: [Isa; 3] = [Isa::Scalar, Isa::Avx2, Isa::Avx512];

    /// The form that `isa=auto|avx512|avx2|scalar` asks for, of those that an engine has. `auto` is the best
    /// that this machine can run.
    ///
    /// # Errors
    /// There is no such form, or this machine cannot run it.
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
        let named = opt.choice("isa", &["auto", "avx512", "avx2", "scalar"])?;
        match forms.iter().copied().find(|i| i.name() == named) {
            Some(isa) if isa.available() => Ok(isa),
            Some(isa) => Err(Refusal::NoIsa(isa.needs())),
            None if named == "auto" => best().ok_or(Refusal::NoIsa("any that this engine has")),
            None => Err(Refusal::BadOption(format!("isa={named}: this engine has no such form"))),
        }
    }

    /// Whether this machine can run it.
    pub fn available(self) -> bool {
        match self {
            Isa::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => has_avx2(),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => has_avx512(),
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The name in options and tables.
    pub fn name(self) -> &'static str {
        match self {
            Isa::Scalar => "scalar",
            Isa::Avx2 => "avx2",
            Isa::Avx512 => "avx512",
        }
    }

    fn needs(self) -> &'static str {
        match self {
            Isa::Scalar => "nothing",
            Isa::Avx2 => "AVX2 with BMI2",
            Isa::Avx512 => "AVX-512 with VBMI2",
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    has_avx2()
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
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
        }
    }
}
