"""`python -m fyke`: finds patterns in files. The command `fyke` of the Rust package does more."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from fyke import Searcher, __version__, engines


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fyke", description=__doc__)
    parser.add_argument("-e", "--pattern", action="append", default=[], help="a pattern")
    parser.add_argument("-f", "--file", action="append", default=[], help="a file of patterns, one a line")
    parser.add_argument("-i", "--ignore-case", action="store_true", help="ignore ASCII case")
    parser.add_argument("-c", "--count", action="store_true", help="print the number of matches")
    parser.add_argument("-j", "--threads", type=int, default=1, help="threads for a large file")
    parser.add_argument("--engine", default="auto", help="the engine; `help` lists all")
    parser.add_argument("--version", action="version", version=f"fyke {__version__}")
    parser.add_argument("paths", nargs="*", help="files; `-` is standard input")
    return parser


def _patterns(arguments: argparse.Namespace) -> Iterator[bytes]:
    for pattern in arguments.pattern:
        yield os.fsencode(pattern)
    for path in arguments.file:
        with open(path, "rb") as lines:
            yield from filter(None, (line.rstrip(b"\r\n") for line in lines))


def _progress(paths: list[str]) -> Iterable[str]:
    """The paths, with a progress bar if there are several, a terminal, and tqdm."""
    if len(paths) > 1 and sys.stderr.isatty():
        try:
            from tqdm import tqdm
        except ImportError:
            return paths
        return tqdm(paths, unit="file", file=sys.stderr)
    return paths


def _scan(searcher: Searcher, path: str, patterns: list[bytes], count: bool) -> int:
    """Prints what a file contains. The number of matches."""
    data: Any = sys.stdin.buffer.read() if path == "-" else None
    if count:
        number = searcher.count_file(path) if data is None else searcher.count(data)
        print(f"{path}:{number}")
        return number
    number = 0
    out = sys.stdout.buffer

    def show(pattern: int, start: int, end: int) -> None:
        nonlocal number
        number += 1
        out.write(b"%s:%d:%s\n" % (os.fsencode(path), start, patterns[pattern]))

    if data is None:
        searcher.scan_file(path, show)
    else:
        searcher.scan(data, show)
    out.flush()
    return number


def main(arguments: list[str] | None = None) -> int:
    """Runs the command. 0 with a match, 1 without, 2 after an error, as grep."""
    given = _arguments().parse_args(arguments)
    if given.engine == "help":
        for name, why_not in engines():
            print(f"{name:15} {why_not or 'available'}")
        return 0
    try:
        patterns = list(_patterns(given))
        if not patterns:
            print("fyke: no patterns: give some with -e or -f", file=sys.stderr)
            return 2
        searcher = Searcher(
            patterns, nocase=given.ignore_case, engine=given.engine, threads=given.threads
        )
        paths = _progress(given.paths or ["-"])
        found = sum(_scan(searcher, path, patterns, given.count) for path in paths)
    except BrokenPipeError:
        # Whoever reads the output has enough. Nothing may be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OSError, ValueError) as error:
        print(f"fyke: {error}", file=sys.stderr)
        return 2
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
