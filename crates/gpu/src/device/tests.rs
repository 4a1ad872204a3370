use super::inventory::choose;
use super::*;
use crate::testing;
use fyke_core::{Options, Refusal};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn what_is_missing_is_said_with_a_hint() {
    for missing in &inventory().missing {
        assert!(!missing.why.is_empty() && !missing.hint.is_empty());
    }
    let refusal = open(&Options::with_params("backend=opencl,device=999").unwrap()).err().unwrap();
    assert!(matches!(refusal, Refusal::NoDevice(_)), "{refusal}");
    let refusal = open(&Options::with_params("device=999").unwrap()).err().unwrap();
    let has_devices = !inventory().devices.is_empty();
    assert_eq!(refusal.to_string().contains("`fyke devices` lists them"), has_devices, "{refusal}");
    let refusal = open(&Options::with_params("device=first").unwrap()).err().unwrap();
    assert!(refusal.to_string().contains("take a number"), "{refusal}");
}

#[test]
fn the_first_devices_come_first_among_all() {
    let (first, all) = (first_devices(), &inventory().devices);
    assert_eq!(first.is_empty(), all.is_empty());
    assert!(first.iter().zip(all).all(|(a, b)| a.is(b)));
}

#[test]
fn bytes_come_back_from_every_device() {
    testing::each_device(|device| {
        let queue = device.queue().unwrap();
        let bytes: Vec<u8> = (0..100_000u32).map(|i| (i * 7) as u8).collect();
        let buffer = device.upload(&queue, &bytes).unwrap();
        queue.zero(&buffer, 10..20).unwrap();
        let copy = device.allocate(bytes.len()).unwrap();
        queue.copy(&buffer, 5, &copy, 0, 50_000).unwrap();
        let mut back = vec![1; 50_000];
        queue.read(&copy, 0, &mut back).unwrap();
        assert_eq!(&back[..5], &bytes[5..10], "{device:?}");
        assert_eq!(back[5..15], [0; 10]);
        assert_eq!(back[15..], bytes[20..50_005]);
        let (first, second) = (queue.record().unwrap(), queue.record().unwrap());
        assert!(second.seconds_since(&first).unwrap() >= 0.0);
    });
}

#[test]
fn pinned_memory_is_copied_without_waiting() {
    testing::each_device(|device| {
        let queue = device.queue().unwrap();
        let mut pinned = device.pinned(4096).unwrap();
        assert_eq!(pinned.len(), 4096);
        pinned[..3].copy_from_slice(b"abc");
        let buffer = device.allocate(4096).unwrap();
        let mut back = device.pinned(4096).unwrap();
        // SAFETY: nothing changes or drops `pinned` before `finish` below.
        unsafe { queue.write_later(&buffer, 0, &pinned, 0..4096) }.unwrap();
        // SAFETY: nothing accesses or drops `back` before `finish` below.
        unsafe { queue.read_later(&buffer, 0, &mut back, 0..4096) }.unwrap();
        queue.finish().unwrap();
        assert_eq!(&back[..4], b"abc\0");
    });
}

/// Whether a call panics.
fn panics(call: impl FnOnce()) -> bool {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err()
}

/// Whether a device copies faster from pinned memory.
fn pins(device: &Device) -> bool {
    device.properties().backend == Backend::Cuda
}

#[test]
fn memory_is_pinned_while_the_scan_runs_and_not_after_it() {
    testing::each_device(|device| {
        let all: Vec<u8> = (0..3 << 20).map(|i| (i % 251) as u8).collect();
        let bytes = &all[5..2 << 20];
        let scan = || {
            assert_eq!(is_pinned(bytes), pins(device), "{device:?}");
            let queue = device.queue().unwrap();
            let buffer = device.upload(&queue, bytes).unwrap();
            let mut back = vec![0; bytes.len()];
            queue.read(&buffer, 0, &mut back).unwrap();
            back
        };
        for _ in 0..2 {
            assert!(device.with_registered(bytes, scan).unwrap() == bytes, "{device:?}");
            assert!(!is_pinned(bytes));
        }
        assert!(panics(|| device.with_registered(bytes, || panic!("of a scan")).unwrap()));
        assert!(!is_pinned(bytes), "after a panic");
        let within = || device.with_registered(&bytes[9..99], || is_pinned(bytes)).unwrap();
        assert_eq!(device.with_registered(bytes, within).unwrap(), pins(device), "a part again");
        let around = || device.with_registered(&all, || ()).is_err();
        assert_eq!(device.with_registered(bytes, around).unwrap(), pins(device), "more of it");
        assert!(device.with_registered(&[], || true).unwrap());
    });
}

#[test]
fn memory_stays_pinned_until_the_copies_of_other_threads_are_done() {
    testing::each_device(|device| {
        let bytes = vec![7; 1 << 20];
        let buffer = device.allocate(bytes.len()).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let start = || {
                let queue = device.queue().unwrap();
                // SAFETY: the thread waits for the queue, and the scope for the thread; `bytes` is
                // borrowed until then.
                unsafe { queue.write_unwaited(&buffer, 0, &bytes) }.unwrap();
                scope.spawn(|| {
                    let queue = queue;
                    std::thread::sleep(std::time::Duration::from_millis(50));
                    done.store(true, Ordering::SeqCst);
                    queue.finish().unwrap();
                });
            };
            device.with_registered(&bytes, start).unwrap();
            assert!(done.load(Ordering::SeqCst) || !pins(device), "{device:?}");
        });
    });
}

#[test]
fn a_copy_past_the_end_panics_before_the_driver_sees_it() {
    testing::each_device(|device| {
        let queue = device.queue().unwrap();
        let (small, large) = (device.allocate(8).unwrap(), device.allocate(64).unwrap());
        assert!(panics(|| drop(queue.write(&small, 5, &[0; 10]))));
        assert!(panics(|| drop(queue.write(&small, usize::MAX, &[0]))));
        assert!(panics(|| drop(queue.read(&small, 1, &mut [0; 8]))));
        assert!(panics(|| drop(queue.zero(&small, 0..9))));
        assert!(panics(|| drop(queue.copy(&large, 0, &small, 0, 9))));
        assert!(panics(|| drop(queue.copy(&small, 0, &large, 0, 9))));
        assert!(!panics(|| queue.copy(&small, 0, &large, 0, 8).unwrap()));
    });
}

#[test]
fn a_texture_cannot_be_copied() {
    testing::each_device(|device| {
        let queue = device.queue().unwrap();
        let texture = device.upload(&queue, &[0; 64]).unwrap().into_texture().unwrap();
        assert_eq!(texture.len(), 64);
        assert!(panics(|| drop(queue.write(&texture, 0, &[0; 4]))));
        assert!(panics(|| drop(queue.read(&texture, 0, &mut [0; 4]))));
    });
}

#[test]
fn settling_a_queue_waits_for_what_was_not_waited_for() {
    testing::each_device(|device| {
        let queue = device.queue().unwrap();
        let buffer = device.allocate(1 << 20).unwrap();
        queue.zero(&buffer, 0..1 << 20).unwrap();
        queue.settle().unwrap();
        queue.settle().unwrap();
        let mut back = vec![1; 1 << 20];
        queue.read(&buffer, 0, &mut back).unwrap();
        assert!(back.iter().all(|b| *b == 0));
    });
}

#[test]
fn several_devices_are_named_by_their_numbers_or_all() {
    testing::first_device(|device| {
        let all = [device.clone(), device.clone(), device.clone()];
        let count = |params: &str| {
            choose(&all, &Options::with_params(params).unwrap()).map(|devices| devices.len())
        };
        for (params, expected) in [
            ("", 1),
            ("device=2", 1),
            ("devices=all", 3),
            ("devices=1", 1),
            ("devices=0+2", 2),
            ("devices=2+0+2", 2),
        ] {
            assert_eq!(count(params), Ok(expected), "{params}");
        }
        assert!(matches!(count("devices=0+3"), Err(Refusal::NoDevice(_))));
        for params in ["devices=0+x", "devices=", "device=0+1", "device=0,devices=all"] {
            assert!(matches!(count(params), Err(Refusal::BadOption(_))), "{params}");
        }
    });
}

#[test]
fn rows_lie_within_their_buffer() {
    testing::each_device(|device| {
        let buffer = device.allocate(4096).unwrap();
        let make = |at, bytes, rows| {
            let make = AssertUnwindSafe(|| Rows::new(&buffer, at, bytes, rows).is_ok());
            catch_unwind(make).unwrap_or(false)
        };
        let can = device.properties().copies_blocks();
        assert_eq!(make(0, 64, 64), can, "{device:?}");
        assert_eq!(make(16, 48, 85), can, "{device:?}");
        for (at, bytes, rows) in [(16, 64, 64), (0, 64, 0), (0, 64, 65), (8, 64, 1), (0, 40, 1)] {
            assert!(!make(at, bytes, rows), "{rows} rows of {bytes} bytes at {at} on {device:?}");
        }
    });
}

/// A kernel that writes a number. Both sources have one name and one kernel.
macro_rules! source_of {
    ($number:literal) => {
        KernelSource {
            name: "same",
            kernels: &["same"],
            text: concat!("KERNEL(1) same(GLOBAL u32 *out) { out[0] = ", $number, "u; }"),
            ptx: "",
        }
    };
}

#[test]
fn sources_of_one_name_keep_their_own_kernels() {
    let mut tests = testing::tests();
    // CUDA loads PTX, which these sources do not have.
    let of_opencl = |d: &&Device| d.properties().backend == Backend::OpenCl;
    for device in inventory().devices.iter().filter(of_opencl) {
        let queue = device.queue().unwrap();
        let out = device.allocate(4).unwrap();
        for (source, number) in [(source_of!(1), 1), (source_of!(2), 2)] {
            let kernel = device.kernel(&source, "same").unwrap();
            let shape = LaunchShape { groups: 1, items: 1, shared: 0 };
            // SAFETY: the kernel declares this argument and one work item, and writes the first
            // word of `out`, which has one.
            unsafe { queue.launch(&kernel, shape, &[(&out).into()]) }.unwrap();
            let mut back = [0; 4];
            queue.read(&out, 0, &mut back).unwrap();
            assert_eq!(u32::from_le_bytes(back), number, "{device:?}");
        }
        tests.checked(format!("{device:?}"));
    }
}
