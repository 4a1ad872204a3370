//! Serialize and Deserialize for the types that a program may want to store (feature `serde`).

use crate::engine::Options;
use crate::pattern::{PatternId, PatternSet};
use crate::semantics::Semantics;
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};
use std::fmt;

/// By name: `"leftmost-first"`.
impl Serialize for Semantics {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Semantics {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Semantics, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// A distinct pattern of a set.
#[derive(serde::Serialize)]
struct Entry<'a> {
    pattern: Bytes<&'a [u8]>,
    ids: &'a [PatternId],
    nocase: bool,
}

#[derive(serde::Deserialize)]
#[serde(rename = "Entry", deny_unknown_fields)]
struct OwnedEntry {
    pattern: Bytes<Vec<u8>>,
    ids: Vec<PatternId>,
    #[serde(default)]
    nocase: bool,
}

impl Serialize for PatternSet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let entry = |i| {
            let p = self.get(i);
            Entry { pattern: Bytes(p.bytes), ids: p.ids, nocase: p.nocase }
        };
        to.collect_seq((0..self.len() as u32).map(entry))
    }
}

impl<'de> Deserialize<'de> for PatternSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PatternSet, D::Error> {
        let mut builder = PatternSet::builder();
        for entry in Vec::<OwnedEntry>::deserialize(from)? {
            if entry.ids.is_empty() {
                return Err(de::Error::custom("a pattern has no ids: give it at least one"));
            }
            for id in entry.ids {
                builder.push_with(id, &entry.pattern.0, entry.nocase).map_err(de::Error::custom)?;
            }
        }
        Ok(builder.build())
    }
}

/// The bytes of a pattern: in text formats as a string where they are UTF-8.
struct Bytes<T>(T);

impl Serialize for Bytes<&[u8]> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(self.0) {
            Ok(text) if to.is_human_readable() => to.serialize_str(text),
            _ => to.serialize_bytes(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Bytes<Vec<u8>> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bytes = if from.is_human_readable() {
            from.deserialize_any(BytesVisitor)
        } else {
            from.deserialize_byte_buf(BytesVisitor)
        };
        bytes.map(Bytes)
    }
}

struct BytesVisitor;

impl<'de> Visitor<'de> for BytesVisitor {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a pattern: a string or a list of bytes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
        Ok(bytes.to_vec())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

/// [`Options`] as they are stored.
#[derive(Default, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
struct StoredOptions {
    memory_limit: Option<u64>,
    expected_bytes: Option<u64>,
    expected_call: Option<u64>,
    threads: Option<usize>,
    params: String,
}

impl Serialize for Options {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Options { memory_limit, expected_bytes, expected_call, threads, ref params, sample: _ } =
            *self;
        let params: Vec<_> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let params = params.join(",");
        StoredOptions { memory_limit, expected_bytes, expected_call, threads, params }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Options, D::Error> {
        let stored = StoredOptions::deserialize(from)?;
        let mut options = Options::with_params(&stored.params).map_err(de::Error::custom)?;
        options.memory_limit = stored.memory_limit;
        options.expected_bytes = stored.expected_bytes;
        options.expected_call = stored.expected_call;
        options.threads = stored.threads;
        Ok(options)
    }
}
