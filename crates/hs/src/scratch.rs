//! [`Scratch`]: what C holds as `hs_scratch_t`. One serves databases of both libraries.

use crate::abi::{INVALID, SCRATCH_IN_USE, Status};
use crate::alloc::SCRATCH;
use crate::border::{guarded, put};
use crate::database::{Database, Kind};
use crate::engine::Engine;
use crate::next::NextScratch;
use crate::report::{Callback, Reporter, SameEnd, Spent};
use crate::window::joined_capacity;
use fyke_core::{Block, Driver};
use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::ops::{ControlFlow, Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// The mark of a live scratch.
const MAGIC: u32 = 0x6679_5343;

/// The working memory of scans: `hs_scratch_t`.
#[repr(C)]
pub struct Scratch {
    magic: u32,
    in_use: AtomicBool,
    state: UnsafeCell<State>,
}

/// What scans write to.
#[derive(Default)]
pub(crate) struct State {
    driver: Driver,
    /// The call that spent each slot last.
    seen: Vec<u32>,
    /// The number of the last call.
    epoch: u32,
    same_end: SameEnd,
    /// The history of a stream and the head of a chunk.
    pub(crate) joined: Vec<u8>,
    /// The history of a scan of several buffers.
    pub(crate) history: Vec<u8>,
    /// The spent slots of a scan of several buffers.
    pub(crate) bits: Vec<u8>,
    pub(crate) next: Option<NextScratch>,
}

impl State {
    /// Makes it large enough for a database.
    fn grow(&mut self, database: &Database) -> Result<(), Status> {
        let engine = match database.kind() {
            Kind::Own(engine) => engine,
            Kind::Next(next) => match &mut self.next {
                Some(scratch) => return scratch.grow(next),
                none => {
                    *none = Some(NextScratch::new(next)?);
                    return Ok(());
                }
            },
        };
        let slots = engine.slots();
        if self.seen.len() < slots {
            self.seen.resize(slots, 0);
            self.bits.resize(slots.div_ceil(8), 0);
        }
        if self.history.len() < engine.overlap() {
            self.history.resize(engine.overlap(), 0);
        }
        self.joined.clear();
        self.joined.reserve(joined_capacity(self.history.len()));
        Ok(())
    }

    /// Whether it is large enough for the compiled rules of a database.
    pub(crate) fn check_fits(&self, engine: &Engine) -> Result<(), Status> {
        let fits = self.seen.len() >= engine.slots() && self.history.len() >= engine.overlap();
        if fits { Ok(()) } else { Err(INVALID) }
    }

    /// A state of the same size.
    fn duplicate(&self) -> Result<State, Status> {
        Ok(State {
            seen: vec![0; self.seen.len()],
            bits: vec![0; self.bits.len()],
            history: vec![0; self.history.len()],
            joined: Vec::with_capacity(self.joined.capacity()),
            next: self.next.as_ref().map(NextScratch::duplicate).transpose()?,
            ..State::default()
        })
    }

    /// Bytes that it takes.
    fn size(&self) -> usize {
        let slots = size_of_val(&*self.seen) + self.bits.len();
        let own = slots + self.history.len() + self.joined.capacity();
        let next = self.next.as_ref().map_or(0, NextScratch::size);
        own + self.driver.memory() + next
    }

    /// The scratch of the next library; null if no database of it was given to this scratch.
    pub(crate) fn next_raw(&self) -> *mut c_void {
        self.next.as_ref().map_or(ptr::null_mut(), NextScratch::raw)
    }

    /// Scans a whole haystack. True if the handler ended the scan.
    pub(crate) fn scan_whole(&mut self, engine: &Engine, data: &[u8], callback: Callback) -> bool {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            // Old numbers would count as those of this call.
            self.seen.fill(0);
            self.epoch = 1;
        }
        let spent = Spent::Epochs { seen: &mut self.seen, epoch: self.epoch, count: 0 };
        let mut reporter = Reporter::new(callback, spent, &mut self.same_end);
        let _ = engine.scan(Block::whole(data), &mut self.driver, &mut reporter);
        reporter.is_stopped()
    }

    /// A scan of blocks that belong to a longer haystack, whose spent slots are `bits`. `feed` gets
    /// a function for them and the buffer for joining. True if the handler ended the scan.
    pub(crate) fn scan_blocks(
        &mut self,
        engine: &Engine,
        bits: &mut [u8],
        callback: Callback,
        feed: impl FnOnce(&mut Vec<u8>, &mut dyn FnMut(Block<'_>) -> ControlFlow<()>),
    ) -> bool {
        let mut reporter = Reporter::new(callback, Spent::Bits(bits), &mut self.same_end);
        let driver = &mut self.driver;
        feed(&mut self.joined, &mut |block| engine.scan(block, driver, &mut reporter));
        reporter.is_stopped()
    }
}

/// A scratch that this call uses and no other.
pub(crate) struct Claimed<'a>(&'a Scratch);

impl Scratch {
    fn new(state: State) -> Scratch {
        Scratch { magic: MAGIC, in_use: AtomicBool::new(false), state: UnsafeCell::new(state) }
    }

    /// The scratch behind a pointer of the caller.
    ///
    /// # Safety
    /// The pointer is null, or leads to readable memory of a `Scratch`'s size. If that begins with
    /// the mark of a live scratch, it is one, and it is not freed during `'a`.
    unsafe fn check<'a>(scratch: *const Scratch) -> Result<&'a Scratch, Status> {
        if scratch.is_null() || !scratch.is_aligned() {
            return Err(INVALID);
        }
        // SAFETY: the caller promises readable memory; it is aligned, and the mark comes first.
        let magic = unsafe { scratch.cast::<u32>().read() };
        if magic != MAGIC {
            return Err(INVALID);
        }
        // SAFETY: it has the mark, so the caller promises a live scratch.
        Ok(unsafe { &*scratch })
    }

    /// Takes the scratch behind a pointer of the caller for one call.
    ///
    /// # Safety
    /// As [`Scratch::check`].
    pub(crate) unsafe fn claim<'a>(scratch: *const Scratch) -> Result<Claimed<'a>, Status> {
        // SAFETY: this function has the contract of `check`.
        let scratch = unsafe { Self::check(scratch) }?;
        if scratch.in_use.swap(true, Ordering::Acquire) {
            return Err(SCRATCH_IN_USE);
        }
        Ok(Claimed(scratch))
    }
}

impl Deref for Claimed<'_> {
    type Target = State;

    fn deref(&self) -> &State {
        // SAFETY: `claim` changed `in_use` from false to true for this claim alone, and only `drop`
        // changes it back. So no other reference to the state exists beyond this claim.
        unsafe { &*self.0.state.get() }
    }
}

impl DerefMut for Claimed<'_> {
    fn deref_mut(&mut self) -> &mut State {
        // SAFETY: `claim` changed `in_use` from false to true for this claim alone, and only `drop`
        // changes it back. So no other reference to the state exists beyond this claim.
        unsafe { &mut *self.0.state.get() }
    }
}

impl Drop for Claimed<'_> {
    fn drop(&mut self) {
        self.0.in_use.store(false, Ordering::Release);
    }
}

/// Makes a scratch, or makes one large enough for another database.
///
/// # Safety
/// `database` is as in `hs_database_size`. `scratch` is null or valid; what it leads to is null or
/// a scratch of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_alloc_scratch(
    database: *const Database,
    scratch: *mut *mut Scratch,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        let old = unsafe { crate::border::get(scratch) }?;
        // SAFETY: the contract of this function demands of `database` what `check` does.
        let database = unsafe { Database::check(database) }?;
        if !old.is_null() {
            // SAFETY: the caller promises that it is a scratch.
            return unsafe { Scratch::claim(old) }?.grow(database);
        }
        let mut state = State::default();
        state.grow(database)?;
        // SAFETY: `scratch` was found not to be null, so the caller promises that it is valid.
        unsafe { put(scratch, SCRATCH.place(Scratch::new(state))?) }
    })
}

/// Makes a scratch of the size of another, for another thread.
///
/// # Safety
/// `source` is null or a scratch of this library; `copy` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_clone_scratch(
    source: *const Scratch,
    copy: *mut *mut Scratch,
) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(copy, ptr::null_mut()) }?;
        // SAFETY: the caller promises that it is null or a scratch.
        let state = unsafe { Scratch::claim(source) }?.duplicate()?;
        // SAFETY: `copy` was found not to be null, so the caller promises that it is valid.
        unsafe { put(copy, SCRATCH.place(Scratch::new(state))?) }
    })
}

/// Bytes that a scratch takes.
///
/// # Safety
/// `scratch` is null or a scratch of this library; `size` is null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_scratch_size(scratch: *const Scratch, size: *mut usize) -> Status {
    guarded(|| {
        // SAFETY: the caller promises that it is null or a scratch.
        let state = unsafe { Scratch::claim(scratch) }?;
        // SAFETY: the caller promises that it is null or valid.
        unsafe { put(size, size_of::<Scratch>() + state.size()) }
    })
}

/// Frees a scratch.
///
/// # Safety
/// It is null, or a scratch of this library that is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hs_free_scratch(scratch: *mut Scratch) -> Status {
    guarded(|| {
        if scratch.is_null() {
            return Ok(());
        }
        // The claim is kept: nobody uses the scratch again.
        // SAFETY: the caller promises that it is a scratch.
        std::mem::forget(unsafe { Scratch::claim(scratch) }?);
        // SAFETY: `claim` found it live, and until now no other claim could be made, so nobody else
        // uses it.
        unsafe { scratch.cast::<u32>().write_volatile(0) };
        // SAFETY: it was initialized, and its mark was still set above, so it was not dropped
        // before.
        unsafe { ptr::drop_in_place(scratch) };
        // SAFETY: `hs_alloc_scratch` and `hs_clone_scratch` took the memory of every scratch from
        // this allocator.
        unsafe { SCRATCH.release(scratch.cast()) };
        Ok(())
    })
}
