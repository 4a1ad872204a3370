"""`Searcher` against the naive search."""

import array
import mmap
import pickle
import sys

import fyke
import oracle
import pytest

KINDS = ["standard", "leftmost-first", "leftmost-longest"]
ALPHABETS = [b"ab", b"abcA", bytes(range(256)), "ab", "abé", "aé漢😀\x00"]


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=repr)
def test_random_cases_have_the_matches_of_the_oracle(rng, alphabet):
    for _ in range(400):
        patterns, haystack = oracle.case(rng, alphabet)
        want = oracle.all_matches(patterns, haystack)
        searcher = fyke.Searcher(patterns)
        assert searcher.scan(haystack) == want
        assert list(searcher.find_iter(haystack, overlapping=True)) == want
        assert searcher.find_matches_as_indexes(haystack, overlapping=True) == want
        assert searcher.count(haystack) == len(want)
        assert searcher.is_match(haystack) == bool(want)
        assert len(searcher) == len(patterns)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alphabet", ALPHABETS, ids=repr)
def test_the_find_calls_have_the_matches_of_the_oracle(rng, kind, alphabet):
    for _ in range(200):
        patterns, haystack = oracle.case(rng, alphabet)
        want = oracle.not_overlapping(patterns, haystack, kind)
        searcher = fyke.Searcher(patterns, match_kind=kind)
        assert list(searcher.find_iter(haystack)) == want
        assert searcher.find(haystack) == (want[0] if want else None)
        assert searcher.find_matches_as_indexes(haystack) == want
        strings = [haystack[start:end] for _, start, end in want]
        assert searcher.find_matches_as_strings(haystack) == strings
        replacements = [p[:1] * 3 for p in patterns]
        replaced = oracle.replaced(patterns, haystack, kind, replacements)
        assert searcher.replace_all(haystack, replacements) == replaced
        by_call = searcher.replace_all(haystack, lambda id, text: replacements[id])
        assert by_call == replaced
        assert searcher.match_kind == kind


def test_once_reports_each_pattern_once(rng):
    for _ in range(200):
        patterns, haystack = oracle.case(rng, "abé")
        searcher = fyke.Searcher(patterns, semantics="once")
        assert searcher.scan(haystack) == oracle.once(patterns, haystack)
        assert searcher.count(haystack) == len(oracle.once(patterns, haystack))


def test_case_is_ignored_for_all_patterns_or_for_some(rng):
    for _ in range(200):
        patterns, haystack = oracle.case(rng, "abABé")
        patterns = list(dict.fromkeys(map(oracle.lower, patterns)))
        folded = oracle.all_matches(patterns, haystack, nocase=True)
        assert fyke.Searcher(patterns, nocase=True).scan(haystack) == folded
        flags = [rng.random() < 0.5 for _ in patterns]
        exact = oracle.all_matches(patterns, haystack)
        want = [m for m in folded if flags[m[0]] or m in exact]
        assert fyke.Searcher(patterns, nocase=flags).scan(haystack) == want


def test_every_engine_that_runs_here_gives_the_same_matches(rng):
    ran = []
    for name, why_not in fyke.engines():
        if why_not is not None:
            print(f"{name}: {why_not}")
            continue
        for _ in range(50):
            patterns, haystack = oracle.case(rng, "ab", haystack=400)
            try:
                searcher = fyke.Searcher(patterns, engine=name)
            except fyke.BuildError as error:
                assert "patterns of" in str(error)
                continue
            assert searcher.scan(haystack) == oracle.all_matches(patterns, haystack)
            ran.append(name)
    assert {"ac-dfa", "ac-nfa", "naive", "auto"} <= set(ran)


def large(rng, size=3 << 20):
    """A haystack of several pieces, and patterns that occur in it."""
    words = [b"abra", b"cad", b"abra ", b"x", b"aaaa", b"cadabra"]
    return b"".join(rng.choices(words, k=size // 4)), [b"abracadabra", b"aaaaa", b"xx", b"abra"]


@pytest.mark.parametrize("threads", [1, 3])
def test_a_large_haystack_gives_the_same_in_every_way(rng, threads, tmp_path):
    haystack, patterns = large(rng)
    path = tmp_path / "haystack"
    path.write_bytes(haystack)
    searcher = fyke.Searcher(patterns, threads=threads)
    matches = searcher.scan(haystack)
    # What the oracle cannot do at this size, counting by `bytes` can.
    for number, pattern in enumerate(patterns):
        at, count = haystack.find(pattern), 0
        while at >= 0:
            at, count = haystack.find(pattern, at + 1), count + 1
        assert count == sum(1 for m in matches if m[0] == number) > 0
    assert all(haystack[start:end] == patterns[number] for number, start, end in matches)
    assert searcher.scan_file(path) == matches
    assert searcher.count(haystack) == searcher.count_file(path) == len(matches)
    called = []
    assert searcher.scan(haystack, lambda *m: called.append(m)) is None
    assert called == list(matches)
    called.clear()
    assert searcher.scan_file(path, lambda *m: called.append(m)) is None
    assert called == list(matches)
    found = list(searcher.find_iter(haystack))
    assert found == searcher.find_matches_as_indexes(haystack)
    assert all(a[2] <= b[1] for a, b in zip(found, found[1:], strict=False))


def test_positions_of_str_are_those_of_python():
    haystack = "ÄÖÜ the 漢字 the 😀 the"
    searcher = fyke.Searcher(["the", "字", "😀"])
    for found in (searcher.scan(haystack), searcher.find_iter(haystack)):
        assert [haystack[s:e] for _, s, e in found] == ["the", "字", "the", "😀", "the"]
    encoded = haystack.encode()
    in_bytes = list(searcher.scan(haystack, positions="bytes"))
    assert in_bytes == list(searcher.scan(encoded))
    assert list(searcher.find_iter(haystack, positions="bytes")) == in_bytes
    assert searcher.find(haystack, positions="bytes") == in_bytes[0]
    with pytest.raises(ValueError, match="needs a str"):
        searcher.scan(encoded, positions="chars")
    with pytest.raises(ValueError, match="unknown"):
        searcher.scan(haystack, positions="words")


def test_a_pattern_may_cut_characters():
    cut = "é".encode()[1:]
    searcher = fyke.Searcher([cut])
    assert list(searcher.scan("aéa")) == [(0, 1, 2)]
    assert list(searcher.find_iter("aéa")) == [(0, 1, 2)]
    assert searcher.find("aéa") == (0, 1, 2)
    with pytest.raises(ValueError, match="cuts the character at byte 1"):
        searcher.replace_all("aéa", "x")
    with pytest.raises(ValueError, match="cuts the character"):
        searcher.find_matches_as_strings("aéa")
    assert searcher.replace_all("aéa".encode(), "x") == b"a\xc3xa"


class TestBuffers:
    searcher = fyke.Searcher(["needle", b"\x00\x01"])
    data = b"a needle \x00\x01"
    want = [(0, 2, 8), (1, 9, 11)]

    @pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: array.array("B", b)])
    def test_every_buffer_is_searched(self, wrap):
        assert self.searcher.scan(wrap(self.data)) == self.want
        assert self.searcher.count(wrap(self.data)) == 2
        assert list(self.searcher.find_iter(wrap(self.data))) == self.want

    def test_a_mapped_file_is_searched(self, tmp_path):
        path = tmp_path / "data"
        path.write_bytes(self.data)
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            assert self.searcher.scan(data) == self.want

    def test_numpy_arrays_of_any_shape_are_bytes(self, numpy):
        flat = numpy.frombuffer(self.data + b"-", dtype=numpy.uint8)
        assert self.searcher.scan(flat) == self.want
        assert self.searcher.scan(flat.reshape(3, 4)) == self.want
        assert self.searcher.scan(flat.view(numpy.uint32)) == self.want
        assert self.searcher.count(numpy.frombuffer(b"", dtype=numpy.uint8)) == 0

    def test_results_are_numpy_arrays(self, numpy):
        patterns, starts, ends = self.searcher.scan(self.data).to_numpy()
        assert (patterns.dtype, starts.dtype, ends.dtype) == ("uint32", "int64", "int64")
        assert list(zip(patterns.tolist(), starts.tolist(), ends.tolist())) == self.want
        starts += 1  # they may be changed
        assert [len(column) for column in self.searcher.scan(b"").to_numpy()] == [0, 0, 0]

    def test_scattered_bytes_are_refused(self, numpy):
        for scattered in (memoryview(self.data)[::2], numpy.zeros((4, 4), "u1")[:, 1]):
            with pytest.raises(BufferError, match="haystack is not contiguous"):
                self.searcher.scan(scattered)

    def test_arrays_without_text_are_refused(self, numpy):
        with pytest.raises(TypeError, match="array of objects"):
            self.searcher.count(numpy.array(["a"], dtype=object))
        with pytest.raises(TypeError, match="array of str"):
            self.searcher.count(numpy.array(["a"]))

    def test_an_iterator_keeps_its_buffer(self):
        data = bytearray(self.data)
        found = self.searcher.find_iter(data)
        with pytest.raises(BufferError):
            data.extend(b"more")
        assert list(found) == self.want
        del found
        data.extend(b"more")


class TestCallbacks:
    searcher = fyke.Searcher(["a"])

    def test_an_exception_ends_the_scan(self):
        seen = []

        def fail(pattern, start, end):
            seen.append(start)
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            self.searcher.scan("banana", fail)
        assert seen == [1]
        with pytest.raises(KeyError, match="mine"):
            self.searcher.scan("banana" * 1_000_000, fail)
        assert seen == [1, 1]

    def test_something_true_ends_the_scan(self):
        seen = []
        self.searcher.scan("banana", lambda p, s, e: seen.append(s) or s == 3)
        assert seen == [1, 3]

    def test_a_callback_may_search(self):
        inner = []
        self.searcher.scan("banana", lambda *m: inner.append(self.searcher.count("aaa")))
        assert inner == [3, 3, 3]

    def test_a_callback_is_a_function(self):
        with pytest.raises(TypeError, match="on_match is an int"):
            self.searcher.scan("banana", 1)

    def test_an_exception_in_a_replacement_is_raised(self):
        with pytest.raises(ZeroDivisionError):
            self.searcher.replace_all("banana", lambda id, text: 1 / 0)
        with pytest.raises(TypeError, match="what the function returns is an int"):
            self.searcher.replace_all("banana", lambda id, text: 1)

    def test_iterators_that_fail_are_heard(self):
        def patterns():
            yield "a"
            raise KeyError("mine")

        with pytest.raises(KeyError, match="mine"):
            fyke.Searcher(patterns())


class TestErrors:
    """Each says where, what, and what to do."""

    @pytest.mark.parametrize(
        ("arguments", "settings", "error", "message"),
        [
            (["abc"], {}, TypeError, r"patterns is a str: give a list"),
            ([b"abc"], {}, TypeError, r"patterns is a bytes: give a list"),
            ([3], {}, TypeError, "not iterable"),
            ([["a", ""]], {}, fyke.BuildError, "pattern 2 is empty.*leave it out"),
            ([["a", 3]], {}, TypeError, "pattern 2 is an int: give a str"),
            ([["a", None]], {}, TypeError, "pattern 2 is None"),
            ([["a" * 65_536]], {}, fyke.BuildError, "pattern 1 has 65536 bytes.*65535"),
            ([["a", "b"], [1]], {}, ValueError, "ids ends before pattern 2"),
            ([["a"], [1, 2]], {}, ValueError, "ids has more values"),
            ([["a"], [-1]], {}, OverflowError, "id 1 is -1: give a number from 0"),
            ([["a"], [1 << 32]], {}, OverflowError, "id 1 is 4294967296"),
            ([["a"], ["x"]], {}, TypeError, "id 1 is 'x'"),
            ([["a", "b"]], {"nocase": [True]}, ValueError, "nocase ends before pattern 2"),
            ([["a"]], {"nocase": [True, True]}, ValueError, "nocase has more values"),
            ([["a"]], {"nocase": 3}, TypeError, "nocase is an int"),
            ([["a"]], {"engine": "fast"}, fyke.BuildError, 'no engine named "fast"'),
            ([["a"]], {"match_kind": "left"}, ValueError, 'match_kind="left" is unknown: give'),
            ([["a"]], {"semantics": "some"}, ValueError, 'no match semantics "some": give one of'),
            ([["abcd"]], {"memory_limit": 1}, fyke.BuildError, "limit"),
            ([["a"]], {"threads": -1}, OverflowError, "negative"),
            ([["a"]], {"typo": 1}, TypeError, "typo"),
        ],
    )
    def test_bad_arguments(self, arguments, settings, error, message):
        with pytest.raises(error, match=message):
            fyke.Searcher(*arguments, **settings)

    def test_a_lone_surrogate_is_named(self):
        with pytest.raises(UnicodeEncodeError, match=r"position 3: haystack has a lone surrogate"):
            fyke.Searcher(["a"]).count("abc\udc80")
        with pytest.raises(UnicodeEncodeError, match="position 0: pattern 2 has a lone surrogate"):
            fyke.Searcher(["a", "\ud800"])

    @pytest.mark.parametrize("haystack", [3, None, ["a"], 1.5])
    def test_what_has_no_bytes_is_refused(self, haystack):
        searcher = fyke.Searcher(["a"])
        for call in (searcher.scan, searcher.count, searcher.is_match, searcher.find_iter):
            with pytest.raises(TypeError, match="haystack is .*: give a str, bytes"):
                call(haystack)

    def test_files_that_cannot_be_read_are_named(self, tmp_path):
        searcher = fyke.Searcher(["a"])
        for call in (searcher.scan_file, searcher.count_file, fyke.Searcher.load):
            with pytest.raises(FileNotFoundError) as caught:
                call(tmp_path / "absent")
            assert caught.value.filename == str(tmp_path / "absent")
            with pytest.raises(IsADirectoryError):
                call(tmp_path)

    def test_each_id_needs_a_replacement(self):
        searcher = fyke.Searcher(["a", "b"], [0, 7])
        with pytest.raises(ValueError, match="no replacement for the pattern with id 7"):
            searcher.replace_all("ab", ["x"])
        with pytest.raises(ValueError, match="id 0"):
            searcher.replace_all("ab", {7: "x"})
        with pytest.raises(TypeError, match="replacements is an int"):
            searcher.replace_all("ab", 3)
        with pytest.raises(TypeError, match="the replacement of id 1 is None"):
            fyke.Searcher(["a", "b"]).replace_all("ab", ["x", None])
        assert searcher.replace_all("ab", {0: "x", 7: "y"}) == "xy"
        assert searcher.replace_all("ab", "-") == "--"


class TestMatches:
    matches = fyke.Searcher(["a", "na"]).scan("banana")
    want = [(0, 1, 2), (1, 2, 4), (0, 3, 4), (1, 4, 6), (0, 5, 6)]

    def test_it_is_a_sequence(self):
        assert len(self.matches) == 5
        assert list(self.matches) == self.matches.to_list() == self.want
        assert self.matches[0] == self.want[0]
        assert self.matches[-1] == self.want[-1]
        for part in (slice(1, 3), slice(None, None, -1), slice(10, 20), slice(-2, None)):
            assert self.matches[part] == self.want[part]
        assert self.want[1] in self.matches
        assert repr(self.matches).startswith("Matches([(0, 1, 2), ")

    def test_bounds_are_checked(self):
        for at in (5, -6):
            with pytest.raises(IndexError, match="of 5"):
                self.matches[at]
        with pytest.raises(TypeError):
            self.matches["a"]

    def test_they_are_compared_by_value(self):
        again = fyke.Searcher(["a", "na"]).scan(b"banana")
        assert self.matches == again
        assert self.matches != fyke.Searcher(["a"]).scan("banana")
        assert self.matches != "banana"

    def test_a_long_one_is_shown_in_part(self):
        assert "... 100 in all" in repr(fyke.Searcher(["a"]).scan("a" * 100))

    def test_they_are_a_table(self, pyarrow):
        table = pyarrow.table(self.matches)
        assert table.column_names == ["pattern", "start", "end"]
        assert list(zip(*(column.to_pylist() for column in table.columns))) == self.want
        assert pyarrow.array(self.matches).to_pylist()[0] == {"pattern": 0, "start": 1, "end": 2}

    def test_they_are_a_data_frame(self, polars):
        assert polars.DataFrame(self.matches).rows() == self.want


class TestSaved:
    searcher = fyke.Searcher(["he", "SHE"], [5, 9], nocase=[False, True], semantics="once")

    def check(self, other):
        assert other.scan("ushers shehe") == self.searcher.scan("ushers shehe")
        assert other.semantics == "once"
        assert len(other) == 2

    def test_a_database_is_a_file(self, tmp_path):
        path = tmp_path / "set.fyke"
        fyke.Database(self.searcher).save(path)
        self.check(fyke.Database.load(path).searcher)
        self.check(fyke.Searcher.load(str(path), threads=2))
        assert list(tmp_path.iterdir()) == [path]
        path.write_bytes(path.read_bytes()[:-3])
        with pytest.raises(fyke.DatabaseError, match=r"set.fyke: the database is truncated"):
            fyke.Database.load(path)

    def test_a_database_is_bytes(self):
        data = self.searcher.to_bytes()
        self.check(fyke.Searcher.from_bytes(data))
        self.check(fyke.Searcher.from_bytes(memoryview(data)))
        with pytest.raises(fyke.DatabaseError, match="not a fyke database"):
            fyke.Searcher.from_bytes(b"x" * 1000)
        for at in range(0, len(data), 7):
            damaged = bytearray(data)
            damaged[at] ^= 0x55
            try:
                fyke.Searcher.from_bytes(damaged)
            except (fyke.DatabaseError, fyke.BuildError) as error:
                assert str(error)

    def test_it_is_pickled(self):
        self.check(pickle.loads(pickle.dumps(self.searcher)))
        threads = pickle.loads(pickle.dumps(fyke.Searcher(["a"], threads=3))).threads
        assert threads == 3

    def test_only_a_searcher_is_saved(self):
        with pytest.raises(TypeError, match="searcher is a list"):
            fyke.Database(["a"])

    def test_a_folder_that_is_missing_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            self.searcher.save(tmp_path / "absent" / "set.fyke")


def test_no_patterns_match_nothing():
    searcher = fyke.Searcher([])
    assert searcher.count("anything") == len(searcher.scan("anything")) == len(searcher) == 0
    assert not searcher.is_match("anything")
    assert list(searcher.find_iter("anything")) == []
    assert searcher.replace_all("anything", []) == "anything"


def test_a_searcher_tells_about_itself():
    searcher = fyke.Searcher(["ab", "CD"], nocase=[False, True], engine="ac-nfa", threads=2)
    assert "ac-nfa" in searcher.engine
    assert searcher.memory > 0
    assert searcher.threads == 2
    assert "ab" in searcher and "cd" in searcher and b"CD" in searcher and "AB" not in searcher
    assert "2 patterns" in repr(searcher)


def test_nothing_leaks():
    haystack = bytearray(b"needle" * 1000)
    before = sys.getrefcount(haystack)
    searcher = fyke.Searcher(["needle", "absent"])
    for _ in range(50):
        searcher.scan(haystack)
        next(searcher.find_iter(haystack))
        searcher.scan(haystack, lambda *m: True)
    assert sys.getrefcount(haystack) == before
    haystack.clear()
