"""The conformance vectors and the golden rows, which every part of fyke is checked with."""

import lzma
import re
import tomllib

import fyke
import pytest
from conftest import ROOT

ESCAPES = {"n": b"\n", "r": b"\r", "t": b"\t", "0": b"\0", "\\": b"\\"}


def unescape(text):
    """The bytes of a string of a vector: vectors/README.md."""
    parts = re.split(r"(\\x[0-9a-fA-F]{2}|\\.)", text)
    return b"".join(
        bytes.fromhex(part[2:])
        if part.startswith("\\x")
        else ESCAPES[part[1:]]
        if part.startswith("\\")
        else part.encode("ascii")
        for part in parts
    )


def text(value):
    """The bytes of a text of a vector."""
    if isinstance(value, str):
        return unescape(value)
    if isinstance(value, list):
        return b"".join(map(text, value))
    if "hex" in value:
        one = bytes.fromhex(value["hex"])
    else:
        one = text(value["bytes"] if "bytes" in value else value["pieces"])
    return one * value.get("repeat", 1)


def vectors():
    for path in sorted((ROOT / "vectors").glob("*.toml")):
        for vector in tomllib.loads(path.read_text())["test"]:
            yield pytest.param(vector, id=f"{path.stem}/{vector['name']}")


def arguments(vector):
    entries = [p if isinstance(p, dict) else {"bytes": p} for p in vector["patterns"]]
    ids = [entry.get("id", number) for number, entry in enumerate(entries)]
    return [text(entry) for entry in entries], ids, [e.get("nocase", False) for e in entries]


@pytest.mark.parametrize("vector", list(vectors()))
def test_vector(vector):
    patterns, ids, nocase = arguments(vector)
    haystack = text(vector["haystack"])
    searcher = fyke.Searcher(patterns, ids, nocase=nocase)
    if "count" in vector:
        assert searcher.count(haystack) == vector["count"] == len(searcher.scan(haystack))
    else:
        want = [tuple(m) for m in vector["matches"]]
        assert searcher.scan(haystack) == want
        assert searcher.count(haystack) == len(want)
        stream = searcher.stream()
        assert [m for byte in haystack for m in stream.feed(bytes([byte]))] == want
        column = fyke.find_many([haystack, None, haystack], searcher)
        assert column.to_pylist() == [want, None, want]
    for semantics in ("once", "leftmost-first", "leftmost-longest"):
        if semantics in vector:
            other = fyke.Searcher(patterns, ids, nocase=nocase, semantics=semantics)
            assert other.scan(haystack) == [tuple(m) for m in vector[semantics]]


def test_the_vectors_were_found():
    assert len(list(vectors())) > 250


DATA = ROOT / "data"


def golden_rows():
    """The rows whose data is in the repository. tests/golden.rs of the library has them all."""
    for line in (DATA / "golden/golden.txt").read_text().splitlines():
        row = re.match(r"(\S+) x (\S+) (cs|ci) .* matches (\d+) distinct (\d+)", line)
        if not row:
            continue
        patterns, text, case, matches, distinct = row.groups()
        there = [DATA / "golden" / patterns, DATA / "text" / f"{text}.xz"]
        if all(path.is_file() for path in there):
            yield pytest.param(*there, case, int(matches), int(distinct), id=f"{patterns} x {text}")


@pytest.mark.parametrize(("patterns", "text", "case", "matches", "distinct"), list(golden_rows()))
def test_golden_row(patterns, text, case, matches, distinct):
    lines = map(bytes.fromhex, patterns.read_text().split())
    haystack = lzma.decompress(text.read_bytes())
    searcher = fyke.Searcher(dict.fromkeys(lines), nocase=case == "ci")
    assert searcher.count(haystack) == matches
    found, starts, ends = zip(*searcher.scan(haystack))
    assert (len(found), len(set(found))) == (matches, distinct)
    assert list(ends) == sorted(ends)
    assert all(start < end for start, end in zip(starts, ends))


def test_the_golden_rows_were_found():
    assert len(list(golden_rows())) >= 4
