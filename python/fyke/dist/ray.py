"""The engine `ray`: actors of a Ray cluster, or of this machine if there is none.

An actor searches with the CPU, or with a share of a GPU.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fyke import BuildError, Pattern, Searcher
from fyke.dist import objects
from fyke.dist.plan import Plan, ScanTask

# How often a task is tried whose worker dies.
TRIES = 4

# Tasks that an actor has at a time: one that runs, and one that waits.
AHEAD = 2


@dataclass(frozen=True)
class Gpu:
    """What each actor has of a GPU, from above 0 to 1, and the patterns that it compiles for it."""

    share: float
    patterns: list[Pattern]


class Worker:
    """An actor: a process that has the database, or the patterns compiled for a GPU, in memory."""

    def __init__(self, source: Any) -> None:
        self._source = source
        self._searcher: Searcher | None = None

    def batches(self, task: ScanTask, counts: bool) -> list[Any]:
        """All batches of a task. They exist once the whole task is done."""
        # An error of a task reaches the driver. One of `__init__` would be the actor's death.
        if self._searcher is None:
            self._searcher = _compiled(self._source)
            del self._source
        return list(task.batches(counts, self._searcher))


def _compiled(source: Any) -> Searcher:
    """The searcher of a database, or of patterns for a GPU."""
    if not isinstance(source, list):
        return Searcher.from_bytes(source)
    ids, nocase = [p.id for p in source], [p.nocase for p in source]
    try:
        return Searcher([p.pattern for p in source], ids, nocase=nocase, engine="gpu")
    except BuildError as error:
        raise RuntimeError(
            f"a worker cannot compile the patterns for a GPU: {error}: leave out --gpus to use CPUs"
        ) from error


def run(
    plan: Plan,
    workers: int | None = None,
    address: str | None = None,
    *,
    counts: bool = False,
    gpu: Gpu | None = None,
) -> Iterator[Any]:
    """The batches of all tasks, in their order: rows, or counts.

    A task whose worker dies is done again. Uses the cluster that the process is connected to, that
    of `address` or of `RAY_ADDRESS`, or a local one for this call.
    """
    import ray

    if not plan.tasks:
        return
    started = not ray.is_initialized()
    if started:
        local = address is None and "RAY_ADDRESS" not in os.environ
        ray.init(address=address, num_cpus=workers if local else None, **_QUIET)
    try:
        most = _most_workers(ray, gpu)
        # Actors for which there is no GPU would wait for ever, and their tasks with them.
        workers = min(workers or most, most) if gpu else workers or most
        yield from _ordered(ray, plan, min(workers, len(plan.tasks)), counts, gpu)
    finally:
        if started:
            ray.shutdown()


_QUIET: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False}


def _most_workers(ray: Any, gpu: Gpu | None) -> int:
    """How many actors the cluster has room for. Each has a core, and its share of one device."""
    most = 0
    for node in ray.nodes():
        cores = int(node["Resources"].get("CPU", 0))
        if gpu is not None:
            # A share such as 1/3 is a little more in binary.
            shares = int(1 / gpu.share + 1e-6)
            cores = min(cores, int(node["Resources"].get("GPU", 0)) * shares)
        most += cores if node["Alive"] else 0
    if gpu is not None and most == 0:
        raise RuntimeError(
            "the Ray cluster has no node with a GPU and a core: start one, or leave out --gpus"
        )
    return max(most, 1)


def _source(plan: Plan, gpu: Gpu | None) -> Any:
    """What the actors make their searchers from."""
    import pyarrow

    if gpu is not None:
        return gpu.patterns
    return pyarrow.py_buffer(objects.read_all(plan.tasks[0].database))


def _ordered(ray: Any, plan: Plan, workers: int, counts: bool, gpu: Gpu | None) -> Iterator[Any]:
    """The batches in the order of tasks, of which only some are submitted at a time."""
    # The object store has the source once for each node. Workers need no path to it. An actor that
    # starts again finds it there, because this process keeps the reference.
    source = ray.put(_source(plan, gpu))
    options = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": TRIES - 1}
    actor = ray.remote(num_gpus=gpu.share if gpu else 0, **options)(Worker)
    actors = [actor.remote(source) for _ in range(workers)]
    waiting = collections.deque(plan.tasks)
    running: collections.deque[tuple[ScanTask, Any, Any]] = collections.deque()
    free = collections.deque(actors * AHEAD)
    try:
        while waiting or running:
            while waiting and free:
                task, chosen = waiting.popleft(), free.popleft()
                running.append((task, chosen, chosen.batches.remote(task, counts)))
            task, chosen, result = running.popleft()
            free.append(chosen)
            yield from _result(ray, task, result)
    finally:
        for actor in actors:
            ray.kill(actor)


def _result(ray: Any, task: ScanTask, result: Any) -> list[Any]:
    try:
        return ray.get(result)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from error
    except ray.exceptions.RayActorError as error:
        raise RuntimeError(
            f"{task.object.uri}: the actor that scans bytes {task.lo} to {task.hi} died: {error}"
        ) from error
