"""Measures scans on several nodes of Ray: each has a network namespace and a throttled link.

`benchmarks/scale.py` runs it and writes what it returns as the section `Nodes`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import re
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
import typing

import netns

HERE = pathlib.Path(__file__).resolve().parent
WORKERS = (1, 2, 4)
# The link of each node, in bits per second.
LINK = 200_000_000
OBJECTS = 16
OBJECT_PORT = 8000
RAY_PORT = 6379
# A command is given up after these seconds, and a scan after so many times its time on one link.
START_LIMIT = 60
SCAN_LIMIT = 5


class Scaling(typing.NamedTuple):
    """Scans with a number of workers."""

    workers: int
    # Of the whole command for the objects, and of those bytes alone.
    command: float
    seconds: float
    # Bytes that each node received, per scanned byte, of the least and the most busy node.
    least: float
    most: float


class Loss(typing.NamedTuple):
    """A scan, one of whose nodes is killed in the middle."""

    workers: int
    nodes: int
    # Seconds of the command without the loss and with it, and until the node was killed.
    undisturbed: float
    seconds: float
    killed: float
    # Why there are no rows, or None if they are those of a local scan.
    failure: str | None = None


class Report(typing.NamedTuple):
    size: int
    rows: int
    scalings: list[Scaling]
    losses: list[Loss]


def missing():
    """Why nodes cannot be measured here, or None."""
    for name in ("pyarrow", "ray", "obstore"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            return str(error)
    return netns.missing()


class Cluster:
    """A Ray cluster: a head that scans nothing, and nodes of one core."""

    def __init__(self, network, folder):
        self.network, self.folder = network, folder
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        self.environment = {**os.environ, **token, "RAY_TMPDIR": str(folder)}
        self.environment["RAY_USAGE_STATS_ENABLED"] = "0"
        self.environment.pop("RAY_ADDRESS", None)
        self.nodes = []
        self.head = network.add("head")
        self.address = f"{self.head.address}:{RAY_PORT}"
        head = ("--head", f"--port={RAY_PORT}", "--include-dashboard=false")
        self._start(self.head, 0, *head, f"--temp-dir={folder}")

    def add(self):
        """A node more, with a throttled link."""
        node = self.network.add(f"node{len(self.network.machines)}", f"{LINK}bit")
        self._start(node, 1, f"--address={self.address}")
        self.nodes.append(node)

    def _start(self, machine, cores, *options):
        words = (sys.executable, "-m", "ray.scripts.scripts", "start", *options)
        words += (f"--node-ip-address={machine.address}", f"--num-cpus={cores}")
        words += (f"--object-store-memory={128 << 20}", "--disable-usage-stats")
        log = self.folder / f"{machine.name}.log"
        with log.open("w") as file:
            done = subprocess.run(
                machine.exec(*words),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                env=self.environment,
                timeout=START_LIMIT,
            )
        if done.returncode:
            raise RuntimeError(f"{machine.name}: Ray did not start: {log.read_text()[-2000:]}")

    def command(self, engine, workers, scan, output):
        """The command that scans, on the head."""
        words = [sys.executable, "-m", "fyke.dist", "scan", "--engine", engine, "-j", workers]
        if engine == "ray":
            words += ["--address", self.address]
        words += ["--database", scan.database, "--range", scan.range, "-o", output, *scan.uris]
        return self.head.exec(*words)


class Scan(typing.NamedTuple):
    """What is scanned."""

    database: str
    range: int
    uris: list[str]


@contextlib.contextmanager
def serving(network, folder):
    """The objects of a folder, behind HTTP on the hub."""
    words = (sys.executable, HERE / "http_objects.py", folder, OBJECT_PORT)
    server = subprocess.Popen(network.hub.exec(*words))
    try:
        yield f"http://{network.hub.address}:{OBJECT_PORT}"
    finally:
        server.kill()
        server.wait()


def rows_of(path):
    """The rows of a file."""
    from pyarrow import parquet

    return parquet.read_table(path)


class Bench:
    """The scans of one cluster, and the rows that they must give."""

    def __init__(self, cluster, scan, folder, size):
        self.cluster, self.scan, self.size = cluster, scan, size
        self.output = folder / "rows.parquet"
        self.log = folder / "scan.log"
        self.limit = START_LIMIT + SCAN_LIMIT * size * 8 / LINK
        self._wait(self._start(cluster.command("local", 1, scan, self.output)))
        self.expected = rows_of(self.output)

    def _wait(self, process):
        try:
            status = process.wait(self.limit)
        finally:
            process.kill()
            process.wait()
        # 1: there are no matches, as of `grep`.
        if status not in (0, 1):
            said = re.search(r"^fyke.dist: .*", self.log.read_text(), re.MULTILINE)
            raise RuntimeError(said[0] if said else f"a scan failed with status {status}")

    def _start(self, command):
        with self.log.open("w") as log:
            return subprocess.Popen(command, stderr=log, env=self.cluster.environment)

    def start(self, workers, scan):
        self.output.unlink(missing_ok=True)
        return self._start(self.cluster.command("ray", workers, scan, self.output))

    def seconds(self, workers, times=1):
        """Seconds of a command that scans the objects once or more often."""
        scan = self.scan._replace(uris=self.scan.uris * times)
        start = time.perf_counter()
        self._wait(self.start(workers, scan))
        seconds = time.perf_counter() - start
        self.compare(times)
        return seconds

    def compare(self, times=1):
        """Ends the program if a scan did not give the rows of a local scan, in their order."""
        import pyarrow

        rows = rows_of(self.output)
        if not rows.equals(pyarrow.concat_tables([self.expected] * times)):
            sys.exit(f"nodes: {rows.num_rows} rows differ from those of a local scan")

    def received(self):
        return list(map(self.cluster.network.received, self.cluster.nodes))

    def scaling(self, workers, repeats):
        """Scans of the objects once and twice: their difference is without the start."""
        # The first actor of a node waits for processes that the node starts once.
        self.seconds(workers)
        shorts, differences = [], []
        before = self.received()
        for _ in range(repeats):
            shorts.append(self.seconds(workers))
            differences.append(self.seconds(workers, 2) - shorts[-1])
        scanned = 3 * self.size * repeats
        shares = [(now - then) / scanned for then, now in zip(before, self.received(), strict=True)]
        medians = (statistics.median(shorts), statistics.median(differences))
        return Scaling(workers, *medians, min(shares), max(shares))

    def loss(self, workers, undisturbed):
        """A scan whose busiest node is killed once it has half of its share of the objects."""
        before, start = self.received(), time.perf_counter()
        process = self.start(workers, self.scan)
        half = self.size // workers // 2
        while True:
            shares = [now - then for then, now in zip(before, self.received(), strict=True)]
            if max(shares) >= half:
                break
            if process.poll() is not None or time.perf_counter() - start > self.limit:
                process.kill()
                raise RuntimeError("nodes: the scan ended before a node was killed")
            time.sleep(0.02)
        nodes, killed = len(self.cluster.nodes), time.perf_counter() - start
        self.cluster.nodes.pop(shares.index(max(shares))).kill()
        failure = None
        try:
            self._wait(process)
            self.compare()
        except subprocess.TimeoutExpired:
            failure = f"it did not end within {self.limit:.0f} s"
        except RuntimeError as error:
            failure = str(error)
        seconds = time.perf_counter() - start
        return Loss(workers, nodes, undisturbed, seconds, killed, failure)


def measure(block, database, size, repeats):
    """A report of scans of `size` bytes, which repeat a block of text."""
    with tempfile.TemporaryDirectory(prefix="fyke-", ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        (folder / "objects").mkdir()
        part = (block * (size // OBJECTS // len(block) + 1))[: size // OBJECTS]
        for number in range(OBJECTS):
            (folder / f"objects/{number}.txt").write_bytes(part)
        with netns.Network() as network, serving(network, folder / "objects") as server:
            uris = [f"{server}/{number}.txt" for number in range(OBJECTS)]
            # Two tasks for each object, so that matches lie across ranges.
            scan = Scan(str(database), len(part) // 2, uris)
            cluster = Cluster(network, folder)
            bench = Bench(cluster, scan, folder, len(part) * OBJECTS)
            scalings = []
            for workers in WORKERS:
                while len(cluster.nodes) < workers:
                    cluster.add()
                scalings.append(bench.scaling(workers, repeats))
                print(scalings[-1], file=sys.stderr)
            losses = []
            # With a node to spare, and without.
            for workers in (WORKERS[-1] - 1, WORKERS[-1]):
                while len(cluster.nodes) < WORKERS[-1]:
                    cluster.add()
                losses.append(bench.loss(workers, bench.seconds(workers)))
                print(losses[-1], file=sys.stderr)
            return Report(bench.size, bench.expected.num_rows, scalings, losses)


def section(report, why):
    """The section of the page, or why there is none."""
    lines = ["## Nodes", ""]
    if report is None:
        return [*lines, f"Not measured here: {why}.", ""]
    lines += [
        "Nodes of Ray on this machine, each in a Linux network namespace of its own, with one core and",
        f"a link of {LINK / 1e6:.0f} Mbit/s both ways. The objects are behind HTTP in another namespace. The head",
        "of the cluster runs the command and scans nothing. *Command* is `python -m fyke.dist scan`,",
        f"from its start to the written file, for {report.size:,} bytes; *s* is what as many bytes",
        "more take, so without the start. *Share* is what a node received, divided by what was scanned,",
        "for the least and the most busy node. The output was compared after each scan: it has the",
        f"{report.rows:,} rows of a local scan, in their order.",
        "",
        "| workers | command s | s | MB/s | of the links | speedup | share |",
        "|---|---|---|---|---|---|---|",
    ]
    base = report.scalings[0].seconds
    for it in report.scalings:
        rate = report.size / it.seconds
        lines.append(
            f"| {it.workers} | {it.command:.2f} | {it.seconds:.2f} | {rate / 1e6:.1f} "
            f"| {rate * 8 / LINK / it.workers:.0%} | {base / it.seconds:.2f} "
            f"| {it.least:.3f}-{it.most:.3f} |"
        )
    lines += [
        "",
        "The busiest node is killed in the middle of a scan: all its processes, once it has read half",
        "of its share. *Killed* is the time from the start of the command until then.",
        "",
        "| workers | nodes | s without a loss | killed s | s | rows |",
        "|---|---|---|---|---|---|",
    ]
    for it in report.losses:
        rows = "those of a local scan" if it.failure is None else f"none: {it.failure}"
        lines.append(
            f"| {it.workers} | {it.nodes} | {it.undisturbed:.2f} | {it.killed:.2f} "
            f"| {it.seconds:.2f} | {rows} |"
        )
    return [*lines, ""]
