"""The modules with the names of other packages give what those packages give."""

import fyke.ahocorasick
import fyke.ahocorasick_rs
import oracle
import pytest
from conftest import library

KINDS = ["Standard", "LeftmostFirst", "LeftmostLongest"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alphabet", ["ab", "abé😀"])
def test_ahocorasick_rs_agrees(rng, kind, alphabet):
    theirs = library("ahocorasick_rs")
    for _ in range(200):
        patterns, haystack = oracle.case(rng, alphabet)
        a = fyke.ahocorasick_rs.AhoCorasick(
            patterns, matchkind=getattr(fyke.ahocorasick_rs.MatchKind, kind)
        )
        b = theirs.AhoCorasick(patterns, matchkind=getattr(theirs.MatchKind, kind))
        assert a.find_matches_as_indexes(haystack) == b.find_matches_as_indexes(haystack)
        assert a.find_matches_as_strings(haystack) == b.find_matches_as_strings(haystack)
        if kind == "Standard":
            ours = a.find_matches_as_indexes(haystack, overlapping=True)
            assert ours == b.find_matches_as_indexes(haystack, overlapping=True)
        else:
            with pytest.raises(ValueError, match="overlapping"):
                a.find_matches_as_indexes(haystack, overlapping=True)
            with pytest.raises(ValueError):
                b.find_matches_as_indexes(haystack, overlapping=True)
        a = fyke.ahocorasick_rs.BytesAhoCorasick([p.encode() for p in patterns])
        b = theirs.BytesAhoCorasick([p.encode() for p in patterns])
        haystack = haystack.encode()
        assert a.find_matches_as_indexes(haystack) == b.find_matches_as_indexes(haystack)


def both_automata(words):
    theirs = library("ahocorasick")
    automata = fyke.ahocorasick.Automaton(), theirs.Automaton()
    for automaton in automata:
        for number, word in enumerate(words):
            automaton.add_word(word, (number, word))
        automaton.make_automaton()
    return automata


def test_pyahocorasick_agrees(rng):
    for _ in range(200):
        words, haystack = oracle.case(rng, "abé😀")
        ours, theirs = both_automata(words)
        assert list(ours.iter(haystack)) == list(theirs.iter(haystack))
        longest = oracle.not_overlapping(words, haystack, "leftmost-longest")
        assert list(ours.iter_long(haystack)) == [(m[2] - 1, (m[0], words[m[0]])) for m in longest]
        half = len(haystack) // 2
        assert list(ours.iter(haystack, half)) == list(theirs.iter(haystack, half))
        assert list(ours.iter(haystack, 0, half)) == list(theirs.iter(haystack, 0, half))
        assert sorted(ours.items()) == sorted(theirs.items())
        assert sorted(ours) == sorted(theirs)
        assert len(ours) == len(theirs)
        for word in [*words, "absent"]:
            assert (word in ours) == (word in theirs) == ours.exists(word)
            assert ours.get(word, None) == theirs.get(word, None)
            assert ours.match(word[:1]) == theirs.match(word[:1])


def test_pyahocorasick_without_an_automaton():
    ours = fyke.ahocorasick.Automaton(fyke.ahocorasick.STORE_INTS)
    assert ours.kind == fyke.ahocorasick.EMPTY
    assert ours.add_word("he") and not ours.add_word("he", 7) and not ours.add_word("", 1)
    assert ours.kind == fyke.ahocorasick.TRIE
    with pytest.raises(AttributeError, match="not an automaton yet"):
        list(ours.iter("he"))
    with pytest.raises(KeyError):
        ours.get("absent")
    assert ours.get("he") == 7
    ours.make_automaton()
    assert ours.kind == fyke.ahocorasick.AHOCORASICK
    found = []
    ours.find_all("he", lambda at, value: found.append((at, value)))
    assert found == [(1, 7)]
    assert ours.remove_word("he") and not ours.remove_word("he")
    assert ours.kind == fyke.ahocorasick.EMPTY
    with pytest.raises(ValueError, match="a value is needed"):
        fyke.ahocorasick.Automaton().add_word("he")
    with pytest.raises(TypeError, match="key is a bytes"):
        fyke.ahocorasick.Automaton().add_word(b"he", 1)
    lengths = fyke.ahocorasick.Automaton(fyke.ahocorasick.STORE_LENGTH)
    lengths.add_word("four")
    assert lengths.pop("four") == 4
