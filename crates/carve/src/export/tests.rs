use super::*;
use crate::{Needle, NeedleId};

fn rules() -> RuleSet {
    let rule = |line, extension: Option<&str>| Rule {
        line,
        extension: extension.map(str::to_owned),
        min_len: 0,
        max_len: 1000,
        header: NeedleId(0),
        footer: None,
        mode: Mode::Next,
    };
    RuleSet {
        rules: vec![rule(3, Some("jpg")), rule(9, None)],
        needles: vec![Needle::Bytes { bytes: vec![Some(1)], nocase: false }],
    }
}

fn written(write: fn(&mut dyn std::io::Write, &Listing<'_>) -> std::io::Result<()>) -> String {
    let file = |number, rule, start, len, chopped, valid| CarvedFile {
        number,
        rule,
        start,
        len,
        chopped,
        valid,
    };
    let run = Run {
        program: "fyke 0.1.0".to_owned(),
        image: "a<b & \"c\",\u{1}.dd".to_owned(),
        image_len: 5000,
        conf_path: "my.conf".to_owned(),
        ..Run::default()
    };
    let listing = Listing {
        run: &run,
        rules: &rules(),
        files: &[
            file(0, 0, 512, 77, false, Validity::Yes),
            file(1, 1, u64::MAX - 4, 4, true, Validity::Unknown),
        ],
        names: &["jpg-0-0/00000000.jpg".to_owned(), "a,\"b\"\n".to_owned()],
        inside: &[None, Some(0)],
        digests: &[Some([0xab; 32]), None],
        bad: &[4096..8192, 9000..9001],
    };
    let mut out = Vec::new();
    write(&mut out, &listing).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn json_lines() {
    let text = written(write_json);
    let records: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(records.len(), 5);
    assert_eq!(records[0]["type"], "run");
    assert_eq!(records[0]["image"], "a<b & \"c\",\u{1}.dd");
    assert_eq!(records[1]["end"], 8192);
    let sum = "ab".repeat(32);
    assert_eq!(
        text.lines().nth(3).unwrap(),
        format!(
            "{{\"type\":\"file\",\"number\":0,\"name\":\"jpg-0-0/00000000.jpg\",\"extension\":\"jpg\",\
             \"rule\":0,\"rule_line\":3,\"mode\":\"next\",\"start\":512,\"len\":77,\"chopped\":false,\
             \"valid\":\"yes\",\"sha256\":\"{sum}\"}}"
        )
    );
    assert_eq!(records[4]["start"], u64::MAX - 4);
    assert_eq!(records[4]["inside"], 0);
    assert!(records[4]["extension"].is_null() && records[4].get("sha256").is_none());
}

#[test]
fn the_fields_of_json_lines_are_documented() {
    let text = written(write_json);
    let records: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for kind in ["run", "bad_range", "file"] {
        let mut found: Vec<&str> = Vec::new();
        for record in records.iter().filter(|record| record["type"] == kind) {
            found.extend(record.as_object().unwrap().keys().map(String::as_str));
        }
        found.sort_unstable();
        found.dedup();
        let listed = JSON_FIELDS.iter().filter(|field| field[0] == kind);
        let mut listed: Vec<&str> = listed.map(|field| field[1]).collect();
        listed.sort_unstable();
        assert_eq!(listed, found, "{kind}");
    }
}

#[test]
fn csv() {
    let text = written(write_csv);
    let sum = "ab".repeat(32);
    let expected = format!(
        "number,name,extension,rule,rule_line,start,len,chopped,valid,inside,sha256\n\
         0,jpg-0-0/00000000.jpg,jpg,0,3,512,77,no,yes,,{sum}\n\
         1,\"a,\"\"b\"\"\n\",,1,9,18446744073709551611,4,yes,unknown,0,\n"
    );
    assert_eq!(text, expected);
}

#[test]
fn dfxml() {
    let text = written(write_dfxml);
    let sum = "ab".repeat(32);
    let expected = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<dfxml xmlns=\"http://www.forensicswiki.org/wiki/Category:Digital_Forensics_XML\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\" version=\"1.1.0\">
  <metadata>
    <dc:type>Carve Report</dc:type>
  </metadata>
  <creator>
    <program>fyke</program>
    <version>0.1.0</version>
  </creator>
  <source>
    <image_filename>a&lt;b &amp; \"c\",\u{fffd}.dd</image_filename>
  </source>
  <fileobject>
    <filename>jpg-0-0/00000000.jpg</filename>
    <id>0</id>
    <name_type>r</name_type>
    <filesize>77</filesize>
    <byte_runs>
      <byte_run file_offset=\"0\" img_offset=\"512\" len=\"77\"/>
    </byte_runs>
    <hashdigest type=\"sha256\">{sum}</hashdigest>
  </fileobject>
  <fileobject>
    <filename>a,\"b\"
</filename>
    <id>1</id>
    <name_type>r</name_type>
    <filesize>4</filesize>
    <byte_runs>
      <byte_run file_offset=\"0\" img_offset=\"18446744073709551611\" len=\"4\"/>
    </byte_runs>
  </fileobject>
</dfxml>
"
    );
    assert_eq!(text, expected);
}

#[test]
fn a_closed_pipe_stays_one() {
    struct Closed;
    impl std::io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (run, rules) = (Run::default(), rules());
    let listing = Listing {
        run: &run,
        rules: &rules,
        files: &[],
        names: &[],
        inside: &[],
        digests: &[],
        bad: &[],
    };
    for write in [write_json, write_csv, write_dfxml] {
        let error = write(&mut Closed, &listing).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    }
}
