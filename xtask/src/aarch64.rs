//! Builds for AArch64 Linux, and runs what was built in QEMU's user-mode emulation.
//!
//! It needs the target (`rustup target add aarch64-unknown-linux-gnu`), a linker and a C library
//! (Debian's package `gcc-aarch64-linux-gnu`), and QEMU (`qemu-user`).

/// The target.
pub(crate) const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Where the C library is.
const LIBRARIES: &str = "/usr/aarch64-linux-gnu";

/// The emulator, before its options and the program.
pub(crate) const RUNNER: [&str; 3] = ["qemu-aarch64", "-L", LIBRARIES];

/// Arguments of cargo that build for it.
pub(crate) const BUILD: [&str; 4] = [
    "--target",
    TARGET,
    "--config",
    "target.aarch64-unknown-linux-gnu.linker=\"aarch64-linux-gnu-gcc\"",
];
