"""Does the same work for many items: in this process, in several, or on the workers of a Dask cluster.

The results come in the order of the items. Only some items are under way at a time, so that the memory does not grow with
their number. If a worker dies, its items are done again, one by one. An item that kills its worker again is reported.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from itertools import chain, islice, repeat
from typing import Any, Generic, Literal, TypeVar

Engine = Literal["processes", "dask"]
ENGINES: tuple[Engine, ...] = ("processes", "dask")
S = TypeVar("S")
R = TypeVar("R")
_LOG = logging.getLogger(__name__)
_MOST = 32  # items of a batch: one by one, the scheduler would be busier than the workers
_AHEAD = 4  # batches under way for each worker


class EngineMissing(RuntimeError):
    """An engine cannot work: a package is not installed, or the workers have another version."""


class EngineLost(RuntimeError):
    """The cluster went away before the work was done."""


@dataclass(frozen=True)
class Work(Generic[S, R]):
    """The work for each item.

    `do` runs in the workers. `ready` returns the result of an item that needs no work, or `None`. `died` returns the result
    of an item whose worker died. `unfinished` tells whether the work for a result is to be tried again.
    """

    do: Callable[[S], R]
    died: Callable[[S], R]
    ready: Callable[[S], R | None] = lambda _: None
    unfinished: Callable[[R], bool] = lambda _: False


def mapped(work: Work[S, R], items: Iterable[S], jobs: int, engine: Engine) -> Iterator[R]:
    """Returns the results for the items, in order. Raises `EngineMissing` and `EngineLost`."""
    if engine == "dask":
        return _on_dask(work, items, jobs)
    if jobs < 2:
        return (_ready_or_done(work, item) for item in items)
    return _in_processes(work, items, jobs)


def _ready_or_done(work: Work[S, R], item: S) -> R:
    ready = work.ready(item)
    return work.do(item) if ready is None else ready


# --- Batches ---------------------------------------------------------------------------------------------


@dataclass
class _Batch(Generic[S, R]):
    """Some items with their results, as far as these are ready, and the rest that is under way."""

    entries: list[tuple[S, R | None]]
    future: Any = None

    @property
    def missing(self) -> list[S]:
        """The items that need work."""
        return [item for item, ready in self.entries if ready is None]

    def joined(self, results: Iterable[R]) -> Iterator[R]:
        """Yields all results in order."""
        rest = iter(results)
        return (next(rest) if ready is None else ready for _, ready in self.entries)


def _batches(work: Work[S, R], items: Iterable[S], jobs: int) -> Iterator[_Batch[S, R]]:
    """Yields batches. The first are small, so that a few large files are shared out evenly."""
    left = iter(items)
    sizes = chain(repeat(1, 4 * jobs), repeat(4, 4 * jobs), repeat(_MOST))
    while entries := [(item, work.ready(item)) for item in islice(left, next(sizes))]:
        yield _Batch(entries)


def _mapped(do: Callable[[S], R], items: list[S]) -> list[R]:
    return list(map(do, items))


# --- Processes -------------------------------------------------------------------------------------------


def _executor(jobs: int) -> ProcessPoolExecutor:
    """Returns a pool whose processes are no forks of this one.

    A fork of a process with threads hangs if one of them held a lock, and s3fs, like every object store, has a thread.
    The process that starts them has the environment of its own start, so that they are given that of now.
    """
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
    return ProcessPoolExecutor(jobs, context, _begin, (dict(os.environ),))


def _begin(environment: Mapping[str, str]) -> None:
    os.environ.update(environment)


def _in_processes(work: Work[S, R], items: Iterable[S], jobs: int) -> Iterator[R]:
    pool = _Pool(work, jobs)
    under_way: deque[_Batch[S, R]] = deque()
    try:
        for batch in _batches(work, items, jobs):
            if len(under_way) >= _AHEAD * jobs:
                yield from pool.results(under_way.popleft())
            pool.start(batch)
            under_way.append(batch)
        while under_way:
            yield from pool.results(under_way.popleft())
    finally:
        pool.executor.shutdown(cancel_futures=True)


class _Pool(Generic[S, R]):
    """A pool of processes. It is replaced if one of them dies, because then all of them are lost."""

    def __init__(self, work: Work[S, R], jobs: int) -> None:
        self.work, self.jobs = work, jobs
        self.executor = _executor(jobs)

    def start(self, batch: _Batch[S, R]) -> None:
        """Gives the batch to a process."""
        if batch.missing:
            try:
                batch.future = self.executor.submit(_mapped, self.work.do, batch.missing)
            except BrokenProcessPool:
                self._replace()
                batch.future = self.executor.submit(_mapped, self.work.do, batch.missing)

    def results(self, batch: _Batch[S, R]) -> Iterator[R]:
        """Yields the results of the batch."""
        try:
            done = batch.future.result() if batch.future else []
        except BrokenProcessPool:
            self._replace()
            done = [self._alone(item) for item in batch.missing]
        return batch.joined(done)

    def _replace(self) -> None:
        with suppress(BrokenProcessPool):  # it may have been replaced already
            self.executor.submit(int).result()
            return
        self.executor.shutdown(wait=False)
        self.executor = _executor(self.jobs)

    def _alone(self, item: S) -> R:
        with _executor(1) as one:
            future: Future[R] = one.submit(self.work.do, item)
            try:
                return future.result()
            except BrokenProcessPool:
                return self.work.died(item)


# --- Dask ------------------------------------------------------------------------------------------------


def _on_dask(work: Work[S, R], items: Iterable[S], jobs: int) -> Iterator[R]:
    distributed = _distributed()
    with ExitStack() as stack:
        client = _client(stack, distributed, jobs)
        cluster = _Cluster(work, client, distributed, jobs)
        under_way: deque[_Batch[S, R]] = deque()
        for batch in _batches(work, items, cluster.workers()):
            while len(under_way) >= _AHEAD * cluster.workers():
                yield from cluster.results(under_way.popleft())
            cluster.start(batch)
            under_way.append(batch)
        while under_way:
            yield from cluster.results(under_way.popleft())


class _Cluster(Generic[S, R]):
    """A client of a scheduler. The items and the results go through it, and nothing else."""

    def __init__(self, work: Work[S, R], client: Any, distributed: Any, jobs: int) -> None:
        self.work, self.client, self.jobs = work, client, jobs
        self._dead = distributed.scheduler.KilledWorker
        self._lost = (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError, OSError)
        self._counted = (0.0, jobs)
        _check_versions(client)

    def workers(self) -> int:
        """Returns the number of threads that work. They come and go, so it is asked for again after some seconds."""
        when, count = self._counted
        if time.monotonic() > when + 5:
            with self._explained():
                count = max(self.jobs, sum(self.client.nthreads().values()))
            self._counted = time.monotonic(), count
        return count

    def start(self, batch: _Batch[S, R]) -> None:
        """Gives the batch to the scheduler."""
        if batch.missing:
            with self._explained():
                batch.future = self.client.submit(partial(_mapped, self.work.do), batch.missing, pure=False)

    def results(self, batch: _Batch[S, R]) -> Iterator[R]:
        """Yields the results of the batch."""
        done: list[R] = []
        if batch.future:
            with self._explained():
                try:
                    done = batch.future.result()
                except self._dead:
                    done = [self._alone(item) for item in batch.missing]
        return batch.joined(done)

    def _alone(self, item: S) -> R:
        try:
            result: R = self.client.submit(self.work.do, item, pure=False).result()
        except self._dead:
            return self.work.died(item)
        return result

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._lost as error:
            raise EngineLost(
                f"the connection to the cluster was lost: {type(error).__name__} {error}".rstrip()
            ) from error


def _client(stack: ExitStack, distributed: Any, jobs: int) -> Any:
    from dask import config  # noqa: PLC0415 - it is there if `distributed` is

    where = config.get("scheduler-address", None)
    if not where:
        # Without an address, the dashboard takes port 8787 on all interfaces.
        cluster = distributed.LocalCluster(
            n_workers=jobs, threads_per_worker=1, dashboard_address="127.0.0.1:0"
        )
        where = stack.enter_context(cluster)
    try:
        return stack.enter_context(distributed.Client(where))
    except OSError as error:
        raise EngineMissing(f"no scheduler answers at {where} (DASK_SCHEDULER_ADDRESS): {error}") from error


def _check_versions(client: Any) -> None:
    """Raises `EngineMissing` if a worker has another version of the suite, because its rules may differ."""
    ours = _version()
    found: dict[str, Any] = client.run(_version, on_error="return")
    if not found:
        _LOG.warning("The scheduler has no workers yet. The run waits for them.")
    for worker, theirs in found.items():
        if theirs != ours:
            raise EngineMissing(
                f"the worker {worker} has ellmer-core {theirs}, and this machine has {ours}: install one version on all"
            )


def _version() -> str:
    return version("ellmer-core")


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415 - large, and an extra
    except ImportError as error:
        raise EngineMissing('--engine dask needs Dask: pip install "ellmer-core[cluster]"') from error
    return distributed
