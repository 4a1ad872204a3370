//! The feature `serde`: what is stored is read back as it was. To run it:
//! `cargo test -p fyke-core --features serde`.

use fyke_core::{Match, Options, PatternId, PatternSet, Semantics};
use serde::{Deserialize, Serialize};
use serde_json::{from_str, json, to_string, to_value};
use serde_test::{Compact, Configure, Token, assert_tokens};

fn set() -> PatternSet {
    let mut b = PatternSet::builder();
    b.push_with(PatternId(7), "GET ", false).unwrap();
    b.push_with(PatternId(9), "Host", true).unwrap();
    b.push_with(PatternId(8), "GET ", false).unwrap();
    b.push_with(PatternId(9), b"\x00\xff", false).unwrap();
    b.build()
}

#[test]
fn a_set_is_a_list_of_patterns() {
    let stored = to_value(set()).unwrap();
    let expected = json!([
        { "pattern": [0, 255], "ids": [9], "nocase": false },
        { "pattern": "GET ", "ids": [7, 8], "nocase": false },
        { "pattern": "host", "ids": [9], "nocase": true },
    ]);
    assert_eq!(stored, expected);
    let read: PatternSet = serde_json::from_value(stored).unwrap();
    assert_eq!(read.digest(), set().digest());
    let empty: PatternSet = from_str("[]").unwrap();
    assert!(empty.is_empty());
}

/// A set that is equal to another one if patterns, flags and ids are.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
struct Comparable(PatternSet);

impl PartialEq for Comparable {
    fn eq(&self, other: &Comparable) -> bool {
        self.0.digest() == other.0.digest()
    }
}

#[test]
fn binary_formats_hold_patterns_as_bytes() {
    let set: Compact<Comparable> = Comparable(PatternSet::new(["GET "]).unwrap()).compact();
    assert_tokens(
        &set,
        &[
            Token::Seq { len: Some(1) },
            Token::Struct { name: "Entry", len: 3 },
            Token::Str("pattern"),
            Token::Bytes(b"GET "),
            Token::Str("ids"),
            Token::Seq { len: Some(1) },
            Token::NewtypeStruct { name: "PatternId" },
            Token::U32(0),
            Token::SeqEnd,
            Token::Str("nocase"),
            Token::Bool(false),
            Token::StructEnd,
            Token::SeqEnd,
        ],
    );
}

#[test]
fn a_bad_set_is_an_error() {
    for (text, why) in [
        (r#"[{"pattern":"","ids":[1]}]"#, "empty"),
        (r#"[{"pattern":"a","ids":[]}]"#, "a pattern has no ids"),
        (r#"[{"pattern":"a"}]"#, "missing field `ids`"),
        (r#"[{"pattern":[256],"ids":[1]}]"#, "256"),
        (r#"[{"pattern":7,"ids":[1]}]"#, "a string or a list of bytes"),
        (r#"[{"pattern":"a","ids":[1],"no-case":true}]"#, "unknown field"),
    ] {
        let error = from_str::<PatternSet>(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn matches_ids_and_semantics() {
    let m = Match { pattern: PatternId(3), start: 4, end: 1 << 40 };
    assert_eq!(to_string(&m).unwrap(), r#"{"end":1099511627776,"start":4,"pattern":3}"#);
    assert_eq!(from_str::<Match>(&to_string(&m).unwrap()).unwrap(), m);
    for semantics in Semantics::ALL {
        assert_eq!(to_value(semantics).unwrap(), semantics.name());
        assert_eq!(from_str::<Semantics>(&format!("{:?}", semantics.name())).unwrap(), semantics);
    }
    assert!(
        from_str::<Semantics>(r#""leftmost""#).unwrap_err().to_string().contains("give one of")
    );
}

#[test]
fn options_without_the_sample() {
    let options = Options::with_params("form=dense,walks=4").unwrap().limited_to(1 << 20);
    let stored =
        to_value(options.expecting(Some(5), 2).in_calls(Some(9)).sampled(*b"abc")).unwrap();
    let expected = json!({
        "memory_limit": 1 << 20, "expected_bytes": 5, "expected_call": 9, "threads": 2,
        "params": "form=dense,walks=4",
    });
    assert_eq!(stored, expected);
    let read: Options = serde_json::from_value(stored).unwrap();
    assert_eq!((read.param("form"), read.param("walks")), (Some("dense"), Some("4")));
    assert_eq!(
        (read.memory_limit, read.expected_bytes, read.threads, read.sample),
        (Some(1 << 20), Some(5), Some(2), None)
    );
    assert_eq!(read.expected_call, Some(9));
    assert!(from_str::<Options>(r#"{"params":"form"}"#).is_err());
    assert!(from_str::<Options>("{}").unwrap().memory_limit.is_none());
}
