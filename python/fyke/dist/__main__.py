"""`python -m fyke.dist scan`: finds patterns in many objects, and writes one row for each match."""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from fyke import Searcher
from fyke.dist import local
from fyke.dist.plan import RANGE, ChangedError, Plan, make_plan, schema

FORMATS = ("lines", "hex")


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fyke.dist", description=__doc__)
    scan = parser.add_subparsers(dest="verb", required=True).add_parser("scan", help=__doc__)
    scan.add_argument("--engine", choices=["local"], default="local", help="who runs the tasks")
    scan.add_argument("--patterns", required=True, help="a file of patterns")
    scan.add_argument("--patterns-format", choices=FORMATS, default="lines")
    scan.add_argument("-i", "--ignore-case", action="store_true", help="ignore ASCII case")
    scan.add_argument("-j", "--workers", type=int, help="processes; all cores by default")
    scan.add_argument("--range", type=int, default=RANGE, help="bytes of a task")
    scan.add_argument("-o", "--output", required=True, help="the Parquet file to write")
    scan.add_argument("uris", nargs="+", metavar="URI", help="objects and folders")
    return parser


def patterns_of(path: str, form: str) -> list[bytes]:
    """The patterns of a file. Empty lines are left out, as the command `fyke` does."""
    lines = [line.rstrip(b"\r") for line in pathlib.Path(path).read_bytes().split(b"\n")]
    lines = [line for line in lines if line]
    if form == "lines":
        return lines
    patterns = []
    for number, line in enumerate(lines, 1):
        try:
            patterns.append(bytes.fromhex(line.decode("ascii")))
        except ValueError:
            raise ValueError(f"{path}: pattern {number} is not hexadecimal") from None
    return patterns


def write(batches: Iterable[Any], output: str) -> int:
    """Writes a Parquet file, of which nobody sees a part. The number of rows."""
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]

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
        from tqdm import tqdm  # type: ignore[import-untyped]
    except ImportError:
        yield from batches
        return
    with tqdm(unit=" matches", desc=f"{made.bytes:,} bytes") as bar:
        for batch in batches:
            bar.update(batch.num_rows)
            yield batch


def _scan(given: argparse.Namespace) -> int:
    patterns = patterns_of(given.patterns, given.patterns_format)
    with tempfile.TemporaryDirectory(prefix="fyke-") as folder:
        # Workers load the compiled set. It need not be compiled again, nor sent with each task.
        database = os.path.join(folder, "patterns.fyke")
        Searcher(patterns, nocase=given.ignore_case).save(database)
        longest = max(map(len, patterns), default=0)
        made = make_plan(given.uris, database, longest, given.range)
        return write(_progress(local.run(made, given.workers), made), given.output)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. 0 with a match, 1 without, 2 after an error, as grep."""
    given = _arguments().parse_args(arguments)
    try:
        rows = _scan(given)
    except ImportError as error:
        print(f"fyke.dist: {error}: pip install pyarrow", file=sys.stderr)
        return 2
    except (OSError, ValueError, ChangedError) as error:
        print(f"fyke.dist: {error}", file=sys.stderr)
        return 2
    print(f"{rows} matches in {given.output}", file=sys.stderr)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
