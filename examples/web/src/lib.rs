//! What the page calls: a module for wasm32 that searches a file in chunks.
//!
//! `cargo xtask web` builds it and writes one page that needs no server. The functions have the
//! ABI of C, so nothing generates code for the border. JavaScript writes to [`fyke_input`] and
//! reads from [`fyke_report`]; no function here follows a pointer.
//!
//! A web worker has a module, and a module has one search: [`fyke_open`] replaces it.

mod search;
mod tally;

pub use search::{Limits, Search};

use std::cell::RefCell;

/// Memory that the compiled set may take, in bytes. A module of wasm32 has at most 4 GiB.
const MEMORY: u64 = 1 << 30;

/// What the functions of a module share.
#[derive(Default)]
struct Module {
    /// What JavaScript writes: patterns, then chunks.
    input: Vec<u8>,
    search: Option<Search>,
    /// What JavaScript reads: a report or an error, in UTF-8.
    output: String,
}

impl Module {
    /// Keeps an error as the output. 0 is success.
    fn status(&mut self, result: Result<(), String>) -> u32 {
        match result {
            Ok(()) => 0,
            Err(error) => {
                self.output = error;
                1
            }
        }
    }

    fn open(&mut self, len: usize, format: u32, nocase: bool, size: f64) -> Result<(), String> {
        self.search = None;
        let patterns = self.input.get(..len).ok_or("more patterns than memory for them")?;
        let limits = Limits { memory: MEMORY, ..Limits::default() };
        // Sizes of files are whole numbers up to 2^53.
        self.search = Some(Search::new(patterns, format, nocase, size as u64, limits)?);
        Ok(())
    }

    fn feed(&mut self, len: usize) -> Result<(), String> {
        let chunk = self.input.get(..len).ok_or("a chunk is longer than the memory for it")?;
        self.search.as_mut().ok_or("no search is open")?.feed(chunk);
        Ok(())
    }

    fn report(&mut self) -> Result<(), String> {
        self.output = self.search.as_ref().ok_or("no search is open")?.report();
        Ok(())
    }
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

/// Memory for `len` bytes of input. It moves when more is asked for.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_input(len: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        if module.input.len() < len {
            module.input.resize(len, 0);
        }
        module.input.as_mut_ptr()
    })
}

/// Compiles the first `len` bytes of the input, a list of patterns, and begins the search of a file
/// of `size` bytes. Formats: 0 lines, 1 hexadecimal lines, 2 Snort rules. Returns 0, or 1 if the
/// output is an error.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_open(len: usize, format: u32, nocase: u32, size: f64) -> u32 {
    MODULE.with_borrow_mut(|module| {
        let result = module.open(len, format, nocase != 0, size);
        module.status(result)
    })
}

/// Searches the next chunk of the file, the first `len` bytes of the input. Returns 0, or 1 if the
/// output is an error.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_feed(len: usize) -> u32 {
    MODULE.with_borrow_mut(|module| {
        let result = module.feed(len);
        module.status(result)
    })
}

/// Writes what was found so far to the output, as JSON: see `Report`. Returns 0, or 1 if the
/// output is an error.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_report() -> u32 {
    MODULE.with_borrow_mut(|module| {
        let result = module.report();
        module.status(result)
    })
}

/// Where the output begins.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_output() -> *const u8 {
    MODULE.with_borrow(|module| module.output.as_ptr())
}

/// The length of the output in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fyke_output_len() -> usize {
    MODULE.with_borrow(|module| module.output.len())
}
