"""`python -m fyke.dist scan`: finds patterns in many objects, and writes one row for each match."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from fyke import Searcher, read_patterns
from fyke.dist import local, objects, ray
from fyke.dist.plan import RANGE, Plan, load, make_plan, schema

ENGINES = ("local", "ray", "spark")
FORMATS = ("lines", "hex", "snort", "yara")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fyke.dist", description=__doc__)
    scan = parser.add_subparsers(dest="verb", required=True).add_parser("scan", help=__doc__)
    scan.add_argument("--engine", choices=ENGINES, default="local", help="who runs the tasks")
    scan.add_argument("--address", help="a Ray cluster, a Spark master, or sc://HOST")
    scan.add_argument("--stage", help="a folder that all workers of Spark reach, by path or URI")
    which = scan.add_mutually_exclusive_group(required=True)
    which.add_argument("--patterns", metavar="FILE", help="a file of patterns")
    which.add_argument("--database", metavar="DB", help="what `fyke compile` wrote, by path or URI")
    scan.add_argument("--patterns-format", choices=FORMATS, default="lines")
    scan.add_argument("--skip-bad-rules", action="store_true", help="continue without bad rules")
    scan.add_argument("--commented-rules", action="store_true", help="also read rules in comments")
    scan.add_argument("-i", "--ignore-case", action="store_true", help="ignore ASCII case")
    scan.add_argument("-j", "--workers", type=int, help="processes; all cores by default")
    scan.add_argument("--range", type=int, default=RANGE, help="bytes of a task")
    scan.add_argument("-o", "--output", required=True, help="the Parquet file to write")
    scan.add_argument("uris", nargs="+", metavar="URI", help="objects and folders")
    return parser


def _compiled(given: argparse.Namespace) -> Searcher:
    """The patterns of the file, compiled."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patterns = read_patterns(
            given.patterns,
            given.patterns_format,
            nocase=given.ignore_case,
            skip_bad_rules=given.skip_bad_rules,
            commented_rules=given.commented_rules,
        )
    for warning in caught:
        print(f"fyke.dist: warning: {warning.message}", file=sys.stderr)
    ids, nocase = [p.id for p in patterns], [p.nocase for p in patterns]
    return Searcher([p.pattern for p in patterns], ids, nocase=nocase)


def _database(given: argparse.Namespace, stage: str) -> str:
    """The database that workers load. It need not be compiled again, nor sent with each task."""
    if given.database is not None:
        return str(given.database)
    path = f"{stage.rstrip('/')}/patterns.fyke"
    objects.write_all(path, _compiled(given).to_bytes())
    return path


def _run(given: argparse.Namespace, plan: Plan, stage: str) -> Iterator[Any]:
    """The rows of all tasks, from the engine."""
    if given.engine == "ray":
        return ray.run(plan, given.workers, given.address)
    if given.engine == "spark":
        # Without Spark there is no class to derive the data source from.
        from fyke.dist import spark

        return spark.run(plan, stage, given.workers, given.address)
    return local.run(plan, given.workers)


def write(batches: Iterable[Any], output: str) -> int:
    """Writes a Parquet file, of which nobody sees a part. The number of rows."""
    import pyarrow.parquet as parquet

    part = f"{output}.{os.getpid()}.part"
    rows = 0
    try:
        with parquet.ParquetWriter(part, schema()) as writer:
            for batch in batches:
                rows += batch.num_rows
                if batch.num_rows:
                    writer.write_batch(batch)
        os.replace(part, output)
    except BaseException:
        pathlib.Path(part).unlink(missing_ok=True)
        raise
    return rows


def _progress(batches: Iterable[Any], made: Plan) -> Iterator[Any]:
    """The batches, with the rows so far if there is a terminal and tqdm."""
    if not sys.stderr.isatty():
        yield from batches
        return
    try:
        from tqdm import tqdm
    except ImportError:
        yield from batches
        return
    with tqdm(unit=" matches", desc=f"{made.size:,} bytes") as bar:
        for batch in batches:
            bar.update(batch.num_rows)
            yield batch


def _scan(given: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="fyke-") as folder:
        stage = given.stage or folder
        database = _database(given, stage)
        plan = make_plan(given.uris, database, load(database).max_len, given.range)
        return write(_progress(_run(given, plan, stage), plan), given.output)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. 0 with a match, 1 without, 2 after an error, as grep."""
    given = _arguments().parse_args(arguments)
    try:
        rows = _scan(given)
    except ImportError as error:
        advice = f"pip install {error.name}" if error.name else "install what is missing"
        print(f"fyke.dist: {error}: {advice}", file=sys.stderr)
        return 2
    except (OSError, ValueError, RuntimeError) as error:
        print(f"fyke.dist: {error}", file=sys.stderr)
        return 2
    print(f"{rows} matches in {given.output}", file=sys.stderr)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
