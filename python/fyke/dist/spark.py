"""The engine `spark`, and the data source `fyke` for programs that use Spark themselves.

    from fyke.dist.spark import FykeDataSource
    spark.dataSource.register(FykeDataSource)
    spark.read.format("fyke").option("database", "s3://b/words.fyke").load("s3://b/logs")

Options: `database`, the URI of a database, which every worker must reach; `range`, the bytes of a
task. A row is a match: path, offset, pattern.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from fyke.dist import objects
from fyke.dist.counts import schema as counts_schema
from fyke.dist.listed import ChangedError
from fyke.dist.plan import RANGE, Plan, ScanTask, load, make_plan, schema

# How often a task is tried whose worker dies.
TRIES = 4

# Tasks of one Spark job. The driver has the rows of one job in memory.
JOB_TASKS = 1000

# Spark has no unsigned integers.
COLUMNS = "path string, offset bigint, pattern bigint"
COUNT_COLUMNS = "path string, pattern bigint, count bigint"


class Partition(InputPartition):
    """A task, and its place among the tasks of a job."""

    def __init__(self, number: int, task: ScanTask) -> None:
        self.number, self.task = number, task


class Reader(DataSourceReader):
    """Plans the tasks, and runs one. It is sent to workers, so it has options only."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = {name.lower(): value for name, value in options.items()}

    def _plan(self) -> Plan:
        if "plan" in self.options:
            return Plan.from_json(objects.read_all(self.options["plan"]))
        database = self.options.get("database")
        if database is None:
            raise ValueError("the option `database` is missing: give the URI of a database")
        size = int(self.options.get("range", RANGE))
        return make_plan(_paths(self.options), database, load(database).max_len, size)

    def partitions(self) -> list[InputPartition]:
        return [Partition(number, task) for number, task in enumerate(self._plan().tasks)]

    def read(self, partition: Any) -> Iterator[Any]:
        import pyarrow

        for batch in partition.task.batches("counts" in self.options):
            columns = dict(zip(batch.schema.names, batch.columns, strict=True))
            columns["pattern"] = columns["pattern"].cast("int64")
            if "plan" in self.options:
                number = pyarrow.scalar(partition.number, "int64")
                columns["task"] = pyarrow.repeat(number, batch.num_rows)
            yield pyarrow.RecordBatch.from_pydict(columns)


class FykeDataSource(DataSource):
    """`spark.read.format("fyke")`: the matches of a database in objects and folders."""

    @classmethod
    def name(cls) -> str:
        return "fyke"

    def schema(self) -> str:
        # Whoever gives a plan puts the rows in the order of its tasks.
        columns = COUNT_COLUMNS if "counts" in self.options else COLUMNS
        return f"{columns}, task bigint" if "plan" in self.options else columns

    def reader(self, schema: Any) -> DataSourceReader:
        return Reader(dict(self.options))


def _paths(options: dict[str, str]) -> list[str]:
    """What `load` was given: one path, or several."""
    if "paths" in options:
        return list(json.loads(options["paths"]))
    if "path" not in options:
        raise ValueError("there is no path: give objects or folders to load")
    return [options["path"]]


def run(
    plan: Plan,
    stage: str,
    workers: int | None = None,
    address: str | None = None,
    *,
    counts: bool = False,
) -> Iterator[Any]:
    """The batches of all tasks, in their order: rows, or counts.

    A task whose worker dies is done again. Uses the active session, or one for this call: of a
    master or remote `address`, or local. `stage` is a folder that all workers reach.
    """
    active = SparkSession.getActiveSession()
    session = active or _session(address, workers)
    try:
        session.dataSource.register(FykeDataSource)
        for first in range(0, len(plan.tasks), JOB_TASKS):
            job = Plan(plan.tasks[first : first + JOB_TASKS])
            uri = f"{stage.rstrip('/')}/tasks-{first}.json"
            objects.write_all(uri, job.to_json())
            yield from _batches_of(session, uri, counts)
    finally:
        if active is None:
            session.stop()


def _session(address: str | None, workers: int | None) -> SparkSession:
    builder: Any = SparkSession.builder
    builder = builder.appName("fyke")
    if address is not None:
        is_remote = address.startswith("sc://")
        builder = builder.remote(address) if is_remote else builder.master(address)
    elif not {"SPARK_REMOTE", "PYSPARK_GATEWAY_PORT"} & set(os.environ):
        # Neither a server nor `spark-submit` says where to run.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        builder = builder.master(f"local[{workers or '*'},{TRIES}]")
        builder = builder.config("spark.ui.enabled", "false")
        builder = builder.config("spark.python.daemon.module", "fyke.dist.spark_daemon")
    return builder.getOrCreate()


def _batches_of(session: SparkSession, uri: str, counts: bool) -> Iterator[Any]:
    """The batches of one job in the order of its tasks."""
    reader = session.read.format("fyke").option("plan", uri)
    columns = schema()
    if counts:
        reader, columns = reader.option("counts", "true"), counts_schema()
    try:
        table = reader.load().toArrow()
    except Exception as error:
        raise _cause(error) from error
    # Stable: the rows of a task have their order already.
    table = table.sort_by("task").select(columns.names)
    yield from table.cast(columns).to_batches()


# What a task may raise. Spark reports it as text.
_RAISED: dict[str, type[Exception]] = {
    "ChangedError": ChangedError,
    "FileNotFoundError": FileNotFoundError,
    "OSError": OSError,
    "PermissionError": PermissionError,
}


def _cause(error: Exception) -> Exception:
    """The exception of the task that failed, or the error itself."""
    found = re.search(rf"^(?:[\w.]+\.)?({'|'.join(_RAISED)}): (.*)$", str(error), re.MULTILINE)
    return _RAISED[found[1]](found[2]) if found else error
