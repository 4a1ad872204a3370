"""Compares the Python package with other packages: times and ratios in one run.

    pip install . hyperscan -r python/requirements.txt
    python benchmarks/python.py [--quick] [--seconds 1.0] [--out FILE]

A cell is a number of patterns and a kind of text. Every contender is verified first: all must count
the same. The contenders of a cell take turns, so that a change of the machine's speed hits all of
them. A ratio is a contender's median time divided by that of fyke: above 1, fyke is faster. What is
missing on this machine is printed with its reason.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.metadata
import json
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
import typing

import fyke

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATTERNS = [20, 1_000, 10_000, 100_000]
# Regular expressions with more alternatives take minutes, and some libraries refuse them.
MOST_FOR_REGEX = 1_000
PACKAGES = [
    "fyke",
    "ahocorasick_rs",
    "pyahocorasick",
    "hyperscan",
    "polars",
    "pandas",
    "pyarrow",
    "duckdb",
]
# Chunks of the column of a lazy query.
CHUNKS = 8
# A contender that does not say its size: that of a process grows by it.
RESIDENT = "resident"
# Small sets are compiled until they have so many patterns, because memory grows by pages.
PATTERNS_OF_GROWTH = 20_000


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


class Contender(typing.NamedTuple):
    """Who answers a question, and how."""

    name: str
    needs: str | None
    compile: typing.Callable
    convert: typing.Callable
    run: typing.Callable
    # Bytes of a compiled set, RESIDENT, or None if each call compiles the patterns.
    memory: typing.Callable | str | None = None
    most: int | None = None


def same(given):
    return given


def package(name):
    return importlib.import_module(name)


def ahocorasick_rs(chosen):
    return package("ahocorasick_rs").AhoCorasick(chosen)


def pyahocorasick(chosen):
    made = package("ahocorasick").Automaton()
    for number, pattern in enumerate(chosen):
        made.add_word(pattern, number)
    made.make_automaton()
    return made


def hyperscan(chosen):
    made = package("hyperscan").Database(mode=package("hyperscan").HS_MODE_BLOCK)
    expressions, ids = [pattern.encode() for pattern in chosen], list(range(len(chosen)))
    made.compile(expressions=expressions, ids=ids, elements=len(ids), flags=0, literal=True)
    return made


def hyperscan_count(database, column):
    count = 0

    def on_match(*_):
        nonlocal count
        count += 1

    for row in column:
        database.scan(row, on_match)
    return count


def hyperscan_lists(database, column):
    count = 0
    for row in column:
        matches = []

        def on_match(number, _start, end, _flags, _context, found=matches.append):
            found((number, end))

        database.scan(row, on_match)
        count += len(matches)
    return count


def hyperscan_rows(database, column):
    count, terminated = 0, package("hyperscan").ScanTerminated

    def on_match(*_):
        return True

    for row in column:
        try:
            database.scan(row, on_match)
        except terminated:
            count += 1
    return count


def alternatives(chosen):
    """A regular expression of all patterns."""
    return "|".join(map(re.escape, chosen))


def regular_expression(chosen):
    # `re` would return what it compiled before.
    re.purge()
    return re.compile(alternatives(chosen))


def encoded(column):
    return [row.encode() for row in column]


def series(column):
    return package("polars").Series(column)


def arrow_table(column):
    return package("pyarrow").table({"c": package("pyarrow").array(column)})


def lazy(column):
    """A lazy query of CHUNKS chunks, with the namespace `fyke`."""
    polars, size = package("polars"), -(-len(column) // CHUNKS)
    package("fyke.polars")
    parts = [column[at : at + size] for at in range(0, len(column), size)]
    return polars.concat([polars.DataFrame({"text": part}) for part in parts], rechunk=False).lazy()


def expression(function):
    """Runs a query whose answer is the sum of an expression of the column."""

    def run(compiled, query):
        column = package("polars").col("text")
        return query.select(function(column, compiled).sum()).collect().item()

    return run


def by_fyke(run, compile=fyke.Searcher, convert=same, needs=None):
    return Contender("fyke", needs, compile, convert, run, lambda s: s.memory)


def by_ahocorasick_rs(run):
    return Contender("ahocorasick_rs", "ahocorasick_rs", ahocorasick_rs, same, run, RESIDENT)


def by_pyahocorasick(run):
    def memory(automaton):
        return automaton.get_stats()["total_size"]

    return Contender("pyahocorasick", "ahocorasick", pyahocorasick, same, run, memory)


def by_hyperscan(run):
    return Contender("hyperscan", "hyperscan", hyperscan, encoded, run, lambda d: d.size())


def by_polars(run, convert=series):
    return Contender("polars", "polars", same, convert, run)


def contenders():
    """Who answers each question."""
    return {
        # Every occurrence in each row: one call a row.
        "all matches, row by row": [
            by_fyke(lambda s, c: sum(map(s.count, c))),
            by_ahocorasick_rs(
                lambda s, c: sum(len(s.find_matches_as_indexes(r, overlapping=True)) for r in c)
            ),
            by_pyahocorasick(lambda s, c: sum(sum(1 for _ in s.iter(r)) for r in c)),
            by_hyperscan(hyperscan_count),
        ],
        # The same, with a list of tuples for each row.
        "lists of matches, row by row": [
            by_fyke(lambda s, c: sum(len(s.find_matches_as_indexes(r, True)) for r in c)),
            by_ahocorasick_rs(
                lambda s, c: sum(len(s.find_matches_as_indexes(r, overlapping=True)) for r in c)
            ),
            by_pyahocorasick(lambda s, c: sum(len(list(s.iter(r))) for r in c)),
            by_hyperscan(hyperscan_lists),
        ],
        # Whether each row of a column has a match.
        "rows with a match, a column": [
            by_fyke(lambda s, c: fyke.contains_any(c, s).sum(), convert=series, needs="polars"),
            by_polars(lambda p, c: c.str.contains_any(p).sum()),
            Contender(
                "pandas, str.contains",
                "pandas",
                alternatives,
                lambda column: package("pandas").Series(column),
                lambda p, c: int(c.str.contains(p).sum()),
                most=MOST_FOR_REGEX,
            ),
            Contender(
                "re, row by row",
                None,
                regular_expression,
                same,
                lambda s, c: sum(s.search(r) is not None for r in c),
                RESIDENT,
                MOST_FOR_REGEX,
            ),
            Contender(
                "duckdb, regexp_matches",
                "duckdb",
                alternatives,
                arrow_table,
                duckdb_count,
                most=MOST_FOR_REGEX,
            ),
            by_hyperscan(hyperscan_rows)._replace(name="hyperscan, row by row"),
        ],
        # The occurrences of a column, of which none overlap.
        "matches of a column": [
            by_fyke(
                lambda s, c: int(fyke.find_many(c, s, overlapping=False).list.len().sum()),
                lambda p: fyke.Searcher(p, match_kind="standard"),
                series,
                "polars",
            ),
            by_polars(lambda p, c: int(c.str.find_many(p).list.len().sum())),
        ],
        # The text of each of these matches.
        "matched parts of a column": [
            by_fyke(
                lambda s, c: int(fyke.extract_many(c, s, overlapping=False).list.len().sum()),
                lambda p: fyke.Searcher(p, match_kind="standard"),
                series,
                "polars",
            ),
            by_polars(lambda p, c: int(c.str.extract_many(p).list.len().sum())),
        ],
        # Whether each row has a match, as an expression of Polars.
        "rows with a match, a lazy query": [
            by_fyke(
                expression(lambda c, s: c.fyke.contains_any(s)), convert=lazy, needs="polars"
            ),
            by_polars(expression(lambda c, p: c.str.contains_any(p)), lazy),
        ],
        # Every occurrence, counted by an expression of Polars.
        "all matches, a lazy query": [
            by_fyke(
                expression(lambda c, s: c.fyke.count_matches(s)), convert=lazy, needs="polars"
            ),
            by_polars(
                expression(lambda c, p: c.str.find_many(p, overlapping=True).list.len()), lazy
            ),
        ],
    }


def duckdb_count(pattern, table):
    duckdb = package("duckdb")
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


def resident():
    """Bytes of this process in memory, or None where there is no /proc."""
    try:
        pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
    except OSError:
        return None
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def growth(question, name):
    """Prints by how many bytes this process grows for each compiled set of several."""
    chosen = json.load(sys.stdin)
    compile = next(it.compile for it in contenders()[question] if it.name == name)
    # Libraries that load with their first use are not part of the set.
    compile(chosen[:1])
    gc.collect()
    before = resident()
    sets = [compile(chosen) for _ in range(max(PATTERNS_OF_GROWTH // len(chosen), 1))]
    gc.collect()
    after = resident()
    print(json.dumps(None if before is None else (after - before) // len(sets)))


def memory(contender, question, compiled, chosen):
    """Bytes of a compiled set, or None if that is not known."""
    if contender.memory != RESIDENT:
        return contender.memory and contender.memory(compiled)
    command = [sys.executable, __file__, "--growth", question, contender.name]
    done = subprocess.run(command, input=json.dumps(chosen), capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Cost(typing.NamedTuple):
    """What a contender costs in a cell: seconds and bytes."""

    median: float
    least: float
    most: float
    build: float
    memory: int | None


def cell(question, chosen, column, seconds):
    """The costs of all that answer a question, after they agree."""
    ready, answers = {}, {}
    for contender in contenders()[question]:
        name, most = contender.name, contender.most
        why = available(contender.needs)
        if why is None and most is not None and len(chosen) > most:
            why = f"not timed with more than {most} patterns"
        if why is not None:
            print(f"    {name}: {why}")
            continue
        start = time.perf_counter()
        compiled = contender.compile(chosen)
        build = time.perf_counter() - start
        data = contender.convert(column)
        answers[name] = int(contender.run(compiled, data))
        bytes_ = memory(contender, question, compiled, chosen)
        ready[name] = (contender.run, compiled, data, build, bytes_)
    if len(set(answers.values())) != 1:
        sys.exit(f"{question}: the answers differ: {answers}")
    times = {name: [] for name in ready}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times["fyke"]) < 3:
        for name, (run, compiled, data, *_) in ready.items():
            start = time.perf_counter()
            run(compiled, data)
            times[name].append(time.perf_counter() - start)
    return {
        name: Cost(statistics.median(t), min(t), max(t), *ready[name][3:])
        for name, t in times.items()
    }


def row(place, name, cost, ours):
    """A line of the table."""
    spread = f"{cost.least / cost.median:.2f}-{cost.most / cost.median:.2f}"
    kib = "" if cost.memory is None else f"{cost.memory / 1024:,.0f}"
    return (
        f"| {place} | {name} | {cost.median * 1e3:.2f} | {spread} "
        f"| {cost.build * 1e3:.1f} | {kib} | {cost.median / ours.median:.2f} |"
    )


def heading(size):
    """What was measured, where and with which versions."""
    versions = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            versions.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"without {name}")
    about = [line for line in open("/proc/cpuinfo") if "model name" in line][:1] if sys.platform == "linux" else []
    machine = about[0].split(":", 1)[1].strip() if about else platform.processor()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT)
    return [
        "# The Python package beside others",
        "",
        "`python benchmarks/python.py --out benchmarks/python.md` writes this page. All contenders of a",
        "cell are verified to count the same, and take turns. A *ratio* is a contender's median time",
        "divided by that of fyke. *Spread* is the least and the most time, divided by the median.",
        "",
        "*Build ms* is the time to prepare the patterns, once. *KiB* is what the compiled patterns take",
        "in memory. fyke, pyahocorasick and hyperscan say their sizes: `Searcher.memory`,",
        "`get_stats()['total_size']`, `Database.size()`. For ahocorasick_rs and `re` it is the growth of",
        "the resident memory of a fresh process that only compiles the patterns, small sets several",
        "times; that includes what the allocator keeps after the build. The functions of Polars, pandas",
        "and DuckDB take patterns and compile them in each call, so they have no size.",
        "",
        "All use one thread, but for Polars and what runs in its queries, where Polars chooses. A lazy",
        f"query reads a column of {CHUNKS} chunks; fyke's are the expressions of `fyke.polars`. hyperscan",
        "takes bytes, so its rows are encoded before the clock starts. Its lists have (pattern, end), as",
        "those of pyahocorasick; the others have the start, too.",
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
    parser.add_argument("--out", help="write the page here, too")
    parser.add_argument("--growth", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.growth:
        growth(*given.growth)
        return
    size = (1 << 19) if given.quick else (4 << 20)
    numbers = PATTERNS[:2] if given.quick else PATTERNS
    lines = heading(size) + [
        "| question | rows | patterns | contender | median ms | spread | build ms | KiB | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    best = []
    for kind in ("short", "long"):
        rng = random.Random(20)
        column = rows(kind, size, rng)
        for number in numbers:
            chosen = patterns(number, rng)
            for question in contenders():
                costs = cell(question, chosen, column, given.seconds)
                ours = costs["fyke"]
                for name, cost in costs.items():
                    lines.append(row(f"{question} | {kind} | {number}", name, cost, ours))
                    print(lines[-1], flush=True)
                rivals = [cost.median for name, cost in costs.items() if name != "fyke"]
                if rivals:
                    place = f"{question}, {kind}, {number} patterns"
                    best.append((min(rivals) / ours.median, place))
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
