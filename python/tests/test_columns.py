"""The column functions: every layout of Arrow, every library, against the naive search."""

import fyke
import oracle
import pytest

PATTERNS = ["he", "she", "hers", "é", "xx"]
ROWS = ["ushers", None, "é he", "", "x" * 40, "naïve she 😀 he", None]


def expected(patterns, rows):
    return [None if row is None else oracle.all_matches(patterns, row) for row in rows]


def in_bytes(rows):
    return [None if row is None else row.encode() for row in rows]


def lists(column):
    """A result as lists of tuples, from any library."""
    rows = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    def row_of(row):
        if row is None or row is getattr(__import__("sys").modules.get("pandas"), "NA", None):
            return None
        return [tuple(m.values()) if isinstance(m, dict) else tuple(m) for m in row]
    return [row_of(row) for row in rows]


def check(column, rows, patterns):
    """All functions, on a column whose rows are known."""
    want = expected(patterns, rows)
    searcher = fyke.Searcher(patterns)
    plain = fyke.find_many(column, searcher)
    assert lists(plain) == want
    counts = fyke.count_matches(column, searcher)
    assert values(counts) == [None if w is None else len(w) for w in want]
    contains = fyke.contains_any(column, searcher)
    assert values(contains) == [None if w is None else bool(w) for w in want]
    kind = "leftmost-longest"
    selected = [
        None if row is None else oracle.not_overlapping(patterns, row, kind) for row in rows
    ]
    searcher = fyke.Searcher(patterns, match_kind=kind)
    found = fyke.find_many(column, searcher, overlapping=False)
    assert lists(found) == selected
    counts = fyke.count_matches(column, searcher, overlapping=False)
    assert values(counts) == [None if w is None else len(w) for w in selected]
    first = [None if not w else row[w[0][1] : w[0][2]] for row, w in zip(rows, selected)]
    assert values(fyke.extract_first(column, searcher)) == first
    marks = [f"<{number}>" for number in range(len(patterns))]
    if rows and isinstance(next((r for r in rows if r is not None), ""), bytes):
        marks = [mark.encode() for mark in marks]
    replaced = [
        None if row is None else oracle.replaced(patterns, row, kind, marks) for row in rows
    ]
    assert values(fyke.replace_many(column, searcher, marks)) == replaced
    by_call = fyke.replace_many(column, searcher, lambda id, text: marks[id])
    assert values(by_call) == replaced


def values(column):
    """A result as plain values, from any library."""
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    if hasattr(column, "to_list"):
        missing = getattr(__import__("sys").modules.get("pandas"), "NA", None)
        return [None if value is missing else value for value in column.to_list()]
    return list(column)


class TestLists:
    def test_of_bytes(self):
        check(in_bytes(ROWS), in_bytes(ROWS), [p.encode() for p in PATTERNS])

    def test_of_str_have_byte_positions_unless_asked(self):
        rows = ["é he", None, "he"]
        assert fyke.find_many(rows, ["he"]).to_pylist() == [[(0, 3, 5)], None, [(0, 0, 2)]]
        found = fyke.find_many(rows, ["he"], positions="chars")
        assert found.to_pylist() == [[(0, 2, 4)], None, [(0, 0, 2)]]

    def test_random_ones(self, rng):
        for _ in range(150):
            patterns, _ = oracle.case(rng, b"ab")
            rows = [
                None if rng.random() < 0.2 else oracle.case(rng, b"abc", haystack=30)[1]
                for _ in range(rng.randint(0, 30))
            ]
            check(rows, rows, patterns)

    def test_character_positions_of_random_ones(self, rng):
        for _ in range(150):
            patterns, _ = oracle.case(rng, "aé漢")
            rows = [oracle.case(rng, "aé漢b")[1] for _ in range(rng.randint(0, 20))]
            found = fyke.find_many(rows, patterns, positions="chars")
            assert found.to_pylist() == expected(patterns, rows)

    def test_missing_values_are_null(self, pandas):
        rows = ["he", None, float("nan"), pandas.NA, "x"]
        assert fyke.contains_any(rows, ["he"]).to_pylist() == [True, None, None, None, False]
        assert fyke.contains_any(rows, ["he"]).null_count == 3

    def test_of_nothing(self):
        for rows in ([], [None], [None, None]):
            assert fyke.find_many(rows, ["he"]).to_pylist() == rows
            assert fyke.extract_first(rows, ["he"]).to_pylist() == rows
            assert fyke.replace_many(rows, ["he"], "x").to_pylist() == rows

    def test_with_many_rows_on_threads(self, rng):
        rows = [oracle.case(rng, "ab ", haystack=20)[1] for _ in range(30_000)]
        patterns = ["ab", "b a", "aab", "bbbb"]
        want = expected(patterns, rows)
        for threads in (1, 3):
            found = fyke.find_many(rows, patterns, threads=threads)
            assert found.to_pylist() == want
            counts = fyke.count_matches(rows, patterns, threads=threads)
            assert counts.to_pylist() == [len(w) for w in want]

    def test_with_long_rows(self, rng):
        rows = [b"ab" * rng.randint(0, 100_000) for _ in range(40)]
        counts = fyke.count_matches(rows, [b"aba"]).to_pylist()
        assert counts == [max(len(row) // 2 - 1, 0) for row in rows]
        contains = fyke.contains_any([*rows, None, b"ab" * 5000], [b"aba"]).to_pylist()
        assert contains == [*(count > 0 for count in counts), None, True]


class TestPyarrow:
    def kinds(self, pyarrow):
        return [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]

    def test_every_layout(self, pyarrow):
        for kind in self.kinds(pyarrow):
            rows = in_bytes(ROWS)
            column = pyarrow.array(ROWS, kind)
            found = fyke.find_many(column, PATTERNS)
            assert lists(found) == expected([p.encode() for p in PATTERNS], rows)
            binary = {"string": "binary"}.get(str(kind), str(kind).replace("string", "binary"))
            column = pyarrow.array(rows, getattr(pyarrow, binary)())
            check(column, rows, [p.encode() for p in PATTERNS])

    def test_ascii_strings(self, pyarrow):
        rows = ["ushers", None, "", "he", None, "she hers he"]
        for kind in self.kinds(pyarrow):
            check(pyarrow.array(rows, kind), rows, ["he", "she", "hers"])

    def test_chunks_and_slices(self, pyarrow, rng):
        rows = [None if rng.random() < 0.3 else "she hers"[: rng.randint(0, 8)] for _ in range(99)]
        chunks = pyarrow.chunked_array([rows[:10], [], rows[10:50], rows[50:]])
        check(chunks, rows, ["he", "she", "hers"])
        for at, length in ((0, 0), (3, 40), (9, 2), (60, 39)):
            check(chunks.slice(at, length), rows[at : at + length], ["he", "she", "hers"])
            array = pyarrow.array(rows).slice(at, length)
            check(array, rows[at : at + length], ["he", "she", "hers"])

    def test_dictionaries(self, pyarrow):
        rows = ["she", None, "he", "she", "", "he"]
        check(pyarrow.array(rows).dictionary_encode(), rows, ["he", "she"])
        null_value = pyarrow.DictionaryArray.from_arrays([0, 1, None], ["he", None])
        assert fyke.count_matches(null_value, ["he"]).to_pylist() == [1, None, None]
        empty = pyarrow.DictionaryArray.from_arrays(pyarrow.array([None, None], "int8"), [])
        assert fyke.count_matches(empty, ["he"]).to_pylist() == [None, None]

    def test_values_in_null_rows_do_not_match(self, pyarrow):
        offsets = pyarrow.py_buffer(memoryview(__import__("array").array("i", [0, 2, 4, 6])))
        valid = pyarrow.py_buffer(b"\x05")
        column = pyarrow.Array.from_buffers(
            pyarrow.string(), 3, [valid, offsets, pyarrow.py_buffer(b"hehehe")]
        )
        assert lists(fyke.find_many(column, ["he"])) == [[(0, 0, 2)], None, [(0, 0, 2)]]
        assert fyke.replace_many(column, ["he"], "x").to_pylist() == ["x", None, "x"]
        assert fyke.count_matches(column, ["he", "eh"]).to_pylist() == [1, None, 1]

    def test_a_match_never_spans_rows(self, pyarrow):
        column = pyarrow.array(["s", "he", "h", "e"])
        assert fyke.count_matches(column, ["she", "he"]).to_pylist() == [0, 1, 0, 0]

    def test_all_null_and_fixed_size(self, pyarrow):
        nulls = pyarrow.nulls(3)
        assert fyke.contains_any(nulls, ["a"]).to_pylist() == [None] * 3
        fixed = pyarrow.array([b"abcd", None, b"bcda"], pyarrow.binary(4))
        check(fixed, [b"abcd", None, b"bcda"], [b"cd", b"a"])

    def test_the_result_is_of_pyarrow(self, pyarrow):
        array = pyarrow.array(["he"])
        assert isinstance(fyke.contains_any(array, ["he"]), pyarrow.BooleanArray)
        chunked = pyarrow.chunked_array([["he"]])
        assert isinstance(fyke.contains_any(chunked, ["he"]), pyarrow.ChunkedArray)
        for result in (
            fyke.find_many(array, ["he"]),
            fyke.extract_first(array, ["he"]),
            fyke.replace_many(array, ["he"], "x"),
            fyke.count_matches(array, ["he"]),
        ):
            result.validate(full=True)

    def test_other_types_are_refused(self, pyarrow):
        for column, kind in (
            (pyarrow.array([1, 2]), "Int64"),
            (pyarrow.array([["a"]]), "List"),
            (pyarrow.array([1]).dictionary_encode(), "Dictionary"),
        ):
            with pytest.raises(TypeError, match=f"the column has type {kind}.*strings or binary"):
                fyke.contains_any(column, ["a"])
        with pytest.raises(TypeError, match="give one column of the table"):
            fyke.contains_any(pyarrow.table({"a": ["x"]}), ["a"])

    def test_a_capsule_is_used_once(self, pyarrow):
        class Twice:
            def __init__(self, column):
                self.capsules = column.__arrow_c_array__()

            def __arrow_c_array__(self, requested_schema=None):
                return self.capsules

        column = Twice(pyarrow.array(["he"]))
        assert fyke.contains_any(column, ["he"]).to_pylist() == [True]
        with pytest.raises((TypeError, ValueError)):
            fyke.contains_any(column, ["he"])

    def test_a_producer_that_fails_is_heard(self, pyarrow):
        class Failing:
            def __arrow_c_stream__(self, requested_schema=None):
                def batches():
                    yield pyarrow.record_batch({"a": ["x"]})
                    raise RuntimeError("mine")

                schema = pyarrow.schema({"a": pyarrow.string()})
                reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
                return reader.__arrow_c_stream__()

        with pytest.raises(ValueError, match="the column cannot be read.*mine"):
            fyke.contains_any(Failing(), ["x"])


class TestPolars:
    def test_series(self, polars):
        rows = in_bytes(ROWS)
        want = expected([p.encode() for p in PATTERNS], rows)
        found = fyke.find_many(polars.Series("text", ROWS), PATTERNS)
        assert isinstance(found, polars.Series)
        assert found.name == "text"
        assert lists(found.to_list()) == want
        check(polars.Series(rows), rows, [p.encode() for p in PATTERNS])
        ascii_rows = ["ushers", None, "", "she hers he"]
        check(polars.Series(ascii_rows), ascii_rows, ["he", "she", "hers"])
        categories = polars.Series(ascii_rows, dtype=polars.Categorical)
        assert fyke.count_matches(categories, ["he"]).to_list() == [1, None, 0, 3]

    def test_its_own_functions_agree(self, polars, rng):
        for _ in range(50):
            patterns, _ = oracle.case(rng, "abé")
            rows = [
                None if rng.random() < 0.1 else oracle.case(rng, "abé ")[1] for _ in range(40)
            ]
            column = polars.Series(rows, dtype=polars.String)
            ours = fyke.contains_any(column, patterns)
            assert ours.to_list() == column.str.contains_any(patterns).to_list()
            for leftmost in (False, True):
                kind = "leftmost-first" if leftmost else "standard"
                searcher = fyke.Searcher(patterns, match_kind=kind)
                marks = [str(number) for number in range(len(patterns))]
                ours = fyke.replace_many(column, searcher, marks).to_list()
                assert ours == column.str.replace_many(patterns, marks, leftmost=leftmost).to_list()
                found = fyke.find_many(column, searcher, overlapping=False).to_list()
                theirs = column.str.extract_many(patterns, leftmost=leftmost).to_list()
                ours = [
                    row and [rows[at].encode()[m["start"] : m["end"]].decode() for m in row]
                    for at, row in enumerate(found)
                ]
                assert ours == theirs

    def test_a_frame_is_refused(self, polars):
        with pytest.raises(TypeError, match="one column of the table"):
            fyke.contains_any(polars.DataFrame({"a": ["x"]}), ["x"])


class TestPandas:
    def test_series_of_every_dtype(self, pandas, pyarrow):
        rows = ["ushers", None, "", "she hers he"]
        dtypes = [object, "str", "string", pandas.ArrowDtype(pyarrow.string())]
        for dtype in dtypes:
            column = pandas.Series(rows, index=[5, 6, 7, 8], name="text", dtype=dtype)
            check(column, rows, ["he", "she", "hers"])
            found = fyke.contains_any(column, ["he"])
            assert isinstance(found, pandas.Series)
            assert list(found.index) == [5, 6, 7, 8]
            assert found.name == "text"

    def test_an_index(self, pandas):
        found = fyke.contains_any(pandas.Index(["he", "x"]), ["he"])
        assert found.to_list() == [True, False]


class TestErrors:
    @pytest.mark.parametrize("call", [fyke.contains_any, fyke.count_matches, fyke.find_many])
    def test_what_is_no_column_is_refused(self, call):
        with pytest.raises(TypeError, match="the column is a str: give a column or a list"):
            call("text", ["a"])
        with pytest.raises(TypeError, match="the column is an int"):
            call(3, ["a"])
        with pytest.raises(TypeError, match="row 1 of the column is an int"):
            call(["a", 1], ["a"])
        with pytest.raises(TypeError, match="row 1 of the column is not of the type"):
            call(["a", b"a"], ["a"])

    def test_a_surrogate_is_named(self):
        with pytest.raises(UnicodeEncodeError, match="row 1 of the column has a lone surrogate"):
            fyke.contains_any(["a", "b\udc80"], ["a"])

    def test_a_searcher_has_its_settings(self):
        with pytest.raises(TypeError, match="nocase: patterns is a Searcher"):
            fyke.contains_any(["a"], fyke.Searcher(["a"]), nocase=True)
        assert fyke.contains_any(["A"], ["a"], nocase=True).to_pylist() == [True]

    def test_a_result_that_is_no_text_is_refused(self):
        cut = "é".encode()[1:]
        with pytest.raises(ValueError, match="row 1 of the column: .* cuts a character"):
            fyke.extract_first(["a", "é"], [cut])
        with pytest.raises(ValueError, match="row 1 of the column: .* cuts a character"):
            fyke.replace_many(["a", "é"], [cut], "x")
        assert fyke.replace_many(["é".encode()], [cut], "x").to_pylist() == [b"\xc3x"]

    def test_positions(self):
        with pytest.raises(ValueError, match="needs a column of strings"):
            fyke.find_many([b"a"], ["a"], positions="chars")

    def test_an_exception_of_a_replacement_is_raised(self):
        with pytest.raises(ZeroDivisionError):
            fyke.replace_many(["a"], ["a"], lambda id, text: 1 / 0)


def test_a_result_is_a_sequence():
    column = fyke.count_matches(["a", None, "aa"], ["a"])
    assert len(column) == 3
    assert list(column) == [1, None, 2]
    assert column[-1] == 2
    assert column.null_count == 1
    assert repr(column) == "<fyke.Column: 3 rows of UInt64>"
    for row in (3, -4):
        with pytest.raises(IndexError, match="of 3"):
            column[row]


def test_whole_words_have_the_letters_of_their_type():
    rows = ["hé h", "h"]
    settings = {"whole_words": True}
    assert fyke.count_matches(rows, ["h"], **settings).to_pylist() == [1, 1]
    # Bytes beyond ASCII are no letters of binary values.
    binary = [row.encode() for row in rows]
    assert fyke.count_matches(binary, ["h"], **settings).to_pylist() == [2, 1]
    assert fyke.contains_any(rows, ["é"], **settings).to_pylist() == [False, False]
    assert fyke.extract_first(rows, ["h"], **settings).to_pylist() == ["h", "h"]
    assert fyke.replace_many(rows, ["h"], "_", **settings).to_pylist() == ["hé _", "_"]
    found = fyke.find_many(rows, ["h"], positions="chars", **settings)
    assert found.to_pylist() == [[(0, 3, 4)], [(0, 0, 1)]]


def test_rows_with_many_matches_are_searched_one_by_one():
    # More rows than tell whether matches are dense, dense ones first and last.
    rows = ["aaaa"] * 5_000 + ["b"] * 20_000 + [None, "aaaa", "x", "ba"] * 1_000
    wanted = [None if row is None else "a" in row for row in rows]
    assert fyke.contains_any(rows, ["a", "aa"]).to_pylist() == wanted
    assert fyke.contains_any(rows, ["a", "aa"], threads=3).to_pylist() == wanted


@pytest.mark.parametrize("kind", ["standard", "leftmost-first", "leftmost-longest"])
def test_dense_matches_are_those_of_each_row(kind, rng):
    patterns = ["a", "ab", "abc", "b", "ca", "a", "cab c"]
    searcher = fyke.Searcher(patterns, ids=[4, 9, 2, 7, 2, 1, 3], match_kind=kind)
    rows = ["".join(rng.choices("abc ", k=rng.randint(0, 60))) for _ in range(300)]
    rows[100], rows[101] = None, ""
    want = [None if row is None else list(searcher.find_iter(row)) for row in rows]
    for begin in (0, 90):
        found = fyke.find_many(rows[begin:], searcher, overlapping=False)
        assert found.to_pylist() == want[begin:]
    assert sum(map(len, filter(None, want))) > 2000
    sparse = ["-" * 40] * 40 + rows
    found = fyke.find_many(sparse, searcher, overlapping=False)
    assert found.to_pylist() == [[]] * 40 + want
