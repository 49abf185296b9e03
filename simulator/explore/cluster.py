"""Runs work on a Spark cluster: searches, shards (parts) of one search, or checks with many seeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from typing import Any

from .failed import failed_search
from .jobs import SearchJob, run_job, try_job
from .result import Result

MOST_JOBS = 64
"""Jobs that are submitted to Spark at once; it runs as many as it has cores."""


def search_on_spark(
    spark: Any,
    jobs: Sequence[SearchJob],
    *,
    raises: bool = True,
    done: Callable[[SearchJob, Result], None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[SearchJob, Result]]:
    """Run search jobs like `run_jobs`, but on a Spark cluster. The cluster's Python workers must be able to import
    nbcc.

    The argument `memory` is the limit of each job in GiB; the arguments `workers` and `progress` are ignored.
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
    """Apply `work` to each value on the cluster; yield each value with its result, in the given order.

    After each job, `done(value, result)` is called. If a job raises an error, the callback `failed` converts the error
    to a result. Without `failed`, the error is raised.
    """

    def one(value: Any) -> Any:
        try:
            return spark.sparkContext.parallelize([value], 1).map(work).collect()[0]
        except Exception as error:  # Spark wraps errors of a job in errors of many types
            if failed is None:
                raise
            return failed(error)

    position = 0
    with ThreadPoolExecutor(MOST_JOBS) as jobs:
        running = [jobs.submit(one, value) for value in values]
        of = dict(zip(running, values, strict=True))
        try:
            for job in as_completed(running):
                result = job.result()
                if done:
                    done(of[job], result)
                while position < len(running) and running[position].done():
                    yield values[position], running[position].result()
                    position += 1
        except BaseException:  # an error or Ctrl-C: cancel the jobs that wait and those that run
            jobs.shutdown(wait=False, cancel_futures=True)
            spark.sparkContext.cancelAllJobs()
            raise
