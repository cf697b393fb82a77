"""Judges many files in this process, in several, or on a Dask cluster. The results have the order of the files.

Dask's scheduler is the one in `DASK_SCHEDULER_ADDRESS` (its workers need this package and access to the files), or a
local one with `jobs` workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any, Literal, TypeVar

__all__ = ["ENGINES", "Engine", "EngineMissing", "mapped"]

Engine = Literal["processes", "dask"]
ENGINES: tuple[Engine, ...] = ("processes", "dask")
S = TypeVar("S")
R = TypeVar("R")


class EngineMissing(RuntimeError):
    """A package that an engine needs is not installed."""


def mapped(work: Callable[[S], R], items: Sequence[S], jobs: int, engine: Engine) -> Iterator[R]:
    """Returns the results of `work` for the items, in order. Raises `EngineMissing`."""
    if engine == "dask":
        return _on_dask(work, items, jobs)
    return _in_processes(work, items, jobs)


def _in_processes(work: Callable[[S], R], items: Sequence[S], jobs: int) -> Iterator[R]:
    if jobs < 2 or len(items) < 2:
        yield from map(work, items)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, items, chunksize=max(1, min(32, len(items) // jobs)))


def _on_dask(work: Callable[[S], R], items: Sequence[S], jobs: int) -> Iterator[R]:
    distributed = _distributed()
    size = max(
        1, min(32, len(items) // (4 * jobs))
    )  # one by one, the scheduler would be busier than the workers
    batches = [items[start : start + size] for start in range(0, len(items), size)]
    with ExitStack() as stack:
        client = _client(stack, distributed, jobs)
        for future in client.map(partial(_all, work), batches, pure=False):
            yield from future.result()


def _client(stack: ExitStack, distributed: Any, jobs: int) -> Any:
    from dask import config  # noqa: PLC0415 - it is there if `distributed` is

    where = config.get("scheduler-address", None)
    if not where:
        cluster = distributed.LocalCluster(n_workers=jobs, threads_per_worker=1, dashboard_address=None)
        where = stack.enter_context(cluster)
    return stack.enter_context(distributed.Client(where))


def _all(work: Callable[[S], R], items: Sequence[S]) -> list[R]:
    return list(map(work, items))


def _distributed() -> Any:
    try:
        import distributed  # noqa: PLC0415 - large, and an extra
    except ImportError as error:
        raise EngineMissing('--engine dask needs Dask: pip install "ellmer-core[cluster]"') from error
    return distributed
