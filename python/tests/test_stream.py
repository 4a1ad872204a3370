"""Streams: any chunks give what the whole haystack gives."""

import fyke
import oracle
import pytest


def feed(searcher, haystack, cuts, save=False):
    """The matches of a haystack in chunks."""
    stream, found, done = searcher.stream(), [], 0
    for cut in [*sorted(cuts), len(haystack)]:
        found += stream.feed(haystack[done:cut])
        assert stream.offset == cut
        done = cut
        if save:
            stream = searcher.restore(stream.save())
    return found + list(stream.finish())


@pytest.mark.parametrize("semantics", ["all", "standard", "leftmost-first", "leftmost-longest"])
def test_chunks_do_not_matter(rng, semantics):
    for _ in range(200):
        patterns, haystack = oracle.case(rng, b"abc")
        searcher = fyke.Searcher(patterns, semantics=semantics)
        want = (
            oracle.all_matches(patterns, haystack)
            if semantics == "all"
            else oracle.not_overlapping(patterns, haystack, semantics)
        )
        cuts = [rng.randint(0, len(haystack)) for _ in range(rng.randint(0, 6))]
        assert feed(searcher, haystack, cuts) == want
        assert feed(searcher, haystack, cuts, save=True) == want
        assert feed(searcher, bytearray(haystack), range(len(haystack))) == want


def test_a_stream_ends_once():
    stream = fyke.Searcher(["a"]).stream()
    assert list(stream.feed(b"banana")) == [(0, 1, 2), (0, 3, 4), (0, 5, 6)]
    assert list(stream.finish()) == []
    for call in (stream.finish, stream.save, lambda: stream.feed(b"a"), lambda: stream.offset):
        with pytest.raises(ValueError, match="has ended"):
            call()


def test_a_chunk_is_bytes():
    with pytest.raises(TypeError, match="chunk is a str: encode it"):
        fyke.Searcher(["a"]).stream().feed("a")


def test_a_state_belongs_to_its_set():
    state = fyke.Searcher(["ab"]).stream().save()
    with pytest.raises(ValueError, match="another pattern set"):
        fyke.Searcher(["cd"]).restore(state)
    with pytest.raises(ValueError, match="other match semantics"):
        fyke.Searcher(["ab"], semantics="once").restore(state)
    with pytest.raises(ValueError, match="not a saved stream state"):
        fyke.Searcher(["ab"]).restore(b"no state")


def test_once_is_over_when_each_pattern_was_found():
    stream = fyke.Searcher(["a", "b"], semantics="once").stream()
    assert list(stream.feed(b"ab")) == [(0, 0, 1), (1, 1, 2)]
    assert list(stream.feed(b"ab")) == []
