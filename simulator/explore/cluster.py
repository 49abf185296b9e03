"""Work on a Spark cluster: cells of a matrix, branches of a search, seeds of a check, each a job of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any

from .cells import Cell, search_cell, try_cell
from .lost import lost
from .result import Result

MOST_JOBS = 64
"""Cells of a matrix that Spark is given at once; it runs as many as it has cores."""


def search_on_spark(
    spark: Any,
    cells: Sequence[Cell],
    *,
    raises: bool = True,
    done: Callable[[Cell, Result], None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[Cell, Result]]:
    """As `search_cells`, each cell a job of a Spark cluster whose workers can import nbcc; `memory` is that of a cell.

    How far a search is, is not known here; `workers` is what the cluster has.
    """
    bounds = {name: value for name, value in bounds.items() if name not in ("workers", "progress")}
    work = partial(search_cell if raises else try_cell, **bounds)
    yield from on_spark(spark, work, cells, done=done, failed=None if raises else lost)


def on_spark(
    spark: Any,
    work: Callable[[Any], Any],
    values: Sequence[Any],
    *,
    done: Callable[[Any, Any], None] | None = None,
    failed: Callable[[Exception], Any] | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Every value with what `work` makes of it on the cluster, in the order given, as many at once as it has cores.

    `done` hears of each as soon as it is made. `failed` says what there is of one whose job failed; without it, that is
    an error.
    """

    def one(value: Any) -> Any:
        try:
            return spark.sparkContext.parallelize([value], 1).map(work).collect()[0]
        except Exception as error:  # a job fails in any way; what is left of its value is for the caller to say
            if failed is None:
                raise
            return failed(error)

    told = 0
    with ThreadPoolExecutor(MOST_JOBS) as jobs:
        running = [jobs.submit(one, value) for value in values]
        of = dict(zip(running, values, strict=True))
        try:
            for job in as_completed(running):
                made = job.result()
                if done:
                    done(of[job], made)
                while told < len(running) and running[told].done():
                    yield values[told], running[told].result()
                    told += 1
        except BaseException:  # an error or Ctrl-C: nobody waits for those that have not begun, nor for the others
            jobs.shutdown(wait=False, cancel_futures=True)
            spark.sparkContext.cancelAllJobs()
            raise
