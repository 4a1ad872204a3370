"""A scan on a Ray cluster that has less room than was asked for, or loses a node."""

import os
import pathlib
import signal
import subprocess
import sys

import fyke
import oracle
import pytest
import served
from conftest import library, ray_cluster

PATTERNS = [b"she", b"hers", b"he"]
DATA = b"ushers and hers\nshe" * 50
NAMES = [f"/{number}" for number in range(8)]


@pytest.fixture
def address():
    """A Ray cluster of two nodes with a core each, and a head that has none."""
    library("pyarrow")
    library("obstore")
    cluster = ray_cluster({"num_cpus": 0}, {"num_cpus": 1}, {"num_cpus": 1})
    yield cluster.address
    cluster.shutdown()


@pytest.fixture
def server():
    with served.serving() as server:
        server.contents = dict.fromkeys(NAMES, DATA)
        yield server


def scan(address, server, tmp_path, workers):
    """The rows of a scan in a process of its own, which may connect to this cluster."""
    import pyarrow.parquet as parquet

    database, output = str(tmp_path / "patterns.fyke"), str(tmp_path / "rows.parquet")
    fyke.Searcher(PATTERNS).save(database)
    command = [sys.executable, "-m", "fyke.dist", "scan", "--engine", "ray", "--address", address]
    command += ["-j", str(workers), "--database", database, "--range", "500", "-o", output]
    done = subprocess.run(
        [*command, *map(server.uri, NAMES)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return [tuple(row.values()) for row in parquet.read_table(output).to_pylist()]


def expected(server):
    matches = oracle.all_matches(PATTERNS, DATA)
    return [(server.uri(name), start, pattern) for name in NAMES for pattern, start, _ in matches]


def test_more_workers_than_the_nodes_have_cores(address, server, tmp_path):
    assert scan(address, server, tmp_path, 5) == expected(server)


def test_a_node_that_dies_in_the_middle_of_an_object(address, server, tmp_path, monkeypatch):
    """The server kills the node whose worker reads an object. No node has room for another."""
    process_of = served.process_of

    def worker_of(port):
        worker = process_of(port)
        status = pathlib.Path(f"/proc/{worker}/status").read_text()
        parent = int(status.split("PPid:")[1].split()[0])
        assert b"raylet" in pathlib.Path(f"/proc/{parent}/cmdline").read_bytes()
        os.kill(parent, signal.SIGKILL)
        return worker

    monkeypatch.setattr(served, "process_of", worker_of)
    server.deadly = {"/3"}
    assert scan(address, server, tmp_path, 2) == expected(server)
    assert server.killed == 1
