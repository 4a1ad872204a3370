//! A plugin of QEMU's user-mode emulation: prints how many instructions a program executed.
//!
//! No crate has it: `cargo xtask instructions` compiles it. It uses version 1 of QEMU's interface,
//! that of QEMU 4.2 to 8.2 (docs/devel/tcg-plugins.rst).

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of the interface.
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;

/// `QEMU_PLUGIN_CB_NO_REGS`: the callback reads no registers.
const NO_REGISTERS: c_int = 0;

static COUNT: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, call: extern "C" fn(u64, *mut c_void));
    fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut c_void,
        call: extern "C" fn(c_uint, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: *const c_void) -> usize;
    fn qemu_plugin_register_atexit_cb(
        id: u64,
        call: extern "C" fn(u64, *mut c_void),
        data: *mut c_void,
    );
}

/// QEMU calls this when it has loaded the plugin.
#[unsafe(no_mangle)]
pub extern "C" fn qemu_plugin_install(
    id: u64,
    _: *const c_void,
    _: c_int,
    _: *mut *mut c_char,
) -> c_int {
    // SAFETY: `id` is what QEMU gave this plugin, and the functions live as long as it does.
    unsafe {
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu_plugin_register_atexit_cb(id, print, std::ptr::null_mut());
    }
    0
}

/// A block of instructions was translated: its executions are to be counted.
extern "C" fn translated(_: u64, block: *mut c_void) {
    // SAFETY: `block` is the block that QEMU has just translated. The data is a number, which
    // `executed` does not dereference.
    unsafe {
        let count = qemu_plugin_tb_n_insns(block);
        qemu_plugin_register_vcpu_tb_exec_cb(block, executed, NO_REGISTERS, count as *mut c_void);
    }
}

extern "C" fn executed(_: c_uint, count: *mut c_void) {
    COUNT.fetch_add(count as u64, Ordering::Relaxed);
}

extern "C" fn print(_: u64, _: *mut c_void) {
    eprintln!("instructions: {}", COUNT.load(Ordering::Relaxed));
}
