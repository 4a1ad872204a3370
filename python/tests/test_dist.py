"""Scans in tasks: any division, and a worker that dies, give the rows of one scan."""

import bz2
import collections
import gzip
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import fyke
import fyke.dist
import oracle
import pytest
from conftest import library, rows_of
from fyke.dist import __main__ as command
from fyke.dist import counts, local

PATTERNS = [b"she", b"hers", b"he", b"e\n", b"hers and"]


@pytest.fixture(autouse=True)
def _pyarrow():
    library("pyarrow")


@pytest.fixture
def folder(tmp_path):
    """Some objects, of which some are compressed, and their contents."""
    made = tmp_path / "objects"
    (made / "sub").mkdir(parents=True)
    contents = {
        "a.txt": b"ushers and hers\nshe",
        "empty": b"",
        "sub/b.bin": b"\x00he" * 40,
        "sub/c.txt.gz": b"she\n" * 30,
        "sub/d.bz2": b"hers and she\n" * 9,
    }
    for name, data in contents.items():
        packed = {".gz": gzip.compress, ".bz2": bz2.compress}.get(os.path.splitext(name)[1], bytes)
        (made / name).write_bytes(packed(data))
    return made, contents


def expected(folder, contents):
    """The rows, from the naive search."""
    return [
        (str(folder / name), start, pattern)
        for name in sorted(contents)
        for pattern, start, _ in oracle.all_matches(PATTERNS, contents[name])
    ]


LONGEST = max(map(len, PATTERNS))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 8, 9, 64, 64 << 20])
def test_ranges_of_any_size_give_the_same_rows(folder, database, size):
    made, contents = folder
    tasks = fyke.dist.make_plan([str(made)], database, LONGEST, size)
    assert rows_of(local.run(tasks, 1)) == expected(made, contents)
    assert sum(task.count() for task in tasks.tasks) == len(expected(made, contents))


def test_sums_are_made_while_counts_come(monkeypatch):
    import pyarrow

    monkeypatch.setattr(counts, "SUM_ROWS", 10)
    sums = counts.Sums()
    for number in range(100):
        columns = [["b", "a"], [number % 7, 3], [1, number]]
        sums.add(pyarrow.record_batch(columns, schema=counts.schema()))
        assert len(sums._parts) <= 20
    want = [("a", 3, 4950), *(("b", n, 100 // 7 + (n < 100 % 7)) for n in range(7))]
    assert rows_of([sums.table()]) == want


def test_processes_give_the_same_rows(folder, database):
    made, contents = folder
    tasks = fyke.dist.make_plan([str(made)], database, LONGEST, 7)
    assert rows_of(local.run(tasks, 3)) == expected(made, contents)


def test_large_ranges_have_many_batches(tmp_path, database):
    path = tmp_path / "large"
    path.write_bytes(b"he" * 3_000_000)
    tasks = fyke.dist.make_plan([str(path)], database, LONGEST, 4 << 20)
    batches = list(local.run(tasks, 1))
    assert len(batches) > len(tasks.tasks) == 2
    offsets = [offset for batch in batches for offset in batch["offset"].to_pylist()]
    assert offsets == list(range(0, 6_000_000, 2))


def test_a_uri_is_taken(folder, database):
    made, contents = folder
    tasks = fyke.dist.make_plan([f"file://{made}"], database, LONGEST)
    found = rows_of(local.run(tasks, 1))
    assert found == [(f"file://{p}", o, n) for p, o, n in expected(made, contents)]


def kill_one_child(after):
    """Ends a worker of this process without a chance to answer."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        workers = [c for c in multiprocessing.active_children() if c.name.startswith("Spawn")]
        if workers and after():
            os.kill(workers[0].pid, signal.SIGKILL)
            return True
        time.sleep(0.005)
    return False


def test_a_worker_that_dies_loses_no_row_and_doubles_none(folder, database):
    made, contents = folder
    tasks = fyke.dist.make_plan([str(made)], database, LONGEST, 2)
    batches, killed = [], False
    for batch in local.run(tasks, 2):
        batches.append(batch)
        if not killed and len(batches) > 3:
            killed = kill_one_child(lambda: True)
    assert killed
    assert rows_of(batches) == expected(made, contents)


def test_an_object_that_changes_is_named(folder, database):
    made, _ = folder
    tasks = fyke.dist.make_plan([str(made / "a.txt")], database, LONGEST, 5)
    (made / "a.txt").write_bytes(b"something else")
    for workers in (1, 2):
        with pytest.raises(fyke.dist.ChangedError, match="a.txt: it changed since it was listed"):
            list(local.run(tasks, workers))
    (made / "a.txt").unlink()
    with pytest.raises(FileNotFoundError, match="a.txt"):
        list(local.run(tasks, 1))


def test_ranges_have_a_size(folder, database):
    with pytest.raises(ValueError, match="the size of a range is 0: give 1 byte"):
        fyke.dist.make_plan([str(folder[0])], database, LONGEST, 0)


class TestCommand:
    def run(self, capfd, *arguments):
        status = command.main(["scan", *map(str, arguments)])
        return status, capfd.readouterr().err

    def test_it_writes_a_row_for_each_match(self, folder, tmp_path, capfd):
        import pyarrow.parquet as parquet

        made, contents = folder
        patterns, out = tmp_path / "patterns", tmp_path / "out.parquet"
        patterns.write_bytes(b"\n".join(p.hex().encode() for p in PATTERNS) + b"\r\n\n")
        for size in (3, 1 << 20):
            status, err = self.run(
                capfd, "--engine", "local", "--patterns", patterns,
                "--patterns-format", "hex", "--range", size, "-j", 2, made, "-o", out,
            )  # fmt: skip
            want = expected(made, contents)
            assert (status, err) == (0, f"{len(want)} matches in {out}\n")
            table = parquet.read_table(out)
            assert table.column_names == ["path", "offset", "pattern"]
            assert rows_of([table]) == want
        assert sorted(p.name for p in tmp_path.iterdir()) == ["objects", "out.parquet", "patterns"]

    def test_no_match_is_a_file_without_rows(self, folder, tmp_path, capfd):
        import pyarrow.parquet as parquet

        patterns, out = tmp_path / "patterns", tmp_path / "out.parquet"
        patterns.write_bytes(b"absent\n")
        status, err = self.run(capfd, "--patterns", patterns, folder[0], "-o", out)
        assert (status, err) == (1, f"0 matches in {out}\n")
        assert parquet.read_table(out).num_rows == 0

    def test_counts_are_those_of_the_rows(self, folder, tmp_path, capfd):
        import pyarrow.parquet as parquet

        made, contents = folder
        patterns, out = tmp_path / "patterns", tmp_path / "out.parquet"
        patterns.write_bytes(b"\n".join(p.hex().encode() for p in PATTERNS))
        # An object that is given twice has each match twice, as with `scan`.
        given = [
            "--patterns", patterns, "--patterns-format", "hex", "-o", out, made, made / "a.txt",
        ]  # fmt: skip
        want = [*expected(made, contents), *expected(made, {"a.txt": contents["a.txt"]})]
        sums = collections.Counter((path, pattern) for path, _, pattern in want)
        for options in (["-j", 1], ["-j", 2, "--range", 7]):
            assert command.main(["count", *map(str, [*given, *options])]) == 0
            assert capfd.readouterr().err == f"{len(want)} matches in {out}\n"
            table = parquet.read_table(out)
            assert [str(field.type) for field in table.schema] == ["string", "uint32", "int64"]
            assert rows_of([table]) == [(*key, count) for key, count in sorted(sums.items())]
        patterns.write_bytes(b"absent\n")
        given[3] = "lines"
        assert command.main(["count", *map(str, given)]) == 1
        assert parquet.read_table(out).to_pydict() == {"path": [], "pattern": [], "count": []}

    def test_errors_are_named_and_leave_nothing(self, folder, tmp_path, capfd):
        patterns, out = tmp_path / "patterns", tmp_path / "out.parquet"
        patterns.write_bytes(b"xyz\n")
        arguments = ["--patterns", patterns, tmp_path / "absent", "-o", out]
        status, err = self.run(capfd, *arguments)
        assert status == 2
        assert "absent: there is no such file or folder" in err
        arguments = ["--patterns", patterns, "--patterns-format", "hex", folder[0], "-o", out]
        status, err = self.run(capfd, *arguments)
        assert status == 2
        assert f"{patterns}:1:1: " in err and "is not a hex digit" in err
        (folder[0] / "bad.gz").write_bytes(b"no gzip")
        status, err = self.run(capfd, "--patterns", patterns, folder[0], "-o", out)
        assert status == 2
        assert "bad.gz" in err
        assert not out.exists()

    def test_rules_and_databases_are_read(self, tmp_path, capfd):
        import pyarrow.parquet as parquet

        data, patterns, out = tmp_path / "data", tmp_path / "rules", tmp_path / "out.parquet"
        data.write_bytes(b"get / MZ\x90 x GET /")
        patterns.write_bytes(
            b'alert tcp any any -> any 80 (content:"GET |2f|"; nocase; content:"x"; sid:7;)\nbad\n'
        )
        given = ["--patterns", patterns, "--patterns-format", "snort", data, "-o", out]
        status, err = self.run(capfd, *given)
        assert status == 2 and f"{patterns}:2:1: " in err
        status, err = self.run(capfd, *given, "--skip-bad-rules")
        assert status == 0 and "the rule is skipped" in err
        want = [(str(data), 0, 0), (str(data), 10, 1), (str(data), 12, 0)]
        assert rows_of([parquet.read_table(out)]) == want

        patterns.write_bytes(b"rule r { strings: $a = { 4D 5A 90 } condition: $a }")
        given = ["--patterns", patterns, "--patterns-format", "yara", data, "-o", out]
        assert self.run(capfd, *given)[0] == 0
        assert rows_of([parquet.read_table(out)]) == [(str(data), 6, 0)]

        database = tmp_path / "saved.fyke"
        fyke.Searcher([b"GET /"], [70], nocase=True).save(database)
        assert self.run(capfd, "--database", database, data, "-o", out)[0] == 0
        assert rows_of([parquet.read_table(out)]) == [(str(data), 0, 70), (str(data), 12, 70)]
        fyke.Searcher([b"GET /"], semantics="once").save(database)
        status, err = self.run(capfd, "--database", database, data, "-o", out)
        assert status == 2 and 'it reports matches of semantics once' in err

    def test_it_is_a_module(self, folder, tmp_path):
        patterns, out = tmp_path / "patterns", tmp_path / "out.parquet"
        patterns.write_bytes(b"she\n")
        program = [sys.executable, "-m", "fyke.dist", "scan", "--patterns", patterns]
        done = subprocess.run([*program, folder[0], "-j", "2", "-o", out], capture_output=True)
        assert done.returncode == 0, done.stderr
        assert out.is_file()
