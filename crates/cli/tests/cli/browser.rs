//! The page of `--report` in a real browser: it is drawn, and nothing is cut or overlaps.
//!
//! Without a browser the tests are refused. `FYKE_REQUIRE=browser` makes that a failure.

use crate::common::Folder;
use fyke_testkit::require;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs in the page after it was drawn, and appends what it measures.
const MEASURE: &str = r#"<script>
const all = (selector) => [...document.querySelectorAll(selector)];
const box = (e) => e.getBoundingClientRect();
const root = document.documentElement;
const overlaps = (a, b) => a && b && box(a).right > box(b).left + 1;
const measured = {
  overflow: root.scrollWidth - root.clientWidth,
  cut: all('td, th, p, h1, h2').filter(e => e.scrollWidth > e.clientWidth + 1).length,
  overlapping: all('td, th').filter(e => overlaps(e, e.nextElementSibling)).length,
  narrow: all('td code').filter(e => box(e).width < 12 && e.textContent.length > 3).length,
  rows: all('tr').length,
  bars: all('svg rect').length,
  visible: all('svg rect').filter(e => box(e).width > 0.2 && box(e).height > 1).length,
  outside: all('svg rect').filter(e => {
    const [r, s] = [box(e), box(e.ownerSVGElement)];
    return r.left < s.left - 1 || r.right > s.right + 1 || r.top < s.top - 1 || r.bottom > s.bottom + 1;
  }).length,
  named: all('rect title').length,
  foreign: all('script, img, link').length - 1,
  title: document.title,
  text: document.body.innerText,
};
document.body.innerHTML = '<output></output>';
document.querySelector('output').textContent = JSON.stringify(measured);
</script>"#;

/// The browser, or `None` if the test is refused.
fn browser(test: &str) -> Option<PathBuf> {
    require::browser().map_err(|why| require::refuse_without(require::BROWSER, test, &why)).ok()
}

/// A browser that shows nothing, with a window of this many pixels and a profile of its own.
fn command(browser: &Path, folder: &Path, width: u32) -> Command {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]);
    command.arg(format!("--window-size={width},2000"));
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command
}

/// What the browser measures in a page that is this many pixels wide.
fn measure(browser: &Path, folder: &Path, page: &str, width: u32) -> Value {
    let path = folder.join("measured.html");
    std::fs::write(&path, page.replace("</body>", &format!("{MEASURE}</body>"))).unwrap();
    let mut command = command(browser, folder, width);
    let output = command.arg("--dump-dom").arg(format!("file://{}", path.display())).output();
    let output = output.unwrap_or_else(|error| panic!("{}: {error}", browser.display()));
    let dom = String::from_utf8(output.stdout).unwrap();
    let from = dom.find("<output>").unwrap_or_else(|| {
        panic!("no result in {dom}: {}", String::from_utf8_lossy(&output.stderr))
    });
    let json = &dom[from + 8..dom.rfind("</output>").unwrap()];
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// Files and patterns whose names are long, empty-looking or HTML.
fn report() -> (Folder, String) {
    let text = b"needle <script>alert(1)</script> &amp; hay\n".repeat(2000);
    let long = "long_name_without_a_place_to_break".repeat(6);
    let f = Folder::new(&[("d/a<b>&\"c", &text), ("d/none", b"straw\n"), ("d/one", b"needle")]);
    f.write(&format!("d/{long}"), &text[..text.len() / 2]);
    let many: String = (0..30).map(|i| format!("hay{}\n", "y".repeat(i))).collect();
    f.write(
        "words",
        format!("needle\n<script>\n&amp;\n\t\n{}\n{many}", "x".repeat(300)).as_bytes(),
    );
    f.write("rules", br#"alert ip any any -> any any (content:"|3c|script"; content:" "; sid:7;)"#);
    let run = f.run("scan -q -f words -f snort:rules --report out.html d");
    assert_eq!((run.code, &*run.err), (Some(0), ""));
    let page = std::fs::read_to_string(f.path().join("out.html")).unwrap();
    (f, page)
}

#[test]
fn a_browser_draws_the_report_at_any_width() {
    let Some(browser) = browser("a_browser_draws_the_report_at_any_width") else { return };
    let (f, page) = report();
    let rects = page.matches("<rect").count() as u64;
    for width in [600, 1280, 3000] {
        let got = measure(&browser, f.path(), &page, width);
        for none in ["overflow", "cut", "overlapping", "narrow", "outside", "foreign"] {
            assert_eq!(got[none], 0, "{none} at {width}: {got}");
        }
        assert_eq!(got["title"], "fyke: where the matches are");
        // Two headings, three files, and five words and two contents that were found.
        assert_eq!(got["rows"], 2 + 3 + 6, "{got}");
        assert_eq!((&got["bars"], &got["visible"]), (&rects.into(), &rects.into()), "{got}");
        assert_eq!(got["named"], rects - 6, "each line of a map has its numbers: {got}");
        let text = got["text"].as_str().unwrap();
        for shown in ["d/a<b>&\"c", "<script>", "sid 7 (rules:1)", "24,001 matches of 6 patterns"] {
            assert!(text.contains(shown), "{shown} at {width}: {text}");
        }
    }
}

#[test]
fn a_browser_paints_the_report() {
    let Some(browser) = browser("a_browser_paints_the_report") else { return };
    let (f, _) = report();
    let picture = f.path().join("picture.png");
    let mut command = command(&browser, f.path(), 1280);
    command.arg(format!("--screenshot={}", picture.display()));
    let page = f.path().join("out.html");
    let output = command.arg(format!("file://{}", page.display())).output().unwrap();
    let bytes = std::fs::read(&picture)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)));
    assert!(bytes.starts_with(b"\x89PNG"));
    // A blank page of this size compresses to a tenth of it.
    assert!(bytes.len() > 40_000, "{} bytes", bytes.len());
}
