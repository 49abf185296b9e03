"""Runs many search jobs: in this process, in several processes or on a Spark cluster, with a cache of their results.

A runner yields the index and the result of each job in the order in which the jobs end.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from ..explore import Result
from .cache import ResultCache
from .job import Job, failed_search, try_job
from .processes import in_processes

J = TypeVar("J", bound=Job)
Value = TypeVar("Value")
Done = TypeVar("Done")
MOST_JOBS = 64
"""Jobs that are submitted to Spark at once; it runs as many as it has cores."""


def run_jobs(
    jobs: Sequence[J],
    *,
    workers: int = 1,
    spark: Any = None,
    cache: ResultCache | None = None,
    memory: float | None = None,
    raises: bool = True,
    done: Callable[[J, Result], None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[J, Result]]:
    """Run search jobs and yield each job with its result, in the given order.

    Args:
        `workers`: The number of concurrent processes; 1 runs the jobs in this process.
        `spark`: A Spark session on whose cluster the jobs run, instead of processes. Its Python workers must be able to
            import nbcc.
        `cache`: Finished searches, whose jobs are not run again.
        `memory`: The memory in GiB, divided among the workers. On a cluster, each job may use it all.
        `raises`: True to propagate a job's error; False to return the result UNDETERMINED with the reason.
        `done`: A function that is called with each job and its result as soon as the job ends.
        `bounds`: Keyword arguments that are passed to `explore` for each job.
    """
    share = memory / workers if memory and spark is None else memory
    work = partial(_run if raises else try_job, memory=share, **bounds)

    def ended() -> Generator[tuple[int, Result]]:
        known = {} if cache is None else cache.results(jobs, bounds)
        for number, result in known.items():
            if done:
                done(jobs[number], result)
            yield number, result
        missing = [number for number in range(len(jobs)) if number not in known]
        left = [jobs[number] for number in missing]
        if spark is not None:
            running = on_spark(spark, work, left, failed=None if raises else failed_search)
        else:
            running = in_processes(work, left, workers) if workers > 1 else _here(work, left)
        with closing(running):  # ends the processes, also after an error or if the caller stops early
            for index, result in running:
                number = missing[index]
                if cache is not None:
                    cache.add(jobs[number], bounds, result)
                if done:
                    done(jobs[number], result)
                yield number, result

    return in_order(ended(), jobs)


def _run(job: Job, **bounds: Any) -> Result:
    return job.run(**bounds)


def _here(work: Callable[[J], Result], jobs: Sequence[J]) -> Generator[tuple[int, Result]]:
    yield from ((number, work(job)) for number, job in enumerate(jobs))


def in_order(ended: Generator[tuple[int, Done]], values: Sequence[Value]) -> Iterator[tuple[Value, Done]]:
    """Yield each value with its result in the order of `values`. `ended` yields indices of values with results."""
    results: dict[int, Done] = {}
    position = 0
    with closing(ended):
        for number, result in ended:
            results[number] = result
            while position in results:
                yield values[position], results.pop(position)
                position += 1


def on_spark(
    spark: Any,
    work: Callable[[Value], Done],
    values: Sequence[Value],
    *,
    failed: Callable[[Exception], Done] | None = None,
) -> Generator[tuple[int, Done]]:
    """Apply `work` to each value on the cluster; yield the index of each value with its result.

    If a job raises an error, the callback `failed` converts the error to a result. Without `failed`, the error is
    raised.
    """

    def one(value: Value) -> Done:
        try:
            result: Done = spark.sparkContext.parallelize([value], 1).map(work).collect()[0]
        except Exception as error:  # Spark wraps errors of a job in errors of many types
            if failed is None:
                raise
            return failed(error)
        return result

    with ThreadPoolExecutor(MOST_JOBS) as jobs:
        running = {jobs.submit(one, value): number for number, value in enumerate(values)}
        try:
            for job in as_completed(running):
                yield running[job], job.result()
        except BaseException:  # an error, Ctrl-C or a caller that stops: cancel the jobs that wait and those that run
            jobs.shutdown(wait=False, cancel_futures=True)
            spark.sparkContext.cancelAllJobs()
            raise
