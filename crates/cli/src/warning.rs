//! Warnings about devices that failed while something was scanned. The result is right all the same, and the exit
//! code that of the result: the processor scanned what they failed at. And about devices that are none.

use fyke::{Options, registry};
use fyke_gpu::device;
use fyke_gpu::faults::{self, Noted};

/// Prints what failed since the last call.
pub(crate) fn print_faults() {
    for noted in faults::take() {
        eprintln!("fyke: {}", line(&noted));
    }
}

/// Prints it if `--engine gpu` found nothing better than a processor that plays a device.
pub(crate) fn print_player(spec: &str) {
    let (name, params) = registry::parse(spec);
    let open = || device::open(&Options::with_params(params).ok()?).ok();
    let Some(device) = (name == "gpu").then(open).flatten() else { return };
    if device.properties().is_processor {
        eprintln!("fyke: warning: {device:?} is a processor that plays a device: slow, and right");
    }
}

fn line(noted: &Noted) -> String {
    let pieces = match noted.pieces {
        1 => "1 piece".to_owned(),
        n => format!("{n} pieces"),
    };
    format!("warning: {}; the processor scanned {pieces} in its place", noted.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_one_line() {
        let mut noted =
            Noted { what: "gpu-ac0 on X (cuda): copying failed: lost".into(), pieces: 1 };
        assert_eq!(
            line(&noted),
            "warning: gpu-ac0 on X (cuda): copying failed: lost; the processor scanned 1 piece in its place"
        );
        noted.pieces = 20;
        assert!(line(&noted).ends_with("20 pieces in its place"));
    }
}
