//! The device halves of engines: `<name>.cu`, in a dialect of C that is CUDA and OpenCL C at once.
//!
//! `dialect.h` has the words of the dialect; OpenCL's compilers get the two texts one after the other. For CUDA,
//! `cargo xtask kernels` compiles them to PTX with an old compiler, so that old drivers take it, and what it wrote to
//! `ptx/` is part of the repository: users need a driver and nothing else.

/// The words of the dialect.
pub const DIALECT: &str = include_str!("dialect.h");

/// The source of some kernels.
#[derive(Debug)]
pub struct Source {
    /// The name of the file.
    pub name: &'static str,
    /// The kernels in it.
    pub kernels: &'static [&'static str],
    /// The text without the dialect.
    pub text: &'static str,
    /// The same for CUDA, compiled.
    pub ptx: &'static str,
}

/// The source of that name, with its kernels.
macro_rules! source {
    ($name:literal, [$($kernel:literal),* $(,)?]) => {
        $crate::kernel::Source {
            name: $name,
            kernels: &[$($kernel),*],
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/", $name, ".cu")),
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/ptx/", $name, ".ptx")),
        }
    };
}
pub(crate) use source;
