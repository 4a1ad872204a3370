"""The engine `local`: processes of this machine."""

from __future__ import annotations

import collections
import multiprocessing
import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from fyke.dist.plan import Plan, ScanTask

# How often a task is tried whose worker dies.
TRIES = 4


def _batches(task: ScanTask, counts: bool) -> list[Any]:
    return list(task.batches(counts))


class _Pool:
    """A pool of processes that is started again when one of them dies."""

    def __init__(self, workers: int, counts: bool) -> None:
        self.workers, self.counts = workers, counts
        self.pool = self._new()

    def _new(self) -> ProcessPoolExecutor:
        # Not forked: threads of pyarrow do not survive that.
        context = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(self.workers, mp_context=context)

    def submit(self, task: ScanTask) -> Future[list[Any]]:
        try:
            return self.pool.submit(_batches, task, self.counts)
        except BrokenProcessPool:
            self.restart()
            return self.pool.submit(_batches, task, self.counts)

    def restart(self) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool = self._new()

    def stop(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)


def run(plan: Plan, workers: int | None = None, *, counts: bool = False) -> Iterator[Any]:
    """The batches of all tasks, in their order: rows, or counts.

    A task whose worker dies is done again.
    """
    workers = workers or os.cpu_count() or 1
    if workers == 1 or len(plan.tasks) < 2:
        for task in plan.tasks:
            yield from task.batches(counts)
        return
    pool = _Pool(min(workers, len(plan.tasks)), counts)
    try:
        yield from _ordered(pool, plan.tasks, 2 * workers)
    finally:
        pool.stop()


def _ordered(pool: _Pool, tasks: list[ScanTask], ahead: int) -> Iterator[Any]:
    """The batches in the order of tasks, of which only some are submitted at a time."""
    waiting = collections.deque(tasks)
    running: collections.deque[tuple[ScanTask, Future[list[Any]], int]] = collections.deque()
    while waiting or running:
        while waiting and len(running) < ahead:
            task = waiting.popleft()
            running.append((task, pool.submit(task), 1))
        task, future, tries = running.popleft()
        try:
            yield from future.result()
        except BrokenProcessPool:
            if tries == TRIES:
                raise RuntimeError(
                    f"{task.object.uri}: the process that scans bytes {task.lo} to {task.hi} died "
                    f"{tries} times"
                ) from None
            # All that was submitted is lost with the pool.
            again = [(task, tries + 1), *((task, tries) for task, _, tries in running)]
            pool.restart()
            running = collections.deque((task, pool.submit(task), tries) for task, tries in again)
