"""The engine `ray`: actors of a Ray cluster, or of this machine if there is none.

An actor searches with the CPU, or with a share of a GPU.
"""

from __future__ import annotations

import collections
import heapq
import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from fyke import BuildError, Searcher
from fyke.dist import objects
from fyke.dist.plan import Plan, ScanTask

# How often a task is tried whose worker dies.
TRIES = 4

# Seconds without an actor after which a warning says so.
SILENCE = 60

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
        cores = workers if local else None
        ray.init(address="local" if local else address, num_cpus=cores, **_QUIET)
    try:
        most = _most_workers(ray, gpus)
        # Actors for which there is no GPU would wait for ever, and their tasks with them.
        workers = min(workers or most, most) if gpus else workers or most
        yield from _ordered(ray, plan, min(workers, len(plan.tasks)), counts, gpus)
    except ray.exceptions.RayError as error:
        raise RuntimeError(f"the Ray cluster: {error}") from error
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

    # The object store has the database once for each node. Workers need no path to it. An actor
    # that replaces another finds it there, because this process keeps the reference.
    database = ray.put(pyarrow.py_buffer(objects.read_all(plan.tasks[0].database)))
    actor = ray.remote(num_cpus=1, num_gpus=gpus or 0)(Worker)
    pool = _Pool(ray, lambda: actor.remote(database, gpus is not None), workers)
    try:
        yield from pool.ordered(plan.tasks, counts)
    finally:
        pool.stop()


class _Pool:
    """Actors, of which one that dies is replaced, and its tasks go to those that are left.

    Ray's own retries go to the address of the actor, and are used up before Ray knows that its node
    is dead. And an actor for which the nodes have no room never starts: it gets no task.
    """

    def __init__(self, ray: Any, start: Callable[[], Any], workers: int) -> None:
        self._ray, self._start, self._ahead = ray, start, AHEAD * workers
        self._actors: dict[int, Any] = {}
        self._started = self._failures = 0
        # The actors of references that tell of their start, and of places for tasks.
        self._starting: dict[Any, int] = {}
        self._free: collections.deque[int] = collections.deque()
        # Actors and tasks of references to batches.
        self._running: dict[Any, tuple[int, int]] = {}
        for _ in range(workers):
            self._add()

    def stop(self) -> None:
        for actor in self._actors.values():
            self._ray.kill(actor)

    def ordered(self, tasks: list[ScanTask], counts: bool) -> Iterator[Any]:
        """The batches of all tasks, in their order: rows, or counts."""
        # A heap: a task that is done again is the next.
        waiting = list(range(len(tasks)))
        tries = [0] * len(tasks)
        done: dict[int, list[Any]] = {}
        for first in range(len(tasks)):
            while first not in done:
                while waiting and self._free and waiting[0] < first + self._ahead:
                    task, number = heapq.heappop(waiting), self._least_busy()
                    tries[task] += 1
                    result = self._actors[number].batches.remote(tasks[task], counts)
                    self._running[result] = (number, task)
                for task, error in self._collect(done):
                    if tries[task] == TRIES:
                        raise _died(tasks[task]) from error
                    heapq.heappush(waiting, task)
            yield from done.pop(first)

    def _least_busy(self) -> int:
        """Takes a place of the actor that has the fewest tasks."""
        busy = collections.Counter(number for number, _ in self._running.values())
        number = min(self._free, key=lambda number: busy[number])
        self._free.remove(number)
        return number

    def _collect(self, done: dict[int, list[Any]]) -> Iterator[tuple[int, Exception]]:
        """Waits, adds the batches of tasks that are done, and gives the tasks that are lost."""
        pending = [*self._running, *self._starting]
        while not self._ray.wait(pending, num_returns=1, timeout=SILENCE)[0]:
            if not self._running:
                message = "no node of the Ray cluster has room for a worker: waiting"
                warnings.warn(message, stacklevel=2)
        for result in self._ray.wait(pending, num_returns=len(pending), timeout=0)[0]:
            if result in self._starting:
                self._begin(result)
                continue
            number, task = self._running.pop(result)
            try:
                done[task] = self._ray.get(result)
            except self._ray.exceptions.RayTaskError as error:
                raise error.cause from error
            except self._lost as error:
                self._replace(number)
                yield task, error
            else:
                # An actor may be lost after it has done a task.
                if number in self._actors:
                    self._free.append(number)

    @property
    def _lost(self) -> tuple[type[Exception], ...]:
        """Errors of an actor that died, and of results that were on a node that died."""
        errors = self._ray.exceptions
        return (
            errors.RayActorError,
            errors.ObjectLostError,
            errors.NodeDiedError,
            errors.OutOfMemoryError,
            errors.WorkerCrashedError,
        )

    def _add(self) -> None:
        actor = self._start()
        self._actors[self._started] = actor
        self._starting[actor.__ray_ready__.remote()] = self._started
        self._started += 1

    def _begin(self, result: Any) -> None:
        """An actor started, or did not."""
        number = self._starting.pop(result)
        try:
            self._ray.get(result)
        except self._lost as error:
            self._failures += 1
            if self._failures == TRIES:
                raise RuntimeError(f"an actor died {TRIES} times as it started: {error}") from error
            self._replace(number)
            return
        self._failures = 0
        self._free.extend([number] * AHEAD)

    def _replace(self, number: int) -> None:
        """Starts an actor in place of one that is lost. Each of its tasks may tell of the loss."""
        actor = self._actors.pop(number, None)
        if actor is None:
            return
        # It may live on a node that cannot be reached.
        self._ray.kill(actor)
        self._free = collections.deque(other for other in self._free if other != number)
        self._add()


def _died(task: ScanTask) -> RuntimeError:
    return RuntimeError(
        f"{task.object.uri}: the actor that scans bytes {task.lo} to {task.hi} died {TRIES} times"
    )
