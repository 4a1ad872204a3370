"""Every engine gives the rows of one scan, whatever the ranges, and whoever dies.

`FYKE_SPARK=java` runs the tests of Spark with PySpark and Java, instead of Sail. A process has one
kind of session.
"""

import collections
import gzip
import os
import shutil
import subprocess
import sys
import time
import types

import fyke
import fyke.dist
import oracle
import pytest
from conftest import library, ray_cluster, required, rows_of
from fyke.dist import local
from fyke.dist.counts import Sums
from served import serving

PATTERNS = [b"she", b"hers", b"he", b"e\n", b"hers and"]
LONGEST = max(map(len, PATTERNS))
SPARK = os.environ.get("FYKE_SPARK", "sail")
if SPARK == "java":
    # PySpark leaves sockets to the garbage collector.
    pytestmark = [
        pytest.mark.filterwarnings("ignore::ResourceWarning"),
        pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    ]


@pytest.fixture(scope="session")
def ray_nodes():
    """A Ray cluster of two nodes: one has a core, one has two and what Ray takes for a GPU."""
    library("pyarrow")
    ray = library("ray")
    cluster = ray_cluster({"num_cpus": 1}, {"num_cpus": 2, "num_gpus": 1})
    ray.init(address=cluster.address, log_to_driver=False)
    yield ray
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="session")
def spark():
    """A session of Spark that tries a task four times, or of Sail."""
    library("pyspark")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    if SPARK == "sail":
        library("pysail")
        server = library("pysail.spark").SparkConnectServer()
        server.start(background=True)
        session = SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}")
        session = session.getOrCreate()
        yield session
        session.stop()
        server.stop()
        return
    if not shutil.which("java"):
        if "java" in required():
            pytest.fail("FYKE_REQUIRE names java, and there is none")
        pytest.skip("there is no java in the path")
    session = SparkSession.builder.master("local[2,4]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.python.daemon.module": "fyke.dist.spark_daemon",
        # The queries are tiny: to compile them well takes longer than to run them.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.log.level": "OFF",
    }.items():
        session = session.config(name, value)
    session = session.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(params=["local", "ray", "spark"])
def engine(request, tmp_path):
    """A function that runs a plan with two workers."""
    library("pyarrow")
    if request.param == "local":
        return lambda plan, **options: local.run(plan, 2, **options)
    if request.param == "ray":
        request.getfixturevalue("ray_nodes")
        from fyke.dist import ray

        return lambda plan, **options: ray.run(plan, 2, **options)
    request.getfixturevalue("spark")
    from fyke.dist import spark

    return lambda plan, **options: spark.run(plan, str(tmp_path), **options)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "objects"
    made.mkdir()
    contents = {"a.txt": b"ushers and hers\nshe", "b.bin": b"\x00he" * 9, "c.gz": b"she\n" * 30}
    for name, data in contents.items():
        (made / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return made, contents


def matches(uri, data):
    """The rows of an object, from the naive search."""
    return [(uri, start, pattern) for pattern, start, _ in oracle.all_matches(PATTERNS, data)]


def expected(made, contents):
    return [row for name in sorted(contents) for row in matches(str(made / name), contents[name])]


def counted(rows):
    """The counts of rows, in the order of paths and patterns."""
    counts = collections.Counter((path, pattern) for path, _, pattern in rows)
    return [(*key, count) for key, count in sorted(counts.items())]


def summed(batches):
    """The sums of counts, as of `counted`."""
    sums = Sums()
    for batch in batches:
        assert batch.schema.names == ["path", "pattern", "count"]
        sums.add(batch)
    return rows_of([sums.table()])


@pytest.mark.parametrize("size", [1, 7, 64 << 20])
def test_ranges_of_any_size_give_the_same_rows(engine, folder, database, size):
    made, contents = folder
    plan = fyke.dist.make_plan([str(made)], database, LONGEST, size)
    assert rows_of(engine(plan)) == expected(made, contents)
    assert summed(engine(plan, counts=True)) == counted(expected(made, contents))


def test_a_large_object_in_ranges_of_64_mib(engine, tmp_path, database):
    """Matches lie across the end of the first range."""
    path, size = tmp_path / "large", 64 << 20
    places = [0, size - 7, size - 1, size, size + 100]
    with path.open("wb") as file:
        file.truncate(size + 1000)
        for at in places:
            file.seek(at)
            file.write(b"hers and")
    plan = fyke.dist.make_plan([str(path)], database, LONGEST, size)
    assert len(plan.tasks) == 2
    alone = [row for task in fyke.dist.make_plan([str(path)], database, LONGEST, 1 << 40).tasks
             for row in rows_of(task.run())]  # fmt: skip
    assert len(alone) > 10
    assert rows_of(engine(plan)) == alone


@pytest.mark.parametrize("counts", [False, True])
def test_a_worker_that_dies_in_the_middle_of_an_object(engine, request, database, counts):
    """The object is read over HTTP. The server kills the first process that reads it."""
    library("obstore")
    if "spark" in request.node.name and SPARK == "sail":
        pytest.skip("Sail runs Python within the server, which is this process")
    with serving() as server:
        names = [f"/{number}" for number in range(6)]
        server.contents = {name: b"ushers and hers\nshe" * 200 for name in names}
        plan = fyke.dist.make_plan(map(server.uri, names), database, LONGEST, 1500)
        server.deadly = {"/3"}
        batches = list(engine(plan, counts=counts))
        assert server.killed == 1
        want = [row for n in names for row in matches(server.uri(n), server.contents[n])]
        if counts:
            assert summed(batches) == counted(want)
        else:
            assert rows_of(batches) == want
        # Ranges are read, and not whole objects: no read is longer than a range and its overlap.
        assert {hi - lo for _, lo, hi in server.ranges} <= {1500, 1507, 807}


def test_an_object_that_changes_is_named(engine, folder, database):
    made, _ = folder
    plan = fyke.dist.make_plan([str(made)], database, LONGEST, 9)
    (made / "a.txt").write_bytes(b"something else")
    with pytest.raises(fyke.dist.ChangedError, match="a.txt: it changed since it was listed"):
        rows_of(engine(plan))


def test_an_object_that_vanishes_is_named(engine, folder, database):
    made, _ = folder
    plan = fyke.dist.make_plan([str(made)], database, LONGEST, 9)
    (made / "b.bin").unlink()
    with pytest.raises(FileNotFoundError, match="b.bin: there is no such object"):
        rows_of(engine(plan))


def test_an_unreadable_object_is_named(engine, folder, database):
    made, _ = folder
    (made / "d.gz").write_bytes(b"no gzip")
    plan = fyke.dist.make_plan([str(made)], database, LONGEST)
    with pytest.raises(OSError, match="d.gz"):
        rows_of(engine(plan))


def test_the_command(request, engine, folder, tmp_path):
    import pyarrow.parquet as parquet
    from fyke.dist import __main__ as command

    made, contents = folder
    patterns, out = tmp_path / "words", tmp_path / "out.parquet"
    patterns.write_bytes(b"\n".join(p.hex().encode() for p in PATTERNS))
    name = request.node.callspec.params["engine"]
    given = ["--engine", name, "--patterns", patterns, "--patterns-format", "hex", "--range", 20]
    given = [*map(str, given), "-j", "2", str(made), "-o", str(out)]
    assert command.main(["scan", *given]) == 0
    assert rows_of([parquet.read_table(out)]) == expected(made, contents)
    assert command.main(["count", *given]) == 0
    assert rows_of([parquet.read_table(out)]) == counted(expected(made, contents))


class TestGpus:
    """Ray shares a GPU that it believes in. The engine may find none."""

    def plan(self, folder, database):
        return fyke.dist.make_plan([str(folder[0])], database, LONGEST, 5)

    def test_workers_share_a_device(self, ray_nodes, folder, database):
        from fyke.dist import ray

        lacking = dict(fyke.engines())["gpu"]
        plan = self.plan(folder, database)
        if lacking is None:
            rows = []
            for batch in ray.run(plan, gpus=0.5):
                rows.append(batch)
                wait_for(lambda: ray_nodes.available_resources().get("GPU", 0) == 0)
            assert rows_of(rows) == expected(*folder)
        else:
            with pytest.raises(RuntimeError, match="for a GPU: engine gpu: no device: cuda: "):
                list(ray.run(plan, gpus=0.5))

    def test_there_is_room_for_shares_on_nodes_with_devices(self, ray_nodes):
        from fyke.dist import ray

        def most(share, *nodes):
            names = ("CPU", "GPU")
            listed = [{"Alive": True, "Resources": dict(zip(names, n, strict=True))} for n in nodes]
            return ray._most_workers(types.SimpleNamespace(nodes=lambda: listed), share)

        assert ray._most_workers(ray_nodes, None) == 3
        assert ray._most_workers(ray_nodes, 0.25) == 2
        assert most(0.25, (16, 2), (3, 1), (8, 0)) == 11
        assert most(1 / 3, (16, 1)) == most(0.33, (16, 1)) == 3
        assert most(0.6, (16, 1)) == most(1, (16, 1)) == 1
        with pytest.raises(RuntimeError, match="no node with a GPU and a core: start one, or"):
            most(1, (8, 0), (0, 4))

    def test_more_workers_than_room_do_not_wait_for_ever(self, ray_nodes, folder, database):
        from fyke.dist import ray

        try:
            rows = list(ray.run(self.plan(folder, database), 50, gpus=0.5))
        except RuntimeError as error:
            assert "a worker cannot compile the patterns for a GPU: " in str(error)
        else:
            assert rows_of(rows) == expected(*folder)

    def test_a_worker_without_a_device_says_so(self):
        program = (
            "import fyke; from fyke.dist import ray\n"
            "ray.Worker(fyke.Searcher(['he']).to_bytes(), True).batches(None, False)"
        )
        hidden = {"CUDA_VISIBLE_DEVICES": "", "OCL_ICD_VENDORS": "/absent"}
        done = subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, **hidden}, capture_output=True
        )
        assert (
            b"cannot compile the patterns for a GPU: engine gpu: no device: cuda: " in done.stderr
        )
        assert b"leave out --gpus to use CPUs" in done.stderr

    def test_what_does_not_go_together_is_refused(self, folder, capfd):
        from fyke.dist import __main__ as command

        given = ["scan", "--gpus", "0.25", str(folder[0]), "-o", "never"]
        assert command.main([*given, "--patterns", "absent"]) == 2
        assert "--gpus is for --engine ray, and not for --engine local" in capfd.readouterr().err
        for share in ("0", "1.5", "-1", "nan", "x"):
            with pytest.raises(SystemExit, match="2"):
                command.main([*given, "--gpus", share, "--patterns", "absent"])
            assert "argument --gpus: " in capfd.readouterr().err


def wait_for(condition):
    """What Ray says of a cluster is late."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class TestHttp:
    @pytest.fixture(autouse=True)
    def _obstore(self):
        library("pyarrow")
        library("obstore")

    def test_objects_are_read_by_ranges(self, database):
        with serving() as server:
            text = b"ushers and hers\nshe"
            server.contents = {"/a b": text, "/e": b"", "/z.gz": gzip.compress(b"she")}
            uris = list(map(server.uri, server.contents))
            for size in (1, 5, 1 << 20):
                plan = fyke.dist.make_plan(uris, database, LONGEST, size)
                want = matches(uris[0], text) + matches(uris[2], b"she")
                assert rows_of(local.run(plan, 1)) == want

    def test_the_etag_is_checked(self, database):
        with serving() as server:
            server.contents = {"/a": b"ushers"}
            plan = fyke.dist.make_plan([server.uri("/a")], database, LONGEST)
            # Of the same size and time.
            server.contents = {"/a": b"rushes"}
            with pytest.raises(fyke.dist.ChangedError, match="/a: it changed since it was listed"):
                rows_of(local.run(plan, 1))

    def test_an_object_that_is_missing_is_named(self, database):
        with serving() as server:
            with pytest.raises(FileNotFoundError, match="/absent: there is no such object"):
                fyke.dist.make_plan([server.uri("/absent")], database, LONGEST)

    def test_the_database_may_be_an_object(self, database, folder):
        made, contents = folder
        with serving() as server:
            with open(database, "rb") as file:
                server.contents = {"/p.fyke": file.read()}
            plan = fyke.dist.make_plan([str(made)], server.uri("/p.fyke"), LONGEST)
            assert rows_of(local.run(plan, 1)) == expected(made, contents)


class TestSparkSource:
    def test_the_format_takes_paths_and_options(self, spark, folder, database):
        library("pyarrow")
        from fyke.dist.spark import FykeDataSource

        made, contents = folder
        spark.dataSource.register(FykeDataSource)
        reader = spark.read.format("fyke").option("database", database).option("range", "5")
        found = reader.load(str(made)).toArrow()
        assert found.column_names == ["path", "offset", "pattern"]
        assert sorted(rows_of([found])) == sorted(expected(made, contents))

    def test_what_is_missing_is_named(self, spark, folder):
        from fyke.dist.spark import FykeDataSource

        spark.dataSource.register(FykeDataSource)
        with pytest.raises(Exception, match="the option `database` is missing"):
            spark.read.format("fyke").load(str(folder[0])).toArrow()

    def test_columns(self, spark):
        import fyke.spark

        frame = spark.createDataFrame([("ushers",), (None,), ("x",)], "text string")
        searcher = fyke.Searcher(["he", "she"])
        found = frame.select(
            fyke.spark.contains_any("text", searcher).alias("has"),
            fyke.spark.count_matches("text", ["he", "she"]).alias("count"),
        ).toArrow()
        assert found.to_pydict() == {"has": [True, None, False], "count": [2, None, 0]}
        assert frame.filter(fyke.spark.contains_any("text", searcher)).count() == 1
