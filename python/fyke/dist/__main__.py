"""`python -m fyke.dist`: finds patterns in many objects.

`scan` writes one row for each match, `count` one for each object and pattern that has some.
"""

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
from fyke.dist import counts, local, objects, ray
from fyke.dist.plan import RANGE, Plan, load, make_plan, schema

VERBS = {
    "scan": "write a row for each match: path, offset, pattern",
    "count": "write a row for each object and pattern with a match: path, pattern, count",
}
ENGINES = ("local", "ray", "spark")
FORMATS = ("lines", "hex", "snort", "yara")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fyke.dist", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, about in VERBS.items():
        _add_options(verbs.add_parser(verb, help=about, description=about))
    return parser


def _add_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--engine", choices=ENGINES, default="local", help="who runs the tasks")
    verb.add_argument("--address", help="a Ray cluster, a Spark master, or sc://HOST")
    verb.add_argument("--gpus", type=_share, metavar="SHARE", help="of a GPU for each Ray worker")
    verb.add_argument("--stage", help="a folder that all workers of Spark reach, by path or URI")
    which = verb.add_mutually_exclusive_group(required=True)
    which.add_argument("--patterns", metavar="FILE", help="a file of patterns")
    which.add_argument("--database", metavar="DB", help="what `fyke compile` wrote, by path or URI")
    verb.add_argument("--patterns-format", choices=FORMATS, default="lines")
    verb.add_argument("--skip-bad-rules", action="store_true", help="continue without bad rules")
    verb.add_argument("--commented-rules", action="store_true", help="also read rules in comments")
    verb.add_argument("-i", "--ignore-case", action="store_true", help="ignore ASCII case")
    verb.add_argument("-j", "--workers", type=int, help="processes; all cores by default")
    verb.add_argument("--range", type=int, default=RANGE, help="bytes of a task")
    verb.add_argument("-o", "--output", required=True, help="the Parquet file to write")
    verb.add_argument("uris", nargs="+", metavar="URI", help="objects and folders")


def _share(text: str) -> float:
    share = float(text)
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is no share of a GPU: give from above 0 to 1")
    return share


def _refuse(given: argparse.Namespace) -> None:
    """Raises ValueError if options do not go together."""
    if given.gpus is not None and given.engine != "ray":
        raise ValueError(f"--gpus is for --engine ray, and not for --engine {given.engine}")


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
    """The batches of all tasks, from the engine."""
    count = given.verb == "count"
    if given.engine == "ray":
        return ray.run(plan, given.workers, given.address, counts=count, gpus=given.gpus)
    if given.engine == "spark":
        # Without Spark there is no class to derive the data source from.
        from fyke.dist import spark

        return spark.run(plan, stage, given.workers, given.address, counts=count)
    return local.run(plan, given.workers, counts=count)


def _matches(batch: Any) -> int:
    """How many matches a batch has, as rows or as counts."""
    if "count" not in batch.schema.names:
        return int(batch.num_rows)
    import pyarrow.compute as compute

    return compute.sum(batch["count"]).as_py() or 0


def _summed(batches: Iterable[Any]) -> Iterator[Any]:
    """The counts of all tasks, summed."""
    sums = counts.Sums()
    for batch in batches:
        sums.add(batch)
    yield from sums.table().to_batches()


def write(batches: Iterable[Any], output: str, columns: Any = None) -> int:
    """Writes a Parquet file, of which nobody sees a part. The number of matches."""
    import pyarrow.parquet as parquet

    part = f"{output}.{os.getpid()}.part"
    matches = 0
    try:
        with parquet.ParquetWriter(part, columns or schema()) as writer:
            for batch in batches:
                matches += _matches(batch)
                if batch.num_rows:
                    writer.write_batch(batch)
        os.replace(part, output)
    except BaseException:
        pathlib.Path(part).unlink(missing_ok=True)
        raise
    return matches


def _progress(batches: Iterable[Any], made: Plan) -> Iterator[Any]:
    """The batches, with the matches so far if there is a terminal and tqdm."""
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
            bar.update(_matches(batch))
            yield batch


def _scan(given: argparse.Namespace) -> int:
    _refuse(given)
    with tempfile.TemporaryDirectory(prefix="fyke-") as folder:
        stage = given.stage or folder
        database = _database(given, stage)
        plan = make_plan(given.uris, database, load(database).max_len, given.range)
        batches = _progress(_run(given, plan, stage), plan)
        if given.verb == "count":
            return write(_summed(batches), given.output, counts.schema())
        return write(batches, given.output)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. 0 with a match, 1 without, 2 after an error, as grep."""
    given = _arguments().parse_args(arguments)
    try:
        matches = _scan(given)
    except ImportError as error:
        advice = f"pip install {error.name}" if error.name else "install what is missing"
        print(f"fyke.dist: {error}: {advice}", file=sys.stderr)
        return 2
    except (OSError, ValueError, RuntimeError) as error:
        print(f"fyke.dist: {error}", file=sys.stderr)
        return 2
    print(f"{matches} matches in {given.output}", file=sys.stderr)
    return 0 if matches else 1


if __name__ == "__main__":
    sys.exit(main())
