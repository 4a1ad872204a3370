"""The engine `ray`: actors of a Ray cluster, or of this machine if there is none.

An actor searches with the CPU, or with a share of a GPU.
"""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator
from typing import Any

from fyke import BuildError, Searcher
from fyke.dist import objects
from fyke.dist.plan import Plan, ScanTask

# How often a task is tried whose worker dies.
TRIES = 4

# Tasks that an actor has at a time: one that runs, and one that waits.
AHEAD = 2


class Worker:
    """An actor: a process that has the database in memory, compiled for a GPU if asked for."""

    def __init__(self, database: Any, on_gpu: bool) -> None:
        self._database = database
        self._on_gpu = on_gpu
        self._searcher: Searcher | None = None

    def batches(self, task: ScanTask, counts: bool) -> list[Any]:
        """All batches of a task. They exist once the whole task is done."""
        # An error of a task reaches the driver. One of `__init__` would be the actor's death.
        if self._searcher is None:
            self._searcher = _loaded(self._database, self._on_gpu)
            del self._database
        return list(task.batches(counts, self._searcher))


def _loaded(database: Any, on_gpu: bool) -> Searcher:
    if not on_gpu:
        return Searcher.from_bytes(database)
    try:
        return Searcher.from_bytes(database, engine="gpu")
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
    gpus: float | None = None,
) -> Iterator[Any]:
    """The batches of all tasks, in their order: rows, or counts.

    With `gpus`, each actor searches with that share of a GPU, from above 0 to 1.
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
        most = _most_workers(ray, gpus)
        # Actors for which there is no GPU would wait for ever, and their tasks with them.
        workers = min(workers or most, most) if gpus else workers or most
        yield from _ordered(ray, plan, min(workers, len(plan.tasks)), counts, gpus)
    finally:
        if started:
            ray.shutdown()


_QUIET: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False}


def _most_workers(ray: Any, gpus: float | None) -> int:
    """How many actors the cluster has room for. Each has a core, and its share of one device."""
    most = 0
    for node in ray.nodes():
        cores = int(node["Resources"].get("CPU", 0))
        if gpus is not None:
            # A share such as 1/3 is a little more in binary.
            shares = int(1 / gpus + 1e-6)
            cores = min(cores, int(node["Resources"].get("GPU", 0)) * shares)
        most += cores if node["Alive"] else 0
    if gpus is not None and most == 0:
        raise RuntimeError(
            "the Ray cluster has no node with a GPU and a core: start one, or leave out --gpus"
        )
    return max(most, 1)


def _ordered(ray: Any, plan: Plan, workers: int, counts: bool, gpus: float | None) -> Iterator[Any]:
    """The batches in the order of tasks, of which only some are submitted at a time."""
    import pyarrow

    # The object store has the database once for each node. Workers need no path to it. An actor that
    # starts again finds it there, because this process keeps the reference.
    database = ray.put(pyarrow.py_buffer(objects.read_all(plan.tasks[0].database)))
    options = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": TRIES - 1}
    actor = ray.remote(num_gpus=gpus or 0, **options)(Worker)
    actors = [actor.remote(database, gpus is not None) for _ in range(workers)]
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
