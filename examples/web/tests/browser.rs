//! The page in a real browser: files are dropped, searched and drawn, and the page stays alive.
//!
//! Without a browser or Rust's target for wasm32 the test is refused. `FYKE_REQUIRE=browser,wasm32`
//! makes that a failure.

use fyke_testkit::require;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What a user does, and what he sees then.
const SCRIPT: &str = include_str!("browser.js");

/// Until then the page must have told what it saw. A machine may pause for minutes.
const PATIENCE: Duration = Duration::from_secs(300);

/// What the test needs, or `None` if it is refused.
fn needs(test: &str) -> Option<PathBuf> {
    let refuse = |what, why: String| require::refuse_without(what, test, &why);
    require::wasm32().map_err(|why| refuse(require::WASM32, why)).ok()?;
    require::browser().map_err(|why| refuse(require::BROWSER, why)).ok()
}

/// Builds the page and adds the script of the test, which sends what it saw to this port.
fn page(folder: &Path, port: u16) -> PathBuf {
    let path = folder.join("page.html");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut xtask = Command::new(env!("CARGO"));
    xtask.args(["xtask", "web", "--output"]).arg(&path).current_dir(root);
    let output = xtask.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(&path).unwrap();
    let script = format!("<script>const PORT = {port};\n{SCRIPT}</script></body>");
    std::fs::write(&path, page.replace("</body>", &script)).unwrap();
    path
}

/// A browser without a window, which ends with this value.
struct Browser(Child);

impl Browser {
    fn open(program: &Path, folder: &Path, page: &Path) -> Browser {
        let mut command = Command::new(program);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"]);
        command.args(["--remote-debugging-port=0"]);
        command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
        command.arg(format!("file://{}", page.display()));
        Browser(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The body of the first request with one, which is what the page saw.
fn receive(listener: &TcpListener) -> Value {
    listener.set_nonblocking(true).unwrap();
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match listener.accept() {
            Ok((connection, _)) => {
                if let Some(json) = body(connection).and_then(|b| serde_json::from_str(&b).ok()) {
                    return json;
                }
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    panic!("the page told nothing for {PATIENCE:?}");
}

/// The body of a request. A connection without one, which browsers open ahead, has none.
fn body(mut connection: TcpStream) -> Option<String> {
    connection.set_nonblocking(false).ok()?;
    connection.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let read = connection.read(&mut buffer).ok().filter(|read| *read > 0)?;
        request.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let head = head.to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        if body.len() >= length.parse().ok()? {
            let _ = connection.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            return Some(body.to_owned());
        }
    }
}

#[test]
fn dropped_files_are_searched_and_drawn() {
    let Some(program) = needs("dropped_files_are_searched_and_drawn") else { return };
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let page = page(folder.path(), listener.local_addr().unwrap().port());
    let _browser = Browser::open(&program, folder.path(), &page);
    let saw = receive(&listener);
    assert_eq!(saw["problem"], Value::Null);
    eprintln!("2 GiB: {}; longest wait {} ms", saw["large"]["state"], saw["large"]["longest"]);

    // Matches across chunks of 4 MiB are found, each once.
    let small = &saw["small"];
    assert_eq!(small["total"], "4 matches of 2 of 3 patterns");
    assert_eq!(small["counts"], serde_json::json!([["needle", "3"], ["<b>", "1"]]));
    let at: Vec<_> = [0, 4 << 20, 8 << 20].map(|boundary: u64| boundary.saturating_sub(3)).into();
    let starts: Vec<u64> = serde_json::from_value(small["starts"].clone()).unwrap();
    assert_eq!(starts, [at[0], at[1], at[2], (8 << 20) + 100]);
    assert_eq!(small["marks"], serde_json::json!(["needle", "needle", "needle", "<b>"]));
    // The last two lie in neighboring columns of which each has a bar.
    assert_eq!(small["bars"], 3, "{small}");

    assert_eq!(saw["nocase"]["total"], "1 match of 1 of 1 pattern");
    assert_eq!(saw["hex"]["total"], "2 matches of 1 of 1 pattern");
    assert_eq!(saw["empty"]["total"], "0 matches of 0 of 1 pattern");
    let error = saw["bad"]["error"].as_str().unwrap();
    assert!(error.contains("patterns:2"), "{error}");
    assert!(saw["none"]["error"].as_str().unwrap().contains("no patterns"));

    // 2 GiB: one match in each MiB, and the page lives while the worker searches.
    let large = &saw["large"];
    assert_eq!(large["total"], "2,049 matches of 1 of 3 patterns");
    assert_eq!(large["last"], 3, "matches in the last column, of which one is the file's last");
    let [ticks, drawn] = ["ticks", "drawn"].map(|name| large[name].as_u64().unwrap());
    assert!(ticks >= 20, "{ticks} turns of the page's thread during the search");
    assert!(drawn >= 5, "{drawn} drawings during the search");
    assert_eq!(saw["stopped"]["state"], "stopped");
}
