"""Measures scans in tasks: workers, engines, throttled storage, nodes. Writes docs/scale.md.

    pip install . -r python/requirements.txt
    python benchmarks/scale.py [--quick] [--out docs/scale.md]

Every run of a scan is verified: all give the same number of matches. An engine runs in a process of
its own, after a first scan that starts its workers. Nodes need Linux, root, `ip` and `tc`. What is
missing is printed with its reason.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import lzma
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import fyke
import http_objects
import nodes
from fyke.dist import local, make_plan
from fyke.dist.__main__ import write

ROOT = pathlib.Path(__file__).resolve().parents[1]
ENGINES = ("local", "ray", "spark on Sail", "spark on Java")
PETABYTE = 10**15
GIGABIT = 10**9 / 8
# Bytes per second of each connection to the throttled server.
THROTTLE = 16 << 20
# Tasks of the two scans whose difference gives the overhead of a task, and how often the objects are
# scanned for the rate.
FEW = 20
MANY = {"local": 4020, "ray": 1020, "spark on Sail": 220, "spark on Java": 220}
TIMES = 12
# Bytes that are scanned on nodes with slow links, so that one of them takes seconds and not minutes.
MOST_FOR_NODES = 256 << 20


def words(number, share):
    """Random words; `share` of them occur in the text."""
    rng = random.Random(20)
    letters = "abcdefghijklmnopqrstuvwxyz"
    made = {"".join(rng.choices(letters, k=rng.randint(8, 14))) for _ in range(number)}
    known = sorted(set(re.findall(r"[A-Za-z]{7,}", text())))
    rng.shuffle(known)
    return known[: int(number * share)] + sorted(made)[int(number * share) :]


def text():
    return lzma.decompress((ROOT / "data/text/kjv.txt.xz").read_bytes()).decode("ascii")


def prepare(folder, size):
    """Objects of `size` bytes in all, a small one, and two databases."""
    block = text().encode()
    (folder / "objects").mkdir()
    for number in range(8):
        with (folder / f"objects/{number}.txt").open("wb") as file:
            for _ in range(max(size // 8 // len(block), 1)):
                file.write(block)
    (folder / "small").write_bytes(block[:100_000])
    fyke.Searcher(words(1000, 0.0)).save(folder / "sparse.fyke")
    fyke.Searcher(words(1000, 0.2)).save(folder / "dense.fyke")


def runner(engine, workers):
    """A function that runs a plan, after the engine was started."""
    if engine == "local":
        return lambda plan: local.run(plan, workers)
    if engine == "ray":
        import ray
        from fyke.dist import ray as on_ray

        ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
        return lambda plan: on_ray.run(plan, workers)
    from fyke.dist import spark
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    if engine == "spark on Sail":
        global server  # It stops when it is dropped.
        server = importlib.import_module("pysail.spark").SparkConnectServer()
        server.start(background=True)
        SparkSession.builder.remote(f"sc://localhost:{server.listening_address[1]}").getOrCreate()
    else:
        builder = SparkSession.builder.master(f"local[{workers},4]")
        builder.config("spark.python.daemon.module", "fyke.dist.spark_daemon")
        builder.config("spark.ui.enabled", "false").config("spark.log.level", "OFF").getOrCreate()
    stage = tempfile.mkdtemp(prefix="fyke-stage-")
    return lambda plan: spark.run(plan, stage)


def timed(run, plan):
    """Seconds and rows of a scan."""
    start = time.perf_counter()
    rows = sum(batch.num_rows for batch in run(plan))
    return time.perf_counter() - start, rows


def measure(engine, workers, folder, repeats):
    """One engine: seconds to start, of the whole scan, and of a task that does nothing."""
    start = time.perf_counter()
    run = runner(engine, workers)
    small, database = str(folder / "small"), str(folder / "sparse.fyke")
    timed(run, make_plan([small], database, 14, 50_000))
    started = time.perf_counter() - start
    size = os.path.getsize(small)
    few, many = (make_plan([small], database, 14, size // n) for n in (FEW, MANY[engine]))
    overhead = []
    for _ in range(repeats):
        short, _ = timed(run, few)
        long, _ = timed(run, many)
        overhead.append((long - short) / (len(many.tasks) - len(few.tasks)))
    once, often = (make_plan([str(folder / "objects")] * n, database, 14) for n in (1, TIMES))
    rates, scans = [], []
    for _ in range(repeats):
        short, rows = timed(run, once)
        long, more = timed(run, often)
        assert more == TIMES * rows
        scans.append(short)
        rates.append((often.size - once.size) / (long - short))
    result = {
        "start": started,
        "task": max(statistics.median(overhead), 0.0),
        "scan": statistics.median(scans),
        "rate": statistics.median(rates),
        "rows": rows,
    }
    print(json.dumps(result), flush=True)
    if engine == "ray":
        importlib.import_module("ray").shutdown()
    # A server of Sail does not end with the interpreter.
    os._exit(0)


def in_process(engine, workers, folder, repeats):
    """What `measure` says, from a process of its own, or None with the reason."""
    why = missing(engine)
    if why is None:
        command = [sys.executable, __file__, "--one", engine, "--workers", str(workers)]
        command += ["--folder", str(folder), "--repeats", str(repeats)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode == 0:
            return json.loads(done.stdout.splitlines()[-1])
        why = f"it failed with status {done.returncode}"
    print(f"{engine}: {why}", file=sys.stderr)
    return None


def missing(engine):
    """Why an engine cannot run here, or None."""
    needs = {"ray": ["ray"], "spark on Sail": ["pyspark", "pysail"], "spark on Java": ["pyspark"]}
    for name in needs.get(engine, []):
        try:
            importlib.import_module(name)
        except ImportError as error:
            return str(error)
    if engine == "spark on Java" and not shutil.which("java"):
        return "there is no java"
    return None


def throttled(folder, numbers):
    """Seconds of a scan over HTTP for each number of workers."""
    try:
        importlib.import_module("obstore")
    except ImportError as error:
        print(f"throttled storage: {error}", file=sys.stderr)
        return {}, 0
    server = http_objects.Server(folder / "objects", THROTTLE).start()
    uris = [f"http://127.0.0.1:{server.server_port}/{number}.txt" for number in range(8)]
    plan = make_plan(uris, str(folder / "sparse.fyke"), 14, 8 << 20)
    # A part of the objects, so that one worker takes seconds and not minutes.
    tasks = plan.tasks[:: max(len(plan.tasks) // 16, 1)][:16]
    part = type(plan)(tasks)
    twice = type(plan)(tasks * 2)
    times = {}
    for workers in numbers:
        short, long = (timed(lambda p, w=workers: local.run(p, w), p)[0] for p in (part, twice))
        times[workers] = long - short
    server.shutdown()
    return times, part.size


def nodes_part(folder, size, repeats):
    """The section of nodes, or why there is none. The rest of the page does not depend on it."""
    why, report = nodes.missing(), None
    if why is None:
        try:
            report = nodes.measure(text().encode(), folder / "dense.fyke", size, repeats)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            why = str(error)
    if why is not None:
        print(f"nodes: {why}", file=sys.stderr)
    return nodes.section(report, why)


def rows_written(folder):
    """Rows per second into one Parquet file, and its bytes for each row, with frequent patterns."""
    plan = make_plan([str(folder / "objects/0.txt")], str(folder / "dense.fyke"), 40)
    output = folder / "out.parquet"
    start = time.perf_counter()
    rows = write(local.run(plan, 1), str(output))
    return rows, plan.size, time.perf_counter() - start, output.stat().st_size / rows


def heading(size, repeats, load):
    versions = [f"Python {platform.python_version()}"]
    for package in ("fyke", "pyarrow", "ray", "pyspark", "pysail"):
        try:
            versions.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            versions.append(f"without {package}")
    about = [line for line in open("/proc/cpuinfo") if "model name" in line] if sys.platform == "linux" else []
    machine = about[0].split(":", 1)[1].strip() if about else platform.processor()
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT)
    return f"""\
# Scans past one machine

`python -m fyke.dist scan` divides objects into tasks, and an engine runs them: see
[python.md](python.md#many-objects). This page says what the engines cost, and what a petabyte takes.
`python benchmarks/scale.py --out docs/scale.md` measures and writes it. All figures are of one small
machine; yours come from the same command.

{time.strftime("%Y-%m-%d")}, {machine}, {os.cpu_count()} cores, commit {commit.stdout.strip()}.
{", ".join(versions)}.
{size:,} bytes of English text in 8 files, in the page cache; 1,000 patterns that do not occur;
tasks of 64 MiB. Runs of each: {repeats}; times are their medians. The load average before was {load:.1f}: if that is
much, other programs took the cores, and differences below a factor of two are noise.
"""


def engines_part(results):
    lines = [
        "## Engines and workers",
        "",
        "*Start* is the time to the first row of a tiny scan: processes, actors, a JVM. *Task* is what a",
        "task costs beside its bytes: the difference of scans of many and of few tiny tasks, per task;",
        "0 is less than the noise. *Scan* is one scan of the objects; that of several local workers has",
        f"the start of their processes in it. *Rate* is that of the bytes which a scan of {TIMES} times the",
        "objects has more, so without the start. One local worker is the process itself.",
        "",
        "| engine | workers | start s | task ms | scan s | rate GB/s |",
        "|---|---|---|---|---|---|",
    ]
    for (engine, workers), it in results.items():
        lines.append(
            f"| {engine} | {workers} | {it['start']:.2f} | {it['task'] * 1e3:.2f} "
            f"| {it['scan']:.2f} | {it['rate'] / 1e9:.2f} |"
        )
    return [*lines, ""]


def throttle_part(times, size):
    if not times:
        return []
    lines = [
        "## Slow storage",
        "",
        f"Objects behind HTTP, {THROTTLE >> 20} MiB/s for each connection, as of an object store; local",
        f"workers, ranges of 8 MiB. The seconds are those of {size:,} bytes more, so without the start",
        "of the workers. A range is read by requests of 4 MiB, so by two connections at once.",
        "",
        "| workers | s | MB/s | speedup |",
        "|---|---|---|---|",
    ]
    base = times[min(times)]
    for workers, seconds in times.items():
        lines.append(f"| {workers} | {seconds:.2f} | {size / seconds / 1e6:.0f} | {base / seconds:.2f} |")
    return [*lines, ""]


def model_part(results, written):
    rate = results["local", 1]["rate"]
    rows, bytes_, seconds, row_bytes = written
    lines = [
        "## A petabyte",
        "",
        f"One core scans {rate / 1e9:.2f} GB/s here, reading included. The model is",
        "",
        "    core hours = bytes / rate + tasks x task overhead",
        "    hours      = max(core hours / cores, bytes / bandwidth, tasks x driver time, rows / row rate)",
        "",
        f"10^15 bytes take {PETABYTE / rate / 3600:,.0f} core hours. What a network brings:",
        "",
        "| Gbit/s per worker | hours of one worker | workers for a day | cores that it keeps busy |",
        "|---|---|---|---|",
    ]
    for gigabits in (1, 10, 25, 100, 200):
        speed = gigabits * GIGABIT
        hours = PETABYTE / speed / 3600
        lines.append(f"| {gigabits} | {hours:,.0f} | {-(-hours // 24):,.0f} | {speed / rate:.1f} |")
    lines += [
        "",
        "The last column is what the network delivers, divided by the rate of a core. **A GPU pays on a",
        "worker only if that is more cores than the worker has**: a GPU cannot scan what does not arrive.",
        "[benchmarks/gpu.md](../benchmarks/gpu.md) has rates of GPUs.",
        "",
        "The overhead of engines, with the times above. *Busy cores* is how many cores one driver can",
        "keep busy: tasks start one after the other, so it is seconds per task divided by overhead.",
        "",
        "| engine | range | tasks for 1 PB | overhead, core hours | of the scan | busy cores |",
        "|---|---|---|---|---|---|",
    ]
    for (engine, workers), it in results.items():
        if workers == 1 or it["task"] == 0:
            continue
        for name, size_ in (("64 MiB", 64 << 20), ("1 GiB", 1 << 30)):
            tasks = -(-PETABYTE // size_)
            overhead = tasks * it["task"] * workers / 3600
            lines.append(
                f"| {engine} | {name} | {tasks:,} | {overhead:,.1f} "
                f"| {overhead / (PETABYTE / rate / 3600):.1%} | {size_ / rate / it['task']:,.1f} |"
            )
    lines += [
        "",
        "So a cluster takes ranges of 1 GiB or more (`--range`), and one driver per part of the objects",
        "where it has more cores than that. Spark's driver plans each job of 1,000 tasks anew.",
        "",
        "Rows cost too. A fifth of 1,000 patterns that are words of the text give",
        f"{rows:,} rows in {bytes_:,} bytes: scanned and written to one Parquet file in",
        f"{seconds:.2f} s, {rows / seconds:,.0f} rows/s, {row_bytes:.1f} bytes each. It is the driver",
        "that writes: if a scan has more rows for each of its seconds, divide it.",
    ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less text, once each")
    parser.add_argument("--out", help="write the page here, too")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    # What was started and made is removed after a signal, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
    if given.one:
        measure(given.one, given.workers, given.folder, given.repeats)
        return
    repeats = 1 if given.quick else given.repeats
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="fyke-scale-") as name:
        folder = pathlib.Path(name)
        prepare(folder, (64 << 20) if given.quick else (2 << 30))
        size = sum(file.stat().st_size for file in (folder / "objects").iterdir())
        results = {}
        for engine in ENGINES:
            for workers in (1, 2):
                result = in_process(engine, workers, folder, repeats)
                if result is not None:
                    results[engine, workers] = result
                    print(engine, workers, result, file=sys.stderr)
        if len({result["rows"] for result in results.values()}) != 1:
            sys.exit(f"the rows differ: {results}")
        lines = [heading(size, repeats, load), *engines_part(results)]
        lines += throttle_part(*throttled(folder, (1, 2, 4)))
        lines += nodes_part(folder, min(size, MOST_FOR_NODES), repeats)
        lines += model_part(results, rows_written(folder))
    page = "\n".join(lines) + "\n"
    print(page)
    if given.out:
        pathlib.Path(given.out).write_text(page)


if __name__ == "__main__":
    main()
