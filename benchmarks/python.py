"""Compares the Python package with other packages: times and ratios in one run.

    pip install . -r python/requirements.txt
    python benchmarks/python.py [--quick] [--seconds 1.0] [--out FILE]

A cell is a number of patterns and a kind of text. Every contender is verified first: all must count
the same. The contenders of a cell take turns, so that a change of the machine's speed hits all of
them. A ratio is a contender's median time divided by that of fyke: above 1, fyke is faster. What is
missing on this machine is printed with its reason.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import lzma
import math
import os
import pathlib
import platform
import random
import re
import statistics
import subprocess
import sys
import time

import fyke

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATTERNS = [20, 1_000, 10_000, 100_000]
# Regular expressions with more alternatives take minutes, and some libraries refuse them.
MOST_FOR_REGEX = 1_000


def text(size):
    """English text, with words that the patterns come from."""
    packed = ROOT / "data/text/kjv.txt.xz"
    return lzma.decompress(packed.read_bytes())[:size].decode("ascii")


def patterns(number, rng):
    """Names and words: most do not occur, some do."""
    words = sorted({word for word in re.findall(r"[A-Za-z]{5,}", text(1 << 30))})
    rng.shuffle(words)
    letters = "abcdefghijklmnopqrstuvwxyz"
    made = {"".join(rng.choices(letters, k=rng.randint(6, 14))) for _ in range(number)}
    # One in five is a word of the text.
    chosen = words[: number // 5] + sorted(made)
    return chosen[:number]


def rows(kind, size, rng):
    """Short strings of 50 to 300 characters, or long documents."""
    whole, made, at = text(size), [], 0
    while at < len(whole):
        length = rng.randint(50, 300) if kind == "short" else 100_000
        made.append(whole[at : at + length])
        at += length
    return made


def fyke_rows(searcher, column):
    return sum(map(searcher.count, column))


def contenders():
    """Per question, who answers it and how."""
    ac_rs = lambda p: importlib.import_module("ahocorasick_rs").AhoCorasick(p)  # noqa: E731

    def automaton(p):
        made = importlib.import_module("ahocorasick").Automaton()
        for number, pattern in enumerate(p):
            made.add_word(pattern, number)
        made.make_automaton()
        return made

    def regex(p):
        return re.compile("|".join(map(re.escape, p)))

    polars = lambda column: importlib.import_module("polars").Series(column)  # noqa: E731
    arrow = lambda column: importlib.import_module("pyarrow").array(column)  # noqa: E731
    pandas = lambda column: importlib.import_module("pandas").Series(column)  # noqa: E731
    same = lambda column: column  # noqa: E731
    by_ac_rs = (
        "ahocorasick_rs",
        "ahocorasick_rs",
        ac_rs,
        same,
        lambda s, c: sum(len(s.find_matches_as_indexes(r, overlapping=True)) for r in c),
        None,
    )

    def by_automaton(count):
        return ("pyahocorasick", "ahocorasick", automaton, same, count, None)

    return {
        # Every occurrence in each row: one call a row.
        "all matches, row by row": [
            ("fyke", None, fyke.Searcher, same, fyke_rows, None),
            by_ac_rs,
            by_automaton(lambda s, c: sum(sum(1 for _ in s.iter(r)) for r in c)),
        ],
        # The same, with a list of tuples for each row.
        "lists of matches, row by row": [
            (
                "fyke",
                None,
                fyke.Searcher,
                same,
                lambda s, c: sum(len(s.find_matches_as_indexes(r, True)) for r in c),
                None,
            ),
            by_ac_rs,
            by_automaton(lambda s, c: sum(len(list(s.iter(r))) for r in c)),
        ],
        # Whether each row of a column has a match.
        "rows with a match, a column": [
            ("fyke", "polars", fyke.Searcher, polars, lambda s, c: fyke.contains_any(c, s).sum(), None),
            ("polars", "polars", same, polars, lambda p, c: c.str.contains_any(p).sum(), None),
            (
                "pandas, str.contains",
                "pandas",
                lambda p: "|".join(map(re.escape, p)),
                pandas,
                lambda p, c: int(c.str.contains(p).sum()),
                MOST_FOR_REGEX,
            ),
            (
                "re, row by row",
                None,
                regex,
                same,
                lambda s, c: sum(s.search(r) is not None for r in c),
                MOST_FOR_REGEX,
            ),
            (
                "duckdb, regexp_matches",
                "duckdb",
                lambda p: "|".join(map(re.escape, p)),
                lambda column: importlib.import_module("pyarrow").table({"c": arrow(column)}),
                duckdb_count,
                MOST_FOR_REGEX,
            ),
        ],
        # The occurrences of a column, of which none overlap.
        "matches of a column": [
            (
                "fyke",
                "polars",
                lambda p: fyke.Searcher(p, match_kind="standard"),
                polars,
                lambda s, c: int(fyke.find_many(c, s, overlapping=False).list.len().sum()),
                None,
            ),
            (
                "polars",
                "polars",
                same,
                polars,
                lambda p, c: int(c.str.find_many(p).list.len().sum()),
                None,
            ),
        ],
    }


def duckdb_count(pattern, table):
    duckdb = importlib.import_module("duckdb")
    query = "select count(*) from t where regexp_matches(c, $1)"
    with duckdb.connect() as connection:
        connection.execute("set threads = 1")
        connection.register("t", table)
        return connection.execute(query, [pattern]).fetchone()[0]


def available(needs):
    """Why a package is missing, or None."""
    if needs is None:
        return None
    try:
        importlib.import_module(needs)
    except ImportError as error:
        return str(error)
    return None


def cell(question, chosen, column, seconds):
    """The median times of all that answer a question, after they agree."""
    ready, answers = {}, {}
    for name, needs, compile, convert, run, most in contenders()[question]:
        why = available(needs)
        if why is None and most is not None and len(chosen) > most:
            why = f"not timed with more than {most} patterns"
        if why is not None:
            print(f"    {name}: {why}")
            continue
        start = time.perf_counter()
        compiled = compile(chosen)
        built = time.perf_counter() - start
        data = convert(column)
        answers[name] = int(run(compiled, data))
        ready[name] = (run, compiled, data, built)
    if len(set(answers.values())) != 1:
        sys.exit(f"{question}: the answers differ: {answers}")
    times = {name: [] for name in ready}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["fyke"]) < 3:
        for name, (run, compiled, data, _) in ready.items():
            start = time.perf_counter()
            run(compiled, data)
            times[name].append(time.perf_counter() - start)
    return {name: (statistics.median(t), min(t), max(t), ready[name][3]) for name, t in times.items()}


def heading(size):
    """What was measured, where and with which versions."""
    versions = [f"Python {platform.python_version()}"]
    for package in ("fyke", "ahocorasick_rs", "pyahocorasick", "polars", "pandas", "pyarrow", "duckdb"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"without {package}")
    about = [line for line in open("/proc/cpuinfo") if "model name" in line][:1] if sys.platform == "linux" else []
    machine = about[0].split(":", 1)[1].strip() if about else platform.processor()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT)
    return [
        "# The Python package beside others",
        "",
        "`python benchmarks/python.py --out benchmarks/python.md` writes this page; its text says how it",
        "measures. Every row was verified: all contenders of a cell count the same. Engines of Polars,",
        "pandas and DuckDB compile the patterns in each call, because their functions take patterns;",
        "`build ms` is what the others do once. All use one thread, but for Polars, which chooses.",
        "",
        f"{time.strftime('%Y-%m-%d')}, {machine}, {os.cpu_count()} cores, commit {commit.stdout.strip()}.",
        f"{', '.join(versions)}.",
        f"{size:,} bytes of English text, as rows of 50 to 300 characters (short) or 100,000 (long).",
        "",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="up to 1,000 patterns, less text")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each cell")
    parser.add_argument("--out", help="write the table here, too")
    given = parser.parse_args()
    size = (1 << 19) if given.quick else (4 << 20)
    numbers = PATTERNS[:2] if given.quick else PATTERNS
    lines = heading(size) + [
        "| question | rows | patterns | contender | median ms | spread | build ms | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    best = []
    for kind in ("short", "long"):
        rng = random.Random(20)
        column = rows(kind, size, rng)
        for number in numbers:
            chosen = patterns(number, rng)
            for question in contenders():
                times = cell(question, chosen, column, given.seconds)
                ours = times["fyke"][0]
                for name, (median, least, most, built) in times.items():
                    lines.append(
                        f"| {question} | {kind} | {number} | {name} | {median * 1e3:.2f} "
                        f"| {least / median:.2f}-{most / median:.2f} | {built * 1e3:.1f} "
                        f"| {median / ours:.2f} |"
                    )
                    print(lines[-1], flush=True)
                rivals = [median for name, (median, *_) in times.items() if name != "fyke"]
                if rivals:
                    best.append((min(rivals) / ours, f"{question}, {kind}, {number} patterns"))
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio, _ in best))
    ratio, where = min(best)
    lines.append("")
    lines.append(f"fyke against the best other of each of {len(best)} cells: {mean:.2f} times as fast by")
    lines.append(f"the geometric mean, {ratio:.2f} in the worst ({where}).")
    print("\n".join(lines[-2:]))
    if given.out:
        pathlib.Path(given.out).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
