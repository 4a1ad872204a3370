"""Fixtures, and the rule for what a machine lacks.

`FYKE_REQUIRE` lists names, separated by commas. A library that is named must be there; one that is
not named and missing is a skip, which pytest prints with its reason.
"""

import importlib
import os
import pathlib
import random
import sys

import fyke
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What pip calls a library that Python imports under another name.
PACKAGES = {"ahocorasick": "pyahocorasick"}


def required():
    """The names in `FYKE_REQUIRE`."""
    names = os.environ.get("FYKE_REQUIRE", "").split(",")
    return {name.strip() for name in names if name.strip()}


def library(name):
    """A library that a test needs, or the skip or failure for want of it."""
    package = PACKAGES.get(name, name)
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if package in required():
            pytest.fail(f"FYKE_REQUIRE names {package}, and it is missing: {error}")
        pytest.skip(f"{package} is not installed: pip install {package}")


def ray_cluster(*nodes):
    """A Ray cluster, given what each node has. Its first node is the head.

    A node of Ray has 30 s to start, which a busy machine may miss. Then the cluster is started
    again, at most twice.
    """
    library("ray")
    from ray.cluster_utils import Cluster

    for attempt in (1, 2, 3):
        cluster = Cluster()
        try:
            for node in nodes:
                cluster.add_node(**node)
            return cluster
        except Exception as error:
            cluster.shutdown()
            if attempt == 3:
                raise
            print(f"attempt {attempt} to start Ray failed: {error}", file=sys.stderr)


@pytest.fixture
def database(request, tmp_path):
    """A database of the `PATTERNS` of the test's module."""
    path = str(tmp_path / "patterns.fyke")
    fyke.Searcher(request.module.PATTERNS).save(path)
    return path


def rows_of(batches):
    """The rows of Arrow batches as tuples."""
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.fixture
def numpy():
    return library("numpy")


@pytest.fixture
def pyarrow():
    return library("pyarrow")


@pytest.fixture
def polars():
    return library("polars")


@pytest.fixture
def pandas():
    return library("pandas")


@pytest.fixture
def rng():
    """The same numbers in every run."""
    return random.Random(20)
