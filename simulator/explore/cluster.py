"""Work on a Spark cluster: jobs of a matrix, branches of a search, seeds of a check, each a job of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any

from .failed import failed_search
from .jobs import SearchJob, run_job, try_job
from .result import Result

MOST_JOBS = 64
"""Cells of a matrix that Spark is given at once; it runs as many as it has cores."""


def search_on_spark(
    spark: Any,
    jobs: Sequence[SearchJob],
    *,
    raises: bool = True,
    done: Callable[[SearchJob, Result], None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[SearchJob, Result]]:
    """As `run_jobs`, each job a job of a Spark cluster whose workers can import nbcc; `memory` is that of a job.

    How far a search is, is not known here; `workers` is what the cluster has.
    """
    bounds = {name: value for name, value in bounds.items() if name not in ("workers", "progress")}
    work = partial(run_job if raises else try_job, **bounds)
    yield from on_spark(spark, work, jobs, done=done, failed=None if raises else failed_search)


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
