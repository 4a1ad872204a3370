//! The device halves of engines: `<name>.cu`, in a dialect of C that compiles as CUDA and as
//! OpenCL C.
//!
//! `dialect.h` defines the dialect. An OpenCL driver compiles it together with a kernel's text at
//! run time. For CUDA, `cargo xtask kernels` compiles both to PTX.
//!
//! The PTX is part of the repository, so that users need a driver and no compiler. An old compiler
//! builds it, so that old drivers accept it.

/// The macros of the dialect.
pub const DIALECT: &str = include_str!("dialect.h");

/// The text of a `.cu` file, for both backends.
#[derive(Debug)]
pub struct KernelSource {
    /// The file's stem.
    pub name: &'static str,
    /// The kernels in it.
    pub kernels: &'static [&'static str],
    /// The text without the dialect, for OpenCL.
    pub text: &'static str,
    /// The compiled text, for CUDA.
    pub ptx: &'static str,
}

/// The text that begins a kernel in PTX.
const ENTRY: &str = "\n.visible .entry ";

impl KernelSource {
    /// The names of the kernels in the PTX.
    pub fn entries(&self) -> impl Iterator<Item = &'static str> {
        self.ptx.split(ENTRY).skip(1).filter_map(|part| part.split('(').next())
    }

    /// The PTX of one kernel, with the declarations that all kernels share. The compiler inlines
    /// every function, so that is all a kernel needs.
    ///
    /// # Panics
    /// There is no such kernel.
    pub fn ptx_of(&self, kernel: &str) -> String {
        let mut parts = self.ptx.split(ENTRY);
        let declared = parts.next().unwrap_or_default();
        let is_it =
            |part: &&str| part.strip_prefix(kernel).is_some_and(|rest| rest.starts_with('('));
        let Some(part) = parts.find(is_it) else { panic!("{} has no kernel {kernel}", self.name) };
        [declared, ENTRY, part].concat()
    }
}

/// The [`KernelSource`] of `src/kernel/<name>.cu` in the calling crate, with the kernels in it
/// and, if it names one, the header that comes before its text.
#[macro_export]
macro_rules! kernel_source {
    ($name:literal, [$($kernel:literal),* $(,)?] $(, $header:literal)?) => {
        $crate::kernel::KernelSource {
            name: $name,
            kernels: &[$($kernel),*],
            text: concat!(
                $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/", $header)),)?
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/", $name, ".cu")),
            ),
            ptx: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/ptx/", $name, ".ptx")),
        }
    };
}
pub use kernel_source;

#[cfg(test)]
mod tests {
    use super::*;
    use fyke_testkit::registry::check_kernels;

    #[test]
    fn kernels_stand_alone_in_ptx() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/ptx");
        check_kernels(folder, 9, |ptx| {
            let source = KernelSource { name: "", kernels: &[], text: "", ptx };
            source.entries().map(|name| (name, source.ptx_of(name))).collect()
        });
    }
}
