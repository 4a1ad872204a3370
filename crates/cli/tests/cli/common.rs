//! Runs the built binary.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) raw: Vec<u8>,
}

/// A folder with files, removed at the end of the test.
pub(crate) struct Folder(tempfile::TempDir);

impl Folder {
    pub(crate) fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            folder.write(name, bytes);
        }
        folder
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The command, with this folder as its working directory.
    pub(crate) fn command<A: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = A>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fyke"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        // A calibration of this user would change which engines are chosen.
        command.env("FYKE_CALIBRATION", "");
        command
    }

    /// Runs the words of `line`, which contains no quotes.
    pub(crate) fn run(&self, line: &str) -> Run {
        self.command(line.split_whitespace()).output().map(Run::from).unwrap()
    }

    pub(crate) fn run_with_input(&self, line: &str, input: &[u8]) -> Run {
        let mut command = self.command(line.split_whitespace());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        std::thread::scope(|scope| {
            // The program may stop reading before the end of the input.
            scope.spawn(move || stdin.write_all(input).unwrap_or_default());
            child.wait_with_output().map(Run::from).unwrap()
        })
    }
}

impl From<Output> for Run {
    fn from(o: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Run { code: o.status.code(), out: text(&o.stdout), err: text(&o.stderr), raw: o.stdout }
    }
}

impl Run {
    #[track_caller]
    pub(crate) fn expect(&self, code: i32, out: &str) {
        assert_eq!((self.code, &*self.out), (Some(code), out), "standard error: {}", self.err);
    }

    /// An error: nothing on standard output, exit code 2, and a message that contains all parts.
    #[track_caller]
    pub(crate) fn expect_error(&self, parts: &[&str]) {
        self.expect(2, "");
        for part in parts {
            assert!(self.err.contains(part), "{part:?} is not in {:?}", self.err);
        }
    }
}
