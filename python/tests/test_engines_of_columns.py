"""The column functions within Polars, DuckDB and DataFusion: the rows are those of the package."""

import lzma
import os
import re

import fyke
import pytest
from conftest import ROOT, library, required

PATTERNS = ["he", "she", "hers", "ä"]
ROWS = ["ushers", None, "", "x", "Ähers ä HE", "she" * 40]


class TestPolars:
    @pytest.fixture
    def frame(self, polars):
        import fyke.polars  # noqa: F401

        return polars.DataFrame({"text": ROWS * 3}, schema={"text": polars.String})

    @pytest.fixture
    def words(self, polars):
        """Real text: lines of a book, and words of it."""
        import fyke.polars  # noqa: F401

        lines = lzma.open(ROOT / "data/text/kjv.txt.xz", "rt").read(400_000).splitlines()
        patterns = sorted({word for line in lines[:200] for word in line.split() if word.isalpha()})
        return polars.DataFrame({"text": lines}), patterns

    def test_rows_are_those_of_the_functions(self, frame, polars):
        text = polars.col("text").fyke
        names = ("contains_any", "count_matches", "find_many", "extract_first", "extract_many")
        for name in names:
            for settings in ({}, {"whole_words": True}, {"match_kind": "leftmost-longest"}):
                found = frame.select(getattr(text, name)(PATTERNS, **settings)).to_series()
                wanted = getattr(fyke, name)(frame["text"], PATTERNS, **settings)
                assert found.dtype == wanted.dtype and found.equals(wanted), (name, settings)
        positions = text.find_many(PATTERNS, positions="chars", overlapping=False)
        found = frame.select(positions).to_series()
        column = frame["text"]
        wanted = fyke.find_many(column, PATTERNS, positions="chars", overlapping=False)
        assert found.equals(wanted)

    @pytest.mark.parametrize(
        "replacements",
        ["_", ["1", "2", "", "ä"], dict.fromkeys(range(4), b"x"), lambda id, text: text * id],
    )
    def test_replacements(self, frame, polars, replacements):
        text = polars.col("text").fyke
        for settings in ({}, {"whole_words": True}, {"match_kind": "leftmost-longest"}):
            found = frame.select(text.replace_many(PATTERNS, replacements, **settings)).to_series()
            wanted = fyke.replace_many(frame["text"], PATTERNS, replacements, **settings)
            assert found.equals(wanted), settings

    def test_replacements_from_an_iterator_and_of_numpy(self, frame, polars):
        numpy = library("numpy")
        text = polars.col("text").fyke
        given = ["1", "2", "", "ä"]
        wanted = fyke.replace_many(frame["text"], PATTERNS, given)
        by_number = {numpy.uint32(id): part for id, part in enumerate(given)}
        for replacements in (iter(given), (part for part in given), by_number):
            found = frame.select(text.replace_many(PATTERNS, replacements)).to_series()
            assert found.equals(wanted)
        binary = frame.cast({"text": polars.Binary})
        with pytest.raises(Exception, match="a function replaces in strings"):
            binary.select(text.replace_many(PATTERNS, lambda id, part: part))

    def test_chunks_slices_and_types(self, frame, polars):
        text = polars.col("text").fyke
        many = polars.concat([frame, frame[1:2], frame[3:], frame.clear()], rechunk=False)
        queries = [
            text.count_matches(PATTERNS).alias("count"),
            text.extract_many(PATTERNS).alias("parts"),
        ]
        made = many[2:].select(queries)
        assert made.equals(many[2:].rechunk().select(queries))
        for kind in (polars.Categorical, polars.Enum([row for row in ROWS if row is not None])):
            assert many.cast({"text": kind})[2:].select(queries).equals(made), kind
        parts = [None if row is None else [part.encode() for part in row] for row in made["parts"]]
        binary = many.cast({"text": polars.Binary})[2:].select(queries)
        assert binary["parts"].dtype == polars.List(polars.Binary)
        assert binary["parts"].to_list() == parts

    def test_whole_words_are_those_of_re(self, words, polars):
        frame, patterns = words
        patterns = patterns[::7] + ["t", "he", "ing"]
        text = polars.col("text").fyke
        settings = {"whole_words": True, "match_kind": "leftmost-longest"}
        found = frame.select(text.extract_many(patterns, **settings)).to_series()
        longest = sorted(patterns, key=len, reverse=True)
        expression = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
        assert found.to_list() == [expression.findall(line) for line in frame["text"]]
        counts = frame.select(text.count_matches(patterns, whole_words=True)).to_series()
        assert counts.to_list() == [len(row) for row in found]
        assert counts.sum() > 1000

    def test_a_plan_is_sent_to_another_process(self, frame, polars):
        import multiprocessing

        query = frame.lazy().select(polars.col("text").fyke.count_matches(PATTERNS))
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            assert pool.apply(query.collect).equals(query.collect())

    def test_many_threads_and_groups(self, words, polars):
        frame, patterns = words
        text = polars.col("text").fyke
        frame = polars.concat([frame] * 20, rechunk=False)
        frame = frame.with_columns(key=polars.int_range(polars.len()) % 7)
        counts = frame.select(text.count_matches(patterns)).to_series()
        # More expressions than searchers that are kept.
        many = [text.count_matches(patterns[: 20 * n]).alias(f"{n}") for n in range(1, 20)]
        made = frame.lazy().select(many).collect(engine="streaming")
        assert made.equals(frame.select(many))
        by_key = frame.group_by("key").agg(text.count_matches(patterns).sum()).sort("key")
        wanted = [counts.gather_every(7, offset).sum() for offset in range(7)]
        assert by_key["text"].to_list() == wanted

    def test_lazy_and_streaming_queries(self, frame, polars):
        query = frame.lazy().select(
            polars.col("text").fyke.contains_any(PATTERNS).alias("has"),
            polars.col("text").fyke.find_many(PATTERNS).alias("found"),
            polars.col("text").fyke.extract_many(PATTERNS).alias("parts"),
            polars.col("text").fyke.count_matches(PATTERNS).alias("count"),
        )
        made = query.collect()
        assert made.schema == query.collect_schema()
        assert query.collect(engine="streaming").equals(made)
        chosen = frame.lazy().filter(polars.col("text").fyke.contains_any(["x"]))
        assert chosen.collect().height == 3

    def test_an_empty_column(self, frame, polars):
        none = frame.clear().select(polars.col("text").fyke.extract_many(PATTERNS))
        assert none.schema == {"text": polars.List(polars.String)} and none.height == 0

    @pytest.mark.parametrize("nocase", [False, True])
    def test_polars_itself_gives_the_same(self, words, polars, nocase):
        frame, patterns = words
        text, own = polars.col("text").fyke, polars.col("text").str
        theirs = {"ascii_case_insensitive": nocase}
        pairs = [
            (text.contains_any(patterns, nocase=nocase), own.contains_any(patterns, **theirs)),
            (
                text.extract_many(patterns, overlapping=True, nocase=nocase).list.sort(),
                own.extract_many(patterns, overlapping=True, **theirs).list.sort(),
            ),
            (
                text.extract_many(patterns, match_kind="leftmost-first", nocase=nocase),
                own.extract_many(patterns, leftmost=True, **theirs),
            ),
            (text.extract_many(patterns, nocase=nocase), own.extract_many(patterns, **theirs)),
            (
                text.replace_many(patterns, "_", match_kind="leftmost-first", nocase=nocase),
                own.replace_many(patterns, ["_"], leftmost=True, **theirs),
            ),
            (
                text.replace_many(patterns, patterns[::-1], nocase=nocase),
                own.replace_many(patterns, patterns[::-1], **theirs),
            ),
        ]
        for mine, other in pairs:
            left, right = frame.select(mine).to_series(), frame.select(other).to_series()
            assert left.equals(right), (mine, other)
            assert left.null_count() == 0
        assert frame.select(pairs[0][0].sum()).item() > 1000

    def test_wrong_arguments_are_named(self, frame, polars):
        with pytest.raises(fyke.BuildError, match="pattern 1 is empty"):
            polars.col("text").fyke.contains_any([""])
        with pytest.raises(TypeError, match="nocase: patterns is a Searcher"):
            polars.col("text").fyke.contains_any(fyke.Searcher(["a"]), nocase=True)
        with pytest.raises(ValueError, match="positions"):
            polars.col("text").fyke.find_many(["a"], positions="words")
        with pytest.raises(ValueError, match="no replacement for the pattern with id 1"):
            polars.col("text").fyke.replace_many(["a", "b"], ["x"])
        number = polars.DataFrame({"n": [1]})
        with pytest.raises(polars.exceptions.ComputeError, match="Int64: give a column of strings"):
            number.select(polars.col("n").fyke.contains_any(["a"]))
        cut = polars.col("text").fyke.extract_first(["ä".encode()[:1]])
        with pytest.raises(polars.exceptions.ComputeError, match="row 4 .* cuts a character"):
            frame.select(cut)


def extension():
    """The extension for DuckDB, or the skip or failure for want of it."""
    path = os.environ.get("FYKE_DUCKDB_EXTENSION")
    if path is None:
        assert "duckdb" not in required(), "FYKE_DUCKDB_EXTENSION names no file"
        pytest.skip("FYKE_DUCKDB_EXTENSION names no file: cargo xtask duckdb builds it")
    return path


class TestDuckDB:
    """The functions of the package, and those of the extension."""

    @pytest.fixture(params=["package", "extension"])
    def connection(self, request):
        duckdb = library("duckdb")
        if request.param == "package":
            library("pyarrow")
            import fyke.duckdb

            connection = duckdb.connect()
            fyke.duckdb.register(connection)
        else:
            connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
            connection.load_extension(extension())
        connection.execute("CREATE TABLE t (n INTEGER, text VARCHAR)")
        connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(ROWS)))
        yield connection
        connection.close()

    def test_rows_are_those_of_the_functions(self, connection, database):
        for name, function in [
            ("fyke_contains_any", fyke.contains_any),
            ("fyke_count", fyke.count_matches),
        ]:
            query = f"SELECT {name}(text, ?) FROM t ORDER BY n"
            found = [row[0] for row in connection.execute(query, [database]).fetchall()]
            assert found == function(ROWS, PATTERNS).to_pylist()
        query = "SELECT fyke_find(text, ?) FROM t ORDER BY n"
        found = [row[0] for row in connection.execute(query, [database]).fetchall()]
        tuples = [None if r is None else [tuple(m.values()) for m in r] for r in found]
        assert tuples == fyke.find_many(ROWS, PATTERNS).to_pylist()

    def test_many_vectors_and_filters(self, connection, database):
        query = "SELECT count(*) FROM range(10000) r(i) WHERE fyke_contains_any('s' || i, ?)"
        assert connection.execute(query, [database]).fetchone() == (0,)
        query = query.replace("'s'", "'she'")
        assert connection.execute(query, [database]).fetchone() == (10000,)
        # Rows so long that the search of each ends at its first match.
        query = query.replace("10000", "5").replace("'she'", "repeat('-', 9000 + 3 * i::INTEGER)")
        assert connection.execute(query, [database]).fetchone() == (0,)
        query = query.replace("|| i", "|| 'he'")
        assert connection.execute(query, [database]).fetchone() == (5,)

    def test_errors_are_named(self, connection, tmp_path, database):
        query = "SELECT fyke_count(text, ?) FROM t"
        with pytest.raises(Exception, match="absent"):
            connection.execute(query, [str(tmp_path / "absent")]).fetchall()
        (tmp_path / "bad").write_bytes(b"no database")
        with pytest.raises(Exception, match="bad: "):
            connection.execute(query, [str(tmp_path / "bad")]).fetchall()

    def test_a_database_that_was_replaced_is_loaded_again(self, connection, tmp_path):
        path = str(tmp_path / "p.fyke")
        for pattern, want in [("ushers", 1), ("absent", 0)]:
            fyke.Searcher([pattern]).save(path)
            # A coarse clock may give both files one time.
            os.utime(path, ns=(0, 0))
            query = "SELECT sum(fyke_count(text, ?)) FROM t"
            assert connection.execute(query, [path]).fetchone() == (want,)

    @pytest.mark.parametrize("connection", ["package"], indirect=True)
    def test_the_package_takes_one_path(self, connection):
        with pytest.raises(Exception, match="give one path for all rows"):
            connection.execute("SELECT fyke_count(text, text) FROM t").fetchall()

    @pytest.mark.parametrize("connection", ["extension"], indirect=True)
    def test_its_page_says_what_it_does(self, connection, tmp_path, monkeypatch):
        page = (ROOT / "docs/duckdb.md").read_text()
        lines = re.findall(r"^(SELECT .*); -- (.*)$", page, re.MULTILINE)
        assert len(lines) == 4
        monkeypatch.chdir(tmp_path)
        fyke.Searcher(["he", "she", "hers"]).save("words.fyke")
        for query, want in lines:
            found = connection.execute(f"SELECT x::VARCHAR FROM ({query}) t(x)").fetchall()
            assert found == [(want,)], query

    @pytest.mark.parametrize("connection", ["extension"], indirect=True)
    def test_the_extension_takes_a_path_per_row(self, connection, tmp_path):
        paths = [str(tmp_path / name) for name in ("he", "us")]
        fyke.Searcher(["he"]).save(paths[0])
        fyke.Searcher(["us", "u"]).save(paths[1])
        rows = (
            "SELECT i, CASE WHEN i % 3 > 0 THEN [?, ?][i % 2 + 1] END AS path"
            " FROM range(5000) r(i)"
        )
        calls = "fyke_count('ushers', path), fyke_find('ushers', path)"
        query = f"SELECT {calls} FROM ({rows}) ORDER BY i"
        found = connection.execute(query, paths).fetchall()
        of_each = [
            [{"pattern": 0, "start": 2, "end": 4}],
            [{"pattern": 1, "start": 0, "end": 1}, {"pattern": 0, "start": 0, "end": 2}],
        ]
        for number, row in enumerate(found):
            want = of_each[number % 2]
            assert row == ((len(want), want) if number % 3 else (None, None)), number
        assert len(found) == 5000

    @pytest.mark.parametrize("connection", ["extension"], indirect=True)
    def test_the_extension_takes_blobs(self, connection, tmp_path):
        path = str(tmp_path / "bytes")
        fyke.Searcher([b"\0\xff", b"\xff"]).save(path)
        query = "SELECT fyke_count(x, ?), fyke_contains_any(x, ?), fyke_find(x, ?) FROM (VALUES"
        query += " ('\\x00\\xFF'::BLOB), (''::BLOB), (NULL)) v(x)"
        assert connection.execute(query, [path] * 3).fetchall() == [
            (2, True, [{"pattern": 0, "start": 0, "end": 2}, {"pattern": 1, "start": 1, "end": 2}]),
            (0, False, []),
            (None, None, None),
        ]

    @pytest.mark.parametrize("connection", ["extension"], indirect=True)
    def test_many_matches_on_many_threads(self, connection, tmp_path):
        """Each row has other matches than its neighbors, and some chunks have none."""
        path = str(tmp_path / "a")
        fyke.Searcher(["a", "aa"]).save(path)
        connection.execute("SET threads = 4")
        query = """
            SELECT count(*), sum(len(found)),
                   sum(list_sum(list_transform(found, lambda m: m.start)))
            FROM (SELECT fyke_find(repeat('a', (i % 50)::INTEGER), ?) AS found
                  FROM range(300000) r(i) WHERE i % 100000 < 50000)
        """
        lengths = [i % 50 for i in range(300000) if i % 100000 < 50000]
        matches = sum(n + max(n - 1, 0) for n in lengths)
        starts = sum(n * (n - 1) // 2 + max(n - 1, 0) * (n - 2) // 2 for n in lengths)
        found = connection.execute(query, [path]).fetchone()
        assert found == (len(lengths), matches, starts)


class TestDataFusion:
    @pytest.fixture
    def context(self):
        pyarrow, datafusion = library("pyarrow"), library("datafusion")
        import fyke.datafusion

        context = datafusion.SessionContext()
        fyke.datafusion.register(context)
        texts = pyarrow.table({"n": range(len(ROWS)), "text": pyarrow.array(ROWS, "string")})
        context.from_arrow(texts, name="t")
        return context

    def rows(self, context, query):
        table = context.sql(query).to_arrow_table()
        return [tuple(row.values()) for row in table.to_pylist()]

    def test_rows_are_those_of_the_functions(self, context, database):
        for name, function in [
            ("fyke_contains_any", fyke.contains_any),
            ("fyke_count", fyke.count_matches),
        ]:
            found = self.rows(context, f"SELECT {name}(text, '{database}') FROM t ORDER BY n")
            assert [row[0] for row in found] == function(ROWS, PATTERNS).to_pylist()
        found = self.rows(context, f"SELECT fyke_find(text, '{database}') FROM t ORDER BY n")
        tuples = [None if r is None else [tuple(m.values()) for m in r] for (r,) in found]
        assert tuples == fyke.find_many(ROWS, PATTERNS).to_pylist()

    def test_a_scan_is_a_table(self, context, database, tmp_path):
        made = tmp_path / "objects"
        made.mkdir()
        (made / "a").write_bytes(b"ushers")
        (made / "b").write_bytes(b"he")
        query = f'SELECT path, "offset", pattern FROM fyke_scan(\'{database}\', \'{made}\')'
        query += " ORDER BY path, 2, 3"
        want = [(f"{made}/a", 1, 1), (f"{made}/a", 2, 0), (f"{made}/a", 2, 2), (f"{made}/b", 0, 0)]
        assert self.rows(context, query) == want
        both = f"fyke_scan('{database}', '{made}/a', '{made}/b')"
        query = f"SELECT count(*) FROM {both} WHERE pattern = 0"
        assert self.rows(context, query) == [(2,)]

    def test_errors_are_named(self, context, database, tmp_path):
        with pytest.raises(Exception, match="absent"):
            self.rows(context, f"SELECT * FROM fyke_scan('{tmp_path}/absent', 'x')")
        with pytest.raises(Exception, match="absent: there is no such file or folder"):
            self.rows(context, f"SELECT * FROM fyke_scan('{database}', '{tmp_path}/absent')")
        with pytest.raises(Exception, match="nothing to scan"):
            self.rows(context, f"SELECT * FROM fyke_scan('{database}')")
