use super::*;
use crate::{Lengths, Mode, Needle, NeedleHits, NeedleId, Rule, Validity};
use proptest::prelude::*;

/// All that a database contains, owned.
#[derive(Clone, Debug, Default)]
struct Whole {
    run: Run,
    rules: RuleSet,
    hits: Hits,
    files: Vec<CarvedFile>,
    bad: Vec<Range<u64>>,
}

impl Whole {
    fn contents(&self) -> Contents<'_> {
        let Self { run, rules, hits, files, bad } = self;
        Contents { run, rules, hits, files, bad }
    }

    fn create(&self, folder: &Path) -> PathBuf {
        let path = folder.join("a.sqlite");
        Database::create(&path, &self.contents()).unwrap();
        path
    }

    #[track_caller]
    fn assert_equal(&self, database: &Database) {
        assert_eq!(database.run().unwrap(), self.run);
        assert_eq!(database.rules().unwrap(), self.rules);
        assert!(database.hits().unwrap() == self.hits);
        assert_eq!(database.files().unwrap(), self.files);
        assert_eq!(database.bad().unwrap(), self.bad);
    }
}

fn starts() -> impl Strategy<Value = Vec<u64>> {
    let step = prop_oneof![1u64..4, 1u64..300, 1u64..1 << 40];
    prop::collection::vec(step, 0..1500).prop_map(|steps| {
        steps.iter().scan(0, |at, step| Some(std::mem::replace(at, *at + step))).collect()
    })
}

fn needle_and_hits() -> impl Strategy<Value = (Needle, NeedleHits)> {
    let bytes = prop::collection::vec(prop::option::weighted(0.8, any::<u8>()), 1..9);
    let string = (bytes, any::<bool>(), starts()).prop_map(|(bytes, nocase, starts)| {
        let lengths = Lengths::Fixed(bytes.len() as u32);
        (Needle::Bytes { bytes, nocase }, NeedleHits { starts, lengths })
    });
    let regex = ("[a-z.*\\\\\"]{1,6}", any::<bool>(), starts(), any::<u32>());
    let regex = regex.prop_map(|(pattern, nocase, starts, seed)| {
        let each = (0..starts.len() as u32).map(|i| i.wrapping_mul(seed)).collect();
        (Needle::Regex { pattern, nocase }, NeedleHits { starts, lengths: Lengths::Each(each) })
    });
    prop_oneof![string, regex]
}

fn rule(needles: usize) -> impl Strategy<Value = Rule> {
    let mode = prop::sample::select(vec![Mode::Forward, Mode::Next, Mode::Reverse]);
    let id = 0..needles as u32;
    let lens = (any::<u64>(), 1..=u64::MAX);
    let name = prop::option::of("[a-z\\\\é]{1,9}");
    (any::<u32>(), name, lens, id.clone(), prop::option::of(id), mode).prop_map(
        |(line, extension, (min_len, max_len), header, footer, mode)| {
            let (header, footer) = (NeedleId(header), footer.map(NeedleId));
            Rule { line: line as usize, extension, min_len, max_len, header, footer, mode }
        },
    )
}

fn file(rules: usize) -> impl Strategy<Value = CarvedFile> {
    let valid = prop::sample::select(vec![Validity::Yes, Validity::No, Validity::Unknown]);
    (0..rules, any::<u64>(), 1..=u64::MAX, any::<bool>(), valid).prop_map(
        |(rule, start, len, chopped, valid)| {
            let start = start.min(u64::MAX - len);
            CarvedFile { number: 0, rule, start, len, chopped, valid }
        },
    )
}

fn whole() -> impl Strategy<Value = Whole> {
    let needles = prop::collection::vec(needle_and_hits(), 1..4);
    let rules = needles.prop_flat_map(|needles| {
        let rules = prop::collection::vec(rule(needles.len()), 1..4);
        (Just(needles), rules)
    });
    let files = rules.prop_flat_map(|(needles, rules)| {
        let files = prop::collection::vec(file(rules.len()), 0..30);
        (Just(needles), Just(rules), files)
    });
    let run = (any::<u64>(), ".{0,9}", prop::collection::vec(any::<u8>(), 0..99), 0u64..50);
    (files, run).prop_map(|((needles, rules, mut files), (image_len, image, conf, first))| {
        for (number, file) in (first..).zip(&mut files) {
            file.number = number;
        }
        let (needles, hits) = needles.into_iter().unzip();
        let options = [("-b", "no"), ("-q", "512")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let run = Run {
            program: "fyke 1".to_owned(),
            image: image.clone(),
            image_len,
            conf_path: image,
            conf,
            options: options.into(),
        };
        Whole {
            run,
            rules: RuleSet { rules, needles },
            hits: Hits { image_len: (image_len / 2).max(1 << 62), needles: hits },
            files,
            bad: vec![first..9000, 9001..image_len.max(9001)],
        }
    })
}

/// One small database with a needle of each kind.
fn sample() -> Whole {
    let bytes = vec![Some(b'a'), None];
    let needles = vec![
        Needle::Bytes { bytes, nocase: true },
        Needle::Regex { pattern: "a+".to_owned(), nocase: false },
    ];
    let starts: Vec<u64> = (0..1400).map(|i| i * i * 50).collect();
    let each = Lengths::Each((0..1400).collect());
    let hits = Hits {
        image_len: 1 << 30,
        needles: vec![
            NeedleHits { starts: starts.clone(), lengths: Lengths::Fixed(2) },
            NeedleHits { starts, lengths: each },
        ],
    };
    let rule = Rule {
        line: 3,
        extension: Some("xyz".to_owned()),
        min_len: 0,
        max_len: 100,
        header: NeedleId(0),
        footer: None,
        mode: Mode::Next,
    };
    let valid = Validity::No;
    let file = CarvedFile { number: 0, rule: 0, start: 5, len: 100, chopped: true, valid };
    let rules = RuleSet { rules: vec![rule], needles };
    Whole { rules, hits, files: vec![file], ..Whole::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_written_is_read(whole in whole()) {
        let folder = tempfile::tempdir().unwrap();
        whole.assert_equal(&Database::open(&whole.create(folder.path())).unwrap());
    }

    #[test]
    fn equal_contents_give_equal_bytes(whole in whole()) {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [a, b] = folders.each_ref().map(|f| fs::read(whole.create(f.path())).unwrap());
        prop_assert!(a == b);
        prop_assert_eq!(fs::read_dir(folders[0].path()).unwrap().count(), 1);
    }
}

#[test]
fn the_views_say_what_the_tables_say() {
    let whole = sample();
    let folder = tempfile::tempdir().unwrap();
    let connection = Connection::open(whole.create(folder.path())).unwrap();
    let mut statement =
        connection.prepare("SELECT needle, start, len FROM hits ORDER BY 1, 2").unwrap();
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
    let rows: Vec<(i64, i64, i64)> =
        statement.query_map([], row).unwrap().map(Result::unwrap).collect();
    let mut expected = Vec::new();
    for (needle, hits) in whole.hits.needles.iter().enumerate() {
        for (i, &start) in hits.starts.iter().enumerate() {
            expected.push((needle as i64, start as i64, hits.len_of(i) as i64));
        }
    }
    assert!(rows == expected);

    let query = "SELECT number, extension, start, len, valid, rule_line FROM file_list";
    let row: (i64, String, i64, i64, String, i64) = connection
        .query_row(query, [], |r| {
            Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?, r.get(5)?))
        })
        .unwrap();
    assert_eq!(row, (0, "xyz".to_owned(), 5, 100, "no".to_owned(), 3));
}

#[track_caller]
fn assert_error(path: &Path, part: &str) {
    let error = Database::open(path).unwrap_err().to_string();
    assert!(error.contains(part), "{part:?} is not in {error:?}");
}

#[test]
fn an_error_says_what_the_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = sample().create(folder.path());
    let whole = fs::read(&path).unwrap();
    let bad = folder.path().join("bad");
    assert_error(&bad, "No such file");
    assert_error(folder.path(), "directory");
    for bytes in [&b""[..], b"text", &[0; 5000], &whole[..99]] {
        fs::write(&bad, bytes).unwrap();
        assert_error(&bad, "is no database of `fyke carve`");
    }
    for len in [100, 4096, whole.len() - 1] {
        fs::write(&bad, &whole[..len]).unwrap();
        let said = format!("is truncated: it has {len} bytes, and should have {}", whole.len());
        assert_error(&bad, &said);
    }
    let mut future = whole.clone();
    future[60..64].copy_from_slice(&7u32.to_be_bytes());
    fs::write(&bad, &future).unwrap();
    assert_error(&bad, "has version 7 of the format, and this program knows versions up to 1");

    let other = folder.path().join("other");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE files(a)").unwrap();
    assert_error(&other, "is no database of `fyke carve`");
}

#[test]
fn a_changed_byte_is_noticed_or_harmless() {
    let folder = tempfile::tempdir().unwrap();
    let whole = sample();
    let bytes = fs::read(whole.create(folder.path())).unwrap();
    let bad = folder.path().join("bad");
    let mut noticed = 0;
    let places: Vec<usize> = (0..bytes.len()).step_by(13).collect();
    for &at in &places {
        let mut changed = bytes.clone();
        changed[at] ^= 0x55;
        fs::write(&bad, &changed).unwrap();
        match Database::open(&bad) {
            // A byte that SQLite does not use.
            Ok(database) => whole.assert_equal(&database),
            Err(_) => noticed += 1,
        }
    }
    assert!(noticed > places.len() / 3, "{noticed} of {}", places.len());
}

#[test]
fn a_value_that_was_changed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    for (i, change) in [
        "UPDATE files SET len = 99",
        "UPDATE info SET value = 'b' WHERE key = 'image'",
        "UPDATE hit_blocks SET first = 1 WHERE id = 1",
        "INSERT INTO bad_ranges VALUES(1, 2)",
        "DELETE FROM files",
    ]
    .iter()
    .enumerate()
    {
        let path = folder.path().join(format!("{i}"));
        Database::create(&path, &sample().contents()).unwrap();
        Connection::open(&path).unwrap().execute_batch(change).unwrap();
        assert_error(&path, "is damaged: its contents were changed");
    }
}

/// Says what a database that was changed under a right digest is refused for.
#[track_caller]
fn refusal(change: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = sample().create(folder.path());
    let change = format!("PRAGMA foreign_keys = OFF; {change}");
    Connection::open(&path).unwrap().execute_batch(&change).unwrap();
    seal(&path).unwrap();
    let read = || {
        let database = Database::open(&path)?;
        database.run()?;
        database.rules()?;
        database.files()?;
        database.hits()?;
        database.bad()
    };
    read().map(|_| "it is not refused".to_owned()).unwrap_or_else(|error| error.to_string())
}

#[test]
fn a_lie_under_a_right_digest_is_refused() {
    for (change, why) in [
        ("UPDATE files SET len = -1", "file 0 has 18446744073709551615 bytes at 5"),
        ("UPDATE files SET len = 0", "file 0 has 0 bytes"),
        ("UPDATE files SET rule = 1", "file 0 has no rule"),
        ("UPDATE rules SET footer = 2", "the rule of line 3 has no needle"),
        ("UPDATE rules SET max_len = 0", "the rule of line 3 carves nothing"),
        ("UPDATE needles SET regex = NULL, bytes = x''", "needle 0 has 0 bytes"),
        ("UPDATE needles SET regex = NULL, bytes = zeroblob(4097)", "needle 0 has 4097 bytes"),
        (
            "UPDATE needles SET hit_len = 4294967295 WHERE id = 0",
            "hit of needle 0 lies after the end of the image",
        ),
        ("UPDATE info SET value = 9 WHERE key = 'searched_len'", "lies after the end of the image"),
        ("UPDATE info SET value = -9 WHERE key = 'searched_len'", "an image of 184467"),
        ("INSERT INTO bad_ranges VALUES(2, 1)", "2..1"),
    ] {
        let error = refusal(change);
        assert!(error.contains(why) && error.contains("is damaged"), "{change}: {error}");
    }
}

#[test]
fn tables_that_compute_are_refused() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 3)";
    let view = format!(
        "DROP TABLE bad_ranges; CREATE VIEW bad_ranges(start, \"end\") AS {endless} SELECT i, i FROM n"
    );
    assert!(refusal(&view).contains("bad_ranges is no table"));
    let column = "ALTER TABLE files ADD COLUMN more GENERATED ALWAYS AS (zeroblob(9)) VIRTUAL";
    assert!(refusal(column).contains("the table files computes its columns"));
}

#[test]
fn a_database_is_written_over_on_request_only() {
    let folder = tempfile::tempdir().unwrap();
    let whole = sample();
    let path = whole.create(folder.path());
    let error = Database::create(&path, &whole.contents()).unwrap_err();
    assert!(error.is_exists() && error.to_string().contains("exists"), "{error}");
    let other = Whole { files: Vec::new(), ..whole };
    Database::replace(&path, &other.contents()).unwrap();
    other.assert_equal(&Database::open(&path).unwrap());
    let nowhere = folder.path().join("no/folder");
    assert!(Database::create(&nowhere, &other.contents()).is_err());
}
