"""Pattern files: what the command `fyke` reads, Python reads."""

import fyke
import pytest
from conftest import ROOT

SNORT = b"""\
alert tcp any any -> any 80 (msg:"m"; content:"GET |2f|"; nocase; content:"x"; sid:7;)
# alert tcp any any -> any any (content:"hidden"; sid:8;)
"""
YARA = b"""\
rule demo { strings: $a = "text" nocase $b = { 4D 5A 90 } condition: any of them }
"""


@pytest.fixture
def write(tmp_path):
    def write(data):
        path = tmp_path / "patterns"
        path.write_bytes(data)
        return path

    return write


def rows(found):
    return [(p.id, p.pattern, p.nocase) for p in found]


def test_lines_are_taken_literally(write):
    path = write(b"she\r\n# he\nshe\n\xff")
    found = fyke.read_patterns(path)
    # A repeated line is left out, and its number with it.
    assert rows(found) == [(0, b"she", False), (1, b"# he", False), (3, b"\xff", False)]
    assert found[1].origin == f"{path}:2"
    assert [p.nocase for p in fyke.read_patterns(path, nocase=True)] == [True] * 3


def test_hex_has_comments(write):
    assert rows(fyke.read_patterns(write(b"# c\n41 42\n\n00ff\n"), "hex")) == [
        (0, b"AB", False),
        (1, b"\0\xff", False),
    ]


def test_contents_of_rules(write):
    path = write(SNORT)
    found = fyke.read_patterns(path, "snort")
    assert rows(found) == [(0, b"GET /", True), (1, b"x", False)]
    assert found[0].origin == f"sid 7 ({path}:1)"
    assert len(fyke.read_patterns(path, "snort", commented_rules=True)) == 3


def test_strings_of_yara_rules(write):
    found = fyke.read_patterns(write(YARA), "yara")
    assert rows(found) == [(0, b"text", True), (1, b"MZ\x90", False)]
    assert found[0].origin.startswith("demo $a (")


def test_a_real_rule_file():
    path = ROOT / "data/rules/emerging-dns.rules"
    found = fyke.read_patterns(path, "snort", skip_bad_rules=True)
    assert len(found) > 50
    assert all("sid " in p.origin for p in found)


def test_bad_rules_are_named(write):
    path = write(b"41\nxyz\n42\n4\n")
    with pytest.raises(fyke.BuildError, match=f"{path}:2:1: x is not a hex digit|'x' is not"):
        fyke.read_patterns(path, "hex")
    with pytest.warns(UserWarning, match="the rule is skipped") as caught:
        found = fyke.read_patterns(path, "hex", skip_bad_rules=True)
    assert len(caught) == 2
    assert [p.pattern for p in found] == [b"A", b"B"]


def test_a_forgotten_format_draws_a_warning(write):
    with pytest.warns(UserWarning, match="written as snort rules"):
        fyke.read_patterns(write(SNORT))
    fullword = YARA.replace(b"nocase", b"fullword")
    with pytest.warns(UserWarning, match="fullword is not checked"):
        fyke.read_patterns(write(fullword), "yara")


def test_wrong_arguments_are_named(write, tmp_path):
    with pytest.raises(ValueError, match='format="words" is unknown: give "lines", "hex"'):
        fyke.read_patterns(write(b"a"), "words")
    with pytest.raises(FileNotFoundError, match="absent"):
        fyke.read_patterns(tmp_path / "absent")
