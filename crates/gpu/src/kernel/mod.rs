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

/// What a kernel begins with in PTX.
const ENTRY: &str = "\n.visible .entry ";

impl Source {
    /// The names of the kernels in the PTX.
    pub fn entries(&self) -> impl Iterator<Item = &'static str> {
        self.ptx.split(ENTRY).skip(1).filter_map(|part| part.split('(').next())
    }

    /// The PTX of one kernel, with what is declared for all: the compiler leaves no functions that kernels share.
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

/// The source of that name, with its kernels: `src/kernel/<name>.cu` of the crate that calls, and its PTX.
#[macro_export]
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
pub use source;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_stand_alone_in_ptx() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/kernel/ptx");
        let mut kernels = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let ptx: &'static str = std::fs::read_to_string(file.unwrap().path()).unwrap().leak();
            assert!(!ptx.contains(".func "), "all functions are inlined");
            let source = Source { name: "", kernels: &[], text: "", ptx };
            for name in source.entries() {
                let one = source.ptx_of(name);
                assert_eq!(one.matches(".entry ").count(), 1, "{name}");
                assert!(one.contains(&format!(".entry {name}(")) && one.contains(".target "));
                kernels += 1;
            }
        }
        assert!(kernels > 8);
    }
}
