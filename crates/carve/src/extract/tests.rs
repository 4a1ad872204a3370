use super::*;
use crate::Validity;
use proptest::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;
use std::sync::Mutex;

/// An image in memory that notes what is read, may have bad sectors, and may end sooner than it
/// says.
struct Disc {
    bytes: Vec<u8>,
    len: u64,
    bad: Vec<Range<u64>>,
    reads: Mutex<Vec<Range<u64>>>,
}

impl Disc {
    fn new(bytes: Vec<u8>) -> Self {
        let len = bytes.len() as u64;
        Self { bytes, len, bad: Vec::new(), reads: Mutex::default() }
    }

    fn of(len: usize) -> Self {
        Self::new((0..len).map(|i| (i * 7 + i / 256) as u8).collect())
    }
}

impl Image for Disc {
    fn name(&self) -> &str {
        "disc"
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        let from = (offset as usize).min(self.bytes.len());
        let to = (from + buf.len()).min(self.bytes.len());
        if self.bad.iter().any(|bad| bad.start < to as u64 && bad.end > from as u64) {
            return Err(io::Error::other("bad sector"));
        }
        self.reads.lock().unwrap().push(from as u64..to as u64);
        buf[..to - from].copy_from_slice(&self.bytes[from..to]);
        Ok(to - from)
    }
}

fn files(spans: &[(u64, u64)]) -> (Vec<CarvedFile>, Vec<PathBuf>) {
    let file = |(number, &(start, len)): (usize, &(u64, u64))| CarvedFile {
        number: number as u64,
        rule: 0,
        start,
        len,
        chopped: false,
        valid: Validity::Unknown,
    };
    let files: Vec<CarvedFile> = spans.iter().enumerate().map(file).collect();
    let path = |f: &CarvedFile| PathBuf::from(format!("t-{}/{:08}.bin", f.number % 3, f.number));
    let paths = files.iter().map(path).collect();
    (files, paths)
}

#[track_caller]
fn assert_written(out: &Path, disc: &Disc, files: &[CarvedFile], paths: &[PathBuf]) {
    for (file, path) in files.iter().zip(paths) {
        let bytes = fs::read(out.join(path)).unwrap();
        assert_eq!(bytes, disc.bytes[file.start as usize..end_of(file) as usize], "{path:?}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => names.extend(self::names(&path)),
            false => names.push(path.file_name().unwrap().to_str().unwrap().to_owned()),
        }
    }
    names.sort();
    names
}

#[test]
fn thousands_of_overlapping_files_with_few_open() {
    let disc = Disc::of(200_000);
    let spans: Vec<(u64, u64)> = (0..3000).map(|i| (i * 13, 1 + (i * 7919) % 150_000)).collect();
    let (files, paths) = files(&spans);
    let out = tempfile::tempdir().unwrap();
    let options = ExtractOptions { buffer: 50_000, open_files: 10, ..Default::default() };
    let done = extract(&disc, &files, &paths, out.path(), &options).unwrap();
    assert_eq!(done.files, 3000);
    assert_eq!(done.bytes, files.iter().map(|f| f.len).sum::<u64>());
    assert_written(out.path(), &disc, &files, &paths);
    assert_eq!(names(out.path()).len(), 3000, "no temporary file is left");
    let reads = disc.reads.lock().unwrap();
    assert!(reads.windows(2).all(|pair| pair[0].end <= pair[1].start), "{reads:?}");
}

#[test]
fn digests_are_those_of_sha256sum() {
    let disc = Disc::new(b"xxabcxx".to_vec());
    let (files, mut paths) = files(&[(2, 3), (0, 7)]);
    paths[1] = PathBuf::from("back\\slash");
    let out = tempfile::tempdir().unwrap();
    let options = ExtractOptions { sha256: true, buffer: 2, ..Default::default() };
    extract(&disc, &files, &paths, out.path(), &options).unwrap();
    let list = fs::read_to_string(out.path().join("SHA256SUMS")).unwrap();
    let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert!(list.starts_with(&format!("{abc}  t-0/00000000.bin\n\\")), "{list}");
    assert!(list.ends_with("  back\\\\slash\n"), "{list}");

    // Files that are kept are in the list too.
    let again = ExtractOptions { resume: true, ..options };
    let done = extract(&disc, &files, &paths, out.path(), &again).unwrap();
    assert_eq!((done.files, done.skipped), (0, 2));
    assert_eq!(fs::read_to_string(out.path().join("SHA256SUMS")).unwrap(), list);
}

#[test]
fn nothing_is_written_over() {
    let disc = Disc::of(1000);
    let (files, paths) = files(&[(0, 100), (50, 100)]);
    let out = tempfile::tempdir().unwrap();
    fs::create_dir(out.path().join("t-1")).unwrap();
    fs::write(out.path().join(&paths[1]), b"precious").unwrap();
    let options = ExtractOptions::default();
    let error = extract(&disc, &files, &paths, out.path(), &options).unwrap_err();
    assert!(error.to_string().contains("00000001.bin exists"), "{error}");
    assert_eq!(names(out.path()), ["00000001.bin"]);
    assert_eq!(fs::read(out.path().join(&paths[1])).unwrap(), b"precious");

    let force = ExtractOptions { force: true, ..Default::default() };
    assert_eq!(extract(&disc, &files, &paths, out.path(), &force).unwrap().files, 2);
    assert_written(out.path(), &disc, &files, &paths);
}

#[test]
fn resume_keeps_complete_files_and_writes_the_others() {
    let disc = Disc::of(1000);
    let (files, paths) = files(&[(0, 100), (50, 100), (400, 8)]);
    let out = tempfile::tempdir().unwrap();
    extract(&disc, &files[..2], &paths[..2], out.path(), &ExtractOptions::default()).unwrap();
    fs::write(out.path().join(&paths[1]), b"cut").unwrap();
    fs::create_dir_all(out.path().join("t-2")).unwrap();
    fs::write(out.path().join("t-2/00000002.bin.fyke-part"), b"left by a killed run").unwrap();
    let resume = ExtractOptions { resume: true, ..Default::default() };
    let done = extract(&disc, &files, &paths, out.path(), &resume).unwrap();
    assert_eq!((done.files, done.skipped, done.bytes), (2, 1, 108));
    assert_written(out.path(), &disc, &files, &paths);
    assert_eq!(names(out.path()).len(), 3);
}

#[test]
fn too_little_room_is_said_before_anything_is_written() {
    struct Huge;
    impl Image for Huge {
        fn name(&self) -> &str {
            "huge"
        }
        fn len(&self) -> u64 {
            u64::MAX
        }
        fn read_at(&self, _: u64, _: &mut [u8]) -> io::Result<usize> {
            panic!("it is not read")
        }
    }
    let (files, paths) = files(&[(0, 1 << 60), (7, 1 << 60)]);
    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("new");
    let error = extract(&Huge, &files, &paths, &target, &ExtractOptions::default()).unwrap_err();
    let ExtractError::NoSpace { needed, available } = error else { panic!("{error}") };
    assert!(needed == 2 << 60 && available < needed);
    assert!(error.to_string().contains(&format!("need {needed} bytes, and {available}")));
    assert!(!target.exists());
}

#[test]
fn paths_stay_in_the_folder_and_are_distinct() {
    let disc = Disc::of(10);
    let (files, _) = files(&[(0, 1), (1, 1)]);
    let out = tempfile::tempdir().unwrap();
    for bad in [["a", "../b"], ["a", "/b"], ["a", ""], ["a", "a"], ["a", "x/../b"]] {
        let paths = bad.map(PathBuf::from);
        let error = extract(&disc, &files, &paths, out.path(), &ExtractOptions::default());
        assert!(matches!(error, Err(ExtractError::BadPath { number: 1, .. })), "{bad:?}");
    }
}

#[test]
fn an_image_that_is_another_one_is_refused() {
    let (files, paths) = files(&[(0, 5), (8, 5)]);
    let out = tempfile::tempdir().unwrap();
    let error = extract(&Disc::of(12), &files, &paths, out.path(), &ExtractOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("file 1 ends at offset 13") && error.contains("12 bytes"), "{error}");
    assert!(names(out.path()).is_empty());
}

#[test]
fn an_image_that_ends_early_gives_what_it_has() {
    let mut disc = Disc::of(1000);
    disc.bytes.truncate(420);
    let (files, paths) = files(&[(0, 100), (400, 100), (410, 10), (700, 100)]);
    let out = tempfile::tempdir().unwrap();
    let options = ExtractOptions { sha256: true, buffer: 64, ..Default::default() };
    let done = extract(&disc, &files, &paths, out.path(), &options).unwrap();
    assert_eq!((done.files, done.bytes), (3, 100 + 20 + 10));
    assert_eq!(done.short, [1, 3]);
    assert_eq!(fs::read(out.path().join(&paths[1])).unwrap(), disc.bytes[400..420]);
    let list = fs::read_to_string(out.path().join("SHA256SUMS")).unwrap();
    assert_eq!(list.lines().count(), 3, "{list}");
}

#[test]
fn bad_sectors_are_zeros_and_reported() {
    let mut disc = Disc::of(40_000);
    disc.bad = vec![5000..5001, 9000..13_000];
    let (files, paths) = files(&[(100, 30_000)]);
    let out = tempfile::tempdir().unwrap();
    let done = extract(&disc, &files, &paths, out.path(), &ExtractOptions::default()).unwrap();
    assert!(done.bad == [4608..5120, 8704..13_312], "{:?}", done.bad);
    let bytes = fs::read(out.path().join(&paths[0])).unwrap();
    let mut expected = disc.bytes[100..30_100].to_vec();
    for range in &done.bad {
        expected[range.start as usize - 100..range.end as usize - 100].fill(0);
    }
    assert!(bytes == expected);
}

/// A device that is taken away after some bytes.
struct Removed(u64);

impl Image for Removed {
    fn name(&self) -> &str {
        "removed"
    }

    fn len(&self) -> u64 {
        1000
    }

    fn read_at(&self, offset: u64, buf: &mut [u8]) -> io::Result<usize> {
        if offset + buf.len() as u64 > self.0 {
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::NODEV.raw_os_error()));
        }
        buf.fill(7);
        Ok(buf.len())
    }
}

#[cfg(unix)]
#[test]
fn a_device_that_is_taken_away_ends_the_extraction() {
    let (files, paths) = files(&[(0, 100), (500, 200)]);
    let out = tempfile::tempdir().unwrap();
    let options = ExtractOptions { buffer: 64, ..Default::default() };
    let error = extract(&Removed(600), &files, &paths, out.path(), &options).unwrap_err();
    assert!(error.can_resume() && error.to_string().contains("1 files with 100"), "{error}");
    assert_eq!(names(out.path()).len(), 1, "what is there is complete");
}

/// Whether each file is complete, and its bytes.
type SmallFiles = Rc<RefCell<BTreeMap<PathBuf, (bool, Vec<u8>)>>>;

/// A folder in memory with room for `room` bytes.
#[derive(Clone, Default)]
struct Small {
    room: Rc<RefCell<usize>>,
    files: SmallFiles,
}

struct SmallFile(Small, PathBuf);

impl Write for SmallFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut room = self.0.room.borrow_mut();
        let n = bytes.len().min(*room);
        if n == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        *room -= n;
        self.0.files.borrow_mut().get_mut(&self.1).unwrap().1.extend(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Folder for Small {
    type File = SmallFile;

    fn create(&mut self, path: &Path) -> io::Result<SmallFile> {
        let earlier = self.files.borrow_mut().insert(path.to_owned(), (false, Vec::new()));
        assert!(earlier.is_none(), "{path:?} is begun twice");
        self.reopen(path)
    }

    fn reopen(&mut self, path: &Path) -> io::Result<SmallFile> {
        Ok(SmallFile(self.clone(), path.to_owned()))
    }

    fn finish(&mut self, path: &Path) -> io::Result<()> {
        self.files.borrow_mut().get_mut(path).unwrap().0 = true;
        Ok(())
    }

    fn discard(&mut self, path: &Path) {
        let (complete, bytes) = self.files.borrow_mut().remove(path).unwrap();
        assert!(!complete);
        *self.room.borrow_mut() += bytes.len();
    }

    fn put(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let written = self.create(path)?.write_all(bytes);
        written.inspect_err(|_| self.discard(path))?;
        self.finish(path)
    }
}

proptest! {
    #[test]
    fn a_full_disk_leaves_complete_files_only(
        spans in prop::collection::vec((0u64..500, 1u64..200), 1..30),
        room in 0usize..4000, buffer in 1usize..300, open_files in 0usize..5,
    ) {
        let disc = Disc::of(700);
        let (files, paths) = files(&spans);
        let folder = Small::default();
        *folder.room.borrow_mut() = room;
        let options = ExtractOptions { buffer, open_files, ..Default::default() };
        let copy = Copy::new(&disc, &files, &paths, folder.clone(), &options);
        let total: u64 = files.iter().map(|f| f.len).sum();
        match copy.run((0..files.len()).collect(), &mut ()) {
            Ok(done) => {
                prop_assert_eq!((done.files, done.bytes), (files.len() as u64, total));
            }
            Err(ExtractError::Write { source, done, .. }) => {
                prop_assert!(total > room as u64);
                prop_assert_eq!(source.kind(), io::ErrorKind::StorageFull);
                let kept = folder.files.borrow();
                prop_assert_eq!(done.files, kept.len() as u64);
                prop_assert_eq!(done.bytes, kept.values().map(|f| f.1.len() as u64).sum::<u64>());
            }
            Err(other) => panic!("{other}"),
        }
        for (path, (complete, bytes)) in folder.files.borrow().iter() {
            let file = &files[paths.iter().position(|p| p == path).unwrap()];
            prop_assert!(complete);
            prop_assert_eq!(bytes, &disc.bytes[file.start as usize..end_of(file) as usize]);
        }
    }
}

/// Stops after a number of reads, and counts bytes.
struct StopAfter {
    reads: usize,
    total: u64,
    done: u64,
}

impl Watch for StopAfter {
    fn begins(&mut self, bytes: u64) {
        self.total = bytes;
    }

    fn advanced(&mut self, bytes: u64) {
        self.done += bytes;
        self.reads -= 1;
    }

    fn stops(&mut self) -> bool {
        self.reads == 0
    }
}

#[test]
fn what_is_stopped_can_go_on() {
    let disc = Disc::of(1000);
    let (files, paths) = files(&[(0, 100), (50, 900), (120, 30), (980, 20)]);
    let out = tempfile::tempdir().unwrap();
    let options = ExtractOptions { buffer: 100, ..Default::default() };
    let mut watch = StopAfter { reads: 2, total: 0, done: 0 };
    let stopped = extract_watched(&disc, &files, &paths, out.path(), &options, &mut watch);
    let error = stopped.unwrap_err();
    assert!(error.can_resume() && error.to_string().contains("2 files are complete"), "{error}");
    assert_eq!((watch.total, watch.done), (970, 200));
    assert_eq!(names(out.path()), ["00000000.bin", "00000002.bin"], "no temporary file is left");

    let options = ExtractOptions { resume: true, ..options };
    let mut watch = StopAfter { reads: usize::MAX, total: 0, done: 0 };
    let done = extract_watched(&disc, &files, &paths, out.path(), &options, &mut watch).unwrap();
    assert_eq!((done.files, done.skipped), (2, 2));
    assert_eq!((watch.total, watch.done), (920, 920));
    assert_written(out.path(), &disc, &files, &paths);
}
