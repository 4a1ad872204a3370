"""The engine `ray`: actors of a Ray cluster, or of this machine if there is none."""

from __future__ import annotations

import collections
import os
from collections.abc import Iterator
from typing import Any

from fyke import Searcher
from fyke.dist import objects
from fyke.dist.plan import Plan, ScanTask

# How often a task is tried whose worker dies.
TRIES = 4

# Tasks that an actor has at a time: one that runs, and one that waits.
AHEAD = 2


class Worker:
    """An actor: a process that has the database in memory."""

    def __init__(self, database: Any) -> None:
        self._searcher = Searcher.from_bytes(database)

    def batches(self, task: ScanTask, counts: bool) -> list[Any]:
        """All batches of a task. They exist once the whole task is done."""
        return list(task.batches(counts, self._searcher))


def run(
    plan: Plan,
    workers: int | None = None,
    address: str | None = None,
    *,
    counts: bool = False,
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
        workers = workers or int(ray.cluster_resources().get("CPU", 1))
        yield from _ordered(ray, plan, workers, counts)
    finally:
        if started:
            ray.shutdown()


_QUIET: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False}


def _ordered(ray: Any, plan: Plan, workers: int, counts: bool) -> Iterator[Any]:
    """The batches in the order of tasks, of which only some are submitted at a time."""
    import pyarrow

    # The object store has the database once for each node. Workers need no path to it. An actor that
    # starts again finds it there, because this process keeps the reference.
    database = ray.put(pyarrow.py_buffer(objects.read_all(plan.tasks[0].database)))
    actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=TRIES - 1)(Worker)
    actors = [actor.remote(database) for _ in range(min(workers, len(plan.tasks)))]
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
