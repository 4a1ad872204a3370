//! `cargo xtask kernels`: compiles the kernels to PTX and records the registers that each one
//! uses.
//!
//! The compiler is NVRTC 12.0, an old version: drivers since 525 load the PTX that it writes. It
//! comes as a Python package (`pip install --target target/nvrtc
//! nvidia-cuda-nvrtc-cu12==12.0.140`) and needs no GPU.

#![allow(unsafe_code, reason = "the compiler is a C library")]

use anyhow::{Context, Result, bail};
use clap::Parser;
use libloading::{Library, Symbol};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Where the Python package puts the library, from the root of the workspace.
const LIBRARY: &str = "target/nvrtc/nvidia/cuda_nvrtc/lib/libnvrtc.so.12";
/// The macros of the dialect.
const DIALECT: &str = "crates/gpu/src/kernel/dialect.h";
/// The folders with kernels.
const KERNELS: [&str; 2] = ["crates/gpu/src/kernel", "crates/papers/src/kernel"];
/// The oldest GPUs that the PTX is for.
const PTX_FOR: &str = "compute_70";
/// Kernels that are also compiled with STAGED, for newer GPUs, to `<name>_staged.ptx`.
const STAGED: [&str; 1] = ["gpu_dfa"];
/// The oldest GPUs that this PTX is for.
const STAGED_FOR: &str = "compute_90";
/// The GPU that registers are counted for.
const COUNTED_FOR: &str = "sm_90";

#[derive(Parser)]
pub(crate) struct Args {
    /// Write nothing; fail if a file differs from what would be written
    #[arg(long)]
    check: bool,
    /// The compiler's library, if it is not where the Python package puts it
    #[arg(long, value_name = "FILE", env = "FYKE_NVRTC")]
    nvrtc: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode> {
    let compiler = Compiler::open(args.nvrtc.as_deref().unwrap_or(Path::new(LIBRARY)))?;
    let dialect = std::fs::read_to_string(DIALECT)?;
    let mut stale = Vec::new();
    for folder in KERNELS {
        compile_all(&compiler, &dialect, Path::new(folder), args.check, &mut stale)?;
    }
    if stale.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!("stale: {}: run `cargo xtask kernels` and review the changes", stale.join(", "));
    Ok(ExitCode::FAILURE)
}

/// Compiles the kernels of a folder, and writes or compares the results.
fn compile_all(
    compiler: &Compiler,
    dialect: &str,
    folder: &Path,
    check: bool,
    stale: &mut Vec<String>,
) -> Result<()> {
    let mut budgets = String::from(HEAD);
    for (name, path) in sources(folder)? {
        let own = std::fs::read_to_string(&path)?;
        let header = header_of(&own).map(|name| std::fs::read_to_string(folder.join(name)));
        let header = header.transpose()?.unwrap_or_default();
        let text = format!("{dialect}\n{header}\n#line 1 \"{name}.cu\"\n{own}");
        let mut forms = vec![(name.clone(), PTX_FOR, false)];
        if STAGED.contains(&name.as_str()) {
            forms.push((format!("{name}_staged"), STAGED_FOR, true));
        }
        for (file, arch, staged) in forms {
            let ptx = compiler.compile(&name, &text, arch, staged)?;
            let counted = compiler.compile(&name, &text, COUNTED_FOR, staged)?;
            budgets.push_str(&budget(&counted.log));
            put(&folder.join("ptx").join(format!("{file}.ptx")), &ptx.ptx, check, stale)?;
        }
    }
    put(&folder.join("budgets.txt"), &budgets, check, stale)
}

const HEAD: &str = "# What each kernel takes on sm_90: registers of a work item, bytes spilled, bytes of shared memory that it
# declares. Written by `cargo xtask kernels`; a change that costs occupancy shows here.
";

/// The header that a kernel's text names in its first line, as `// With x.h.`; `kernel_source!` names it, too.
fn header_of(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("// With ")?.strip_suffix('.')
}

fn sources(folder: &Path) -> Result<BTreeMap<String, PathBuf>> {
    let mut found = BTreeMap::new();
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("{}: run this from the root", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|e| e == "cu") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            found.insert(name, path);
        }
    }
    Ok(found)
}

/// Writes a file; with `check`, lists it as stale if it differs.
fn put(path: &Path, text: &str, check: bool, stale: &mut Vec<String>) -> Result<()> {
    let same = std::fs::read_to_string(path).is_ok_and(|old| old == text);
    if same {
        return Ok(());
    }
    if check {
        stale.push(path.display().to_string());
        return Ok(());
    }
    std::fs::write(path, text).with_context(|| path.display().to_string())
}

/// Lines of `kernel: registers, spilled, shared` from the log of the assembler.
fn budget(log: &str) -> String {
    let mut lines = String::new();
    let (mut kernel, mut spilled) = ("", 0);
    for line in log.lines() {
        if let Some(name) = line.split("Compiling entry function '").nth(1) {
            kernel = name.split('\'').next().unwrap_or(name);
        } else if let Some((before, _)) = line.split_once(" bytes spill stores") {
            spilled = before.rsplit(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        } else if let Some(used) = line.split("Used ").nth(1) {
            let number = |what: &str| {
                let before = used.split(what).next().filter(|b| b.len() < used.len())?;
                before.trim().rsplit(' ').next()?.parse::<u32>().ok()
            };
            let (registers, shared) =
                (number(" registers").unwrap_or(0), number(" bytes smem").unwrap_or(0));
            let _ = writeln!(
                lines,
                "{kernel}: {registers} registers, {spilled} spilled, {shared} shared"
            );
        }
    }
    lines
}

struct Compiler(Library);

struct Compiled {
    ptx: String,
    log: String,
}

type Program = *mut c_void;
type Get = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type Create = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;

impl Compiler {
    fn open(path: &Path) -> Result<Self> {
        let hint = "install it: python3 -m pip install --no-deps --target target/nvrtc nvidia-cuda-nvrtc-cu12==12.0.140";
        // SAFETY: loading a library runs its initializers. NVRTC's only set up its own state; that
        // the file is NVRTC is the user's statement, by `--nvrtc` or by installing the package.
        let library = unsafe { Library::new(path) };
        Ok(Self(library.with_context(|| format!("{}: cannot open NVRTC: {hint}", path.display()))?))
    }

    fn compile(&self, name: &str, text: &str, arch: &str, staged: bool) -> Result<Compiled> {
        let (text, file) = (CString::new(text)?, CString::new(format!("{name}.cu"))?);
        let mut options = vec![
            format!("--gpu-architecture={arch}"),
            "--ptxas-options=-v".into(),
            "--std=c++17".into(),
        ];
        options.extend(staged.then(|| "--define-macro=STAGED".into()));
        let options: Vec<CString> =
            options.into_iter().map(CString::new).collect::<Result<_, _>>()?;
        let places: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let mut program: Program = std::ptr::null_mut();
        // SAFETY: nvrtc.h declares this symbol with this signature in all versions of NVRTC.
        let create: Symbol<'_, Create> = unsafe { self.0.get(b"nvrtcCreateProgram")? };
        // SAFETY: nvrtc.h declares this symbol with this signature in all versions of NVRTC.
        let compile: Symbol<'_, Compile> = unsafe { self.0.get(b"nvrtcCompileProgram")? };
        // SAFETY: `program` is valid for writing; `text` and `file` are `CString`s, so they end
        // with a zero byte, and outlive the call; with 0 headers NVRTC does not read the null
        // arrays.
        let made = unsafe {
            create(
                &mut program,
                text.as_ptr(),
                file.as_ptr(),
                0,
                std::ptr::null(),
                std::ptr::null(),
            )
        };
        if made != 0 {
            bail!("{name}: NVRTC error {made}");
        }
        // SAFETY: `create` returned 0, so `program` is valid; `places` has as many pointers as the
        // count says, each to a `CString` in `options`, which outlives the call.
        let code = unsafe { compile(program, places.len() as c_int, places.as_ptr()) };
        let log = self.text(program, b"nvrtcGetProgramLogSize", b"nvrtcGetProgramLog")?;
        if code != 0 {
            bail!("{name}.cu for {arch}:\n{log}");
        }
        let ptx = self.text(program, b"nvrtcGetPTXSize", b"nvrtcGetPTX")?;
        Ok(Compiled { ptx, log })
    }

    fn text(&self, program: Program, size: &[u8], get: &[u8]) -> Result<String> {
        // SAFETY: nvrtc.h declares all `nvrtcGet*Size` with this signature in all versions of
        // NVRTC.
        let size: Symbol<'_, GetSize> = unsafe { self.0.get(size)? };
        // SAFETY: nvrtc.h declares `nvrtcGetPTX` and `nvrtcGetProgramLog` with this signature.
        let get: Symbol<'_, Get> = unsafe { self.0.get(get)? };
        let mut bytes = 0;
        // SAFETY: `program` is one that `create` made; `bytes` is valid for writing.
        if unsafe { size(program, &mut bytes) } != 0 || bytes == 0 {
            return Ok(String::new());
        }
        let mut text = vec![0u8; bytes];
        // SAFETY: NVRTC writes `bytes` bytes, the size it gave above, and `text` has as many.
        if unsafe { get(program, text.as_mut_ptr().cast()) } != 0 {
            bail!("NVRTC failed to return its output");
        }
        Ok(CStr::from_bytes_until_nul(&text)?.to_string_lossy().into_owned())
    }
}
