//! Messages on standard error, and the warnings about GPUs: one that failed during the scan, and
//! OpenCL that runs on the CPU.
//!
//! After a failure the CPU scans what the GPU did not, so result and exit code stay correct.

use fyke::{Options, registry};
use fyke_gpu::device;
use fyke_gpu::faults::{self, NotedFault};
use std::fmt;
use std::io::{self, Write};

/// Prints a message on standard error. If that fails, nobody can be told.
pub(crate) fn print(message: fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "fyke: {message}");
}

/// Prints the failures since the last call.
pub(crate) fn print_faults() {
    for noted in faults::take() {
        print(format_args!("{}", line(&noted)));
    }
}

/// Warns if the only device that `--engine gpu` found is OpenCL on the CPU.
pub(crate) fn print_opencl_on_cpu(spec: &str) {
    let (name, params) = registry::parse(spec);
    let open = || device::open(&Options::with_params(params).ok()?).ok();
    let Some(device) = (name == "gpu").then(open).flatten() else { return };
    if device.properties().is_cpu {
        print(format_args!("warning: {device:?} is OpenCL on the CPU: correct but slow"));
    }
}

fn line(noted: &NotedFault) -> String {
    let pieces = match noted.pieces {
        1 => "1 piece".to_owned(),
        n => format!("{n} pieces"),
    };
    format!("warning: {}; the CPU scanned {pieces} instead", noted.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line() {
        let mut noted =
            NotedFault { what: "gpu-ac0 on X (cuda): copying failed: lost".into(), pieces: 1 };
        assert_eq!(
            line(&noted),
            "warning: gpu-ac0 on X (cuda): copying failed: lost; the CPU scanned 1 piece instead"
        );
        noted.pieces = 20;
        assert!(line(&noted).ends_with("20 pieces instead"));
    }
}
